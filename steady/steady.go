// Package steady decides whether a device is in steady state: the rule of the SNIA performance test
// specification over rounds of a metric, and fio's looser ones, for those who bring fio's job files.
//
// Whoever measures rounds feeds a Tracker; plans carry a Rule; documents carry a Report. It measures
// nothing, reads no clock, and does not know what made the figures.
package steady

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Limits of a rule. They stop slips of the finger, not honest tests.
const (
	MinWindow = 2 // a line needs two points
	MaxWindow = 100_000
	MaxRounds = 10_000_000
	MaxPct    = 1000
	MinRound  = 10 * time.Millisecond
	MaxRound  = 366 * 24 * time.Hour
)

// Rule says when a metric is steady. The zero value is not valid; begin with Default or ParseFio.
type Rule struct {
	Metric Metric
	Kind   Kind
	// Window is how many consecutive rounds are judged together, MinWindow to MaxWindow.
	Window int
	// RangePct and FittedPct are SNIA's limits in percent of the window's mean, over 0: of Max - Min, and of
	// what the least-squares line changes by across the window. Both are 0 with fio's kinds.
	RangePct, FittedPct float64
	// Limit is the limit of fio's kinds; zero with SNIA's.
	Limit Limit
	// MaxRounds ends the search: steady state counts as never reached when this many rounds are
	// over. At least Window; 0, for fio's kinds only, leaves the end to whoever runs the rounds.
	MaxRounds int
	// Round is the length of a round.
	Round time.Duration
}

// Default is SNIA's rule with its numbers (SSS PTS 2.0.2, definitions 2.1.13 and 2.1.24): five rounds of a
// minute, range within 20 % and fitted range within 10 % of the mean, at most 25 rounds.
func Default() Rule {
	return Rule{Metric: IOPS, Kind: SNIA, Window: 5, RangePct: 20, FittedPct: 10, MaxRounds: 25, Round: time.Minute}
}

// Validate says what is wrong with the rule, by the option that sets it.
func (r *Rule) Validate() error {
	switch {
	case r.Metric >= metrics:
		return fmt.Errorf("--steady-metric: unknown metric %d", r.Metric)
	case r.Window < MinWindow || r.Window > MaxWindow:
		return fmt.Errorf("--steady-window %d: must be from %d to %d rounds", r.Window, MinWindow, MaxWindow)
	case r.Round < MinRound || r.Round > MaxRound:
		return fmt.Errorf("--steady-round %v: must be from %v to %v", r.Round, MinRound, MaxRound)
	case r.MaxRounds < 0 || r.MaxRounds > MaxRounds:
		return fmt.Errorf("--steady-max-rounds %d: must be from the window, %d, to %d", r.MaxRounds, r.Window, MaxRounds)
	}
	switch r.Kind {
	case SNIA:
		return r.validateSNIA()
	case FioDeviation, FioSlope:
		return r.validateFio()
	}
	return fmt.Errorf("--steady-rule: unknown rule %d", r.Kind)
}

func (r *Rule) validateSNIA() error {
	for _, l := range []struct {
		option string
		pct    float64
	}{{"--steady-range", r.RangePct}, {"--steady-fitted", r.FittedPct}} {
		if !(l.pct > 0 && l.pct <= MaxPct) { // also NaN
			return fmt.Errorf("%s %v: must be over 0 and at most %d percent of the mean", l.option, l.pct, MaxPct)
		}
	}
	switch {
	case r.MaxRounds < r.Window:
		return fmt.Errorf("--steady-max-rounds %d: must be at least the window, %d rounds", r.MaxRounds, r.Window)
	case r.Limit != Limit{}:
		return fmt.Errorf("limit %v: belongs to the rules %v and %v; %v has a range and a fitted range", r.Limit, FioDeviation, FioSlope, SNIA)
	}
	return nil
}

func (r *Rule) validateFio() error {
	switch {
	case r.Metric == P99:
		return fmt.Errorf("--steady-metric %v: fio's rules know iops, bandwidth and mean", r.Metric)
	case r.RangePct != 0 || r.FittedPct != 0:
		return fmt.Errorf("--steady-range and --steady-fitted: belong to the rule %v; %v has one limit", SNIA, r.Kind)
	case !(r.Limit.Value >= 0) || math.IsInf(r.Limit.Value, 0):
		return fmt.Errorf("steadystate limit %v: must be at least 0", r.Limit)
	}
	return nil
}

// slackPct is how far, in percent of the mean, a figure may lie above SNIA's limit and still count as
// equal to it: 0.9, 1.1 and 1 have a range of just 20 % of their mean, but as binary fractions a range of
// 20.000000000000007 %. It is far below what any clock can tell.
const slackPct = 1e-9

// Judge judges the last window of rounds. A round that is NaN, negative or over 1e300 stands for one
// without a figure, as a latency when no I/O completed: no window that has it is steady.
func (r *Rule) Judge(rounds []float64) State {
	t := Tracker{rule: *r}
	s := t.judge()
	for i := range rounds { // the first steady window may be long past
		t.rounds = rounds[:i+1]
		s = t.judge()
	}
	return s
}

// errNoFigure and errNoMean are why a full window can be neither steady nor unsteady.
var (
	errNoFigure = errors.New("a round of the window has no figure")
	errNoMean   = errors.New("the mean of the window is 0")
)

// maxValue is far above every measurement, and far enough below the largest float64 for all figures of
// a window to be finite.
const maxValue = 1e300

// measure computes the figures of a full window.
func measure(window []float64) (f Figures, err error) {
	top := 0.0
	for _, v := range window {
		if !(v >= 0 && v <= maxValue) { // also NaN
			return f, errNoFigure
		}
		top = max(top, v)
	}
	if top == 0 {
		return f, errNoMean
	}
	// Sums of numbers below 1 do not overflow, and a power of two makes them so without rounding.
	_, exponent := math.Frexp(top)
	unit, n := math.Ldexp(1, exponent), float64(len(window))
	f.Min, f.Max = math.Inf(1), top
	sum := 0.0
	for _, v := range window {
		f.Min = min(f.Min, v)
		sum += v / unit
	}
	mean := sum / n
	var xx, xy, yy, deviation float64
	for i, v := range window {
		x, y := float64(i)-(n-1)/2, v/unit-mean
		xx, xy, yy = xx+x*x, xy+x*y, yy+y*y
		deviation = max(deviation, math.Abs(y))
	}
	slope := xy / xx
	spread, fitted := (f.Max-f.Min)/unit, math.Abs(slope)*(n-1)
	f.Mean, f.Range, f.Slope, f.FittedRange = mean*unit, spread*unit, slope*unit, fitted*unit
	f.Intercept = (mean - slope*(n-1)/2) * unit
	f.Deviation = deviation * unit
	f.RangePct, f.FittedPct = 100*spread/mean, 100*fitted/mean
	f.SlopePct, f.DeviationPct = 100*slope/mean, 100*deviation/mean
	if yy > 0 {
		f.Correlation = max(-1, min(1, xy/math.Sqrt(xx*yy)))
	}
	return f, nil
}

// broken says which limit the window does not keep; empty when it is steady.
func (r *Rule) broken(f *Figures) string {
	switch r.Kind {
	case FioDeviation:
		return r.Limit.broken("largest deviation", f.Deviation, f.DeviationPct)
	case FioSlope:
		return r.Limit.broken("slope per round", math.Abs(f.Slope), math.Abs(f.SlopePct))
	}
	reason := ""
	if f.RangePct > r.RangePct+slackPct {
		reason = fmt.Sprintf("range %.3g %% of the mean, limit %g %%", f.RangePct, r.RangePct)
	}
	if f.FittedPct > r.FittedPct+slackPct {
		if reason != "" {
			reason += "; "
		}
		reason += fmt.Sprintf("fitted range %.3g %% of the mean, limit %g %%", f.FittedPct, r.FittedPct)
	}
	return reason
}

// band is between which values later rounds stay without having drifted: 90 % and 110 % of the mean at
// SNIA's 20 %. No band follows from a limit on the slope.
func (r *Rule) band(f *Figures) (low, high float64) {
	switch half := f.Mean * r.RangePct / 200; {
	case r.Kind == SNIA:
		return max(0, f.Mean-half), f.Mean + half
	case r.Kind == FioDeviation && r.Limit.Percent:
		half = f.Mean * r.Limit.Value / 100
		return max(0, f.Mean-half), f.Mean + half
	case r.Kind == FioDeviation:
		return max(0, f.Mean-r.Limit.Value), f.Mean + r.Limit.Value
	}
	return 0, 0
}
