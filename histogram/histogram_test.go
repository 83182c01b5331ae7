package histogram

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func histogramOf(values ...int64) *Histogram {
	r := NewRecorder()
	for _, v := range values {
		r.Record(v)
	}
	h := New()
	h.AddRecorder(r)
	return h
}

func TestEmptyIsZero(t *testing.T) {
	h := New()
	for _, p := range []float64{0, 50, 100, math.NaN()} {
		if h.Percentile(p) != 0 {
			t.Errorf("percentile %g of nothing is %d", p, h.Percentile(p))
		}
	}
	if h.Count() != 0 || h.Min() != 0 || h.Max() != 0 || h.Mean() != 0 || h.StdDev() != 0 || h.Clamped() != 0 {
		t.Error("figures of an empty histogram are not 0")
	}
	for b := range h.Buckets() {
		t.Errorf("bucket %v of nothing", b)
	}
	h.Reset()
	h.Merge(New())
	if d := cmp.Diff(h.Clone(), new(Histogram), compare); d != "" {
		t.Error(d)
	}
}

// TestPercentileIsNearestRank compares with the sorted values themselves.
func TestPercentileIsNearestRank(t *testing.T) {
	percentiles := []float64{0.001, 1, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99, 99.999, 99.9999, 100}
	for _, n := range []int{1, 2, 3, 7, 100, 1000, 10_000} {
		values := latencies(uint64(n), n)
		h := histogramOf(values...)
		slices.Sort(values)
		for _, p := range percentiles {
			// The rank by exact arithmetic on the decimal that p stands for.
			q := big.NewRat(int64(math.Round(p*1e6)), 100e6)
			q.Mul(q, big.NewRat(int64(n), 1))
			rank := new(big.Int).Add(q.Num(), new(big.Int).Sub(q.Denom(), big.NewInt(1)))
			rank.Quo(rank, q.Denom())
			truth := values[max(rank.Int64(), 1)-1]

			_, high := Range(Index(truth))
			if got, want := h.Percentile(p), min(high, values[n-1]); got != want {
				t.Errorf("n %d: p%g = %d, want %d (rank %d, value %d)", n, p, got, want, rank, truth)
			}
		}
	}
}

func TestRankOf(t *testing.T) {
	for _, c := range []struct {
		p       float64
		n, want uint64
	}{
		{99.9, 1000, 999}, // the float64 nearest to 99.9 lies above it
		{99.9, 1001, 1000},
		{99.99, 10_000, 9999},
		{99.999, 100_000, 99_999},
		{50, 2, 1},
		{50, 3, 2},
		{1e-12, 10, 1},
		{33.3, 1000, 333},
		{0.1, 1000, 1},
		{99.999999999, 10, 10},
		{99, 1 << 53, 8917127262193583}, // 0.99 · 2^53 = 8917127262193582.08
		{50, math.MaxUint64, 1 << 63},
	} {
		if got := rankOf(c.p, c.n); got != c.want {
			t.Errorf("rankOf(%v, %d) = %d, want %d", c.p, c.n, got, c.want)
		}
	}
}

// TestPercentileAgainstReference holds for ranks on which both definitions agree: the reference
// rounds p/100·n to the nearest rank, the definition rounds up.
func TestPercentileAgainstReference(t *testing.T) {
	values := latencies(8, 100_000)
	h, ref := histogramOf(values...), reference()
	for _, v := range values {
		if err := ref.RecordValue(v); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []float64{1, 5, 10, 50, 90, 95, 99, 99.5, 99.9, 99.99, 99.999, 100} {
		if got, want := h.Percentile(p), min(ref.ValueAtPercentile(p), h.Max()); got != want {
			t.Errorf("p%g = %d, reference %d", p, got, want)
		}
	}
	if h.Percentile(0) != slices.Min(values) || h.Percentile(-1) != slices.Min(values) || h.Percentile(math.NaN()) != slices.Min(values) {
		t.Error("p0 is not the exact minimum")
	}
	if h.Percentile(100) != slices.Max(values) || h.Percentile(math.Inf(1)) != slices.Max(values) {
		t.Error("p100 is not the exact maximum")
	}
}

func TestPercentileStaysWithinMinAndMax(t *testing.T) {
	for _, v := range latencies(9, 2000) {
		h := histogramOf(v, v)
		for _, p := range []float64{1e-9, 50, 99.9999} {
			if h.Percentile(p) != v {
				t.Fatalf("p%g of only %d is %d", p, v, h.Percentile(p))
			}
		}
	}
}

func TestRelativeError(t *testing.T) {
	r, h := NewRecorder(), New()
	for v := float64(100); v <= Highest; v *= 1.0007 {
		r.Reset()
		r.Record(int64(v))
		r.Record(Highest) // keeps max from correcting the answer
		h.Reset()
		h.AddRecorder(r)
		if got := float64(h.Percentile(50)); math.Abs(got-v)/v > 0.001+1/v {
			t.Fatalf("%g ns reads %g: off by %g", v, got, math.Abs(got-v)/v)
		}
	}
}

// TestMomentsAgainstBigArithmetic takes data on which floating point or 64 bits would fail.
func TestMomentsAgainstBigArithmetic(t *testing.T) {
	type run struct {
		v int64
		n uint32
	}
	cases := map[string][]run{
		"mean 1e12, deviation 1": {{1e12 - 1, 500_000_000}, {1e12 + 1, 500_000_000}},
		"1e9 equal values":       {{123_456_789_012, 1_000_000_000}},
		"two far ends":           {{0, 1}, {Highest, 1}},
		"64-bit sums overflow":   {{Highest, math.MaxUint32}, {Highest, math.MaxUint32}, {1, math.MaxUint32}},
		"one odd one in 4e9":     {{Highest, math.MaxUint32}, {Highest - 1, 1}},
		"one value":              {{42, 1}},
	}
	var spread []run
	for _, v := range latencies(10, 5000) {
		spread = append(spread, run{v, uint32(v)%1000 + 1})
	}
	cases["log-uniform"] = spread

	for name, runs := range cases {
		t.Run(name, func(t *testing.T) {
			r := NewRecorder()
			n, sum := new(big.Int), new(big.Int)
			for _, x := range runs {
				r.RecordN(x.v, x.n)
				n.Add(n, big.NewInt(int64(x.n)))
				sum.Add(sum, new(big.Int).Mul(big.NewInt(x.v), big.NewInt(int64(x.n))))
			}
			mean := new(big.Rat).SetFrac(sum, n)
			dev := new(big.Rat) // Σ n(v-mean)², by the definition and not by the sums
			for _, x := range runs {
				d := new(big.Rat).Sub(new(big.Rat).SetInt64(x.v), mean)
				dev.Add(dev, d.Mul(d, d).Mul(d, new(big.Rat).SetInt64(int64(x.n))))
			}
			dev.Quo(dev, new(big.Rat).SetInt(n))
			variance, _ := dev.Float64()

			h := New()
			h.AddRecorder(r)
			if want, _ := mean.Float64(); h.Mean() != want {
				t.Errorf("mean %v, want %v", h.Mean(), want)
			}
			if want := math.Sqrt(variance); math.Abs(h.StdDev()-want) > 4e-16*want {
				t.Errorf("stddev %v, want %v", h.StdDev(), want)
			}
		})
	}
}

func TestMomentsReachThirdWord(t *testing.T) {
	// 2^13 merges of 2^32-1 one-hour values: their squares sum to 2^128.4.
	r := NewRecorder()
	r.RecordN(Highest, math.MaxUint32)
	r.RecordN(0, 1)
	h := New()
	h.AddRecorder(r)
	for range 13 {
		h.Merge(h.Clone())
	}
	if h.sqHi == 0 {
		t.Fatal("the case does not reach the third word")
	}
	// A share f = 2^-32 of zeros: mean H(1-f), deviation H√(f(1-f)).
	f := math.Exp2(-32)
	if want := Highest * (1 - f); math.Abs(h.Mean()-want) > 1e-15*want {
		t.Errorf("mean %v, want %v", h.Mean(), want)
	}
	if want := Highest * math.Sqrt(f*(1-f)); math.Abs(h.StdDev()-want) > 1e-15*want {
		t.Errorf("stddev %v, want %v", h.StdDev(), want)
	}
}

func TestResetAndClone(t *testing.T) {
	h := histogramOf(latencies(11, 1000)...)
	c := h.Clone()
	h.Reset()
	if h.Count() != 0 || h.Percentile(99) != 0 || h.Mean() != 0 {
		t.Error("reset histogram is not empty")
	}
	if slices.ContainsFunc(h.counts, func(c uint64) bool { return c != 0 }) {
		t.Error("reset left counts behind")
	}
	h.Merge(histogramOf(latencies(11, 1000)...))
	if d := cmp.Diff(h, c, compare); d != "" {
		t.Error("refilled after reset:", d)
	}
}

func TestBucketsSumToCount(t *testing.T) {
	h := histogramOf(latencies(12, 5000)...)
	var n uint64
	last := int64(-1)
	for b := range h.Buckets() {
		if b.Low <= last || b.Count == 0 {
			t.Fatalf("bucket %+v after %d", b, last)
		}
		last = b.High
		n += b.Count
	}
	if n != h.Count() {
		t.Errorf("buckets hold %d of %d values", n, h.Count())
	}
	for range h.Buckets() {
		break // a consumer may stop early
	}
}
