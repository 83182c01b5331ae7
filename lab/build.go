package lab

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// Build compiles one of the project's commands, named by its import path, and returns the binary.
func Build(t testing.TB, pkg string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-o", out, pkg)
	cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
	if msg, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build %s: %v\n%s", pkg, err, msg)
	}
	return out
}

// Denied is the command that runs a program with system calls refused: rules are those of lab/deny,
// "425=EPERM,206=ENOSYS".
func Denied(t testing.TB, rules, program string, args ...string) *exec.Cmd {
	t.Helper()
	return exec.Command(Build(t, "blkstorm/lab/deny"), append([]string{rules, program}, args...)...)
}
