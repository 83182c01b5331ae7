package hosttest

import (
	"fmt"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"blkstorm/lab"
)

// longestHeld is the longest that the disk took for an answer: what no maximum may be below. (A run that
// had no I/O in flight when the disk began to hold them has it shorter than the disk's silence.)
func longestHeld(disk *lab.Programmable) (longest time.Duration) {
	for _, a := range disk.LogOf(lab.Both, middle) {
		longest = max(longest, a.Done.Sub(a.At))
	}
	return longest
}

// A stall in the middle: no error, the longest latency is the stall's, and its rows are there, empty.
func TestStall(t *testing.T) {
	const stall = time.Second
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			tries(t, func() error {
				disk := lab.NewProgrammable(t, 64*mib)
				p := start(t, "--rw randread --iodepth 4 --runtime 2500ms --interval 100ms --engine "+engine+middleOptions, disk.Dev)
				defer later(t, disk.Dev, 700*time.Millisecond, func() { disk.FreezeFor(stall) })()
				point := p.wait(exitGood).point()
				empty := 0
				for _, row := range point.Intervals {
					if row.Read.IOs == 0 {
						empty++
					}
				}
				longest := time.Duration(point.Read.Latency.Max)
				t.Logf("%s: max %v, %d empty rows", engine, longest.Round(time.Millisecond), empty)
				if !point.Completed || point.Faults != 0 || len(point.Intervals) != 25 {
					t.Errorf("%s: completed %v, faults %d, %d rows", engine, point.Completed, point.Faults, len(point.Intervals))
				}
				if held := longestHeld(disk); longest < held {
					t.Errorf("%s: max %v, the disk has held an I/O for %v", engine, longest, held)
				}
				if longest < stall-30*time.Millisecond || longest > stall+300*time.Millisecond || empty < 8 {
					return fmt.Errorf("%s: max %v, %d empty rows; the disk stood still for %v", engine, longest, empty, stall)
				}
				return nil
			})
		})
	}
}

// A device that never answers again: at runtime + grace the document is there and standard output
// closed, and the stuck I/Os are those that the disk has and did not answer. The process ends when it
// may: at once with io_uring, else when the disk lets go.
func TestHangForEver(t *testing.T) {
	const threads, depth = 2, 4
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			disk := lab.NewProgrammable(t, 64*mib)
			disk.SetLatency(lab.Range{}, lab.Both, time.Millisecond)
			cmd := exec.Command(binary(t), runArgs(fmt.Sprintf("--rw randrw --threads %d --iodepth %d --runtime 1500ms --interval 500ms --grace 1s --destroy --engine %s",
				threads, depth, engine)+middleOptions, disk.Dev)...)
			p, text := startPiped(t, cmd)
			defer later(t, disk.Dev, 300*time.Millisecond, func() { disk.Hang(lab.Both) })()
			out := <-text
			took := time.Since(p.since)
			if took < 2500*time.Millisecond || took > 6*time.Second {
				t.Errorf("the document came after %v, runtime + grace is 2.5 s", took)
			}
			point := decode(t, out)
			unanswered := disk.InFlight()
			if engine == "io_uring" {
				p.wait(exitFaults)
			}
			disk.Release()
			if engine != "io_uring" {
				p.wait(exitFaults)
			}
			want := threads * depth
			if engine == "psync" {
				want = threads
			}
			if len(point.Stuck) != want || point.Completed || !hasWarning(point, "device_hung") || point.Total.IOs == 0 || len(point.Intervals) != 3 {
				t.Fatalf("%d stuck, want %d; completed %v, %d rows", len(point.Stuck), want, point.Completed, len(point.Intervals))
			}
			in := map[string]int{}
			for _, a := range unanswered {
				in[fmt.Sprint(opName(a.Op), a.Offset, a.Length)]++
			}
			for _, s := range point.Stuck {
				key := fmt.Sprint(s.Op, s.Offset, s.Length)
				if in[key]--; in[key] < 0 || s.Target != disk.Dev || s.AgeS < 1 || s.AgeS > took.Seconds() {
					t.Errorf("stuck %+v; the disk has %v", s, in)
				}
			}
		})
	}
}

func opName(op lab.Ops) string {
	if op == lab.Reads {
		return "read"
	}
	return "write"
}

// A device that hangs and comes back in time: nothing is lost, and the maximum has it.
func TestHangAndRelease(t *testing.T) {
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			tries(t, func() error {
				disk := lab.NewProgrammable(t, 64*mib)
				var hung time.Duration
				p := start(t, "--rw randread --iodepth 4 --runtime 2s --engine "+engine+middleOptions, disk.Dev)
				wait := later(t, disk.Dev, 400*time.Millisecond, func() {
					began := time.Now()
					disk.Hang(lab.Reads)
					time.Sleep(700 * time.Millisecond)
					disk.Release()
					hung = time.Since(began)
				})
				point := p.wait(exitGood).point()
				wait()
				longest := time.Duration(point.Read.Latency.Max)
				t.Logf("%s: hung for %v, max %v", engine, hung.Round(time.Millisecond), longest.Round(time.Millisecond))
				if !point.Completed || point.Faults != 0 || len(point.Stuck) != 0 || longest < longestHeld(disk) {
					t.Errorf("%s: completed %v, faults %d, stuck %d, max %v after a hang of %v", engine, point.Completed, point.Faults, len(point.Stuck), longest, hung)
				}
				if longest < hung-30*time.Millisecond || longest > hung+300*time.Millisecond {
					return fmt.Errorf("%s: max %v, the disk hung for %v", engine, longest, hung)
				}
				return nil
			})
		})
	}
}

// A process that is killed with I/O in flight leaves a device that can be used again.
func TestKillWithIOInFlight(t *testing.T) {
	for _, engine := range engines {
		disk := lab.NewProgrammable(t, 64*mib)
		load := "--rw randrw --threads 2 --iodepth 8 --destroy --engine " + engine + middleOptions
		p := start(t, load+" --runtime 30s", disk.Dev)
		later(t, disk.Dev, 200*time.Millisecond, func() { disk.Hang(lab.Both) })()
		time.Sleep(200 * time.Millisecond)
		p.signal(syscall.SIGKILL)
		if engine == "io_uring" {
			p.wait(-1) // the others stay until the disk answers
		}
		disk.Release()
		if engine != "io_uring" {
			p.wait(-1)
		}
		if p := run(t, exitGood, load+" --runtime 300ms", disk.Dev); !p.Completed || p.Faults != 0 {
			t.Errorf("%s, afterwards: completed %v, faults %d", engine, p.Completed, p.Faults)
		}
	}
}

// A process that is stopped for 2 s: the I/Os in flight took as long as they did for it, which is no
// fault of the device: a warning says so.
func TestStopped(t *testing.T) {
	const stopped = 2 * time.Second
	for _, engine := range engines {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			tries(t, func() error {
				disk := lab.NewProgrammable(t, 64*mib)
				disk.SetLatency(lab.Range{}, lab.Both, time.Millisecond)
				p := start(t, "--rw randread --iodepth 4 --runtime 4s --interval 500ms --engine "+engine+middleOptions, disk.Dev)
				var took time.Duration
				later(t, disk.Dev, 300*time.Millisecond, func() {
					began := time.Now()
					p.signal(syscall.SIGSTOP)
					time.Sleep(stopped)
					p.signal(syscall.SIGCONT)
					took = time.Since(began)
				})()
				point := p.wait(exitGood).point()
				longest := time.Duration(point.Read.Latency.Max)
				t.Logf("max %v, stopped for %v, %v", longest.Round(time.Millisecond), took, codes(point))
				if !hasWarning(point, "descheduled") || !point.Completed || len(point.Intervals) != 8 {
					t.Errorf("completed %v, %d rows, warnings %v", point.Completed, len(point.Intervals), codes(point))
				}
				if hasWarning(point, "slow_after_window") {
					return fmt.Errorf("stopped too late: %v", codes(point))
				}
				if longest < stopped-50*time.Millisecond || longest > took+500*time.Millisecond { // it may be stopped between two I/Os
					return fmt.Errorf("max %v, stopped for %v", longest, took)
				}
				return nil
			})
		})
	}
}
