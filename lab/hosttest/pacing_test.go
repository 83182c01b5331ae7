package hosttest

import (
	"errors"
	"fmt"
	"math"
	"os/exec"
	"testing"
	"time"

	"blkstorm/lab"
	"blkstorm/result"
)

// within is near with an absolute tolerance.
func within(what string, got, want, tolerance float64) error {
	if math.Abs(got-want) > tolerance {
		return fmt.Errorf("%s is %.4g, want %.4g ± %.4g", what, got, want, tolerance)
	}
	return nil
}

// planned is how many I/Os a point has had planned in its window.
func planned(s *result.Stat) uint64 { return s.Offered + s.Missed }

// A disk that stalls for one of ten seconds under 1000 I/Os per second: a tenth of all come in the stall
// and wait evenly from 1 s down, so that the 95th percentile of the response time is 0.5 s, the 99th 0.9 s
// and the maximum 1.0 s, whatever the depth. The service time has a few slow I/Os, as many as there are slots.
func TestStallInOpenLoop(t *testing.T) {
	for _, depth := range []int{1, 32} {
		tries(t, func() error {
			disk := lab.NewProgrammable(t, 64*mib)
			p := start(t, fmt.Sprintf("--rw randread --rate-iops 1000 --iodepth %d --runtime 10s", depth), disk.Dev)
			time.Sleep(4 * time.Second)
			disk.FreezeFor(time.Second)
			r := p.wait(exitGood).point().Total
			if n := planned(r); n != 10_000 {
				t.Errorf("QD%d: %d offered and %d missed; 10 000 were planned", depth, r.Offered, r.Missed)
			}
			// An I/O that comes in the stall is also behind those that have come in it before. Their number
			// times the time of one, spread over the slots, is what this bench adds to the theory.
			behind := 1000 * float64(r.Latency.Percentiles["50"]) / 1e9 / float64(depth)
			t.Logf("QD%d: response p95 %.3f s, p99 %.3f s, max %.3f s; service p50 %s, p95 %s", depth, float64(r.Response.Percentiles["95"])/1e9,
				float64(r.Response.Percentiles["99"])/1e9, float64(r.Response.Max)/1e9, ms(r.Latency.Percentiles["50"]), ms(r.Latency.Percentiles["95"]))
			if r.Late < 900 {
				t.Errorf("QD%d: only %d late", depth, r.Late)
			}
			return errors.Join(
				within(fmt.Sprintf("QD%d: response p95 in s", depth), float64(r.Response.Percentiles["95"])/1e9, 0.5+0.5*behind, 0.05),
				within(fmt.Sprintf("QD%d: response p99 in s", depth), float64(r.Response.Percentiles["99"])/1e9, 0.9+0.1*behind, 0.05),
				within(fmt.Sprintf("QD%d: response max in s", depth), float64(r.Response.Max)/1e9, 1, 0.05),
				within(fmt.Sprintf("QD%d: service p95 in s", depth), float64(r.Latency.Percentiles["95"])/1e9, 0, 0.02),
			)
		})
	}
}

// Poisson arrivals, seen by the disk: reads and writes at their rates, and between two I/Os gaps with a
// coefficient of variation of 1. 5 sigma of a Poisson count n are 5 √n: 2.2 % of 54 000 and 6.5 % of 6000.
func TestPoissonArrivals(t *testing.T) {
	disk := lab.NewProgrammable(t, 64*mib)
	const window = 60 * time.Second
	tries(t, func() error {
		before := len(disk.Log())
		r := run(t, exitGood, "--rw randrw --rate-iops 900,100 --arrival poisson --iodepth 32 --destroy --runtime "+window.String(), disk.Dev)
		log := disk.Log()[before:]
		var gaps, squares float64
		n, reads, writes := 0, 0, 0
		for i, a := range log {
			if a.Length != 4096 {
				continue // the guard's look at the disk before
			}
			if a.Op == lab.Reads {
				reads++
			} else {
				writes++
			}
			if i > 0 && log[i-1].Length == 4096 {
				gap := a.At.Sub(log[i-1].At).Seconds()
				gaps += gap
				squares += gap * gap
				n++
			}
		}
		mean := gaps / float64(n)
		cv := math.Sqrt(squares/float64(n)-mean*mean) / mean
		t.Logf("the disk saw %d reads and %d writes, coefficient of variation %.3f; blkstorm says %d and %d, %d late", reads, writes, cv, r.Read.IOs, r.Write.IOs, r.Total.Late)
		return errors.Join(
			near("reads that the disk saw", float64(reads), 900*window.Seconds(), 0.025),
			near("writes that the disk saw", float64(writes), 100*window.Seconds(), 0.07),
			near("reads per second", r.Read.IOPS, 900, 0.025),
			near("writes per second", r.Write.IOPS, 100, 0.07),
			within("the coefficient of variation", cv, 1, 0.05),
		)
	})
}

// A rate below one I/O per second: some eight I/Os, and the run ends in time all the same.
func TestSlowByteRate(t *testing.T) {
	disk := lab.NewProgrammable(t, 64*mib)
	began := time.Now()
	r := run(t, exitGood, "--rw randread --bs 4k --rate-bytes 1k --iodepth 8 --runtime 30s", disk.Dev)
	if took := time.Since(began).Seconds(); took < 30 || took > 32 {
		t.Errorf("took %.1f s", took)
	}
	if r.WindowS < 29 || r.WindowS > 31 || r.Read.IOs < 7 || r.Read.IOs > 8 {
		t.Errorf("%d I/Os in %v s, want 8 in 30 s", r.Read.IOs, r.WindowS)
	}
}

// Two targets in one run, one slow and one with a known rate: neither takes slots from the other.
func TestSlowTargetDoesNotHoldTheOther(t *testing.T) {
	lab.Root(t)
	slow := lab.NewProgrammable(t, 64*mib)
	slow.SetLatency(lab.Range{}, lab.Both, 20*time.Millisecond)
	fast := lab.Loop(t, 64*mib, lab.LoopOptions{})
	const rate = 2000
	group := lab.Throttle(t, fast, rate, rate)
	tries(t, func() error {
		args := runArgs("--rw randread --iodepth 32 --ramp 1s --runtime 5s", slow.Dev, fast)
		p := startCommand(t, group.Command(binary(t), args...)).wait(exitGood).point()
		t.Logf("slow %.0f IOPS, fast %.0f IOPS", p.Targets[0].Read.IOPS, p.Targets[1].Read.IOPS)
		return errors.Join(
			near("IOPS of the fast target", p.Targets[1].Read.IOPS, rate, 0.10),
			near("IOPS of the slow target, 32 / 20 ms,", p.Targets[0].Read.IOPS, 1600, 0.15),
		)
	})
}

// A database and its log: two streams on ranges of their own, one in fixed proportion to the other.
func TestStreams(t *testing.T) {
	disk := lab.NewProgrammable(t, 64*mib)
	p := startCommand(t, exec.Command(binary(t), "run", "--format", "json", "--quiet", "--destroy", "--runtime", "2s", "--offset", "16m",
		"--stream", "label=data rw=randrw read-pct=70 bs=8k threads=2 iodepth=8 size=16m share=75",
		"--stream", "label=log rw=write bs=64k offset=32m size=16m share=25", disk.Dev)).wait(exitGood).point()
	if len(p.Streams) != 2 || p.Streams[0].Label != "data" || p.Streams[1].Label != "log" {
		t.Fatalf("streams %+v", p.Streams)
	}
	data, log := p.Streams[0], p.Streams[1]
	if data.Total.IOs+log.Total.IOs != p.Total.IOs || p.Total.IOs != p.Read.IOs+p.Write.IOs {
		t.Errorf("%d and %d are not %d", data.Total.IOs, log.Total.IOs, p.Total.IOs)
	}
	// Each may be ahead by what it keeps in flight.
	if off := math.Abs(float64(data.Total.IOs) - 3*float64(log.Total.IOs)); off > 16+3+1 {
		t.Errorf("%d I/Os of data, %d of the log: not 75 to 25", data.Total.IOs, log.Total.IOs)
	}
	if share := float64(data.Read.IOs) / float64(data.Total.IOs); math.Abs(share-0.7) > 0.05 {
		t.Errorf("%.1f %% of data are reads", 100*share)
	}
	for _, a := range disk.Log() {
		switch {
		case a.Op == lab.Reads:
		case a.Length == 64*kib:
			if a.Offset < 32*mib || a.Offset >= 48*mib {
				t.Fatalf("the log wrote at %d", a.Offset)
			}
		case a.Offset < 16*mib || a.Offset >= 32*mib:
			t.Fatalf("data wrote %d bytes at %d", a.Length, a.Offset)
		}
	}
}
