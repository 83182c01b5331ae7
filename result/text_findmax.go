package result

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// textFindMax writes a search for people: what was found, the curve that led to it, and the point that
// confirmed it.
func (d *Doc) textFindMax(b *strings.Builder) {
	f := d.FindMax
	limit := strings.Replace(f.Limit, "=", " within ", 1)
	b.WriteString("\n")
	if f.FoundIOPS == nil {
		wrap(b, "", "  ", fmt.Sprintf("no capacity found with %s (%s arrivals): %s", limit, f.Arrival, f.Why), TextWidth)
	} else {
		text := fmt.Sprintf("capacity %s IOPS with %s (%s arrivals), confirmed over %s s", number(*f.FoundIOPS, 0), limit, f.Arrival, trimmed(d.Points[*f.FoundPoint].WindowS))
		if f.ReachedCeiling {
			text += "; the device gives no more than that, whatever the limit"
		}
		wrap(b, "", "  ", text, TextWidth)
	}
	if len(d.Points) == 0 {
		return
	}
	b.WriteString("\n  response time at each rate, from the planned moment of each I/O; of the closed loop, service time\n")
	d.textCurve(b)
	b.WriteString("\n")
	shown := 0
	if f.FoundPoint != nil {
		shown = *f.FoundPoint
		d.textPoint(b, shown, d.Points[shown])
	} else {
		facts := d.textFacts(d.Points[0])
		facts.write(b, "  ")
		last := d.Points[len(d.Points)-1]
		for _, line := range last.status() {
			wrap(b, "  *** ", "      ", line, TextWidth)
		}
		last.textFaults(b)
		shown = -1
	}
	d.textOtherWarnings(b, shown)
}

// textCurve writes a row per step, by rate.
func (d *Doc) textCurve(b *strings.Builder) {
	steps := slices.Clone(d.FindMax.Steps)
	slices.SortStableFunc(steps, func(x, y FindMaxStep) int { return cmp.Compare(x.Asked, y.Asked) })
	metric, _, _ := strings.Cut(d.FindMax.Limit, "=")
	type latency struct {
		head string
		get  func(*Latency) (int64, bool)
	}
	all := []latency{{"average", func(l *Latency) (int64, bool) { return l.Mean, true }}}
	keys := []string{"50", "99"}
	if key, ok := strings.CutPrefix(metric, "p"); ok && !slices.Contains(keys, key) {
		keys = append(keys, key)
	}
	for _, key := range ascending(keys) {
		all = append(all, latency{"p" + key, func(l *Latency) (int64, bool) { v, ok := l.Percentiles[key]; return v, ok }})
	}
	all = append(all, latency{"max", func(l *Latency) (int64, bool) { return l.Max, true }})

	rows := make([]figure, 0, len(steps))
	names, verdicts := []string{"", ""}, []string{"", ""}
	missed := []string{"missed", ""}
	asked, achieved := column{head: "asked", unit: "IOPS"}, column{head: "achieved", unit: "IOPS"}
	for _, s := range steps {
		stat := d.Points[s.Point].Total
		rows = append(rows, figure{"", stat})
		names = append(names, fmt.Sprintf("[%d] %s", s.Point+1, s.Kind))
		verdicts = append(verdicts, strings.ReplaceAll(s.Verdict, "_", " "))
		if asked.values = append(asked.values, s.Asked); s.Asked == 0 {
			asked.values[len(asked.values)-1] = math.NaN()
		}
		achieved.values = append(achieved.values, s.Achieved)
		if missed = append(missed, "-"); stat.OpenLoop != nil {
			missed[len(missed)-1] = commas(stat.Missed)
		}
	}
	unit, scale := latencyUnit(rows, FromPlan)
	grid := [][]string{names, verdicts, asked.cells(), achieved.cells()}
	for _, l := range all {
		c := column{head: l.head, unit: unit}
		for _, r := range rows {
			v, ok := l.get(FromPlan(r.stat))
			if c.values = append(c.values, float64(v)/scale); !ok || FromPlan(r.stat).Count == 0 {
				c.values[len(c.values)-1] = math.NaN()
			}
		}
		grid = append(grid, c.cells())
	}
	grid = append(grid, missed)
	t := table{left: 2}
	for i := range names {
		row := make([]string, len(grid))
		for c := range grid {
			row[c] = grid[c][i]
		}
		t.add(row...)
	}
	t.write(b, "  ")
}

// FromPlan is the response time of a direction, from the planned moment of each I/O on; in a closed
// loop, which plans none, service time.
func FromPlan(s *Stat) *Latency {
	if s.OpenLoop != nil && s.Response != nil {
		return s.Response
	}
	return s.Latency
}

// textOtherWarnings says which warnings the points have that are not shown, and how many of them.
func (d *Doc) textOtherWarnings(b *strings.Builder, shown int) {
	counts := map[string]int{}
	var order []string
	for i, p := range d.Points {
		if i == shown {
			continue
		}
		for _, w := range p.Warnings {
			if counts[w.Code]++; counts[w.Code] == 1 {
				order = append(order, w.Code)
			}
		}
	}
	if len(order) == 0 {
		return
	}
	var parts []string
	for _, code := range order {
		parts = append(parts, fmt.Sprintf("%s (%s)", code, plural(uint64(counts[code]), "step")))
	}
	wrap(b, "  warnings of the other steps: ", "    ", strings.Join(parts, ", ")+"; --format json has them in full", TextWidth)
}
