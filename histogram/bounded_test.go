package histogram

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recordings are loads of all shapes: nothing, one value, the ends of the range and what lies beyond
// them, a cluster with a far outlier, all buckets, and random ones over random ranges.
func recordings(rng *rand.Rand) [][]int64 {
	all := [][]int64{
		nil, {0}, {1}, {Highest}, {0, Highest}, {math.MinInt64, math.MaxInt64}, {Highest + 1, 2 * Highest},
		{2047, 2048, 2049}, {80_000, 80_001, 30_000_000_000},
	}
	var every []int64
	for i := range Index(Highest) + 1 {
		low, _ := Range(i)
		every = append(every, low)
	}
	all = append(all, every)
	for range 60 {
		lo, hi := rng.Float64()*math.Log(2*Highest), rng.Float64()*math.Log(2*Highest)
		var v []int64
		for range 1 + rng.IntN(400) {
			v = append(v, int64(math.Exp(lo+rng.Float64()*(hi-lo)))-rng.Int64N(3))
		}
		all = append(all, v)
	}
	return all
}

// full is a histogram that is made bucket by bucket over the whole range, and value by value.
type full struct {
	counts [Buckets]uint64
	moments
}

func (f *full) add(values []int64, times uint32) {
	if f.count == 0 {
		f.min = math.MaxUint64
	}
	for _, ns := range values {
		v := uint64(min(max(ns, 0), Highest))
		if int64(v) != ns {
			f.clamped += uint64(times)
		}
		f.counts[index(v)] += uint64(times)
		f.addN(v, uint64(times))
	}
	if f.count == 0 {
		f.min = 0
	}
}

func check(t *testing.T, what string, h *Histogram, f *full) {
	t.Helper()
	if d := cmp.Diff(f.moments, h.moments, compare); d != "" {
		t.Fatalf("%s: %s", what, d)
	}
	if h.counts == nil {
		h.counts = make([]uint64, Buckets)
	}
	if !slices.Equal(h.counts, f.counts[:]) {
		t.Fatalf("%s: buckets differ", what)
	}
}

// TestBoundedIsFull compares merges, resets and percentiles, which look at the touched buckets only and
// pass over the empty ones among them, with the same over all buckets.
func TestBoundedIsFull(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	loads := recordings(rng)
	r, h, sum := NewRecorder(), New(), New() // each serves again after Reset
	for i, a := range loads {
		var want full
		h.Reset()
		sum.Reset()
		// Counts beyond 32 bits go through the upper halves.
		times := []uint32{1, 3, math.MaxUint32}[i%3]
		for _, part := range [][]int64{a, loads[rng.IntN(len(loads))], a} {
			r.Reset()
			for _, ns := range part {
				r.RecordN(ns, times)
			}
			h.AddRecorder(r)
			want.add(part, times)
		}
		check(t, "recorders", h, &want)
		sum.Merge(h)
		sum.Merge(New())
		check(t, "merged", sum, &want)
		want.add(a, 1)
		r.Reset()
		for _, ns := range a {
			r.Record(ns)
		}
		sum.AddRecorder(r)
		check(t, "merged on", sum, &want)
		checkPercentiles(t, rng, sum, &want)
	}
}

func checkPercentiles(t *testing.T, rng *rand.Rand, h *Histogram, f *full) {
	t.Helper()
	ps := []float64{-1, 0, 1e-9, 50, 95, 99, 99.9, 99.999, 100, 101, math.NaN(), 30}
	for range 10 {
		ps = append(ps, rng.Float64()*100)
	}
	got := make([]int64, len(ps))
	h.Percentiles(ps, got)
	for i, p := range ps {
		want := int64(0)
		switch {
		case f.count == 0:
		case !(p > 0):
			want = int64(f.min)
		case p >= 100:
			want = int64(f.max)
		default:
			rank, seen, b := rankOf(p, f.count), uint64(0), 0
			for ; seen+f.counts[b] < rank; b++ {
				seen += f.counts[b]
			}
			_, high := Range(b)
			want = min(max(high, int64(f.min)), int64(f.max))
		}
		if got[i] != want || h.Percentile(p) != want {
			t.Fatalf("p%g of %d values: %d together, %d alone, want %d", p, f.count, got[i], h.Percentile(p), want)
		}
	}
}
