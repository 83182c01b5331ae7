package runner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/ioengine/null"
	"blkstorm/op"
)

// rowEnd is a point whose threads do not run: each row is filled and retired by hand, so that what
// control does at the end of a row can be timed and counted alone.
type rowEnd struct {
	run  *run
	rows *rows
	load []int64 // latencies that each thread records in each row
	next int64
}

func newRowEnd(t testing.TB, threads, ios int, handed func(*Row)) *rowEnd {
	t.Helper()
	cfg := Config{
		Point: point(0, time.Hour, time.Second, stream("randrw", threads, 1)), Targets: []Target{nowhere(1 << 40)},
		Driver: &null.Driver, Rows: handed,
	}
	r := &run{cfg: &cfg, clock: newClock()}
	if err := r.makeThreads(); err != nil {
		t.Fatal(err)
	}
	r.begin()
	e := &rowEnd{run: r, rows: newRows(r, &Result{})}
	// Around 80 µs, as an SSD answers, with a tail that reaches some milliseconds.
	rng := rand.New(rand.NewPCG(1, 2))
	for range ios {
		e.load = append(e.load, int64(80e3*math.Exp(rng.NormFloat64())))
	}
	return e
}

// record fills the row and retires it, as the threads do.
func (e *rowEnd) record() {
	e.next++
	now := e.run.schedule.begin(e.next)
	for _, th := range e.run.threads {
		for i, ns := range e.load {
			c := &th.active.counts[i&1]
			c.latency.Record(ns)
			c.bytes += 4096
		}
		th.rotate(now)
	}
}

// end does what control does once the row is over.
func (e *rowEnd) end() {
	now := e.run.schedule.begin(e.next)
	e.rows.sample(now)
	complete := e.rows.complete()
	e.rows.collect()
	e.rows.emit(complete, now)
}

// The end of a row allocates nothing once the first rows have made what is needed.
func TestRowEndAllocatesNothing(t *testing.T) {
	for _, threads := range []int{1, 16} {
		handed := 0
		e := newRowEnd(t, threads, 100, func(row *Row) {
			handed++
			if n := row.Cells[0].Ops[0].Latency.Count() + row.Cells[0].Ops[1].Latency.Count(); n != uint64(threads)*100 {
				t.Errorf("row %d has %d I/Os of %d threads with 100 each", row.Index, n, threads)
			}
		})
		for range 3 {
			e.record()
			e.end()
		}
		// With what the threads themselves do at the end of a row.
		if n := testing.AllocsPerRun(50, func() { e.record(); e.end() }); n != 0 {
			t.Errorf("%d threads: %g allocations per row", threads, n)
		}
		if handed != 3+51 {
			t.Errorf("%d threads: %d rows handed on, want %d", threads, handed, 3+51)
		}
	}
}

// Control rests when it has worked for long, unless it is late in the interval.
func TestRest(t *testing.T) {
	e := newRowEnd(t, 1, 1, nil)
	now := func() int64 { return e.run.clock.now() }
	s := &e.run.schedule
	s.interval = int64(time.Hour)
	if e.rows.rested = now(); e.rows.rest() && now()-e.rows.rested < restAfter {
		t.Error("rests without having worked")
	}
	e.rows.rested = now() - restAfter
	if !e.rows.rest() {
		t.Error("does not rest after its work")
	}
	if e.rows.rested > now() || e.rows.rested < now()-int64(time.Minute) {
		t.Error("forgets when it rested")
	}
	s.start, s.window = now()-int64(20*time.Minute), now()-int64(20*time.Minute)
	if e.rows.rested = 0; e.rows.rest() {
		t.Error("rests although a third of the interval is over")
	}
}

// What threads retire while control is in the middle of collecting goes to its own row, whole.
func TestCollectWhileThreadsRetire(t *testing.T) {
	const threads, rowsEach, ios = 8, 200, 3
	var rowSums []uint64
	e := newRowEnd(t, threads, ios, func(row *Row) {
		var n uint64
		for o := range row.Cells[0].Ops {
			n += row.Cells[0].Ops[o].Latency.Count()
		}
		rowSums = append(rowSums, n)
	})
	var done sync.WaitGroup
	for _, th := range e.run.threads {
		done.Go(func() {
			for row := range int64(rowsEach) {
				for _, ns := range e.load {
					th.active.counts[op.Read].latency.Record(ns)
				}
				th.rotate(e.run.schedule.begin(row + 1))
			}
			th.finish()
		})
	}
	ended := make(chan struct{})
	go func() { done.Wait(); close(ended) }()
	far := e.run.schedule.begin(rowsEach)
	for over := false; !over; {
		select {
		case <-ended:
			over = true // and one last time
		default:
		}
		e.rows.rested = 0 // a rest after every slice
		complete := e.rows.complete()
		e.rows.collect()
		e.rows.emit(complete, far)
	}
	if len(rowSums) != rowsEach {
		t.Fatalf("%d rows, want %d", len(rowSums), rowsEach)
	}
	for i, n := range rowSums {
		if n != threads*ios {
			t.Errorf("row %d has %d I/Os, want %d", i, n, threads*ios)
		}
	}
}

// BenchmarkRowEnd shows beside the time, rests included, what control takes of its CPU.
func BenchmarkRowEnd(b *testing.B) {
	for _, threads := range []int{1, 16} {
		b.Run(fmt.Sprint(threads), func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			e := newRowEnd(b, threads, 20_000, nil)
			e.record()
			e.end()
			b.ReportAllocs()
			b.ResetTimer()
			var used int64
			for range b.N {
				b.StopTimer()
				e.record()
				b.StartTimer()
				before := cpuClock()
				e.end()
				used += cpuClock() - before
			}
			b.ReportMetric(float64(used)/float64(b.N), "cpu-ns/op")
		})
	}
}

// cpuClock is the CPU time of the calling thread in nanoseconds; threadCPU has ticks on some kernels.
func cpuClock() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts) != nil {
		return 0 // cannot happen: it fails only for bad arguments
	}
	return ts.Nano()
}
