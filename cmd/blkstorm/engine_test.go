package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/lab"
)

// asynchronous are the engines that keep a depth.
var asynchronous = []string{"io_uring", "libaio"}

// The run of the guide at 4T/16Q on each asynchronous engine: the depth is reached, the mix exact in
// each hundred, and nothing is lost (point checks the sums).
func TestDepthAndMixOnEveryEngine(t *testing.T) {
	for _, engine := range asynchronous {
		t.Run(engine, func(t *testing.T) {
			dev, _ := loopOn(t, 64*mib, lab.LoopOptions{})
			p := blkstorm(t, "run", "--rw", "randrw", "--read-pct", "70", "--bs", "8k", "--threads", "4", "--iodepth", "16",
				"--ramp", "500ms", "--runtime", "2s", "--engine", engine, "--destroy", "--format", "json", "--quiet", dev).want(t, exitGood).point(t)
			if p.EngineName != engine || p.InFlight != 64 || p.IODepthEffective != 16 || !p.Completed {
				t.Errorf("engine %s, in flight %d, effective depth %d, completed %v", p.EngineName, p.InFlight, p.IODepthEffective, p.Completed)
			}
			if p.Total.Bytes != p.Total.IOs*8192 {
				t.Errorf("%d bytes in %d I/Os", p.Total.Bytes, p.Total.IOs)
			}
			for _, th := range p.PerThread {
				n, reads := th.Issued.Sum(), th.Issued.Read
				if low, high := n/100*70, n/100*70+min(n%100, 70); reads < low || reads > high {
					t.Errorf("thread %d: %d reads of %d issued", th.Thread, reads, n)
				}
			}
		})
	}
}

// What a user sees where system calls are forbidden, as a container's profile does: the next engine,
// and why; or, for an engine that was asked for by name, an error before anything is touched.
func TestForbiddenSystemCalls(t *testing.T) {
	for _, c := range []struct {
		name, rules, engine string
		status              int
		used                string // engine in the result
		text                string // in the warning, or in the error
	}{
		{"no io_uring_setup", "425=EPERM", "auto", exitGood, "libaio", "io_uring_setup: operation not permitted"},
		{"old kernel", "425=ENOSYS", "auto", exitGood, "libaio", "this kernel has no io_uring"},
		{"no io_uring_enter", "426=EPERM", "auto", exitGood, "libaio", "io_uring_enter: operation not permitted"},
		{"no io_uring_register", "427=EPERM", "auto", exitGood, "io_uring", "without registered buffers"},
		{"neither", "425=EPERM,206=ENOSYS", "auto", exitGood, "psync", "this kernel has no Linux AIO"},
		{"no io_submit", "425=EPERM,209=EPERM", "auto", exitGood, "psync", "io_submit: operation not permitted"},
		{"by name", "425=EPERM", "io_uring", exitUsage, "", "engine io_uring cannot be used here: io_uring_setup"},
		{"by name, enter", "426=EPERM", "io_uring", exitUsage, "", "engine io_uring cannot be used here: io_uring_enter"},
		{"libaio by name", "206=ENOSYS", "libaio", exitUsage, "", "engine libaio cannot be used here: io_setup"},
	} {
		t.Run(c.name, func(t *testing.T) {
			self := command(t)
			p := &process{t: t, cmd: lab.Denied(t, c.rules, self.Path, "run", "--size", "4m", "--iodepth", "4", "--runtime", "300ms",
				"--engine", c.engine, "--format", "json", "--quiet")}
			p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = self.Dir, &p.stdout, &p.stderr
			p.begin()
			if c.status != exitGood {
				p.wait().want(t, c.status, c.text)
				return
			}
			point := p.wait().want(t, exitGood).point(t)
			said := ""
			for _, w := range point.Warnings {
				said += w.Code + ": " + w.Message + "\n"
			}
			if point.EngineName != c.used || !strings.Contains(said, c.text) {
				t.Errorf("engine %s, warnings:\n%s", point.EngineName, said)
			}
			if fellBack := c.used != "io_uring"; fellBack != (len(point.Fallback) > 0) || fellBack != hasWarning(point, "engine_fallback") {
				t.Errorf("fallback %+v", point.Fallback)
			}
		})
	}
}

// Too little lockable memory: io_uring goes on without registered buffers, and says so.
func TestMemlockTooSmall(t *testing.T) {
	lab.Root(t)
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for up := filepath.Dir(dir); up != "/tmp" && up != "/"; up = filepath.Dir(up) {
		if err := os.Chmod(up, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self := filepath.Join(dir, "blkstorm")
	copyFile(t, command(t).Path, self)
	p := &process{t: t, cmd: exec.Command(lab.Tool(t, "setpriv"), "--reuid=65534", "--regid=65534", "--clear-groups",
		lab.Tool(t, "prlimit"), "--memlock=65536:65536", self, "run", "--size", "64m", "--bs", "64k", "--iodepth", "32", "--runtime", "300ms", "--format", "json", "--quiet")}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = dir, &p.stdout, &p.stderr
	p.begin()
	point := p.wait().want(t, exitGood).point(t)
	if point.EngineName != "io_uring" || !hasWarning(point, "engine_degraded") || !strings.Contains(strings.Join(point.EngineNotes, " "), "RLIMIT_MEMLOCK is 65536") {
		t.Errorf("engine %s, notes %q, warnings %+v", point.EngineName, point.EngineNotes, point.Warnings)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o755); err != nil {
		t.Fatal(err)
	}
}

// More AIO slots than the system has: the error names the sysctl, its value and the need; auto takes
// psync and says why.
func TestAIOLimit(t *testing.T) {
	lab.Root(t)
	const sysctl = "/proc/sys/fs/aio-max-nr"
	old, err := os.ReadFile(sysctl)
	if err != nil {
		lab.Missing(t, err.Error())
	}
	if err := os.WriteFile(sysctl, []byte("100"), 0); err != nil {
		lab.Missing(t, err.Error())
	}
	t.Cleanup(func() {
		if err := os.WriteFile(sysctl, bytes.TrimSpace(old), 0); err != nil {
			t.Error(err)
		}
	})
	load := []string{"run", "--size", "4m", "--threads", "4", "--iodepth", "64", "--runtime", "200ms", "--format", "json", "--quiet"}
	blkstorm(t, append(load, "--engine", "libaio")...).want(t, exitUsage, "fs.aio-max-nr is 100", "this point needs 256")
	self := command(t)
	p := &process{t: t, cmd: lab.Denied(t, "425=EPERM", self.Path, load...)}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = self.Dir, &p.stdout, &p.stderr
	p.begin()
	if point := p.wait().want(t, exitGood).point(t); point.EngineName != "psync" || len(point.Fallback) != 2 {
		t.Errorf("engine %s, fallback %+v", point.EngineName, point.Fallback)
	}
}

// System calls that fail now and then, as they do under signals and memory pressure, lose nothing.
func TestTransientFailures(t *testing.T) {
	strace := lab.Tool(t, "strace")
	for _, c := range []struct{ engine, inject string }{
		{"io_uring", "io_uring_enter:error=EINTR:when=20+7"},
		{"io_uring", "io_uring_enter:error=EAGAIN:when=20+7"},
		{"io_uring", "io_uring_enter:error=EBUSY:when=20+7"},
		{"libaio", "io_submit:error=EAGAIN:when=5+3"},
		{"libaio", "io_submit:error=EINTR:when=5+3"},
		{"libaio", "io_getevents:error=EINTR:when=5+3"},
		{"psync", "pread64:error=EINTR:when=20+7"},
	} {
		t.Run(c.inject, func(t *testing.T) {
			self := command(t)
			call, _, _ := strings.Cut(c.inject, ":")
			p := &process{t: t, cmd: exec.Command(strace, "-f", "-qq", "-o", os.DevNull, "-e", "trace="+call, "-e", "inject="+c.inject,
				self.Path, "run", "--size", "4m", "--threads", "2", "--iodepth", "8", "--runtime", "700ms", "--engine", c.engine, "--format", "json", "--quiet")}
			p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = self.Dir, &p.stdout, &p.stderr
			p.begin()
			point := p.wait().want(t, exitGood).point(t)
			if !point.Completed || point.Faults != 0 || point.Total.IOs == 0 {
				t.Errorf("completed %v, faults %d, I/Os %d", point.Completed, point.Faults, point.Total.IOs)
			}
		})
	}
}

// One completion that says -EIO is one error, with its errno and place: libaio's results pass through
// memory that strace can change. A short read is counted apart.
func TestInjectedFaults(t *testing.T) {
	strace := lab.Tool(t, "strace")
	for _, c := range []struct {
		engine, inject, name string
		want                 [3]uint64 // errors, short, zero
	}{
		{"psync", "pread64:error=EIO:when=30", "EIO", [3]uint64{1, 0, 0}},
		{"psync", "pread64:retval=512:when=30", "short", [3]uint64{0, 1, 0}},
		{"psync", "pread64:retval=0:when=30", "zero", [3]uint64{0, 0, 1}},
		{"libaio", "io_submit:error=EINVAL:when=30", "EINVAL", [3]uint64{1, 0, 0}},
	} {
		t.Run(c.inject, func(t *testing.T) {
			self := command(t)
			call, _, _ := strings.Cut(c.inject, ":")
			p := &process{t: t, cmd: exec.Command(strace, "-f", "-qq", "-o", os.DevNull, "-e", "trace="+call, "-e", "inject="+c.inject,
				self.Path, "run", "--size", "4m", "--runtime", "5s", "--engine", c.engine, "--format", "json", "--quiet")}
			p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = self.Dir, &p.stdout, &p.stderr
			p.begin()
			out := p.wait().want(t, exitFaults)
			point := out.point(t)
			if out.took > 4*time.Second || point.Completed {
				t.Errorf("went on for %v, completed %v", out.took, point.Completed)
			}
			if got := [3]uint64{point.Total.Errors, point.Total.Short, point.Total.Zero}; got != c.want || len(point.Errors) != 1 || point.Errors[0].Name != c.name {
				t.Errorf("errors, short and zero %v, kept %+v", got, point.Errors)
			}
		})
	}
}

// A device that stops to answer, under each engine: the whole document comes at runtime + grace with
// every I/O that is stuck, and the process ends as soon as the kernel lets it.
func TestHungDeviceOnEveryEngine(t *testing.T) {
	for _, c := range []struct {
		engine   string
		stuck    int
		endsAlso bool // also while the device is silent
	}{{"io_uring", 8, true}, {"libaio", 8, false}, {"psync", 2, false}} {
		t.Run(c.engine, func(t *testing.T) {
			disk := lab.NewFrozen(t, 64*mib)
			p := &process{t: t, cmd: command(t, "run", "--rw", "randwrite", "--engine", c.engine, "--threads", "2", "--iodepth", "4",
				"--runtime", "2s", "--interval", "500ms", "--grace", "1s", "--destroy", "--format", "json", "--quiet", disk.Dev)}
			read, write, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer read.Close()
			p.cmd.Stdout, p.cmd.Stderr = write, &p.stderr
			p.begin()
			write.Close()
			time.AfterFunc(time.Second, disk.Freeze)
			text := new(bytes.Buffer)
			if _, err := text.ReadFrom(read); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(p.since); took < 2900*time.Millisecond || took > 4500*time.Millisecond {
				t.Errorf("standard output ended after %v; runtime + grace is 3 s", took)
			}
			if !c.endsAlso {
				disk.Thaw()
			}
			out := p.wait().want(t, exitFaults)
			out.stdout = text.String()
			point := out.point(t)
			if point.Completed || len(point.Stuck) != c.stuck || len(point.Intervals) != 4 || !hasWarning(point, "device_hung") || point.WindowS != 2 {
				t.Errorf("completed %v, stuck %d, %d rows, window %v", point.Completed, len(point.Stuck), len(point.Intervals), point.WindowS)
			}
			for _, s := range point.Stuck {
				if s.Op != "write" || s.Offset%4096 != 0 || s.Length != 4096 || s.AgeS < 1.5 || s.AgeS > 3.5 {
					t.Errorf("%+v", s)
				}
			}
			if last := point.Intervals[3]; last.Write.IOs != 0 || last.InFlight != int64(c.stuck) {
				t.Errorf("the silent row: %+v", last)
			}
		})
	}
}

// The second signal ends the process at once also while the device is silent (io_uring; the kernel
// keeps the others until it lets go of their I/Os).
func TestSecondSignalOnAHungDevice(t *testing.T) {
	disk := lab.NewFrozen(t, 64*mib)
	p := start(t, "", "run", "--rw", "randwrite", "--engine", "io_uring", "--iodepth", "4", "--runtime", "1m", "--destroy", "--quiet", disk.Dev)
	time.Sleep(500 * time.Millisecond)
	disk.Freeze()
	time.Sleep(500 * time.Millisecond)
	p.signal(unix.SIGINT)
	time.Sleep(300 * time.Millisecond)
	p.signal(unix.SIGINT)
	if out := p.wait().want(t, 130); out.took > time.Second {
		t.Errorf("ended %v after the second signal", out.took)
	}
}

// 160 threads on 2 CPUs: ten loops at 16T/16Q. Runtime and SIGINT are honoured within a second, sums
// are exact, and it stays under 256 MiB.
func TestManyThreads(t *testing.T) {
	lab.Root(t)
	dir := mount(t, "-t", "tmpfs", "-o", "size=256m", "tmpfs")
	load := []string{"run", "--rw", "randrw", "--read-pct", "70", "--threads", "16", "--iodepth", "16", "--destroy", "--format", "json", "--quiet"}
	var devs []string
	for i := range 10 {
		sub := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		devs = append(devs, lab.Loop(t, 16*mib, lab.LoopOptions{Dir: sub}))
	}
	for _, engine := range asynchronous {
		p := start(t, "", append(append(load, "--engine", engine, "--runtime", "3s"), devs...)...)
		out := p.wait().want(t, exitGood)
		point := out.point(t)
		if late := p.since.Add(out.took).Sub(point.Started) - 3*time.Second; late > time.Second {
			t.Errorf("%s: ended %v after the window's end", engine, late)
		}
		if len(point.PerThread) != 160 || point.InFlight != 2560 || point.Process.MaxRSSBytes > 256*mib {
			t.Errorf("%s: %d threads, in flight %d, %d MiB", engine, len(point.PerThread), point.InFlight, point.Process.MaxRSSBytes/mib)
		}
		p = start(t, "", append(append(load, "--engine", engine, "--runtime", "1m"), devs...)...)
		time.Sleep(2 * time.Second)
		p.signal(unix.SIGINT)
		out = p.wait().want(t, 130)
		if point := out.point(t); out.took > time.Second || point.Completed || !point.Interrupted {
			t.Errorf("%s: ended %v after SIGINT, completed %v", engine, out.took, point.Completed)
		}
	}
}

// A point of 16T/16Q at 4k stays under 64 MiB, and a 15 TiB target costs neither time nor memory.
func TestSmallAndQuickStart(t *testing.T) {
	file := lab.File(t, 0)
	if err := os.Truncate(file, 15<<40); err != nil {
		lab.Missing(t, "the file system of the temporary folder takes no file of 15 TiB: "+err.Error())
	}
	p := start(t, "", "run", "--threads", "16", "--iodepth", "16", "--runtime", "1s", "--format", "json", "--quiet", file)
	point := p.wait().want(t, exitGood).point(t)
	if point.Process.MaxRSSBytes > 64*mib {
		t.Errorf("%d MiB", point.Process.MaxRSSBytes/mib)
	}
	if start := point.Started.Sub(p.since); start > time.Second { // the goal is 0.2 s on a quiet machine: make bench
		t.Errorf("the first I/O came %v after the start", start)
	}
	if !hasWarning(point, "unwritten_blocks") {
		t.Errorf("no warning of reads that move no data: %+v", point.Warnings)
	}
}

// Polling is refused with the reason where the device has no polling queues.
func TestPollingIsRefused(t *testing.T) {
	dev, _ := loopOn(t, mib, lab.LoopOptions{})
	blkstorm(t, "run", "--engine", "io_uring", "--hipri", "--runtime", "200ms", dev).want(t, exitUsage, "--hipri", "no polling queues")
	blkstorm(t, "run", "--engine", "libaio", "--hipri", "--runtime", "200ms", dev).want(t, exitUsage, "--hipri go with --engine io_uring")
	point := blkstorm(t, "run", "--engine", "io_uring", "--sqthread-poll", "--iodepth", "4", "--runtime", "500ms", "--format", "json", "--quiet", dev).want(t, exitGood).point(t)
	if !strings.Contains(strings.Join(point.EngineFeatures, ","), "SQPOLL") {
		t.Errorf("features %q", point.EngineFeatures)
	}
}

// On a quiet device with an idle machine a run has no warning at all.
func TestCleanRunHasNoWarning(t *testing.T) {
	if runtime.NumCPU() < 2 {
		lab.Missing(t, "one CPU: the generator is CPU-bound by nature")
	}
	var said string
	for range 3 { // other tests and neighbours may take the CPU for a moment
		dev, _ := loopOn(t, 64*mib, lab.LoopOptions{})
		point := blkstorm(t, "run", "--rw", "randread", "--iodepth", "4", "--runtime", "2s", "--format", "json", "--quiet", dev).want(t, exitGood).point(t)
		if len(point.Warnings) == 0 {
			return
		}
		said = fmt.Sprintf("%+v", point.Warnings)
	}
	t.Errorf("three runs, the last with %s", said)
}
