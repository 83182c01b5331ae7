package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"blkstorm/lab"
)

// System calls per I/O are what an engine costs. On a target that completes within the call (tmpfs for
// libaio and psync, the page cache for io_uring), a batch of 16 takes one call on either asynchronous
// engine, and nothing else is called per I/O: no second call to reap, no clock that is a system call.
func TestSystemCallsPerIO(t *testing.T) {
	strace := lab.Tool(t, "strace")
	for _, c := range []struct {
		engine, depth string
		direct        string
		calls         []string
		perIO         float64
	}{
		{"libaio", "16", "true", []string{"io_submit", "io_getevents"}, 1.0 / 16},
		{"io_uring", "16", "false", []string{"io_uring_enter"}, 1.0 / 16},
		{"libaio", "1", "true", []string{"io_submit", "io_getevents"}, 1},
		{"psync", "1", "true", []string{"pread64"}, 1},
	} {
		t.Run(c.engine+" Q"+c.depth, func(t *testing.T) {
			file := memoryFile(t)
			if c.direct == "false" {
				file = lab.File(t, 0)
				if err := os.WriteFile(file, make([]byte, mib), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			counts := filepath.Join(t.TempDir(), "counts")
			self := command(t)
			p := &process{t: t, cmd: exec.Command(strace, "-f", "-qq", "-c", "-o", counts,
				self.Path, "run", "--rw", "randread", "--engine", c.engine, "--iodepth", c.depth, "--direct="+c.direct, "--runtime", "1s", "--format", "json", "--quiet", file)}
			p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = self.Dir, &p.stdout, &p.stderr
			p.begin()
			point := p.wait().want(t, exitGood).point(t)
			got := map[string]float64{}
			text, err := os.ReadFile(counts)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range strings.Split(string(text), "\n") { // % time, seconds, usecs/call, calls, [errors,] name
				f := strings.Fields(line)
				if len(f) < 5 {
					continue
				}
				if n, err := strconv.ParseFloat(f[3], 64); err == nil {
					got[f[len(f)-1]] = n
				}
			}
			ios := float64(point.Issued.Sum())
			var ours float64
			for _, call := range c.calls {
				ours += got[call]
			}
			// A tenth more than the ideal, and the few calls of trying the engine out.
			if limit := 1.1*ios*c.perIO + 20; ours > limit || ours < 0.9*ios*c.perIO {
				t.Errorf("%g I/Os took %g calls of %v, %.3f per I/O; the ideal is %.3f", ios, ours, c.calls, ours/ios, c.perIO)
			}
			if clock := got["clock_gettime"]; clock > 100 {
				t.Errorf("%g calls of clock_gettime: the clock is no vDSO call", clock)
			}
		})
	}
}
