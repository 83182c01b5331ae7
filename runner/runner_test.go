package runner

import (
	"context"
	"errors"
	"math"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"blkstorm/ioengine"
	"blkstorm/ioengine/null"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/workload"
)

// nowhere is a target for engines that touch none.
func nowhere(size int64) Target {
	return Target{Path: "nowhere", SizeBytes: size, Open: func() (Descriptor, error) { return os.Open(os.DevNull) }}
}

func stream(rw string, threads, depth int) plan.Stream {
	return plan.Stream{
		Workload: workload.Spec{RW: rw, BlockSize: 4096, ReadPct: 70},
		Targets:  []int{0}, Threads: threads, IODepth: depth,
	}
}

func point(ramp, runtime, interval time.Duration, streams ...plan.Stream) *plan.Point {
	return &plan.Point{
		Ramp: plan.Duration(ramp), Runtime: plan.Duration(runtime), Interval: plan.Duration(interval), Streams: streams,
	}
}

// gathered is what the row callback saw.
type gathered struct {
	rows []Row // without cells
	ios  []uint64
}

func (g *gathered) row(r *Row) {
	flat := *r
	flat.Cells = nil
	g.rows = append(g.rows, flat)
	var n uint64
	for i := range r.Cells {
		for o := range r.Cells[i].Ops {
			n += r.Cells[i].Ops[o].Latency.Count()
		}
	}
	g.ios = append(g.ios, n)
}

// checkSums proves that nothing is lost or counted twice: the rows of the window sum to the totals,
// those of the ramp to the ramp's, and what was issued is what came back.
func checkSums(t *testing.T, g *gathered, r *Result) {
	t.Helper()
	var ramp, window, total, issued, drained uint64
	for i := range g.rows {
		if g.rows[i].Ramp {
			ramp += g.ios[i]
		} else {
			window += g.ios[i]
		}
	}
	for i := range r.Cells {
		for o := range r.Cells[i].Ops {
			total += r.Cells[i].Ops[o].Latency.Count()
		}
	}
	for i := range r.Threads {
		for _, n := range r.Threads[i].Issued {
			issued += n
		}
		drained += r.Threads[i].Drained
	}
	if ramp != r.RampIOs || window != total {
		t.Errorf("rows hold %d in the ramp and %d in the window, totals %d and %d", ramp, window, r.RampIOs, total)
	}
	if sum := ramp + window + drained + r.Faults + uint64(len(r.Stuck)); issued != sum {
		t.Errorf("issued %d, but ramp %d + window %d + drained %d + faults %d + stuck %d = %d",
			issued, ramp, window, drained, r.Faults, len(r.Stuck), sum)
	}
}

// checkMix proves the exact mix of each thread's issue order, ramp included.
func checkMix(t *testing.T, r *Result, readPct uint64) {
	t.Helper()
	for i := range r.Threads {
		reads, writes := r.Threads[i].Issued[op.Read], r.Threads[i].Issued[op.Write]
		whole := (reads + writes) / 100
		rest := (reads + writes) % 100
		if low, high := whole*readPct, whole*readPct+min(rest, readPct); reads < low || reads > high {
			t.Errorf("thread %d issued %d reads and %d writes: reads must lie in %d to %d", i, reads, writes, low, high)
		}
	}
}

func run1(t *testing.T, cfg Config) (*Result, *gathered) {
	t.Helper()
	g := &gathered{}
	cfg.Rows = g.row
	r, err := Run(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r, g
}

func TestNullEngineKeepsTimeAndSums(t *testing.T) {
	for _, threads := range []int{1, 16, 160} {
		began := time.Now()
		r, g := run1(t, Config{
			Point:   point(300*time.Millisecond, time.Second, 250*time.Millisecond, stream("randrw", threads, 16)),
			Targets: []Target{nowhere(1 << 40)}, Driver: &null.Driver, Seed: 1,
		})
		if took := time.Since(began); took > 2300*time.Millisecond {
			t.Errorf("%d threads: a point of 1.3 s took %v", threads, took)
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
		time.AfterFunc(700*time.Millisecond, cancel)
		began := time.Now()
		r, err := Run(ctx, Config{
			Point:   point(0, time.Minute, 200*time.Millisecond, stream("randread", threads, 4)),
			Targets: []Target{nowhere(1 << 40)}, Driver: &null.Driver, Rows: g.row,
		})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 1700*time.Millisecond {
			t.Errorf("%d threads: stopped at 0.7 s, returned after %v", threads, took)
		}
		checkSums(t, g, r)
		if r.Completed || !r.Interrupted || r.Window < 600*time.Millisecond || r.Window > 1700*time.Millisecond {
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
	s.OnePass = true
	r, g := run1(t, Config{Point: point(0, 0, 100*time.Millisecond, s), Targets: []Target{nowhere(4096 * 1000)}, Driver: &null.Driver})
	checkSums(t, g, r)
	if n := r.Cells[0].Ops[op.Write].Latency.Count(); n != 1000 || !r.Completed {
		t.Errorf("%d writes of 1000, completed %v", n, r.Completed)
	}
	if r.Window <= 0 {
		t.Errorf("window %v", r.Window)
	}
}

// scripted is an engine whose Cycle is a function, for everything that real devices do rarely.
type scripted struct {
	c     ioengine.Config
	cycle func(e *scripted, submit []uint32, wait int, done []ioengine.Completion) (int, int, error)
	turn  int
	held  []uint32
}

func (e *scripted) Info() ioengine.Info { return ioengine.Info{Name: "scripted"} }
func (e *scripted) Close() error        { return nil }
func (e *scripted) Cycle(submit []uint32, wait int, done []ioengine.Completion) (int, int, error) {
	e.turn++
	return e.cycle(e, submit, wait, done)
}

func driver(cycle func(*scripted, []uint32, int, []ioengine.Completion) (int, int, error)) *ioengine.Driver {
	return &ioengine.Driver{Name: "scripted", Open: func(c ioengine.Config) (ioengine.Engine, error) {
		return &scripted{c: c, cycle: cycle}, nil
	}}
}

// complete answers all of submit with its full length.
func (e *scripted) complete(submit []uint32, done []ioengine.Completion) int {
	for i, slot := range submit {
		done[i] = ioengine.Completion{Slot: slot, Res: int32(len(e.c.Slots[slot].Buf))}
	}
	return len(submit)
}

// A device of known latency: the recorded service time is what the engine took, and no row is lost
// while the device takes longer than an interval.
func TestLatencyAndZeroRows(t *testing.T) {
	d := driver(func(e *scripted, submit []uint32, _ int, done []ioengine.Completion) (int, int, error) {
		time.Sleep(230 * time.Millisecond)
		return len(submit), e.complete(submit, done), nil
	})
	r, g := run1(t, Config{
		Point: point(0, time.Second, 50*time.Millisecond, stream("randread", 1, 2)), Targets: []Target{nowhere(1 << 30)}, Driver: d,
	})
	checkSums(t, g, r)
	if len(g.rows) != 20 {
		t.Errorf("%d rows of 20", len(g.rows))
	}
	latency := &r.Cells[0].Ops[op.Read].Latency
	if latency.Count() != 8 || latency.Min() < 230e6 || latency.Max() > 330e6 {
		t.Errorf("%d I/Os, %d to %d ns; the device takes 230 ms and answers 4 batches of 2 in the window", latency.Count(), latency.Min(), latency.Max())
	}
}

// Rows go on, live, while one thread waits for the device.
func TestRowsGoOnWhileTheDeviceIsSilent(t *testing.T) {
	d := driver(func(e *scripted, submit []uint32, _ int, done []ioengine.Completion) (int, int, error) {
		if e.turn == 3 {
			time.Sleep(600 * time.Millisecond)
		} else {
			time.Sleep(time.Millisecond)
		}
		return len(submit), e.complete(submit, done), nil
	})
	began := time.Now()
	g := &gathered{}
	third := time.Duration(0)
	r, err := Run(context.Background(), Config{
		Point: point(0, time.Second, 100*time.Millisecond, stream("randread", 1, 1)), Targets: []Target{nowhere(1 << 30)}, Driver: d,
		Rows: func(row *Row) {
			g.row(row)
			if row.Index == 2 {
				third = time.Since(began)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	checkSums(t, g, r)
	if third == 0 || third > 450*time.Millisecond {
		t.Errorf("the row that ended at 0.3 s, in the middle of a silence until 0.6 s, came at %v", third)
	}
	if g.rows[3].InFlight != 1 {
		t.Errorf("a silent row shows %d in flight", g.rows[3].InFlight)
	}
}

// A device that never answers: the result comes at runtime + grace, with what is stuck.
func TestHungDevice(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	d := driver(func(e *scripted, submit []uint32, _ int, done []ioengine.Completion) (int, int, error) {
		if e.turn > 10 {
			<-release
		}
		return len(submit), e.complete(submit, done), nil
	})
	g := &gathered{}
	began := time.Now()
	r, err := Run(context.Background(), Config{
		Point: point(0, 500*time.Millisecond, 100*time.Millisecond, stream("randread", 2, 3)), Targets: []Target{nowhere(1 << 30)},
		Driver: d, Rows: g.row, Grace: 300 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took < 800*time.Millisecond || took > 1500*time.Millisecond {
		t.Errorf("returned after %v, runtime + grace is 0.8 s", took)
	}
	if len(r.Stuck) != 6 || r.Completed {
		t.Fatalf("stuck %+v, completed %v; 2 threads hang with 3 I/Os each", r.Stuck, r.Completed)
	}
	for _, s := range r.Stuck {
		if s.Age < 700*time.Millisecond || s.Age > 1500*time.Millisecond || s.Length != 4096 {
			t.Errorf("stuck %+v", s)
		}
	}
	if len(g.rows) != 5 {
		t.Errorf("%d rows of 5", len(g.rows))
	}
	checkSums(t, g, r)
	var window uint64
	for i := range g.ios {
		window += g.ios[i]
	}
	if window != 2*10*3 {
		t.Errorf("completed %d, want 60", window)
	}
}

func TestErrorsStopThePoint(t *testing.T) {
	fail := driver(func(e *scripted, submit []uint32, _ int, done []ioengine.Completion) (int, int, error) {
		n := e.complete(submit, done)
		if e.turn == 5 {
			done[0].Res = -int32(syscall.EIO)
			done[1].Res = 512
		}
		return len(submit), n, nil
	})
	r, g := run1(t, Config{
		Point: point(0, time.Minute, time.Second, stream("randread", 1, 8)), Targets: []Target{nowhere(1 << 30)}, Driver: fail,
	})
	checkSums(t, g, r)
	if r.Completed || r.Interrupted || r.Faults != 2 || len(r.Errors) != 2 {
		t.Fatalf("completed %v, faults %d, errors %+v", r.Completed, r.Faults, r.Errors)
	}
	stat := &r.Cells[0].Ops[op.Read]
	if stat.Errors != 1 || stat.Short != 1 {
		t.Errorf("errors %d, short %d", stat.Errors, stat.Short)
	}
	if got := r.Errors[0].Reason(); got != "EIO (5): input/output error" {
		t.Errorf("reason %q", got)
	}
	if got := r.Errors[1].Reason(); got != "short transfer: 512 of 4096 bytes" {
		t.Errorf("reason %q", got)
	}
}

func TestContinueOnErrorCountsAndKeepsTheFirst(t *testing.T) {
	fail := driver(func(e *scripted, submit []uint32, _ int, done []ioengine.Completion) (int, int, error) {
		time.Sleep(time.Millisecond)
		n := e.complete(submit, done)
		if e.turn%2 == 0 {
			done[0].Res = 0 // what a vanished device answers
		}
		return len(submit), n, nil
	})
	r, g := run1(t, Config{
		Point: point(0, 500*time.Millisecond, 100*time.Millisecond, stream("randread", 1, 4)), Targets: []Target{nowhere(1 << 30)},
		Driver: fail, ContinueOnError: true,
	})
	checkSums(t, g, r)
	if !r.Completed || r.Faults < 50 || len(r.Errors) != 10 {
		t.Errorf("completed %v, faults %d, kept %d", r.Completed, r.Faults, len(r.Errors))
	}
	stat := &r.Cells[0].Ops[op.Read]
	if stat.Bytes != 4096*stat.Latency.Count() {
		t.Errorf("%d bytes in %d I/Os", stat.Bytes, stat.Latency.Count())
	}
}

func TestEngineFailure(t *testing.T) {
	broken := errors.New("ring is gone")
	d := driver(func(e *scripted, submit []uint32, _ int, done []ioengine.Completion) (int, int, error) {
		if e.turn == 3 {
			return 0, 0, broken
		}
		return len(submit), e.complete(submit, done), nil
	})
	r, _ := run1(t, Config{
		Point: point(0, time.Minute, time.Second, stream("randread", 1, 1)), Targets: []Target{nowhere(1 << 30)}, Driver: d,
	})
	if !errors.Is(r.Failed, broken) || r.Completed {
		t.Errorf("failed %v, completed %v", r.Failed, r.Completed)
	}
}

// An engine that takes only a part of what it is given, and returns early from waits, as
// io_uring_enter does on a signal: nothing is lost, and the depth is kept.
func TestShortSubmitsAndEarlyReturns(t *testing.T) {
	d := driver(func(e *scripted, submit []uint32, _ int, done []ioengine.Completion) (int, int, error) {
		taken := min(len(submit), 1+e.turn%3)
		e.held = append(e.held, submit[:taken]...)
		if e.turn%5 == 0 {
			return taken, 0, nil
		}
		n := e.complete(e.held[:(len(e.held)+1)/2], done)
		e.held = e.held[n:]
		return taken, n, nil
	})
	r, g := run1(t, Config{
		Point: point(0, 300*time.Millisecond, 100*time.Millisecond, stream("randrw", 2, 16)), Targets: []Target{nowhere(1 << 30)}, Driver: d,
	})
	checkSums(t, g, r)
	checkMix(t, r, 70)
	if !r.Completed {
		t.Error("not completed")
	}
}

func TestOpenFailureIssuesNothing(t *testing.T) {
	no := errors.New("no such luck")
	target := nowhere(1 << 30)
	opened := 0
	target.Open = func() (Descriptor, error) { opened++; return nil, no }
	_, err := Run(context.Background(), Config{
		Point: point(0, time.Second, time.Second, stream("randread", 1, 1)), Targets: []Target{target}, Driver: &null.Driver,
	})
	if !errors.Is(err, no) || opened != 1 {
		t.Errorf("error %v, opened %d times", err, opened)
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

// One turn of the hot loop allocates nothing, whatever the engine and the mix.
func TestLoopAllocatesNothing(t *testing.T) {
	cfg := Config{Point: point(0, time.Hour, time.Hour, stream("randrw", 1, 16)), Targets: []Target{nowhere(1 << 40)}, Driver: &null.Driver}
	th := readyThread(t, &cfg)
	if n := testing.AllocsPerRun(1000, func() { turn(th) }); n != 0 {
		t.Errorf("%g allocations per turn", n)
	}
	// A rotation allocates nothing either, as long as control gives slices back.
	if n := testing.AllocsPerRun(100, func() {
		th.rotate(th.run.clock.now())
		s := th.retired.takeAll()
		s.reset()
		th.recycled.push(s)
		turn(th)
	}); n != 0 {
		t.Errorf("%g allocations per rotation", n)
	}
}

// readyThread makes a thread that stands at the head of its loop.
func readyThread(t testing.TB, cfg *Config) *thread {
	t.Helper()
	cfg.CompleteMin = 1
	r := &run{cfg: cfg, clock: newClock()}
	if err := r.makeThreads(); err != nil {
		t.Fatal(err)
	}
	th := r.threads[0]
	th.cpu = -1
	closeAll, err := th.open(cfg.Driver)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeAll)
	r.begin()
	return th
}

// turn is one pass of thread.loop.
func turn(th *thread) {
	th.refill()
	now := th.run.clock.now()
	for _, slot := range th.pending {
		th.starts[slot] = now
	}
	taken, completed, _ := th.cycle()
	preemptPoint(taken)
	reaped := th.run.clock.now()
	th.account(taken, completed)
	th.reap(reaped, th.done[:completed])
}

func BenchmarkLoop(b *testing.B) {
	for _, c := range []struct {
		name  string
		rw    string
		depth int
	}{{"randread/Q1", "randread", 1}, {"randread/Q32", "randread", 32}, {"randrw/Q32", "randrw", 32}} {
		b.Run(c.name, func(b *testing.B) {
			cfg := Config{Point: point(0, time.Hour, time.Hour, stream(c.rw, 1, c.depth)), Targets: []Target{nowhere(1 << 40)}, Driver: &null.Driver}
			th := readyThread(b, &cfg)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				turn(th)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.depth), "ns/IO")
		})
	}
}

func TestSchedule(t *testing.T) {
	s := newSchedule(1000, 250, 100)
	for _, c := range []struct{ t, row int64 }{{900, 0}, {1000, 0}, {1099, 0}, {1100, 1}, {1249, 2}, {1250, 3}, {1349, 3}, {1350, 4}, {math.MaxInt32, 3 + (math.MaxInt32-1250)/100}} {
		if got := s.row(c.t); got != c.row {
			t.Errorf("row(%d) = %d, want %d", c.t, got, c.row)
		}
	}
	for _, c := range []struct{ row, begin, end int64 }{{0, 1000, 1100}, {2, 1200, 1250}, {3, 1250, 1350}} {
		if s.begin(c.row) != c.begin || s.end(c.row) != c.end {
			t.Errorf("row %d: %d to %d, want %d to %d", c.row, s.begin(c.row), s.end(c.row), c.begin, c.end)
		}
	}
	if s := newSchedule(0, 0, 100); s.rampRows != 0 || s.row(0) != 0 || s.begin(0) != 0 {
		t.Errorf("no ramp: %+v", s)
	}
}

func TestPlacement(t *testing.T) {
	allowed := []int{2, 3, 5}
	for _, c := range []struct {
		pin  string
		n    int
		want []int // nil for an error
	}{
		{"auto", 2, []int{2, 3}},
		{"auto", 3, []int{2, 3, 5}},
		{"auto", 4, []int{-1, -1, -1, -1}},
		{"none", 1, []int{-1}},
		{"3", 2, []int{3, 3}},
		{"2-3,5", 4, []int{2, 3, 5, 2}},
		{"4", 1, nil},
		{"x", 1, nil},
		{"3-2", 1, nil},
		{"-1", 1, nil},
		{"0-99999", 1, nil},
		{"", 1, []int{2}},
	} {
		got, err := placement(c.pin, c.n, allowed)
		if (err != nil) != (c.want == nil) {
			t.Errorf("%q: %v", c.pin, err)
			continue
		}
		for i := range c.want {
			if got[i] != c.want[i] {
				t.Errorf("%q: %v, want %v", c.pin, got, c.want)
				break
			}
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

func BenchmarkClock(b *testing.B) {
	c := newClock()
	var sum int64
	for b.Loop() {
		sum += c.now()
	}
	_ = sum
}

// What fails or stalls after the window's end is in no figure of the window, and still told.
func TestFaultsAfterTheWindow(t *testing.T) {
	d := driver(func(e *scripted, submit []uint32, _ int, done []ioengine.Completion) (int, int, error) {
		n := e.complete(submit, done)
		if e.turn == 5 {
			time.Sleep(300 * time.Millisecond) // into the time after the window
			done[0].Res = -int32(syscall.EIO)
		} else {
			time.Sleep(time.Millisecond)
		}
		return len(submit), n, nil
	})
	r, g := run1(t, Config{
		Point: point(0, 100*time.Millisecond, 50*time.Millisecond, stream("randread", 1, 2)), Targets: []Target{nowhere(1 << 30)}, Driver: d,
	})
	checkSums(t, g, r)
	if r.Faults != 1 || len(r.Errors) != 1 || r.Cells[0].Ops[op.Read].Errors != 0 || r.Errors[0].Errno != syscall.EIO {
		t.Errorf("faults %d, kept %+v, errors of the window %d", r.Faults, r.Errors, r.Cells[0].Ops[op.Read].Errors)
	}
	if r.DrainedMax < 300*time.Millisecond || r.Threads[0].Drained != 1 {
		t.Errorf("the slowest of %d drained took %v", r.Threads[0].Drained, r.DrainedMax)
	}
}
