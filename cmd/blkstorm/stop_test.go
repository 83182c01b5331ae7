package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/lab"
	"blkstorm/result"
)

// The tests in this file look at the clock, so they do not run beside others of this package.

// Interrupted runs give the whole document over the time that was measured.
func TestSignalsEndTheRun(t *testing.T) {
	for _, c := range []struct {
		signal syscall.Signal
		status int
		args   string
	}{
		{syscall.SIGINT, 130, "--runtime 60s --ramp 0s"},
		{syscall.SIGTERM, 143, "--runtime 60s --threads 4 --iodepth 8"},
		{syscall.SIGHUP, 129, "--runtime 60s --engine psync"},
	} {
		t.Run(c.signal.String(), func(t *testing.T) {
			args := append([]string{"run", "--rw", "randrw", "--format", "json", "--size", "16m", "--quiet"}, strings.Fields(c.args)...)
			p := start(t, "", args...)
			time.Sleep(2 * time.Second)
			p.signal(c.signal)
			out := p.wait()
			point := out.want(t, c.status).point(t)
			if out.took > 2*time.Second { // a quiet machine takes some hundredths
				t.Errorf("it took %v to end", out.took)
			}
			if point.Completed || !point.Interrupted || !hasWarning(point, "not_completed") {
				t.Errorf("completed %v, interrupted %v, warnings %+v", point.Completed, point.Interrupted, point.Warnings)
			}
			// The start and the filling are in the 2 s, too.
			if w := point.WindowS; w < 1 || w > 2.5 || len(point.Intervals) != int(w)+1 {
				t.Errorf("window of %v s with %d rows", w, len(point.Intervals))
			}
			if rate := float64(point.Total.IOs) / point.WindowS; rate == 0 || rate/point.Total.IOPS > 1.001 || rate/point.Total.IOPS < 0.999 {
				t.Errorf("%d I/Os in %v s are not %v IOPS", point.Total.IOs, point.WindowS, point.Total.IOPS)
			}
		})
	}
}

// A run that ends in its ramp has measured nothing, and says so.
func TestSignalInTheRamp(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir, "run", "--ramp", "30s", "--runtime", "30s", "--size", "16m", "--dir", "out")
	time.Sleep(time.Second)
	p.signal(syscall.SIGINT)
	out := p.wait().want(t, 130)
	if !strings.Contains(out.stdout, "INTERRUPTED: nothing was measured") {
		t.Errorf("standard output:\n%s", out.stdout)
	}
	doc := readResult(t, filepath.Join(dir, "out", "result.json"))
	if p := doc.Points[0]; p.Completed || !p.Interrupted || p.WindowS != 0 || p.Total.IOs != 0 || p.RampIOs == 0 {
		t.Errorf("%+v", p)
	}
}

func readResult(t *testing.T, path string) *result.Doc {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	doc := &result.Doc{}
	if err := json.Unmarshal(b, doc); err != nil {
		t.Fatalf("%s is not whole: %v\n%s", path, err, b)
	}
	return doc
}

// While a new file is written, a signal leaves no file behind: neither of one's own nor of a name.
func TestSignalWhileFilling(t *testing.T) {
	for _, name := range []string{"", "new.img"} {
		t.Run("file "+name, func(t *testing.T) {
			dir := t.TempDir()
			args := []string{"run", "--size", "2g"}
			if name != "" {
				args = append(args, name)
			}
			p := start(t, dir, args...)
			for deadline := time.Now().Add(5 * time.Second); used(t, dir) == 0 && len(openFiles(t, p.cmd.Process.Pid, dir)) == 0; {
				if time.Now().After(deadline) {
					t.Fatal("it makes no file")
				}
				time.Sleep(time.Millisecond)
			}
			time.Sleep(50 * time.Millisecond)
			p.signal(syscall.SIGINT)
			out := p.wait().want(t, 130, "interrupted before the first point")
			if out.stdout != "" || out.took > time.Second || used(t, dir) != 0 {
				t.Errorf("took %v, left %d files\n%s", out.took, used(t, dir), out.stdout)
			}
		})
	}
}

// used counts the entries of a folder.
func used(t *testing.T, dir string) int {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// openFiles lists what a process has open below dir, names that are gone included.
func openFiles(t *testing.T, pid int, dir string) (list []string) {
	t.Helper()
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, link := range links {
		if path, err := os.Readlink(link); err == nil && strings.HasPrefix(path, dir) {
			list = append(list, path)
		}
	}
	return list
}

// The second signal ends the process at once, whatever it is waiting for: here, for someone to read
// the document.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	p := &process{t: t, cmd: command(t, "run", "--size", "16m", "--runtime", "60s", "--interval", "10ms", "--format", "json", "--quiet")}
	p.cmd.Stdout = write
	p.begin()
	write.Close()
	time.Sleep(2 * time.Second)
	p.signal(syscall.SIGINT)
	time.Sleep(time.Second)
	if err := p.cmd.Process.Signal(syscall.Signal(0)); err != nil {
		t.Fatalf("it has ended although nobody read its document: %v", err)
	}
	p.signal(syscall.SIGINT)
	if out := p.wait().want(t, 130); out.took > 500*time.Millisecond {
		t.Errorf("it took %v", out.took)
	}
}

// A signal that comes twice, to the process and to its group, as timeout(1) sends it, is one signal: the
// document is whole.
func TestDoubledSignalIsOne(t *testing.T) {
	file := lab.File(t, mib)
	for range 5 {
		p := start(t, "", "run", "--runtime", "60s", "--format", "json", "--quiet", file)
		time.Sleep(500 * time.Millisecond)
		for range 3 {
			p.signal(syscall.SIGTERM)
			time.Sleep(2 * time.Millisecond)
		}
		if point := p.wait().want(t, 143).point(t); !point.Interrupted || point.Total.IOs == 0 {
			t.Errorf("%+v", point)
		}
	}
}

// Killed at any moment, a run leaves a result.json that is whole, or none.
func TestKillLeavesAWholeResult(t *testing.T) {
	whole := 0
	for i := range 16 {
		dir := t.TempDir()
		p := start(t, dir, "run", "--size", "1m", "--runtime", "100ms", "--interval", "10ms", "--dir", "out", "--quiet")
		path := filepath.Join(dir, "out", "result.json")
		for first := filepath.Join(dir, "out", "intervals.ndjson"); ; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(first); err == nil || time.Since(p.since) > 10*time.Second {
				break // the window has begun
			}
		}
		time.Sleep(time.Duration(70+5*i) * time.Millisecond)
		_ = p.cmd.Process.Kill() // it may have ended
		p.wait()
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		doc := readResult(t, path)
		if len(doc.Points) > 1 || doc.Schema != result.Schema || doc.Plan == nil {
			t.Errorf("after %d: %+v", i, doc)
		}
		for _, p := range doc.Points {
			if !p.Completed {
				t.Errorf("after %d: %+v", i, p)
			}
			whole++
		}
	}
	t.Logf("%d of 16 had come to their result", whole)
}

// However many threads spin, the runtime and signals are honoured within a second, and nothing is
// lost. A loaded machine gets a second and a third chance.
func TestNullEngineKeepsTime(t *testing.T) {
	backing := lab.File(t, 16*mib)
	for _, threads := range []int{1, 16, 160} {
		args := []string{"run", "--engine", "null", "--rw", "randrw", "--read-pct", "70", "--threads", fmt.Sprint(threads), "--format", "json", "--quiet"}
		inTime := func(t *testing.T, run func() (outcome, time.Duration)) {
			t.Helper()
			var late time.Duration
			for range 3 {
				out, allowed := run()
				if late = out.took - allowed; late <= time.Second {
					return
				}
			}
			t.Errorf("it ended %v late", late)
		}
		t.Run(fmt.Sprint(threads, " threads to the end"), func(t *testing.T) {
			inTime(t, func() (outcome, time.Duration) {
				out := blkstorm(t, append(args, "--runtime", "2s", backing)...).want(t, exitGood)
				if p := out.point(t); !p.Completed || p.WindowS != 2 || len(p.PerThread) != threads || p.Read.Bytes != 4096*p.Read.IOs {
					t.Errorf("completed %v, window %v s, %d threads, read %+v", p.Completed, p.WindowS, len(p.PerThread), p.Read)
				}
				return out, 2 * time.Second
			})
		})
		t.Run(fmt.Sprint(threads, " threads to a signal"), func(t *testing.T) {
			inTime(t, func() (outcome, time.Duration) {
				p := start(t, "", append(args, "--runtime", "60s", backing)...)
				time.Sleep(time.Second)
				p.signal(syscall.SIGINT)
				out := p.wait().want(t, 130)
				if p := out.point(t); p.Completed || !p.Interrupted || out.took < time.Second && p.WindowS > 2.5 {
					t.Errorf("completed %v, interrupted %v, window %v s", p.Completed, p.Interrupted, p.WindowS)
				}
				return out, 0
			})
		})
	}
}

// Commands that only read results end at the first signal.
func TestReadersEndAtOnce(t *testing.T) {
	for _, args := range [][]string{{"report"}, {"export"}, {"merge"}, {"compare", "old.json"}} {
		fifo := filepath.Join(t.TempDir(), "result.json")
		if err := unix.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		old := `{"fio version": "fio-3.36", "jobs": [{"jobname": "j", "read": {"total_ios": 1, "runtime": 1}}]}`
		if err := os.WriteFile(filepath.Join(dir, "old.json"), []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		p := start(t, dir, append(args, fifo)...)
		in, err := os.OpenFile(fifo, os.O_WRONLY, 0) // waits until it is read
		if err != nil {
			t.Fatal(err)
		}
		p.signal(syscall.SIGINT)
		p.wait().want(t, signalBase+int(syscall.SIGINT))
		if err := in.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
