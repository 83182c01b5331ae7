package execute

import (
	"fmt"
	"slices"
	"time"

	"blkstorm/device"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/verdict"
)

// judge turns a point's figures into warnings; standstill is what has come between the preconditioning
// and the point, and neverSteady what it ends without steady state.
func (s *Session) judge(p *plan.Point, r *result.Point, standstill, neverSteady string) []verdict.Warning {
	planned, _ := p.Window()
	in := verdict.Input{
		Engine: r.EngineName, Dry: s.driver.Dry, Synchronous: s.synchronous(p),
		IODepth: deepest(p), Depth: s.shallowest(p, r),
		Completed: r.Completed, Interrupted: r.Interrupted, Window: time.Duration(r.WindowS * float64(time.Second)), Planned: planned,
		IOs: r.Total.IOs, Errors: r.Total.Errors, Short: r.Total.Short + r.Total.Zero, Faults: r.Faults, Clamped: r.Total.Latency.Clamped, Stuck: int(r.StuckIOs),
	}
	if in.Buffered, in.BufferedIn = s.buffered(p); s.driver.Dry {
		in.Buffered = false
	}
	if len(r.Errors) > 0 {
		e := &r.Errors[0]
		in.FirstError = fmt.Sprintf("%s of %d bytes at offset %d of %s: %s", e.Op, e.Length, e.Offset, e.Target, e.Message)
	}
	for _, f := range r.Fallback {
		in.Fallback = append(in.Fallback, f.Engine+" could not be: "+f.Reason)
	}
	in.Max, in.DrainedMax = time.Duration(r.Total.Latency.Max), time.Duration(r.DrainedMaxNS)
	if o := r.Total.OpenLoop; o != nil {
		in.Offered, in.Late, in.Missed, in.Backlog = o.Offered, o.Late, o.Missed, time.Duration(o.BacklogNS)
	}
	in.Paced = p.Streams[0].Waits()
	in.NotSteady = neverSteady
	in.Open, in.LeastPlanned, in.LeastIn = leastPlanned(r)
	if st := r.Steady; st != nil && !st.State.Steady && r.Completed {
		in.NotSteady = fmt.Sprintf("after %d rounds of %v, %s", st.State.Rounds, st.Rule.Round, st.State.Reason)
	}
	if d := r.Drift; d != nil {
		in.Drift = d.String()
	}
	in.Standstill, in.Hot = standstill, hottest(r)
	in.Throttled, in.Critical, in.MediaErrors = throttling(r), critical(r), mediaErrors(r)
	in.EngineNotes, in.Failure = r.EngineNotes, r.Failure
	in.FillIncomplete = s.leftOut(p, r)
	if in.Percentiles = s.trusted(); r.Phase == plan.Purge || r.Phase == plan.Fill {
		// They take as long as they take, and a small target is done before the depth is reached.
		in.Paced, in.Depth.Paced, in.Percentiles = true, true, nil
	}
	in.UnwrittenShare, in.UnwrittenPath = s.unwritten(p)
	in.Machine = s.machine(r)
	in.Queue = s.narrowest(p)
	return verdict.Judge(&in)
}

// leastPlanned is how many I/Os the stream with the fewest had planned in the window, of those with planned
// times, and which that is, where there are others.
func leastPlanned(r *result.Point) (open bool, least uint64, in string) {
	for _, s := range r.Streams {
		o := s.Total.OpenLoop
		if o == nil {
			continue
		}
		if planned := o.Offered + o.Missed; !open || planned < least {
			open, least = true, planned
			if len(r.Streams) > 1 {
				in = " by stream " + s.Label
			}
		}
	}
	return open, least, in
}

// trusted lists the percentiles that a warning speaks of when there are too few I/Os for them: those
// that were asked for, else those that the text shows.
func (s *Session) trusted() []float64 {
	if slices.Equal(s.opts.Percentiles, result.DefaultPercentiles) || len(s.opts.Percentiles) == 0 {
		return []float64{50, 95, 99, 99.9}
	}
	return slices.Sorted(slices.Values(s.opts.Percentiles))
}

func (s *Session) machine(r *result.Point) verdict.Machine {
	return verdict.Machine{
		UserPct: r.CPU.UserPct, SystemPct: r.CPU.SystemPct, StealPct: r.CPU.StealPct,
		BusiestThreadPct: r.Process.BusiestThreadPct,
		Descheduled:      r.Process.Descheduled, DescheduledMax: time.Duration(r.Process.DescheduledMaxNS),
		InSubmitPct: r.Process.InSubmitPct, KernelWorkers: r.Process.KernelWorkers,
		ClockSource: s.clock.Source, ClockCostNS: s.clock.CostNS, ClockResolutionNS: s.clock.ResolutionNS, ClockBackward: s.clock.BackwardSteps,
	}
}

// unwritten is the largest share of never-written blocks among the ranges that are read. It was looked
// up before the point began, since a mixed point writes.
func (s *Session) unwritten(p *plan.Point) (share float64, path string) {
	for i := range p.Streams {
		for _, t := range p.Streams[i].Targets {
			if f := s.targets[t]; f.unwritten != nil && p.Streams[i].Workload.Reads() && *f.unwritten > share {
				share, path = *f.unwritten, f.facts.Path
			}
		}
	}
	return share, path
}

// lookForHoles finds out how much of the ranges that a point reads was never written.
func (s *Session) lookForHoles(p *plan.Point) {
	if s.driver.Dry {
		return
	}
	for i := range p.Streams {
		for at, n := range p.Streams[i].Targets {
			w := p.Streams[i].On(at)
			t := s.targets[n]
			r, err := w.RangeOn(t.facts.SizeBytes)
			if err != nil || !w.Reads() || t.create {
				continue
			}
			share, known := s.opts.Roots.Device.Unwritten(t.facts, r.Start, r.Length)
			if known && (t.unwritten == nil || share > *t.unwritten) {
				t.unwritten = &share
			}
		}
	}
}

// narrowest is the target on which the point asks for the most beyond its queue.
func (s *Session) narrowest(p *plan.Point) verdict.Queue {
	asked := make([]int, len(s.targets))
	for i := range p.Streams {
		for _, t := range p.Streams[i].Targets {
			asked[t] += p.Streams[i].Threads * s.depthOf(&p.Streams[i])
		}
	}
	queues := map[string]*verdict.Queue{} // of adapters that several targets share
	var worst verdict.Queue
	consider := func(q verdict.Queue) {
		if q.Depth > 0 && (worst.Depth == 0 || q.Asked-q.Depth > worst.Asked-worst.Depth) {
			worst = q
		}
	}
	for i, t := range s.targets {
		depth, limit := queueDepth(t.facts)
		consider(verdict.Queue{Path: t.facts.Path, Asked: asked[i], Depth: depth, Limit: limit})
		c := &t.facts.Controller
		if c.HostQueueDepth == 0 || c.Name == "" {
			continue
		}
		q := queues[c.Name]
		if q == nil {
			q = &verdict.Queue{Path: "the disks on adapter " + c.Name, Depth: c.HostQueueDepth, Limit: c.Driver + " can_queue"}
			queues[c.Name] = q
		}
		q.Asked += asked[i]
	}
	for _, q := range queues {
		consider(*q)
	}
	return worst
}

// queueDepth is what a device takes at once, and the name of the limit. A SCSI device has a limit of
// its own; others have one per hardware queue.
func queueDepth(f *device.Facts) (depth int, limit string) {
	c := &f.Controller
	if c.QueueDepth == 0 {
		return 0, ""
	}
	depth, limit = c.QueueDepth, c.QueueDepthSource
	if f.HCTL == "" && f.Queue.HWQueues > 1 {
		depth *= f.Queue.HWQueues
		limit += fmt.Sprintf(" x %d hardware queues", f.Queue.HWQueues)
	}
	if c.Driver != "" {
		limit = c.Driver + " " + limit
	}
	return depth, limit
}
