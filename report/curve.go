package report

import (
	"fmt"
	"math"
	"strings"
	"time"

	"blkstorm/plan"
	"blkstorm/printable"
	"blkstorm/result"
	"blkstorm/steady"
	"blkstorm/sweep"
)

// maxLines is how many lines a plot can have that people still tell apart by their colours.
const maxLines = 8

// sweepCurves are the curves of IOPS against latency: a line per value of the row axis, whose points follow the
// column axis, so that one which bends back shows what overload costs.
func sweepCurves(m *sweep.Matrix, at func(int) *result.Point, d *result.Doc) (out []figureSVG) {
	if len(m.Rows)*len(m.Cols) < 2 {
		return nil
	}
	rows := m.Rows
	note := ""
	if len(rows) > maxLines {
		rows, note = rows[:maxLines], fmt.Sprintf("the first %d of %d values of %s", maxLines, len(m.Rows), printable.Text(m.Row))
	}
	limit, metric, _ := kneeLimit(d)
	for _, f := range []struct{ caption, name string }{{"IOPS against mean latency", "mean"}, {"IOPS against p99 latency", "p99"}} {
		p := plot{title: f.caption, x: axis{label: "IOPS", text: short}, y: axis{label: f.name + " latency", text: shortNanos, log: true}}
		fig := figureSVG{Caption: f.caption, Note: note}
		var xs, ys []float64
		for r, name := range rows {
			l := line{class: fmt.Sprintf("s%d", r)}
			for c, k := range m.Points[r] {
				point := at(k)
				if point == nil || point.Skipped != "" {
					continue
				}
				ns, ok := latencyOf(point.Total.Latency, f.name)
				if !ok || ns <= 0 {
					continue
				}
				l.x, l.y = append(l.x, point.Total.IOPS), append(l.y, float64(ns))
				what := strings.Join(nonEmpty(optional(m.Row+" ", name), optional(m.Col+" ", m.Cols[c])), ", ")
				l.names = append(l.names, fmt.Sprintf("%s: %s IOPS, %s %s", printable.Text(what), figure(point.Total.IOPS), f.name, nanosText(float64(ns))))
				if isKnee(d, point) {
					p.ringX, p.ringY, p.ringName = point.Total.IOPS, float64(ns), "knee, "+figure(point.Total.IOPS)+" IOPS"
				}
			}
			if len(l.x) == 0 {
				continue
			}
			xs, ys = append(xs, l.x...), append(ys, l.y...)
			p.lines = append(p.lines, l)
			if m.Row != "" {
				fig.Legend = append(fig.Legend, legendEntry{l.class, printable.Text(m.Row + " " + name)})
			}
		}
		if len(xs) < 2 {
			return nil
		}
		p.x.fit(xs)
		p.y.fit(ys)
		if metric == f.name {
			p.rule, p.ruleName = limit, "limit: "+f.name+" within "+shortNanos(limit)
			if limit > p.y.high && limit < p.y.high*20 {
				p.y.fit(append(ys, limit))
			}
		}
		fig.Wide, fig.Narrow = p.both()
		out = append(out, fig)
	}
	return out
}

// kneeLimit is the limit of the sweep's knee, in nanoseconds, and what it is about.
func kneeLimit(d *result.Doc) (ns float64, metric string, ok bool) {
	if d.Sweep == nil || d.Sweep.Knee == nil {
		return 0, "", false
	}
	metric, value, _ := strings.Cut(d.Sweep.Knee.Limit, "=")
	limit, err := time.ParseDuration(strings.ReplaceAll(value, "us", "µs"))
	if err != nil {
		return 0, "", false
	}
	return float64(limit), metric, true
}

func isKnee(d *result.Doc, p *result.Point) bool {
	k := d.Sweep.Knee
	return k != nil && k.Point != nil && d.Points[*k.Point] == p
}

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
		f.addf(st.High > 0, "Band for later rounds", "%s to %s %s", figure(st.Low/scale), figure(st.High/scale), unit)
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

// roundsTables are the cells of phases of rounds.
func roundsTables(d *result.Doc) (out []*table) {
	for n, r := range d.Rounds {
		if len(r.Cells) == 0 {
			continue
		}
		smallest := int64(0)
		for _, c := range r.Cells {
			if smallest == 0 || c.MeanNS < smallest {
				smallest = c.MeanNS
			}
		}
		sc := scaleFor(smallest)
		t := &table{ID: fmt.Sprintf("rounds%d", n), CSV: fmt.Sprintf("rounds-%d", n+1), Sort: true,
			Caption: fmt.Sprintf("Means over the rounds %d to %d", r.First, r.Last),
			Head:    []head{{"point", "", true}, {"IOPS", "", false}, {"MB/s", "", false}, {"mean", sc.Unit, false}, {"p99", sc.Unit, false}, {"max", sc.Unit, false}, {"rounds", "", false}}}
		for _, c := range r.Cells {
			t.add(left(printable.Text(c.Label)), num(figure(c.IOPS), c.IOPS), num(figure(c.BytesPerS/1e6), c.BytesPerS/1e6),
				num(sc.text(c.MeanNS), float64(c.MeanNS)/sc.NS), num(sc.text(c.P99NS), float64(c.P99NS)/sc.NS), num(sc.text(c.MaxNS), float64(c.MaxNS)/sc.NS), count(uint64(max(0, c.Rounds))))
		}
		out = append(out, t)
	}
	return out
}

// findMaxTable is the steps of a search; nil when there was none.
func findMaxTable(d *result.Doc) *table {
	f := d.FindMax
	if f == nil || len(f.Steps) == 0 {
		return nil
	}
	t := &table{ID: "findmax", CSV: "find-max", Caption: "Steps of the search for the highest rate with " + limitText(f.Limit),
		Head: []head{{"step", "", false}, {"kind", "", true}, {"asked", "IOPS", false}, {"achieved", "IOPS", false}, {"latency", "ms", false}, {"verdict", "", true}, {"why", "", true}}}
	for i, s := range f.Steps {
		c := cell{Text: printable.Text(s.Verdict), Class: "t"}
		t.add(num(whole(i+1), float64(i+1)), left(printable.Text(s.Kind)), num(figure(s.Asked), s.Asked), num(figure(s.Achieved), s.Achieved),
			num(figure(float64(s.Value)/1e6), float64(s.Value)/1e6), c, wide(printable.Text(s.Why)))
	}
	return t
}

// phaseNames are how the page calls the phases of points.
var phaseNames = map[string]string{plan.Purge: "purge", plan.Fill: "fill", plan.Precondition: "preconditioning", plan.Measure: "measured"}
