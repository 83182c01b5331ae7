package steady

import (
	"fmt"
	"slices"
)

// Figures are those of one window of rounds, in the metric's unit (I/Os per second, bytes per second,
// nanoseconds) and in percent of the window's mean. All are finite.
type Figures struct {
	Mean     float64 `json:"mean"`
	Min      float64 `json:"min"`
	Max      float64 `json:"max"`
	Range    float64 `json:"range"` // Max - Min
	RangePct float64 `json:"range_pct"`
	// Slope is the least-squares line's, per round; Intercept is the line at the window's first round.
	Slope     float64 `json:"slope"`
	SlopePct  float64 `json:"slope_pct"`
	Intercept float64 `json:"intercept"`
	// FittedRange is what the line changes by across the window: |Slope| x (window - 1).
	FittedRange float64 `json:"fitted_range"`
	FittedPct   float64 `json:"fitted_pct"`
	// Correlation is Pearson's, of rounds with time: -1 to 1; 0 when all are equal.
	Correlation  float64 `json:"correlation"`
	Deviation    float64 `json:"deviation"` // the farthest that a round is from the mean
	DeviationPct float64 `json:"deviation_pct"`
}

// State is what the rounds so far say. Its figures are those of the last window, and 0 while there
// is no full window, or one that cannot be judged.
type State struct {
	Rounds int `json:"rounds"` // how many there were
	First  int `json:"first"`  // the window's first round, from 1; 0 without a full window
	Figures
	// Low and High are the band around the mean that later rounds should keep; both 0 with fio's
	// slopes, from which none follows.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Steady says that this window keeps the rule.
	Steady bool `json:"steady"`
	// Reached is the round, from 1, that completed the first steady window; 0: none so far.
	Reached int `json:"reached"`
	// NeverReached says that the rule's MaxRounds are over without a steady window. It stays: what comes
	// after them is never called steady.
	NeverReached bool `json:"never_reached"`
	// Reason says why the window is not steady; empty when it is.
	Reason string `json:"reason,omitempty"`
}

// Tracker judges rounds as they come. It is not safe for use from several goroutines.
type Tracker struct {
	rule    Rule
	rounds  []float64
	reached State // the first steady window; Reached 0 while there is none
	drifted []int
}

// NewTracker begins with no round. The rule must be valid.
func NewTracker(r Rule) *Tracker { return &Tracker{rule: r} }

// Add takes in the next round's value; see Rule.Judge for one without a figure. Once steady state was
// reached it also notes whether the round drifted.
func (t *Tracker) Add(value float64) State {
	if t.Drift(value) {
		t.drifted = append(t.drifted, len(t.rounds)+1)
	}
	t.rounds = append(t.rounds, value)
	return t.judge()
}

// judge judges the last window, and keeps it when it is the first steady one.
func (t *Tracker) judge() State {
	r := &t.rule
	s := State{Rounds: len(t.rounds), Reached: t.reached.Reached}
	t.window(&s)
	over := r.MaxRounds > 0 && s.Reached == 0
	if s.Steady && over && s.Rounds > r.MaxRounds {
		s.Steady, s.Reason = false, fmt.Sprintf("not reached in %d rounds", r.MaxRounds)
	}
	if s.Steady && s.Reached == 0 {
		s.Reached = s.Rounds
		t.reached = s
	}
	s.NeverReached = over && !s.Steady && s.Rounds >= r.MaxRounds
	return s
}

// window fills in what the last window alone says.
func (t *Tracker) window(s *State) {
	r := &t.rule
	if s.Rounds < r.Window {
		s.Reason = fmt.Sprintf("%d of %d rounds", s.Rounds, r.Window)
		return
	}
	s.First = s.Rounds - r.Window + 1
	figures, err := measure(t.rounds[s.First-1:])
	if err != nil {
		s.Reason = err.Error()
		return
	}
	s.Figures = figures
	s.Low, s.High = r.band(&figures)
	s.Reason = r.broken(&figures)
	s.Steady = s.Reason == ""
}

// Reached is the first steady window, and whether there was one.
func (t *Tracker) Reached() (State, bool) { return t.reached, t.reached.Reached > 0 }

// Drift says whether a round with this value, after steady state was reached, left it. The specification has no
// rule for this. It follows from the limit on the range: a round drifts when it is farther from the mean
// of the first steady window than half that limit (the 90 % and 110 % lines around the mean), and beyond all
// rounds of that window, of which one may lie outside these lines. A round without a figure drifts.
// Before steady state, and with fio's slopes, nothing does.
func (t *Tracker) Drift(value float64) bool {
	s := &t.reached
	if s.Reached == 0 || t.rule.Kind == FioSlope {
		return false
	}
	slack := s.Mean * slackPct / 100
	low, high := min(s.Low, s.Min)-slack, max(s.High, s.Max)+slack
	return !(value >= 0 && value >= low && value <= high) // also NaN
}

// Report is what a document says about steady state.
type Report struct {
	Rule Rule `json:"rule"`
	// State is of the window in which steady state was reached; of the last one, if it was not.
	State State `json:"state"`
	// Values are all rounds; null for one without a figure.
	Values []*float64 `json:"values"`
	// Drifted lists the rounds, from 1, that left the band after steady state was reached.
	Drifted []int `json:"drifted"`
}

// Report sums up all rounds so far.
func (t *Tracker) Report() Report {
	state, ok := t.Reached()
	if !ok {
		state = t.judge()
	}
	return Report{Rule: t.rule, State: state, Values: shown(t.rounds), Drifted: append([]int{}, slices.Clone(t.drifted)...)}
}

// shown are rounds as a report has them.
func shown(rounds []float64) []*float64 {
	values := make([]*float64, len(rounds))
	for i, v := range rounds {
		if v >= 0 && v <= maxValue {
			values[i] = &v
		}
	}
	return values
}
