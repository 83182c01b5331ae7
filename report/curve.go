package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"blkstorm/plan"
	"blkstorm/printable"
	"blkstorm/result"
	"blkstorm/sweep"
)

// maxLines is how many lines a plot can have that people still tell apart by their colours.
const maxLines = 8

// curvePoint is a point of a curve, with its name.
type curvePoint struct {
	*result.Point
	name string
}

// sweepLines are the points of a matrix as lines along which the load grows: over iodepths, or over threads, one for
// each value of the other axis, which is named. A matrix with neither has none.
func sweepLines(m *sweep.Matrix, at func(int) *result.Point) (axis string, names []string, lines [][]curvePoint) {
	load := func(axis string) bool { return axis == "threads" || axis == "iodepth" }
	add := func(value string, n int, index func(int) (r, c int)) {
		var l []curvePoint
		for i := range n {
			r, c := index(i)
			if p := at(m.Points[r][c]); p != nil && p.Skipped == "" {
				what := strings.Join(nonEmpty(optional(m.Row+" ", m.Rows[r]), optional(m.Col+" ", m.Cols[c])), ", ")
				l = append(l, curvePoint{p, printable.Text(what)})
			}
		}
		names, lines = append(names, printable.Text(value)), append(lines, l)
	}
	switch {
	case load(m.Col):
		for r, value := range m.Rows {
			add(value, len(m.Cols), func(c int) (int, int) { return r, c })
		}
		return m.Row, names, lines
	case load(m.Row):
		for c, value := range m.Cols {
			add(value, len(m.Rows), func(r int) (int, int) { return r, c })
		}
		return m.Col, names, lines
	}
	return "", nil, nil
}

// sweepCurves are the curves of IOPS against latency, of which one that bends back shows what overload costs.
func sweepCurves(m *sweep.Matrix, at func(int) *result.Point, d *result.Doc) (out []figureSVG) {
	axisName, names, lines := sweepLines(m, at)
	note := ""
	if len(lines) > maxLines {
		note = fmt.Sprintf("the first %d of %d values of %s", maxLines, len(lines), printable.Text(axisName))
		lines = lines[:maxLines]
	}
	limit, metric := kneeLimit(d)
	for _, f := range []struct{ caption, name string }{{"IOPS against mean latency", "mean"}, {"IOPS against p99 latency", "p99"}} {
		p := plot{title: f.caption, x: axis{label: "IOPS", text: short}, y: axis{label: f.name + " latency", text: shortNanos, log: true}}
		fig := figureSVG{Caption: f.caption, Note: note}
		var xs, ys []float64
		for n, points := range lines {
			l := line{class: fmt.Sprintf("s%d", n)}
			for _, point := range points {
				ns, ok := latencyOf(point.Total.Latency, f.name)
				if !ok || ns <= 0 {
					continue
				}
				l.x, l.y = append(l.x, point.Total.IOPS), append(l.y, float64(ns))
				l.names = append(l.names, fmt.Sprintf("%s: %s IOPS, %s %s", point.name, figure(point.Total.IOPS), f.name, nanosText(float64(ns))))
				if isKnee(d, point.Point) {
					p.ringX, p.ringY, p.ringName = point.Total.IOPS, float64(ns), "knee, "+figure(point.Total.IOPS)+" IOPS"
				}
			}
			if len(l.x) == 0 {
				continue
			}
			xs, ys = append(xs, l.x...), append(ys, l.y...)
			p.lines = append(p.lines, l)
			if axisName != "" {
				fig.Legend = append(fig.Legend, legendEntry{l.class, printable.Text(axisName) + " " + names[n]})
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

// kneeLimit is the limit of the sweep's knee, in nanoseconds, and what it is about; empty without one.
func kneeLimit(d *result.Doc) (ns float64, metric string) {
	if d.Sweep == nil || d.Sweep.Knee == nil {
		return 0, ""
	}
	metric, value, _ := strings.Cut(d.Sweep.Knee.Limit, "=")
	limit, err := time.ParseDuration(value)
	if err != nil {
		return 0, ""
	}
	return float64(limit), metric
}

func isKnee(d *result.Doc, p *result.Point) bool {
	return d.Sweep != nil && d.Sweep.Knee != nil && d.Sweep.Knee.Point != nil && d.Points[*d.Sweep.Knee.Point] == p
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
		asked := num(figure(s.Asked), s.Asked)
		if s.Asked == 0 {
			asked = none() // a closed loop asks for no rate
		}
		t.add(num(whole(i+1), float64(i+1)), left(printable.Text(s.Kind)), asked, num(figure(s.Achieved), s.Achieved),
			num(figure(float64(s.Value)/1e6), float64(s.Value)/1e6), left(stepVerdict(s.Verdict)), wide(printable.Text(s.Why)))
	}
	return t
}

// stepVerdict is what became of a step, in words.
func stepVerdict(s string) string { return printable.Text(strings.ReplaceAll(s, "_", " ")) }

// phaseNames are how the page calls the phases of points.
var phaseNames = map[string]string{plan.Purge: "purge", plan.Fill: "fill", plan.Precondition: "preconditioning", plan.Measure: "measured"}

// findMaxFigure is the curve of a search: what each rate cost, in the order of the rates.
func findMaxFigure(d *result.Doc) *figureSVG {
	f := d.FindMax
	if f == nil {
		return nil
	}
	metric, value, _ := strings.Cut(f.Limit, "=")
	p := plot{title: "Response time at each rate", x: axis{label: "IOPS achieved", text: short}, y: axis{label: printable.Text(metric) + " response time", text: shortNanos, log: true}}
	steps := slices.DeleteFunc(slices.Clone(f.Steps), func(s result.FindMaxStep) bool { return s.Asked <= 0 || s.Value <= 0 })
	slices.SortStableFunc(steps, func(a, b result.FindMaxStep) int { return cmp.Compare(a.Asked, b.Asked) })
	good, bad := line{class: "s0", dots: true}, line{class: "s1", dots: true}
	var xs, ys []float64
	for _, s := range steps {
		l := &bad
		if s.OK {
			l = &good
		}
		l.x, l.y = append(l.x, s.Achieved), append(l.y, float64(s.Value))
		l.names = append(l.names, fmt.Sprintf("asked %s, achieved %s IOPS: %s, %s", figure(s.Asked), figure(s.Achieved), nanosText(float64(s.Value)), stepVerdict(s.Verdict)))
		xs, ys = append(xs, s.Achieved), append(ys, float64(s.Value))
		if f.FoundPoint != nil && s.Point == *f.FoundPoint {
			p.ringX, p.ringY, p.ringName = s.Achieved, float64(s.Value), "found, "+figure(s.Achieved)+" IOPS"
		}
	}
	if len(xs) < 2 {
		return nil
	}
	p.lines = []line{bad, good}
	if limit, err := time.ParseDuration(value); err == nil {
		p.rule, p.ruleName = float64(limit), "limit: "+printable.Text(metric)+" within "+shortNanos(float64(limit))
		ys = append(ys, p.rule)
	}
	p.x.fit(xs)
	p.y.fit(ys)
	out := &figureSVG{Caption: p.title, Legend: []legendEntry{{"s0", "within the limit, and as asked"}, {"s1", "not"}}}
	out.Wide, out.Narrow = p.both()
	return out
}
