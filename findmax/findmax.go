// Package findmax decides at which rates to load a device in order to find its capacity under a limit
// to response time: the highest rate of arrival at which, say, the 99th percentile stays under 1 ms.
//
// It is policy only. The command find-max asks it for the next rate, runs that as a point of its own,
// and hands in what came of it. It runs no I/O, reads no clock and draws no random number: the same
// measurements lead to the same steps.
//
// The search takes the response time to grow with the rate. It first runs a closed loop, whose
// throughput is a ceiling for every rate; starts at an eighth of it; doubles until a step fails; halves the
// interval between the last good and the first bad rate (on a logarithmic scale) until it is as
// narrow as the resolution; and confirms the rate below it with a longer step. A rate that fails is
// tried a second time, and the one that has bounded the search once more after the confirmation, since
// stalls of a shared host must not halve the result.
package findmax

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Kind is what a step is for.
type Kind string

// The kinds of steps.
const (
	Ceiling Kind = "ceiling" // closed loop: as fast as it goes
	Probe   Kind = "probe"
	Confirm Kind = "confirm"
)

// Defaults of a Config.
const (
	DefaultResolution = 0.02
	DefaultProbe      = 5 * time.Second
	DefaultConfirm    = 30 * time.Second
)

// Bounds of a search.
const (
	// MaxSteps bounds the steps of any search, repetitions and confirmations included.
	MaxSteps = 50
	// maxConfirms bounds the confirmations: with steps down of 1, 1, 2, 4 and 8 resolutions between
	// them, the last is at 3/4 of the first at the default resolution.
	maxConfirms = 8
	// maxStretch is how many times longer than asked a probe may become for the sake of samples.
	maxStretch = 10
	// maxRechecks bounds how often a rate that has bounded the search is looked at again.
	maxRechecks = 3
	// startShare of the ceiling is the first rate: low enough for most limits, three doublings below.
	startShare = 1.0 / 8
	// beyondCeiling is the rate, in ceilings, that must fail before the ceiling is believed.
	beyondCeiling = 1.05
	// hopeless is the share of a rate below which a failing step is not tried again: no passing stall
	// takes a tenth of a probe's throughput.
	hopeless = 0.9
	// minRate is the lowest rate that is tried.
	minRate = 1.0
	// maxRate is the highest: beyond it is no device.
	maxRate = 1e9
)

// Config says what to search for.
type Config struct {
	Limit Limit
	// Start is the first rate, in IOPS over all targets; with 0 a closed loop finds one.
	Start float64
	// Resolution is how near a failing rate above the result must be, as a share of it: 0.005 to 0.5.
	Resolution float64
	// Probe and Confirm are the lengths of the steps. Probes become longer, up to ten times, where a
	// rate is too low for the samples that the limit's percentile needs.
	Probe, Confirm time.Duration
}

// Check says what is wrong with the configuration, naming the options of the command.
func (c *Config) Check() error {
	switch {
	case c.Limit.IsZero():
		return errors.New("--limit: is missing; give one, such as p99=1ms")
	case math.IsNaN(c.Start) || c.Start != 0 && (c.Start < minRate || c.Start > maxRate):
		return fmt.Errorf("--start %v: must be from %v to %.0f IOPS", c.Start, minRate, maxRate)
	case !(c.Resolution >= 0.005 && c.Resolution <= 0.5):
		return fmt.Errorf("--resolution %v%%: must be from 0.5%% to 50%%", c.Resolution*100)
	case c.Probe < 100*time.Millisecond || c.Probe > 24*time.Hour:
		return fmt.Errorf("--probe %v: must be from 100ms to 24h", c.Probe)
	case c.Confirm < c.Probe || c.Confirm > 24*time.Hour:
		return fmt.Errorf("--confirm %v: must be at least as long as --probe, %v, and at most 24h", c.Confirm, c.Probe)
	}
	return nil
}

// Ask is the next step to run.
type Ask struct {
	Kind    Kind
	IOPS    float64 // over all targets; 0 for a closed loop
	Runtime time.Duration
}

// Outcome is what a search has come to.
type Outcome struct {
	Done  bool // the search is at its end
	Found bool
	// IOPS is the highest rate that was confirmed, and Step its step's index.
	IOPS float64
	Step int
	// Ceiling is the throughput of the closed loop, 0 when it was not measured (or was found too low).
	Ceiling float64
	// ReachedCeiling says that the limit is not what bounds the rate: the device (or the load
	// generator) gives no more.
	ReachedCeiling bool
	// Why says why nothing was found.
	Why string
}

// state is where a search is.
type state int

const (
	ceiling state = iota
	seek          // no good rate, or no bad one
	narrow
	confirm
	recheck // is the bad rate above what was confirmed really bad?
	done
)

// Search is the state of a search. Make it with New, then alternate Next and Add.
type Search struct {
	cfg      Config
	state    state
	steps    []Step
	rate     float64 // of the next step
	good     float64 // highest rate that passed, 0 for none
	bad      float64 // lowest rate that failed, 0 for none
	badStep  int
	repeated bool // the next step repeats the last one
	confirms int
	failed   int // rates that were not confirmed since the last narrowing
	rechecks int
	stride   float64 // of the next way down, in resolutions
	out      Outcome
}

// New begins a search.
func New(cfg Config) (*Search, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	s := &Search{cfg: cfg, stride: 1}
	if cfg.Start > 0 {
		s.state, s.rate = seek, round(max(cfg.Start, s.floor()))
	}
	return s, nil
}

// Next is the step to run, until Add has been given its outcome; false when the search is at its end.
func (s *Search) Next() (Ask, bool) {
	switch s.state {
	case done:
		return Ask{}, false
	case ceiling:
		return Ask{Kind: Ceiling, Runtime: s.cfg.Probe}, true
	case confirm:
		return Ask{Kind: Confirm, IOPS: s.rate, Runtime: max(s.cfg.Confirm, s.runtime(s.rate))}, true
	}
	return Ask{Kind: Probe, IOPS: s.rate, Runtime: s.runtime(s.rate)}, true
}

// Add takes in the outcome of the step that Next has named, judges it, and returns it with the
// verdict.
func (s *Search) Add(step Step) Step {
	ask, ok := s.Next()
	if !ok {
		return step
	}
	step.Kind, step.Asked = ask.Kind, ask.IOPS
	s.judge(&step)
	s.steps = append(s.steps, step)
	switch {
	case step.Verdict == Faulty && s.out.Found:
		s.finish()
	case step.Verdict == Faulty: // no lower rate mends a device
		s.fail(step.Why + ": what a broken device does is no capacity")
	case s.state == ceiling:
		s.addCeiling(&step)
	case s.state == confirm:
		s.addConfirm(&step)
	default:
		s.addProbe(&step)
	}
	if len(s.steps) >= MaxSteps && s.state != done && s.out.Found {
		s.finish()
	} else if len(s.steps) >= MaxSteps && s.state != done {
		s.fail(fmt.Sprintf("the search did not end within %d steps", MaxSteps))
	}
	return step
}

// Steps are the steps so far, judged, in their order.
func (s *Search) Steps() []Step { return s.steps }

// Outcome is what the search has come to so far.
func (s *Search) Outcome() Outcome { return s.out }

// floor is the lowest rate that can be judged: a lower one has too few I/Os in the longest probe.
func (s *Search) floor() float64 {
	return max(minRate, margin*s.cfg.Limit.MinIOs()/(maxStretch*s.cfg.Probe.Seconds()))
}

// margin is how many more I/Os a step plans than it needs, as Poisson arrivals vary.
const margin = 1.2

// runtime is how long a probe at a rate takes: as asked, longer where it would have too few I/Os, or
// where the limit is so long that what may wait at the end is no small part of the window.
func (s *Search) runtime(rate float64) time.Duration {
	longest := maxStretch * s.cfg.Probe.Seconds()
	need := max(margin*s.cfg.Limit.MinIOs()/rate, waitShare*s.cfg.Limit.Under.Seconds())
	need = math.Ceil(min(need, longest)*10) / 10
	return max(s.cfg.Probe, time.Duration(need*float64(time.Second)))
}

// waitShare is how many limits long a window should be.
const waitShare = 100

func (s *Search) addCeiling(step *Step) {
	s.out.Ceiling = step.Achieved
	if floor := s.floor(); step.Achieved < floor {
		s.fail(fmt.Sprintf("%s needs %.0f I/Os to be judged, and at most %s IOPS give fewer in the longest probe of %v; give a longer --probe or another --limit",
			s.cfg.Limit.Name(), s.cfg.Limit.MinIOs(), RateText(step.Achieved), maxStretch*s.cfg.Probe))
		return
	}
	s.state, s.rate = seek, round(max(step.Achieved*startShare, s.floor()))
}

func (s *Search) addProbe(step *Step) {
	if s.again(step) {
		return
	}
	if step.OK {
		s.good = max(s.good, step.Asked)
	} else if s.bad == 0 || step.Asked < s.bad {
		s.bad, s.badStep = step.Asked, len(s.steps)-1
	}
	switch {
	case s.state == recheck && !step.OK:
		s.finish()
	case s.state == recheck:
		s.reopen()
	case s.bad == 0 && s.rechecks > 0:
		s.climb()
	case s.bad == 0:
		s.up()
	case s.good == 0:
		s.down(step)
	default:
		s.narrow()
	}
}

// up goes on with a higher rate, as none has failed yet.
func (s *Search) up() {
	top := s.top()
	switch {
	case s.good*2 > maxRate:
		s.state, s.rate = confirm, s.good
	case top == 0 || s.good*2 <= top:
		s.rate = round(s.good * 2)
	case s.good < top:
		s.rate = top
	case s.good < round(s.out.Ceiling*beyondCeiling):
		s.rate = round(s.out.Ceiling * beyondCeiling) // if it passes, the closed loop had a slow moment
	default:
		s.out.Ceiling = 0
		s.rate = round(s.good * 2)
	}
}

// top is the rate that stands for the ceiling: a little below it, as nothing can be sustained at
// exactly what was measured; 0 when the ceiling is not known.
func (s *Search) top() float64 { return round(s.out.Ceiling * (1 - s.cfg.Resolution)) }

// down goes on with a lower rate, as none has passed yet.
func (s *Search) down(step *Step) {
	floor := round(s.floor())
	switch {
	case step.Min > s.cfg.Limit.Under && !step.short:
		s.fail(fmt.Sprintf("even the fastest I/O took %v, over the limit of %v", step.Min, s.cfg.Limit.Under))
	case step.Asked <= floor:
		s.fail(fmt.Sprintf("%s is over the limit of %v even at %s IOPS, the lowest rate that probes of %v can judge",
			s.cfg.Limit.Name(), s.cfg.Limit.Under, RateText(step.Asked), s.cfg.Probe))
	default:
		s.rate = max(round(step.Asked/4), floor)
	}
}

// narrow halves the interval between the highest good and the lowest bad rate, or ends that.
func (s *Search) narrow() {
	s.state = narrow
	if s.rechecks > 0 {
		s.stride = 1
	}
	middle := round(math.Sqrt(s.good * s.bad))
	// The ceiling's own rate is as near to it as it makes sense to come.
	atTop := s.out.Ceiling > 0 && s.good >= s.top()
	if s.bad <= s.good*(1+s.cfg.Resolution) || middle <= s.good || middle >= s.bad || atTop || len(s.steps) >= MaxSteps-maxConfirms-1 {
		s.state, s.rate = confirm, s.good
		return
	}
	s.rate = middle
}

// again says whether the rate of a step that has just failed is to be tried a second time.
func (s *Search) again(step *Step) bool {
	s.repeated = !step.OK && !s.repeated && step.share() >= hopeless
	return s.repeated
}

func (s *Search) addConfirm(step *Step) {
	s.confirms++
	if s.again(step) && s.confirms < maxConfirms {
		return
	}
	s.repeated = false
	if step.OK {
		s.out.Found, s.out.IOPS, s.out.Step = true, step.Asked, len(s.steps)-1
		s.good = step.Asked
	} else {
		s.bad, s.badStep = step.Asked, len(s.steps)-1
		s.failed++
	}
	good := s.out.IOPS // what was confirmed, 0 for nothing
	middle := round(math.Sqrt(good * s.bad))
	lower := round(step.Asked * (1 - s.cfg.Resolution*s.stride))
	last := s.confirms >= maxConfirms
	switch {
	case s.out.Found && s.failed == 0 && s.bad > 0 && !last && s.rechecks < maxRechecks && s.steps[s.badStep].share() >= hopeless:
		s.state, s.rate = recheck, s.bad
	case s.out.Found && (s.failed == 0 || last || s.bad <= good*(1+2*s.cfg.Resolution) || middle <= good || middle >= s.bad):
		s.finish()
	case s.out.Found && (step.OK || lower <= good):
		s.rate = middle // the way down was longer than it had to be
	case last:
		s.fail(fmt.Sprintf("no rate held for the %v of --confirm, down to %s IOPS: the response times are not steady", s.cfg.Confirm, RateText(step.Asked)))
	case lower >= step.Asked || lower < s.floor():
		s.fail(fmt.Sprintf("%s IOPS did not hold for the %v of --confirm, and lower rates cannot be judged", RateText(step.Asked), s.cfg.Confirm))
	default:
		s.stride *= 2
		s.rate = lower
	}
}

// reopen goes on upwards from a rate that had failed and now passes: it was a disturbance that had
// bounded the search.
func (s *Search) reopen() {
	s.rechecks++
	s.state, s.bad, s.failed, s.stride = seek, 0, 0, 1
	s.climb()
}

// climb goes up by a stride that doubles, since the border is more likely near than not.
func (s *Search) climb() {
	s.stride *= 2
	s.rate = round(s.good * (1 + s.cfg.Resolution*s.stride))
	if top := s.top(); top > 0 && s.good < top {
		s.rate = min(s.rate, top)
	} else if top > 0 || s.rate > maxRate {
		s.state, s.rate = confirm, s.good
	}
}

// finish ends a search that has found a rate.
func (s *Search) finish() {
	near := s.out.Ceiling > 0 && s.out.IOPS >= s.out.Ceiling*(1-2*s.cfg.Resolution)
	s.out.ReachedCeiling = near || !s.steps[s.badStep].over
	s.state, s.out.Done = done, true
}

func (s *Search) fail(why string) {
	s.state, s.out.Done, s.out.Why = done, true, why
}

// round keeps four digits of a rate: finer than any resolution, and short enough to type again.
func round(rate float64) float64 {
	if rate <= 0 {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(rate))-3)
	if unit < 1 { // 1/unit is exact, unit is not: 12.3, not 12.299999
		return math.Round(rate*math.Round(1/unit)) / math.Round(1/unit)
	}
	return math.Round(rate/unit) * unit
}

// RateText writes a rate for people: four digits of it, written out, since nobody types 1.713e+04.
func RateText(rate float64) string { return strconv.FormatFloat(round(rate), 'f', -1, 64) }
