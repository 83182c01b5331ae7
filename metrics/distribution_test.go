package metrics

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"blkstorm/histogram"
)

// The bucket of a latency is where it lies by definition: above 2^((n-1)/16) s and up to 2^(n/16) s. Raised
// to the 16th power, both sides are whole numbers or fractions.
func TestNativeBucket(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	list := []int64{1, 2, 3, 1e9 - 1, 1e9, 1e9 + 1, 5e8, 5e8 + 1, 25e7, 125e6, 2e9, 2e9 + 1, histogram.Highest}
	for range 2000 {
		list = append(list, int64(math.Exp(rng.Float64()*math.Log(histogram.Highest))))
	}
	for n := lowest; n <= highest; n++ { // and the integers around each end
		end := int64(math.Exp2(float64(n)/16) * 1e9)
		list = append(list, max(end, 1), min(end+1, histogram.Highest))
	}
	for _, ns := range list {
		n := nativeBucket(ns)
		power := new(big.Rat).SetFrac(new(big.Int).Exp(big.NewInt(ns), big.NewInt(16), nil), new(big.Int).Exp(big.NewInt(1e9), big.NewInt(16), nil))
		if power.Cmp(exp2(n)) > 0 || power.Cmp(exp2(n-1)) <= 0 {
			t.Errorf("%d ns are in bucket %d", ns, n)
		}
	}
}

func exp2(n int) *big.Rat {
	r := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(n, -n))))
	if n < 0 {
		r.Inv(r)
	}
	return r
}

// Counts are exact in sum, and each value is where it belongs, or less than 0.1 % beside.
func TestDistribution(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	var d distribution
	var values []int64
	var sum float64
	for range 3 { // three rows
		r, h := histogram.NewRecorder(), histogram.New()
		for range 20_000 {
			ns := int64(math.Exp(rng.Float64() * math.Log(histogram.Highest)))
			if rng.IntN(1000) == 0 {
				ns = 0
			}
			values = append(values, ns)
			sum += float64(ns)
			r.Record(ns)
		}
		h.AddRecorder(r)
		d.add(h)
	}
	if d.count != uint64(len(values)) || math.Abs(d.sum*1e9/sum-1) > 1e-12 {
		t.Errorf("count %d of %d, sum %g s, want %g ns", d.count, len(values), d.sum, sum)
	}
	all := d.zero
	for n, c := range d.buckets() {
		all += uint64(c)
		low, high := math.Exp2(float64(n-1)/16)*1e9, math.Exp2(float64(n)/16)*1e9
		inner, outer := 0, 0
		for _, ns := range values {
			v := float64(ns)
			if v > low*1.001 && v <= high*0.999 {
				inner++
			}
			if v > low*0.999 && v <= high*1.001 {
				outer++
			}
		}
		if int(c) < inner || int(c) > outer {
			t.Errorf("bucket %d holds %d, must hold %d to %d", n, c, inner, outer)
		}
	}
	if all != d.count {
		t.Errorf("the native buckets hold %d of %d", all, d.count)
	}
	for end, got := range d.cumulative() {
		least, most := uint64(0), uint64(0)
		for _, ns := range values {
			if float64(ns) <= end*1e9*0.999 {
				least++
			}
			if float64(ns) <= end*1e9*1.001 {
				most++
			}
		}
		if got < least || got > most {
			t.Errorf("up to %g s: %d, must be %d to %d", end, got, least, most)
		}
	}
	if c := d.clone(); c.native[0] != d.native[0] || &c.native[0] == &d.native[0] || &c.classic[0] == &d.classic[0] {
		t.Error("the clone is not one")
	}
}

// A quantile from native buckets, as a server interpolates it, is as near as promised.
func TestQuantile(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	r, h := histogram.NewRecorder(), histogram.New()
	for range 100_000 {
		r.Record(int64(80_000 * math.Exp(rng.NormFloat64()*0.5)))
	}
	h.AddRecorder(r)
	var d distribution
	d.add(h)
	for _, p := range []float64{50, 90, 99, 99.9} {
		rank, seen, n := p/100*float64(d.count), 0.0, lowest
		buckets := d.buckets()
		for seen+float64(buckets[n]) < rank {
			seen += float64(buckets[n])
			n++
		}
		got := math.Exp2((float64(n-1)+(rank-seen)/float64(buckets[n]))/16) * 1e9
		if want := float64(h.Percentile(p)); math.Abs(got/want-1) > 0.023 {
			t.Errorf("p%g: %g, want %g", p, got, want)
		}
	}
}

func BenchmarkAdd(b *testing.B) {
	rng := rand.New(rand.NewPCG(4, 4))
	r, h := histogram.NewRecorder(), histogram.New()
	for range 100_000 {
		r.Record(int64(80_000 * math.Exp(rng.NormFloat64()*0.2)))
	}
	h.AddRecorder(r)
	var d distribution
	d.add(h)
	b.ReportAllocs()
	for b.Loop() {
		d.add(h)
	}
}
