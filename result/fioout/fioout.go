// Package fioout writes results in fio's forms, for the programs that read those: JSON, json+, the normal
// text and terse lines.
//
// The command fio calls it with a document and the jobs that its plan was made of. Its keys, their order,
// units and types are those of fio 3.42, found by looking at what that prints; what consumers read of it is
// listed in their own sources. It measures nothing, and runs nothing.
package fioout

import (
	"errors"
	"io/fs"
	"slices"
	"syscall"
	"time"

	"blkstorm/device"
	"blkstorm/histogram"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/plan/fiojob"
	"blkstorm/result"
	"blkstorm/runner"
	"blkstorm/workload"
)

// Input is what there is to write.
type Input struct {
	Doc      *result.Doc
	Work     *fiojob.Work
	Set      *fiojob.Set
	Defaults bool // the command line has options before any job
	Plus     bool // json+: with all buckets
	Now      time.Time
	PID      int
	// TerseVersion is that of the terse form, 2 to 5.
	TerseVersion int
	// Steady is what the steadystate of each point's jobs has come to; nil for a point without. Depths are the
	// queue depths that the streams of each point were tuned to (latency_target); see Tuned.
	Steady []*Steady
	Depths map[int][]int
	// Disks are those below the targets; nil: nobody watches them.
	Disks *Disks
	// Failed is why nothing ran, or what went wrong beside the I/O itself; nil: nothing did.
	Failed error
	// running is what the streams of the running point have done so far; see Cells.
	running []*tally
	began   time.Time
	// ETA is the time left in seconds; Unknown as long as nobody knows it.
	ETA int64
}

// Tuned takes in what the running point, of number point, was tuned to: of several threads the largest depth.
func (in *Input) Tuned(point int, res *runner.Result) {
	if in.Depths == nil {
		in.Depths = map[int][]int{}
	}
	for _, th := range res.Threads {
		for len(in.Depths[point]) <= th.Stream {
			in.Depths[point] = append(in.Depths[point], 0)
		}
		in.Depths[point][th.Stream] = max(in.Depths[point][th.Stream], th.Depth)
	}
}

// Unknown is fio's ETA of a run that nobody knows the end of.
const Unknown = 1<<31 - 1

// report is one entry of a document: a clone, or a group of them.
type report struct {
	last     *fiojob.Job // of a group; its options stand for all of them, as fio has it
	job      *fiojob.Job
	name     string
	group    int
	clones   int
	started  time.Time
	elapsed  time.Duration // from the program's start to the end of the job
	runtime  time.Duration // the longest of its clones
	summed   time.Duration // of all clones
	depth    int
	errno    int
	faults   uint64 // failed I/Os
	workload workload.Spec
	steady   *Steady
	tune     plan.Tune // zero without a latency_target
	tuned    int       // to this depth
	ops      [op.Count]direction
	usage    runner.Usage
}

// direction is what a report says of reads, writes, trims or syncs.
type direction struct {
	ios, bytes, short, dropped uint64
	runtime                    time.Duration
	latency                    histogram.Histogram
	series                     []result.Series
	together                   float64 // bytes per second of all reports of the group
}

// reports puts together what belongs together: with group_reporting, all clones of a group. Clones that it did
// not come to are there, too, with zeros.
func reports(in *Input) (list []*report, err error) {
	groups := map[int]*report{}
	for i := range in.Work.Clones {
		c := &in.Work.Clones[i]
		together := c.Job.On("group_reporting", false)
		r := groups[c.Group]
		if r == nil || !together {
			r = &report{job: c.Job, name: c.Job.Name, group: c.Group, depth: int(c.Job.Number("iodepth", 1))}
			if together {
				groups[c.Group] = r
			}
			if stream := in.stream(c); stream != nil {
				r.workload = stream.Workload
				if stream.Tune != nil {
					r.tune = *stream.Tune
				}
			}
			if c.Point < len(in.Steady) {
				r.steady = in.Steady[c.Point]
			}
			list = append(list, r)
		}
		r.clones++
		if depths := in.Depths[c.Point]; c.Stream < len(depths) && r.tune.Latency > 0 {
			r.tuned = max(r.tuned, depths[c.Stream])
		}
		r.last = c.Job
		switch {
		case c.Point < len(in.Doc.Points):
			if err := r.add(in.Doc, in.Doc.Points[c.Point], c.Stream); err != nil {
				return nil, err
			}
		case c.Point == len(in.Doc.Points) && in.running != nil:
			r.addRunning(in, c.Stream)
		case in.Failed != nil && len(in.Doc.Points) == 0:
			r.errno = errnoOf(in.Failed)
		}
	}
	rateGroups(list)
	return list, nil
}

// Refuse makes the input that of a run that did not come about: all jobs are there, with zeros and an error.
func (in *Input) Refuse(why error, version string) {
	in.Now, in.Failed = time.Now(), why
	in.Doc = &result.Doc{Version: version, Started: in.Now, Plan: in.Work.Plan}
	in.Work.Clones = nil // of a job that is refused there may be none
	group := -1
	for i, j := range in.Set.Jobs {
		if i == 0 || j.On("stonewall", false) || j.On("new_group", false) {
			group++
		}
		for n := range min(max(j.Number("numjobs", 1), 1), maxRefused) {
			in.Work.Clones = append(in.Work.Clones, fiojob.Clone{Job: j, Number: int(n), Group: group})
		}
	}
}

// maxRefused bounds the clones of a refused job: it may be refused for having too many.
const maxRefused = 4096

// stream is where a clone is in the plan; nil for one whose job is refused.
func (in *Input) stream(c *fiojob.Clone) *plan.Stream {
	phases := in.Work.Plan.Phases
	if len(phases) == 0 || c.Point >= len(phases[0].Points) || c.Stream >= len(phases[0].Points[c.Point].Streams) {
		return nil
	}
	return &phases[0].Points[c.Point].Streams[c.Stream]
}

// errnoOf is the number of an error; EINVAL where it has none.
func errnoOf(err error) int {
	var errno syscall.Errno
	var refused *device.RefusedError
	switch {
	case errors.As(err, &errno):
		return int(errno)
	case errors.As(err, &refused):
		return int(syscall.EPERM)
	case errors.Is(err, fs.ErrNotExist):
		return int(syscall.ENOENT)
	}
	return int(syscall.EINVAL)
}

// rateGroups adds up what the reports of each group did side by side.
func rateGroups(list []*report) {
	for o := range op.Count {
		bytes, longest := map[int]uint64{}, map[int]time.Duration{}
		for _, r := range list {
			d := &r.ops[o]
			bytes[r.group] += d.bytes
			longest[r.group] = max(longest[r.group], d.runtime)
		}
		for _, r := range list {
			if run := longest[r.group]; run > 0 {
				r.ops[o].together = float64(bytes[r.group]) / run.Seconds()
			}
		}
	}
}

// add takes in a stream.
func (r *report) add(d *result.Doc, p *result.Point, index int) error {
	if index >= len(p.Streams) { // a point that was skipped has none
		if r.started.IsZero() {
			r.started = p.Started
		}
		return nil
	}
	s := p.Streams[index]
	start := p.Started.Add(seconds(s.StartS))
	if r.started.IsZero() || start.Before(r.started) {
		r.started = start
	}
	run := seconds(s.EndS - s.StartS)
	r.runtime = max(r.runtime, run)
	r.summed += run
	r.elapsed = max(r.elapsed, p.Started.Add(seconds(s.EndS)).Sub(d.Started))
	r.usage.Add(s.Usage)
	r.fail(d, p, s)
	for o, stat := range map[op.Op]*result.Stat{op.Read: s.Read, op.Write: s.Write, op.Trim: s.Trim, op.Sync: s.Sync} {
		dir := &r.ops[o]
		dir.ios += stat.IOs
		dir.bytes += stat.Bytes
		dir.short += stat.Short
		dir.dropped += stat.Zero
		if stat.IOs == 0 {
			continue
		}
		dir.runtime = max(dir.runtime, inMS(run))
		dir.series = append(dir.series, s.Series[o])
		h, err := histogram.Decode(stat.Latency.HDR)
		if err != nil {
			return err
		}
		l, exact := stat.Latency, s.Moments[o]
		if exact == (result.Moments{}) { // a document that was read back
			exact = result.Moments{Mean: float64(l.Mean), StdDev: float64(l.StdDev)}
		}
		if err := h.Restore(l.Min, l.Max, exact.Mean, exact.StdDev); err != nil {
			return err
		}
		dir.latency.Merge(h)
	}
	return nil
}

// fail takes in what went wrong with a stream.
func (r *report) fail(d *result.Doc, p *result.Point, s *result.Stream) {
	r.faults += faultsOf(s)
	if r.errno == 0 {
		r.errno = failureOf(d, p, s)
	}
}

// failureOf is the number of what went wrong with a stream, or 0: the first error of one of its targets counts,
// unless it is known to be another stream's; and then an I/O that its target never answered, for which fio would
// wait for ever.
func failureOf(d *result.Doc, p *result.Point, s *result.Stream) int {
	mine := func(path string) bool {
		return slices.ContainsFunc(s.Targets, func(t int) bool { return t < len(d.Targets) && d.Targets[t].Path == path })
	}
	faults := faultsOf(s)
	if faults > 0 || !slices.ContainsFunc(p.Streams, func(o *result.Stream) bool { return faultsOf(o) > 0 }) {
		for _, e := range p.Errors {
			if e.Errno > 0 && mine(e.Target) {
				return e.Errno
			}
		}
		if faults > 0 || p.Failure != "" || p.Faults > 0 && len(p.Streams) == 1 {
			return int(syscall.EIO) // a transfer that falls short, or an engine that breaks, has no number
		}
	}
	if slices.ContainsFunc(p.Stuck, func(i result.Stuck) bool { return mine(i.Target) }) {
		return int(syscall.ETIMEDOUT)
	}
	return 0
}

func faultsOf(s *result.Stream) (n uint64) {
	for _, stat := range []*result.Stat{s.Read, s.Write, s.Trim, s.Sync} {
		n += stat.Errors + stat.Short
	}
	return n
}

// inMS is a time in whole milliseconds, but never none: rates are over what the runtime says, so that a program
// that divides by it finds the same.
func inMS(run time.Duration) time.Duration {
	return max(run.Round(time.Millisecond), time.Millisecond)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
