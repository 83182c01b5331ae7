package runner

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"blkstorm/ioengine"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/workload"
)

// prepare makes what a thread needs and does not need its OS thread for: generator, data, slices.
// number is the thread's place among those that share stream and targets.
func (th *thread) prepare(s *plan.Stream, number int, targets []int, pace *pace) error {
	files := make([]file, len(targets))
	for i, target := range targets {
		w := on(s, target)
		if err := th.prepareFile(&files[i], s, &w, number, target); err != nil {
			return fmt.Errorf("%s: %w", th.run.cfg.Targets[target].Path, err)
		}
	}
	th.file = files[0]
	th.left = -1
	if s.Passes > 0 {
		th.left = 0
		for i := range files {
			files[i].left = int64(s.Passes) * files[i].gen.Pass()
			th.left += files[i].left
		}
	}
	if s.IOs > 0 && (th.left < 0 || s.IOs < th.left) {
		th.left = s.IOs
	}
	th.room = math.MaxInt64
	if s.Bytes > 0 {
		th.room, th.grain = s.Bytes, s.Workload.Grain()
	}
	if len(files) > 1 {
		th.files = files
	}
	th.active, th.spare = newSlice(s, len(files)), newSlice(s, len(files))
	if pace != nil {
		th.paced = newPaced(pace, len(files))
	}
	th.thinking = newThinking(&s.Pacing.Think)
	th.tuned = newTuned(s.Tune)
	th.longest = int64(s.MaxLatency)
	th.steady = !th.mayRest()
	th.goesOn = continues(s, th.run.cfg)
	th.errs = make([]IOError, 0, maxKept)
	return nil
}

// prepareFile makes what a thread needs for one of its targets.
func (th *thread) prepareFile(f *file, s *plan.Stream, w *workload.Spec, number, index int) error {
	target := &th.run.cfg.Targets[index]
	r, err := w.RangeOn(target.SizeBytes)
	if err != nil {
		return err
	}
	seed := th.run.seed(th.stream, index)
	f.target, f.left = index, -1
	if f.gen, err = workload.NewGenerator(w, r, seed, number, s.Threads); err != nil {
		return err
	}
	if w.Writes() {
		f.data, err = workload.NewData(w, th.run.cfg.Seed, seed, number, target.SizeBytes)
	}
	return err
}

// on is a stream's workload on one of its targets.
func on(s *plan.Stream, target int) workload.Spec { return s.On(slices.Index(s.Targets, target)) }

// seed is that of a stream on a target: each has its own, so that no two threads of a point walk alike.
func (r *run) seed(stream, target int) uint64 {
	seed := r.cfg.Seed
	if r.cfg.Run != 0 {
		seed ^= workload.Mix(r.cfg.Run)
	}
	return workload.Mix(seed) + uint64(stream)<<32 + uint64(target)
}

// mayRest says whether the thread ever waits for a time rather than for the device.
func (th *thread) mayRest() bool {
	return th.paced != nil || th.gate != nil || th.thinking.every > 0 || th.tuned != nil
}

// open runs in the thread's own OS thread: pins it, maps its buffers, opens its target and its
// engine. The function it returns undoes all of it.
func (th *thread) open() (closeAll func(), err error) {
	if th.cpu >= 0 {
		if err := pinTo(th.cpu); err != nil {
			return nil, err
		}
	}
	if th.run.humble {
		standBack()
	}
	if th.mayRest() {
		ioengine.PreciseTimers()
	}
	stream := &th.run.cfg.Point.Streams[th.stream]
	driver := th.run.driverOf(stream)
	depth := depthOf(stream, driver)
	fds, closeFiles, err := th.openFiles()
	if err != nil {
		return nil, err
	}
	region, err := th.mapBuffers(stream, depth)
	if err != nil {
		return nil, errorsWith(err, closeFiles)
	}
	bytes, slots := th.run.needs(driver)
	th.engine, err = driver.Open(ioengine.Config{
		Files: fds, Slots: th.slots, Region: region.Bytes(), Stride: region.Stride(),
		TotalBytes: bytes, TotalDepth: slots, Flags: stream.Workload.Flags(), Ops: issued(&stream.Workload),
	})
	if err != nil {
		return nil, errorsWith(&ioengine.OpenError{Engine: driver.Name, Target: th.run.cfg.Targets[th.target].Path, Err: err}, closeFiles, region.Free)
	}
	th.fds = fds
	if th.tuned != nil {
		th.tuned.lay(depth)
	}
	return func() {
		th.closed(th.engine.Close())
		th.closed(region.Free())
		th.closed(closeFiles())
	}, nil
}

// openFiles opens the thread's targets.
func (th *thread) openFiles() (fds []int, closeAll func() error, err error) {
	var open []Descriptor
	closeAll = func() error {
		var errs []error
		for _, d := range open {
			errs = append(errs, d.Close())
		}
		return errors.Join(errs...)
	}
	for i := range max(len(th.files), 1) {
		d, err := th.run.cfg.Targets[th.targetOf(int32(i))].Open(&th.run.cfg.Point.Streams[th.stream])
		if err != nil {
			return nil, nil, errorsWith(err, closeAll)
		}
		open = append(open, d)
		fds = append(fds, int(d.Fd()))
	}
	return fds, closeAll, nil
}

// issued marks the directions that a workload issues.
func issued(w *workload.Spec) (ops [op.Count]bool) {
	for _, o := range op.All {
		ops[o] = w.Issues(o)
	}
	return ops
}

// depthOf is the depth that a stream's threads reach with a driver.
func depthOf(s *plan.Stream, driver *ioengine.Driver) int {
	if driver.MaxDepth > 0 {
		return min(s.IODepth, driver.MaxDepth)
	}
	return s.IODepth
}

// driverOf is the engine of a stream.
func (r *run) driverOf(s *plan.Stream) *ioengine.Driver {
	if d := r.cfg.Drivers[s.Engine]; d != nil {
		return d
	}
	return r.cfg.Driver
}

// checkFits asks each engine whether it can have what its threads want.
func (r *run) checkFits() error {
	asked := map[*ioengine.Driver]bool{}
	for _, th := range r.threads {
		d := r.driverOf(&r.cfg.Point.Streams[th.stream])
		if asked[d] || d.Fits == nil {
			continue
		}
		asked[d] = true
		_, slots := r.needs(d)
		if err := d.Fits(slots); err != nil {
			return &ioengine.OpenError{Engine: d.Name, Target: r.cfg.Targets[th.target].Path, Err: err}
		}
	}
	return nil
}

// needs is what all threads of the point that run on an engine want together.
func (r *run) needs(driver *ioengine.Driver) (bytes int64, slots int) {
	for _, th := range r.threads {
		s := &r.cfg.Point.Streams[th.stream]
		if r.driverOf(s) != driver {
			continue
		}
		depth := depthOf(s, driver)
		slots += depth
		bytes += int64(depth*s.BuffersPerSlot()) * s.Workload.MaxDataBlock()
	}
	return bytes, slots
}

// continues says whether a stream counts failed I/Os and goes on.
func continues(s *plan.Stream, cfg *Config) bool {
	if s.ContinueOnError != nil {
		return *s.ContinueOnError
	}
	return cfg.ContinueOnError
}

// errorsWith closes what was opened before the error; the error itself says more than theirs.
func errorsWith(err error, closers ...func() error) error {
	for _, c := range closers {
		_ = c()
	}
	return err
}

func (th *thread) closed(err error) {
	if err != nil && th.failed == nil {
		th.failed = fmt.Errorf("%s: closing: %w", th.run.cfg.Targets[th.target].Path, err)
	}
}

// mapBuffers makes the slots and their memory: one buffer each, two in a mixed workload. Trims need
// none, and get a page, since engines expect a region.
func (th *thread) mapBuffers(s *plan.Stream, depth int) (*ioengine.Region, error) {
	perSlot := s.BuffersPerSlot()
	count, size := depth*perSlot, s.Workload.MaxDataBlock()
	if count == 0 {
		count, size = 1, 1
	}
	region, err := ioengine.NewRegion(count, size)
	if err != nil {
		return nil, err
	}
	th.slots = make([]ioengine.IO, depth)
	th.buffers = make([]slotBuffers, depth)
	th.starts = make([]int64, depth)
	if th.paced != nil {
		th.paced.planned = make([]int64, depth)
	}
	th.free = make([]uint32, 0, depth)
	th.pending = make([]uint32, 0, depth)
	th.done = make([]ioengine.Completion, depth)
	th.wait = min(max(cmp.Or(s.CompleteMin, th.run.cfg.CompleteMin), 1), depth)
	for i := range depth {
		if perSlot > 0 {
			first := region.Buffer(i*perSlot, size)
			th.buffers[i] = slotBuffers{read: first, write: first}
		}
		if perSlot == 2 {
			th.buffers[i].write = region.Buffer(i*perSlot+1, size)
		}
		th.free = append(th.free, uint32(depth-1-i))
	}
	return region, nil
}
