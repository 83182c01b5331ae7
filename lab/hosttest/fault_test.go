package hosttest

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/host"
	"blkstorm/lab"
	"blkstorm/result"
)

// One bad block among good ones: the run ends there, and says what, where and on which target; all that
// lies before it has been counted.
func TestBadBlock(t *testing.T) {
	const block = 4 * kib
	bad := middle.Offset + 50*block
	for _, c := range []struct {
		rw    string
		ops   lab.Ops
		errno syscall.Errno
	}{
		{"read", lab.Reads, unix.EIO},
		{"read", lab.Reads, unix.ENODATA}, // a medium error, as SCSI reports it
		{"write", lab.Writes, unix.EIO},
		{"write", lab.Writes, unix.ENOSPC}, // a thin volume is full
	} {
		for _, engine := range engines {
			disk := lab.NewProgrammable(t, 64*mib)
			disk.FailRange(bad, 512, c.ops, c.errno)
			p := run(t, exitFaults, fmt.Sprintf("--rw %s --runtime 30s --destroy --engine %s", c.rw, engine)+middleOptions, disk.Dev)
			stat := p.Read
			if c.rw == "write" {
				stat = p.Write
			}
			want := result.IOError{
				Target: disk.Dev, Op: c.rw, Offset: bad, Length: block, Errno: int(c.errno), Name: unix.ErrnoName(c.errno),
				Message: p.Errors[0].Message, TS: p.Errors[0].TS,
			}
			if len(p.Errors) != 1 || p.Errors[0] != want || !strings.Contains(want.Message, want.Name) {
				t.Errorf("%s: errors %+v, want %+v", engine, p.Errors, want)
			}
			if stat.IOs != 50 || stat.Errors != 1 || p.Faults != 1 || p.Completed || p.Interrupted || !hasWarning(p, "io_errors") {
				t.Errorf("%s: %d I/Os before the error, want 50; %d errors, completed %v", engine, stat.IOs, stat.Errors, p.Completed)
			}
			// Neighbours are fine.
			run(t, exitGood, fmt.Sprintf("--rw %s --runtime 50ms --destroy --engine %s --offset 33m --size 200k", c.rw, engine), disk.Dev)
			run(t, exitGood, fmt.Sprintf("--rw %s --runtime 50ms --destroy --engine %s --size 200k --offset %d", c.rw, engine, bad+block), disk.Dev)
		}
	}
}

// Asked to go on, it counts just as many errors as the disk has made, and no I/O that failed.
func TestErrorsAreCountedExactly(t *testing.T) {
	for _, engine := range engines {
		disk := lab.NewProgrammable(t, 64*mib)
		disk.FailRange(40*mib, 64*kib, lab.Both, unix.EIO)
		p := run(t, exitFaults, "--rw randrw --iodepth 8 --threads 2 --offset 39m --size 2m --ramp 100ms --runtime 700ms --continue-on-error --destroy --engine "+engine, disk.Dev)
		var failed, done uint64
		for _, a := range disk.LogOf(lab.Both, lab.Range{Offset: 39 * mib, Length: 2 * mib}) {
			if a.Errno != 0 {
				failed++
			} else {
				done++
			}
		}
		if p.Faults != failed || good(p) != done || failed == 0 {
			t.Errorf("%s: %d faults and %d good I/Os; the disk says %d and %d", engine, p.Faults, good(p), failed, done)
		}
		if !p.Completed || p.Read.Errors == 0 || p.Write.Errors == 0 || p.Total.Bytes != p.Total.IOs*4*kib {
			t.Errorf("%s: completed %v, read %+v, write %+v", engine, p.Completed, *p.Read, *p.Write)
		}
		for _, e := range p.Errors {
			if e.Offset < 40*mib || e.Offset >= 40*mib+64*kib || e.Name != "EIO" {
				t.Errorf("%s: %+v", engine, e)
			}
		}
	}
}

// later does something some time after the run's I/O has begun to arrive at the device, however long
// the program took to come to it. The returned function waits until that is done.
func later(t *testing.T, dev string, after time.Duration, do func()) (wait func()) {
	t.Helper()
	done := make(chan struct{})
	before := kernelCounts(t, dev)
	go func() {
		defer close(done)
		for begun := time.Now(); time.Since(begun) < 30*time.Second; time.Sleep(5 * time.Millisecond) {
			now, err := host.Roots{}.DiskStats(filepath.Base(dev))
			if err != nil {
				t.Error(err)
				return
			}
			if d := now.Since(before); d.ReadIOs+d.WriteIOs > 100 { // more than the guard reads
				time.Sleep(after)
				do()
				return
			}
		}
		t.Errorf("%s: no I/O arrives", dev)
	}()
	return func() { <-done }
}

// A device that dies half-way: the run ends at once, with all that was measured before; asked to go on,
// it goes on to its end, and no failed I/O is counted.
func TestDeviceDies(t *testing.T) {
	for name, die := range map[string]func(*lab.Programmable){
		"every answer is EIO": func(d *lab.Programmable) { d.FailRange(0, 0, lab.Both, unix.EIO) },
		"connection lost":     (*lab.Programmable).Abort,
	} {
		for _, engine := range engines {
			t.Run(name+", "+engine, func(t *testing.T) {
				t.Parallel()
				disk := lab.NewProgrammable(t, 64*mib)
				disk.SetLatency(lab.Range{}, lab.Both, time.Millisecond)
				p := start(t, "--rw randread --iodepth 4 --runtime 30s --engine "+engine+middleOptions, disk.Dev)
				defer later(t, disk.Dev, 700*time.Millisecond, func() { die(disk) })()
				point := p.wait(exitFaults).point()
				if point.Completed || point.Read.IOs == 0 || point.Read.Errors == 0 || point.WindowS > 5 || len(point.Errors) == 0 || point.Errors[0].Name != "EIO" {
					t.Errorf("completed %v, read %+v, window %v s, errors %+v", point.Completed, *point.Read, point.WindowS, point.Errors)
				}
				if len(point.Stuck) > 0 {
					t.Errorf("stuck: %+v", point.Stuck)
				}
			})
		}
	}
	disk := lab.NewProgrammable(t, 64*mib)
	disk.SetLatency(lab.Range{}, lab.Both, 2*time.Millisecond)
	p := start(t, "--rw randread --iodepth 4 --runtime 2s --interval 500ms --continue-on-error"+middleOptions, disk.Dev)
	defer later(t, disk.Dev, 600*time.Millisecond, func() { disk.FailRange(0, 0, lab.Both, unix.EIO) })()
	point := p.wait(exitFaults).point()
	last := point.Intervals[len(point.Intervals)-1].Read
	if !point.Completed || len(point.Intervals) != 4 || last.IOs != 0 || last.Errors == 0 || point.Intervals[0].Read.IOs == 0 {
		t.Errorf("completed %v, %d rows, the last %+v", point.Completed, len(point.Intervals), last)
	}
}

// loopFile is a loop device on a file of this machine's own file system, all zeros, and the file.
func loopFile(t *testing.T, size int64, o lab.LoopOptions) (dev, file string) {
	t.Helper()
	lab.Root(t)
	file = lab.File(t, 0)
	lab.Run(t, "fallocate", "-l", fmt.Sprint(size), file)
	return lab.LoopOn(t, file, o), file
}

// A read-only device: reads are good, writes are refused before the first.
func TestReadOnly(t *testing.T) {
	dev, _ := loopFile(t, 16*mib, lab.LoopOptions{ReadOnly: true})
	before := kernelCounts(t, dev)
	if p := run(t, exitGood, "--rw randread --runtime 200ms", dev); p.Read.IOs == 0 {
		t.Error("nothing was read")
	}
	p := start(t, "--rw randwrite --runtime 200ms --destroy", dev).wait(exitRefused)
	if !strings.Contains(p.stderr.String(), "read-only") || p.stdout.Len() > 0 {
		t.Errorf("refused with:\n%s%s", p.stderr.String(), p.stdout.String())
	}
	if d := kernelCounts(t, dev).Since(before); d.WriteIOs != 0 {
		t.Errorf("%d writes", d.WriteIOs)
	}
}

// A backing file that loses its second half under the run: reads there fail.
func TestTruncatedUnderTheRun(t *testing.T) {
	const size, keep = 16 * mib, 8 * mib
	for _, engine := range engines {
		dev, file := loopFile(t, size, lab.LoopOptions{})
		p := start(t, "--rw randread --iodepth 4 --runtime 30s --engine "+engine, dev)
		defer later(t, dev, 300*time.Millisecond, func() { truncate(t, file, keep) })()
		point := p.wait(exitFaults).point()
		if point.Completed || point.Read.IOs == 0 || len(point.Errors) == 0 {
			t.Fatalf("%s: completed %v, read %+v, errors %+v", engine, point.Completed, *point.Read, point.Errors)
		}
		for _, e := range point.Errors {
			if e.Name != "EIO" || e.Offset < keep || e.Target != dev {
				t.Errorf("%s: %+v", engine, e)
			}
		}
	}
}

func truncate(t *testing.T, file string, size int64) {
	if err := unix.Truncate(file, size); err != nil {
		t.Error(err)
	}
}

// A device that vanishes under the run answers every read at once with nothing. That is the fastest
// device there is, if one takes it for I/O: it is never one.
func TestVanishedDevice(t *testing.T) {
	for _, engine := range engines {
		for _, on := range []string{"", " --continue-on-error"} {
			t.Run(engine+on, func(t *testing.T) {
				t.Parallel()
				dev, file := loopFile(t, 16*mib, lab.LoopOptions{})
				p := start(t, "--rw randread --iodepth 4 --runtime 2s --interval 250ms --engine "+engine+on, dev)
				wait := later(t, dev, 500*time.Millisecond, func() {
					truncate(t, file, 0)
					if out, err := exec.Command(lab.Tool(t, "losetup"), "-c", dev).CombinedOutput(); err != nil {
						t.Errorf("losetup -c: %v: %s", err, out)
					}
				})
				point := p.wait(exitFaults).point()
				wait()
				r := point.Read
				t.Logf("%s%s: %d I/Os, %d errors, %d short, %d of nothing", engine, on, r.IOs, r.Errors, r.Short, r.Zero)
				if r.IOs == 0 || r.Bytes != r.IOs*4*kib || point.Faults == 0 || !hasWarning(point, "io_errors") && !hasWarning(point, "short_io") {
					t.Errorf("%s%s: read %+v, faults %d, warnings %v", engine, on, *r, point.Faults, codes(point))
				}
				if point.Completed != (on != "") {
					t.Errorf("%s%s: completed %v after %v s", engine, on, point.Completed, point.WindowS)
				}
				if last := point.Intervals[len(point.Intervals)-1].Read; on != "" && (last.IOs != 0 || r.Zero < 100) {
					t.Errorf("%s%s: %d I/Os moved nothing; the last row %+v", engine, on, r.Zero, last)
				}
			})
		}
	}
}

// A datastore that fills up: a sparse file on a small file system, with direct I/O. The errno is the
// one that dd gets at the same place.
func TestNoSpaceBehindTheDevice(t *testing.T) {
	lab.Root(t)
	dir := t.TempDir()
	lab.Run(t, "mount", "-t", "tmpfs", "-o", "size=8m", "blkstorm-lab", dir)
	t.Cleanup(func() { lab.Unmount(t, dir) })
	dev := lab.Loop(t, 64*mib, lab.LoopOptions{Dir: dir})
	for _, engine := range engines {
		p := run(t, exitFaults, "--rw write --bs 64k --runtime 30s --destroy --engine "+engine, dev)
		if len(p.Errors) == 0 || p.Write.IOs == 0 && engine == engines[0] || p.Completed {
			t.Fatalf("%s: completed %v, write %+v, errors %+v", engine, p.Completed, *p.Write, p.Errors)
		}
		e := p.Errors[0]
		out, err := exec.Command(lab.Tool(t, "dd"), "if=/dev/zero", "of="+dev, "bs=64k", "count=1", "oflag=direct", "conv=notrunc", fmt.Sprint("seek=", e.Offset/(64*kib))).CombinedOutput()
		text := unix.Errno(e.Errno).Error()
		t.Logf("%s: %s at %d after %d writes; dd: %s", engine, e.Name, e.Offset, p.Write.IOs, strings.Split(string(out), "\n")[0])
		if err == nil || !strings.Contains(strings.ToLower(string(out)), text) || e.Op != "write" || e.Target != dev {
			t.Errorf("%s: %+v; dd says: %s", engine, e, out)
		}
	}
}
