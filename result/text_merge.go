package result

import (
	"fmt"
	"strings"

	"blkstorm/printable"
)

// textMembers is how many members the text lists for a point; the JSON has all.
const textMembers = 64

// textMergeHead says what was merged.
func (d *Doc) textMergeHead(b *strings.Builder) {
	g := d.Merge
	if g == nil {
		return
	}
	fmt.Fprintf(b, "merged from the results of %s\n", plural(uint64(len(g.Members)), "machine"))
	for _, l := range g.LeftOut {
		wrap(b, "  *** LEFT OUT: ", "      ", l.Path+": "+l.Reason, TextWidth)
	}
}

// shows says whether the text lists so many targets: of a merge with as many as machines it need not.
func (g *Merge) shows(targets int) bool {
	return g == nil || targets > len(g.Members) && targets <= textMembers
}

// textMergePoint is what each member gave to point i, and how far they lie apart.
func (d *Doc) textMergePoint(b *strings.Builder, i int) {
	if d.Merge == nil || i >= len(d.Merge.Points) {
		return
	}
	g := &d.Merge.Points[i]
	b.WriteString("\n")
	wrap(b, "  ", "  ", g.says(), TextWidth)
	var rows []figure
	var notes [][2]string
	for k := range g.Rows {
		r := &g.Rows[k]
		name := ""
		if r.Member < len(d.Merge.Members) && r.Member >= 0 {
			name = d.Merge.Members[r.Member].Name
		}
		if len(r.Notes) > 0 {
			notes = append(notes, [2]string{name, strings.Join(r.Notes, "; ")})
		}
		if r.Missing != "" {
			notes = append(notes, [2]string{name, "in no figure: " + r.Missing})
			continue
		}
		rows = append(rows, figure{name, r.stat()})
	}
	left := len(rows) - textMembers
	if left > 0 {
		rows = rows[:textMembers]
	}
	if len(rows) > 0 {
		b.WriteString("\n  per machine\n")
		figures(b, "  ", rows, columns{percentiles: []string{"50", "95", "99", "99.9"}})
		if left > 0 {
			fmt.Fprintf(b, "  and %s more\n", commas(uint64(left)))
		}
		b.WriteString("\n  over the machines\n")
		g.textSpread(b)
	}
	for k, n := range notes {
		if k == textMembers {
			fmt.Fprintf(b, "  and %s with notes\n", plural(uint64(len(notes)-k), "more machine"))
			break
		}
		wrap(b, "  *** "+printable.Text(n[0])+": ", "      ", n[1], TextWidth)
	}
}

// says is what the figures cover.
func (g *MergePoint) says() string {
	skew := fmt.Sprintf("; the windows began within %s s, by the machines' own clocks", trimmed(g.SkewS))
	switch g.Window {
	case MergeEqual:
		return "all windows are the same"
	case MergeCommon:
		return fmt.Sprintf("figures of the whole intervals within the %s s that all machines measured; %s s (%.1f %%) of the longest window are not used",
			trimmed(g.CommonS), trimmed(g.LossS), g.LossPct) + skew
	}
	return fmt.Sprintf("figures of each machine's whole window; all measured together for %s s", trimmed(g.CommonS)) + skew
}

// stat is the row as a figure of a table.
func (r *MergeRow) stat() *Stat {
	l := &Latency{Mean: r.MeanNS, Max: r.MaxNS, Percentiles: map[string]int64{}}
	if r.IOs > 0 {
		l.Count = r.IOs
	}
	for key, v := range map[string]*int64{"50": r.P50NS, "95": r.P95NS, "99": r.P99NS, "99.9": r.P999NS} {
		if v != nil {
			l.Percentiles[key] = *v
		}
	}
	return &Stat{IOs: r.IOs, Bytes: r.Bytes, Errors: r.Errors, IOPS: r.IOPS, BytesPerS: r.BytesPerS, Latency: l}
}

// textSpread is a table of how far members lie apart.
func (g *MergePoint) textSpread(b *strings.Builder) {
	unit, scale := "µs", 1e3
	if g.MeanNS.Min >= 10e6 {
		unit, scale = "ms", 1e6
	}
	cols := []struct {
		head, unit string
		s          *MergeSpread
		scale      float64
	}{{"IOPS", "", &g.IOPS, 1}, {"MB/s", "", &g.BytesPerS, 1e6}, {"average", unit, &g.MeanNS, scale}, {"p99", unit, &g.P99NS, scale}, {"max", unit, &g.MaxNS, scale}}
	grid := [][]string{{"", "", "least", "median", "most", "stdev"}}
	for _, c := range cols {
		s := c.s
		col := column{head: c.head, unit: c.unit, values: []float64{s.Min / c.scale, s.Median / c.scale, s.Max / c.scale, s.StdDev / c.scale}}
		grid = append(grid, col.cells())
	}
	t := table{left: 1}
	for i := range grid[0] {
		row := make([]string, len(grid))
		for k := range grid {
			row[k] = grid[k][i]
		}
		t.add(row...)
	}
	t.write(b, "  ")
}
