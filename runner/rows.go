package runner

import (
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/op"
)

// rows gathers the threads' slices into rows and the rows into the point's totals.
type rows struct {
	run     *run
	result  *Result
	pending map[int64]*Row // rows that some thread may still add to
	next    int64          // the first row not yet handed on
	spare   []*Row
	sampler sampler
	cell    []int // per thread, its place in Row.Cells
	rested  int64 // when control last gave its CPU away
}

func newRows(r *run, result *Result) *rows {
	result.Cells = r.cells()
	n := &rows{run: r, result: result, pending: map[int64]*Row{}, sampler: newSampler(r)}
	for _, th := range r.threads {
		n.cell = append(n.cell, slices.IndexFunc(result.Cells, func(c Cell) bool { return c.Stream == th.stream && c.Target == th.target }))
	}
	return n
}

// cells lists the pairs of stream and target that the point has.
func (r *run) cells() []Cell {
	var cells []Cell
	for s := range r.cfg.Point.Streams {
		for _, t := range r.cfg.Point.Streams[s].Targets {
			cells = append(cells, Cell{Stream: s, Target: t})
		}
	}
	return cells
}

// waiting says whether a row has ended at time now and is not complete.
func (r *rows) waiting(now int64) bool { return r.next < r.run.schedule.row(now) }

// sample reads the host's counters if a row has ended since they were last read.
func (r *rows) sample(now int64) {
	r.rested = now
	r.sampler.read(r.run.schedule.row(now))
}

// restAfter is how long control works at a stretch. Where it has the only CPU, an I/O that completes
// meanwhile waits for it, and its latency shows control's work.
const restAfter = int64(100 * time.Microsecond)

// rest gives the CPU to others for a moment, some 60 µs with the kernel's slack, if control has worked
// for restAfter; it says whether it did. It may be called wherever control may lose its CPU anyway, which
// is everywhere. It sleeps, as sched_yield(2) does not make a thread wait for one of a worse priority.
//
// Only the first quarter of an interval has rests: with very many threads and short intervals control
// would fall behind otherwise, and a backlog of slices costs memory.
func (r *rows) rest() bool {
	now := r.run.clock.now()
	s := &r.run.schedule
	if now-r.rested < restAfter || now-s.begin(s.row(now)) > s.interval/4 {
		return false
	}
	_ = unix.Nanosleep(&moment, nil) // cut short is fine
	r.rested = r.run.clock.now()
	return true
}

var moment = unix.Timespec{Nsec: 1}

// complete is the first row that some thread may still add to. It must be asked before collect: what
// a thread retires after the answer belongs to rows from there on.
func (r *rows) complete() int64 {
	first := int64(progressDone)
	for _, th := range r.run.threads {
		first = min(first, th.progress.Load())
	}
	return first
}

// collect takes in all retired slices and gives them back empty, with rests in between: what a thread
// retires during one is taken in now or next time, and its row is not handed on before, see complete.
func (r *rows) collect() {
	for _, th := range r.run.threads {
		for s := th.retired.takeAll(); s != nil; {
			next := s.next
			r.take(th, s)
			s.reset()
			th.recycled.push(s)
			s = next
			r.rest()
		}
	}
}

func (r *rows) take(th *thread, s *slice) {
	row := r.open(s.row)
	row.InFlight += s.inflight
	for i := range len(s.more) + 1 {
		cell := &row.Cells[r.cell[th.number]+i] // those of a stream stand together, in the order of its targets
		for o := range cell.Ops {
			cell.Ops[o].add(&s.of(i)[o])
		}
	}
}

func (r *rows) open(index int64) *Row {
	row := r.pending[index]
	if row != nil {
		return row
	}
	if n := len(r.spare); n > 0 {
		row, r.spare = r.spare[n-1], r.spare[:n-1]
	} else {
		row = &Row{Cells: r.run.cells()}
	}
	r.pending[index] = row
	return row
}

// emit hands on the rows before complete that have ended by time limit.
func (r *rows) emit(complete, limit int64) {
	for r.next < complete && r.run.schedule.end(r.next) <= limit {
		r.hand(r.run.schedule.end(r.next))
	}
}

// finish hands on all rows up to the window's end; the last one may be shorter than the interval.
func (r *rows) finish(end int64) {
	s := &r.run.schedule
	r.sampler.final()
	for s.begin(r.next) < end {
		r.hand(min(s.end(r.next), end))
	}
	r.result.CPU = r.sampler.window()
	r.result.Process, r.result.ProcessWall = r.sampler.process()
	r.sampler.close()
}

// hand completes the next row, adds it to the totals and passes it to the caller.
func (r *rows) hand(end int64) {
	s := &r.run.schedule
	row := r.open(r.next)
	begin := s.begin(r.next)
	row.Ramp = r.next < s.rampRows
	row.Index = r.next
	if row.Ramp {
		end = min(end, s.window)
	} else {
		row.Index -= s.rampRows
	}
	row.Start = time.Duration(begin - s.window)
	row.Length = time.Duration(end - begin)
	row.Wall = r.run.clock.wall(begin)
	r.sampler.growth(r.next, &row.Host)
	r.total(row)
	r.rest()
	if r.run.cfg.Rows != nil {
		r.run.cfg.Rows(row)
	}
	delete(r.pending, r.next)
	row.InFlight = 0
	for i := range row.Cells {
		for o := range row.Cells[i].Ops {
			row.Cells[i].Ops[o].Reset()
		}
	}
	r.spare = append(r.spare, row)
	r.next++
}

func (r *rows) total(row *Row) {
	for i := range row.Cells {
		for o := range op.Count {
			stat := &row.Cells[i].Ops[o]
			r.result.Faults += stat.Faults()
			if row.Ramp {
				r.result.RampIOs += stat.Latency.Count()
			} else {
				r.result.Cells[i].Ops[o].Merge(stat)
			}
		}
	}
}
