package host

import (
	"math"
	"slices"
	"testing"
	"time"
)

func TestMeasureClockReal(t *testing.T) {
	began := time.Now()
	c := MeasureClock(Roots{}, nil)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("took %v", took)
	}
	if c.CostNS <= 0 || c.CostNS > 1e6 || c.ResolutionNS <= 0 || c.BackwardSteps != 0 {
		t.Errorf("%+v", c)
	}
	t.Logf("%+v", c)
}

func TestMeasureClockSource(t *testing.T) {
	r := tree(t, map[string]string{clocks: "tsc hpet acpi_pm \n", "sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet\n"})
	c := MeasureClock(r, (&fake{cost: 1000}).read)
	if c.Source != "hpet" || !slices.Equal(c.Available, []string{"tsc", "hpet", "acpi_pm"}) {
		t.Errorf("%+v", c)
	}
	if c := MeasureClock(tree(t), (&fake{cost: 1000}).read); c.Source != "" || c.Available == nil || len(c.Available) != 0 {
		t.Errorf("without sysfs: %+v", c)
	}
}

// fake is a clock of known character on virtual time: each read takes cost, shows multiples of
// tick, and every back-th read shows a time jump ns earlier.
type fake struct {
	cost, tick, jump int64
	back             int
	t                int64
	reads            int
}

func (f *fake) read() int64 {
	f.t += f.cost
	f.reads++
	v := f.t
	if f.tick > 0 {
		v -= v % f.tick
	}
	if f.back > 0 && f.reads%f.back == 0 {
		v -= f.jump
	}
	return v
}

func TestMeasureClockFakes(t *testing.T) {
	for _, c := range []struct {
		name       string
		clock      fake
		cost       float64
		resolution int64
		backward   bool
	}{
		{"tsc", fake{cost: 34}, 34, 34, false},
		{"slow", fake{cost: 1700}, 1700, 1700, false},
		{"very slow", fake{cost: 100_000}, 100_000, 100_000, false},
		{"microseconds", fake{cost: 34, tick: 1000}, 34, 1000, false},
		{"jiffies at 250 Hz", fake{cost: 20, tick: 4_000_000}, 20, 4_000_000, false},
		{"jiffies at 100 Hz", fake{cost: 20, tick: 10_000_000}, 20, 10_000_000, false},
		{"stopped", fake{}, 0, 0, false},
		{"backward", fake{cost: 34, back: 1000, jump: 500}, 34, 34, true},
		{"only backward", fake{cost: -5}, 0, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := MeasureClock(Roots{}, c.clock.read)
			if math.Abs(got.CostNS-c.cost) > 0.02*c.cost {
				t.Errorf("cost %g ns, want %g", got.CostNS, c.cost)
			}
			if got.ResolutionNS != c.resolution {
				t.Errorf("resolution %d ns, want %d", got.ResolutionNS, c.resolution)
			}
			if (got.BackwardSteps > 0) != c.backward {
				t.Errorf("%d backward steps", got.BackwardSteps)
			}
			if c.clock.reads > clockReads+2*clockBatch {
				t.Errorf("%d reads", c.clock.reads)
			}
		})
	}
}
