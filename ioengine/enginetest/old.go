package enginetest

import (
	"os"
	"strings"
	"testing"

	"blkstorm/lab"
)

// Refused runs the calling test once more, in a process of its own in which system calls are refused as
// an older kernel does (rules as for lab.Denied), and returns false; in that process it returns true.
func Refused(t *testing.T, rules string) bool {
	t.Helper()
	const mark = "BLKSTORM_REFUSED"
	if os.Getenv(mark) == t.Name() {
		return true
	}
	lab.Tool(t, "go") // builds what refuses the calls
	pattern := "^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$"
	cmd := lab.Denied(t, rules, os.Args[0], "-test.run="+pattern, "-test.v")
	cmd.Env = append(os.Environ(), mark+"="+t.Name())
	out, err := cmd.CombinedOutput()
	switch text := string(out); {
	case err != nil:
		t.Errorf("%v:\n%s", err, text)
	case strings.Contains(text, "--- SKIP: "+t.Name()):
		t.Skip(text)
	case !strings.Contains(text, "--- PASS: "+t.Name()):
		t.Errorf("it did not run:\n%s", text)
	}
	return false
}
