package runner

import (
	"sync/atomic"

	"blkstorm/histogram"
	"blkstorm/op"
	"blkstorm/plan"
)

// slice holds what one thread completed within one row. The thread that records into it owns it;
// once retired, control does, until it gives it back empty.
type slice struct {
	row      int64
	next     *slice // in a stack
	inflight int64  // the most I/Os in flight at once
	counts   [op.Count]counts
	more     [][op.Count]counts // of the second and further targets of a thread that has several
}

// counts is one direction's part of a slice.
type counts struct {
	latency *histogram.Recorder // nil for a direction that the workload never issues
	// response is from the planned time instead of the submission; nil in a closed loop.
	response *histogram.Recorder
	bytes    uint64
	errors   uint64
	short    uint64 // moved something, and less than asked
	zero     uint64 // moved nothing, without an error
}

func newSlice(stream *plan.Stream, targets int) *slice {
	s := &slice{more: make([][op.Count]counts, targets-1)}
	record(stream, &s.counts)
	for i := range s.more {
		record(stream, &s.more[i])
	}
	return s
}

// record makes the recorders for what a stream issues.
func record(stream *plan.Stream, c *[op.Count]counts) {
	for _, o := range op.All {
		if !stream.Workload.Issues(o) {
			continue
		}
		c[o].latency = histogram.NewRecorder()
		if stream.Pacing.Open() && o != op.Sync {
			c[o].response = histogram.NewRecorder()
		}
	}
}

// of is what was counted on one of the thread's targets.
func (s *slice) of(target int) *[op.Count]counts {
	if target == 0 {
		return &s.counts
	}
	return &s.more[target-1]
}

func (s *slice) reset() {
	s.inflight = 0
	for i := range len(s.more) + 1 {
		reset(s.of(i))
	}
}

func reset(all *[op.Count]counts) {
	for i := range all {
		c := &all[i]
		if c.latency != nil {
			c.latency.Reset()
		}
		if c.response != nil {
			c.response.Reset()
		}
		c.bytes, c.errors, c.short, c.zero = 0, 0, 0, 0
	}
}

// stack passes slices between a thread and control without a lock: pushes by compare-and-swap, and
// takes only whole (so that no ABA problem arises).
type stack struct{ top atomic.Pointer[slice] }

func (s *stack) push(x *slice) {
	for {
		top := s.top.Load()
		x.next = top
		if s.top.CompareAndSwap(top, x) {
			return
		}
	}
}

// takeAll empties the stack and returns the chain that was in it.
func (s *stack) takeAll() *slice {
	if s.top.Load() == nil {
		return nil
	}
	return s.top.Swap(nil)
}
