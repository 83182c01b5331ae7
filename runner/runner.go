// Package runner carries out one point: it starts the threads, keeps T x Q I/Os in flight per target,
// measures every one of them and hands on a row of statistics per interval.
//
// The commands call it with a checked plan and opened guard; result makes documents from what it
// returns. It decides nothing about what to issue (workload does), never looks at what a device is
// (device does), and writes to no file but the targets.
package runner

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"blkstorm/device"
	"blkstorm/host"
	"blkstorm/ioengine"
	"blkstorm/plan"
)

// Target is one opened device or file as the runner needs it.
type Target struct {
	Path      string
	SizeBytes int64
	// Disk is the name under /sys/class/block whose I/O counters are sampled; empty for none.
	Disk string
	// Open opens the target for one thread of a stream.
	Open func(*plan.Stream) (Descriptor, error)
}

// Descriptor is an open file; *os.File is one.
type Descriptor interface {
	Fd() uintptr
	Close() error
}

// Config is what a point is run with.
type Config struct {
	Point       *plan.Point
	Targets     []Target
	Driver      *ioengine.Driver // of the streams that name none
	CompleteMin int              // of the streams that have no own, as Pin and ContinueOnError
	Pin         string
	Seed        uint64
	// Drivers are those that streams name.
	Drivers map[string]*ioengine.Driver
	// Run tells runs with the same Seed apart, so that none repeats the offsets and the data of
	// another; the content of duplicates is the same in all of them.
	Run             uint64
	ContinueOnError bool
	// FaultEndsThread has the first failed I/O of a thread end that one, and not the point; the others go on.
	FaultEndsThread bool
	// Grace is how long after the point's end a device may keep I/Os before they are given up and
	// reported as stuck; 0 means DefaultGrace.
	Grace time.Duration
	// Rows is called with every row as it becomes complete, in order, from one goroutine. The row
	// and what it points to are valid during the call only.
	Rows func(*Row)
	// Roots is where host counters are read.
	Roots host.Roots
}

// ErrEnough is the cause with which a caller ends a point whose purpose is reached before its time is over.
var ErrEnough = errors.New("the point has reached its purpose")

// DefaultGrace is long enough for a disk that retries (SCSI's default command timeout is 30 s, but
// what answers that late within a benchmark is reported as hung, with its age).
const DefaultGrace = 10 * time.Second

// stopMargin is how far ahead a stop lies, so that every turning thread sees the new end before it
// comes, and none records past it.
const stopMargin = int64(2 * time.Millisecond)

// run is the state of one point while it runs.
type run struct {
	cfg      *Config
	clock    clock
	schedule schedule
	deadline atomic.Int64 // the window's end; a stop moves it nearer
	planned  int64        // the window's end as the plan has it
	threads  []*thread
	paces    []*pace
	gate     *gate
	stopping sync.Mutex
	stopped  bool
	humble   bool           // workers stand back for control
	alive    []atomic.Int32 // threads of each stream
	enough   atomic.Bool    // a stream has ended the point
}

// stop ends the window at once for all threads, and says whether it did: not if the end was near or
// another had stopped it before.
//
// A thread that has read the old end must not record past the new one, so the new end has to lie
// ahead of the moment at which it is stored. On a machine with far more threads than CPUs the caller
// may lose its CPU in between: then the end is moved on until it does.
func (r *run) stop() bool {
	r.stopping.Lock()
	defer r.stopping.Unlock()
	if r.stopped {
		return false
	}
	for {
		at := r.clock.now() + stopMargin
		if at >= r.planned {
			return r.stopped
		}
		r.stopped = true
		r.deadline.Store(at)
		if r.clock.now() < at {
			return true
		}
	}
}

// wasStopped says whether stop has ended the window.
func (r *run) wasStopped() bool {
	r.stopping.Lock()
	defer r.stopping.Unlock()
	return r.stopped
}

// Run carries out a point. It returns when the point has ended and every thread has stopped, or
// given up on; cancelling ctx ends the window at once, and the result then covers the time until
// there. With the cause ErrEnough that is the point's planned end: its purpose is reached. An error means that nothing was issued; an *ioengine.OpenError, that another engine may do.
func Run(ctx context.Context, cfg Config) (*Result, error) {
	if cfg.Grace == 0 {
		cfg.Grace = DefaultGrace
	}
	r := &run{cfg: &cfg, clock: newClock()}
	if err := r.makeThreads(); err != nil {
		return nil, err
	}
	if err := r.checkFits(); err != nil {
		return nil, err
	}
	// A raw system call keeps its processor while it blocks, so there must be one for each thread
	// and some to spare for control. Go lowers the default to a container's CPU limit (since 1.25):
	// never rely on it.
	procs := runtime.GOMAXPROCS(0)
	if need := max(runtime.NumCPU(), len(r.threads)+2); need > procs {
		runtime.GOMAXPROCS(need)
	}
	r.humble = r.crowded() && !mayPrefer()
	gc := pauseCollector()
	c := newControl(r, gc)
	started, err := r.start(c)
	if err != nil {
		gc.resume()
		return nil, err
	}
	close(started)
	result := c.watch(ctx)
	if result.StuckIOs == 0 {
		gc.resume() // both stop the world
		runtime.GOMAXPROCS(procs)
	}
	return result, nil
}

// makeThreads lays out the threads: stream by stream, target by target.
func (r *run) makeThreads() error {
	r.gate = newGate(r.cfg.Point)
	r.alive = make([]atomic.Int32, len(r.cfg.Point.Streams))
	for s := range r.cfg.Point.Streams {
		stream := &r.cfg.Point.Streams[s]
		r.alive[s].Store(int32(stream.Workers()))
		for _, targets := range served(stream) {
			pace := newPace(stream, s, targets[0], r.seed(s, targets[0]))
			if pace != nil {
				r.paces = append(r.paces, pace)
			}
			for i := range stream.Threads {
				th := &thread{run: r, number: len(r.threads), stream: s, target: targets[0], cpu: -1, gate: r.gate}
				if err := th.prepare(stream, i, targets, pace); err != nil {
					return err
				}
				r.threads = append(r.threads, th)
			}
		}
	}
	if len(r.threads) == 0 {
		return errors.New("the point has no thread to run")
	}
	return r.place()
}

// place gives the threads their CPUs. Those of streams with a list of their own share that one.
func (r *run) place() error {
	allowed, err := allowedCPUs()
	if err != nil {
		return err
	}
	alike := map[string][]*thread{}
	for _, th := range r.threads {
		pin := cmp.Or(r.cfg.Point.Streams[th.stream].Pin, r.cfg.Pin)
		alike[pin] = append(alike[pin], th)
	}
	for pin, threads := range alike {
		if len(alike) > 1 && cmp.Or(pin, PinAuto) == PinAuto {
			pin = PinNone // the CPUs that others have named are theirs
		}
		cpus, err := placement(pin, len(threads), allowed)
		if err != nil {
			return err
		}
		for i, th := range threads {
			th.cpu = cpus[i]
		}
	}
	return nil
}

// served lists the targets of each group of a stream's threads.
func served(s *plan.Stream) (groups [][]int) {
	if s.Together {
		return [][]int{s.Targets}
	}
	for _, t := range s.Targets {
		groups = append(groups, []int{t})
	}
	return groups
}

// start brings up all threads with their engines and buffers. They wait for the returned channel to
// be closed; on an error all have ended.
func (r *run) start(c *control) (chan struct{}, error) {
	started := make(chan struct{})
	abort := make(chan struct{})
	ready := make(chan error, len(r.threads))
	var ended sync.WaitGroup
	for _, th := range r.threads {
		ended.Add(1)
		go func() {
			defer ended.Done()
			// Never unlocked: the thread, with its affinity and its ring, ends with the goroutine.
			runtime.LockOSThread()
			closeAll, err := th.open()
			ready <- err
			if err != nil {
				return
			}
			select {
			case <-started:
			case <-abort:
				closeAll()
				return
			}
			th.loop()
			closeAll() // before control takes stock: closing may fail
			c.finished <- th
		}()
	}
	var first error
	for range r.threads {
		if err := <-ready; err != nil && first == nil {
			first = err
		}
	}
	if first != nil {
		close(abort)
		ended.Wait()
		return nil, first
	}
	r.begin()
	return started, nil
}

// begin fixes the schedule, a moment ahead of the first I/O.
func (r *run) begin() {
	point := r.cfg.Point
	r.schedule = newSchedule(r.clock.now(), point.Ramp.D(), point.Interval.D())
	end := r.schedule.window + int64(point.Runtime.D())
	if r.endless() {
		end = far
	}
	r.planned = end
	r.deadline.Store(end)
	for _, th := range r.threads {
		th.rowEnd = r.schedule.end(0)
		th.lay(&point.Streams[th.stream])
	}
	for _, p := range r.paces {
		p.lay(&r.schedule, &point.Streams[p.stream])
	}
}

// far is a time that never comes, with room to add to.
const far = math.MaxInt64 / 2

// lay fixes when the thread begins and when it issues no more.
func (th *thread) lay(s *plan.Stream) {
	schedule := &th.run.schedule
	th.begins, th.until, th.over = schedule.start+int64(s.Start.D()), far, far
	measured := max(th.begins+int64(s.Ramp.D()), schedule.window)
	if measured > max(th.begins, schedule.window) {
		th.from = measured
	}
	if s.Time > 0 {
		th.until = measured + int64(s.Time.D())
	}
}

// leave says that one of the stream's threads has ended; it is true of the last one of a stream that ends the
// point.
func (r *run) leave(stream int) bool {
	return r.alive[stream].Add(-1) == 0 && r.cfg.Point.Streams[stream].EndsPoint
}

// endless says whether the point ends by its streams' own work rather than by time.
func (r *run) endless() bool { return r.cfg.Point.Ends() }

// OpenTarget is the usual Target.Open: the path, for reading or for both, direct as the stream has it or, where it
// has nothing of its own, as o.
func OpenTarget(path string, o device.OpenOptions) func(*plan.Stream) (Descriptor, error) {
	return func(s *plan.Stream) (Descriptor, error) {
		o := o
		if s.Direct != nil {
			o.Direct = *s.Direct
		}
		return device.Open(path, o)
	}
}
