package runner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"blkstorm/ioengine/null"
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

func BenchmarkRowEnd(b *testing.B) {
	for _, threads := range []int{1, 16} {
		b.Run(fmt.Sprint(threads), func(b *testing.B) {
			e := newRowEnd(b, threads, 20_000, nil)
			e.record()
			e.end()
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				e.record()
				b.StartTimer()
				e.end()
			}
		})
	}
}
