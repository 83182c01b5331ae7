package report

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/result/published"
	"blkstorm/steady"
	"blkstorm/sweep"
)

// drawn is a drawing as the page has it.
func drawn(t *testing.T, c templ.Component) string {
	t.Helper()
	var b strings.Builder
	if err := c.Render(t.Context(), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// swept is a sweep of 2 × 3 points.
func swept() *result.Doc {
	d := docOf(1, 1, 1, 1, 1, 1, 1)
	d.Sweep = &result.Sweep{Axes: []sweep.Axis{{Name: "threads", Values: []string{"1", "4"}}, {Name: "iodepth", Values: []string{"1", "2", "8"}}}}
	for i, p := range d.Points {
		n := float64(i + 1)
		p.Total = &result.Stat{IOs: 100, IOPS: 1000 * n, Latency: &result.Latency{Count: 100, Mean: int64(50_000 * n), Max: int64(1e6 * n), Percentiles: map[string]int64{"99": int64(90_000 * n)}}}
		d.Sweep.Points = append(d.Sweep.Points, i)
	}
	five := 5
	d.Sweep.Knee = &result.Knee{Limit: "p99=1ms", Point: &five, IOPS: 6000, Value: 540_000}
	return d
}

func TestMatrices(t *testing.T) {
	d := swept()
	d.Points[1].Skipped = "no room"
	d.Points[2].Completed = false
	d.Sweep.Points = d.Sweep.Points[:5] // the last has not run
	d.Sweep.Knee.Point = nil
	groups := sweepGroups(d)
	if len(groups) != 1 || len(groups[0].Matrices) != 4 || len(groups[0].Curves) != 2 {
		t.Fatalf("%+v", groups)
	}
	text := func(m matrix) (out string) {
		for _, r := range m.Rows {
			out += r.Name + ":"
			for _, c := range r.Cells {
				out += fmt.Sprintf(" %s[%s]", c.Text, c.Class)
			}
			out += "\n"
		}
		return out
	}
	for i, want := range []string{
		"1: 1,000[q1] skipped[none] 3,000*[q5]\n4: 4,000[q7] 5,000[q8 best] –[none]\n",
		"1: 50.0[l0 best] skipped[none] 150.0*[l6]\n4: 200.0[l7] 250.0[l8] –[none]\n",
		"1: 90.0[l0 best] skipped[none] 270.0*[l6]\n4: 360.0[l7] 450.0[l8] –[none]\n",
		"1: 1,000[l0 best] skipped[none] 3,000*[l6]\n4: 4,000[l7] 5,000[l8] –[none]\n",
	} {
		if got := text(groups[0].Matrices[i]); got != want {
			t.Errorf("%s:\n%swant\n%s", groups[0].Matrices[i].Caption, got, want)
		}
	}
}

func TestCurveOfASweep(t *testing.T) {
	g := sweepGroups(swept())[0]
	for i, want := range []string{"IOPS against mean latency", "IOPS against p99 latency"} {
		c := g.Curves[i]
		svg := drawn(t, c.Wide)
		if c.Caption != want || len(c.Legend) != 2 || strings.Count(svg, "<circle") != 7 || !strings.Contains(svg, "knee, 6,000 IOPS") {
			t.Errorf("%s: %s", c.Caption, svg)
		}
		if limited := strings.Contains(svg, "limit: p99 within 1 ms"); limited != (i == 1) {
			t.Errorf("%s: the limit is there: %v", c.Caption, limited)
		}
		if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") || strings.Contains(svg, "style=") || !strings.Contains(svg, `viewBox="0 0 700 360"`) {
			t.Error(svg)
		}
	}
	// A document whose sweep does not fit its points has no matrices, and does no harm.
	d := swept()
	d.Sweep.Axes = d.Sweep.Axes[:1]
	if sweepGroups(d) != nil {
		t.Error("six points of a sweep of two")
	}
}

func TestAxes(t *testing.T) {
	for _, c := range []struct {
		a      axis
		values []float64
		ends   string
		ticks  string
	}{
		{axis{}, []float64{3, 80_872}, "0 100000", "0 2e+04 4e+04 6e+04 8e+04 1e+05"},
		{axis{}, nil, "1 10", ""},
		{axis{}, []float64{0}, "0 1", "0 0.2 0.4 0.6 0.8 1"},
		{axis{log: true}, []float64{78_000, 789_000}, "50000 1e+06", "5e+04 1e+05 2e+05 5e+05 1e+06"},
		{axis{log: true}, []float64{1000, 1000}, "1000 2000", "1000 2000"},
		{axis{log: true}, []float64{1, 5e9, 0, -3}, "1 5e+09", "1 10 100 1000 1e+04 1e+05 1e+06 1e+07 1e+08 1e+09"},
	} {
		c.a.fit(c.values)
		if got := fmt.Sprintf("%g %g", c.a.low, c.a.high); got != c.ends {
			t.Errorf("%v: from %s, want %s", c.values, got, c.ends)
		}
		got := strings.Trim(fmt.Sprintf("%.4g", c.a.ticks(5)), "[]")
		if c.ticks != "" && got != c.ticks {
			t.Errorf("%v: ticks %s, want %s", c.values, got, c.ticks)
		}
	}
}

func TestSteadyFigure(t *testing.T) {
	rule := steady.Default()
	tracker := steady.NewTracker(rule)
	for _, v := range []float64{200e3, 150e3, 101e3, 100e3, 99e3, 100e3, 100.5e3} {
		tracker.Add(v)
	}
	tracker.Add(math.NaN())
	report := tracker.Report()
	f := steadyFigure(&report)
	svg := drawn(t, f.Wide)
	if strings.Count(svg, "<circle") != 7 || !strings.Contains(svg, `class="span"`) || !strings.Contains(svg, `class="band"`) || !strings.Contains(svg, `path class="fit"`) || strings.Contains(svg, "NaN") {
		t.Error(svg)
	}
	text := fmt.Sprint(steadyFacts(&report))
	for _, want := range []string{"reached in round 7", "3 to 7 of 8", "(limit 20 %)", "(limit 10 %)", "Rounds that left it later"} {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %q", text, want)
		}
	}
}

func TestFormat(t *testing.T) {
	for got, want := range map[string]string{
		figure(0): "0", figure(1.234): "1.23", figure(12.34): "12.3", figure(1234.5): "1,234", figure(1234567): "1,234,567", figure(-1234.5): "-1,234",
		nanosText(999): "999 ns", nanosText(1500): "1.50 µs", nanosText(2e9): "2.00 s", nanosText(61.5e6): "61.5 ms",
		secondsText(86400): "24h", secondsText(90): "1m30s", secondsText(0.25): "250ms", secondsText(60): "1m", secondsText(6.0001): "6s", secondsText(7200): "2h",
		short(0): "0", short(80_000): "80k", short(1.5e6): "1.5M", shortNanos(5e6): "5 ms", shortNanos(500): "500 ns", shortNanos(2e5): "200 µs",
		bytesText(0): "0 B", bytesText(1 << 30): "1.1 GB (1.0 GiB)", plural(1, "I/O"): "1 I/O", plural(2000, "I/O"): "2,000 I/Os",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestRounds: the cells of a phase of rounds stand in the matrices of its sweep, and in a table.
func TestRounds(t *testing.T) {
	d := docOf(1, 1)
	axes := []sweep.Axis{{Name: "read-pct", Values: []string{"100", "0"}}, {Name: "bs", Values: []string{"4k", "8k"}}}
	d.Plan = &plan.Plan{Phases: []plan.Phase{{Kind: plan.Purge}, {Kind: plan.Measure, Sweep: &plan.Sweep{Axes: axes}}}}
	cells := []result.Cell{{Label: "a", IOPS: 100, MeanNS: 1e6, P99NS: 2e6, MaxNS: 3e6, Rounds: 5}, {Label: "b", IOPS: 400, MeanNS: 1e6, P99NS: 2e6, MaxNS: 3e6, Rounds: 5},
		{Label: "c", Skipped: "no room"}, {Label: "d", IOPS: 200, Rounds: 5}}
	d.Rounds = []*result.Rounds{{Phase: 1, First: 2, Last: 6, Reached: true, Cells: cells}}
	s := roundsSections(d)
	if len(s) != 1 || len(s[0].Groups) != 1 || len(s[0].Groups[0].Curves) != 0 || len(s[0].Table.Rows) != 4 || !strings.Contains(s[0].Over, "rounds 2 to 6") {
		t.Fatalf("%+v", s)
	}
	got := fmt.Sprint(s[0].Groups[0].Matrices[0].Rows)
	if want := "[{100 [{100.0 100 q2} {400.0 400 q8 best}]} {0 [{skipped  none} {200.0 200 q4}]}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	list, of := roundCards(d.Rounds[0])
	if list[0].Value != "400.0" || !strings.HasPrefix(of, "b – the most IOPS of 4 cells, over 5 rounds") {
		t.Errorf("%v, %s", list, of)
	}
	// The points of the rounds of the window are marked over time, and only they.
	d = docOf(1, 1, 1, 1, 1, 1, 1, 1, 1)
	d.Points[0].Phase = plan.Fill
	for i, p := range d.Points {
		p.Round = []int{0, 1, 1, 2, 2, 3, 1, 2}[i]
	}
	d.Rounds = []*result.Rounds{{FirstPoint: 1, First: 2, Last: 3, Reached: true}, {FirstPoint: 6, First: 1, Last: 1}}
	marked := ""
	for _, p := range newTimeline(d).points(d, 0) {
		marked += fmt.Sprint(p.SteadyB > p.SteadyA, " ")
	}
	if want := "false false false true true true false false "; marked != want {
		t.Errorf("marked: %s, want %s", marked, want)
	}
	d = &result.Doc{Plan: &plan.Plan{Phases: []plan.Phase{{Kind: plan.Measure}}}, Rounds: []*result.Rounds{{Cells: cells}}}
	if s = roundsSections(d); s[0].Groups != nil {
		t.Error("matrices without a sweep")
	}
}

func TestFindMaxFigure(t *testing.T) {
	d := docOf(1, 1, 1, 1)
	found, rate := 1, 9000.0
	d.FindMax = &result.FindMax{Limit: "p99=1ms", FoundIOPS: &rate, FoundPoint: &found, Steps: []result.FindMaxStep{
		{Point: 0, Kind: "ceiling", Achieved: 20_000, Value: 5e6}, {Point: 1, Kind: "confirm", Asked: 9000, Achieved: 8999, Value: 8e5, OK: true}, {Point: 2, Kind: "probe", Asked: 12_000, Achieved: 11_000, Value: 3e6}}}
	if _, why := headline(d); why != "the highest rate with p99 within 1ms" {
		t.Errorf("the headline is %q", why)
	}
	f := findMaxFigure(d)
	svg := drawn(t, f.Wide)
	if strings.Count(svg, "<circle") != 3 || !strings.Contains(svg, "found, 8,999 IOPS") || !strings.Contains(svg, "limit: p99 within 1 ms") || strings.Contains(svg, "<path") {
		t.Error(svg)
	}
	if d.FindMax.Steps = d.FindMax.Steps[:2]; findMaxFigure(d) != nil {
		t.Error("a curve of one rate")
	}
}

// TestFindMaxOfNothing: a search that found no rate does not show that of its closed loop as if it had.
func TestFindMaxOfNothing(t *testing.T) {
	d := docOf(1, 1, 1)
	d.Points[0].Total.IOPS = 20_000
	d.FindMax = &result.FindMax{Limit: "p99=1ms", Why: "p99 is over the limit", Steps: []result.FindMaxStep{
		{Point: 0, Kind: "ceiling", Achieved: 20_000, Value: 5e6, Verdict: "closed_loop"}, {Point: 1, Kind: "probe", Asked: 60, Achieved: 60, Value: 3e6, Verdict: "over_limit"}}}
	if i, why := headline(d); i != 0 || why != "only the step with the most IOPS: no rate was found with p99 within 1ms" {
		t.Errorf("the headline is point %d, %q", i, why)
	}
	rows := findMaxTable(d).Rows
	if asked, verdict := rows[0][2].Text, rows[1][5].Text; asked != "–" || verdict != "over limit" {
		t.Errorf("a closed loop asks for %q IOPS; the verdict is %q", asked, verdict)
	}
}

// TestShading: tables of latencies, and of their deviation, are coloured as such: more is not better there.
func TestShading(t *testing.T) {
	for title, class := range map[string]string{"Throughput": "q8", "Average Latency": "l8", "main test over time: Standard Deviation": "l8", "99th percentile": "l8"} {
		p := &published.Table{Title: title, Same: true, Rows: []published.Row{{Cells: []published.Cell{{Value: 1}, {Value: 9}}}}}
		if got := shading(p)(9); got != class {
			t.Errorf("%s: the highest figure is of class %q", title, got)
		}
	}
}

// TestFewAbove: percentiles with fewer than ten I/Os above them are marked, others are not.
func TestFewAbove(t *testing.T) {
	l := &result.Latency{Count: 1000, Mean: 5, StdDev: 1, Max: 9, Percentiles: map[string]int64{"50": 5, "99": 8, "99.9": 9}}
	for name, want := range map[string]bool{"p50": false, "p99": false, "p99.9": true, "mean": false, "max": false} {
		if got := latencyCell(l, name, scaleFor(5)).Class == few; got != want {
			t.Errorf("%s of 1000 I/Os is marked: %v", name, got)
		}
	}
	l.Count = 999
	c := latencyCell(l, "p99", scaleFor(5))
	if c.Class != few {
		t.Error("p99 of 999 I/Os is not marked")
	}
	marked, plain := &table{}, &table{}
	marked.add(left("a"), c)
	plain.add(left("a"), none())
	if !marked.Few() || plain.Few() {
		t.Error("what the table says of itself")
	}
}
