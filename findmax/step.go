package findmax

import (
	"fmt"
	"time"
)

// Step is one rate as it was measured. The caller fills in what was measured; Add does the rest.
type Step struct {
	Kind  Kind
	Asked float64 // IOPS over all targets, 0 for a closed loop
	// Planned is how many I/Os had their time in the window; 0 when that is not known.
	Planned  uint64
	IOs      uint64  // completed in the window
	Achieved float64 // IOPS
	// Value is the limit's metric of the response times, Min the least of them.
	Value, Min time.Duration
	Missed     uint64 // planned in the window and not submitted when it ended
	Faults     uint64 // failed or short I/Os
	Window     time.Duration

	OK      bool
	Verdict Verdict
	Why     string // why not, for people

	over  bool // over the limit
	short bool // of the rate
}

// Verdict is a step's outcome as a code.
type Verdict string

// The verdicts.
const (
	Good           Verdict = "good"
	OverLimit      Verdict = "over_limit"
	RateNotReached Verdict = "rate_not_reached"
	TooFew         Verdict = "too_few" // I/Os to judge by
	Faulty         Verdict = "faults"
	ClosedLoop     Verdict = "closed_loop" // no rate to keep to
)

// What a step must keep to, beside the limit. A device that is overloaded by a share e falls behind by
// that share of its window, so the window shows it by what it did not do, long before the response
// times of a long limit would.
const (
	// minAchieved is the share of the planned I/Os that must complete in the window. What is planned is
	// counted, so the chance in Poisson arrivals is no part of it.
	minAchieved = 0.99
	// minMissed and maxMissed bound the share of the planned I/Os that may wait at the window's end. A
	// queue that obeys the limit has up to (limit / window) of them waiting at any moment, its end
	// included; that is allowed between the two.
	minMissed, maxMissed = 0.001, 0.01
	// slack is the number of I/Os that may be missed, or in flight at the end, at any rate.
	slack = 2
)

// judge says whether a step passes, and if not, why.
func (s *Search) judge(step *Step) {
	step.OK, step.Verdict, step.Why = false, ClosedLoop, ""
	if step.Kind == Ceiling && step.Faults == 0 {
		return
	}
	limit := s.cfg.Limit
	planned := step.planned()
	allowed := min(max(limit.Under.Seconds()/max(step.Window.Seconds(), 1e-9), minMissed), maxMissed)
	missed := float64(step.Missed) > allowed*planned+slack
	// What is in flight at the end is on its way, and as much was on its way at the start.
	step.short = missed || float64(step.IOs) < minAchieved*planned-slack
	step.over = step.Value > limit.Under
	mean := time.Duration(0)
	if n := len(s.steps); s.repeated && s.steps[n-1].near(limit) {
		mean = (s.steps[n-1].Value + step.Value) / 2
	}
	fail := func(v Verdict, format string, args ...any) {
		step.Verdict, step.Why = v, fmt.Sprintf(format, args...)
	}
	switch {
	case step.Faults > 0:
		fail(Faulty, "%d I/Os failed or fell short", step.Faults)
	case step.over:
		fail(OverLimit, "%s %v is over the limit", limit.Name(), shown(step.Value))
	case mean > limit.Under:
		step.over = true
		fail(OverLimit, "%s %v, the mean of two tries, is over the limit", limit.Name(), shown(mean))
	case missed:
		fail(RateNotReached, "%.2f %% of the I/Os were not submitted in the window", 100*float64(step.Missed)/planned)
	case step.short:
		fail(RateNotReached, "only %.1f %% of the rate was reached", 100*step.share())
	case float64(step.IOs) < limit.MinIOs():
		fail(TooFew, "%d I/Os are too few to judge %s by", step.IOs, limit.Name())
	default:
		step.OK, step.Verdict = true, Good
	}
}

// near says whether a step failed by nothing but a little: then it counts, beside its repetition. What
// failed by far was a stall, or will fail again.
func (step *Step) near(limit Limit) bool {
	return !step.OK && step.over && !step.short && step.Faults == 0 && float64(step.Value) <= nearLimit*float64(limit.Under)
}

// nearLimit is how far over the limit chance can take the percentiles of a queue that obeys it.
const nearLimit = 1.25

func shown(d time.Duration) time.Duration { return d.Round(100 * time.Nanosecond) }

// planned is how many I/Os were to be done in the window.
func (step *Step) planned() float64 {
	if step.Planned > 0 {
		return float64(step.Planned)
	}
	return max(step.Asked*step.Window.Seconds(), 1)
}

// share is how much of what was planned was done.
func (step *Step) share() float64 { return float64(step.IOs) / step.planned() }
