package report

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"blkstorm/histogram"
	"blkstorm/op"
	"blkstorm/result"
	"blkstorm/result/load"
	"blkstorm/result/load/loadtest"
)

func TestBins(t *testing.T) {
	for ns := int64(1); ns <= histogram.Highest; ns += 1 + ns/37 {
		b := binOf(ns)
		low, high := math.Pow(10, float64(b)/perDecade), math.Pow(10, float64(b+1)/perDecade)
		if b < 0 || b >= bins || float64(ns) < low*(1-1e-9) || float64(ns) > high*(1+1e-9) {
			t.Fatalf("%d ns is in class %d, %g to %g", ns, b, low, high)
		}
		// The class of its bucket is the same, or that of a neighbour less than a bucket's width away.
		if c := int(binOfBucket[histogram.Index(ns)]); c != b && (c < b-1 || c > b+1 || math.Min(math.Abs(float64(ns)/low-1), math.Abs(float64(ns)/high-1)) > 1.0/512) {
			t.Fatalf("%d ns is in class %d, its bucket in class %d", ns, b, c)
		}
	}
	if binOf(0) != 0 || binOf(-5) != 0 || binOf(math.MaxInt64) != bins-1 {
		t.Error("the ends")
	}
}

// TestSpreadLosesNothing: an estimate from a row has as many I/Os as the row, none below its minimum or above its
// maximum, and the maximum where it is.
func TestSpreadLosesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	list, _ := rows(r, 0, 2000, 1, 1)
	for _, in := range list {
		var c counts
		c.spread(&in.Read)
		sum := uint64(0)
		for i, n := range c {
			sum += n
			if n > 0 && (i < binOf(in.Read.Min) || i > binOf(in.Read.Max)) {
				t.Fatalf("%+v has I/Os in class %d", in.Read, i)
			}
		}
		if sum != in.Read.IOs || sum > 0 && c[binOf(in.Read.Max)] == 0 {
			t.Fatalf("%+v became %d I/Os", in.Read, sum)
		}
	}
}

// run is a folder of two points: one of equal I/Os with one stall in its third second, and one without.
func run(t *testing.T) *load.Result {
	t.Helper()
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	calm := loadtest.Load{Op: op.Read, N: 1000, NS: 100_000, Bytes: 4096}
	first := loadtest.Steady(5, calm, loadtest.Load{Op: op.Write, N: 500, NS: 300_000, Bytes: 4096})
	first[2] = append(first[2], loadtest.Load{Op: op.Read, N: 1, NS: 2_000_000_000, Bytes: 4096})
	f := (&loadtest.Run{Points: []loadtest.Point{
		{Label: "stalled", Start: start, Rows: first},
		{Label: "calm", Start: start.Add(10 * time.Second), Rows: loadtest.Steady(4, calm)},
	}}).Folder(t)
	r, err := load.Open(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestHeatOfALog: every I/O of the log is in the map, the stall in the column of its second and in the class of its
// latency, and nowhere else.
func TestHeatOfALog(t *testing.T) {
	r := run(t)
	h := newHeat(r.Doc, newTimeline(r.Doc))
	var bad damage
	if h.read(r, &bad); bad.lines > 0 {
		t.Fatal(bad.first)
	}
	if h.width != 1 || h.estimated {
		t.Fatalf("columns of %g s, estimated %v", h.width, h.estimated)
	}
	sum, stall := uint64(0), binOf(2_000_000_000)
	for key, c := range h.columns {
		for i, n := range c.counts {
			sum += n
			if want := key == (heatKey{0, 2}) && i == stall; i >= stall-1 && (n > 0) != want {
				t.Errorf("column %v has %d I/Os in class %d", key, n, i)
			}
		}
	}
	want := r.Doc.Points[0].Total.IOs + r.Doc.Points[1].Total.IOs
	if sum != want {
		t.Errorf("the map has %d I/Os, the document %d", sum, want)
	}
	data := h.data()
	if len(data.X) != 9 || data.X[5] != 10 || data.W[0] != 1 {
		t.Errorf("columns at %v, %v wide", data.X, data.W)
	}
}

// TestLongHeat: a map has as many columns as a screen, however long the run.
func TestLongHeat(t *testing.T) {
	for _, hours := range []float64{0.01, 1, 24, 24 * 30} {
		d := docOf(16, hours*3600)
		h := newHeat(d, newTimeline(d))
		for i := range int(hours * 3600) {
			h.addRow(&result.Interval{TS: float64(i), LengthS: 1, Read: result.IntervalStat{IOs: 2, Max: 9}})
		}
		if n := len(h.columns); n > maxColumns || float64(n) < min(500, hours*3600)/2 || !h.estimated {
			t.Errorf("%g hours: %d columns of %g s", hours, n, h.width)
		}
		sum := uint64(0)
		for _, c := range h.columns {
			for _, n := range c.counts {
				sum += n
			}
		}
		if sum != 2*uint64(hours*3600) {
			t.Errorf("%g hours: %d I/Os in the map", hours, sum)
		}
	}
}

// TestCurves: the curve is the percentiles of the document's histogram, to 99.999 % and no further than there are
// I/Os for; the total's is that of reads and writes merged.
func TestCurves(t *testing.T) {
	r := run(t)
	list := curves(r.Doc)
	if len(list) != 2 || len(list[0].Of) != 3 || len(list[1].Of) != 1 {
		t.Fatalf("%+v", list)
	}
	total := list[0].Of[0]
	h := histogram.New()
	for _, s := range []*result.Stat{r.Doc.Points[0].Read, r.Doc.Points[0].Write} {
		part, err := load.Histogram(s.Latency)
		if err != nil {
			t.Fatal(err)
		}
		h.Merge(part)
	}
	for i, v := range total.Curve {
		if want := h.Percentile(curvePercents[i]); int64(v) != want {
			t.Errorf("p%g is %g, want %d", curvePercents[i], v, want)
		}
	}
	// 7501 I/Os: 10^3.875 is the last step, the 47th of 1/12 decade at most.
	if n := len(total.Curve); n != 1+46 {
		t.Errorf("the curve of %d I/Os has %d places", h.Count(), n)
	}
	sum := uint64(0)
	for i := 1; i < len(total.Histogram); i += 2 {
		sum += total.Histogram[i]
	}
	if sum != h.Count() || list[1].Of[0].Name != "read" {
		t.Errorf("%d I/Os in the histogram, want %d; %q", sum, h.Count(), list[1].Of[0].Name)
	}
	if last := curvePercents[len(curvePercents)-1]; math.Abs(last-99.999) > 1e-9 {
		t.Errorf("curves end at %g %%", last)
	}
}
