package runner

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"blkstorm/ioengine"
	"blkstorm/ioengine/null"
	"blkstorm/op"
	"blkstorm/plan"
)

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
	// 4 batches of 2 fit the window, 3 if the machine wakes the sleeper late.
	if n := latency.Count(); n != 8 && n != 6 || latency.Min() < 230e6 || latency.Max() > 400e6 {
		t.Errorf("%d I/Os, %d to %d ns; the device takes 230 ms and answers batches of 2", n, latency.Min(), latency.Max())
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

// silentAfter opens engines that complete at once for so many turns, and then nothing until release is closed.
func silentAfter(turns int, release chan struct{}) *ioengine.Driver {
	return driver(func(e *scripted, submit []uint32, _ int, done []ioengine.Completion) (int, int, error) {
		if e.turn > turns {
			<-release
		}
		return len(submit), e.complete(submit, done), nil
	})
}

// A device that never answers: the result comes at runtime + grace, with what is stuck.
func TestHungDevice(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	g := &gathered{}
	began := time.Now()
	r, err := Run(context.Background(), Config{
		Point: point(0, 500*time.Millisecond, 100*time.Millisecond, stream("randread", 2, 3)), Targets: []Target{nowhere(1 << 30)},
		Driver: silentAfter(10, release), Rows: g.row, Grace: 300 * time.Millisecond,
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
			done[0].Res = -int64(syscall.EIO)
			done[1].Res = 512
			done[2].Res = 0
		}
		return len(submit), n, nil
	})
	r, g := run1(t, Config{
		Point: point(0, time.Minute, time.Second, stream("randread", 1, 8)), Targets: []Target{nowhere(1 << 30)}, Driver: fail,
	})
	checkSums(t, g, r)
	if r.Completed || r.Interrupted || r.Faults != 3 || len(r.Errors) != 3 {
		t.Fatalf("completed %v, faults %d, errors %+v", r.Completed, r.Faults, r.Errors)
	}
	stat := &r.Cells[0].Ops[op.Read]
	if stat.Errors != 1 || stat.Short != 1 || stat.Zero != 1 {
		t.Errorf("errors %d, short %d, zero %d", stat.Errors, stat.Short, stat.Zero)
	}
	if got := r.Errors[0].Reason(); got != "EIO (5): input/output error" {
		t.Errorf("reason %q", got)
	}
	if got := r.Errors[1].Reason(); got != "short transfer: 512 of 4096 bytes" {
		t.Errorf("reason %q", got)
	}
	if got := r.Errors[2].Reason(); got != "moved 0 of 4096 bytes without an error, as a device does that is gone" {
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
	target.Open = func(*plan.Stream) (Descriptor, error) { opened++; return nil, no }
	_, err := Run(context.Background(), Config{
		Point: point(0, time.Second, time.Second, stream("randread", 1, 1)), Targets: []Target{target}, Driver: &null.Driver,
	})
	if !errors.Is(err, no) || opened != 1 {
		t.Errorf("error %v, opened %d times", err, opened)
	}
}

// What fails or stalls after the window's end is in no figure of the window, and still told.
func TestFaultsAfterTheWindow(t *testing.T) {
	d := driver(func(e *scripted, submit []uint32, _ int, done []ioengine.Completion) (int, int, error) {
		n := e.complete(submit, done)
		if e.turn == 5 {
			time.Sleep(300 * time.Millisecond) // into the time after the window
			done[0].Res = -int64(syscall.EIO)
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

// A device that works off a deep queue slowly after the window is not hung, however long that takes.
func TestSlowDrainIsNoHang(t *testing.T) {
	d := driver(func(e *scripted, submit []uint32, _ int, done []ioengine.Completion) (int, int, error) {
		e.held = append(e.held, submit...)
		time.Sleep(20 * time.Millisecond)
		n := e.complete(e.held[:1], done)
		e.held = e.held[n:]
		return len(submit), n, nil
	})
	r, g := run1(t, Config{
		Point: point(0, 100*time.Millisecond, 50*time.Millisecond, stream("randread", 1, 100)), Targets: []Target{nowhere(1 << 30)},
		Driver: d, Grace: time.Second,
	})
	checkSums(t, g, r)
	if r.StuckIOs != 0 || !r.Completed || r.Threads[0].Drained != 100 {
		t.Errorf("stuck %d, completed %v, drained %d of 100", r.StuckIOs, r.Completed, r.Threads[0].Drained)
	}
}

// Where the streams have the end rather than the point, the result comes at the latest of their ends + grace, and
// the window is as long as it was to be.
func TestHungDeviceOfStreamsWithAnEnd(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	short, long := stream("randread", 1, 3), stream("randread", 1, 3)
	short.Time, long.Time = plan.Duration(200*time.Millisecond), plan.Duration(600*time.Millisecond)
	began := time.Now()
	r, g := run1(t, Config{
		Point: point(0, 0, 100*time.Millisecond, short, long), Targets: []Target{nowhere(1 << 30)},
		Driver: silentAfter(10, release), Grace: 400 * time.Millisecond,
	})
	checkSums(t, g, r)
	if took := time.Since(began); took < time.Second || took > 1800*time.Millisecond {
		t.Errorf("returned after %v, the end of the longer stream + grace is 1 s", took)
	}
	if len(r.Stuck) != 6 || r.Completed || r.Window != 600*time.Millisecond || r.Threads[0].To != 200*time.Millisecond || r.Threads[1].To != 600*time.Millisecond {
		t.Errorf("%d stuck, completed %v, window %v, threads until %v and %v", len(r.Stuck), r.Completed, r.Window, r.Threads[0].To, r.Threads[1].To)
	}
}

// The grace is kept also where rows are far longer.
func TestHungDeviceWithLongIntervals(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	d := driver(func(e *scripted, submit []uint32, _ int, done []ioengine.Completion) (int, int, error) {
		<-release
		return 0, 0, nil
	})
	began := time.Now()
	r, g := run1(t, Config{
		Point: point(0, 200*time.Millisecond, time.Minute, stream("randread", 1, 2)), Targets: []Target{nowhere(1 << 30)},
		Driver: d, Grace: 200 * time.Millisecond,
	})
	checkSums(t, g, r)
	if took := time.Since(began); took > 2*time.Second || r.StuckIOs != 2 || len(r.Stuck) != 2 {
		t.Errorf("took %v, stuck %d, listed %d", took, r.StuckIOs, len(r.Stuck))
	}
}
