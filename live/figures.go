package live

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"blkstorm/printable"
	"blkstorm/result"
	"blkstorm/steady"
	"blkstorm/unit"
)

// count prints a rate of I/Os.
func count(v float64) string { return humanize.Comma(int64(v + 0.5)) }

// megabytes prints bytes per second in MB/s.
func megabytes(v float64) string { return humanize.FormatFloat("#,###.#", v/1e6) }

// latency prints nanoseconds with the unit that fits.
func latency(ns float64) string { return unit.Nanos(ns) }

// nothing stands for a figure that there is none of.
const nothing = "-"

// Widths of the table's columns: they hold what is printed of 999 million IOPS, 1 TB/s and an hour.
const (
	nameColumn = 13
	column     = 13
)

// row is a line of the table: its name to the left, numbers to the right, each in its own columns, so that
// none jumps.
func row(name string, cells ...string) string {
	var b strings.Builder
	b.WriteString(pad(name, -nameColumn))
	for i, c := range cells {
		width := column
		if i > 0 {
			width = column - 1
		}
		b.WriteString(pad(c, width))
	}
	return b.String()
}

// pad fills a text with spaces to a width: before it, or with a negative width after it.
func pad(text string, width int) string {
	fill := strings.Repeat(" ", max(max(width, -width)-utf8.RuneCountInString(text), 0))
	if width < 0 {
		return text + fill
	}
	return fill + text
}

// table is the last row by direction, and the window so far.
func (f *framer) table() []string {
	more := f.width >= wide
	head := []string{"IOPS", "MB/s", "mean"}
	if more {
		head = append(head, "p50", "p95")
	}
	lines := []string{row("", append(head, "p99", "max")...)}
	in := f.row
	if in == nil {
		in = &result.Interval{LengthS: 1}
	}
	shown := 0
	for i, d := range stats(in) {
		if !f.seen[i] {
			continue
		}
		shown++
		lines = append(lines, row(directionNames[i], f.cells(d, in.LengthS, more)...))
		if r := d.Response; r != nil {
			lines = append(lines, row("  response", responseCells(r, more)...))
		}
	}
	if shown != 1 {
		lines = append(lines, row("total", f.totalCells(in, more)...))
	}
	return append(lines, row("so far", f.soFar(more)...))
}

func (f *framer) cells(d *result.IntervalStat, length float64, more bool) []string {
	cells := []string{count(float64(d.IOs) / length), megabytes(float64(d.Bytes) / length)}
	return append(cells, latencies(more, d.IOs > 0, d.Mean, d.P50, d.P95, d.P99, d.Max)...)
}

func responseCells(r *result.IntervalResponse, more bool) []string {
	return append([]string{"", ""}, latencies(more, r.Max > 0, r.Mean, r.P50, r.P95, r.P99, r.Max)...)
}

func latencies(more, any bool, mean, p50, p95, p99, max int64) []string {
	values := []int64{mean, p50, p95, p99, max}
	if !more {
		values = []int64{mean, p99, max}
	}
	var cells []string
	for _, v := range values {
		if !any {
			cells = append(cells, nothing)
			continue
		}
		cells = append(cells, latency(float64(v)))
	}
	return cells
}

// totalCells adds up the directions. Of their percentiles only the highest is known to be at least that of
// all I/Os together.
func (f *framer) totalCells(in *result.Interval, more bool) []string {
	all := total(in)
	cells := []string{count(float64(all.ios) / in.LengthS), megabytes(float64(all.bytes) / in.LengthS)}
	values := latencies(more, all.ios > 0, int64(all.mean()), highest(in, p50), highest(in, p95), highest(in, p99), all.max)
	if all.ios > 0 && kinds(in) > 1 {
		for i := 1; i < len(values)-1; i++ {
			values[i] = f.atMost() + values[i]
		}
	}
	return append(cells, values...)
}

func (f *framer) atMost() string {
	if f.ascii {
		return "<="
	}
	return "≤"
}

// highest is the highest of a figure over the directions.
func highest(in *result.Interval, get func(*result.IntervalStat) int64) (v int64) {
	for _, d := range stats(in) {
		v = max(v, get(d))
	}
	return v
}

// kinds is how many directions have I/Os.
func kinds(in *result.Interval) (n int) {
	for _, d := range stats(in) {
		if d.IOs > 0 {
			n++
		}
	}
	return n
}

func p50(d *result.IntervalStat) int64 { return d.P50 }
func p95(d *result.IntervalStat) int64 { return d.P95 }
func p99(d *result.IntervalStat) int64 { return d.P99 }

// soFar are the figures of the window so far.
func (f *framer) soFar(more bool) []string {
	cells := []string{nothing, nothing, nothing, "", nothing}
	if f.seconds > 0 {
		cells[0], cells[1] = count(float64(f.so.ios)/f.seconds), megabytes(float64(f.so.bytes)/f.seconds)
	}
	if f.so.ios > 0 {
		cells[2], cells[4] = latency(f.so.mean()), latency(float64(f.so.max))
	}
	if more {
		cells = append(append(cells[:3:3], "", ""), cells[3:]...)
	}
	return cells
}

// flight is what is in flight, and what it costs.
func (f *framer) flight() string {
	if f.row == nil {
		return row("in flight", nothing)
	}
	text := row("in flight", humanize.Comma(f.row.InFlight))
	if f.depth > 0 {
		text += pad("of "+humanize.Comma(f.depth), column-1)
	}
	c := &f.row.CPU
	return text + fmt.Sprintf("   CPU %5.1f %%, steal %5.1f %%", c.UserPct+c.SystemPct, c.StealPct)
}

// pairs are the figures of the last row on a terminal too small for a table.
func (f *framer) pairs() []string {
	in := f.row
	if in == nil {
		in = &result.Interval{LengthS: 1}
	}
	all := total(in)
	l := latencies(false, all.ios > 0, int64(all.mean()), 0, 0, highest(in, p99), all.max)
	if kinds(in) > 1 {
		l[1] = f.atMost() + l[1]
	}
	cells := []string{
		"IOPS", count(float64(all.ios) / in.LengthS), "MB/s", megabytes(float64(all.bytes) / in.LengthS),
		"mean", l[0], "p99", l[1], "max", l[2], "in flight", humanize.Comma(in.InFlight),
	}
	var lines []string
	for i := 0; i < len(cells); i += 4 {
		lines = append(lines, pad(cells[i], -5)+pad(cells[i+1], 11)+"  "+pad(cells[i+2], -9)+pad(cells[i+3], 11))
	}
	return lines
}

// steadiness is what the rounds say, by the numbers of the rule.
func (f *framer) steadiness() []string {
	r := f.rounds
	if r == nil {
		r = &steady.State{}
	}
	running := r.Rounds + 1
	where := ""
	if f.rule != nil && f.rule.MaxRounds > 0 {
		running = min(running, f.rule.MaxRounds)
		where = fmt.Sprintf(" of at most %d", f.rule.MaxRounds)
	}
	where = fmt.Sprintf("round %d", running) + where
	if f.width < narrow {
		line := verdictOf(r)
		if r.Mean > 0 {
			line = fmt.Sprintf("range %.1f fit %.1f slope %.2f %%", r.RangePct, r.FittedPct, r.SlopePct)
		}
		return []string{where + ": " + line}
	}
	lines := []string{pad("steady state", -nameColumn) + where + ", " + verdictOf(r)}
	if r.Mean == 0 {
		if r.Reason != "" {
			lines[0] += " (" + r.Reason + ")"
		}
		return lines
	}
	limit := func(pct float64) string {
		if pct == 0 {
			return ""
		}
		return fmt.Sprintf(" (limit %g)", pct)
	}
	rule := steady.Rule{}
	if f.rule != nil {
		rule = *f.rule
	}
	lines = append(lines,
		fmt.Sprintf("  rounds %d to %d: mean %s, slope %+.2f %% per round", r.First, r.Rounds, f.metric(r.Mean), r.SlopePct),
		fmt.Sprintf("  range %5.1f %%%s, fitted range %5.1f %%%s", r.RangePct, limit(rule.RangePct), r.FittedPct, limit(rule.FittedPct)))
	if rule.Kind != steady.SNIA && r.Reason != "" {
		lines[2] += ": " + r.Reason
	}
	return lines
}

// metric prints a value of the rule's metric.
func (f *framer) metric(v float64) string {
	if f.rule == nil {
		return count(v)
	}
	switch f.rule.Metric {
	case steady.Bandwidth:
		return megabytes(v) + " MB/s"
	case steady.Mean, steady.P99:
		return latency(v)
	}
	return count(v) + " IOPS"
}

// targets has a line for each of several targets.
func (f *framer) targets() []string {
	lines := []string{row("per target", "IOPS", "MB/s", "mean", "p99", "max")}
	for i := range f.row.Targets {
		t := &f.row.Targets[i]
		one := &result.Interval{LengthS: f.row.LengthS, Read: t.Read, Write: t.Write, Trim: t.Trim}
		lines = append(lines, row(targetName(t.Path), f.totalCells(one, false)...))
	}
	return lines
}

// targetName is the end of a path, which tells targets apart, as far as the column holds it.
func targetName(path string) string {
	name := []rune(printable.Text(path))
	if len(name) < nameColumn {
		return string(name)
	}
	return "…" + string(name[len(name)-nameColumn+2:])
}
