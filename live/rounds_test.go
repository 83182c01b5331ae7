package live

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/steady"
)

// roundsPlan is a phase of at most four rounds of two points of a minute, and a point after it.
func roundsPlan() *plan.Plan {
	p := &plan.Plan{Targets: []plan.Target{{Spec: "/dev/sdx"}}}
	rule := steady.Default()
	rule.Window, rule.MaxRounds = 2, 4
	p.Phases = []plan.Phase{
		{Kind: plan.Measure, Rounds: &plan.Rounds{Track: []plan.Track{{Point: 1}}, Rule: rule}, Points: []plan.Point{
			load("one", "randrw", 4, 4, "0", "1m"), load("two", "randrw", 4, 4, "0", "1m"),
		}},
		{Kind: plan.Measure, Points: []plan.Point{load("after", "randrw", 4, 4, "0", "1m")}},
	}
	return p
}

// The time left counts all rounds that may come; a phase that ends early leaves them out.
func TestRoundsLeft(t *testing.T) {
	p := roundsPlan()
	points := p.Phases[0].Points
	var s state
	s.at = -1
	s.begin(head(p))
	for i, want := range []string{"at most 9 min left", "at most 8 min left", "at most 7 min left", "at most 6 min left"} {
		s.pointBegin(i, 9, plan.Measure, &points[i%2], noon)
		if got := s.planLeft(noon); !strings.HasPrefix(got, want) {
			t.Errorf("point %d: %q, want %q", i, got, want)
		}
		s.pointEnd(&result.Point{})
	}
	s.pointBegin(4, 9, plan.Measure, &p.Phases[1].Points[0], noon)
	if got := s.planLeft(noon); !strings.HasPrefix(got, "1 min left") {
		t.Errorf("after an early end: %q", got)
	}

	// Gone on with in round 2.
	d := head(p)
	for _, label := range []string{"one", "two", "one"} {
		d.Points = append(d.Points, &result.Point{Label: label})
	}
	s = state{at: -1}
	s.begin(d)
	s.pointBegin(3, 9, plan.Measure, &points[1], noon)
	if got := s.planLeft(noon); !strings.HasPrefix(got, "at most 6 min left") {
		t.Errorf("gone on with: %q", got)
	}
	f := &framer{state: &s, now: noon, width: 80, height: 24}
	if got := f.head(); got != "measure  point 4 of at most 9  two" {
		t.Errorf("%q", got)
	}
}

// Each round leaves a line per tracked variable, and one that says what all of them come to.
func TestRoundsLines(t *testing.T) {
	tracked := func(m *steady.Multi, r *result.Rounds) {
		r.Tracked = nil
		for i, report := range m.Reports() {
			r.Tracked = append(r.Tracked, result.Tracked{Point: fmt.Sprintf("p\x1b%d", i), Steady: report})
		}
	}
	rule := steady.Default()
	rule.Window, rule.MaxRounds = 2, 3
	var out bytes.Buffer
	v := &View{w: &out, now: func() time.Time { return noon }}
	v.start()
	m, r := steady.NewMulti(rule, steady.IOPS, steady.Mean), &result.Rounds{}
	for i, values := range [][]float64{{100, 200}, {100, 300}, {100, 300}} {
		m.Add(values...)
		r.Done = i + 1
		if r.Done == 3 {
			r.First, r.Last = 2, 3
		}
		tracked(m, r)
		v.Rounds(r)
	}
	m = steady.NewMulti(rule, steady.IOPS)
	for i, value := range []float64{100, 200, 300} {
		m.Add(value)
		r.Done = i + 1
	}
	tracked(m, r)
	v.Rounds(r)
	v.PointBegin(3, 9, plan.Measure, &roundsPlan().Phases[0].Points[0])
	v.PointEnd(&result.Point{Round: 2, Completed: true, Total: &result.Stat{}})
	v.Close()
	want := `round 1: iops of p\x1b0: 1 of 2 rounds
round 1: mean of p\x1b1: 1 of 2 rounds
round 1: not steady yet
round 2: iops of p\x1b0: range 0.0 %, fitted range 0.0 %, slope 0.00 % per round: steady
round 2: mean of p\x1b1: range 40.0 %, fitted range 40.0 %, slope 40.00 % per round: not steady
round 2: not steady yet
round 3: iops of p\x1b0: range 0.0 %, fitted range 0.0 %, slope 0.00 % per round: steady
round 3: mean of p\x1b1: range 0.0 %, fitted range 0.0 %, slope 0.00 % per round: steady
round 3: all steady over rounds 2 to 3
round 3: iops of p\x1b0: range 40.0 %, fitted range 40.0 %, slope 40.00 % per round: not steady
round 3: never steady in 3 rounds
point 4 of 9, round 2, one: no I/O completed
`
	if got := out.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
