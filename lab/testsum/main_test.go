package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestSummarize(t *testing.T) {
	events := `{"Action":"start","Package":"p"}
{"Action":"output","Package":"p","Test":"TestGood","Output":"quiet\n"}
{"Action":"pass","Package":"p","Test":"TestGood"}
{"Action":"output","Package":"p","Test":"TestSkip","Output":"=== RUN   TestSkip\n"}
{"Action":"output","Package":"p","Test":"TestSkip","Output":"    x_test.go:7: skipped: needs root (loop devices)\n"}
{"Action":"output","Package":"p","Test":"TestSkip","Output":"--- SKIP: TestSkip (0.00s)\n"}
{"Action":"skip","Package":"p","Test":"TestSkip"}
{"Action":"output","Package":"p","Test":"TestBad","Output":"    x_test.go:9: got 1, want 2\n"}
{"Action":"fail","Package":"p","Test":"TestBad"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t0.1s\n"}
{"Action":"fail","Package":"p"}
{"ImportPath":"q","Action":"build-output","Output":"q/q.go:1: syntax error\n"}
plain text of the go command
`
	var out strings.Builder
	failed, err := summarize(&out, strings.NewReader(events))
	if err != nil {
		t.Fatal(err)
	}
	if failed.broken || failed.count() != 1 || !slices.Equal(failed.tests["p"], []string{"TestBad"}) {
		t.Errorf("failed: %+v", failed)
	}
	for _, want := range []string{
		"x_test.go:9: got 1, want 2", "FAIL\tp\t0.1s", "1 skipped: needs root (loop devices)\n  p TestSkip\n",
		"q/q.go:1: syntax error", "plain text of the go command", "\n1 passed, 1 failed, 1 skipped\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("lacks %q:\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "quiet") {
		t.Errorf("a good test's output is shown:\n%s", out.String())
	}
}

// Only what a busy moment can spoil gets a second chance, and only one.
func TestAgain(t *testing.T) {
	const flaky = `func TestFlaky(t *testing.T) {
	t.Run("sub", func(t *testing.T) {
		if os.Mkdir("seen", 0o755) == nil {
			t.Error("spoiled")
		}
	})
}
`
	for name, c := range map[string]struct {
		body   string
		again  int
		status int
		said   string
	}{
		"passes then":    {flaky, 1, 0, "1 passed only when run once more:\n  again TestFlaky\n"},
		"not asked for":  {flaky, 0, 1, "0 passed, 2 failed"},
		"fails twice":    {`func TestBad(*testing.T) {}` + "\n" + strings.ReplaceAll(flaky, `os.Mkdir("seen", 0o755) == nil`, "true"), 1, 1, "again: again TestFlaky"},
		"too many":       {flaky + strings.ReplaceAll(flaky, "TestFlaky", "TestOther") + "func TestC(t *testing.T) { t.Fail() }\n", 1, 1, "3 failed"},
		"panics":         {flaky + "func TestPanic(*testing.T) { panic(1) }\n", 2, 1, "panic: 1"},
		"does not build": {flaky + "func f() { return 1 }\n", 1, 1, "build failed"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{"go.mod": "module again\n", "a_test.go": "package again\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nvar _ = os.Mkdir\n\n" + c.body} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(dir)
			var out strings.Builder
			status, err := run(&out, []string{"-p", "1", "./..."}, c.again)
			if err != nil || status != c.status || !strings.Contains(out.String(), c.said) {
				t.Errorf("status %d, want %d, %v; %q in\n%s", status, c.status, err, c.said, out.String())
			}
		})
	}
}
