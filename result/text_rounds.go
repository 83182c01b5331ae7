package result

import (
	"fmt"
	"math"
	"strings"

	"blkstorm/plan"
	"blkstorm/printable"
	"blkstorm/sweep"
)

// textRounds writes what a phase of rounds came to: what was tracked, the figures of each of its points over the
// window, and what there is to say of single points. indexes are those of its points.
func (d *Doc) textRounds(b *strings.Builder, r *Rounds, indexes []int) {
	phase := &d.Plan.Phases[r.Phase]
	rule := &phase.Rounds.Rule
	wrap(b, "", "  ", fmt.Sprintf("rounds of %s, at most %d: %d finished (points %d to %d)",
		plural(uint64(len(phase.Points)), "point"), rule.MaxRounds, r.Done, indexes[0]+1, indexes[len(indexes)-1]+1), TextWidth)
	where := d.textTargets(d.Points[indexes[0]])
	d.Points[indexes[0]].textEngine(where)
	where.write(b, "  ")
	limits := fmt.Sprintf("(rule, for each: range within %g %%, fitted range within %g %% of the mean, over the same %d rounds)", rule.RangePct, rule.FittedPct, rule.Window)
	switch {
	case r.Reached:
		wrap(b, "  ", "    ", fmt.Sprintf("steady state reached in round %d %s", r.Last, limits), TextWidth)
	case r.Done >= rule.MaxRounds:
		wrap(b, "  ", "    ", fmt.Sprintf("NOT STEADY after %s %s", plural(uint64(r.Done), "round"), limits), TextWidth)
	default:
		wrap(b, "  *** ", "      ", fmt.Sprintf("ENDED after %s, before steady state was reached %s", plural(uint64(r.Done), "round"), limits), TextWidth)
	}
	for i := range r.Tracked {
		t := &r.Tracked[i]
		what := fmt.Sprintf("%s, %v", t.Point, t.Steady.Rule.Metric)
		if !r.Reached && t.Steady.State.Reason != "" {
			what += ": " + t.Steady.State.Reason
		}
		wrap(b, "  tracked: ", "    ", what, TextWidth)
		textRoundFigures(b, &t.Steady)
	}
	d.textAsserted(b, indexes)
	d.textOften(b, indexes)
	d.textCells(b, r, phase)
}

// textCells writes the figures of each point over the window: in the matrices of the sweep, else in a table.
func (d *Doc) textCells(b *strings.Builder, r *Rounds, phase *plan.Phase) {
	over := fmt.Sprintf("means over rounds %d to %d; p99 of all their I/Os, and the highest max", r.First, r.Last)
	if r.First == 0 {
		over = "no full window: means over the points that there are, their p99 and the highest max"
	}
	b.WriteString("\n")
	wrap(b, "  ", "    ", over, TextWidth)
	var rows []figure
	for i := range r.Cells {
		rows = append(rows, figure{r.Cells[i].Label, r.Cells[i].stat()})
	}
	if phase.Sweep != nil {
		textMatrices(b, r, phase.Sweep, rows)
		return
	}
	for i := range r.Cells {
		if why := r.Cells[i].Skipped; why != "" {
			rows[i].name += " (skipped)"
		}
	}
	figures(b, "  ", rows, columns{percentiles: []string{"99"}})
	r.textSkips(b)
}

// stat is the cell in the form of a row of a table.
func (c *Cell) stat() *Stat {
	s := &Stat{IOPS: c.IOPS, BytesPerS: c.BytesPerS, Latency: &Latency{}}
	if c.MaxNS > 0 {
		s.Latency = &Latency{Count: 1, Mean: c.MeanNS, Max: c.MaxNS, Percentiles: map[string]int64{"99": c.P99NS}}
	}
	return s
}

func (r *Rounds) textSkips(b *strings.Builder) {
	gap := "\n"
	for i := range r.Cells {
		if c := &r.Cells[i]; c.Skipped != "" {
			b.WriteString(gap)
			gap = ""
			wrap(b, "  "+printable.Text(c.Label)+" skipped: ", "    ", c.Skipped, TextWidth)
		}
	}
}

// textMatrices writes the matrices of the figures that procedures report.
func textMatrices(b *strings.Builder, r *Rounds, axes *plan.Sweep, rows []figure) {
	unit, scale := latencyUnit(rows, func(s *Stat) *Latency { return s.Latency })
	spec := axes.Spec()
	row, col := (&Sweep{Axes: axes.Axes}).MatrixAxes()
	matrices := spec.Matrices(row, col)
	for _, f := range []struct {
		head string
		get  func(*Cell) float64
	}{
		{"IOPS", func(c *Cell) float64 { return c.IOPS }},
		{"MB/s", func(c *Cell) float64 { return c.BytesPerS / 1e6 }},
		{"mean latency in " + unit, latencyOf(func(c *Cell) int64 { return c.MeanNS }, scale)},
		{"p99 latency in " + unit, latencyOf(func(c *Cell) int64 { return c.P99NS }, scale)},
		{"max latency in " + unit, latencyOf(func(c *Cell) int64 { return c.MaxNS }, scale)},
	} {
		c := column{}
		for i := range r.Cells {
			v := math.NaN()
			if r.Cells[i].Rounds > 0 {
				v = f.get(&r.Cells[i])
			}
			c.values = append(c.values, v)
		}
		cells := c.cells()[2:]
		for i := range cells {
			if r.Cells[i].Skipped != "" {
				cells[i] = "skipped"
			}
		}
		writeMatrices(b, matrices, f.head, cells)
	}
	r.textSkips(b)
}

// latencyOf is a latency of a cell; NaN, where no I/O completed.
func latencyOf(get func(*Cell) int64, scale float64) func(*Cell) float64 {
	return func(c *Cell) float64 {
		if c.MaxNS == 0 {
			return math.NaN()
		}
		return float64(get(c)) / scale
	}
}

func writeMatrices(b *strings.Builder, matrices []sweep.Matrix, head string, cells []string) {
	for i := range matrices {
		b.WriteString("\n")
		for line := range strings.Lines(matrices[i].Text(head, func(k int) string { return cells[k] })) {
			b.WriteString("  " + line)
		}
	}
}

// textAsserted says of each limit in how many of the points it was kept.
func (d *Doc) textAsserted(b *strings.Builder, indexes []int) {
	var order []string
	kept, all := map[string]int{}, map[string]int{}
	for _, i := range indexes {
		for k := range d.Points[i].Asserts {
			a := &d.Points[i].Asserts[k]
			text := a.Assert.String()
			if all[text]++; all[text] == 1 {
				order = append(order, text)
			}
			if a.OK {
				kept[text]++
			}
		}
	}
	for _, text := range order {
		wrap(b, "  assert ", "    ", fmt.Sprintf("%s: kept in %d of %d points", text, kept[text], all[text]), TextWidth)
	}
}

// textOften writes the warnings of many points: each once, as its first point has it.
func (d *Doc) textOften(b *strings.Builder, indexes []int) {
	count, first := map[string]int{}, map[string]int{}
	var order []string
	ran := 0
	for _, i := range indexes {
		if d.Points[i].Skipped == "" {
			ran++
		}
		for _, w := range d.Points[i].Warnings {
			if count[w.Code]++; count[w.Code] == 1 {
				order, first[w.Code] = append(order, w.Code), i
			}
		}
	}
	for _, code := range order {
		p := d.Points[first[code]]
		for _, w := range p.Warnings {
			if w.Code == code {
				wrap(b, "  warning ["+w.Code+"]: ", "    ", fmt.Sprintf("%s (in %d of %d points, first in [%d] %s)", w.Message, count[code], ran, first[code]+1, p.Label), TextWidth)
				if w.Advice != "" {
					wrap(b, "    ", "    ", w.Advice, TextWidth)
				}
				break
			}
		}
	}
}

// textPoints writes the points, but those of rounds only where they did not end as they should: the rest of
// these is in what their phase came to.
func (d *Doc) textPoints(b *strings.Builder) {
	groups := d.roundPoints()
	k := -1
	for i, p := range d.Points {
		if k+1 < len(groups) && i == groups[k+1][0] && k+1 < len(d.Rounds) {
			k++
			b.WriteString("\n")
			d.textRounds(b, d.Rounds[k], groups[k])
		}
		if p.Round == 0 || k < 0 || len(p.status()) > 0 && p.Skipped == "" {
			b.WriteString("\n")
			d.textPoint(b, i, p)
		}
	}
}
