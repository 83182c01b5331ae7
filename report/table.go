package report

import (
	"slices"
	"strconv"

	"blkstorm/result"
)

// table is one table of the page.
type table struct {
	ID      string // needed for CSV
	Caption string
	CSV     string // name of the file that its button saves; empty for no button
	Sort    bool
	Dense   bool // of many columns, the second of which names the row
	Head    []head
	Rows    [][]cell
}

// head is a column's head; Unit stands below it.
type head struct {
	Text, Unit string
	Left       bool
}

// Name is the head on one line, as CSV files have it.
func (h head) Name() string {
	if h.Unit == "" {
		return h.Text
	}
	return h.Text + " (" + h.Unit + ")"
}

// cell is one cell: what people see, and what it sorts by and a CSV file has.
type cell struct {
	Text  string
	Value string // empty: the text itself
	Class string
}

// maxOpen is how many rows a table shows at once; longer ones are scrolled.
const maxOpen = 40

// Tall says whether the table is.
func (t *table) Tall() bool { return len(t.Rows) > maxOpen }

func (t *table) add(cells ...cell) { t.Rows = append(t.Rows, cells) }

// left is text that stands left.
func left(s string) cell { return cell{Text: s, Class: "t"} }

// wide is text that may take several lines.
func wide(s string) cell { return cell{Text: s, Class: "w"} }

// num is a number with all its digits behind what is shown.
func num(shown string, v float64) cell {
	return cell{Text: shown, Value: strconv.FormatFloat(v, 'f', -1, 64)}
}

func count(n uint64) cell { return cell{Text: whole(n), Value: strconv.FormatUint(n, 10)} }

// none is a cell without a figure; it sorts last.
func none() cell { return cell{Text: "–"} }

// columns are the latencies of a document's tables.
type columns []string

// columnsOf are the percentiles that were asked for, between mean and maximum; without a wish those that tell most.
func columnsOf(d *result.Doc) columns {
	out := columns{"mean", "stdev"}
	if len(d.Percentiles) == 0 {
		return append(out, "p50", "p95", "p99", "p99.9", "p99.99", "p99.999", "max")
	}
	for _, p := range slices.Sorted(slices.Values(d.Percentiles)) {
		out = append(out, "p"+result.PercentileKey(p))
	}
	return append(out, "max")
}

// head is the head of the columns that cells fills.
func (c columns) head(s scale) []head {
	out := []head{{Text: "IOPS"}, {Text: "MB/s"}}
	for _, name := range c {
		out = append(out, head{Text: name, Unit: s.Unit})
	}
	return append(out, head{Text: "I/Os"}, head{Text: "errors"})
}

// cells are the figures of one row. CSV files have latencies in the table's unit, too.
func (c columns) cells(s *result.Stat, sc scale) []cell {
	out := []cell{num(figure(s.IOPS), s.IOPS), num(figure(s.BytesPerS/1e6), s.BytesPerS/1e6)}
	for _, name := range c {
		out = append(out, latencyCell(s.Latency, name, sc))
	}
	bad := s.Errors + s.Short + s.Zero
	errors := count(bad)
	if bad > 0 {
		errors.Class = "bad"
	}
	return append(out, count(s.IOs), errors)
}

// latencyCell is one figure of a latency.
func latencyCell(l *result.Latency, name string, sc scale) cell {
	ns, ok := latencyOf(l, name)
	if !ok {
		return none()
	}
	c := num(sc.text(ns), float64(ns)/sc.NS)
	if p, err := strconv.ParseFloat(name[1:], 64); err == nil && name[0] == 'p' && float64(l.Count)*(100-p) < 100*minAbove-1e-6 {
		c.Class = few
	}
	return c
}

// minAbove is how many I/Os must lie above a percentile for it to be more than the accident of some of them, as for
// the warning window_too_short. few is the class of those with less.
const (
	minAbove = 10
	few      = "few"
)

// Few says whether the table has such percentiles.
func (t *table) Few() bool {
	return slices.ContainsFunc(t.Rows, func(row []cell) bool {
		return slices.ContainsFunc(row, func(c cell) bool { return c.Class == few })
	})
}

// latencyOf is one figure of a latency, and whether there is one.
func latencyOf(l *result.Latency, name string) (int64, bool) {
	if l == nil || l.Count == 0 {
		return 0, false
	}
	switch name {
	case "mean":
		return l.Mean, true
	case "stdev":
		return l.StdDev, true
	case "min":
		return l.Min, true
	case "max":
		return l.Max, true
	}
	v, ok := l.Percentiles[name[1:]]
	return v, ok
}

// scaleOf is the unit of a table with the latencies of these.
func scaleOf(stats ...*result.Stat) scale {
	smallest := int64(0)
	for _, s := range stats {
		if s.Latency.Count > 0 && (smallest == 0 || s.Latency.Mean < smallest) {
			smallest = s.Latency.Mean
		}
	}
	return scaleFor(smallest)
}
