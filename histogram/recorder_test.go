package histogram

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var compare = cmp.AllowUnexported(Histogram{}, moments{})

// latencies returns n values spread log-uniformly over the whole range.
func latencies(seed uint64, n int) []int64 {
	rng := rand.New(rand.NewPCG(seed, 0))
	v := make([]int64, n)
	for i := range v {
		v[i] = int64(math.Exp(rng.Float64() * math.Log(Highest)))
	}
	return v
}

func TestRecordNIsNTimesRecord(t *testing.T) {
	one, many := NewRecorder(), NewRecorder()
	for i, v := range append(latencies(3, 3000), -5, 0, Highest, Highest+1, math.MinInt64, math.MaxInt64) {
		n := uint32(i % 17)
		many.RecordN(v, n)
		for range n {
			one.Record(v)
		}
	}
	a, b := New(), New()
	a.AddRecorder(one)
	b.AddRecorder(many)
	if d := cmp.Diff(a, b, compare); d != "" {
		t.Fatal(d)
	}
}

func TestClamps(t *testing.T) {
	r := NewRecorder()
	r.Record(-1)
	r.Record(math.MinInt64)
	r.RecordN(Highest+1, 3)
	r.Record(Highest)
	r.Record(0)
	if r.Count() != 7 || r.Clamped() != 5 {
		t.Fatalf("count %d clamped %d, want 7 and 5", r.Count(), r.Clamped())
	}
	h := New()
	h.AddRecorder(r)
	if h.Min() != 0 || h.Max() != Highest || h.Clamped() != 5 || h.Mean() != 4.0*Highest/7 {
		t.Fatalf("min %d max %d clamped %d mean %g", h.Min(), h.Max(), h.Clamped(), h.Mean())
	}
	if h.Percentile(40) != 0 || h.Percentile(50) != Highest {
		t.Fatalf("p40 %d p50 %d", h.Percentile(40), h.Percentile(50))
	}
}

// TestCountsNeverWrap drives buckets past 32 bits in the ways that recording has.
func TestCountsNeverWrap(t *testing.T) {
	r := NewRecorder()
	r.RecordN(5, math.MaxUint32)
	r.Record(5) // 2^32
	r.RecordN(5, math.MaxUint32)
	r.RecordN(5, math.MaxUint32) // 3·2^32 - 2
	r.RecordN(70_000, math.MaxUint32)
	r.RecordN(70_000, 2) // 2^32 + 1
	want := map[int64]uint64{5: 3<<32 - 2, 70_000: 1<<32 + 1}
	for round := range 2 {
		h := New()
		h.AddRecorder(r)
		var total uint64
		for b := range h.Buckets() {
			for v, n := range want {
				if b.Low <= v && v <= b.High && b.Count != n {
					t.Errorf("round %d: %d values in the bucket of %d, want %d", round, b.Count, v, n)
				}
			}
			total += b.Count
		}
		if total != h.Count() || total != r.Count() {
			t.Fatalf("round %d: buckets hold %d, histogram %d, recorder %d", round, total, h.Count(), r.Count())
		}
		// A second life after the spill must start from nothing.
		r.Reset()
		r.Record(5)
		want = map[int64]uint64{5: 1}
	}
}

func TestResetLeavesNothing(t *testing.T) {
	r := NewRecorder()
	for _, v := range latencies(4, 1000) {
		r.Record(v)
	}
	r.Record(-1)
	r.Reset()
	if *r != *NewRecorder() {
		t.Fatal("a reset recorder differs from a new one")
	}
	r.Reset()
	if *r != *NewRecorder() {
		t.Fatal("resetting an empty recorder changed it")
	}
}

func TestMergingManyIsOne(t *testing.T) {
	values := latencies(5, 20_000)
	whole := NewRecorder()
	parts := make([]*Recorder, 7)
	for i := range parts {
		parts[i] = NewRecorder()
	}
	for i, v := range values {
		whole.Record(v)
		parts[i*i%len(parts)].Record(v) // squares mod 7 leave three parts empty, as idle threads do
	}
	want := New()
	want.AddRecorder(whole)

	direct, tree := New(), New()
	for _, p := range parts {
		direct.AddRecorder(p)
		h := New()
		h.AddRecorder(p)
		tree.Merge(h)
	}
	if d := cmp.Diff(want, direct, compare); d != "" {
		t.Error("recorders added to one histogram:", d)
	}
	if d := cmp.Diff(want, tree, compare); d != "" {
		t.Error("histograms merged:", d)
	}
}

func TestHotPathDoesNotAllocate(t *testing.T) {
	r, h := NewRecorder(), New()
	h.AddRecorder(func() *Recorder { r := NewRecorder(); r.Record(1); return r }())
	if n := testing.AllocsPerRun(100, func() {
		r.Record(1234)
		r.Record(-1)
		r.RecordN(99_999, 16)
		h.AddRecorder(r)
		r.Reset()
	}); n != 0 {
		t.Fatalf("%g allocations per round", n)
	}
}

// device is what a fast SSD looks like: 80 µs give or take a fifth.
func device(n int) []int64 {
	rng := rand.New(rand.NewPCG(6, 0))
	v := make([]int64, n)
	for i := range v {
		v[i] = int64(80_000 * math.Exp(rng.NormFloat64()*0.2))
	}
	return v
}

func BenchmarkRecord(b *testing.B) {
	r, v := NewRecorder(), device(4096)
	i := 0
	for b.Loop() {
		r.Record(v[i&4095])
		i++
	}
}

func BenchmarkRecordN(b *testing.B) {
	r, v := NewRecorder(), device(4096)
	i := 0
	for b.Loop() {
		r.RecordN(v[i&4095], 16)
		i++
	}
}

func BenchmarkReset(b *testing.B) {
	r, v := NewRecorder(), device(4096)
	for b.Loop() {
		r.Record(v[0])
		r.Record(v[1] * 10)
		r.Reset()
	}
}

func BenchmarkMerge(b *testing.B) {
	r, h := NewRecorder(), New()
	for _, v := range device(100_000) {
		r.Record(v)
	}
	for b.Loop() {
		h.AddRecorder(r)
	}
}
