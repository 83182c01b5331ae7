package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"blkstorm/printable"
	"blkstorm/result"
	"blkstorm/result/published"
)

// publishedTable is a table of a published procedure.
type publishedTable struct {
	*table
	Notes []string
}

// publishedTables are those of the document's profile; none without one. Tables of a single figure are coloured as
// other matrices are.
func publishedTables(d *result.Doc) (out []publishedTable) {
	list := published.Tables(d)
	for n := range list {
		p := &list[n]
		heads, rows := p.Grid()
		t := &table{ID: fmt.Sprintf("published%d", n), CSV: fmt.Sprintf("table-%d", n+1), Caption: printable.Text(p.Title)}
		names := len(heads[0]) - len(p.Columns)
		for i, name := range heads[0] {
			h := head{Text: printable.Text(name), Left: i < names}
			if len(heads) > 1 {
				h.Unit = printable.Text(heads[1][i])
			}
			t.Head = append(t.Head, h)
		}
		color := shading(p)
		for r, row := range rows {
			var line []cell
			for i, text := range row {
				c := cell{Text: printable.Text(text)}
				switch k := i - names; {
				case k < 0:
					c.Class = "t"
				case k < len(p.Rows[r].Cells):
					if v := p.Rows[r].Cells[k]; v.Text == "" && !math.IsNaN(v.Value) {
						c = num(c.Text, v.Value)
						c.Class = color(v.Value)
					}
				}
				line = append(line, c)
			}
			t.add(line...)
		}
		notes := []string{}
		for _, text := range p.Notes {
			notes = append(notes, printable.Text(text))
		}
		out = append(out, publishedTable{t, notes})
	}
	return out
}

// shading is the class of each figure of a table that has one kind of figure only.
func shading(t *published.Table) func(float64) string {
	if !t.Same {
		return func(float64) string { return "" }
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range t.Rows {
		for _, c := range r.Cells {
			if c.Text == "" && !math.IsNaN(c.Value) {
				low, high = min(low, c.Value), max(high, c.Value)
			}
		}
	}
	latency := slices.ContainsFunc([]string{"latency", "percentile", "deviation"}, func(word string) bool {
		return strings.Contains(strings.ToLower(t.Title), word)
	})
	return func(v float64) string { return shade(v, low, high, latency) }
}
