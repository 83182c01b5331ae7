package runner

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/ioengine"
	"blkstorm/op"
	"blkstorm/plan"
)

// tuned is the search of a thread for the largest queue depth that keeps a latency: by bisection between
// the largest depth that has kept it and the smallest that has not.
type tuned struct {
	limit, window int64 // ns
	percent       float64
	hold          bool
	most          int // the stream's depth
	depth         int // being tried
	good, bad     int // 0 and most + 1 as long as there is none
	seen, within  uint64
	ends          int64 // of the window that is on; 0 before the first
	kept          int   // windows at the depth that was found
	found         bool
}

// tryAfter is how many windows in a row must keep the limit before one more in flight is tried again: what made
// the device slow may be over.
const tryAfter = 8

func newTuned(t *plan.Tune) *tuned {
	if t == nil {
		return nil
	}
	return &tuned{limit: int64(t.Latency), window: int64(t.Window), percent: t.Percent, hold: t.Hold}
}

// lay begins with the depth that the engine reaches.
func (t *tuned) lay(depth int) { t.most, t.depth, t.bad = depth, depth, depth+1 }

// take counts what has completed. A fault is none that keeps the limit.
func (t *tuned) take(th *thread, batch []ioengine.Completion, now int64) {
	for i := range batch {
		slot := batch[i].Slot
		if th.slots[slot].Op == op.Sync {
			continue
		}
		t.seen++
		if batch[i].Res == th.slots[slot].Length && now-th.starts[slot] <= t.limit {
			t.within++
		}
	}
}

// judge ends a window, and says whether the search is over with it.
func (t *tuned) judge() (over bool) {
	kept := float64(t.within)*100 >= t.percent*float64(t.seen)
	switch {
	case t.found && kept:
		if t.kept++; t.kept >= tryAfter && t.depth < t.most {
			t.found, t.good, t.bad, t.depth, t.kept = false, t.depth, t.depth+2, t.depth+1, 0
		}
	case t.found: // slower than it was
		t.found, t.good, t.bad, t.kept = false, 0, t.depth, 0
		t.halve()
	case kept:
		t.good = t.depth
		t.halve()
	default:
		t.bad = t.depth
		t.halve()
	}
	return t.found && t.good > 0 && !t.hold
}

// halve goes to the middle of what is not known. At depth 1 it stays, whether that keeps the limit or not.
func (t *tuned) halve() {
	if t.bad-t.good > 1 {
		t.depth = (t.good + t.bad) / 2
		return
	}
	t.depth, t.found, t.kept = max(t.good, 1), true, 0
}

// refillTuned issues up to the depth that is being tried.
func (th *thread) refillTuned(now int64) {
	t := th.tuned
	if t.ends == 0 {
		t.ends = max(now, th.from) + t.window
	}
	if now >= t.ends && t.seen > 0 {
		over := t.judge()
		t.seen, t.within, t.ends = 0, 0, now+t.window
		if over {
			th.left = 0
			return
		}
	}
	th.issueNext(max(min(len(th.free), t.depth-th.inflight-len(th.pending)), 0))
}

// depth is that which the thread was tuned to, or its stream's.
func (th *thread) depth() int {
	if th.tuned == nil {
		return len(th.slots)
	}
	return th.tuned.depth
}

// warm takes back slots before the stream is measured.
func (th *thread) warm(batch []ioengine.Completion, now int64) {
	for i := range batch {
		c := &batch[i]
		if io := &th.slots[c.Slot]; c.Res == io.Length {
			th.warmed++
		} else {
			th.fault(io, c.Res, &th.active.of(int(io.File))[io.Op], now)
		}
		th.free = append(th.free, c.Slot)
	}
}

// LatencyError says that a point has ended because an I/O took longer than its stream's limit. The I/O itself
// is counted.
type LatencyError struct{ Took, Limit time.Duration }

func (e *LatencyError) Error() string {
	return fmt.Sprintf("an I/O took %v, over the limit of %v", e.Took, e.Limit)
}

// keepWithin ends the point where an I/O took longer than any may.
func (th *thread) keepWithin(batch []ioengine.Completion, now int64) {
	for i := range batch {
		io := &th.slots[batch[i].Slot]
		if now-th.starts[batch[i].Slot] <= th.longest || batch[i].Res != io.Length || th.stopping {
			continue
		}
		th.keep(io, -int64(syscall.ETIMEDOUT), now)
		th.failed = &LatencyError{Took: time.Duration(now - th.starts[batch[i].Slot]), Limit: time.Duration(th.longest)}
		th.stopping = true
		th.run.stop()
	}
}

// endSync flushes the thread's targets. Meanwhile control may take the thread's data, as in the engine.
func (th *thread) endSync() {
	for i, fd := range th.fds {
		turn := th.state.Load()&^stateMask + (stateMask + 1)
		th.state.Store(turn | stateInEngine)
		err := unix.Fsync(fd)
		if !th.state.CompareAndSwap(turn|stateInEngine, turn|stateRunning) {
			th.regain(turn)
		}
		preemptPoint(i)
		th.ended = th.run.clock.now()
		th.heard = th.ended
		if errno, ok := err.(syscall.Errno); ok {
			th.late++
			th.keep(&ioengine.IO{Op: op.Sync, File: int32(i)}, -int64(errno), th.ended)
		}
	}
}
