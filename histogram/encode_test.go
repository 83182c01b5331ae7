package histogram

import (
	"errors"
	"math"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
)

func TestEncodeEqualsReference(t *testing.T) {
	for name, values := range map[string][]int64{
		"empty":       nil,
		"zero":        {0},
		"one":         {1},
		"top":         {Highest},
		"log-uniform": latencies(20, 30_000),
	} {
		t.Run(name, func(t *testing.T) {
			ref := reference()
			for _, v := range values {
				if err := ref.RecordValue(v); err != nil {
					t.Fatal(err)
				}
			}
			h := histogramOf(values...)
			code, err := h.Encode()
			if err != nil {
				t.Fatal(err)
			}
			got, err := hdr.Decode([]byte(code))
			if err != nil {
				t.Fatal(err)
			}
			if !got.Equals(ref) {
				t.Error("what the reference decodes differs from what it recorded")
			}

			back, err := Decode(code)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(back.counts, h.counts); d != "" {
				t.Error("counts after a round trip:", d)
			}
			// The decoded figures are the reference's own, which work from bucket middles too.
			if want := min(ref.Mean(), Highest); math.Abs(back.Mean()-want) > 1e-12*want {
				t.Errorf("mean %v, reference %v", back.Mean(), want)
			}
			if want := ref.StdDev(); math.Abs(back.StdDev()-want) > 1e-9*want {
				t.Errorf("stddev %v, reference %v", back.StdDev(), want)
			}
			if back.Max() != min(ref.Max(), Highest) || back.Min() > h.Min() || back.Max() < h.Max() {
				t.Errorf("%d to %d, reference %d to %d, truth %d to %d", back.Min(), back.Max(), ref.Min(), ref.Max(), h.Min(), h.Max())
			}

			if err := back.Restore(h.Min(), h.Max(), h.Mean(), h.StdDev()); err != nil {
				t.Fatal(err)
			}
			if back.Min() != h.Min() || back.Max() != h.Max() || back.Mean() != h.Mean() {
				t.Errorf("restored: %d to %d mean %v, want %d to %d mean %v", back.Min(), back.Max(), back.Mean(), h.Min(), h.Max(), h.Mean())
			}
			// Written as float64s, mean and deviation leave the variance good to 2^-52 of mean².
			if math.Abs(back.StdDev()-h.StdDev()) > 1e-7*h.Mean() {
				t.Errorf("restored: stddev %v, want %v", back.StdDev(), h.StdDev())
			}
		})
	}
}

func TestDecodeForeignRange(t *testing.T) {
	ref := hdr.New(1, math.MaxInt64, 3)
	for _, v := range []int64{1000, Highest, 4e12, 1e15} {
		if err := ref.RecordValue(v); err != nil {
			t.Fatal(err)
		}
	}
	h := decodeOf(t, ref)
	if h.Count() != 4 || h.Clamped() != 2 || h.Max() != Highest || h.Percentile(100) != Highest {
		t.Errorf("count %d clamped %d max %d", h.Count(), h.Clamped(), h.Max())
	}
	small := hdr.New(1, 60_000_000_000, 3)
	if err := small.RecordValues(1_000_000, 7); err != nil {
		t.Fatal(err)
	}
	if h := decodeOf(t, small); h.Count() != 7 || h.Percentile(50) < 999_000 || h.Percentile(50) > 1_001_000 {
		t.Errorf("count %d p50 %d", h.Count(), h.Percentile(50))
	}
}

func decodeOf(t *testing.T, ref *hdr.Histogram) *Histogram {
	t.Helper()
	b, err := ref.Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	h, err := Decode(string(b))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestDecodeRefuses(t *testing.T) {
	encode := func(h *hdr.Histogram, n int64) string {
		if err := h.RecordValues(1<<20, n); err != nil {
			t.Fatal(err)
		}
		b, err := h.Encode(hdr.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	good := encode(reference(), 5)
	for name, s := range map[string]string{
		"nothing":        "",
		"not base64":     "HIST!",
		"cut":            good[:len(good)/2/4*4],
		"header only":    good[:12],
		"other digits":   encode(hdr.New(1, Highest, 5), 5),
		"other lowest":   encode(hdr.New(1000, Highest, 3), 5),
		"absurd count":   encode(reference(), maxDecoded+1),
		"something else": "aGVsbG8gd29ybGQ=",
	} {
		if h, err := Decode(s); !errors.Is(err, ErrEncoding) || h != nil {
			t.Errorf("%s: histogram %v, error %v", name, h, err)
		}
	}
}

func TestEncodeRefusesWhatTheFormatCannotHold(t *testing.T) {
	h := histogramOf(5)
	h.counts[5], h.count = 1<<63, 1<<63
	if _, err := h.Encode(); err == nil {
		t.Error("2^63 values were encoded")
	}
}

func TestRestoreRefusesStrangers(t *testing.T) {
	h := histogramOf(1_000_000, 2_000_000, 3_000_000)
	for name, f := range map[string]struct {
		min, max     int64
		mean, stddev float64
	}{
		"minimum elsewhere":  {900_000, 3_000_000, 2e6, 8e5},
		"negative minimum":   {-1, 3_000_000, 2e6, 8e5},
		"maximum elsewhere":  {1_000_000, 4_000_000, 2e6, 8e5},
		"maximum over 1 h":   {1_000_000, Highest + 1, 2e6, 8e5},
		"mean below minimum": {1_000_000, 3_000_000, 9e5, 8e5},
		"mean not a number":  {1_000_000, 3_000_000, math.NaN(), 8e5},
		"mean infinite":      {1_000_000, 3_000_000, math.Inf(1), 8e5},
		"deviation too wide": {1_000_000, 3_000_000, 2e6, 2e6},
		"deviation negative": {1_000_000, 3_000_000, 2e6, -1},
		"deviation NaN":      {1_000_000, 3_000_000, 2e6, math.NaN()},
	} {
		before := h.Clone()
		if err := h.Restore(f.min, f.max, f.mean, f.stddev); !errors.Is(err, ErrRestore) {
			t.Errorf("%s: error %v", name, err)
		}
		if d := cmp.Diff(before, h, compare); d != "" {
			t.Errorf("%s: a refused restore changed the histogram: %s", name, d)
		}
	}
	if err := New().Restore(1, 1, 1, 0); !errors.Is(err, ErrRestore) {
		t.Errorf("figures for an empty histogram: error %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, h := range []*Histogram{New(), histogramOf(0), histogramOf(latencies(21, 50)...)} {
		code, err := h.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(code)
	}
	foreign, err := hdr.New(1, math.MaxInt64, 3).Encode(hdr.V2CompressedEncodingCookieBase)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(foreign))
	f.Fuzz(func(t *testing.T, s string) {
		h, err := Decode(s)
		if err != nil {
			return
		}
		var n uint64
		for b := range h.Buckets() {
			n += b.Count
		}
		if n != h.Count() {
			t.Fatalf("buckets hold %d, count is %d", n, h.Count())
		}
		if h.Min() > h.Max() || h.Max() > Highest || h.Mean() < float64(h.Min()) || h.Mean() > float64(h.Max()) {
			t.Fatalf("min %d mean %g max %d", h.Min(), h.Mean(), h.Max())
		}
		if p := h.Percentile(50); p < h.Min() || p > h.Max() {
			t.Fatalf("p50 %d outside %d to %d", p, h.Min(), h.Max())
		}
		code, err := h.Encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(code)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(h.counts, back.counts); d != "" {
			t.Fatal(d)
		}
	})
}

func BenchmarkEncode(b *testing.B) {
	h := histogramOf(device(100_000)...)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.Encode(); err != nil {
			b.Fatal(err)
		}
	}
}
