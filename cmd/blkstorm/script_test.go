package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain puts this very program into PATH under the name blkstorm, so that scripts and tests run it
// as a process of its own, with its own signals and exit status.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"blkstorm": main})
}

// TestScripts runs testdata/script/*.txtar. Besides the usual commands these know
//
//	exits STATUS PROGRAM ARG...   run it; it must end with just this status
//	field FILE KEY VALUE          the JSON in FILE (or stdout) has VALUE at KEY, such as points.0.seed
//	lines FILE PREFIX N           N lines of FILE (or stdout) begin with PREFIX
//	readme                        run the commands of README.md, see readme_test.go
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "field": field, "lines": lines, "readme": readme,
		},
		Setup: func(e *testscript.Env) error {
			e.Setenv("ROOT", root)
			e.Setenv("PATH", e.Getenv("PATH")+":/usr/sbin:/sbin") // mkswap, which ordinary users do not see on Debian
			return nil
		},
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits STATUS PROGRAM ARG...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit status %d, want %d", got, want)
	}
}

func field(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: [!] field FILE KEY VALUE")
	}
	var doc any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[0])), &doc))
	got, err := at(doc, args[1])
	ts.Check(err)
	if same := got == args[2]; same == neg {
		ts.Fatalf("%s of %s is %s, and the script has %s", args[1], args[0], got, args[2])
	}
}

// at follows a key such as points.0.seed into a decoded document; "len" is the length of a list.
func at(doc any, key string) (string, error) {
	for _, part := range strings.Split(key, ".") {
		switch v := doc.(type) {
		case map[string]any:
			next, ok := v[part]
			if !ok {
				return "", fmt.Errorf("%s: there is no %q", key, part)
			}
			doc = next
		case []any:
			if part == "len" {
				doc = float64(len(v))
				continue
			}
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(v) {
				return "", fmt.Errorf("%s: a list of %d has no %q", key, len(v), part)
			}
			doc = v[i]
		default:
			return "", fmt.Errorf("%s: nothing below %v", key, v)
		}
	}
	if n, ok := doc.(float64); ok {
		return strconv.FormatFloat(n, 'f', -1, 64), nil
	}
	return fmt.Sprint(doc), nil
}

func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: lines FILE PREFIX N")
	}
	want, err := strconv.Atoi(args[2])
	ts.Check(err)
	got := 0
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		if strings.HasPrefix(line, args[1]) {
			got++
		}
	}
	if got != want {
		ts.Fatalf("%d lines of %s begin with %q, want %d", got, args[0], args[1], want)
	}
}

// repoFile reads a file of the repository.
func repoFile(name string) (string, error) {
	b, err := os.ReadFile(filepath.Join("../..", name))
	return string(b), err
}
