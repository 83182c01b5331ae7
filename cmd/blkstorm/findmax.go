package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"blkstorm/execute"
	"blkstorm/findmax"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/workload"
)

// findFlags are the options of the search itself.
type findFlags struct {
	cfg        findmax.Config
	resolution float64 // percent
}

func (l *findFlags) add(f *pflag.FlagSet) {
	l.cfg.Probe, l.cfg.Confirm, l.resolution = findmax.DefaultProbe, findmax.DefaultConfirm, 100*findmax.DefaultResolution
	f.Var(textFlag{&l.cfg.Limit, "METRIC=TIME"}, "limit", "what response times must stay within, as in p99=1ms, mean=500us or max=10ms")
	f.Float64Var(&l.cfg.Start, "start", 0, "first rate, in `IOPS` over all targets (default: an eighth of what a closed loop gives)")
	f.Float64Var(&l.resolution, "resolution", l.resolution, "how near a rate that is too high must be to the result, in `PERCENT` of it")
	f.Var(timeFlag{&l.cfg.Probe}, "probe", "length of a step; longer, up to ten times, at rates that give too few I/Os to judge by")
	f.Var(timeFlag{&l.cfg.Confirm}, "confirm", "length of the step that confirms the result")
}

// ownRate are the options of run that have no place in a search, which sets rate and time itself.
var ownRate = []string{"runtime", "rate-iops", "rate-bytes", "burst", "think-time", "stream"}

// What a search has unless it is given: so many slots that the rate, not the depth, is what limits,
// and a ramp in which the queue fills as it will be.
const (
	findDepth = 32
	findRamp  = time.Second
)

func (a *app) findMaxCommand() *cobra.Command {
	var load loadFlags
	var out outputFlags
	var find findFlags
	cmd := &cobra.Command{
		Use:   "find-max --limit METRIC=TIME [flags] [TARGET...]",
		Short: "Find the highest rate whose response times stay within a limit",
		Long: `Find the capacity of the targets: the highest rate of arrival, in IOPS over all of them, at which the
chosen figure of the response times stays within --limit.

The workload is given as for run. I/Os are planned ahead at a rate (an open loop) and response time
counts from the planned moment. The search begins with a closed loop, whose throughput no rate can
exceed, doubles the rate until a step fails, halves the interval down to --resolution, and confirms
the result with a longer step. The whole curve is in the result.

Exit status 4 says that no rate stays within the limit.`,
		Example: `  blkstorm find-max --limit p99=1ms /dev/sdb
  blkstorm find-max --limit p99.9=2ms --rw randrw --read-pct 70 --bs 8k --arrival poisson --destroy /dev/sdb`,
		RunE: func(cmd *cobra.Command, targets []string) error {
			f := cmd.Flags()
			if f.Changed("resume") || f.Changed("re-precondition") {
				return errors.New("--resume: a search cannot be gone on with, since each of its steps follows from those before; start it again")
			}
			for _, name := range ownRate {
				if f.Changed(name) {
					return fmt.Errorf("--%s: has no place here, since the search sets rate and time; see --start, --probe and --confirm", name)
				}
			}
			p, err := a.planOf(f, &load, &out, targets)
			if err != nil {
				return err
			}
			if f.Changed("start") && find.cfg.Start == 0 {
				return errors.New("--start 0: must be over 0; leave it out to begin with a closed loop")
			}
			find.cfg.Resolution = find.resolution / 100
			s, err := newFinder(find.cfg, p)
			if err != nil {
				return err
			}
			return a.runPlan(cmd.Context(), p, &out, s)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	find.add(f)
	load.add(f)
	out.add(f)
	load.iodepth, load.ramp = findDepth, findRamp
	f.Lookup("iodepth").DefValue, f.Lookup("ramp").DefValue = strconv.Itoa(findDepth), findRamp.String()
	for _, name := range append([]string{"resume", "re-precondition"}, ownRate...) {
		_ = f.MarkHidden(name) // it fails for names that are not there; a test looks
	}
	return cmd
}

// finder makes points from what a search asks for, and steps from what became of them.
type finder struct {
	search  *findmax.Search
	cfg     findmax.Config
	point   plan.Point // what every step does, but for its rate and time
	arrival string
	doc     *result.Doc
	stopped string // why the search ended before its end
	log     func(format string, args ...any)
}

// newFinder begins a search. The plan's point becomes its first step.
func newFinder(cfg findmax.Config, p *plan.Plan) (*finder, error) {
	s, err := findmax.New(cfg)
	if err != nil {
		return nil, err
	}
	point := &p.Phases[0].Points[0]
	f := &finder{search: s, cfg: cfg, point: *point, arrival: point.Streams[0].Pacing.Arrival}
	if f.arrival == "" {
		f.arrival = workload.ArrivalFixed
	}
	// The first step may have no rate yet: what is wrong with the pacing is found before anything is run.
	point.Streams = slices.Clone(point.Streams)
	pace(&point.Streams[0], 1000, f.arrival)
	if err := p.Check(); err != nil {
		return nil, err
	}
	_, first := f.next()
	*point = *first
	return f, nil
}

// outlook says what a dry run of the first step leaves open.
func (f *finder) outlook() string {
	return fmt.Sprintf("this is the first step of a search: most take 15 to 25 of %v or more and one or more of %v; none has more than %d",
		f.cfg.Probe, f.cfg.Confirm, findmax.MaxSteps)
}

// attach hooks the finder into a run, before what is hooked in already.
func (f *finder) attach(o *execute.Options) {
	if f.cfg.Limit.Metric == findmax.Percentile && !slices.Contains(o.Percentiles, f.cfg.Limit.Percentile) {
		o.Percentiles = append(slices.Clone(o.Percentiles), f.cfg.Limit.Percentile)
	}
	f.log = o.Log
	begun, ended := o.Begun, o.Point
	o.Begun = func(d *result.Doc) error {
		f.doc = d
		f.report()
		if begun == nil {
			return nil
		}
		return begun(d)
	}
	o.Point = func(i int, p *result.Point) error {
		f.add(i, p)
		if ended == nil {
			return nil
		}
		return ended(i, p)
	}
}

// next is the next step as a point; nil ends the run.
func (f *finder) next() (string, *plan.Point) {
	ask, ok := f.search.Next()
	if !ok || f.stopped != "" {
		return "", nil
	}
	p := f.point
	p.Runtime = plan.Duration(ask.Runtime)
	p.Streams = slices.Clone(p.Streams)
	p.Label = "closed loop"
	if ask.Kind != findmax.Ceiling {
		p.Label = fmt.Sprintf("%s %s IOPS", ask.Kind, strconv.FormatFloat(ask.IOPS, 'f', -1, 64))
	}
	pace(&p.Streams[0], ask.IOPS, f.arrival)
	return plan.Measure, &p
}

// pace sets the rate of a stream, which is given over all its targets; 0 is a closed loop.
func pace(s *plan.Stream, iops float64, arrival string) {
	s.Pacing = workload.Pacing{}
	if iops > 0 {
		s.Pacing = workload.Pacing{IOPS: workload.Rates{Total: iops / float64(len(s.Targets))}, Arrival: arrival}
	}
}

// add hands a point to the search. One that did not come to its end says nothing about its rate.
func (f *finder) add(i int, p *result.Point) {
	switch {
	case p.Interrupted:
		f.stopped = "interrupted"
	case !p.Completed || p.StuckIOs > 0 || p.Failure != "":
		f.stopped = "a step ended before its time"
		if p.Faults > 0 {
			f.stopped = "I/O errors ended a step; --continue-on-error goes on"
		}
	default:
		step := f.search.Add(f.measured(p))
		f.doc.FindMax.Steps = append(f.doc.FindMax.Steps, result.FindMaxStep{
			Point: i, Kind: string(step.Kind), Asked: step.Asked, Achieved: step.Achieved, Value: int64(step.Value),
			OK: step.OK, Verdict: string(step.Verdict), Why: step.Why,
		})
		f.tell(&step)
	}
	f.report()
}

// tell says on standard error how a step went.
func (f *finder) tell(s *findmax.Step) {
	switch {
	case s.Kind == findmax.Ceiling:
		f.log("closed loop: %.0f IOPS", s.Achieved)
	case s.OK:
		f.log("%s %s IOPS: %s %v, good", s.Kind, findmax.RateText(s.Asked), f.cfg.Limit.Name(), s.Value)
	default:
		f.log("%s %s IOPS: %s", s.Kind, findmax.RateText(s.Asked), s.Why)
	}
}

// measured is a point as the search sees it.
func (f *finder) measured(p *result.Point) findmax.Step {
	l := result.FromPlan(p.Total)
	s := findmax.Step{
		IOs: p.Total.IOs, Achieved: p.Total.IOPS, Faults: p.Faults,
		Min: time.Duration(l.Min), Window: time.Duration(p.WindowS * float64(time.Second)),
	}
	if o := p.Total.OpenLoop; o != nil {
		s.Planned, s.Missed = o.Offered+o.Missed, o.Missed
	}
	switch f.cfg.Limit.Metric {
	case findmax.Mean:
		s.Value = time.Duration(l.Mean)
	case findmax.Max:
		s.Value = time.Duration(l.Max)
	default:
		s.Value = time.Duration(l.Percentiles[result.PercentileKey(f.cfg.Limit.Percentile)])
	}
	return s
}

// report brings the document up to what the search has come to.
func (f *finder) report() {
	if f.doc.FindMax == nil {
		f.doc.FindMax = &result.FindMax{Limit: f.cfg.Limit.String(), Arrival: f.arrival, Resolution: f.cfg.Resolution}
	}
	d, out := f.doc.FindMax, f.search.Outcome()
	d.CeilingIOPS, d.ReachedCeiling, d.Why = out.Ceiling, out.ReachedCeiling, out.Why
	if out.Found {
		d.FoundIOPS, d.FoundPoint = &out.IOPS, &out.Step // steps are the document's points, one for one
	}
	if d.FoundIOPS == nil && f.stopped != "" {
		d.Why = f.stopped
	} else if d.FoundIOPS == nil && !out.Done {
		d.Why = "the search has not ended"
	}
}
