package result

import (
	"fmt"
	"slices"
	"strings"

	"blkstorm/verdict"
)

// textResponse writes response times, from the planned moment of each I/O, and what became of those
// that were planned.
func (p *Point) textResponse(b *strings.Builder, percentiles []string) {
	if p.Total.OpenLoop == nil {
		return
	}
	var rows []figure
	for _, d := range p.directions() {
		if d.stat.OpenLoop != nil && d.stat.Response.Count > 0 {
			rows = append(rows, d)
		}
	}
	if len(rows) != 1 {
		rows = append(rows, figure{"total", p.Total})
	}
	b.WriteString("\n  response time, from the planned moment of each I/O")
	if slices.ContainsFunc(p.Warnings, func(w verdict.Warning) bool { return w.Code == ResponseWhole }) {
		b.WriteString(", over the machines' whole windows")
	}
	b.WriteString("\n")
	figures(b, "  ", rows, columns{response: true, deviation: true, percentiles: percentiles})
	o := p.Total.OpenLoop
	line := fmt.Sprintf("  planned %s: submitted %s", plural(o.Offered+o.Missed, "I/O"), commas(o.Offered))
	if o.Late > 0 {
		line += fmt.Sprintf(", of which %s over 1 ms late", commas(o.Late))
	}
	if o.Missed > 0 {
		line += fmt.Sprintf("; missed %s, the oldest %.3g s old", commas(o.Missed), float64(o.BacklogNS)/1e9)
	}
	b.WriteString(line + "\n")
}
