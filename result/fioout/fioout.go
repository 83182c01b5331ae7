// Package fioout writes results in fio's forms, for the programs that read those: JSON, json+, the normal
// text and terse lines.
//
// The command fio calls it with a document and the jobs that its plan was made of. Its keys, their order,
// units and types are those of fio 3.42, found by looking at what that prints; what consumers read of it is
// listed in their own sources. It measures nothing, and runs nothing.
package fioout

import (
	"time"

	"blkstorm/histogram"
	"blkstorm/host"
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
	// Disks is the growth of the kernel's counters of each target over all points, and DiskTime how long that
	// took; see Gather.
	Disks    []host.DiskStats
	DiskTime time.Duration
	// Steady is what the steadystate of each point's jobs has come to; nil for a point without. Depths are the
	// queue depths that the streams of each point were tuned to (latency_target); see Tuned.
	Steady []*Steady
	Depths map[int][]int
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

// Gather takes in a row of the running point.
func (in *Input) Gather(row *result.Interval) {
	if in.Disks == nil {
		in.Disks = make([]host.DiskStats, len(row.DiskStats))
	}
	in.DiskTime += seconds(row.LengthS)
	for i, d := range row.DiskStats {
		if d == nil || i >= len(in.Disks) {
			continue
		}
		u := &in.Disks[i]
		u.ReadIOs += d.ReadIOs
		u.ReadMerges += d.ReadMerges
		u.ReadBytes += d.ReadBytes
		u.ReadTimeMS += d.ReadTimeMS
		u.WriteIOs += d.WriteIOs
		u.WriteMerges += d.WriteMerges
		u.WriteBytes += d.WriteBytes
		u.WriteTimeMS += d.WriteTimeMS
		u.IOTicksMS += d.IOTicksMS
		u.TimeInQueueMS += d.TimeInQueueMS
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
}

// reports puts together what belongs together: with group_reporting, all clones of a group.
func reports(in *Input) (list []*report, err error) {
	groups := map[int]*report{}
	for i := range in.Work.Clones {
		c := &in.Work.Clones[i]
		running := c.Point == len(in.Doc.Points) && in.running != nil
		if c.Point >= len(in.Doc.Points) && !running {
			continue // it did not come to it
		}
		together := c.Job.On("group_reporting", false)
		r := groups[c.Group]
		if r == nil || !together {
			r = &report{job: c.Job, name: c.Job.Name, group: c.Group, depth: int(c.Job.Number("iodepth", 1))}
			if together {
				groups[c.Group] = r
			}
			stream := &in.Work.Plan.Phases[0].Points[c.Point].Streams[c.Stream]
			r.workload = stream.Workload
			if c.Point < len(in.Steady) {
				r.steady = in.Steady[c.Point]
			}
			if stream.Tune != nil {
				r.tune = *stream.Tune
			}
			list = append(list, r)
		}
		r.clones++
		if depths := in.Depths[c.Point]; c.Stream < len(depths) && r.tune.Latency > 0 {
			r.tuned = max(r.tuned, depths[c.Stream])
		}
		r.last = c.Job
		if running {
			r.addRunning(in, c.Stream)
		} else if err := r.add(in.Doc, in.Doc.Points[c.Point], c.Stream); err != nil {
			return nil, err
		}
	}
	return list, nil
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
	for _, e := range p.Errors {
		if r.errno == 0 && e.Errno > 0 {
			r.errno = e.Errno
		}
	}
	for o, stat := range map[op.Op]*result.Stat{op.Read: s.Read, op.Write: s.Write, op.Trim: s.Trim, op.Sync: s.Sync} {
		dir := &r.ops[o]
		dir.ios += stat.IOs
		dir.bytes += stat.Bytes
		dir.short += stat.Short
		dir.dropped += stat.Zero
		if stat.IOs == 0 {
			continue
		}
		dir.runtime = max(dir.runtime, run)
		dir.series = append(dir.series, s.Series[o])
		h, err := histogram.Decode(stat.Latency.HDR)
		if err != nil {
			return err
		}
		l := stat.Latency
		if err := h.Restore(l.Min, l.Max, float64(l.Mean), float64(l.StdDev)); err != nil {
			return err
		}
		dir.latency.Merge(h)
	}
	return nil
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
