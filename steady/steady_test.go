package steady

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

var nan = math.NaN()

// The vectors of the definition, each with the figures that follow from it by hand.
func TestVectors(t *testing.T) {
	for _, c := range []struct {
		name             string
		rounds           []float64
		rng, slope       float64
		fitted           float64
		steady           bool
		reason, noReason string
	}{
		{"constant", []float64{100, 100, 100, 100, 100}, 0, 0, 0, true, "", "range"},
		{"rises", []float64{91, 95, 100, 105, 109}, 18, 4.6, 18.4, false, "fitted range 18.4 %", "; "},
		{"saw", []float64{109, 91, 100, 109, 91}, 18, -1.8, 7.2, true, "", "range"},
		{"range at the limit", []float64{90, 110, 100, 100, 100}, 20, 1, 4, true, "", "range"},
		{"range at the limit, rising", []float64{100, 100, 100, 90, 110}, 20, 1, 4, true, "", "range"},
		{"fit at the limit", []float64{95, 97.5, 100, 102.5, 105}, 10, 2.5, 10, true, "", "range"},
		{"range only", []float64{100, 89, 100, 111, 100}, 22, 2.2, 8.8, false, "range 22 %", "fitted"},
		{"both", []float64{80, 90, 100, 110, 120}, 40, 10, 40, false, "; fitted range 40 %", "rounds"},
	} {
		r := Default()
		// Figures of other sizes, most of which are no exact binary fractions, give the same answers.
		for _, scale := range []float64{1, 0.01, 1.0 / 3, 1234.567, 1e-7, 1e250, 1e-300} {
			rounds := make([]float64, len(c.rounds))
			for i, v := range c.rounds {
				rounds[i] = v * scale
			}
			s := r.Judge(rounds)
			if s.Steady != c.steady || (s.Reached == 5) != c.steady || s.NeverReached || s.First != 1 || s.Rounds != 5 {
				t.Errorf("%s x %g: %+v", c.name, scale, s)
			}
			near(t, c.name, s.Mean, 100*scale, 100*scale)
			near(t, c.name, s.Range, c.rng*scale, 100*scale)
			near(t, c.name, s.RangePct, c.rng, 100)
			near(t, c.name, s.Slope, c.slope*scale, 100*scale)
			near(t, c.name, s.SlopePct, c.slope, 100)
			near(t, c.name, s.FittedRange, c.fitted*scale, 100*scale)
			near(t, c.name, s.FittedPct, c.fitted, 100)
			near(t, c.name, s.Intercept, (100-2*c.slope)*scale, 100*scale)
			near(t, c.name, s.Low, 90*scale, 100*scale)
			near(t, c.name, s.High, 110*scale, 100*scale)
			if c.steady != (s.Reason == "") || !strings.Contains(s.Reason, c.reason) || strings.Contains(s.Reason, c.noReason) {
				t.Errorf("%s x %g: reason %q", c.name, scale, s.Reason)
			}
		}
	}
}

func near(t *testing.T, name string, got, want, unit float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12*unit) {
		t.Errorf("%s: %v, want %v", name, got, want)
	}
}

// What is over the limit by more than rounding is over it.
func TestJustOverTheLimit(t *testing.T) {
	r := Default()
	for _, rounds := range [][]float64{
		{90 - 1e-6, 110, 100, 100, 100},
		{95 - 1e-6, 97.5, 100, 102.5, 105},
	} {
		if s := r.Judge(rounds); s.Steady {
			t.Errorf("%v is steady: %+v", rounds, s)
		}
	}
}

func TestNoAnswer(t *testing.T) {
	for _, c := range []struct {
		name   string
		rounds []float64
		reason string
	}{
		{"none", nil, "0 of 5 rounds"},
		{"one", []float64{100}, "1 of 5 rounds"},
		{"four", []float64{100, 100, 100, 100}, "4 of 5 rounds"},
		{"zeros", []float64{0, 0, 0, 0, 0}, "mean of the window is 0"},
		{"NaN", []float64{100, 100, nan, 100, 100}, "no figure"},
		{"infinite", []float64{100, 100, 100, 100, math.Inf(1)}, "no figure"},
		{"negative", []float64{-100, -100, -100, -100, -100}, "no figure"},
		{"too large", []float64{1e301, 1e301, 1e301, 1e301, 1e301}, "no figure"},
	} {
		r := Default()
		s := r.Judge(c.rounds)
		if s.Steady || s.Reached != 0 || s.Figures != (Figures{}) || !strings.Contains(s.Reason, c.reason) {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
	// Other rules have no answer there either: fio divides by a mean of 0.
	for _, kind := range []Kind{FioDeviation, FioSlope} {
		r := Rule{Kind: kind, Window: 3, Limit: Limit{Value: 1}}
		if s := r.Judge([]float64{0, 0, 0}); s.Steady {
			t.Errorf("%v: %+v", kind, s)
		}
	}
}

// Only the last window counts, and the round where the first one was steady stays.
func TestReached(t *testing.T) {
	r := Default()
	tr := NewTracker(r)
	decay := []float64{400, 300, 220, 160, 130, 110, 100, 100, 100, 100, 100}
	for i, v := range decay {
		s := tr.Add(v)
		// 110 x 1 + 100 x 4: range 9.8 %, k -2: fitted range 7.8 %.
		if want := i+1 >= 10; s.Steady != want || (s.Reached != 0) != want || want && s.Reached != 10 {
			t.Errorf("round %d: %+v", i+1, s)
		}
		if again := r.Judge(decay[:i+1]); again != s {
			t.Errorf("round %d: Judge %+v, Tracker %+v", i+1, again, s)
		}
	}
	s := tr.Add(200)
	if s.Steady || s.Reached != 10 || s.NeverReached || s.Reason == "" {
		t.Errorf("after drift: %+v", s)
	}
	if first, ok := tr.Reached(); !ok || first.Reached != 10 || first.First != 6 || first.Mean != 102 {
		t.Errorf("first window: %+v, %v", first, ok)
	}
}

func TestNeverReached(t *testing.T) {
	r := Default()
	r.MaxRounds = 7
	tr := NewTracker(r)
	for i := range 12 {
		v := 100.0
		if i < 7 && i%2 == 0 {
			v = 200
		}
		s := tr.Add(v)
		if s.NeverReached != (i+1 >= 7) || s.Steady || s.Reached != 0 || s.Reason == "" {
			t.Errorf("round %d: %+v", i+1, s)
		}
	}
	// The last round that is allowed may still be the one.
	for _, c := range []struct {
		last  float64
		never bool
	}{{100, false}, {200, true}} {
		s := r.Judge([]float64{300, 300, 100, 100, 100, 100, c.last})
		if s.NeverReached != c.never || s.Steady == c.never {
			t.Errorf("last round %g: %+v", c.last, s)
		}
	}
	r.MaxRounds = 0
	if s := r.Judge([]float64{1, 2, 3, 4, 5, 6, 7, 8}); s.NeverReached {
		t.Errorf("without a limit: %+v", s)
	}
}

func TestDrift(t *testing.T) {
	for _, c := range []struct {
		name   string
		window []float64
		value  float64
		drift  bool
	}{
		{"inside", []float64{100, 100, 100, 100, 100}, 95, false},
		{"lower line", []float64{100, 100, 100, 100, 100}, 90, false},
		{"upper line", []float64{0.1, 0.1, 0.1, 0.1, 0.1}, 0.11, false},
		{"below", []float64{100, 100, 100, 100, 100}, 89.9, true},
		{"above", []float64{100, 100, 100, 100, 100}, 110.1, true},
		{"as low as a round of the window", []float64{102, 102, 88, 106, 102}, 88, false},
		{"lower than all of the window", []float64{102, 102, 88, 106, 102}, 87, true},
		{"without a figure", []float64{100, 100, 100, 100, 100}, nan, true},
	} {
		tr := NewTracker(Default())
		for _, v := range c.window {
			if tr.Drift(v / 10) {
				t.Errorf("%s: drift before steady state", c.name)
			}
			tr.Add(v)
		}
		if _, ok := tr.Reached(); !ok {
			t.Fatalf("%s: the window is not steady", c.name)
		}
		if got := tr.Drift(c.value); got != c.drift {
			t.Errorf("%s: %v", c.name, got)
		}
		tr.Add(c.value)
		tr.Add(c.window[0])
		report := tr.Report()
		if (len(report.Drifted) == 1 && report.Drifted[0] == 6) != c.drift || report.Drifted == nil {
			t.Errorf("%s: drifted %v", c.name, report.Drifted)
		}
		if len(report.Values) != 7 || (report.Values[5] == nil) != math.IsNaN(c.value) || *report.Values[6] != c.window[0] {
			t.Errorf("%s: values %v", c.name, report.Values)
		}
		if report.State.Rounds != 5 || !report.State.Steady {
			t.Errorf("%s: the report is of another window: %+v", c.name, report.State)
		}
	}
}

func TestReportWithoutSteadyState(t *testing.T) {
	tr := NewTracker(Default())
	for i := range 25 {
		tr.Add(100 + 50*float64(i%2))
	}
	if r := tr.Report(); r.State.Rounds != 25 || r.State.Steady || !r.State.NeverReached || len(r.Drifted) != 0 {
		t.Errorf("%+v", r)
	}
}

// fio's rules, with its own borders: a figure equal to the limit is not below it.
func TestFio(t *testing.T) {
	for _, c := range []struct {
		rule   string
		rounds []float64
		steady bool
	}{
		{"iops:20%", []float64{81, 119, 100}, true},    // a range of 38 % passes
		{"iops:20%", []float64{80, 120, 100}, false},   // equal
		{"iops:20", []float64{81, 119, 100}, true},     // absolute
		{"iops:19", []float64{81, 119, 100}, false},    // equal
		{"bw_slope:10%", []float64{92, 98, 110}, true}, // 9 % each round: a fitted range of 18 %
		{"bw_slope:10%", []float64{90, 100, 110}, false},
		{"bw_slope:10%", []float64{108, 102, 90}, true}, // falling
		{"bw_slope:10%", []float64{110, 100, 90}, false},
		{"lat_slope:9.1", []float64{91, 100, 109}, true},
		{"lat:5%", []float64{96, 104, 100}, true},
		{"iops:0%", []float64{100, 100, 100}, false}, // nothing is below 0
	} {
		r, err := ParseFio(c.rule, 3*time.Second, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if s := r.Judge(c.rounds); s.Steady != c.steady || (s.Reason == "") != c.steady || s.NeverReached {
			t.Errorf("%s on %v: %+v", c.rule, c.rounds, s)
		}
	}
	for _, c := range []struct {
		rule      string
		low, high float64
		drift     bool // at 150
	}{{"iops:20%", 80, 120, true}, {"iops:60", 40, 160, false}, {"iops_slope:20%", 0, 0, false}} {
		r, err := ParseFio(c.rule, 3*time.Second, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		tr := NewTracker(r)
		var s State
		for range 3 {
			s = tr.Add(100)
		}
		if s.Low != c.low || s.High != c.high || tr.Drift(150) != c.drift {
			t.Errorf("%s: band %g to %g, drift %v", c.rule, s.Low, s.High, tr.Drift(150))
		}
	}
}

// fit is the least-squares slope and intercept in exact arithmetic, by the textbook's sums.
func fit(values []float64) (slope, intercept float64) {
	n := big.NewRat(int64(len(values)), 1)
	var sx, sy, sxx, sxy big.Rat
	for i, v := range values {
		x, y := big.NewRat(int64(i), 1), new(big.Rat).SetFloat64(v)
		sx.Add(&sx, x)
		sy.Add(&sy, y)
		sxx.Add(&sxx, new(big.Rat).Mul(x, x))
		sxy.Add(&sxy, new(big.Rat).Mul(x, y))
	}
	over := new(big.Rat).Sub(new(big.Rat).Mul(n, &sxy), new(big.Rat).Mul(&sx, &sy))
	under := new(big.Rat).Sub(new(big.Rat).Mul(n, &sxx), new(big.Rat).Mul(&sx, &sx))
	k := over.Quo(over, under)
	b := new(big.Rat).Sub(&sy, new(big.Rat).Mul(k, &sx))
	slope, _ = k.Float64()
	intercept, _ = b.Quo(b, n).Float64()
	return slope, intercept
}

func TestProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 14))
	for range 2000 {
		r := Default()
		r.Window = 2 + rng.IntN(60)
		size := math.Pow(10, rng.Float64()*20-6)
		values, moved, scaled, backward := make([]float64, r.Window), make([]float64, r.Window), make([]float64, r.Window), make([]float64, r.Window)
		by, factor := size*rng.Float64()*5, math.Pow(10, rng.Float64()*8-4)
		for i := range values {
			values[i] = size * (1 + rng.Float64()*0.4)
			moved[i], scaled[i], backward[len(values)-1-i] = values[i]+by, values[i]*factor, values[i]
		}
		s := r.Judge(values)
		slope, intercept := fit(values)
		close := func(what string, got, want, unit float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-12*unit*float64(r.Window)) {
				t.Fatalf("%s of %v: %v, want %v", what, values, got, want)
			}
		}
		close("slope", s.Slope, slope, size)
		close("intercept", s.Intercept, intercept, size)
		close("fitted range", s.FittedRange, math.Abs(slope)*float64(r.Window-1), size*float64(r.Window))

		m := r.Judge(moved)
		close("moved mean", m.Mean, s.Mean+by, size*6)
		close("moved range", m.Range, s.Range, size*6)
		close("moved slope", m.Slope, s.Slope, size*6)
		x := r.Judge(scaled)
		close("scaled range", x.RangePct, s.RangePct, 100)
		close("scaled fit", x.FittedPct, s.FittedPct, 100)
		close("scaled correlation", x.Correlation, s.Correlation, 1)
		b := r.Judge(backward)
		close("backward slope", b.Slope, -s.Slope, size)
		close("backward range", b.Range, s.Range, size)
		if x.Steady != s.Steady || b.Steady != s.Steady {
			t.Fatalf("%v: steady %v, scaled %v, backward %v", values, s.Steady, x.Steady, b.Steady)
		}
		if math.Abs(s.Correlation) > 1 || s.Deviation > s.Range || s.Min < s.Mean-s.Deviation*(1+1e-12) {
			t.Fatalf("%v: %+v", values, s)
		}
	}
}

func TestCorrelation(t *testing.T) {
	r := Default()
	for _, c := range []struct {
		rounds []float64
		want   float64
	}{
		{[]float64{1, 2, 3, 4, 5}, 1}, {[]float64{5, 4, 3, 2, 1}, -1}, {[]float64{7, 7, 7, 7, 7}, 0}, {[]float64{1, 2, 3, 2, 1}, 0},
	} {
		if s := r.Judge(c.rounds); math.Abs(s.Correlation-c.want) > 1e-12 {
			t.Errorf("%v: %v, want %v", c.rounds, s.Correlation, c.want)
		}
	}
}
