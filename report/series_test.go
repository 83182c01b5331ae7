package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"blkstorm/device"
	"blkstorm/histogram"
	"blkstorm/host"
	"blkstorm/result"
)

// rows makes the rows of a point, of real latencies, and gives them with all the latencies of its window.
func rows(r *rand.Rand, point, n, targets int, interval float64) (list []*result.Interval, all *histogram.Histogram) {
	all = histogram.New()
	rec, h := histogram.NewRecorder(), histogram.New()
	stat := func() (s result.IntervalStat) {
		rec.Reset()
		h.Reset()
		for range r.IntN(40) {
			rec.Record(int64(math.Exp(r.Float64()*14 + 3)))
		}
		h.AddRecorder(rec)
		all.Merge(h)
		s.IOs, s.Bytes, s.Errors = h.Count(), 4096*h.Count(), uint64(r.IntN(2))
		s.Response = &result.IntervalResponse{P99: 2 * h.Percentile(99), Max: 2 * h.Max()}
		s.Mean, s.StdDev, s.Min, s.Max = int64(math.Round(h.Mean())), int64(math.Round(h.StdDev())), h.Min(), h.Max()
		s.P50, s.P95, s.P99 = h.Percentile(50), h.Percentile(95), h.Percentile(99)
		return s
	}
	for i := range n {
		in := &result.Interval{Point: point, TS: float64(i) * interval, LengthS: interval, Read: stat(), Write: stat(), InFlight: int64(r.IntN(64)),
			CPU: host.CPUShare{UserPct: r.Float64() * 50, StealPct: r.Float64() * 10}}
		if targets > 1 {
			in.Targets = make([]result.IntervalTarget, targets)
			in.Targets[0].Read, in.Targets[targets-1].Write = in.Read, in.Write
		}
		list = append(list, in)
	}
	return list, all
}

func docOf(targets int, windows ...float64) *result.Doc {
	d := &result.Doc{}
	for i := range targets {
		d.Targets = append(d.Targets, &device.Facts{Path: fmt.Sprintf("/dev/sd%c", 'b'+i)})
	}
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i, w := range windows {
		empty := func() *result.Stat { return &result.Stat{Latency: &result.Latency{}} }
		d.Points = append(d.Points, &result.Point{Label: fmt.Sprintf("p%d", i), Phase: "measure", Started: start, WindowS: w, Completed: true,
			Total: empty(), Read: empty(), Write: empty(), Trim: empty(), Sync: empty()})
		start = start.Add(time.Duration(w * 1e9))
	}
	return d
}

// TestBucketsKeepWhatRowsHave: for every kind of bucket, counts add up to those of the rows, the highest latency and
// the worst p99 of its rows are its own, to the nanosecond, and means and deviations are those of all its I/Os.
func TestBucketsKeepWhatRowsHave(t *testing.T) {
	for _, c := range []struct {
		n        int
		interval float64
		targets  int
		width    float64 // that is expected
	}{{100, 1, 1, 0.05}, {5000, 1, 1, 2}, {3200, 1, 16, 2}, {4100, 0.1, 1, 0.2}, {300, 60, 3, 5}, {4100, 60, 3, 120}} {
		r := rand.New(rand.NewPCG(1, uint64(c.n)))
		list, all := rows(r, 0, c.n, c.targets, c.interval)
		d := docOf(c.targets, float64(c.n)*c.interval)
		tl := newTimeline(d)
		if tl.width != c.width {
			t.Errorf("%d rows of %g s and %d targets: buckets of %g s, want %g", c.n, c.interval, c.targets, tl.width, c.width)
		}
		s := newSeries(d, tl)
		for _, in := range list {
			s.add(in)
		}
		if s.left != 0 || len(s.list) > maxBuckets+1 {
			t.Fatalf("%d rows left out, %d buckets", s.left, len(s.list))
		}
		var ios, errors uint64
		var m moments
		top, rowsSeen, next := int64(0), 0, 0
		for _, b := range s.list {
			rowsSeen += b.rows
			worst, high, low := [3]int64{}, 0.0, math.Inf(1)
			for _, in := range list[next : next+b.rows] {
				worst[0], worst[1] = max(worst[0], in.Read.P99), max(worst[1], in.Write.P99)
				rate := float64(in.Read.IOs+in.Write.IOs) / in.LengthS
				high, low = max(high, rate), min(low, rate)
			}
			next += b.rows
			if b.ops[0].responseP99 != 2*worst[0] || b.ops[0].responseMax != 2*b.ops[0].max || b.ops[0].p99 != worst[0] || b.ops[1].p99 != worst[1] || b.high != high || b.low != low {
				t.Fatalf("a bucket of %d rows: p99 %d and %d, IOPS %g to %g; want %v, %g to %g", b.rows, b.ops[0].p99, b.ops[1].p99, b.low, b.high, worst, low, high)
			}
			for i := range b.ops {
				ios, errors, top = ios+b.ops[i].ios, errors+b.ops[i].errors, max(top, b.ops[i].max)
				m.add(b.ops[i].latency.n, b.ops[i].latency.mean, b.ops[i].latency.stddev())
			}
			if c.targets > 1 && (b.targets[0].ios != b.ops[0].ios || b.targets[0].max != b.ops[0].max || b.targets[c.targets-1].p99 != b.ops[1].p99) {
				t.Fatal("a target's part of a bucket is not that of its rows")
			}
		}
		var wantErrors uint64
		for _, in := range list {
			wantErrors += in.Read.Errors + in.Write.Errors
		}
		if rowsSeen != c.n || ios != all.Count() || errors != wantErrors || top != all.Max() {
			t.Errorf("%d rows, %d I/Os, %d errors, longest %d; want %d, %d, %d, %d", rowsSeen, ios, errors, top, c.n, all.Count(), wantErrors, all.Max())
		}
		// Rows have whole nanoseconds; the smallest latency is 20 ns.
		if math.Abs(m.mean/all.Mean()-1) > 1e-6 || math.Abs(m.stddev()/all.StdDev()-1) > 1e-6 {
			t.Errorf("mean %g, deviation %g; want %g, %g", m.mean, m.stddev(), all.Mean(), all.StdDev())
		}
	}
}

// TestRampStaysApart: no bucket has rows of ramp and window.
func TestRampStaysApart(t *testing.T) {
	d := docOf(1, 20000)
	d.Points[0].RampS = 7
	s := newSeries(d, newTimeline(d))
	if s.time.width != 10 {
		t.Fatalf("buckets of %g s", s.time.width)
	}
	for i := range 40 {
		s.add(&result.Interval{TS: float64(i) - 7, LengthS: 1, Ramp: i < 7, Read: result.IntervalStat{IOs: 1, Max: 1}})
	}
	ramp, window := uint64(0), uint64(0)
	for _, b := range s.list {
		if b.ramp {
			ramp += b.ops[0].ios
		} else {
			window += b.ops[0].ios
		}
	}
	if ramp != 7 || window != 33 || len(s.list) != 5 {
		t.Errorf("%d I/Os of the ramp and %d of the window in %d buckets", ramp, window, len(s.list))
	}
}

// TestRestOfAnInterval: the last row of a point that ends within an interval is no place of its own, whose rate would
// be that of a few I/Os, and none of its I/Os is lost.
func TestRestOfAnInterval(t *testing.T) {
	d := docOf(1, 2.006)
	s := newSeries(d, newTimeline(d))
	for i, length := range []float64{1, 1, 0.006} {
		s.add(&result.Interval{TS: float64(i), LengthS: length, Read: result.IntervalStat{IOs: uint64(1000 * length), Max: int64(i) + 5}})
	}
	if len(s.list) != 2 {
		t.Fatalf("%d places", len(s.list))
	}
	b := s.list[1]
	if b.ops[0].ios != 1006 || b.ops[0].max != 7 || b.low != 1000 || b.high != 1000 || math.Abs(b.length-1.006) > 1e-12 {
		t.Errorf("the last place: %+v", b)
	}
}

// TestForeignRows: rows of no point, outside of theirs, or without a length are counted, and do no harm; so are more
// than any document can have.
func TestForeignRows(t *testing.T) {
	d := docOf(1, 10, 10)
	s := newSeries(d, newTimeline(d))
	for _, in := range []*result.Interval{
		{Point: 2, LengthS: 1}, {Point: 3, LengthS: 1}, {Point: -1, LengthS: 1}, {TS: 12, LengthS: 1}, {TS: -3, LengthS: 1}, {TS: math.NaN(), LengthS: 1}, {LengthS: 0},
	} {
		s.add(in)
	}
	if s.left != 6 || s.beyond != 1 || len(s.list) != 0 {
		t.Errorf("%d rows left out, %d of the next point, %d buckets", s.left, s.beyond, len(s.list))
	}
	for i := range 100_000 {
		s.add(&result.Interval{Point: 0, TS: float64(i%3) * 3, LengthS: 1})
	}
	if len(s.list) > 3*maxBuckets || s.left < 50_000 {
		t.Errorf("%d buckets, %d rows left out", len(s.list), s.left)
	}
}

// TestTimeline: points follow each other on the axis, long pauses are cut, and a clock that was set back moves
// nothing.
func TestTimeline(t *testing.T) {
	d := docOf(1, 10, 10, 10)
	d.Points[1].RampS = 5
	d.Points[1].Started = d.Points[0].Started.Add(10*time.Second + 2*time.Second + 5*time.Second)
	d.Points[2].Started = d.Points[1].Started.Add(24 * time.Hour)
	tl := newTimeline(d)
	want := []span{{0, 0, 10}, {12, 17, 27}, {57, 57, 67}}
	for i := range want {
		if tl.spans[i] != want[i] {
			t.Errorf("point %d is at %v, want %v", i, tl.spans[i], want[i])
		}
	}
	if !tl.cut {
		t.Error("nothing says that a pause was cut")
	}
	d.Points[2].Started = d.Points[0].Started.Add(-time.Hour)
	if tl = newTimeline(d); tl.spans[2] != (span{27, 27, 37}) || tl.cut {
		t.Errorf("after the clock was set back: %v", tl.spans[2])
	}
}

// TestSeriesColumns: the columns of the page's data are equally long, in order, and have a gap between two points.
func TestSeriesColumns(t *testing.T) {
	d := docOf(2, 5, 5)
	s := newSeries(d, newTimeline(d))
	for _, point := range []int{1, 0} { // mixed up
		for i := range 5 {
			in := &result.Interval{Point: point, TS: float64(i), LengthS: 1, Read: result.IntervalStat{IOs: 10, Mean: 5, P99: 7, Max: 9}, Targets: make([]result.IntervalTarget, 2)}
			in.Targets[1].Read = in.Read
			s.add(in)
		}
	}
	out := &chartData{}
	s.into(out, d)
	n := len(out.X)
	if n != 11 || !math.IsNaN(out.Point[5]) || len(out.Dirs) != 1 || len(out.Targets) != 2 {
		t.Fatalf("%d places, %v, %d directions, %d targets", n, out.Point, len(out.Dirs), len(out.Targets))
	}
	for i, col := range []column{out.Length, out.Point, out.Total.IOPS, out.Total.Bytes, out.Dirs[0].IOPS, out.Dirs[0].Mean, out.Dirs[0].P99, out.Dirs[0].Max, out.CPU.User, out.CPU.InFlight, out.Targets[0].Mean, out.Targets[1].Max} {
		if len(col) != n || i > 0 && !math.IsNaN(col[5]) {
			t.Errorf("column %d has %d places, %v", i, len(col), col)
		}
	}
	for i := 1; i < n; i++ {
		if out.X[i] < out.X[i-1] {
			t.Errorf("x goes back: %v", out.X)
		}
	}
	if out.Dirs[0].Max[3] != 9 || out.Dirs[0].Errors != nil || out.Low != nil {
		t.Errorf("%+v", out.Dirs[0])
	}
}

func TestColumnJSON(t *testing.T) {
	c := column{0, -1, 1.5, 3.14159265, 123456789012, math.NaN(), math.Inf(1), 1e-9, 12345.678}
	b, err := c.MarshalJSON()
	if want := "[0,-1,1.5,3.1416,123456789012,null,null,1e-09,12346]"; err != nil || string(b) != want {
		t.Errorf("%s, %v; want %s", b, err, want)
	}
}
