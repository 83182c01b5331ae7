package result

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"blkstorm/findmax"
	"blkstorm/plan"
	"blkstorm/runner"
	"blkstorm/steady"
	"blkstorm/sweep"
	"blkstorm/threshold"
)

// measured is a point with a rate, and a 99th percentile of twice its mean.
func measured(iops float64, mean int64) *Point {
	return &Point{Phase: plan.Measure, Completed: true, WindowS: 1, Total: &Stat{
		IOs: uint64(iops), IOPS: iops, Latency: &Latency{Count: uint64(iops), Mean: mean, Percentiles: map[string]int64{"99": 2 * mean}},
	}}
}

// sweepOf is a document of a fill and of a sweep, of which the given points have ended.
func sweepOf(axes []sweep.Axis, knee string, points ...*Point) *Doc {
	ph := plan.Phase{Kind: plan.Measure, Sweep: &plan.Sweep{Axes: axes}}
	if knee != "" {
		ph.Sweep.Knee, _ = findmax.ParseLimit(knee)
	}
	ph.Points = make([]plan.Point, ph.Sweep.Spec().Len())
	d := &Doc{Plan: &plan.Plan{Phases: []plan.Phase{{Kind: plan.Fill, Points: make([]plan.Point, 1)}, ph}}}
	d.Points = append([]*Point{{Phase: plan.Fill, Total: &Stat{IOPS: 1e9, Latency: &Latency{Count: 1}}}}, points...)
	d.SumUp()
	return d
}

func axis(name string, values ...string) sweep.Axis { return sweep.Axis{Name: name, Values: values} }

func TestSweepMatrices(t *testing.T) {
	skipped := &Point{Phase: plan.Measure, Skipped: "no", Total: &Stat{Latency: &Latency{}}}
	cut := measured(500, 4e6)
	cut.Completed = false
	d := sweepOf([]sweep.Axis{axis("threads", "2", "4"), axis("bs", "512", "8k"), axis("iodepth", "1", "16")}, "p99=5ms",
		skipped, skipped, measured(1000, 1e6), measured(4000, 2e6), skipped, skipped, cut)
	var b strings.Builder
	d.textSweep(&b)
	want := `
  bs 512
  IOPS by iodepth
  threads        1       16
        2  skipped  skipped
        4  skipped  skipped

  bs 8k
  IOPS by iodepth
  threads        1       16
        2  1,000.0  4,000.0
        4   500.0*        -

  bs 512
  mean latency in µs by iodepth
  threads        1       16
        2  skipped  skipped
        4  skipped  skipped

  bs 8k
  mean latency in µs by iodepth
  threads       1     16
        2   1,000  2,000
        4  4,000*      -

  bs 512
  p99 latency in µs by iodepth
  threads        1       16
        2  skipped  skipped
        4  skipped  skipped

  bs 8k
  p99 latency in µs by iodepth
  threads       1     16
        2   2,000  4,000
        4  8,000*      -
  * not completed

  knee: 4,000 IOPS at threads 2, bs 8k, iodepth 16 ([5]), the most with p99 within 5ms; there
    p99 is 4,000 µs
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The knee is the fastest within the limit, by its index in the document; it moves as points come.
func TestSweepKnee(t *testing.T) {
	axes := []sweep.Axis{axis("iodepth", "1", "2", "4")}
	points := []*Point{measured(100, 1e6), measured(300, 2e6), measured(900, 9e6)}
	for _, c := range []struct {
		limit  string
		points int
		want   int // -1: none
	}{{"p99=4ms", 0, -1}, {"p99=4ms", 1, 1}, {"p99=4ms", 3, 2}, {"mean=8ms", 3, 2}, {"mean=9ms", 3, 3}, {"mean=1ns", 3, -1}} {
		d := sweepOf(axes, c.limit, points[:c.points]...)
		k := d.Sweep.Knee
		switch {
		case k.Limit != c.limit || len(d.Sweep.Points) != c.points:
			t.Errorf("%+v", d.Sweep)
		case c.want < 0 && k.Point == nil && k.IOPS == 0:
		case c.want >= 0 && k.Point != nil && *k.Point == c.want && k.IOPS == d.Points[c.want].Total.IOPS && k.Value > 0:
		default:
			t.Errorf("%s of %d points: %+v, want %d", c.limit, c.points, k, c.want)
		}
	}
	points[1].Completed = false
	if k := sweepOf(axes, "p99=4ms", points...).Sweep.Knee; *k.Point != 1 {
		t.Errorf("a point that was cut short is the knee: %+v", k)
	}
	// A preconditioning that was repeated lies between the points.
	d := sweepOf(axes, "p99=20ms", points[0], &Point{Phase: plan.Precondition, Completed: true, Total: measured(1e9, 1).Total}, points[2], points[2])
	if *d.Sweep.Knee.Point != 3 || fmt.Sprint(d.Sweep.Points) != "[1 3 4]" {
		t.Errorf("%+v, knee %+v", d.Sweep, d.Sweep.Knee)
	}
	d = sweepOf(axes, "", points...)
	if d.Sweep.Knee != nil {
		t.Error("a knee without a limit")
	}
	if text, err := json.Marshal(d.Sweep); err != nil || string(text) != `{"axes":[{"name":"iodepth","values":["1","2","4"]}],"points":[1,2,3]}` {
		t.Errorf("%s, %v", text, err)
	}
}

func TestSweepAxes(t *testing.T) {
	for axes, want := range map[string]string{
		"threads iodepth": "threads iodepth", "iodepth bs threads": "threads iodepth", "iodepth": " iodepth", "threads": "threads ",
		"bs": " bs", "bs rw": "bs rw", "bs read-pct rw": "bs rw", "rw iodepth": "rw iodepth", "bs threads": "threads bs", "": " ",
	} {
		s := &Sweep{}
		for name := range strings.FieldsSeq(axes) {
			s.Axes = append(s.Axes, axis(name, "1", "2"))
		}
		if row, col := s.MatrixAxes(); row+" "+col != want {
			t.Errorf("%q: rows %q, columns %q; want %q", axes, row, col, want)
		}
	}
}

// A skipped point is a line in the text, a row of zeros in the CSV, and its reason is in all forms.
func TestSkippedPointIsShown(t *testing.T) {
	d := sweepDoc(t)
	point := d.Plan.Phases[1].Points[0]
	point.Label = "randread 512 1T/1Q"
	b := d.NewBuilder(plan.Measure, &point, DefaultPercentiles, true)
	p, err := b.Finish(&runner.Result{WindowStart: time.Unix(1e9, 0)}, 42)
	if err != nil {
		t.Fatal(err)
	}
	p.Skipped = "/dev/x: --bs 512: must be a multiple of 4096"
	var text, table, doc bytes.Buffer
	for _, err := range []error{WriteText(&text, d), WriteCSV(&table, d), WriteJSON(&doc, d)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := "[5/5] randread 512 1T/1Q\n  skipped: /dev/x: --bs 512: must be a multiple of 4096\n\nsummary\n"
	if !strings.Contains(text.String(), want) || strings.Contains(text.String(), "[5] randread") {
		t.Errorf("the text has no %q, or a row of it:\n%s", want, &text)
	}
	if want := `"skipped": "/dev/x: --bs 512: must be a multiple of 4096"`; strings.Count(doc.String(), want) != 1 {
		t.Errorf("the JSON has no %s", want)
	}
	rows, err := csv.NewReader(&table).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]string{}
	for i, name := range rows[0] {
		last[name] = rows[len(rows)-1][i]
	}
	if last["point"] != "4" || last["direction"] != "total" || last["ios"] != "0" || last["iops"] != "0.000" || last["skipped"] != p.Skipped {
		t.Errorf("%v", last)
	}
}

// The text tells of steady state, and of limits.
func TestTextOfSteadyStateAndLimits(t *testing.T) {
	rule := steady.Default()
	tracker := steady.NewTracker(rule)
	for _, v := range []float64{250, 120, 100, 100, 100, 100} {
		tracker.Add(v)
	}
	report := tracker.Report()
	p := measured(100, 1e6)
	p.Steady = &report
	for _, limit := range []string{"p99<1ms", "iops>=100"} {
		a, err := threshold.Parse(limit)
		if err != nil {
			t.Fatal(err)
		}
		p.Asserts = append(p.Asserts, a.Check(p))
	}
	var b strings.Builder
	p.textSteady(&b)
	p.textAsserts(&b)
	for _, want := range []string{"NOT STEADY after 6 rounds: fitted range", "rounds 2 to 6: mean 104.0 IOPS, range 19.2 %", "iops of the rounds in IOPS: 250.0, 120.0, 100.0",
		"assert p99<1ms: not met, it is 2.000 ms", "assert iops>=100: met, it is 100.0"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
	if p.missed() != "p99<1ms" {
		t.Error(p.missed())
	}
	tracker.Add(100)
	report = tracker.Report()
	b.Reset()
	p.textSteady(&b)
	if !strings.Contains(b.String(), "steady state reached in round 7") {
		t.Error(b.String())
	}
}

// Figures of the response time are those of paced runs.
func TestFigureOfResponse(t *testing.T) {
	p := measured(100, 1e6)
	if _, err := p.Figure("total", "response.p99"); err == nil || !strings.Contains(err.Error(), "--rate-iops") {
		t.Error(err)
	}
	p.Total.OpenLoop = &OpenLoop{Response: &Latency{}}
	if _, err := p.Figure("total", "response.mean"); err == nil {
		t.Error("a figure of nothing")
	}
	p.Total.Response = &Latency{Count: 1, Mean: 7, Max: 9, Min: 3, StdDev: 1, Percentiles: map[string]int64{"99": 8}}
	for name, want := range map[string]float64{"mean": 7, "max": 9, "min": 3, "stddev": 1, "p99": 8} {
		if v, err := p.Figure("total", "response."+name); err != nil || v != want {
			t.Errorf("%s: %v, %v", name, v, err)
		}
	}
	if v, err := p.Figure("total", "latency.mean"); err != nil || v != 1e6 {
		t.Error(fmt.Sprint(v, err))
	}
}
