package runner

import (
	"context"
	"os"
	"testing"
	"time"

	"blkstorm/ioengine"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/workload"
)

// nowhere is a target for engines that touch none.
func nowhere(size int64) Target {
	return Target{Path: "nowhere", SizeBytes: size, Open: func(*plan.Stream) (Descriptor, error) { return os.Open(os.DevNull) }}
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
	ramp += r.Warmed
	if ramp != r.RampIOs || window != total {
		t.Errorf("rows hold %d in the ramp and %d in the window, totals %d and %d", ramp, window, r.RampIOs, total)
	}
	if sum := ramp + window + drained + r.Faults + r.StuckIOs; issued != sum {
		t.Errorf("issued %d, but ramp %d + window %d + drained %d + faults %d + stuck %d = %d",
			issued, ramp, window, drained, r.Faults, r.StuckIOs, sum)
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

// scripted is an engine whose Cycle is a function, for everything that real devices do rarely.
type scripted struct {
	c     ioengine.Config
	cycle func(e *scripted, submit []uint32, wait int, done []ioengine.Completion) (int, int, error)
	turn  int
	held  []uint32
}

func (e *scripted) Info() ioengine.Info { return ioengine.Info{Name: "scripted"} }

func (e *scripted) Close() error { return nil }

func (e *scripted) Cycle(submit []uint32, wait int, _ time.Duration, done []ioengine.Completion) (int, int, error) {
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
		done[i] = ioengine.Completion{Slot: slot, Res: e.c.Slots[slot].Length}
	}
	return len(submit)
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
	closeAll, err := th.open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeAll)
	r.begin()
	return th
}

// turn is one pass of thread.loop.
func turn(th *thread) {
	now := th.run.clock.now()
	th.refill(now)
	for _, slot := range th.pending {
		th.starts[slot] = now
	}
	taken, completed, _ := th.cycle(now)
	preemptPoint(taken)
	reaped := th.run.clock.now()
	th.account(taken, completed)
	th.reap(reaped, th.done[:completed])
}
