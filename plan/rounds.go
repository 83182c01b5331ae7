package plan

import (
	"encoding/json"
	"errors"
	"fmt"

	"blkstorm/steady"
)

// Rounds is how often a phase goes through its points, one round being each of them once, in order
// (SNIA SSS PTS 2.0.2, 2.1.24: a round of the IOPS test is a walk through its matrix). In JSON the numbers
// of the rule stand beside track.
type Rounds struct {
	// Track are the points whose value of a round is judged, by index into the phase's points, each with
	// its metric. The rounds end when all of them are steady over the same window.
	Track []Track `json:"track"`
	// Rule is the rule for each, SNIA's, whose Metric and Round are not used: a round takes as long as its
	// points.
	Rule steady.Rule `json:"-"`
}

// Track is one tracked variable.
type Track struct {
	Point  int           `json:"point"`
	Metric steady.Metric `json:"metric"`
}

// roundsForm is Rounds in files.
type roundsForm struct {
	Track     []Track `json:"track"`
	Window    int     `json:"window"`
	RangePct  float64 `json:"range_pct"`
	FittedPct float64 `json:"fitted_pct"`
	MaxRounds int     `json:"max_rounds"`
}

// MarshalJSON writes an object with the keys track, window, range_pct, fitted_pct and max_rounds.
func (r Rounds) MarshalJSON() ([]byte, error) {
	f := roundsForm{r.Track, r.Rule.Window, r.Rule.RangePct, r.Rule.FittedPct, r.Rule.MaxRounds}
	if f.Track == nil {
		f.Track = []Track{}
	}
	return json.Marshal(f)
}

// UnmarshalJSON reads what MarshalJSON writes; keys left out have the defaults of the rule.
func (r *Rounds) UnmarshalJSON(b []byte) error {
	d := steady.Default()
	f := roundsForm{nil, d.Window, d.RangePct, d.FittedPct, d.MaxRounds}
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	d.Window, d.RangePct, d.FittedPct, d.MaxRounds = f.Window, f.RangePct, f.FittedPct, f.MaxRounds
	*r = Rounds{Track: f.Track, Rule: d}
	return nil
}

// MaxRoundPoints is the most points that the rounds of a phase may come to. At a second each they take over
// a day.
const MaxRoundPoints = 100_000

// checkRounds checks the rounds of a phase whose points are right in themselves.
func (ph *Phase) checkRounds() error {
	rule := ph.Rounds.Rule
	rule.Metric, rule.Round = steady.IOPS, steady.MinRound
	if rule.Kind != steady.SNIA {
		return fmt.Errorf("rounds: the rule is %v, which has others; it is not %v", steady.SNIA, rule.Kind)
	}
	if err := rule.Validate(); err != nil {
		return err
	}
	if len(ph.Points) == 0 {
		return errors.New("rounds: the phase has no points to repeat")
	}
	if rule.MaxRounds > MaxRoundPoints/len(ph.Points) {
		return fmt.Errorf("--steady-max-rounds %d: of %d points each are over %d points together", rule.MaxRounds, len(ph.Points), MaxRoundPoints)
	}
	if t := mulTime(rule.MaxRounds, ph.RoundTime()); t > MaxTime {
		return fmt.Errorf("--steady-max-rounds %d: of %v each are over %v together", rule.MaxRounds, ph.RoundTime(), MaxTime)
	}
	labels := map[string]int{}
	for i := range ph.Points {
		label := ph.Points[i].Label
		if first, twice := labels[label]; twice {
			return fmt.Errorf("rounds: points %d and %d have the same label, %q; give each its own", first, i, label)
		}
		labels[label] = i
	}
	return ph.checkTrack()
}

func (ph *Phase) checkTrack() error {
	if len(ph.Rounds.Track) == 0 {
		return errors.New("rounds: track is empty: name the points that must be steady")
	}
	seen := map[Track]bool{}
	for _, t := range ph.Rounds.Track {
		if t.Point < 0 || t.Point >= len(ph.Points) {
			return fmt.Errorf("rounds: track names point %d; the phase has %d, with numbers from 0", t.Point, len(ph.Points))
		}
		rule := ph.Rounds.Rule
		rule.Metric, rule.Round = t.Metric, steady.MinRound
		if err := rule.Validate(); err != nil {
			return err
		}
		if seen[t] {
			return fmt.Errorf("rounds: track names the %v of %q twice", t.Metric, ph.Points[t.Point].Label)
		}
		seen[t] = true
	}
	return nil
}

// MostPoints is how many points of the phase run at most: those of all rounds, where it has rounds.
func (ph *Phase) MostPoints() int {
	if ph.Rounds != nil {
		return ph.Rounds.Rule.MaxRounds * len(ph.Points)
	}
	return len(ph.Points)
}
