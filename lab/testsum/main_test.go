package main

import (
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
	if err := summarize(&out, strings.NewReader(events)); err != nil {
		t.Fatal(err)
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
