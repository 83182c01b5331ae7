package hosttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/lab"
)

// middle is the part of a 64 MiB disk that the tests use: the guard looks at both ends of a device
// before it is written, and what the kernel reads ahead there is none of the run's I/O.
var middle = lab.Range{Offset: 33 * mib, Length: 24 * mib}

const middleOptions = " --offset 33m --size 24m"

// Three count the same: blkstorm what it issued, the kernel what passed the block layer, the disk what
// reached it. Exactly, in I/Os and in bytes, ramp and drain included.
func TestThreeCountTheSame(t *testing.T) {
	disk := lab.NewProgrammable(t, 64*mib)
	for _, engine := range engines {
		for _, bs := range []uint64{4 * kib, 64 * kib} {
			for _, rw := range []string{"randread", "randwrite", "write", "randrw"} {
				t.Run(fmt.Sprintf("%s %s %dk", engine, rw, bs/kib), func(t *testing.T) {
					tries(t, func() error { return countThrice(t, disk, engine, rw, bs) })
				})
			}
		}
	}
}

func countThrice(t *testing.T, disk *lab.Programmable, engine, rw string, bs uint64) error {
	t.Helper()
	before, old := kernelCounts(t, disk.Dev), len(disk.Log())
	p := run(t, exitGood, fmt.Sprintf("--rw %s --bs %d --engine %s --threads 2 --iodepth 4 --ramp 50ms --runtime 200ms --destroy", rw, bs, engine)+middleOptions, disk.Dev)
	kernel := kernelCounts(t, disk.Dev).Since(before)
	var ours, others, othersBytes, writes uint64 // reads, but for writes
	for _, a := range disk.Log()[old:] {
		switch inside := a.Offset >= middle.Offset && a.Offset < middle.Offset+middle.Length; {
		case inside && (uint64(a.Length) != bs || (a.Offset-middle.Offset)%int64(bs) != 0 || a.Errno != 0), !inside && a.Op == lab.Writes:
			t.Fatalf("the disk was asked for %+v", a)
		case a.Op == lab.Writes:
			writes++
		case inside:
			ours++
		default: // the guard, and whoever else looks at the block devices of this machine
			others++
			othersBytes += uint64(a.Length)
		}
	}
	if ours != p.Issued.Read || writes != p.Issued.Write {
		t.Errorf("issued %+v, the disk has seen %d reads and %d writes", p.Issued, ours, writes)
	}
	if kernel.WriteIOs+kernel.WriteMerges != p.Issued.Write || kernel.WriteBytes != p.Issued.Write*bs {
		t.Errorf("issued %+v, the kernel has counted %+v", p.Issued, kernel)
	}
	if good(p) != p.Issued.Sum() || p.Total.Bytes != p.Total.IOs*bs {
		t.Errorf("issued %d, back %d, %d bytes in %d I/Os", p.Issued.Sum(), good(p), p.Total.Bytes, p.Total.IOs)
	}
	if kernel.ReadBytes != p.Issued.Read*bs+othersBytes || others == 0 && kernel.ReadIOs+kernel.ReadMerges != p.Issued.Read {
		return fmt.Errorf("issued %+v, others read %d bytes, the kernel has counted %+v", p.Issued, othersBytes, kernel)
	}
	if p.Total.IOs == 0 {
		return fmt.Errorf("no I/O in the window of %v s", p.WindowS)
	}
	return nil
}

// The rate in the window, row by row, is what the disk saw in that time: no row is lost, doubled or
// moved. (An I/O counts when it completes, so a row may be off by what is in flight at its two ends.)
func TestRowsAreWhatTheDiskSaw(t *testing.T) {
	const depth, latency = 4, 5 * time.Millisecond
	disk := lab.NewProgrammable(t, 64*mib)
	disk.SetLatency(lab.Range{}, lab.Both, latency)
	for _, engine := range deep {
		tries(t, func() error {
			old := len(disk.LogOf(lab.Reads, middle))
			p := run(t, exitGood, fmt.Sprintf("--rw randread --engine %s --iodepth %d --ramp 200ms --runtime 1s --interval 200ms", engine, depth)+middleOptions, disk.Dev)
			if len(p.Intervals) != 5 {
				t.Fatalf("%s: %d rows of 5", engine, len(p.Intervals))
			}
			log := disk.LogOf(lab.Reads, middle)[old:]
			for i, row := range p.Intervals {
				first := time.Unix(0, row.StartUnixNS)
				last := first.Add(time.Duration(row.LengthS * 1e9))
				seen := 0
				for _, a := range log {
					if done := a.At.Add(latency); !done.Before(first) && done.Before(last) {
						seen++
					}
				}
				if d := int(row.Read.IOs) - seen; d < -2*depth || d > 2*depth {
					return fmt.Errorf("%s: row %d has %d I/Os, the disk has answered %d", engine, i, row.Read.IOs, seen)
				}
			}
			return nil
		})
	}
}

// Signals end waits in the kernel early: io_uring_enter then returns with nothing completed, be it with
// the count of what it submitted. None of that is a completion. Here Go's own preemption signal hits
// every thread a thousand times a second.
func TestSignalsCompleteNothing(t *testing.T) {
	const latency = 3 * time.Millisecond
	disk := lab.NewProgrammable(t, 64*mib)
	disk.SetLatency(lab.Range{}, lab.Both, latency)
	for _, engine := range engines {
		old := len(disk.LogOf(lab.Both, middle))
		p := start(t, "--rw randrw --iodepth 8 --runtime 1500ms --destroy --engine "+engine+middleOptions, disk.Dev)
		sent := storm(p)
		p.wait(exitGood)
		point := p.point()
		log := disk.LogOf(lab.Both, middle)[old:]
		t.Logf("%s: %d signals, %d I/Os, min %s", engine, <-sent, point.Issued.Sum(), ms(point.Total.Latency.Min))
		if uint64(len(log)) != point.Issued.Sum() || good(point) != point.Issued.Sum() {
			t.Errorf("%s: issued %d, back %d, the disk has seen %d", engine, point.Issued.Sum(), good(point), len(log))
		}
		if point.Total.Latency.Min < int64(latency) {
			t.Errorf("%s: min %s on a device of %v", engine, ms(point.Total.Latency.Min), latency)
		}
		if !point.Completed {
			t.Errorf("%s: not completed", engine)
		}
	}
}

// storm sends SIGURG to the threads of a process until it has ended, and then says how many it sent.
func storm(p *process) <-chan int {
	sent := make(chan int, 1)
	pid := p.cmd.Process.Pid
	go func() {
		n := 0
		for {
			tasks, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(pid), "task"))
			if err != nil || len(tasks) == 0 {
				break
			}
			alive := false
			for _, task := range tasks {
				if tid, err := strconv.Atoi(task.Name()); err == nil && unix.Tgkill(pid, tid, unix.SIGURG) == nil {
					alive = true
					n++
				}
			}
			if !alive {
				break
			}
			time.Sleep(time.Millisecond)
		}
		sent <- n
	}()
	return sent
}
