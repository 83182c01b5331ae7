package report

import (
	"fmt"
	"math"

	"blkstorm/printable"
	"blkstorm/result"
	"blkstorm/steady"
)

// steadyFigure draws the rounds of a search for steady state: each round's value, the window that was judged, its
// line of best fit, and the band that the rule leaves around the mean.
func steadyFigure(r *steady.Report) *figureSVG {
	if len(r.Values) < 2 {
		return nil
	}
	unit, text := "IOPS", short
	switch r.Rule.Metric {
	case steady.Bandwidth:
		unit, text = "MB/s", func(v float64) string { return short(v / 1e6) }
	case steady.Mean, steady.P99:
		unit, text = r.Rule.Metric.String()+" latency", shortNanos
	}
	p := plot{title: unit + " of each round", x: axis{label: "round", low: 0.5, high: float64(len(r.Values)) + 0.5, whole: true, text: short}, y: axis{label: unit, text: text}}
	l := line{class: "s0"}
	for i, v := range r.Values {
		y := math.NaN()
		if v != nil {
			y = *v
		}
		l.x, l.y = append(l.x, float64(i+1)), append(l.y, y)
		l.names = append(l.names, fmt.Sprintf("round %d: %s", i+1, text(y)))
	}
	values := []float64{}
	for _, v := range l.y {
		if !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	st := &r.State
	values = append(values, st.High)
	p.y.fit(values)
	p.lines = []line{l}
	if st.First > 0 && st.Mean > 0 {
		p.spanLow, p.spanHigh = float64(st.First)-0.5, float64(st.Rounds)+0.5
		p.bandLow, p.bandHigh = st.Low, st.High
		end := st.Intercept + st.Slope*float64(st.Rounds-st.First)
		p.lines = append(p.lines, line{class: "fit", x: []float64{float64(st.First), float64(st.Rounds)}, y: []float64{st.Intercept, end}, bare: true})
	}
	f := &figureSVG{Caption: unit + " of each round", Note: "green: the rounds judged; band: what the rule leaves around their mean; dashed: their best fit"}
	f.Wide, f.Narrow = p.both()
	return f
}

// steadyFacts are the numbers of the window that was judged.
func steadyFacts(r *steady.Report) []fact {
	f := facts{}
	st := &r.State
	scale, unit := 1.0, "IOPS"
	switch r.Rule.Metric {
	case steady.Bandwidth:
		scale, unit = 1e6, "MB/s"
	case steady.Mean, steady.P99:
		scale, unit = 1e3, "µs"
	}
	f.add("Rule", r.Rule.String())
	if st.Steady {
		f.addf(true, "Steady state", "reached in round %d", st.Reached)
	} else {
		f.addf(true, "Steady state", "not reached: %s", st.Reason)
	}
	f.addf(st.First > 0, "Rounds judged", "%d to %d of %d", st.First, st.Rounds, len(r.Values))
	if st.First > 0 && st.Mean > 0 {
		f.addf(true, "Mean", "%s %s", figure(st.Mean/scale), unit)
		f.addf(true, "Range", "%s %s, %.3g %% of the mean%s", figure(st.Range/scale), unit, st.RangePct, limitOf(r.Rule.RangePct))
		f.addf(true, "Fitted range", "%s %s, %.3g %% of the mean%s", figure(st.FittedRange/scale), unit, st.FittedPct, limitOf(r.Rule.FittedPct))
		f.addf(true, "Slope", "%.3g %% of the mean per round", st.SlopePct)
		f.addf(st.Steady && st.High > 0, "Band for later rounds", "%s to %s %s", figure(st.Low/scale), figure(st.High/scale), unit)
	}
	f.addf(len(r.Drifted) > 0, "Rounds that left it later", "%d", len(r.Drifted))
	return f.List
}

func limitOf(pct float64) string {
	if pct <= 0 {
		return ""
	}
	return fmt.Sprintf(" (limit %g %%)", pct)
}

// steadySection is what the page says of one search for steady state.
type steadySection struct {
	Title  string
	Facts  []fact
	Figure *figureSVG
}

func steadySections(d *result.Doc) (out []steadySection) {
	for i, p := range d.Points {
		if p.Steady != nil {
			title := nameOf(d, i)
			out = append(out, steadySection{title, steadyFacts(p.Steady), steadyFigure(p.Steady)})
		}
	}
	for _, r := range d.Rounds {
		for i := range r.Tracked {
			t := &r.Tracked[i]
			title := "tracked: " + printable.Text(t.Point) + ", " + t.Steady.Rule.Metric.String()
			out = append(out, steadySection{title, steadyFacts(&t.Steady), steadyFigure(&t.Steady)})
		}
	}
	return out
}

// roundsSection is what the cells of a phase of rounds came to, as matrices where they are those of a sweep.
type roundsSection struct {
	Over   string
	Groups []sweepGroup
	Table  *table
}

func roundsSections(d *result.Doc) (out []roundsSection) {
	for n, r := range d.Rounds {
		if len(r.Cells) == 0 {
			continue
		}
		s := roundsSection{Over: fmt.Sprintf("Means over rounds %d to %d; p99 of all their I/Os, and the highest latency.", r.First, r.Last)}
		if r.First == 0 {
			s.Over = "There is no full window of rounds: means over the points that there are."
		}
		var points []*result.Point
		for i := range r.Cells {
			points = append(points, cellPoint(&r.Cells[i]))
		}
		if phase := &d.Plan.Phases[r.Phase]; phase.Sweep != nil {
			s.Groups = layout(d, phase.Sweep.Axes, points)
		}
		s.Table = roundsTable(n, points, r.Cells)
		out = append(out, s)
	}
	return out
}

// cellPoint is a cell in the form of a point.
func cellPoint(c *result.Cell) *result.Point {
	t := &result.Stat{IOPS: c.IOPS, BytesPerS: c.BytesPerS, Latency: &result.Latency{}}
	if c.MaxNS > 0 {
		t.Latency = &result.Latency{Count: 1, Mean: c.MeanNS, Max: c.MaxNS, Percentiles: map[string]int64{"99": c.P99NS}}
	}
	return &result.Point{Label: c.Label, Skipped: c.Skipped, Completed: true, Total: t}
}

func roundsTable(n int, points []*result.Point, cells []result.Cell) *table {
	var stats []*result.Stat
	for _, p := range points {
		stats = append(stats, p.Total)
	}
	sc := scaleOf(stats...)
	t := &table{ID: fmt.Sprintf("rounds%d", n), CSV: fmt.Sprintf("rounds-%d", n+1), Sort: true,
		Head: []head{{"point", "", true}, {"IOPS", "", false}, {"MB/s", "", false}, {"mean", sc.Unit, false}, {"p99", sc.Unit, false}, {"max", sc.Unit, false}, {"rounds", "", false}}}
	for i, p := range points {
		row := []cell{left(printable.Text(p.Label)), num(figure(p.Total.IOPS), p.Total.IOPS), num(figure(p.Total.BytesPerS/1e6), p.Total.BytesPerS/1e6)}
		for _, name := range []string{"mean", "p99", "max"} {
			row = append(row, latencyCell(p.Total.Latency, name, sc))
		}
		t.add(append(row, count(uint64(max(0, cells[i].Rounds))))...)
	}
	return t
}
