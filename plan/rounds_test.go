package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"blkstorm/findmax"
	"blkstorm/steady"
	"blkstorm/sweep"
	"blkstorm/workload"
)

// repeated is a plan with a phase of rounds of n points of a minute.
func repeated(n int) *Plan {
	p := &Plan{Schema: Schema, Targets: []Target{{Spec: "x"}}, Engine: "auto", CompleteMin: 1}
	ph := Phase{Kind: Measure, Rounds: &Rounds{Track: []Track{{Point: n - 1}}, Rule: steady.Default()}}
	for i := range n {
		ph.Points = append(ph.Points, Point{
			Label: fmt.Sprint(i), Runtime: Duration(time.Minute), Interval: Duration(time.Second),
			Streams: []Stream{{Workload: workload.Spec{RW: "randread", BlockSize: 4096}, Targets: []int{0}, Threads: 1, IODepth: 1}},
		})
	}
	p.Phases = []Phase{ph}
	return p
}

func TestCheckRounds(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*Phase)
		want   string // in the error; empty for none
	}{
		{"as it is", func(*Phase) {}, ""},
		{"two metrics of a point", func(ph *Phase) { ph.Rounds.Track = []Track{{0, steady.IOPS}, {0, steady.P99}} }, ""},
		{"no length of a round is needed", func(ph *Phase) { ph.Rounds.Rule.Round = 0 }, ""},
		{"not in precondition", func(ph *Phase) { ph.Kind = Precondition }, "rounds are for measure"},
		{"not in fill", func(ph *Phase) { ph.Kind = Fill }, "rounds are for measure"},
		{"nothing is tracked", func(ph *Phase) { ph.Rounds.Track = nil }, "track is empty"},
		{"a point beyond the last", func(ph *Phase) { ph.Rounds.Track[0].Point = 56 }, "names point 56; the phase has 56"},
		{"a point below 0", func(ph *Phase) { ph.Rounds.Track[0].Point = -1 }, "names point -1"},
		{"twice the same", func(ph *Phase) { ph.Rounds.Track = []Track{{1, steady.IOPS}, {1, steady.IOPS}} }, `the iops of "1" twice`},
		{"an unknown metric", func(ph *Phase) { ph.Rounds.Track[0].Metric = 77 }, "unknown metric 77"},
		{"another rule", func(ph *Phase) { ph.Rounds.Rule.Kind = steady.FioSlope }, "the rule is snia"},
		{"window 1", func(ph *Phase) { ph.Rounds.Rule.Window = 1 }, "--steady-window 1"},
		{"a window beyond the rounds", func(ph *Phase) { ph.Rounds.Rule.Window = 26 }, "at least the window, 26"},
		{"no range", func(ph *Phase) { ph.Rounds.Rule.RangePct = 0 }, "--steady-range 0"},
		{"NaN", func(ph *Phase) { ph.Rounds.Rule.FittedPct = math.NaN() }, "--steady-fitted NaN"},
		{"endless", func(ph *Phase) { ph.Rounds.Rule.MaxRounds = 0 }, "--steady-max-rounds 0"},
		{"too many points", func(ph *Phase) { ph.Rounds.Rule.MaxRounds = 1786 }, "1786: of 56 points each are over 100000 points"},
		{"too long", func(ph *Phase) { ph.Points[3].Runtime = Duration(15 * 24 * time.Hour) }, "--steady-max-rounds 25: of 360h55m0s each are over 8784h0m0s together"},
		{"a label twice", func(ph *Phase) { ph.Points[5].Label = "3" }, `points 3 and 5 have the same label, "3"`},
		{"no points", func(ph *Phase) { ph.Points = nil }, "no points to repeat"},
		{"a knee", func(ph *Phase) {
			ph.Sweep = &Sweep{Axes: []sweep.Axis{{Name: "threads", Values: strings.Fields(strings.Repeat("1 ", 56))}}, Knee: findmax.Limit{Percentile: 99, Under: time.Second}}
		}, "no knee"},
	} {
		p := repeated(56)
		c.change(&p.Phases[0])
		err := p.Check()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		var part *PartError
		if err != nil && c.name != "a knee" && (!errors.As(err, &part) || part.Phase != 0) {
			t.Errorf("%s: of no phase: %v", c.name, err)
		}
	}
}

// Each phase of rounds may have a sweep, beside one that has none.
func TestSweepsInRounds(t *testing.T) {
	axes := func() *Sweep { return &Sweep{Axes: []sweep.Axis{{Name: "bs", Values: []string{"4k", "8k"}}}} }
	p := repeated(2)
	p.Phases[0].Sweep = axes()
	plain := Phase{Kind: Measure, Points: p.Phases[0].Points, Sweep: axes()}
	p.Phases = []Phase{p.Phases[0], plain, p.Phases[0]}
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	if ph, before := p.SweepPhase(); ph != &p.Phases[1] || before != 0 {
		t.Errorf("the sweep is %+v after %d points", ph, before)
	}
	p.Phases = append(p.Phases, plain)
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), "one phase of a plan") {
		t.Errorf("two sweeps: %v", err)
	}
}

func TestRoundsReadBack(t *testing.T) {
	want := Rounds{Track: []Track{{3, steady.P99}}, Rule: steady.Default()}
	want.Rule.Window, want.Rule.MaxRounds, want.Rule.RangePct, want.Rule.FittedPct = 3, 7, 12.5, 9
	text, err := json.Marshal(&want)
	if err != nil || string(text) != `{"track":[{"point":3,"metric":"p99"}],"window":3,"range_pct":12.5,"fitted_pct":9,"max_rounds":7}` {
		t.Fatalf("%s, %v", text, err)
	}
	var got Rounds
	if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	if err := json.Unmarshal([]byte(`{"track":[]}`), &got); err != nil || !reflect.DeepEqual(got, Rounds{Track: []Track{}, Rule: steady.Default()}) {
		t.Errorf("the defaults: %+v, %v", got, err)
	}
	if err := json.Unmarshal([]byte(`{"window":"x"}`), &got); err == nil {
		t.Error("no number was read")
	}
}

// The time of rounds is that of all of them, and no sum of times comes out as a small one.
func TestTimes(t *testing.T) {
	p := repeated(56)
	if got := p.Time(); got != 25*56*time.Minute || p.Phases[0].MostPoints() != 25*56 || p.Phases[0].RoundTime() != 56*time.Minute {
		t.Errorf("%v", got)
	}
	long := Duration(math.MaxInt64/2 + 1)
	for i, ph := range []Phase{
		{Kind: Measure, Points: []Point{{Ramp: long, Runtime: long}}},
		{Kind: Measure, Points: []Point{{Runtime: long}, {Runtime: long}}},
		{Kind: Idle, Time: long, Points: []Point{{Runtime: long}}},
		{Kind: Measure, Points: []Point{{Runtime: Duration(MaxTime)}}, Rounds: &Rounds{Rule: steady.Rule{MaxRounds: 1000}}},
		{Kind: Measure, Points: []Point{{Runtime: long}}, Rounds: &Rounds{Rule: steady.Rule{MaxRounds: 3}}},
	} {
		if got := (&Plan{Phases: []Phase{ph}}).Time(); got != math.MaxInt64 {
			t.Errorf("plan %d: %v", i, got)
		}
	}
	if got := SteadyTime(&steady.Rule{MaxRounds: steady.MaxRounds, Round: steady.MaxRound}); got != math.MaxInt64 {
		t.Errorf("a search takes %v", got)
	}
	if got := SteadyTime(&steady.Rule{MaxRounds: -1, Round: -1}); got != 0 {
		t.Errorf("a search that is wrong takes %v", got)
	}
}
