package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"blkstorm/plan"
	"blkstorm/steady"
	"blkstorm/threshold"
	"blkstorm/unit"
)

// phaseFlags are the options that say what comes before the measured points, and what these must keep.
type phaseFlags struct {
	purge        bool
	fill         int
	precondition string
	with         string
	metric, rule string
	steady       steady.Rule
	quick        bool
	idle         time.Duration
	asserts      []threshold.Assert
}

// untilSteady is the value of --precondition that is no time.
const untilSteady = "steady"

func (ph *phaseFlags) add(f *pflag.FlagSet) {
	ph.steady = steady.Default()
	f.BoolVar(&ph.purge, "purge", false, "discard the targets first")
	f.IntVar(&ph.fill, "fill", 0, "then write them `N` times from start to end, in 128k")
	f.StringVar(&ph.precondition, "precondition", "", "then run the load until it is `steady|TIME`")
	f.StringVar(&ph.with, "precondition-with", "", "what to precondition with: `OPTIONS` as for --stream; those beside it are defaults (default: the load itself; in a sweep, with the most threads and the largest iodepth)")
	f.StringVar(&ph.rule, "steady-rule", steady.SNIA.String(), "what steady is, `RULE` is snia, or fio's, as in iops_slope:0.3%")
	f.StringVar(&ph.metric, "steady-metric", ph.steady.Metric.String(), "what is tracked, `NAME` is iops|bandwidth|mean|p99")
	f.Var(timeFlag{&ph.steady.Round}, "steady-round", "length of a round, a multiple of --interval")
	f.IntVar(&ph.steady.Window, "steady-window", ph.steady.Window, "`N` rounds are judged together")
	f.Float64Var(&ph.steady.RangePct, "steady-range", ph.steady.RangePct, "largest difference of two rounds, in `PERCENT` of their mean")
	f.Float64Var(&ph.steady.FittedPct, "steady-fitted", ph.steady.FittedPct, "largest change of the line through the rounds, in `PERCENT` of their mean")
	f.IntVar(&ph.steady.MaxRounds, "steady-max-rounds", ph.steady.MaxRounds, "give up after `N` rounds")
	f.BoolVar(&ph.quick, "quick", false, "steady state that is not reached is a warning only")
	f.Var(timeFlag{&ph.idle}, "idle", "wait before the first measured point")
	f.Var(assertsFlag{&ph.asserts}, "assert", "a limit that each measured point must keep, as in 'p99<2ms', 'write.iops>=50000'; repeatable")
}

// assertsFlag collects limits.
type assertsFlag struct{ list *[]threshold.Assert }

func (f assertsFlag) String() string {
	if f.list == nil {
		return ""
	}
	var texts []string
	for _, a := range *f.list {
		texts = append(texts, a.String())
	}
	return strings.Join(texts, " ")
}
func (f assertsFlag) Type() string { return "LIMIT" }
func (f assertsFlag) Set(s string) error {
	a, err := threshold.Parse(s)
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), fmt.Sprintf("--assert %q: ", s)))
	}
	*f.list = append(*f.list, a)
	return nil
}

// apply puts the phases before those that the plan has. The load of preconditioning is that of streams,
// unless there is one of its own.
func (ph *phaseFlags) apply(f *pflag.FlagSet, l *loadFlags, p *plan.Plan, streams []plan.Stream) error {
	if err := ph.check(f); err != nil {
		return err
	}
	p.Asserts, p.Quick = ph.asserts, ph.quick
	var all []int
	for i := range p.Targets {
		all = append(all, i)
	}
	var phases []plan.Phase
	whole := func(one plan.Phase) {
		w := &one.Points[0].Streams[0].Workload
		w.Offset, w.Size = l.workload.Offset, l.workload.Size
		phases = append(phases, one)
	}
	if ph.purge {
		whole(plan.PurgePhase(all))
	}
	if ph.fill > 0 {
		whole(plan.FillPhase(all, ph.fill, l.workload.Data))
	}
	if ph.precondition != "" {
		one, err := ph.preconditioning(f, l, p, streams)
		if err != nil {
			return err
		}
		phases = append(phases, *one)
	}
	if ph.idle > 0 {
		phases = append(phases, plan.Phase{Kind: plan.Idle, Time: plan.Duration(ph.idle)})
	}
	p.Phases = append(phases, p.Phases...)
	return nil
}

// check says which options have no use for want of others.
func (ph *phaseFlags) check(f *pflag.FlagSet) error {
	if f.Changed("fill") && (ph.fill < 1 || ph.fill > plan.MaxPasses) {
		return fmt.Errorf("--fill %d: must be from 1 to %d", ph.fill, plan.MaxPasses)
	}
	if f.Changed("idle") && ph.idle <= 0 {
		return fmt.Errorf("--idle %v: must be over 0", ph.idle)
	}
	if f.Changed("precondition-with") && strings.TrimSpace(ph.with) == "" {
		return emptyFlag(f.Lookup("precondition-with"))
	}
	var unused error
	f.VisitAll(func(o *pflag.Flag) {
		ofRule := strings.HasPrefix(o.Name, "steady-") || o.Name == "quick"
		switch {
		case unused != nil || !o.Changed:
		case ofRule && ph.precondition != untilSteady:
			unused = fmt.Errorf("--%s: goes with --precondition %s", o.Name, untilSteady)
		case o.Name == "precondition-with" && ph.precondition == "":
			unused = fmt.Errorf("--%s: goes with --precondition %s or a time", o.Name, untilSteady)
		}
	})
	return unused
}

// preconditioning makes the phase.
func (ph *phaseFlags) preconditioning(f *pflag.FlagSet, l *loadFlags, p *plan.Plan, streams []plan.Stream) (*plan.Phase, error) {
	if ph.with != "" {
		own, err := l.oneOfSeveral(f, ph.with, p.Targets)
		if err != nil {
			return nil, fmt.Errorf("--precondition-with %q: %w", ph.with, err)
		}
		streams = []plan.Stream{*own}
	}
	point := plan.Point{Label: plan.AutoLabel(streams), Interval: plan.Duration(l.interval), Streams: slices.Clone(streams)}
	phase := &plan.Phase{Kind: plan.Precondition}
	if ph.precondition == untilSteady {
		rule, err := ph.ruleOf(f)
		if err != nil {
			return nil, err
		}
		phase.Steady = rule
		point.Runtime = plan.Duration(plan.SteadyTime(rule))
	} else {
		d, err := unit.Duration(ph.precondition)
		if err == nil && d <= 0 {
			err = errors.New("must be over 0")
		}
		if err != nil {
			return nil, fmt.Errorf("--precondition %s: must be %s or a time such as 30m: %w", ph.precondition, untilSteady, err)
		}
		point.Runtime = plan.Duration(d)
	}
	phase.Points = []plan.Point{point}
	return phase, nil
}

// ruleOf makes the rule from its options, and finds out before anything is multiplied whether it is valid.
func (ph *phaseFlags) ruleOf(f *pflag.FlagSet) (*steady.Rule, error) {
	rule := ph.steady
	if ph.rule == steady.SNIA.String() {
		if err := rule.Metric.UnmarshalText([]byte(ph.metric)); err != nil {
			return nil, err
		}
		return validRule(&rule)
	}
	for _, name := range []string{"steady-metric", "steady-range", "steady-fitted"} {
		if f.Changed(name) {
			return nil, fmt.Errorf("--%s: belongs to the rule %v; --steady-rule %s says it all", name, steady.SNIA, ph.rule)
		}
	}
	if ph.steady.Window < steady.MinWindow || time.Duration(ph.steady.Window) > math.MaxInt64/max(ph.steady.Round, 1) {
		return validRule(&rule)
	}
	fio, err := steady.ParseFio(ph.rule, time.Duration(ph.steady.Window)*ph.steady.Round, ph.steady.Round)
	if err != nil {
		return nil, fmt.Errorf("--steady-rule %s: neither %v nor one of fio's: %w", ph.rule, steady.SNIA, err)
	}
	fio.MaxRounds = ph.steady.MaxRounds
	if fio.MaxRounds < fio.Window {
		return nil, fmt.Errorf("--steady-max-rounds %d: must be at least the window, %d rounds", fio.MaxRounds, fio.Window)
	}
	return validRule(&fio)
}

func validRule(r *steady.Rule) (*steady.Rule, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	return r, nil
}
