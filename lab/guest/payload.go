package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// testPackages are those whose tests run in the guests too: engines and devices meet other kernels there.
var testPackages = []string{"blkstorm/ioengine/uring", "blkstorm/ioengine/aio", "blkstorm/device", "blkstorm/host"}

// buildPayload compiles what is under test (or takes the binary that is named) and the agent, all
// static, and packs them.
func buildPayload(work, blkstorm string) (*archive, error) {
	bin := filepath.Join(work, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return nil, err
	}
	a := &archive{}
	a.dir("bin")
	// Always in the same order: where a file lies in the archive decides where it lies in the guest's
	// memory, and then no two runs would be the same.
	for _, p := range [][2]string{{"blkstorm/cmd/blkstorm", "bin/blkstorm"}, {"blkstorm/lab/guest/inside", "inside"}} {
		pkg, name := p[0], p[1]
		out := filepath.Join(bin, filepath.Base(name))
		if name == "bin/blkstorm" && blkstorm != "" {
			if out = blkstorm; !static(out) {
				return nil, fmt.Errorf("%s is not static: build it with CGO_ENABLED=0", out)
			}
		} else if err := goTool("build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version=lab", "-o", out, pkg); err != nil {
			return nil, err
		}
		if err := a.copyFile(name, out); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// buildTests adds the test binaries, under /tests.
func buildTests(work string, a *archive) error {
	for _, pkg := range testPackages {
		name := strings.ReplaceAll(strings.TrimPrefix(pkg, "blkstorm/"), "/", "-") + ".test"
		out := filepath.Join(work, "bin", name)
		if err := goTool("test", "-c", "-ldflags", "-s -w", "-o", out, pkg); err != nil {
			return err
		}
		if err := a.copyFile("tests/"+name, out); err != nil {
			return err
		}
	}
	return nil
}

func goTool(args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}
