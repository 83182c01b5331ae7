package main

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/lab"
)

// What this machine cannot carry is an error before anything is touched, not the kernel's killer.
func TestNeedsAreCheckedFirst(t *testing.T) {
	file := lab.File(t, 1<<30)
	blkstorm(t, "run", "--threads", "1024", "--iodepth", "60", "--bs", "1m", "--runtime", "1s", file).want(t, exitUsage, "of buffers", "are available")
	targets := []string{"run", "--threads", "1024", "--runtime", "1s"}
	for range 5 {
		targets = append(targets, lab.File(t, mib))
	}
	blkstorm(t, targets...).want(t, exitUsage, "5120 threads over all targets are above the limit of 4096")
}

// Nothing is made in the device directory, whatever asks for it.
func TestNothingIsMadeInDev(t *testing.T) {
	before := names(t, "/dev")
	blkstorm(t, "run", "--size", "1m", "--runtime", "100ms", "--dir", "/dev/result").want(t, exitUsage, "nothing is made in the device directory")
	start(t, "/dev", "run", "--size", "1m", "--runtime", "100ms").wait().want(t, exitUsage, "no file is made in the device directory")
	if after := names(t, "/dev"); strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("/dev had %v, now %v", before, after)
	}
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "loop") && !strings.HasPrefix(e.Name(), "zram") { // other tests' come and go
			list = append(list, e.Name())
		}
	}
	return list
}

// Two runs do not write one file at once.
func TestOneWriterPerFile(t *testing.T) {
	file := lab.File(t, mib)
	first := start(t, "", "run", "--rw", "randwrite", "--runtime", "1500ms", "--destroy", "--quiet", file)
	time.Sleep(700 * time.Millisecond)
	blkstorm(t, "run", "--rw", "randwrite", "--runtime", "100ms", "--destroy", "--quiet", file).want(t, exitRefused, "[in-use] "+file+" is being written by another run", "wait for that run or stop it (fuser -v "+file)
	blkstorm(t, "run", "--rw", "randread", "--runtime", "100ms", "--quiet", file).want(t, exitGood)
	first.wait().want(t, exitGood)
}

// A device that hangs, or fails, while a new file is written: exit status 3, in a bounded time.
func TestFaultsWhileFilling(t *testing.T) {
	disk := lab.NewFrozen(t, 256*mib)
	lab.Run(t, "mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", disk.Dev)
	dir := mount(t, disk.Dev)
	new := filepath.Join(dir, "new.dat")
	p := start(t, "", "run", "--size", "200m", "--grace", "300ms", "--runtime", "100ms", "--engine", "io_uring", "--quiet", new)
	for range 500 {
		if info, err := os.Stat(new); err == nil && info.Size() > 0 {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	disk.Freeze()
	done := make(chan outcome, 1)
	go func() { done <- p.wait() }()
	select {
	case out := <-done:
		out.want(t, exitFaults, "the device did not answer a write")
	case <-time.After(20 * time.Second):
		t.Error("still waiting after 20 s, with a grace of 0.3 s")
	}
	disk.Thaw()

	strace := lab.Tool(t, "strace")
	self := command(t)
	p = &process{t: t, cmd: exec.Command(lab.Build(t, "blkstorm/lab/deny"), "425=EPERM,206=ENOSYS", strace, "-f", "-qq", "-o", os.DevNull, "-e", "trace=pwrite64", "-e", "inject=pwrite64:error=EIO:when=5",
		self.Path, "run", "--size", "32m", "--runtime", "100ms", "--quiet", filepath.Join(self.Dir, "file"))}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = self.Dir, &p.stdout, &p.stderr
	p.begin()
	p.wait().want(t, exitFaults, "writing the new file", "EIO")
	if _, err := os.Stat(filepath.Join(self.Dir, "file")); err == nil {
		t.Error("the unfinished file is left")
	}
}

// A run that was told to ignore SIGHUP, as nohup does, goes on.
func TestNohup(t *testing.T) {
	if signal.Ignored(unix.SIGHUP) {
		lab.Missing(t, "SIGHUP is ignored here")
	}
	p := &process{t: t, cmd: exec.Command("sh", "-c", "trap '' HUP; exec blkstorm run --size 1m --runtime 1500ms --quiet --format json")}
	p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = t.TempDir(), &p.stdout, &p.stderr
	p.begin()
	time.Sleep(700 * time.Millisecond)
	p.signal(unix.SIGHUP)
	if point := p.wait().want(t, exitGood).point(t); !point.Completed {
		t.Error("not completed")
	}
}

// A reader of the stream that goes away ends the run soon; a folder is written to its end.
func TestReaderGoesAway(t *testing.T) {
	p := &process{t: t, cmd: exec.Command("sh", "-c", "blkstorm run --size 1m --runtime 20s --interval 100ms --quiet --format ndjson | head -n 2 >/dev/null")}
	p.cmd.Dir = t.TempDir()
	p.begin()
	if out := p.wait(); out.took > 10*time.Second {
		t.Errorf("went on for %v", out.took)
	}
	p = &process{t: t, cmd: exec.Command("sh", "-c", "blkstorm run --size 1m --runtime 1s --interval 100ms --quiet --format ndjson --dir out | head -n 2 >/dev/null")}
	p.cmd.Dir = t.TempDir()
	p.begin()
	p.wait()
	if _, err := os.Stat(filepath.Join(p.cmd.Dir, "out", "result.json")); err != nil {
		t.Error(err)
	}
}
