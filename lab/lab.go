// Package lab holds the benches that other packages' tests stand on: block devices of known
// behaviour that a test makes, uses and removes, and one rule for what the machine lacks.
//
// Only tests import it. It never touches a device it did not make, and everything it makes is
// taken down by the test's cleanup, also when the test fails.
package lab

import (
	"os"
	"os/exec"
	"testing"
)

// Missing ends the test because the machine lacks something the test needs: a skip that prints
// why for a user, a failure in CI (CI=true), where a silent skip would hide a test that never ran.
func Missing(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("in CI this must not be missing: %s", why)
	}
	t.Skipf("skipped: %s", why)
}

// Root ends the test unless it runs as root.
func Root(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		Missing(t, "needs root (loop devices, mounts); run the tests as root to have it")
	}
}

// Tool returns the path of an outside program, or ends the test.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		// Debian keeps administration tools out of an ordinary user's PATH.
		for _, dir := range []string{"/usr/sbin/", "/sbin/"} {
			if _, err := os.Stat(dir + name); err == nil {
				return dir + name
			}
		}
		Missing(t, "program "+name+" is not installed")
	}
	return path
}

// Run executes an outside program and returns its combined output; failure ends the test.
func Run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(Tool(t, name), args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
	return string(out)
}
