package plan

import (
	"math"
	"strings"
	"testing"
	"time"

	"blkstorm/sweep"
)

// swept is a plan whose phase is a sweep of two depths.
func swept() *Plan {
	p := valid()
	ph := &p.Phases[0]
	first := ph.Points[0]
	ph.Points = []Point{first, first}
	ph.Sweep = &Sweep{Axes: []sweep.Axis{{Name: "iodepth", Values: []string{"4", "8"}}}}
	return p
}

func TestSweepIsItsPoints(t *testing.T) {
	if err := swept().Check(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Plan){
		"its axes have 2 combinations, and the phase 1 points": func(p *Plan) { p.Phases[0].Points = p.Phases[0].Points[:1] },
		"sweep: --iodepth: 4 is there twice":                   func(p *Plan) { p.Phases[0].Sweep.Axes[0].Values = []string{"4", "4"} },
		"one phase of a plan can have it":                      func(p *Plan) { p.Phases = append(p.Phases, p.Phases[0]) },
		"phase precondition: a sweep is measured":              func(p *Plan) { p.Phases[0].Kind = Precondition },
	} {
		p := swept()
		change(p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	p := swept()
	p.Phases = append([]Phase{{Kind: Precondition, Points: p.Phases[0].Points}, {Kind: Measure, Points: p.Phases[0].Points[:1]}, {Kind: Idle, Time: 1}}, p.Phases...)
	if ph, measured := p.SweepPhase(); ph != &p.Phases[3] || measured != 1 {
		t.Errorf("%v, %d measured before; want the last phase, 1", ph, measured)
	}
	if ph, _ := valid().SweepPhase(); ph != nil {
		t.Error("a sweep where none is")
	}
}

// All that a fill writes is counted, so nothing may come before its window.
func TestFillHasNoRamp(t *testing.T) {
	p := valid()
	p.Phases = []Phase{FillPhase([]int{0}, 1, p.firstStream().Workload.Data)}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	p.firstPoint().Ramp = Duration(time.Second)
	if err := p.Check(); err == nil || !strings.Contains(err.Error(), "phase fill: ramp 1s: has no place") {
		t.Error(err)
	}
}

// Times over 2^31 ms and over what a Duration holds are summed up right.
func TestTimeOfLongPlans(t *testing.T) {
	p := valid()
	p.firstPoint().Ramp, p.firstPoint().Runtime = 0, Duration(25*24*time.Hour)
	p.Phases = append(p.Phases, Phase{Kind: Idle, Time: Duration(time.Hour)})
	if got, want := p.Time(), 601*time.Hour; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	p.firstPoint().Runtime = Duration(MaxTime)
	for range 400 {
		p.Phases[0].Points = append(p.Phases[0].Points, p.Phases[0].Points[0])
	}
	if got := p.Time(); got != math.MaxInt64 {
		t.Errorf("%v, want the longest time", got)
	}
}
