package runner

import (
	"errors"
	"testing"
	"time"

	"blkstorm/ioengine/null"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/workload"
)

// The search finds the largest depth that keeps the limit, whatever it is, in few windows; at depth 1 it stays.
func TestTuneFindsTheDepth(t *testing.T) {
	for most := 1; most <= 40; most++ {
		for best := 0; best <= most; best++ {
			s := newTuned(&plan.Tune{Latency: 100, Window: 1000, Percent: 99, Hold: true})
			s.lay(most)
			for range 12 {
				s.seen, s.within = 100, 98
				if s.depth <= best {
					s.within = 99
				}
				s.judge()
				if s.found {
					break
				}
			}
			if want := max(best, 1); !s.found || s.depth != want {
				t.Errorf("limit kept up to %d of %d: found %v at %d", best, most, s.found, s.depth)
			}
		}
	}
}

// A depth that is held follows the device: down when it gets slower, up again later.
func TestTuneFollows(t *testing.T) {
	s := newTuned(&plan.Tune{Latency: 100, Window: 1000, Percent: 100, Hold: true})
	s.lay(16)
	settle := func(best int) {
		for range 200 {
			s.seen, s.within = 10, 9
			if s.depth <= best {
				s.within = 10
			}
			s.judge()
		}
	}
	for _, best := range []int{16, 5, 12, 2} {
		if settle(best); s.depth != best && s.depth != best+1 { // it may be trying one more just now
			t.Errorf("depth %d where %d keeps the limit", s.depth, best)
		}
	}
}

// A stream without Hold ends with the search; one whose limit is never kept goes on at depth 1 to the end.
func TestTunedStreams(t *testing.T) {
	attempts(t, "tuned", func(f *faults) {
		a, b := stream("randread", 1, 8), stream("randread", 1, 8)
		a.Tune = &plan.Tune{Latency: plan.Duration(time.Minute), Window: plan.Duration(20 * time.Millisecond), Percent: 99}
		a.Time = plan.Duration(time.Hour)
		b.Tune = &plan.Tune{Latency: 1, Window: plan.Duration(20 * time.Millisecond), Percent: 99}
		b.Time = plan.Duration(300 * time.Millisecond)
		d := &delayed{latency: time.Millisecond}
		r, g := run1(t, Config{Point: point(0, 0, 50*time.Millisecond, a, b), Targets: []Target{nowhere(1 << 30)}, Driver: d.driver()})
		checkSums(t, g, r)
		if r.Threads[0].Depth != 8 || r.Threads[1].Depth != 1 || !r.Completed {
			f.add("depths %d and %d, completed %v", r.Threads[0].Depth, r.Threads[1].Depth, r.Completed)
		}
		if to := r.Threads[0].To; to > 200*time.Millisecond {
			f.add("the search ended after %v", to)
		}
		if to := r.Threads[1].To; to < 290*time.Millisecond {
			f.add("the other ended after %v", to)
		}
	})
}

// The first stream of its kind that ends takes the others with it, and the point is complete.
func TestStreamEndsPoint(t *testing.T) {
	a, b := stream("randread", 1, 1), stream("randread", 1, 1)
	a.IOs, a.EndsPoint, b.Time = 10, true, plan.Duration(time.Hour)
	r, g := run1(t, Config{Point: point(0, 0, 50*time.Millisecond, a, b), Targets: []Target{nowhere(1 << 30)}, Driver: &null.Driver})
	checkSums(t, g, r)
	if n := r.Cells[0].Ops[op.Read].Latency.Count(); n != 10 || !r.Completed || r.Interrupted {
		t.Errorf("%d I/Os, completed %v, interrupted %v", n, r.Completed, r.Interrupted)
	}
}

// One I/O that takes too long ends the point with an error.
func TestMaxLatency(t *testing.T) {
	a := stream("randread", 1, 1)
	a.MaxLatency = plan.Duration(time.Microsecond)
	a.Time = plan.Duration(time.Hour)
	d := &delayed{latency: time.Millisecond}
	r, g := run1(t, Config{Point: point(0, 0, 50*time.Millisecond, a), Targets: []Target{nowhere(1 << 30)}, Driver: d.driver()})
	checkSums(t, g, r)
	var late *LatencyError
	if len(r.Errors) != 1 || r.Errors[0].Errno != 110 || r.Completed || !errors.As(r.Failed, &late) || late.Took < time.Millisecond {
		t.Errorf("%v, %v, completed %v", r.Errors, r.Failed, r.Completed)
	}
}

// A stream with a ramp of its own is counted after it, and its time begins then.
func TestStreamRamp(t *testing.T) {
	attempts(t, "ramps", func(f *faults) {
		a, b, c := stream("randread", 1, 1), stream("randread", 1, 1), paced1000(1, 4)
		a.Time = plan.Duration(300 * time.Millisecond)
		b.Ramp, b.Time = plan.Duration(200*time.Millisecond), plan.Duration(100*time.Millisecond)
		c.Start, c.Ramp, c.Time = plan.Duration(100*time.Millisecond), plan.Duration(100*time.Millisecond), plan.Duration(100*time.Millisecond)
		d := &delayed{latency: time.Millisecond}
		r, g := run1(t, Config{Point: point(0, 0, 50*time.Millisecond, a, b, c), Targets: []Target{nowhere(1 << 30)}, Driver: d.driver()})
		checkSums(t, g, r)
		for i, want := range [][2]int64{{0, 300}, {200, 300}, {200, 300}} {
			th := &r.Threads[i]
			if from, to := th.From.Milliseconds(), th.To.Milliseconds(); from != want[0] || to < want[1]-3 || to > want[1]+30 {
				f.add("stream %d from %d to %d ms, want %d to %d", i, from, to, want[0], want[1])
			}
		}
		one, late := r.Cells[0].Ops[op.Read].Latency.Count(), r.Cells[1].Ops[op.Read].Latency.Count()
		if late > one/2 || late == 0 {
			f.add("%d I/Os in 100 ms after a ramp, %d in 300 ms", late, one)
		}
		if p := &r.Cells[2].Ops[op.Read]; p.Offered < 95 || p.Offered > 105 {
			f.add("%d offered of 100", p.Offered)
		}
	})
}

// Think time beside a rate: what is planned meanwhile is issued late, and the rate is kept over all.
func TestThinkWithARate(t *testing.T) {
	attempts(t, "thinking at a rate", func(f *faults) {
		s := paced1000(1, 4)
		s.Pacing.Think = workload.Think{Pause: 20 * time.Millisecond, Every: 50}
		d := &delayed{latency: 100 * time.Microsecond}
		r, g := run1(t, Config{Point: point(0, 500*time.Millisecond, 50*time.Millisecond, s), Targets: []Target{nowhere(1 << 30)}, Driver: d.driver()})
		checkSums(t, g, r)
		c := &r.Cells[0].Ops[op.Read]
		if c.Offered < 440 || c.Offered > 510 || c.Late < 50 {
			f.add("%d offered, %d late", c.Offered, c.Late)
		}
		if worst := c.Response.Max(); worst < int64(15*time.Millisecond) {
			f.add("the longest response took %d ns", worst)
		}
	})
}
