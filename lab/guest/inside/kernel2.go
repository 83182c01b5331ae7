package main

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// otherKernel runs the engines, the project's own tests, and what only this kernel has.
func (a *agent) otherKernel() {
	row := kernelRelease()
	for _, engine := range []string{"io_uring", "libaio", "psync"} {
		p, err := load("--engine", engine, "--rw", "randrw", "--bs", "4k", "--runtime", "500ms", "--destroy", "/dev/ram0").point(0)
		text := "FAIL"
		if err == nil {
			text = fmt.Sprintf("%.0f IOPS", p.Total.IOPS)
			if p.Total.IOs == 0 || p.EngineName != engine {
				err = fmt.Errorf("%d I/Os on engine %s", p.Total.IOs, p.EngineName)
			}
		}
		a.cell("kernels", row, engine, text, err)
	}
	// The tests get a file system that takes O_DIRECT; tmpfs does not on every kernel.
	if err := sh("mke2fs -F /dev/ram1 >/dev/null && mkdir -p /mnt/t && mount -t ext4 /dev/ram1 /mnt/t"); err != nil {
		a.cell("kernels", row, "file system", "FAIL", err)
	}
	for _, name := range testBinaries() {
		a.cell("kernels", row, strings.TrimSuffix(name, ".test"), "pass", runTests(filepath.Join("/tests", name)))
	}
	a.uringOff(row)
}

func runTests(path string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-test.v", "-test.timeout=170s", "-test.short")
	cmd.Dir = "/mnt/t"
	// Busybox's mkswap, sfdisk and so on are not the programs that tests know; without a path they are skipped.
	cmd.Env = []string{"TMPDIR=/mnt/t", "HOME=/root", "PATH=/nowhere"}
	out, err := cmd.CombinedOutput()
	if err == nil {
		return nil
	}
	var failed []string
	for _, line := range strings.Split(string(out), "\n") {
		wrong := strings.Contains(line, "_test.go:") && !strings.Contains(line, "skipped: ")
		if wrong || strings.Contains(line, "--- FAIL") || strings.HasPrefix(line, "panic") {
			failed = append(failed, line)
		}
	}
	return fmt.Errorf("%w\n%s", err, short(strings.Join(failed, "\n")))
}

// uringOff turns io_uring off, where the kernel has the switch: auto must go on with libaio and say why.
func (a *agent) uringOff(row string) {
	const name = "/proc/sys/kernel/io_uring_disabled"
	if read(name) == "" {
		a.cell("kernels", row, "io_uring off", "no such switch", nil)
		return
	}
	err := write(name, "2")
	if err == nil {
		p, e := load("--rw", "randread", "--bs", "4k", "--runtime", "500ms", "/dev/ram0").point(0)
		err = e
		if err == nil && (p.EngineName != "libaio" || !warned(p, "engine_fallback")) {
			err = fmt.Errorf("engine %s, warnings: %s; want libaio and engine_fallback", p.EngineName, codes(p))
		}
	}
	a.cell("kernels", row, "io_uring off", "libaio", err)
}
