package runner

import (
	"math"
	"sync/atomic"
	"time"

	"blkstorm/ioengine"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/workload"
)

// pace is the open-loop schedule of one stream on one target. Its threads share it: whichever has a
// free slot claims the next planned I/O, without a lock. A claim waits in its thread for its time,
// together with the slot that it will use, so that no I/O waits for one thread while another could
// issue it.
type pace struct {
	stream, target int // the first of several targets that are served together
	lanes          []lane
	length         int64 // of an I/O, for what is counted and was never drawn
	// start and window are where the schedule of the ramp begins and that of the window: the point's, or
	// the stream's own start where that is later.
	start, window int64
}

// lay fixes these times for a stream that may start after a delay, with a ramp of its own.
func (p *pace) lay(s *schedule, stream *plan.Stream) {
	p.start = s.start + int64(stream.Start)
	p.window = max(s.window, p.start+int64(stream.Ramp))
}

// lane is one schedule with its state. What was planned in the ramp and not issued by its end is
// dropped there, so that the window begins without a burst: it has a state of its own.
type lane struct {
	schedule workload.Schedule
	ramp     atomic.Int64
	window   atomic.Int64
}

// newPace is nil for a stream that is not paced.
func newPace(s *plan.Stream, stream, target int, seed uint64) *pace {
	schedules := s.Pacing.Schedules(seed)
	if schedules == nil {
		return nil
	}
	p := &pace{stream: stream, target: target, lanes: make([]lane, len(schedules)), length: s.Workload.BlockSize}
	for i := range schedules {
		p.lanes[i].schedule = schedules[i]
		first := schedules[i].First(p.length)
		p.lanes[i].ramp.Store(first)
		p.lanes[i].window.Store(first)
	}
	return p
}

// claim is an I/O that a thread is to issue at its planned time.
type claim struct {
	request workload.Request
	planned int64 // on the run's clock
	file    int32 // which of the thread's targets it is on
	held    bool
}

// paced is what a thread keeps for a paced stream.
type paced struct {
	pace    *pace
	ready   []workload.Request // per lane: drawn and not yet claimed
	drawn   []bool
	on      []int32 // which target each is on
	claim   claim
	planned []int64 // per slot
	tallies []tally // per target
	oldest  int64   // planned time of the first that was missed
}

// tally is what became of the I/Os that were planned in the window.
type tally struct {
	offered [op.Count]uint64
	late    [op.Count]uint64
	missed  [op.Count]uint64 // prepared, and not taken by the engine before the window closed
}

func newPaced(p *pace, targets int) *paced {
	return &paced{
		pace: p, oldest: math.MaxInt64, ready: make([]workload.Request, len(p.lanes)), drawn: make([]bool, len(p.lanes)),
		on: make([]int32, len(p.lanes)), tallies: make([]tally, targets),
	}
}

// lateAfter is how long after its planned time an I/O may be submitted before it counts as late.
const lateAfter = int64(1e6)

// next makes sure that the thread holds a claim; false means that nothing more is planned before end,
// the window's end.
func (p *paced) next(gen *workload.Generator, file int32, now, end int64) bool {
	start, window := p.pace.start, p.pace.window
	if p.claim.held && p.claim.planned < window && now >= window {
		p.claim.held = false // planned in the ramp, and missed there
	}
	for !p.claim.held {
		i, state, planned := p.pace.earliest(start, false)
		limit, ramp := window, true
		if now >= window || planned >= window {
			i, state, planned = p.pace.earliest(window, true)
			limit, ramp = end, false
		}
		if planned >= limit {
			return false
		}
		request := p.draw(gen, file, i)
		if request.Op == op.Sync {
			// It belongs to the writes before it and has no place in the schedule.
			p.take(i, now)
			return true
		}
		lane := &p.pace.lanes[i]
		at := &lane.window
		if ramp {
			at = &lane.ramp
		}
		if at.CompareAndSwap(state, lane.schedule.Next(state, request.Length)) {
			p.take(i, planned)
		}
	}
	return true
}

// earliest is the lane whose next I/O is planned first.
func (p *pace) earliest(base int64, window bool) (index int, state, planned int64) {
	for i := range p.lanes {
		at := p.lanes[i].ramp.Load()
		if window {
			at = p.lanes[i].window.Load()
		}
		if t := base + p.lanes[i].schedule.Planned(at); i == 0 || t < planned {
			index, state, planned = i, at, t
		}
	}
	return index, state, planned
}

// draw gives the I/O that the thread will issue next for a lane.
func (p *paced) draw(gen *workload.Generator, file int32, i int) *workload.Request {
	if !p.drawn[i] {
		if o, single := p.pace.lanes[i].schedule.Op(); single {
			gen.NextOf(&p.ready[i], o)
		} else {
			gen.Next(&p.ready[i])
		}
		p.drawn[i], p.on[i] = true, file
	}
	return &p.ready[i]
}

func (p *paced) take(i int, planned int64) {
	p.drawn[i] = false
	p.claim = claim{request: p.ready[i], planned: planned, file: p.on[i], held: true}
}

// submitted counts what the kernel has taken of the I/Os planned in the window.
func (p *paced) submitted(slots []uint32, th *thread) {
	for _, slot := range slots {
		io := &th.slots[slot]
		if io.Op == op.Sync || p.planned[slot] < p.pace.window {
			continue
		}
		t := &p.tallies[io.File]
		t.offered[io.Op]++
		if th.starts[slot]-p.planned[slot] > lateAfter {
			t.late[io.Op]++
		}
	}
}

// drop counts what was prepared and is not issued any more, since the window has closed.
func (p *paced) drop(pending []uint32, slots []ioengine.IO) {
	for _, slot := range pending {
		p.miss(&slots[slot], p.planned[slot])
	}
}

func (p *paced) miss(io *ioengine.IO, planned int64) {
	if io.Op == op.Sync {
		return
	}
	p.tallies[io.File].missed[io.Op]++
	p.oldest = min(p.oldest, planned)
}

// settle adds what threads and schedule owe at the window's end to the statistics of the stream's cells,
// one for each target of its threads. No thread of the pace runs any more. What would have come after the
// stream's own end is not missed.
func (p *pace) settle(cells []Cell, threads []*thread, end int64) {
	end = p.end(threads, end)
	cell := &cells[0]
	oldest := int64(math.MaxInt64)
	for _, th := range threads {
		t := th.paced
		if t == nil || t.pace != p {
			continue
		}
		if c := &t.claim; c.held && c.planned >= p.window && c.planned < end {
			t.miss(&ioengine.IO{Op: c.request.Op, File: c.file}, c.planned)
		}
		for i := range t.tallies {
			for o := range op.Count {
				cells[i].Ops[o].Offered += t.tallies[i].offered[o]
				cells[i].Ops[o].Late += t.tallies[i].late[o]
				cells[i].Ops[o].Missed += t.tallies[i].missed[o]
			}
		}
		oldest = min(oldest, t.oldest)
	}
	for i := range p.lanes {
		lane := &p.lanes[i]
		n, first := lane.schedule.Due(lane.window.Load(), end-p.window, p.length)
		if n == 0 {
			continue
		}
		oldest = min(oldest, p.window+first)
		if o, single := lane.schedule.Op(); single {
			cell.Ops[o].Missed += n
		} else {
			cell.Undrawn += n
		}
	}
	if oldest < end {
		cell.Backlog = time.Duration(end - oldest)
	}
}

// end is when the last of the stream's threads stopped to issue, if all of them had an end before the
// window's.
func (p *pace) end(threads []*thread, window int64) int64 {
	last := p.window
	for _, th := range threads {
		if th.paced != nil && th.paced.pace == p {
			last = max(last, th.over)
		}
	}
	return min(last, window)
}
