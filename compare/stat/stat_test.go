package stat

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Published values: Student's 1908 tables as in any textbook, to all digits printed.
func TestStudent(t *testing.T) {
	for _, c := range []struct{ alpha, df, want float64 }{
		{0.05, 1, 12.7062}, {0.05, 2, 4.30265}, {0.05, 10, 2.22814}, {0.01, 5, 4.03214}, {0.001, 30, 3.64596}, {0.05, 1e6, 1.95997},
	} {
		if got := critical(c.alpha, c.df); math.Abs(got-c.want) > 1e-4 {
			t.Errorf("critical(%v, %v) = %v, want %v", c.alpha, c.df, got, c.want)
		}
	}
	for _, df := range []float64{0.5, 1, 2.7, 40, 1e5} {
		for _, alpha := range []float64{0.9, 0.1, 1e-3, 1e-9} {
			if back := tails(critical(alpha, df), df); math.Abs(back/alpha-1) > 1e-6 {
				t.Errorf("alpha %v with %v degrees of freedom comes back as %v", alpha, df, back)
			}
		}
	}
	if tails(0, 3) != 1 || tails(math.Inf(1), 3) != 0 {
		t.Error("the ends of tails")
	}
}

// Welch's example in R's t.test: c(20,22,19,20,22) against c(24,26,22,24,30).
func TestWelch(t *testing.T) {
	c, err := Compare(Repeats([]float64{20, 22, 19, 20, 22}), Repeats([]float64{24, 26, 22, 24, 30}))
	if err != nil {
		t.Fatal(err)
	}
	a, b := 20.6, 25.2
	se := math.Sqrt(1.8/5 + 9.2/5)
	v := (1.8/5 + 9.2/5) * (1.8/5 + 9.2/5) / (1.8*1.8/25/4 + 9.2*9.2/25/4)
	if want := tails((b-a)/se, v); math.Abs(c.P()-want) > 1e-12 {
		t.Errorf("P %v, want %v", c.P(), want)
	}
	low, high := c.Interval(c.P())
	if math.Abs(low-1) > 1e-9 || high <= b/a {
		t.Errorf("at its own P the interval is %v to %v: it does not end at no change", low, high)
	}
}

// A single value against repeats is Student's t with the repeats' scatter for both.
func TestOneAgainstMany(t *testing.T) {
	many := Repeats([]float64{100, 102, 98, 101})
	c, err := Compare(Repeats([]float64{110}), many)
	if err != nil {
		t.Fatal(err)
	}
	s := math.Sqrt((0.0625 + 3.0625 + 5.0625 + 0.5625) / 3)
	if want := tails((100.25-110)/(s*math.Sqrt(1+0.25)), 3); math.Abs(c.P()-want) > 1e-12 {
		t.Errorf("P %v, want %v", c.P(), want)
	}
	if back, _ := Compare(many, Repeats([]float64{110})); math.Abs(back.P()-c.P()) > 1e-12 {
		t.Errorf("the other way round: %v and %v", back.P(), c.P())
	}
	if _, err := Compare(Repeats([]float64{1}), Repeats([]float64{2})); !errors.Is(err, ErrUnknown) {
		t.Errorf("two single values: %v", err)
	}
}

// Whatever comes in, an interval is one: its ends are in order, at least 0 and no NaN.
func TestIntervalsAtTheEdge(t *testing.T) {
	for _, a := range []Mean{{Value: 1, DF: 1}, {Value: 1, SE: 5, DF: 1}, {Value: 1e-300, SE: 1e-300, DF: 0.5}, {Value: 1e300, SE: 1e300, DF: 3}, {Value: 1, SE: 1e300, DF: 2}} {
		for _, b := range []Mean{{Value: 1, DF: 1}, {Value: 2, SE: 1e-9, DF: 100}, {Value: 1e300, SE: 1e299, DF: 1}, {Value: 1e-300, SE: 1, DF: 1}} {
			c, err := Compare(a, b)
			if err != nil {
				t.Fatal(err)
			}
			for _, alpha := range []float64{0.5, 0.05, 1e-8, 1e-200} {
				low, high := c.Interval(alpha)
				if !(low >= 0 && high >= low) || !(c.P() >= 0 && c.P() <= 1) {
					t.Errorf("%+v %+v at %v: %v to %v, P %v", a, b, alpha, low, high, c.P())
				}
			}
		}
	}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := Compare(Mean{Value: bad, DF: 1}, Mean{Value: 1, DF: 1}); err == nil {
			t.Errorf("a mean of %v passes", bad)
		}
		if _, err := CompareQuantiles(Quantile{Value: 1}, Quantile{Value: bad}); err == nil {
			t.Errorf("a percentile of %v passes", bad)
		}
	}
}

func TestRatioErrors(t *testing.T) {
	ones := slices.Repeat([]float64{1}, 30)
	if _, err := Ratio(ones[:19], ones[:19]); !errors.Is(err, ErrRows) {
		t.Errorf("19 rows: %v", err)
	}
	line := make([]float64, 30)
	for i := range line {
		line[i] = float64(i)
	}
	if _, err := Ratio(line, ones); !errors.Is(err, ErrRows) {
		t.Errorf("rows that only rise: %v", err)
	}
	if _, err := Ratio(ones, make([]float64, 30)); err == nil {
		t.Error("0/0 passes")
	}
	if m, err := Ratio(ones, ones); err != nil || m.SE != 0 || m.Value != 1 || !(m.DF > 0) {
		t.Errorf("rows all alike: %+v, %v", m, err)
	}
	// A rate that a provider holds: rows that differ by how the clock was read.
	clock := make([]float64, 30)
	for i := range clock {
		clock[i] = 1 + 1e-9*float64(i)
	}
	if m, err := Ratio(ones, clock); err != nil || m.SE > 1e-8 || m.DF != 29 {
		t.Errorf("rows alike but for the clock: %+v, %v", m, err)
	}
	if m := (Mean{SE: 1}).AtLeast(2); m.SE != 2 {
		t.Errorf("at least 2: %+v", m)
	}
}

// A day of rows is added up in groups, and nothing is lost.
func TestGrouped(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	y, x := ar1(r, 86_399, 0.5, 0.02)
	m, err := Ratio(y, x)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(m.Value-sum(y)/sum(x)) > 1e-12 || m.N != 86_399 {
		t.Errorf("%+v", m)
	}
	// The variance of a mean of n is σ²(1+φ)/(1-φ)/n.
	if want := 0.02 * math.Sqrt(3.0/86_399); m.SE < 0.6*want || m.SE > 1.6*want {
		t.Errorf("standard error %v, in theory %v", m.SE, want)
	}
}

func sum(v []float64) (s float64) {
	for _, x := range v {
		s += x
	}
	return s
}

// ar1 makes n rows around 1 that hang together by phi, with a scatter of sd.
func ar1(r *rand.Rand, n int, phi, sd float64) (y, x []float64) {
	state := r.NormFloat64()
	for range n {
		state = phi*state + math.Sqrt(1-phi*phi)*r.NormFloat64()
		y, x = append(y, 1+sd*state), append(x, 1)
	}
	return y, x
}

// compareRows compares two series.
func compareRows(t *testing.T, ya, xa, yb, xb []float64) (Comparison, bool) {
	t.Helper()
	a, errA := Ratio(ya, xa)
	b, errB := Ratio(yb, xb)
	if errA != nil || errB != nil {
		if err := errors.Join(errA, errB); !errors.Is(err, ErrRows) {
			t.Fatal(err)
		}
		return nil, false
	}
	c, err := Compare(a, b)
	if err != nil {
		t.Fatal(err)
	}
	return c, true
}

// within says that hits of n lie within 5 standard deviations of a rate of at most want; least, if
// over 0, is what they must reach.
func within(t *testing.T, what string, hits, n int, most, least float64) {
	t.Helper()
	got := float64(hits) / float64(n)
	if limit := most + 5*math.Sqrt(most*(1-most)/float64(n)); got > limit {
		t.Errorf("%s: %.4f of %d, promised is %.4f (5 sigma: %.4f)", what, got, n, most, limit)
	}
	if limit := least - 5*math.Sqrt(least*(1-least)/float64(n)); got < limit {
		t.Errorf("%s: %.4f of %d, at least %.4f is due (5 sigma: %.4f)", what, got, n, least, limit)
	}
}

// Two series of the same process, whatever they hang together by, differ at most as often as alpha
// promises; and one that is 5 % less is found where the length of the series lets it be.
func TestFalseDifferences(t *testing.T) {
	const reps = 3000
	r := rand.New(rand.NewPCG(2, 0))
	for _, c := range []struct {
		rows  int
		phi   float64
		power float64 // of finding 5 % at 1 %, with a scatter of 2 %
	}{
		{20, 0, 0.55}, {60, 0, 0.99}, {300, 0, 0.99}, {60, -0.4, 0.99}, {20, 0.5, 0.25}, {60, 0.5, 0.95}, {300, 0.5, 0.99}, {20, 0.9, 0}, {60, 0.9, 0},
		{300, 0.9, 0.95}, {1200, 0.9, 0.99},
	} {
		var at5, at1, found int
		for range reps {
			ya, xa := ar1(r, c.rows, c.phi, 0.02)
			yb, xb := ar1(r, c.rows, c.phi, 0.02)
			if same, ok := compareRows(t, ya, xa, yb, xb); ok {
				if p := same.P(); p <= 0.05 {
					at5++
					if p <= 0.01 {
						at1++
					}
				}
			}
			for i := range yb {
				yb[i] -= 0.05
			}
			if slower, ok := compareRows(t, ya, xa, yb, xb); ok {
				if _, high := slower.Interval(0.01); high < 1 {
					found++
				}
			}
		}
		name := func(what string) string { return fmt.Sprintf("%s of %d rows, phi %v", what, c.rows, c.phi) }
		within(t, name("false at 5 %"), at5, reps, 0.05, 0)
		within(t, name("false at 1 %"), at1, reps, 0.01, 0)
		within(t, name("5 % found"), found, reps, 1, c.power)
	}
}

// A slow movement below noise, which no process of order 1 is, is seen, too, where the run is long against
// it: half of the variance is noise, or four fifths, the rest are rows that hang together by phi. Without
// the look at sums of neighbours, 9 % of the differences of nothing would be shown of 300 rows that hang
// together by 0.95, without the look at the slope of the spectrum a fourth. What is slower than a tenth of
// the run is not all seen: the last two have the rate that is.
func TestSlowMovementBelowNoise(t *testing.T) {
	const reps = 3000
	r := rand.New(rand.NewPCG(5, 0))
	for _, c := range []struct {
		rows        int
		phi, noise  float64
		most, power float64 // of finding 5 % at 1 %
	}{
		{300, 0.9, 0.02, 0.05, 0.9}, {300, 0.95, 0.02, 0.05, 0.6}, {1200, 0.95, 0.02, 0.05, 0.97}, {1200, 0.95, 0.04, 0.05, 0.97},
		{1200, 0.98, 0.02, 0.05, 0.75}, {1200, 0.98, 0.04, 0.05, 0.8}, {300, 0.95, 0.04, 0.08, 0.75}, {300, 0.98, 0.02, 0.09, 0.3},
	} {
		shown, found := 0, 0
		for range reps {
			ya, xa := ar1(r, c.rows, c.phi, 0.02)
			yb, xb := ar1(r, c.rows, c.phi, 0.02)
			for i := range ya {
				ya[i] += c.noise * r.NormFloat64()
				yb[i] += c.noise * r.NormFloat64()
			}
			if same, ok := compareRows(t, ya, xa, yb, xb); ok && same.P() <= 0.05 {
				shown++
			}
			for i := range yb {
				yb[i] -= 0.05
			}
			if slower, ok := compareRows(t, ya, xa, yb, xb); ok && slower.P() <= 0.01 {
				found++
			}
		}
		name := fmt.Sprintf("%d rows, phi %v, noise %v: ", c.rows, c.phi, c.noise)
		within(t, name+"false at 5 %", shown, reps, c.most, 0)
		within(t, name+"5 % found", found, reps, 1, c.power)
	}
}

// Sums of a process of order 1 hang together as they do when they are made.
func TestSumPhi(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 0))
	for _, c := range []struct {
		phi  float64
		size int
	}{{0, 4}, {0.5, 2}, {0.5, 8}, {0.9, 4}, {0.9, 16}} {
		y, _ := ar1(r, 1<<18, c.phi, 1)
		v := sums(y, c.size)
		got, want := autocorrelation(v), sumPhi(c.phi, float64(c.size))
		if sigma := 1 / math.Sqrt(float64(len(v))); math.Abs(got-want) > 5*sigma { // at most, of an autocorrelation
			t.Errorf("phi %v, sums of %d: %.4f, in theory %.4f (sigma %.4f)", c.phi, c.size, got, want, sigma)
		}
	}
}
