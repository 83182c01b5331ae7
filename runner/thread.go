package runner

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"time"

	"blkstorm/ioengine"
	"blkstorm/op"
	"blkstorm/workload"
)

// States of a thread, in the two low bits of thread.state; the bits above count its turns, so that
// control can tell a thread that turns from one that is stuck.
const (
	stateRunning   = 0 // the thread owns its data
	stateInEngine  = 1 // the thread is in the kernel and touches none of its data
	stateTaken     = 2 // control uses the data of a thread that is in the kernel
	stateAbandoned = 3 // control has taken the data for good; the thread must never touch it again
	stateMask      = 3
)

// maxKept is how many I/O errors are kept with their details; all are counted.
const maxKept = 10

// thread is one OS thread with its own engine, generator and statistics. Nothing in it is shared,
// except what is atomic, and what control takes while the thread is in the kernel (see state).
type thread struct {
	run    *run
	number int // over all streams and targets
	stream int
	target int // the first one
	cpu    int // pinned to, or -1

	engine  ioengine.Engine
	slots   []ioengine.IO
	buffers []slotBuffers
	file           // whose turn it is
	files   []file // of a thread that serves several targets; else nil
	turn    int32  // index of the one whose turn it is
	left    int64  // I/Os, syncs apart, to issue before the thread ends by itself, or -1
	room    int64  // bytes to issue before it does
	grain   int64  // what all block sizes are multiples of
	begins  int64  // when the thread begins
	until   int64  // when it issues no more
	over    int64  // when it had issued its last I/O by itself
	from    int64  // when it begins to be counted, if that is in the window; else 0
	warmed  uint64 // completed in the window, before that
	longest int64  // latency that ends the point; 0: none does

	// The hot loop's own data.
	starts   []int64 // per slot: stamp before the submit call
	free     []uint32
	pending  []uint32 // prepared, not yet taken by the engine
	done     []ioengine.Completion
	inflight int
	peak     int // the most in flight at once
	wait     int // completions to wait for at once
	stopping bool
	goesOn   bool  // failed I/Os are counted, and no reason to end
	broke    bool  // one was
	steady   bool  // all slots are kept busy: no schedule, no think time, no shares
	resume   int64 // when to look for more to issue, if slots are free; 0: when something completes
	paced    *paced
	gate     *gate
	thinking thinking
	tuned    *tuned
	fds      []int // of its targets

	active *slice
	rowEnd int64
	spare  *slice // empty slices, chained
	ended  int64  // stamp of the last turn
	heard  int64  // stamp of the last turn in which the device answered
	health health

	issued  [op.Count]uint64
	drained uint64 // completed after the window closed
	slowest int64  // the longest latency among them, in ns
	late    uint64 // failed or fell short after the window closed
	errs    []IOError
	failed  error // the engine itself failed

	state    atomic.Uint64
	progress atomic.Int64 // the row that is being recorded; all before it are retired
	retired  stack
	recycled stack
}

// file is one target of a thread, with what goes there.
type file struct {
	target int
	gen    *workload.Generator
	data   *workload.Data
	left   int64 // I/Os of its passes, or -1; used by a thread with several targets
}

// slotBuffers are where a slot reads to and writes from. They differ in a mixed workload, since a
// buffer that a read has filled with the device's old content must not be written elsewhere.
type slotBuffers struct{ read, write []byte }

// loop is the hot loop: refill every free slot, hand all to the kernel in one call that also waits,
// take two stamps, record. It allocates nothing, takes no lock and logs nothing.
func (th *thread) loop() {
	clock := th.run.clock
	th.ended = clock.now()
	began := th.ended
	th.health.begin()
	defer func() { th.health.end(clock.now() - began) }()
	for th.ended < th.begins && !th.stopping {
		th.resume = th.begins
		th.rest()
	}
	for {
		if !th.stopping {
			th.refill(th.ended)
		}
		if th.inflight == 0 && len(th.pending) == 0 {
			if th.stopping {
				break
			}
			th.rest()
			continue
		}
		submitted := clock.now()
		th.health.gap(submitted - th.ended)
		for _, slot := range th.pending {
			th.starts[slot] = submitted
		}
		taken, completed, err := th.cycle(submitted)
		preemptPoint(taken)
		reaped := clock.now()
		th.account(taken, completed)
		if err != nil {
			th.fail(err)
			break
		}
		th.reap(reaped, th.done[:completed])
	}
	if th.run.cfg.Point.Streams[th.stream].EndSync {
		th.endSync()
	}
	th.finish()
}

// preemptPoint is a call with a prologue that checks the stack bound: where the Go scheduler can stop
// this goroutine. Without it the loop could only be stopped by a signal, which nearly always lands
// inside a raw system call, where Go cannot stop it; a stop of the world (a collection, a change of
// GOMAXPROCS) then took seconds, and so did every other goroutine that waited for it.
//
//go:noinline
func preemptPoint(n int) {
	if n < 0 {
		println(n)
	}
}

// cycle hands over to the engine. Meanwhile control may take the thread's data, see state.
func (th *thread) cycle(now int64) (taken, completed int, err error) {
	turn := th.state.Load()&^stateMask + (stateMask + 1)
	pending, wait, done := th.pending, min(th.wait, th.inflight+len(th.pending)), th.done
	limit := time.Duration(0)
	if th.resume > 0 && len(th.free) > 0 {
		limit = time.Duration(max(th.resume-now, 1))
		wait = min(wait, 1)
	}
	th.state.Store(turn | stateInEngine)
	taken, completed, err = th.engine.Cycle(pending, wait, limit, done)
	if !th.state.CompareAndSwap(turn|stateInEngine, turn|stateRunning) {
		th.regain(turn)
	}
	return taken, completed, err
}

// regain waits until control has given the data back; if it was taken for good, the thread stops
// here for the rest of the process's life.
func (th *thread) regain(turn uint64) {
	for !th.state.CompareAndSwap(turn|stateInEngine, turn|stateRunning) {
		if th.state.Load()&stateMask == stateAbandoned {
			select {}
		}
		time.Sleep(time.Microsecond)
	}
}

// account keeps the number in flight after a turn.
func (th *thread) account(taken, completed int) {
	for _, slot := range th.pending[:taken] {
		th.issued[th.slots[slot].Op]++
	}
	if th.paced != nil {
		th.paced.submitted(th.pending[:taken], th)
	}
	th.pending = th.pending[:copy(th.pending, th.pending[taken:])]
	th.inflight += taken
	th.peak = max(th.peak, th.inflight)
	th.active.inflight = max(th.active.inflight, int64(th.inflight))
	th.inflight -= completed
	th.health.turn(taken, th.inflight)
}

// reap records a batch of completions, all with the one stamp now.
func (th *thread) reap(now int64, batch []ioengine.Completion) {
	th.ended = now
	if len(batch) > 0 {
		th.heard = now
	}
	if now >= th.run.deadline.Load() {
		// The window is closed: what completes now belongs to no row. What is prepared and not
		// taken was never issued.
		th.stopping = true
		if th.paced != nil {
			th.paced.drop(th.pending, th.slots)
		}
		th.free = append(th.free, th.pending...)
		th.pending = th.pending[:0]
		for i := range batch {
			th.drain(&batch[i], now)
		}
		return
	}
	if now >= th.rowEnd {
		th.rotate(now)
	}
	if now < th.from {
		th.warm(batch, now)
		return
	}
	for i := range batch {
		c := &batch[i]
		io := &th.slots[c.Slot]
		counts := &th.active.counts[io.Op]
		if io.File > 0 {
			counts = &th.active.more[io.File-1][io.Op]
		}
		if c.Res == io.Length {
			counts.latency.Record(now - th.starts[c.Slot])
			if counts.response != nil {
				th.respond(c.Slot, counts, now)
			}
			counts.bytes += uint64(c.Res)
		} else {
			th.fault(io, c.Res, counts, now)
		}
		th.free = append(th.free, c.Slot)
	}
	if th.longest > 0 {
		th.keepWithin(batch, now)
	}
	if th.tuned != nil {
		th.tuned.take(th, batch, now)
	}
}

// respond records the response time of a planned I/O. One that was planned in the ramp and completes in
// the window is an I/O of the window, but its wait is the ramp's.
func (th *thread) respond(slot uint32, counts *counts, now int64) {
	s, planned := &th.run.schedule, th.paced.planned[slot]
	if planned >= th.paced.pace.window || th.active.row < s.rampRows {
		counts.response.Record(now - planned)
	}
}

// drain takes back a slot after the window. It is no I/O of the window, but a failure is still told,
// and so is one that took longer than all that were measured.
func (th *thread) drain(c *ioengine.Completion, now int64) {
	io := &th.slots[c.Slot]
	if c.Res == io.Length {
		th.drained++
		th.slowest = max(th.slowest, now-th.starts[c.Slot])
	} else {
		th.late++
		th.keep(io, c.Res, now)
	}
	th.free = append(th.free, c.Slot)
}

// fault counts an I/O that failed or moved too few bytes: neither is an I/O in any statistic. A
// vanished device answers every read with 0 bytes at once, so a short transfer is as bad as an error.
func (th *thread) fault(io *ioengine.IO, res int64, counts *counts, now int64) {
	switch {
	case res < 0:
		counts.errors++
	case res == 0:
		counts.zero++
	default:
		counts.short++
	}
	th.keep(io, res, now)
	if !th.goesOn {
		th.broke = true
		th.stopping = true
		th.over = min(th.over, now)
		if !th.run.cfg.FaultEndsThread {
			th.run.stop()
		}
	}
}

// keep notes the details of a failed or short I/O, of the first ones only.
func (th *thread) keep(io *ioengine.IO, res int64, now int64) {
	if len(th.errs) == cap(th.errs) {
		return
	}
	e := IOError{Op: io.Op, Offset: io.Offset, Length: io.Length, Target: th.targetOf(io.File), At: time.Duration(now - th.run.schedule.window)}
	if res < 0 {
		e.Errno = syscall.Errno(-res)
	} else {
		e.Got = res
	}
	th.errs = append(th.errs, e)
}

// rotate retires the active slice and opens the one of the row in which now lies. Rows that were
// crossed in between stay empty: control knows them by the thread's progress.
func (th *thread) rotate(now int64) {
	th.retired.push(th.active)
	row := th.run.schedule.row(now)
	s := th.takeSpare()
	s.row = row
	s.inflight = int64(th.inflight + len(th.pending))
	th.active = s
	th.rowEnd = th.run.schedule.end(row)
	th.progress.Store(row)
}

// takeSpare returns an empty slice. Two circulate; a third is made only if control is so late that
// neither has come back (it is starved of CPU): rather one allocation than a lost row.
func (th *thread) takeSpare() *slice {
	if th.spare == nil {
		th.spare = th.recycled.takeAll()
	}
	s := th.spare
	if s == nil {
		return newSlice(&th.run.cfg.Point.Streams[th.stream], max(len(th.files), 1))
	}
	th.spare = s.next
	return s
}

// targetOf is the index of one of the thread's targets.
func (th *thread) targetOf(index int32) int {
	if th.files == nil {
		return th.target
	}
	return th.files[index].target
}

// fail notes that the engine itself broke and stops the point.
func (th *thread) fail(err error) {
	th.failed = fmt.Errorf("%s: engine %s: %w", th.run.cfg.Targets[th.target].Path, th.engine.Info().Name, err)
	th.run.stop()
}

// finish retires the last slice; after it every row is complete as far as this thread goes.
func (th *thread) finish() {
	th.gate.leave(th.stream)
	if th.run.leave(th.stream) && th.over < far {
		th.run.enough.Store(true)
		th.run.stop()
	}
	th.retired.push(th.active)
	th.active = nil
	th.progress.Store(progressDone)
}

// progressDone is the progress of a thread that records no more.
const progressDone = 1<<63 - 1
