package runner

import (
	"context"
	"runtime"
	"testing"
	"time"

	"blkstorm/ioengine/null"
	"blkstorm/op"
)

func TestNullEngineKeepsTimeAndSums(t *testing.T) {
	for _, threads := range []int{1, 16, 160} {
		r, g := run1(t, Config{
			Point:   point(300*time.Millisecond, time.Second, 250*time.Millisecond, stream("randrw", threads, 16)),
			Targets: []Target{nowhere(1 << 40)}, Driver: &null.Driver, Seed: 1,
		})
		if late := time.Since(r.WindowStart.Add(time.Second)); late > time.Second {
			t.Errorf("%d threads: returned %v after the end of the window", threads, late)
		}
		checkSums(t, g, r)
		checkMix(t, r, 70)
		if !r.Completed || r.Interrupted || r.Window != time.Second {
			t.Errorf("%d threads: completed %v, interrupted %v, window %v", threads, r.Completed, r.Interrupted, r.Window)
		}
		if len(g.rows) != 6 { // 2 of the ramp, 4 of the window
			t.Fatalf("%d threads: %d rows", threads, len(g.rows))
		}
		wantStart := []time.Duration{-300, -50, 0, 250, 500, 750}
		wantLength := []time.Duration{250, 50, 250, 250, 250, 250}
		for i, row := range g.rows {
			if row.Start != wantStart[i]*time.Millisecond || row.Length != wantLength[i]*time.Millisecond || row.Ramp != (i < 2) {
				t.Errorf("row %d: %+v", i, row)
			}
		}
		for i := range r.Threads {
			if r.Threads[i].Peak != 16 {
				t.Errorf("thread %d had %d in flight", i, r.Threads[i].Peak)
			}
		}
	}
}

func TestStopEndsTheWindow(t *testing.T) {
	for _, threads := range []int{1, 16, 160} {
		ctx, cancel := context.WithCancel(context.Background())
		g := &gathered{}
		var stopped time.Time
		r, err := Run(ctx, Config{
			Point:   point(0, time.Minute, 200*time.Millisecond, stream("randread", threads, 4)),
			Targets: []Target{nowhere(1 << 40)}, Driver: &null.Driver,
			Rows: func(row *Row) {
				if g.row(row); row.Index == 2 {
					stopped = time.Now()
					cancel()
				}
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(stopped); took > time.Second {
			t.Errorf("%d threads: returned %v after the stop", threads, took)
		}
		checkSums(t, g, r)
		if r.Completed || !r.Interrupted || r.Window < 600*time.Millisecond || r.Window > 3*time.Second {
			t.Errorf("%d threads: completed %v, interrupted %v, window %v", threads, r.Completed, r.Interrupted, r.Window)
		}
		last := g.rows[len(g.rows)-1]
		if last.Start+last.Length != r.Window {
			t.Errorf("rows end at %v, the window at %v", last.Start+last.Length, r.Window)
		}
	}
}

func TestStopInTheRamp(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	g := &gathered{}
	time.AfterFunc(150*time.Millisecond, cancel)
	r, err := Run(ctx, Config{
		Point:   point(time.Minute, time.Minute, 100*time.Millisecond, stream("randread", 1, 1)),
		Targets: []Target{nowhere(1 << 30)}, Driver: &null.Driver, Rows: g.row,
	})
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, g, r)
	if r.Window != 0 || r.Completed || r.RampIOs == 0 {
		t.Errorf("window %v, completed %v, ramp I/Os %d", r.Window, r.Completed, r.RampIOs)
	}
}

func TestOnePassIssuesEachBlockOnce(t *testing.T) {
	s := stream("write", 3, 4)
	s.Passes = 1
	r, g := run1(t, Config{Point: point(0, 0, 100*time.Millisecond, s), Targets: []Target{nowhere(4096 * 1000)}, Driver: &null.Driver})
	checkSums(t, g, r)
	if n := r.Cells[0].Ops[op.Write].Latency.Count(); n != 1000 || !r.Completed {
		t.Errorf("%d writes of 1000, completed %v", n, r.Completed)
	}
	if r.Window <= 0 {
		t.Errorf("window %v", r.Window)
	}
}

func TestTwoStreamsOnTwoTargets(t *testing.T) {
	a, b := stream("randread", 2, 4), stream("write", 1, 2)
	a.Targets, b.Targets = []int{0, 1}, []int{1}
	r, g := run1(t, Config{
		Point: point(0, 300*time.Millisecond, 100*time.Millisecond, a, b), Targets: []Target{nowhere(1 << 30), nowhere(1 << 31)}, Driver: &null.Driver,
	})
	checkSums(t, g, r)
	if len(r.Threads) != 5 || len(r.Cells) != 3 {
		t.Fatalf("%d threads, %d cells", len(r.Threads), len(r.Cells))
	}
	for _, c := range r.Cells {
		reads, writes := c.Ops[op.Read].Latency.Count(), c.Ops[op.Write].Latency.Count()
		if (reads > 0) != (c.Stream == 0) || (writes > 0) != (c.Stream == 1) {
			t.Errorf("cell %d/%d: %d reads, %d writes", c.Stream, c.Target, reads, writes)
		}
	}
}

// The process's setting of the scheduler is left as it was.
func TestRunRestoresGOMAXPROCS(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	run1(t, Config{Point: point(0, 50*time.Millisecond, 50*time.Millisecond, stream("randread", 9, 1)), Targets: []Target{nowhere(1 << 30)}, Driver: &null.Driver})
	if after := runtime.GOMAXPROCS(0); after != before {
		t.Errorf("GOMAXPROCS %d before, %d after", before, after)
	}
}
