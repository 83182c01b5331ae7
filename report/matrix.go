package report

import (
	"math"
	"unicode/utf8"

	"blkstorm/printable"
	"blkstorm/result"
	"blkstorm/sweep"
)

// matrix is a coloured table: a figure of the points that differ in two axes.
type matrix struct {
	Caption, Unit string
	Row, Col      string
	Cols          []string
	Rows          []matrixRow
}

type matrixRow struct {
	Name  string
	Cells []cell
}

// shades is how many colours a matrix has: classes q0 to q8, or l0 to l8.
const shades = 9

// sweepGroup is the matrices of points that have all other axes in common, with their curves.
type sweepGroup struct {
	Title    string
	Matrices []matrix
	Curves   []figureSVG
}

// Grid is the class of what the matrices stand in: beside each other as far as the widest has room, so that no column
// is beyond an edge on a screen that could show it.
func (g *sweepGroup) Grid() string {
	widest := 0.0
	for i := range g.Matrices {
		widest = max(widest, g.Matrices[i].width())
	}
	switch { // as the style sheet has them, of which a rem is 16 pixels
	case widest <= 20*16:
		return "grid small"
	case widest <= 34*16:
		return "grid"
	case widest <= 44*16:
		return "grid middle"
	}
	return "grid broad"
}

// width is about how many pixels the matrix takes: of fonts that browsers have, DejaVu Sans is the broadest.
func (m *matrix) width() float64 {
	const digit, beside, least = 9.5, 18, 4.2 * 16
	text := func(s string) float64 { return digit*float64(utf8.RuneCountInString(s)) + beside }
	corner := max(text(m.Col), text(m.Row)) + 2*digit // an arrow each
	sum := 0.0
	for c := range m.Cols {
		of := max(least, text(m.Cols[c]))
		for r := range m.Rows {
			of = max(of, text(m.Rows[r].Cells[c].Text))
		}
		sum += of
	}
	for r := range m.Rows {
		corner = max(corner, text(m.Rows[r].Name))
	}
	return corner + sum
}

// sweepGroups lays out a sweep; nil when the document has none, or one that contradicts itself.
func sweepGroups(d *result.Doc) []sweepGroup {
	if d.Sweep == nil {
		return nil
	}
	var points []*result.Point
	for _, i := range d.Sweep.Points {
		points = append(points, d.Points[i])
	}
	return layout(d, d.Sweep.Axes, points)
}

// layout makes the matrices of points, which are those of the combinations of axes, in order, as far as there are any.
func layout(d *result.Doc, axes []sweep.Axis, points []*result.Point) (out []sweepGroup) {
	spec := &sweep.Spec{Axes: axes}
	if len(points) == 0 || spec.Validate() != nil || len(points) > spec.Len() {
		return nil
	}
	row, col := (&result.Sweep{Axes: axes}).MatrixAxes()
	at := func(k int) *result.Point {
		if k >= len(points) {
			return nil
		}
		return points[k]
	}
	for _, m := range spec.Matrices(row, col) {
		g := sweepGroup{Matrices: sweepMatrices(&m, at), Curves: sweepCurves(&m, at, d)}
		if len(m.Others) > 0 {
			g.Title = printable.Text(m.Others.String())
		}
		out = append(out, g)
	}
	return out
}

func sweepMatrices(m *sweep.Matrix, at func(int) *result.Point) (out []matrix) {
	var stats []*result.Stat
	for _, line := range m.Points {
		for _, k := range line {
			if p := at(k); p != nil {
				stats = append(stats, p.Total)
			}
		}
	}
	sc := scaleOf(stats...)
	for _, f := range []struct {
		caption, unit, name string
	}{{"IOPS", "", ""}, {"Mean latency", sc.Unit, "mean"}, {"p99 latency", sc.Unit, "p99"}, {"Worst latency", sc.Unit, "max"}} {
		mx := matrix{Caption: f.caption, Unit: f.unit, Row: m.Row, Col: m.Col}
		for _, c := range m.Cols {
			mx.Cols = append(mx.Cols, printable.Text(c))
		}
		var values [][]float64
		for r, name := range m.Rows {
			line := matrixRow{Name: printable.Text(name)}
			var of []float64
			for _, k := range m.Points[r] {
				c, v := matrixCell(at(k), f.name, sc)
				line.Cells, of = append(line.Cells, c), append(of, v)
			}
			mx.Rows, values = append(mx.Rows, line), append(values, of)
		}
		mx.color(values, f.name != "")
		out = append(out, mx)
	}
	return out
}

// matrixCell is a figure of a point, and its value; NaN where there is none.
func matrixCell(p *result.Point, name string, sc scale) (cell, float64) {
	switch {
	case p == nil:
		return cell{Text: "–", Class: "none"}, math.NaN()
	case p.Skipped != "":
		return cell{Text: "skipped", Class: "none"}, math.NaN()
	}
	v, text := p.Total.IOPS, figure(p.Total.IOPS)
	if name != "" {
		ns, ok := latencyOf(p.Total.Latency, name)
		if !ok {
			return cell{Text: "–", Class: "none"}, math.NaN()
		}
		v, text = float64(ns)/sc.NS, sc.text(ns)
	}
	if !p.Completed {
		text += "*"
	}
	return num(text, v), v
}

// color gives the cells their shades: rates evenly from 0 to the most, latencies by their logarithm from the least
// to the most. The best one is marked.
func (m *matrix) color(values [][]float64, latency bool) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, line := range values {
		for _, v := range line {
			if !math.IsNaN(v) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	best := high
	if latency {
		best = low
	}
	for r, line := range values {
		for c, v := range line {
			if math.IsNaN(v) {
				continue
			}
			at := &m.Rows[r].Cells[c]
			if at.Class = shade(v, low, high, latency); v == best {
				at.Class += " best"
			}
		}
	}
}

// shade is the class of a figure among those from low to high.
func shade(v, low, high float64, latency bool) string {
	class, part := "q", 0.0
	switch {
	case latency:
		if class = "l"; high > low && low > 0 {
			part = math.Log(v/low) / math.Log(high/low)
		}
	case high > 0:
		part = v / high
	}
	return class + string(rune('0'+max(0, min(shades-1, int(part*shades)))))
}
