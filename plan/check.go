package plan

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"blkstorm/device"
	"blkstorm/ioengine/registry"
	"blkstorm/unit"
	"blkstorm/workload"
)

// Limits of one stream. They stop slips of the finger, not honest tests: 1024 threads at depth 4096
// is beyond every device.
const (
	MaxThreads     = 1024
	MaxIODepth     = 4096
	MaxPasses      = 1000
	MinInterval    = 10 * time.Millisecond
	MaxIntervals   = 10_000_000
	MaxTime        = 366 * 24 * time.Hour
	maxBufferBytes = 64 << 30
)

// Check says what is wrong with a plan that can be seen without its targets.
func (p *Plan) Check() error {
	if err := registry.Check(p.Engine, p.EngineOptions()); err != nil {
		return fmt.Errorf("--engine: %w", err)
	}
	if p.Seed > MaxSeed {
		return fmt.Errorf("--seed %d: must be at most %d", p.Seed, uint64(MaxSeed))
	}
	if p.Grace.D() < 0 || p.Grace.D() > MaxTime {
		return fmt.Errorf("--grace %v: must be from 0 to %v", p.Grace.D(), MaxTime)
	}
	if len(p.Targets) == 0 {
		return errors.New("the plan has no target")
	}
	if err := p.checkProfile(); err != nil {
		return err
	}
	points := 0
	for i := range p.Phases {
		ph := &p.Phases[i]
		if err := ph.check(); err != nil {
			return &PartError{i, -1, -1, err}
		}
		for j := range ph.Points {
			points++
			if err := ph.Points[j].checkAll(p, i, j); err != nil {
				return err
			}
		}
		if ph.Steady != nil {
			if err := ph.checkSteady(); err != nil {
				return &PartError{i, -1, -1, err}
			}
		}
		if ph.Rounds != nil {
			if err := ph.checkRounds(); err != nil {
				return &PartError{i, -1, -1, err}
			}
		}
	}
	if points == 0 {
		return errors.New("the plan has no point to run")
	}
	if err := p.checkClaims(); err != nil {
		return err
	}
	if err := p.CheckData(); err != nil {
		return err
	}
	return p.checkSweeps()
}

// PartError says which part of a plan is wrong, by indexes; they are -1 where the error is of what is
// above. Its text is that of Err, which names the option: the front end knows what the part is to
// whoever wrote it.
type PartError struct {
	Phase, Point, Stream int
	Err                  error
}

func (e *PartError) Error() string { return e.Err.Error() }

// Unwrap gives Err.
func (e *PartError) Unwrap() error { return e.Err }

// checkAll checks point j of phase i with its streams.
func (pt *Point) checkAll(p *Plan, i, j int) error {
	if len(pt.Streams) == 0 {
		return &PartError{i, j, -1, fmt.Errorf("point %q has no stream", pt.Label)}
	}
	if err := pt.check(); err != nil {
		return &PartError{i, j, -1, err}
	}
	for k := range pt.Streams {
		if err := pt.Streams[k].check(p); err != nil {
			return &PartError{i, j, k, err}
		}
	}
	if pt.Runtime > 0 && pt.Ends() && p.Phases[i].Steady == nil { // with a rule it is when to give up
		return &PartError{i, j, -1, fmt.Errorf("--runtime %v: all streams of the point have an end of their own, with which it ends; leave it out, or give the streams time", pt.Runtime.D())}
	}
	return nil
}

// EngineOptions are what the plan asks of its engine.
func (p *Plan) EngineOptions() registry.Options {
	return registry.Options{SQPoll: p.SQThreadPoll, IOPoll: p.HiPri}
}

func (pt *Point) check() error {
	runtime, ramp, interval := pt.Runtime.D(), pt.Ramp.D(), pt.Interval.D()
	switch {
	case runtime <= 0 && !pt.Ends():
		return fmt.Errorf("--runtime %v: must be over 0", runtime)
	case runtime > MaxTime:
		return fmt.Errorf("--runtime %v: must be at most %v", runtime, MaxTime)
	case ramp < 0 || ramp > MaxTime:
		return fmt.Errorf("--ramp %v: must be from 0 to %v", ramp, MaxTime)
	case interval < MinInterval:
		return fmt.Errorf("--interval %v: must be at least %v", interval, MinInterval)
	case (ramp+runtime)/interval > MaxIntervals:
		return fmt.Errorf("--interval %v: gives over %d intervals in %v; make it longer", interval, MaxIntervals, ramp+runtime)
	}
	return pt.checkShares()
}

// checkShares wants a share of each stream or of none, 100 % together, and no other pace beside them.
func (pt *Point) checkShares() error {
	sum, given := 0.0, 0
	for i := range pt.Streams {
		s := &pt.Streams[i]
		if s.Share == 0 {
			continue
		}
		given++
		sum += s.Share
		switch {
		case !(s.Share > 0 && s.Share <= 100):
			return fmt.Errorf("--share %v of stream %q: must be over 0 and up to 100", s.Share, s.Label)
		case s.Pacing.Open() || !s.Pacing.Think.IsZero():
			return fmt.Errorf("--share %v of stream %q: a stream has a share or a pace of its own, not both", s.Share, s.Label)
		}
	}
	switch {
	case given == 0:
		return nil
	case given < len(pt.Streams):
		return fmt.Errorf("--share: %d of %d streams have one; give it to all of them or to none", given, len(pt.Streams))
	case sum < 99.999 || sum > 100.001:
		return fmt.Errorf("--share: the shares of the streams sum to %g, not to 100", sum)
	}
	return nil
}

// Ends says whether the point ends with its streams, each of which has an end of its own.
func (pt *Point) Ends() bool {
	for i := range pt.Streams {
		if !pt.Streams[i].Ends() {
			return false
		}
	}
	return true
}

func (s *Stream) check(p *Plan) error {
	if err := s.Workload.Validate(); err != nil {
		return err
	}
	if err := s.Pacing.Validate(&s.Workload); err != nil {
		return err
	}
	buffers := int64(s.Threads) * int64(s.IODepth) * s.Workload.MaxDataBlock() * int64(len(s.Targets))
	if s.Together {
		buffers /= int64(max(len(s.Targets), 1))
	}
	switch {
	case s.Threads < 1 || s.Threads > MaxThreads:
		return fmt.Errorf("--threads %d: must be from 1 to %d", s.Threads, MaxThreads)
	case s.Passes < 0 || s.Passes > MaxPasses:
		return fmt.Errorf("passes %d: must be from 0 to %d", s.Passes, MaxPasses)
	case s.IODepth < 1 || s.IODepth > MaxIODepth:
		return fmt.Errorf("--iodepth %d: must be from 1 to %d", s.IODepth, MaxIODepth)
	case buffers > maxBufferBytes && s.BuffersPerSlot() > 0:
		return fmt.Errorf("threads x iodepth x bs x targets = %s of buffers: over the limit of %s; lower one of them",
			unit.Size(buffers), unit.Size(maxBufferBytes))
	case s.Start.D() < 0 || s.Start.D() > MaxTime:
		return fmt.Errorf("start %v of stream %q: must be from 0 to %v", s.Start.D(), s.Label, MaxTime)
	case s.Time.D() < 0 || s.Time.D() > MaxTime:
		return fmt.Errorf("time %v of stream %q: must be from 0 to %v", s.Time.D(), s.Label, MaxTime)
	case s.Bytes < 0:
		return fmt.Errorf("bytes %d of stream %q: must be at least 0", s.Bytes, s.Label)
	case s.IOs < 0:
		return fmt.Errorf("ios %d of stream %q: must be at least 0", s.IOs, s.Label)
	case s.Passes > 0 && !s.Workload.Passes():
		return errors.New("a single pass needs a sequential workload of one block size, or --coverage")
	}
	if len(s.Targets) == 0 {
		return fmt.Errorf("stream %q has no target", s.Label)
	}
	seen := map[int]bool{}
	for _, t := range s.Targets {
		switch {
		case t < 0 || t >= len(p.Targets):
			return fmt.Errorf("stream %q names target %d of %d", s.Label, t, len(p.Targets))
		case seen[t]:
			return fmt.Errorf("stream %q names target %d twice", s.Label, t)
		}
		seen[t] = true
	}
	if err := s.checkOwn(p); err != nil {
		return err
	}
	return s.checkLimits()
}

// CheckTarget says what on target i, whose facts are f, does not go with the plan as a whole, or with
// any of its points.
func (p *Plan) CheckTarget(i int, f *device.Facts) error {
	if err := p.CheckEngine(f); err != nil {
		return err
	}
	for k := range p.Phases {
		for j := range p.Phases[k].Points {
			if err := p.CheckPoint(&p.Phases[k].Points[j], i, f); err != nil {
				return err
			}
		}
	}
	return nil
}

// CheckEngine says what the engine needs and a target, whatever is done to it, has not.
func (p *Plan) CheckEngine(f *device.Facts) error {
	if p.HiPri && f.Queue.IOPoll != nil && !*f.Queue.IOPoll {
		return fmt.Errorf("%s: --hipri: the device has no polling queues (queue/io_poll is 0); for NVMe load the driver with poll_queues=N", f.Path)
	}
	return nil
}

// CheckPoint says what on target i does not go with a point: block sizes the device cannot do, ranges
// that do not fit, slices too small for the threads. A PartError of it knows only the stream.
func (p *Plan) CheckPoint(point *Point, i int, f *device.Facts) error {
	for k := range point.Streams {
		s := &point.Streams[k]
		at := slices.Index(s.Targets, i)
		if at < 0 {
			continue
		}
		if err := s.checkOn(at, f, p.DirectOf(s)); err != nil {
			return &PartError{-1, -1, k, fmt.Errorf("%s: %w", f.Path, err)}
		}
	}
	return nil
}

func (s *Stream) checkOn(at int, f *device.Facts, direct bool) error {
	on := s.On(at)
	w := &on
	if f.SizeBytes == 0 {
		return errors.New("it is empty (0 bytes): there is nothing to read or write; a file can be made with --size instead")
	}
	if err := checkTrims(w, f); err != nil {
		return err
	}
	blocks := direct || w.Trims() && f.Kind != device.KindFile // a device trims whole logical blocks, whatever lies between
	if unitBytes, what := transferUnit(f, blocks); unitBytes > 1 {
		for _, l := range w.Lengths() {
			if l.Bytes%unitBytes != 0 {
				return fmt.Errorf("%s %s: must be a multiple of %d, the target's %s", l.Option, unit.Size(l.Bytes), unitBytes, what)
			}
		}
		if offset := w.Offset.Bytes; offset%unitBytes != 0 {
			return fmt.Errorf("--offset %s: must be a multiple of %d, the target's %s", unit.Size(offset), unitBytes, what)
		}
	}
	r, err := w.RangeOn(f.SizeBytes)
	if err != nil {
		return err
	}
	if unitBytes, what := transferUnit(f, direct); w.Whole && r.Length%unitBytes != 0 {
		return fmt.Errorf("the range of %d bytes is no multiple of %d, the target's %s, so that its end cannot be written", r.Length, unitBytes, what)
	}
	_, err = workload.NewGenerator(w, r, 0, 0, s.Threads)
	return err
}

// checkTrims says why a device cannot trim. Files can where their file system can punch holes; that is
// found out by the first trim.
func checkTrims(w *workload.Spec, f *device.Facts) error {
	if !w.Trims() || w.TrimWith == workload.WriteZeroes || f.Kind == device.KindFile || f.Queue.DiscardMaxBytes > 0 {
		return nil
	}
	if w.Whole { // a purge: whoever asked for it wrote no shape
		return errors.New("the device takes no discards (queue/discard_max_bytes is 0), so it cannot be purged: leave the purge out (a profile's with --purge=false), and say so beside its figures")
	}
	return fmt.Errorf("--rw %s: the device takes no discards (queue/discard_max_bytes is 0); --trim-with %s zeroes blocks on every device",
		w.RW, workload.WriteZeroes)
}

// transferUnit is what lengths and offsets on the target must be multiples of, and its name: the
// logical block of a device, the direct I/O alignment of a file (statx, Linux 6.1), or, where the
// kernel does not say, the logical block of the disk beneath it; 1 through the page cache.
func transferUnit(f *device.Facts, blocks bool) (int64, string) {
	switch {
	case !blocks:
		return 1, "" // the page cache takes any length
	case f.Kind != device.KindFile:
		return int64(f.LogicalBlockBytes), "logical block size"
	case f.DIOOffsetAlign > 0:
		return int64(f.DIOOffsetAlign), "direct I/O alignment"
	}
	return int64(max(f.LogicalBlockBytes, 1)), "underlying logical block size"
}
