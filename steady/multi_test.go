package steady

import (
	"reflect"
	"strings"
	"testing"
)

// The vectors of the definition (see TestVectors), side by side.
var (
	level  = []float64{100, 100, 100, 100, 100}
	rises  = []float64{91, 95, 100, 105, 109}
	saw    = []float64{109, 91, 100, 109, 91}
	edge   = []float64{90, 110, 100, 100, 100}
	linear = []float64{95, 97.5, 100, 102.5, 105}
	wide   = []float64{100, 89, 100, 111, 100}
	decay  = []float64{400, 300, 220, 160, 130, 110, 100, 100, 100, 100, 100, 100}
)

func TestMulti(t *testing.T) {
	late := append([]float64{100, 100, 100, 100, 100, 130, 100}, level...)
	for _, c := range []struct {
		name      string
		variables [][]float64
		reached   int
		steady    []bool // each variable, in the last window, or the one that was reached
	}{
		{"one", [][]float64{level}, 5, []bool{true}},
		{"all keep it", [][]float64{level, saw, edge, linear}, 5, []bool{true, true, true, true}},
		{"one breaks the fitted range", [][]float64{level, rises, saw}, 0, []bool{true, false, true}},
		{"one breaks the range", [][]float64{wide, saw}, 0, []bool{false, true}},
		{"four rounds", [][]float64{level[:4], saw[:4]}, 0, []bool{false, false}},
		{"a mean of 0", [][]float64{level, {0, 0, 0, 0, 0}}, 0, []bool{true, false}},
		{"no figure", [][]float64{level, {100, 100, nan, 100, 100}}, 0, []bool{true, false}},
		// Alone the one would be steady in round 10, the other in round 5 and from 11 on: 130 x 1 + 100 x 4 has a
		// range of 28 %. Together it is the first round in which both are.
		{"over the same window", [][]float64{decay, late}, 11, []bool{true, true}},
		{"nothing to judge", nil, 0, nil},
	} {
		metrics := make([]Metric, len(c.variables))
		for i := range metrics {
			metrics[i] = []Metric{IOPS, Bandwidth, Mean, P99}[i]
		}
		m := NewMulti(Default(), metrics...)
		reached := 0
		for r := 0; len(c.variables) > 0 && r < len(c.variables[0]); r++ {
			values := make([]float64, len(c.variables))
			for i := range values {
				values[i] = c.variables[i][r]
			}
			if m.Add(values...) && reached == 0 {
				reached = r + 1
			}
		}
		if reached != c.reached {
			t.Errorf("%s: reached in round %d, want %d", c.name, reached, c.reached)
		}
		reports := m.Reports()
		if len(reports) != len(c.variables) {
			t.Fatalf("%s: %d reports", c.name, len(reports))
		}
		for i, r := range reports {
			s := r.State
			if s.Steady != c.steady[i] || s.Steady != (s.Reason == "") || s.Reached != c.reached || s.NeverReached || r.Rule.Metric != metrics[i] || r.Drifted == nil {
				t.Errorf("%s: variable %d: %+v", c.name, i, r)
			}
			if len(r.Values) != len(c.variables[i]) {
				t.Errorf("%s: variable %d has %d values", c.name, i, len(r.Values))
			}
			if want := c.reached; want > 0 && (s.Rounds != want || s.First != want-4) {
				t.Errorf("%s: variable %d: rounds %d to %d", c.name, i, s.First, s.Rounds)
			}
			// One window says the same of a variable, alone or beside others.
			rule := Default()
			alone := rule.Judge(c.variables[i][max(0, s.First-1):s.Rounds])
			if s.Figures != alone.Figures || s.Low != alone.Low || s.High != alone.High {
				t.Errorf("%s: variable %d: %+v, alone %+v", c.name, i, s, alone)
			}
		}
	}
}

// With one variable it is the Tracker.
func TestMultiOfOne(t *testing.T) {
	rule := Default()
	rule.MaxRounds = 9
	for _, rounds := range [][]float64{level, rises, decay, decay[:9], append(append([]float64{}, decay[:5]...), level...), {nan, nan}} {
		m, one := NewMulti(rule, IOPS), NewTracker(rule)
		for i, v := range rounds {
			s := one.Add(v)
			if reached := m.Add(v); reached != (s.Reached > 0) {
				t.Errorf("%v: round %d: %v, %+v", rounds, i+1, reached, s)
			}
			got, want := m.Reports()[0], one.Report()
			want.Drifted = []int{}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%v: round %d:\n%+v\n%+v", rounds, i+1, got, want)
			}
		}
	}
}

// What is steady only after the last round that is allowed never is.
func TestMultiNeverReached(t *testing.T) {
	rule := Default()
	rule.MaxRounds = 6
	m := NewMulti(rule, IOPS, Mean)
	for r, v := range []float64{200, 100, 200, 100, 100, 100, 100, 100, 100, 100} {
		reached := m.Add(100, v)
		for i, report := range m.Reports() {
			s := report.State
			late := r+1 > 6
			if reached || s.Reached != 0 || s.NeverReached != (r+1 >= 6) || late && s.Steady {
				t.Errorf("round %d: variable %d: %v, %+v", r+1, i, reached, s)
			}
			if late && (r >= 7 || i == 0) && !strings.Contains(s.Reason, "not reached in 6 rounds") {
				t.Errorf("round %d: %q", r+1, s.Reason)
			}
		}
	}
}
