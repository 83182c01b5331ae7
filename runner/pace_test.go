package runner

import (
	"fmt"
	"math"
	"testing"
	"time"

	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/workload"
)

func paced1000(threads, depth int) plan.Stream {
	s := stream("randread", threads, depth)
	s.Pacing.IOPS.Total = 1000
	return s
}

// faults collects what is wrong in one attempt.
type faults []string

func (f *faults) add(format string, args ...any) { *f = append(*f, fmt.Sprintf(format, args...)) }

// attempts is for tests that another program on the machine can spoil by taking the CPU: what is wrong
// in each of some attempts is wrong.
func attempts(t *testing.T, name string, try func(f *faults)) {
	t.Helper()
	var f faults
	for range 5 {
		f = nil
		if try(&f); len(f) == 0 {
			return
		}
	}
	for _, text := range f {
		t.Errorf("%s: %s", name, text)
	}
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// A stall of 0.3 s, met by 1000 I/Os per second, is one slow I/O per slot to the service time. To those
// who come, it is a tenth of all in 3 s: they wait evenly from 0 to 0.3 s. So the 95th percentile is
// 0.15 s, the 99th 0.27 s, the maximum 0.3 s, at any depth.
func TestStallShowsInResponseTime(t *testing.T) {
	for _, c := range []struct{ threads, depth int }{{1, 1}, {1, 32}, {4, 1}} {
		attempts(t, fmt.Sprintf("%dT/%dQ", c.threads, c.depth), func(f *faults) {
			d := &delayed{latency: 50 * time.Microsecond, stall: 1000 * time.Millisecond, end: 1300 * time.Millisecond}
			r, g := run1(t, Config{
				Point: point(0, 3*time.Second, time.Second, paced1000(c.threads, c.depth)), Targets: []Target{nowhere(1 << 30)}, Driver: d.driver(),
			})
			checkSums(t, g, r)
			read := &r.Cells[0].Ops[op.Read]
			for _, p := range []struct{ at, want float64 }{{95, 0.15}, {99, 0.27}, {100, 0.3}} {
				if got := seconds(read.Response.Percentile(p.at)); math.Abs(got-p.want) > 0.03 {
					f.add("response p%v is %.3f s, want %.2f", p.at, got, p.want)
				}
			}
			if got := seconds(read.Latency.Percentile(95)); got > 0.02 {
				f.add("service p95 is %.4f s", got)
			}
			if planned := read.Offered + read.Missed + r.Cells[0].Undrawn; planned != 3000 {
				t.Errorf("%d offered and %d + %d missed; 3000 were planned", read.Offered, read.Missed, r.Cells[0].Undrawn)
			}
			if read.Late < 250 || read.Late > 500 {
				f.add("%d late", read.Late)
			}
		})
	}
}

// What the device cannot take is missed, with its age: none of it is in a percentile.
func TestRateNotReached(t *testing.T) {
	for _, s := range []plan.Stream{paced1000(1, 1), paced1000(2, 2)} {
		attempts(t, fmt.Sprintf("%dT/%dQ", s.Threads, s.IODepth), func(f *faults) {
			d := &delayed{latency: 20 * time.Millisecond} // 50 I/Os per second and slot
			r, g := run1(t, Config{Point: point(0, 2*time.Second, time.Second, s), Targets: []Target{nowhere(1 << 30)}, Driver: d.driver()})
			checkSums(t, g, r)
			cell := &r.Cells[0]
			read := &cell.Ops[op.Read]
			slots := s.Threads * s.IODepth
			if high := uint64(100*slots + slots); read.Offered > high || read.Offered < high*7/10 {
				f.add("%d offered, at most %d are possible", read.Offered, high)
			}
			if planned := read.Offered + read.Missed + cell.Undrawn; planned != 2000 {
				t.Errorf("%d slots: %d planned", slots, planned)
			}
			// 1000 x 2 s - offered are left: the oldest was planned at offered ms.
			want := 2*time.Second - time.Duration(read.Offered)*time.Millisecond
			if diff := cell.Backlog - want; diff < -10*time.Millisecond || diff > 10*time.Millisecond {
				f.add("the oldest missed I/O is %v old, want %v", cell.Backlog, want)
			}
		})
	}
}

// The backlog of a ramp does not burst into the window.
func TestNoBurstAfterRamp(t *testing.T) {
	attempts(t, "ramp", func(f *faults) {
		d := &delayed{latency: 50 * time.Microsecond, stall: 100 * time.Millisecond, end: 990 * time.Millisecond}
		r, g := run1(t, Config{
			Point: point(time.Second, time.Second, 100*time.Millisecond, paced1000(1, 1)), Targets: []Target{nowhere(1 << 30)}, Driver: d.driver(),
		})
		checkSums(t, g, r)
		read := &r.Cells[0].Ops[op.Read]
		if planned := read.Offered + read.Missed + r.Cells[0].Undrawn; planned != 1000 {
			t.Errorf("%d planned in the window", planned)
		}
		if n := read.Latency.Count(); n > 1010 {
			f.add("%d I/Os in the window at 1000 per second", n)
		}
		if max := seconds(read.Response.Max()); max > 0.3 {
			f.add("an I/O of the window has a response time of %.3f s, from the ramp", max)
		}
	})
}

// Reads and writes each keep their own rate. Of 2 s of Poisson arrivals at 900 and 100, 5 sigma are
// 5 √n: 212 and 71.
func TestRatesPerDirection(t *testing.T) {
	for _, arrival := range []string{workload.ArrivalFixed, workload.ArrivalPoisson} {
		s := stream("randrw", 2, 4)
		s.Pacing = workload.Pacing{Arrival: arrival, IOPS: workload.Rates{Each: [op.Count]float64{900, 100}}}
		d := &delayed{latency: 100 * time.Microsecond}
		r, g := run1(t, Config{Point: point(0, 2*time.Second, time.Second, s), Targets: []Target{nowhere(1 << 30)}, Driver: d.driver()})
		checkSums(t, g, r)
		for o, want := range []float64{1800, 200} {
			stat := &r.Cells[0].Ops[o]
			tolerance := 0.0
			if arrival == workload.ArrivalPoisson {
				tolerance = 5 * math.Sqrt(want)
			}
			if got := float64(stat.Offered + stat.Missed); math.Abs(got-want) > tolerance {
				t.Errorf("%s: %v of %v planned, tolerance %.0f", op.Op(o), got, want, tolerance)
			}
		}
		if r.Cells[0].Undrawn > 0 {
			t.Errorf("%d missed without a direction", r.Cells[0].Undrawn)
		}
	}
}

// 1 KiB/s in I/Os of 4 KiB is one every 4 s; the point still ends in time.
func TestSlowRateEndsInTime(t *testing.T) {
	s := stream("randread", 1, 8)
	s.Pacing.Bytes.Total = 1024
	d := &delayed{latency: 100 * time.Microsecond}
	began := time.Now()
	r, _ := run1(t, Config{Point: point(0, 1500*time.Millisecond, time.Second, s), Targets: []Target{nowhere(1 << 30)}, Driver: d.driver()})
	if took := time.Since(began); took > 1900*time.Millisecond {
		t.Errorf("took %v", took)
	}
	if n := r.Cells[0].Ops[op.Read].Latency.Count(); n != 1 || !r.Completed {
		t.Errorf("%d I/Os, completed %v", n, r.Completed)
	}
}

// A burst is planned at once, so that the later of its I/Os wait for the earlier at depth 1.
func TestBursts(t *testing.T) {
	attempts(t, "bursts", func(f *faults) {
		s := stream("randread", 1, 1)
		s.Pacing.Burst = workload.Burst{Count: 20, Every: 500 * time.Millisecond}
		d := &delayed{latency: 2 * time.Millisecond}
		r, g := run1(t, Config{Point: point(0, 1900*time.Millisecond, 100*time.Millisecond, s), Targets: []Target{nowhere(1 << 30)}, Driver: d.driver()})
		checkSums(t, g, r)
		read := &r.Cells[0].Ops[op.Read]
		if read.Offered != 80 || read.Missed+r.Cells[0].Undrawn != 0 {
			f.add("%d offered, %d missed", read.Offered, read.Missed)
		}
		if p50 := seconds(read.Response.Percentile(50)); p50 < 0.019 || p50 > 0.06 {
			f.add("median response %.3f s; the tenth of a burst waits for nine before it: 20 ms", p50)
		}
		for i, n := range g.ios {
			if idle := i%5 >= 3; idle && n > 0 {
				f.add("%d I/Os in row %d, between the bursts", n, i)
			}
		}
	})
}

// With think time a thread issues its I/Os, waits for them, and pauses.
func TestThinkTime(t *testing.T) {
	attempts(t, "thinktime", func(f *faults) {
		s := stream("randread", 2, 4)
		s.Pacing.Think = workload.Think{Pause: 50 * time.Millisecond, Every: 10}
		d := &delayed{latency: time.Millisecond}
		r, g := run1(t, Config{Point: point(0, time.Second, 100*time.Millisecond, s), Targets: []Target{nowhere(1 << 30)}, Driver: d.driver()})
		checkSums(t, g, r)
		// Ten I/Os at depth 4 take 3 ms, then 50 ms: at most 20 rounds of two threads.
		if n := r.Cells[0].Ops[op.Read].Latency.Count(); n > 20*20 || n < 20*12 {
			f.add("%d I/Os", n)
		}
		if n := r.Cells[0].Ops[op.Read].Response.Count(); n > 0 {
			f.add("%d response times in a closed loop", n)
		}
	})
}

// Shares hold, whatever each stream could do alone, and a stream that has ended holds back nobody.
func TestShares(t *testing.T) {
	attempts(t, "shares", func(f *faults) {
		fast, slow := stream("randread", 2, 8), stream("randwrite", 1, 1)
		fast.Share, slow.Share = 70, 30
		d := &delayed{latency: 2 * time.Millisecond}
		r, g := run1(t, Config{Point: point(0, time.Second, 100*time.Millisecond, fast, slow), Targets: []Target{nowhere(1 << 30)}, Driver: d.driver()})
		checkSums(t, g, r)
		reads, writes := r.Cells[0].Ops[op.Read].Latency.Count(), r.Cells[1].Ops[op.Write].Latency.Count()
		// The slow stream sets the pace: at most 500 per second. The fast one may be ahead by its 16 slots.
		if writes < 100 || writes > 500 {
			f.add("%d writes", writes)
		}
		if off := math.Abs(float64(reads) - float64(writes)*70/30); off > 20 {
			f.add("%d reads and %d writes, want 70 to 30", reads, writes)
		}
	})
}

func TestGateLetsTheOthersGoOn(t *testing.T) {
	a, b := stream("randread", 1, 2), stream("randwrite", 1, 2)
	a.Share, b.Share = 50, 50
	g := newGate(point(0, time.Second, time.Second, a, b))
	if n := g.allow(0, 10); n != 2 {
		t.Errorf("%d allowed ahead, want the depth", n)
	}
	if n := g.allow(0, 10); n != 0 {
		t.Errorf("%d more allowed", n)
	}
	g.leave(1)
	if n := g.allow(0, 10); n != 10 {
		t.Errorf("%d allowed alone", n)
	}
	if newGate(point(0, time.Second, time.Second, stream("read", 1, 1))) != nil {
		t.Error("a gate without shares")
	}
}

// The hot loop allocates nothing with a schedule either.
func TestPacedLoopDoesNotAllocate(t *testing.T) {
	for name, p := range map[string]workload.Pacing{
		"fixed":   {IOPS: workload.Rates{Total: 1e9}},
		"poisson": {IOPS: workload.Rates{Each: [op.Count]float64{7e8, 3e8}}, Arrival: workload.ArrivalPoisson},
		"bytes":   {Bytes: workload.Rates{Total: 1 << 40}},
	} {
		s := stream("randrw", 1, 16)
		s.Pacing = p
		th := readyThread(t, &Config{
			Point: point(0, time.Hour, time.Hour, s), Targets: []Target{nowhere(1 << 30)}, Driver: (&delayed{}).driver(),
		})
		before := th.issued
		if n := testing.AllocsPerRun(1000, func() { turn(th) }); n != 0 {
			t.Errorf("%s: %v allocations a turn", name, n)
		}
		if th.issued == before {
			t.Errorf("%s: nothing was issued", name)
		}
	}
}
