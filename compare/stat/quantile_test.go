package stat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// latencies makes rows of values whose level wanders from row to row.
func latencies(r *rand.Rand, rows, each int, phi, scale float64) [][]float64 {
	level, _ := ar1(r, rows, phi, 0.03)
	out := make([][]float64, rows)
	for i := range out {
		for range each {
			out[i] = append(out[i], scale*level[i]*math.Exp(0.3*r.NormFloat64()))
		}
	}
	return out
}

// quantileOf is a percentile of rows by nearest rank.
func quantileOf(t *testing.T, rows [][]float64, p float64) (Quantile, bool) {
	t.Helper()
	all := slices.Sorted(slices.Values(slices.Concat(rows...)))
	at := func(share float64) float64 {
		return all[min(max(int(math.Ceil(share*float64(len(all))))-1, 0), len(all)-1)]
	}
	q := Quantile{Value: at(p), At: at, Step: 0.001}
	var below, count []float64
	for _, row := range rows {
		n := 0.0
		for _, v := range row {
			if v <= q.Value {
				n++
			}
		}
		below, count = append(below, n), append(count, float64(len(row)))
	}
	m, err := Ratio(below, count)
	q.Share = m
	return q, err == nil
}

// Percentiles of two runs of the same kind differ at most as often as promised, and 5 % is found.
func TestFalseDifferencesOfPercentiles(t *testing.T) {
	const reps = 300
	r := rand.New(rand.NewPCG(3, 0))
	for _, c := range []struct {
		p, phi, power float64 // of finding 5 % at 5 %
	}{{0.5, 0, 0.99}, {0.5, 0.6, 0.7}, {0.99, 0, 0.5}, {0.99, 0.6, 0.3}, {0.999, 0, 0}} {
		var wrong, found int
		for range reps {
			a, okA := quantileOf(t, latencies(r, 60, 100, c.phi, 1), c.p)
			b, okB := quantileOf(t, latencies(r, 60, 100, c.phi, 1), c.p)
			slow, okS := quantileOf(t, latencies(r, 60, 100, c.phi, 1.05), c.p)
			if okA && okB {
				same, err := CompareQuantiles(a, b)
				if err != nil {
					t.Fatal(err)
				}
				p := same.P()
				if p <= 0.05 {
					wrong++
				}
				holds := func(alpha float64) bool {
					low, high := same.Interval(alpha)
					return low <= 1 && high >= 1
				}
				if p < 0.99 && (holds(1.01*p) || !holds(0.99*p)) {
					t.Fatalf("P is %v, and the intervals do not say so", p)
				}
			}
			if okA && okS {
				slower, err := CompareQuantiles(a, slow)
				if err != nil {
					t.Fatal(err)
				}
				if low, _ := slower.Interval(0.05); low > 1 {
					found++
				}
			}
		}
		name := fmt.Sprintf("p%v, phi %v: ", 100*c.p, c.phi)
		within(t, name+"false", wrong, reps, 0.05, 0)
		within(t, name+"5 % found", found, reps, 1, c.power)
	}
}

// Where there are no values above, nothing is known above.
func TestQuantileBeyondAllValues(t *testing.T) {
	at := func(share float64) float64 { return 100 * share }
	open := Quantile{Value: 99.9, Share: Mean{Value: 0.999, SE: 0.01, DF: 10}, At: at}
	known := Quantile{Value: 50, Share: Mean{Value: 0.5, SE: 0.001, DF: 10}, At: at}
	c, err := CompareQuantiles(known, open)
	if err != nil {
		t.Fatal(err)
	}
	if low, high := c.Interval(0.05); !math.IsInf(high, 1) || !(low > 1.9 && low < 2) {
		t.Errorf("%v to %v", low, high)
	}
	c, err = CompareQuantiles(open, known)
	if err != nil {
		t.Fatal(err)
	}
	if low, high := c.Interval(0.05); low != 0 || !(high < 0.53) {
		t.Errorf("%v to %v", low, high)
	}
	above := Quantile{Value: 200, Share: known.Share, At: func(share float64) float64 { return 400 * share }}
	if c, err = CompareQuantiles(open, above); err != nil || c.P() < 0.5 {
		t.Errorf("P %v, %v: twice a percentile whose upper limit is not known", c.P(), err)
	}
	zero := Quantile{Value: 1, Share: Mean{Value: 0.5, SE: 0.4, DF: 3}, At: func(float64) float64 { return 0 }}
	if c, err = CompareQuantiles(zero, zero); err != nil || c.P() != 1 {
		t.Errorf("%v, %v", c, err)
	}
}

// Values all alike are known to the step only.
func TestQuantileStep(t *testing.T) {
	exact := func(v float64) Quantile {
		return Quantile{Value: v, Share: Mean{Value: 0.99, DF: 20}, At: func(float64) float64 { return v }, Step: 0.001}
	}
	for v, different := range map[float64]bool{1000: false, 1000.5: false, 1010: true} {
		c, err := CompareQuantiles(exact(1000), exact(v))
		if err != nil {
			t.Fatal(err)
		}
		if p := c.P(); (p < 0.01) != different {
			t.Errorf("1000 and %v: P %v", v, p)
		}
	}
}

// Of what is shown, at most the promised part is false, although figures move together.
func TestLevel(t *testing.T) {
	const reps, many = 2000, 24
	r := rand.New(rand.NewPCG(4, 0))
	var any int
	var falseShare float64
	for range reps {
		null, mixed := make([]float64, many), make([]float64, many)
		for i := range many {
			if i%4 == 0 { // figures of one point: one load behind them
				null[i] = r.NormFloat64()
			} else {
				null[i] = 0.8*null[i-i%4] + 0.6*r.NormFloat64()
			}
			mixed[i] = null[i]
			if i < many/2 {
				mixed[i] += 4
			}
		}
		toP := func(z []float64) (ps []float64) {
			for _, v := range z {
				ps = append(ps, tails(v, 1e6))
			}
			return ps
		}
		ps := toP(null)
		if slices.Min(ps) <= Level(ps, 0.05) {
			any++
		}
		ps = toP(mixed)
		shown, wrong := 0.0, 0.0
		level := Level(ps, 0.05)
		for i, p := range ps {
			if p <= level {
				shown++
				if i >= many/2 {
					wrong++
				}
			}
		}
		falseShare += wrong / max(shown, 1) / reps
	}
	within(t, "any difference between like and like", any, reps, 0.05, 0)
	if falseShare > 0.05 {
		t.Errorf("%.3f of the differences are none", falseShare)
	}
	for _, c := range []struct {
		ps   []float64
		want float64
	}{{nil, 0.05}, {[]float64{0.04}, 0.05}, {[]float64{0.9, 0.8}, 0.025}, {[]float64{0.04, 0.05}, 0.05}, {[]float64{0.001, 0.03, 0.9, 0.9}, 0.0125}} {
		if got := Level(c.ps, 0.05); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("Level(%v) = %v, want %v", c.ps, got, c.want)
		}
	}
}
