package runner

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// control is the goroutine that watches the threads: it collects retired slices into rows, hands on
// complete rows, ends the point, and gives up on what hangs. It never touches a thread's data but
// through the stacks, or while the thread is in the kernel (see thread.state).
type control struct {
	run      *run
	gc       *collector
	finished chan *thread
	rows     *rows
	result   *Result
	live     map[*thread]bool
	lookAt   int64 // when to look for the kernel's worker threads next
	workers  workers
	overdue  bool // the point was stopped since all its time was over, and a grace more
}

// lookEvery is how often control looks for worker threads; the first look comes soon, so that a short
// window has one.
const lookEvery, firstLook = int64(time.Second), int64(50 * time.Millisecond)

// rowSlack is how long after a row's end control waits before it retires the slices of threads that
// sit in the kernel; threads that turn retire their own.
const rowSlack = 20 * time.Millisecond

func newControl(r *run, gc *collector) *control {
	c := &control{run: r, gc: gc, finished: make(chan *thread, len(r.threads)), live: map[*thread]bool{}, result: &Result{}}
	for _, th := range r.threads {
		c.live[th] = true
	}
	return c
}

// watch runs until every thread has ended or been given up.
func (c *control) watch(ctx context.Context) *Result {
	r := c.run
	c.result.Started = r.clock.wall(r.schedule.start)
	c.result.WindowStart = r.clock.wall(r.schedule.window)
	c.rows = newRows(r, c.result)
	c.lookAt = r.schedule.start + firstLook
	defer c.stopWith(ctx)()
	if r.crowded() {
		defer prefer()()
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for len(c.live) > 0 {
		due := r.clock.now() + int64(c.nap())
		timer.Reset(time.Duration(due - r.clock.now()))
		select {
		case th := <-c.finished:
			delete(c.live, th)
			if len(c.live) > 0 {
				continue // the rest follow in a moment
			}
		case <-timer.C:
			c.result.Health.late(time.Duration(r.clock.now() - due))
		}
		c.turn()
	}
	c.close()
	return c.result
}

// stopWith ends the point when ctx is cancelled, from a goroutine of its own: control may be deep in
// rows just then. The returned function ends that goroutine and notes whether it stopped the point.
func (c *control) stopWith(ctx context.Context) (end func()) {
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-ctx.Done():
			stopped := c.run.stop()
			c.result.Enough = errors.Is(context.Cause(ctx), ErrEnough)
			c.result.Interrupted = stopped && !c.result.Enough
		case <-over:
		}
	}()
	return func() {
		close(over)
		<-ended
	}
}

// crowded is how many threads per CPU are so many that control needs a better place than they have. With
// fewer it gets its turn anyway, and would only take theirs.
const crowded = 2

func (r *run) crowded() bool { return len(r.threads) > crowded*runtime.NumCPU() }

// prefer gives control's OS thread a better place in the queue for a CPU than the workers have. With
// far more busy threads than CPUs, control would otherwise get its turn seconds late and its backlog
// of slices would fill the memory. Only root may; otherwise the workers stand back instead.
func prefer() (end func()) {
	runtime.LockOSThread()
	old, err := unix.Getpriority(unix.PRIO_PROCESS, mine)
	if err != nil || unix.Setpriority(unix.PRIO_PROCESS, mine, better) != nil {
		return runtime.UnlockOSThread
	}
	return func() {
		// The system call answers 20 - nice, so that no value looks like an error.
		if unix.Setpriority(unix.PRIO_PROCESS, mine, 20-old) == nil {
			runtime.UnlockOSThread()
		} // else the thread ends with its goroutine, and its priority with it
	}
}

// PRIO_PROCESS and 0 mean the calling thread (setpriority(2), C library differences). The steps in
// nice give control some nine times a worker's share.
const mine, better, worse = 0, -10, 10

// mayPrefer says whether prefer will do anything.
func mayPrefer() bool {
	end := prefer()
	nice, err := unix.Getpriority(unix.PRIO_PROCESS, mine)
	end()
	return err == nil && 20-nice == better
}

// standBack gives a worker's OS thread, which never does anything else, a worse place in the queue for
// a CPU than control has. Everybody may do that to his own threads.
func standBack() { _ = unix.Setpriority(unix.PRIO_PROCESS, mine, worse) } // if not, control is late, that is all

// nap is the time until control has something to do: a row to collect, a stuck thread to serve.
func (c *control) nap() time.Duration {
	now := c.run.clock.now()
	s := &c.run.schedule
	next := s.end(s.row(now))
	if c.rows.waiting(now) {
		next = min(next, now+int64(rowSlack))
	}
	end := c.run.deadline.Load()
	if c.lookAt < end {
		next = min(next, c.lookAt)
	}
	if now < end {
		next = min(next, end)
	} else {
		next = min(next, now+int64(drainTick)) // rows may be hours long, a grace is not
	}
	return time.Duration(next-now) + time.Millisecond
}

// turn is one round of control's work.
func (c *control) turn() {
	r := c.run
	now := r.clock.now()
	c.rows.sample(now)
	if now >= c.lookAt && len(c.live) > 0 {
		c.result.Health.KernelWorkers = max(c.result.Health.KernelWorkers, c.workers.look())
		c.lookAt = now + lookEvery
	}
	c.retireStuck(now)
	complete := c.rows.complete()
	c.rows.collect()
	grace := int64(r.cfg.Grace)
	if r.endless() && now < r.deadline.Load() {
		if c.overdue = c.silent(now, 1, now-grace); c.overdue || c.silent(now, silentGraces, far) {
			r.stop() // it would never end
		}
	}
	if c.overdue {
		grace = 0 // it has had it
	}
	if now > r.deadline.Load()+grace {
		c.giveUp(now)
	}
	c.rows.emit(complete, min(now, r.deadline.Load()))
	c.gc.collect(r.threads, now)
}

// retireStuck rotates for the threads that have been in one call of the engine since before the last
// row ended, so that rows go on when the device does not answer. What such a thread reaps later gets
// a later stamp, so nothing is lost or moved.
func (c *control) retireStuck(now int64) {
	s := &c.run.schedule
	if now >= c.run.deadline.Load() {
		return
	}
	row := s.row(now)
	if now < s.begin(row)+int64(rowSlack) {
		row--
	}
	for th := range c.live {
		if th.progress.Load() >= row || !th.take() {
			continue
		}
		if th.progress.Load() < row { // it may have turned in between
			th.rotate(now)
		}
		th.giveBack()
	}
}

// take claims the data of a thread that is in the kernel.
func (th *thread) take() bool {
	state := th.state.Load()
	return state&stateMask == stateInEngine && th.state.CompareAndSwap(state, state&^stateMask|stateTaken)
}

func (th *thread) giveBack() { th.state.Store(th.state.Load()&^stateMask | stateInEngine) }

// giveUp takes the data of threads whose device has not answered for as long as the grace lasts, for
// good: their buffers stay mapped, since the kernel may still write to them. A device that goes on
// answering, however slowly it works off its queue, is not hung; but no drain takes longer than
// drainLimit graces.
func (c *control) giveUp(now int64) {
	grace := int64(c.run.cfg.Grace)
	last := now > c.run.deadline.Load()+drainLimit*grace
	for th := range c.live {
		if !th.take() {
			continue // it turns, so it will end by itself
		}
		if now-th.heard < grace && !last {
			th.giveBack()
			continue
		}
		th.state.Store(th.state.Load()&^stateMask | stateAbandoned)
		if th.until < now {
			th.ended = max(th.ended, th.until) // it was to go on until then
		}
		c.result.StuckIOs += uint64(len(th.slots) - len(th.free))
		c.result.Stuck = append(c.result.Stuck, th.stuck(now)...)
		th.account(len(th.pending), 0) // handed over in the call that has not returned
		th.finish()
		delete(c.live, th)
	}
}

// silent says whether all threads were to end before the time until, and no thread's device has answered for so many
// graces: how a hang shows in a point that has no end in time.
func (c *control) silent(now, graces, until int64) bool {
	for th := range c.live {
		if th.until > until || !th.take() {
			return false
		}
		heard := max(th.heard, c.run.schedule.start)
		th.giveBack()
		if now-heard < graces*int64(c.run.cfg.Grace) {
			return false
		}
	}
	return len(c.live) > 0
}

// silentGraces is how many graces a device may be silent before a point without an end is stopped: the
// first writes to a thin disk, or a shingled one that tidies up, may stall for many seconds.
const silentGraces = 3

// drainTick is how often control looks whether a device has been silent for too long.
const drainTick = 50 * time.Millisecond

// drainLimit is how many graces a device that still answers gets for working off its queue.
const drainLimit = 30

// stuck lists what a thread has in flight: every slot that is not free.
func (th *thread) stuck(now int64) []Stuck {
	free := make([]bool, len(th.slots))
	for _, slot := range th.free {
		free[slot] = true
	}
	var list []Stuck
	for slot := range th.slots {
		if free[slot] {
			continue
		}
		io := &th.slots[slot]
		list = append(list, Stuck{
			Op: io.Op, Offset: io.Offset, Length: io.Length, Target: th.targetOf(io.File), Age: time.Duration(now - th.starts[slot]),
		})
	}
	return list
}

// close completes the result once no thread records any more.
func (c *control) close() {
	r := c.run
	end := r.deadline.Load()
	if r.endless() {
		if last := c.lastStamp(); last < end {
			end = last
		}
	}
	c.rows.collect()
	c.rows.finish(end)
	for _, p := range r.paces {
		for i := range c.result.Cells {
			if cell := &c.result.Cells[i]; cell.Stream == p.stream && cell.Target == p.target {
				p.settle(c.result.Cells[i:], r.threads, end)
			}
		}
	}
	res := c.result
	res.Ramp = time.Duration(min(end, r.schedule.window) - r.schedule.start)
	res.Window = time.Duration(max(end-r.schedule.window, 0))
	res.Completed = (end == r.planned || r.endless()) && !r.wasStopped() && res.StuckIOs == 0

	for _, th := range r.threads {
		res.Threads = append(res.Threads, Thread{
			Stream: th.stream, Target: th.target, CPU: th.cpu, Engine: th.engine.Info(),
			Peak: th.peak, Issued: th.issued, Drained: th.drained,
			Usage: th.health.used,
			Depth: th.depth(),
			From:  time.Duration(min(max(th.begins, th.from, r.schedule.window), end) - r.schedule.window),
			To:    time.Duration(max(min(th.ended, end), r.schedule.window) - r.schedule.window),
		})
		res.Errors = append(res.Errors, th.errs...)
		res.Faults += th.late
		res.RampIOs, res.Warmed = res.RampIOs+th.warmed, res.Warmed+th.warmed
		res.DrainedMax = max(res.DrainedMax, time.Duration(th.slowest))
		if th.failed != nil && res.Failed == nil {
			res.Failed = th.failed
		}
	}
	res.Enough = res.Enough || r.enough.Load()
	broke := slices.ContainsFunc(r.threads, func(th *thread) bool { return !th.goesOn && (th.broke || th.late > 0) })
	if res.Enough && res.StuckIOs == 0 && !broke {
		res.Completed = true
	}
	res.Completed = res.Completed && res.Failed == nil
	res.Health.add(r.threads)
	slices.SortStableFunc(res.Stuck, func(a, b Stuck) int { return int(b.Age - a.Age) })
	res.Stuck = res.Stuck[:min(len(res.Stuck), maxStuck)]
	slices.SortStableFunc(res.Errors, func(a, b IOError) int { return int(a.At - b.At) })
	res.Errors = res.Errors[:min(len(res.Errors), maxKept)]
}

// lastStamp is when the last thread reaped its last I/O.
func (c *control) lastStamp() int64 {
	last := c.run.schedule.window
	for _, th := range c.run.threads {
		last = max(last, th.ended)
	}
	return last
}
