package live

import (
	"slices"
	"time"

	"blkstorm/plan"
	"blkstorm/printable"
	"blkstorm/result"
	"blkstorm/steady"
	"blkstorm/verdict"
)

// step is a point of the plan, or an idle time.
type step struct {
	point *plan.Point   // to know it again; nil for an idle time
	label string        // of the point
	ramp  time.Duration // before the window
	time  time.Duration // of the window, or idle
	work  bool          // it ends with its work, nobody knows when
	bytes int64         // that its passes move; 0: nobody knows
	rule  *steady.Rule  // it may end sooner than time says
	often bool          // its rounds may end sooner
	depth int64         // I/Os to keep in flight
}

// sum is what a direction, or all of them, did over the window so far.
type sum struct {
	ios, bytes uint64
	latency    float64 // of all I/Os, ns
	max        int64
}

// directions of a row, in the order in which they are shown.
const directions = 3

var directionNames = [directions]string{"read", "write", "trim"}

// state is all that a frame is made of.
type state struct {
	sizes    []int64 // of the targets
	steps    []step  // of the plan
	warnings []verdict.Warning

	index, of int
	fewer     bool // there may be fewer points than of: rounds end early
	kind      string
	at        int // the running step's place in steps; -1 when it is not among them
	step
	running bool // a point is
	began   time.Time
	window  time.Time // when the window begins or began
	// timely says that the window's begin is known from a row.
	timely  bool
	row     *result.Interval // the last one; nil before the first
	seen    [directions]bool // directions that had an I/O in this point
	so      sum              // the window so far
	seconds float64          // of it
	moved   uint64           // bytes since the point began
	rate    float64          // bytes per second, over the last half minute or so
	quiet   float64          // seconds for which nothing has completed while something was in flight
	errors  uint64
	short   uint64
	iops    series
	slowest series
	rounds  *steady.State
}

// snapshot is a copy that does not change when the state does. What a slice holds is never changed, but
// for the series.
func (s *state) snapshot() state {
	c := *s
	c.iops.values, c.slowest.values = slices.Clone(s.iops.values), slices.Clone(s.slowest.values)
	return c
}

func (s *state) begin(d *result.Doc) {
	s.sizes = nil
	for _, t := range d.Targets {
		s.sizes = append(s.sizes, t.SizeBytes)
	}
	s.steps = nil
	for i := range d.Plan.Phases {
		phase := &d.Plan.Phases[i]
		if phase.Kind == plan.Idle {
			s.steps = append(s.steps, step{time: phase.Time.D()})
		}
		first := len(s.steps)
		for j := range phase.Points {
			one := s.stepOf(&phase.Points[j])
			one.rule, one.often = phase.Steady, phase.Rounds != nil
			s.steps = append(s.steps, one)
		}
		for round := s.steps[first:]; len(s.steps)-first < phase.MostPoints(); {
			s.steps = append(s.steps, round...)
		}
	}
	s.at, s.fewer = -1, slices.ContainsFunc(d.Plan.Phases, func(ph plan.Phase) bool { return ph.Rounds != nil })
	for _, p := range d.Points { // of a run that is gone on with
		label := printable.Text(p.Label)
		if i := slices.IndexFunc(s.steps[s.at+1:], func(st step) bool { return st.label == label }); i >= 0 {
			s.at += 1 + i
		}
	}
	s.warn(d.Warnings)
}

func (s *state) stepOf(p *plan.Point) step {
	one := step{point: p, label: printable.Text(p.Label), ramp: p.Ramp.D(), work: p.Work()}
	one.time, _ = p.Window()
	for i := range p.Streams {
		stream := &p.Streams[i]
		one.depth += int64(stream.Workers()) * int64(stream.IODepth)
		for n, t := range stream.Targets {
			if t >= len(s.sizes) || p.Passes() == 0 {
				continue
			}
			w := stream.On(n)
			if r, err := w.RangeOn(s.sizes[t]); err == nil {
				one.bytes += int64(stream.Passes) * (r.End() - r.Start)
			}
		}
	}
	return one
}

// warn keeps warnings that are not there yet: many points of a sweep have the same ones.
func (s *state) warn(list []verdict.Warning) {
	for _, w := range list {
		w.Message, w.Advice = printable.Text(w.Message), printable.Text(w.Advice)
		if !slices.ContainsFunc(s.warnings, func(have verdict.Warning) bool { return have.Code == w.Code }) {
			s.warnings = append(s.warnings, w)
		}
	}
}

func (s *state) pointBegin(index, of int, kind string, p *plan.Point, now time.Time) {
	*s = state{sizes: s.sizes, steps: s.steps, warnings: s.warnings, at: s.at, fewer: s.fewer, index: index, of: of, kind: kind, running: true, began: now}
	s.slowest.peaks = true
	place := -1
	for i := max(s.at+1, 0); i < len(s.steps) && of >= 0; i++ {
		if s.steps[i].point == p {
			place = i
			break
		}
	}
	if s.at = place; place >= 0 {
		s.step = s.steps[place]
	} else if p != nil {
		s.step = s.stepOf(p)
	}
	s.window = now.Add(s.ramp)
}

func (s *state) addRow(in *result.Interval, now time.Time) {
	if in.LengthS <= 0 {
		return
	}
	s.row = in
	s.window, s.timely = now.Add(-seconds(in.TS+in.LengthS)), true
	all := total(in)
	for i, d := range stats(in) {
		s.seen[i] = s.seen[i] || d.IOs+d.Errors+d.Short+d.Zero > 0
		s.errors += d.Errors
		s.short += d.Short + d.Zero
	}
	s.moved += all.bytes
	rate := float64(all.bytes) / in.LengthS
	if weight := in.LengthS / 30; s.rate == 0 || weight > 1 {
		s.rate = rate
	} else {
		s.rate += (rate - s.rate) * weight
	}
	s.iops.add(float64(all.ios) / in.LengthS)
	s.slowest.add(float64(all.max))
	if all.ios > 0 || in.InFlight == 0 {
		s.quiet = 0
	} else {
		s.quiet += in.LengthS
	}
	if in.Ramp {
		return
	}
	s.seconds += in.LengthS
	s.so.ios += all.ios
	s.so.bytes += all.bytes
	s.so.latency += all.latency
	s.so.max = max(s.so.max, all.max)
}

func (s *state) pointEnd(p *result.Point) {
	s.running = false
	s.warn(p.Warnings)
}

// stats are the directions of a row.
func stats(in *result.Interval) [directions]*result.IntervalStat {
	return [directions]*result.IntervalStat{&in.Read, &in.Write, &in.Trim}
}

// total adds up the directions of a row.
func total(in *result.Interval) (t sum) {
	for _, d := range stats(in) {
		t.ios += d.IOs
		t.bytes += d.Bytes
		t.latency += float64(d.Mean) * float64(d.IOs)
		t.max = max(t.max, d.Max)
	}
	return t
}

func (t *sum) mean() float64 {
	if t.ios == 0 {
		return 0
	}
	return t.latency / float64(t.ios)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
