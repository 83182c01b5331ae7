package findmax

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

const half = 500 * time.Microsecond // service time of the simulated devices

func TestConfigCheck(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"--limit: is missing":    func(c *Config) { c.Limit = Limit{} },
		"--start 0.5: must be":   func(c *Config) { c.Start = 0.5 },
		"--start -1: must be":    func(c *Config) { c.Start = -1 },
		"--start NaN: must be":   func(c *Config) { c.Start = math.NaN() },
		"--start +Inf: must be":  func(c *Config) { c.Start = math.Inf(1) },
		"--resolution 0.1%":      func(c *Config) { c.Resolution = 0.001 },
		"--resolution NaN%":      func(c *Config) { c.Resolution = math.NaN() },
		"--probe 10ms: must be":  func(c *Config) { c.Probe = 10 * time.Millisecond },
		"--confirm 1s: must be ": func(c *Config) { c.Confirm = time.Second },
	} {
		cfg := config(t, "p99=1ms")
		change(&cfg)
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The same measurements lead to the same steps.
func TestDeterministic(t *testing.T) {
	one, _ := find(t, config(t, "p99=5ms"), newDevice(7, 1, half, true, true))
	two, _ := find(t, config(t, "p99=5ms"), newDevice(7, 1, half, true, true))
	if !reflect.DeepEqual(one, two) {
		log(t, one)
		log(t, two)
		t.Error("two searches on the same device differ")
	}
}

// The limit lies below what a single I/O takes: the first rate shows it.
func TestNothingReachable(t *testing.T) {
	s, out := find(t, config(t, "p99=400us"), newDevice(1, 1, half, false, true))
	if out.Found || !out.Done || len(s.Steps()) != 3 || !strings.Contains(out.Why, "even the fastest I/O took 500µs") {
		log(t, s)
		t.Errorf("%+v", out)
	}
	// Where some I/Os are fast enough and too many are not, the way down ends at the lowest rate that
	// can be judged: 1200 I/Os in ten probes.
	s, out = find(t, config(t, "p99=1ms"), newDevice(1, 1, half, true, true))
	last := s.Steps()[len(s.Steps())-1]
	if out.Found || last.Asked != 24 || last.Window != 50*time.Second || !strings.Contains(out.Why, "p99 is over the limit of 1ms even at 24 IOPS") {
		log(t, s)
		t.Errorf("%+v", out)
	}
}

// A device that is too slow for the percentile is said to be, rather than judged by a few I/Os.
func TestTooSlowToJudge(t *testing.T) {
	s, out := find(t, config(t, "p99.9=1s"), newDevice(1, 1, 8*time.Millisecond, false, true))
	if out.Found || len(s.Steps()) != 1 || !strings.Contains(out.Why, "p99.9 needs 10000 I/Os") || !strings.Contains(out.Why, "--probe") {
		log(t, s)
		t.Errorf("%+v", out)
	}
	s, out = find(t, config(t, "p99=1s"), newDevice(1, 1, 8*time.Millisecond, false, true))
	if !out.Found {
		log(t, s)
		t.Errorf("%+v", out)
	}
}

// Where the limit is never in the way, the result is the ceiling, and says so.
func TestCeiling(t *testing.T) {
	for name, c := range map[string]struct {
		limit           string
		servers         int
		random, poisson bool
		start           float64
		reached         bool
	}{
		"fixed":                {"max=1s", 4, false, false, 0, true},
		"fixed, tight":         {"max=510us", 4, false, false, 0, true},
		"fixed, from below":    {"max=1s", 4, false, false, 100, true},
		"poisson":              {"p99=1s", 1, true, true, 0, true},
		"poisson, from below":  {"p99=1s", 1, true, true, 100, true},
		"poisson, by limit":    {"p99=5ms", 1, true, true, 0, false},
		"poisson, below limit": {"p99=5ms", 1, true, true, 100, false},
	} {
		cfg := config(t, c.limit)
		cfg.Start = c.start
		s, out := find(t, cfg, newDevice(3, c.servers, half, c.random, c.poisson))
		most := float64(c.servers) / half.Seconds()
		if !out.Found || out.ReachedCeiling != c.reached || c.reached && math.Abs(out.IOPS/most-1) > 0.05 {
			log(t, s)
			t.Errorf("%s: %+v, the device does %v", name, out, most)
		}
		if c.start > 0 == (out.Ceiling > 0) {
			t.Errorf("%s: ceiling %v with --start %v", name, out.Ceiling, c.start)
		}
	}
}

// A closed loop that had a slow moment is no ceiling.
func TestLowCeiling(t *testing.T) {
	d := newDevice(3, 4, half, false, true)
	d.speed = func(step int) float64 {
		if step == 0 {
			return 0.4
		}
		return 1
	}
	s, out := find(t, config(t, "p99=5ms"), d)
	want := solve(7960, 0.99, func(rate float64) float64 { return waitMDc(4, half.Seconds(), rate, 9*half.Seconds()) })
	if !out.Found || out.Ceiling != 0 || math.Abs(out.IOPS/want-1) > 0.05 {
		log(t, s)
		t.Errorf("%+v", out)
	}
}

// A stall in some of the steps does not cost the result, since a rate that fails is tried again.
func TestStalls(t *testing.T) {
	for seed := range uint64(5) {
		d := newDevice(seed, 4, half, false, true)
		d.stall = func(step int) float64 {
			if step%3 == 1 { // the first rate, too
				return 0.2
			}
			return 0
		}
		s, out := find(t, config(t, "p99=1ms"), d)
		clean, undisturbed := find(t, config(t, "p99=1ms"), newDevice(seed, 4, half, false, true))
		if !out.Found || math.Abs(out.IOPS/undisturbed.IOPS-1) > 0.05 {
			log(t, s)
			log(t, clean)
			t.Errorf("seed %d: %+v, without stalls %+v", seed, out, undisturbed)
		}
	}
}

// Where a third of all steps have a stall, whichever they are, what bounds the search is looked at again:
// nearly all searches end near the capacity, and none beyond it.
func TestManyStalls(t *testing.T) {
	want := solve(1990, 0.99, func(rate float64) float64 { return waitMDc(1, half.Seconds(), rate, 5*half.Seconds()) })
	const n = 40
	near := 0
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(seed, 8))
		d := newDevice(seed, 1, half, false, true)
		d.stall = func(int) float64 {
			if rng.IntN(3) == 0 {
				return 0.15
			}
			return 0
		}
		s, out := find(t, config(t, "p99=3ms"), d)
		off := out.IOPS/want - 1
		if math.Abs(off) < 0.08 {
			near++
		}
		if off > 0.05 {
			log(t, s)
			t.Errorf("seed %d: %+.1f %%", seed, 100*off)
		}
	}
	if near < n*8/10 {
		t.Errorf("%d of %d searches came near", near, n)
	}
}

// Speed that goes up and down with every step by a few percent stays within that of the theory.
func TestNoise(t *testing.T) {
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 99))
		d := newDevice(seed, 4, half, false, true)
		d.speed = func(int) float64 { return 1 + 0.03*(2*rng.Float64()-1) }
		s, out := find(t, config(t, "p99=1ms"), d)
		want := solve(7900, 0.99, func(rate float64) float64 { return waitMDc(4, half.Seconds(), rate, half.Seconds()) })
		if !out.Found || math.Abs(out.IOPS/want-1) > 0.08 {
			log(t, s)
			t.Errorf("seed %d: %+v, theory has %.0f", seed, out, want)
		}
	}
}

// A rate that holds for 5 s and not for 30 s is stepped down from, not believed.
func TestConfirmationStepsDown(t *testing.T) {
	cfg := config(t, "p99=1ms")
	const short, long = 10_000.0, 9_300.0 // what the device does in short and in long steps
	s, out := answered(t, cfg, func(ask Ask) Step {
		able := short
		if ask.Kind == Confirm {
			able = long
		}
		return answer(ask, able)
	})
	if !out.Found || out.IOPS > long || out.IOPS < long*0.95 {
		log(t, s)
		t.Errorf("%+v", out)
	}
	s, out = answered(t, cfg, func(ask Ask) Step {
		if ask.Kind == Confirm {
			return answer(ask, 1)
		}
		return answer(ask, short)
	})
	if out.Found || !strings.Contains(out.Why, "no rate held for the 30s of --confirm") {
		log(t, s)
		t.Errorf("%+v", out)
	}
}

// answered runs a search on made-up answers.
func answered(t testing.TB, cfg Config, f func(Ask) Step) (*Search, Outcome) {
	t.Helper()
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	for range MaxSteps + 1 {
		ask, ok := s.Next()
		if !ok {
			return s, s.Outcome()
		}
		s.Add(f(ask))
	}
	t.Fatal("the search does not end")
	return nil, Outcome{}
}

// answer is what a device does that takes 100 us up to a rate, and 5 ms from there on.
func answer(ask Ask, able float64) Step {
	rate := ask.IOPS
	if rate == 0 {
		rate = 12_000
	}
	step := Step{Window: ask.Runtime, Achieved: rate, IOs: uint64(rate * ask.Runtime.Seconds()), Value: 100 * time.Microsecond, Min: 50 * time.Microsecond}
	if rate > able {
		step.Value = 5 * time.Millisecond
	}
	return step
}

// Failed I/Os end a search, at whatever step.
func TestFaultsEnd(t *testing.T) {
	for _, at := range []Kind{Ceiling, Probe, Confirm} {
		s, out := answered(t, config(t, "p99=1ms"), func(ask Ask) Step {
			step := answer(ask, 10_000)
			if ask.Kind == at {
				step.Faults = 7
			}
			return step
		})
		last := s.Steps()[len(s.Steps())-1]
		if out.Found || last.Kind != at || last.Verdict != Faulty || !strings.Contains(out.Why, "7 I/Os failed") {
			log(t, s)
			t.Errorf("%s: %+v", at, out)
		}
	}
}

func TestJudge(t *testing.T) {
	const n = 10_000
	good := Step{Window: 10 * time.Second, Planned: n, IOs: n, Achieved: 1000, Value: time.Millisecond}
	for name, c := range map[string]struct {
		change func(*Step)
		why    string // empty for a pass
	}{
		"at the limit":      {func(*Step) {}, ""},
		"over":              {func(s *Step) { s.Value++ }, "p99 1ms is over the limit"},
		"faults":            {func(s *Step) { s.Faults = 1 }, "1 I/Os failed or fell short"},
		"in flight":         {func(s *Step) { s.IOs -= 90 }, ""},
		"behind":            {func(s *Step) { s.IOs -= 110 }, "only 98.9 % of the rate was reached"},
		"few missed":        {func(s *Step) { s.Missed = 12 }, ""},
		"missed":            {func(s *Step) { s.Missed = 13 }, "0.13 % of the I/Os were not submitted"},
		"few":               {func(s *Step) { s.Planned, s.IOs = 999, 999 }, "999 I/Os are too few to judge p99 by"},
		"nothing completed": {func(s *Step) { s.IOs, s.Value = 0, 0 }, "only 0.0 % of the rate was reached"},
		"plan not known":    {func(s *Step) { s.Planned, s.IOs = 0, n/2 }, "only 50.0 % of the rate was reached"},
	} {
		cfg := config(t, "p99=1ms")
		cfg.Start = 1000
		s, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		step := good
		c.change(&step)
		got := s.Add(step)
		if got.OK != (c.why == "") || !strings.Contains(got.Why, c.why) || got.Asked != 1000 || got.Kind != Probe {
			t.Errorf("%s: %+v, want %q", name, got, c.why)
		}
	}
	// A limit of 100 ms lets I/Os wait that long: a hundredth of the window.
	cfg := config(t, "p99=100ms")
	cfg.Start = 1000
	s, _ := New(cfg)
	step := good
	step.Missed = 100
	if got := s.Add(step); !got.OK {
		t.Errorf("%+v", got)
	}
}

// Two tries close to the limit count together; a far one is a stall and does not.
func TestTwoTries(t *testing.T) {
	for _, c := range []struct {
		first, second time.Duration
		ok            bool
	}{
		{1100, 950, false}, {1100, 890, true}, {1100, 1010, false}, {50_000, 950, true}, {1260, 950, true},
	} {
		cfg := config(t, "p99=1ms")
		cfg.Start = 1000
		s, _ := New(cfg)
		step := Step{Window: 10 * time.Second, Planned: 10_000, IOs: 10_000, Value: c.first * time.Microsecond}
		if s.Add(step).OK {
			t.Errorf("%+v: the first try passed", c)
		}
		if ask, _ := s.Next(); ask.IOPS != 1000 {
			t.Errorf("%+v: no second try, but %+v", c, ask)
		}
		step.Value = c.second * time.Microsecond
		if got := s.Add(step); got.OK != c.ok || (got.Why == "") != c.ok {
			t.Errorf("%+v: %+v", c, got)
		}
	}
}

// Whatever comes back, a search ends, asks for sane rates, and finds only what was confirmed.
func FuzzSearchEnds(f *testing.F) {
	for seed := range uint64(20) {
		f.Add(seed, 0.5, 0.0)
		f.Add(seed, 0.9, 100.0)
		f.Add(seed, 0.1, 1e9)
		f.Add(seed, 1.0, 1.3e6) // never fails
		f.Add(seed, 1.0, 1.0)
		f.Add(seed, 0.0, 3.0)
	}
	f.Fuzz(func(t *testing.T, seed uint64, passes, start float64) {
		cfg := config(t, "p99.9=1ms")
		if cfg.Start = start; cfg.Check() != nil {
			return
		}
		rng := rand.New(rand.NewPCG(seed, 5))
		s, out := answered(t, cfg, func(ask Ask) Step {
			if ask.Kind != Ceiling && !(ask.IOPS >= minRate && ask.IOPS <= 1e9) || ask.Runtime < cfg.Probe || ask.Runtime > 10*cfg.Probe {
				t.Fatalf("%+v", ask)
			}
			step := answer(ask, math.Inf(1))
			if rng.Float64() >= passes {
				step.Value = time.Duration(rng.Int64N(4e6))
				step.Missed = step.IOs * rng.Uint64N(3) / 100
				step.IOs -= step.IOs * rng.Uint64N(30) / 100
			}
			return step
		})
		if !out.Done || out.Found == (out.Why != "") {
			t.Errorf("%+v", out)
		}
		if out.Found {
			if step := s.Steps()[out.Step]; !step.OK || step.Kind != Confirm || step.Asked != out.IOPS {
				t.Errorf("%+v: %+v", out, step)
			}
		}
	})
}

func TestRound(t *testing.T) {
	for in, want := range map[float64]float64{0: 0, -1: 0, 12345.6: 12350, 1.23456: 1.235, 99999: 100000, 24: 24, 0.5: 0.5, 1e9: 1e9, 123.449: 123.4} {
		if got := round(in); got != want {
			t.Errorf("%v: %v, want %v", in, got, want)
		}
	}
}

func TestRateText(t *testing.T) {
	for rate, want := range map[float64]string{
		1: "1", 1.5: "1.5", 12.3456: "12.35", 17130: "17130", 123456: "123500", 1e9: "1000000000", 299999.99: "300000",
	} {
		if got := RateText(rate); got != want {
			t.Errorf("%v: %s, want %s", rate, got, want)
		}
	}
}
