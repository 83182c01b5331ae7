package runner

import (
	"time"

	"blkstorm/ioengine"
	"blkstorm/op"
	"blkstorm/workload"
)

// refill prepares an I/O in every free slot that may be used at time now: all of them in a closed loop,
// as many as are due in an open one. When slots stay free, resume says when to come again.
func (th *thread) refill(now int64) {
	switch {
	case now >= th.until:
		th.left = 0
	case th.steady:
		th.issueNext(len(th.free))
	default:
		th.refillSome(now)
	}
	if th.left == 0 {
		th.stopping = true
		th.over = min(now, th.until)
	}
}

// refillSome is refill for a thread that may leave slots free.
func (th *thread) refillSome(now int64) {
	th.resume = 0
	switch {
	case th.paced != nil:
		th.refillPaced(now)
	case th.thinking.every > 0:
		th.refillThinking(now)
	case th.tuned != nil:
		th.refillTuned(now)
	default:
		th.refillShare(now)
	}
}

// issueNext prepares the next n I/Os of the generator.
func (th *thread) issueNext(n int) {
	var request workload.Request
	for ; n > 0 && th.left != 0; n-- {
		th.gen.Next(&request)
		th.prepareSlot(&request)
		if th.files != nil && request.Op != op.Sync {
			th.nextFile()
		}
	}
}

// nextFile gives the turn to the next of the thread's targets that has something left.
func (th *thread) nextFile() {
	f := &th.files[th.turn]
	if f.left > 0 {
		f.left--
	}
	for range th.files {
		if th.turn++; int(th.turn) == len(th.files) {
			th.turn = 0
		}
		if th.files[th.turn].left != 0 {
			break
		}
	}
	th.file = th.files[th.turn]
}

// prepareSlot puts an I/O into a free slot and returns the slot.
func (th *thread) prepareSlot(request *workload.Request) uint32 {
	n := len(th.free) - 1
	slot := th.free[n]
	th.free = th.free[:n]
	io := &th.slots[slot]
	io.Op, io.Flags, io.Offset, io.Length = request.Op, request.Flags, request.Offset, request.Length
	io.File = th.turn
	switch request.Op {
	case op.Write:
		io.Buf = th.buffers[slot].write[:request.Length]
		if th.data != nil {
			th.data.Fill(io.Buf, request.Offset)
		}
	case op.Read:
		io.Buf = th.buffers[slot].read[:request.Length]
	default:
		io.Buf = nil // trims and syncs move no data
	}
	th.pending = append(th.pending, slot)
	if th.left > 0 && request.Op != op.Sync {
		th.left--
	}
	if th.room -= request.Length; th.room <= 0 {
		th.lastOf(io)
	}
	return slot
}

// lastOf ends a thread whose bytes are spent. Its last I/O is cut to what was left of them, as fio does, where
// that is whole blocks; else it goes over.
func (th *thread) lastOf(io *ioengine.IO) {
	th.left = 0
	if over := -th.room; over > 0 && over%th.grain == 0 {
		io.Length -= over
		if io.Buf != nil {
			io.Buf = io.Buf[:io.Length]
		}
	}
}

// refillPaced issues what is planned up to now, however late.
func (th *thread) refillPaced(now int64) {
	p, run := th.paced, th.run
	for len(th.free) > 0 && th.left != 0 {
		if th.thinking.every > 0 && th.thinks(now) {
			return
		}
		if !p.next(th.gen, th.turn, now, run.deadline.Load()) {
			th.resume = min(run.deadline.Load(), th.until)
			return
		}
		if p.claim.planned > now {
			th.resume = min(p.claim.planned, th.until)
			return
		}
		if th.files != nil {
			th.turn = p.claim.file
			th.file = th.files[th.turn]
		}
		p.planned[th.prepareSlot(&p.claim.request)] = p.claim.planned
		th.thinking.left--
		if th.files != nil && p.claim.request.Op != op.Sync {
			th.nextFile()
		}
		p.claim.held = false
	}
}

// thinking is a thread's think time.
type thinking struct {
	every, left int64
	pause       int64 // ns
	until       int64
}

func newThinking(t *workload.Think) thinking {
	return thinking{every: t.Every, left: t.Every, pause: int64(t.Pause)}
}

// refillThinking issues until it is time to think, waits for all of it, and thinks.
func (th *thread) refillThinking(now int64) {
	if th.thinks(now) {
		return
	}
	n := min(int64(len(th.free)), th.thinking.left)
	th.thinking.left -= n
	th.issueNext(int(n))
}

// thinks says whether it is time to think, or to wait for what is to be complete before.
func (th *thread) thinks(now int64) bool {
	t := &th.thinking
	if t.left > 0 {
		return false
	}
	if th.inflight > 0 || len(th.pending) > 0 {
		return true
	}
	if t.until == 0 {
		t.until = now + t.pause
	}
	if now < t.until {
		th.resume = min(t.until, th.until)
		return true
	}
	t.left, t.until = t.every, 0
	return false
}

// refillShare issues what the stream's share allows.
func (th *thread) refillShare(now int64) {
	n := th.gate.allow(th.stream, len(th.free))
	if n < len(th.free) {
		th.resume = now + gateNap
	}
	th.issueNext(n)
}

// restSlice is the longest rest at once, so that a stop is seen soon.
const restSlice = int64(50 * time.Millisecond)

// rest waits with nothing in flight until there is something to issue. Meanwhile control may take the
// thread's data, as in the engine.
func (th *thread) rest() {
	clock := th.run.clock
	now := clock.now()
	until := min(max(th.resume, now), th.run.deadline.Load(), now+restSlice)
	turn := th.state.Load()&^stateMask + (stateMask + 1)
	th.state.Store(turn | stateInEngine)
	if until > now {
		ioengine.Sleep(time.Duration(until - now))
	}
	if !th.state.CompareAndSwap(turn|stateInEngine, turn|stateRunning) {
		th.regain(turn)
	}
	preemptPoint(0)
	woken := clock.now()
	th.health.gap(woken - max(until, now))
	th.heard = woken // nothing is asked of the device
	th.reap(woken, nil)
}
