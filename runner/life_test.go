package runner

import (
	"testing"
	"time"

	"blkstorm/ioengine/null"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/workload"
)

// A stream ends after its bytes or its I/Os, exactly, and the point with the last of them.
func TestStreamEndsAfterItsWork(t *testing.T) {
	a, b, c := stream("randread", 1, 8), stream("randwrite", 2, 3), stream("read", 1, 1)
	a.IOs = 1001
	b.Bytes = 4096*77 + 1 // the last I/O goes over it
	c.Passes, c.IOs = 2, 150
	r, g := run1(t, Config{Point: point(0, 0, 50*time.Millisecond, a, b, c), Targets: []Target{nowhere(4096 * 100)}, Driver: &null.Driver})
	checkSums(t, g, r)
	got := []uint64{r.Cells[0].Ops[op.Read].Latency.Count(), r.Cells[1].Ops[op.Write].Latency.Count(), r.Cells[2].Ops[op.Read].Latency.Count()}
	if got[0] != 1001 || got[1] != 2*78 || got[2] != 150 || !r.Completed {
		t.Errorf("%d I/Os, completed %v", got, r.Completed)
	}
}

// Of several sizes, the last I/O is cut so that the bytes are exactly those asked for.
func TestLastIOIsCut(t *testing.T) {
	for seed := range uint64(20) {
		s := stream("randrw", 1, 4)
		split, err := workload.ParseSplits("4k/50:64k/50", [3]int64{})
		if err != nil {
			t.Fatal(err)
		}
		s.Workload.BlockSize, s.Workload.BlockSizeSplit, s.Bytes = 64<<10, split, 1<<20
		r, g := run1(t, Config{Point: point(0, 0, 50*time.Millisecond, s), Targets: []Target{nowhere(1 << 30)}, Driver: &null.Driver, Seed: seed})
		checkSums(t, g, r)
		if n := r.Cells[0].Ops[op.Read].Bytes + r.Cells[0].Ops[op.Write].Bytes; n != 1<<20 || !r.Completed {
			t.Errorf("seed %d: %d bytes, completed %v", seed, n, r.Completed)
		}
	}
}

// Streams start and end by their own times, and the point when the last of them has.
func TestStreamStartsAndEndsInTime(t *testing.T) {
	attempts(t, "lives", func(f *faults) {
		a, b, c := stream("randread", 1, 2), stream("randread", 1, 2), paced1000(1, 4)
		a.Time = plan.Duration(200 * time.Millisecond)
		b.Start, b.Time = plan.Duration(400*time.Millisecond), plan.Duration(300*time.Millisecond)
		c.Start, c.IOs = plan.Duration(300*time.Millisecond), 200
		d := &delayed{latency: time.Millisecond}
		r, g := run1(t, Config{Point: point(100*time.Millisecond, 0, 50*time.Millisecond, a, b, c), Targets: []Target{nowhere(1 << 30)}, Driver: d.driver()})
		checkSums(t, g, r)
		ms := func(d time.Duration) int64 { return d.Milliseconds() }
		for i, want := range [][2]int64{{0, 200}, {300, 600}, {200, 400}} {
			th := &r.Threads[i]
			if from, to := ms(th.From), ms(th.To); from < want[0]-1 || from > want[0]+1 || to < want[1]-3 || to > want[1]+30 {
				f.add("stream %d from %d to %d ms, want %d to %d", i, from, to, want[0], want[1])
			}
		}
		if w := ms(r.Window); w < 597 || w > 640 || !r.Completed {
			f.add("window of %d ms, completed %v", w, r.Completed)
		}
		paced := &r.Cells[2].Ops[op.Read]
		if paced.Offered != 200 || paced.Missed != 0 || r.Cells[2].Undrawn != 0 {
			f.add("%d offered, %d missed, %d undrawn of 200", paced.Offered, paced.Missed, r.Cells[2].Undrawn)
		}
	})
}

// A point that has a time ends streams that have none, and the others at the latest.
func TestPointEndsStreams(t *testing.T) {
	a, b := stream("randread", 1, 1), stream("randread", 1, 1)
	a.IOs, b.Start = 10, plan.Duration(time.Hour)
	r, g := run1(t, Config{Point: point(0, 200*time.Millisecond, 50*time.Millisecond, a, b), Targets: []Target{nowhere(1 << 30)}, Driver: &null.Driver})
	checkSums(t, g, r)
	if a, b := r.Cells[0].Ops[op.Read].Latency.Count(), r.Cells[1].Ops[op.Read].Latency.Count(); a != 10 || b != 0 || !r.Completed {
		t.Errorf("%d and %d I/Os, completed %v", a, b, r.Completed)
	}
	if r.Window != 200*time.Millisecond {
		t.Errorf("window %v", r.Window)
	}
}

// A thread that serves several targets takes them in turns at one depth, and goes on with the others
// where one has no more.
func TestThreadServesSeveralTargets(t *testing.T) {
	s := stream("write", 1, 4)
	s.Targets, s.Together, s.Passes = []int{0, 1, 2}, true, 1
	r, g := run1(t, Config{
		Point: point(0, 0, 50*time.Millisecond, s), Targets: []Target{nowhere(4096 * 100), nowhere(4096 * 10), nowhere(4096 * 55)}, Driver: &null.Driver,
	})
	checkSums(t, g, r)
	if len(r.Threads) != 1 || len(r.Cells) != 3 || r.Threads[0].Peak > 4 {
		t.Fatalf("%d threads, %d cells, depth %d", len(r.Threads), len(r.Cells), r.Threads[0].Peak)
	}
	for i, want := range []uint64{100, 10, 55} {
		if n := r.Cells[i].Ops[op.Write].Latency.Count(); n != want || r.Cells[i].Target != i {
			t.Errorf("target %d: %d writes, want %d", i, n, want)
		}
	}

	s = paced1000(1, 4)
	s.Targets, s.Together, s.IOs = []int{0, 1, 2}, true, 300
	r, g = run1(t, Config{
		Point: point(0, 0, 50*time.Millisecond, s), Targets: []Target{nowhere(1 << 30), nowhere(1 << 20), nowhere(1 << 25)}, Driver: &null.Driver,
	})
	checkSums(t, g, r)
	for i := range r.Cells {
		read := &r.Cells[i].Ops[op.Read]
		if read.Latency.Count() != 100 || read.Offered != 100 || read.Missed != 0 {
			t.Errorf("target %d: %d I/Os, %d offered, %d missed; want 100, 100, 0", i, read.Latency.Count(), read.Offered, read.Missed)
		}
	}
}

// The loop over several targets allocates nothing, either.
func TestSeveralTargetsAllocateNothing(t *testing.T) {
	s := stream("randrw", 1, 8)
	s.Targets, s.Together = []int{0, 1}, true
	cfg := Config{Point: point(0, time.Hour, time.Second, s), Targets: []Target{nowhere(1 << 30), nowhere(1 << 30)}, Driver: &null.Driver}
	th := readyThread(t, &cfg)
	if n := testing.AllocsPerRun(1000, func() { turn(th) }); n != 0 {
		t.Errorf("%v allocations a turn", n)
	}
}
