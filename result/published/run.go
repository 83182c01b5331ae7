package published

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/unit"
	"blkstorm/workload"
)

// run is a document with its points found again in its plan.
type run struct {
	doc    *result.Doc
	points []point
}

// point is a point of the document with what its plan says of it.
type point struct {
	*result.Point
	plan  *plan.Point
	phase int // index into the plan's phases
}

// newRun finds the points of a document in its plan, in order, as far as they follow from it. Those that
// repeat others after a gap have no place in it, and no row in a table.
func newRun(d *result.Doc) *run {
	r := &run{doc: d}
	repeated := map[int]bool{}
	for i := range d.Resumed {
		for _, n := range d.Resumed[i].Repeated {
			repeated[n] = true
		}
	}
	phase, index, round := 0, -1, 0
	for n, p := range d.Points {
		if p == nil || repeated[n] {
			continue
		}
		i, j := follow(d.Plan, p, phase, index, round)
		if i < 0 {
			continue
		}
		phase, index, round = i, j, p.Round
		r.points = append(r.points, point{p, &d.Plan.Phases[i].Points[j], i})
	}
	return r
}

// follow is where in the plan p stands, which came after the point at phase and index, in that round; -1
// for nowhere. Points of the plan may be missing, where they could not be run.
func follow(p *plan.Plan, next *result.Point, phase, index, round int) (i, j int) {
	from := index + 1
	if next.Round > round {
		from = 0 // the next round of the phase, or a later phase
	}
	for i := phase; i < len(p.Phases); i, from = i+1, 0 {
		ph := &p.Phases[i]
		for j := from; j < len(ph.Points); j++ {
			if ph.Kind == next.Phase && ph.Points[j].Label == next.Label && (ph.Rounds != nil) == (next.Round > 0) {
				return i, j
			}
		}
	}
	return -1, -1
}

// measured are the points that were measured, each once.
func (r *run) measured() (list []point) {
	for _, p := range r.points {
		if p.Phase == plan.Measure && p.Round == 0 {
			list = append(list, p)
		}
	}
	return list
}

// preconditioned are the points that brought the targets into their state.
func (r *run) preconditioned() (list []point) {
	for _, p := range r.points {
		if p.Phase == plan.Precondition {
			list = append(list, p)
		}
	}
	return list
}

// spec is the workload of a point: that of its first stream.
func (p *point) spec() *workload.Spec { return spec(p.plan) }

func spec(p *plan.Point) *workload.Spec {
	if len(p.Streams) == 0 {
		return &workload.Spec{}
	}
	return &p.Streams[0].Workload
}

// depth is the point's T/Q, as the articles write it.
func depth(p *plan.Point) string {
	if len(p.Streams) == 0 {
		return ""
	}
	return fmt.Sprintf("%dT/%dQ", p.Streams[0].Threads, p.Streams[0].IODepth)
}

// inFlight is how many I/Os the point asks for at once, over all streams and targets.
func inFlight(p *plan.Point) int {
	sum := 0
	for i := range p.Streams {
		s := &p.Streams[i]
		sum += s.Threads * s.IODepth * max(1, len(s.Targets))
	}
	return sum
}

// size writes a block size as the articles do: 4K, 512B.
func size(bytes int64) string {
	text := unit.Size(bytes)
	if strings.Trim(text, "0123456789") == "" {
		return text + "B"
	}
	return strings.ToUpper(text)
}

// readPct is how many of 100 I/Os are reads; -1 where there is something else than reads and writes.
func readPct(w *workload.Spec) int {
	switch {
	case w.Trims():
		return -1
	case w.Mixed():
		return w.ReadPct
	case w.Reads():
		return 100
	}
	return 0
}

// mixed says whether both reads and writes are issued.
func mixed(w *workload.Spec) bool { return w.Reads() && w.Writes() }

// name says what a workload does, as the articles do: "4K Random 100% Read", "8K Random 70/30".
func name(w *workload.Spec) string {
	order := "Sequential"
	if w.Random() {
		order = "Random"
	}
	sizes := w.SizeText()
	if w.OneSize() {
		sizes = size(w.MaxBlock())
	}
	mix := w.RW
	switch pct := readPct(w); {
	case pct == 100:
		mix = "100% Read"
	case pct == 0:
		mix = "100% Write"
	case pct > 0:
		mix = fmt.Sprintf("%d/%d", pct, 100-pct)
	}
	return sizes + " " + order + " " + mix
}

// figure is a column, or a row, that a point's own figure fills.
type figure struct {
	Head
	direction, key string // as in result.Point.Figure
	scale          float64
}

// Figures that many tables have.
var (
	throughput = figure{Head{"Throughput", "IOPS"}, "total", "iops", 1}
	iops       = figure{Head{"IOPS", ""}, "total", "iops", 1}
	megabytes  = figure{Head{"MB/s", ""}, "total", "bw", 1e6}
	average    = latency("Average Latency", "total", "mean")
	maximum    = latency("Max Latency", "total", "max")
	peakRead   = latency("Peak Read", "read", "max")
	peakWrite  = latency("Peak Write", "write", "max")
	deviation  = latency("Standard Deviation", "total", "stddev")
	p95        = latency("95th Percentile", "total", "p95")
	p99        = latency("99th Percentile", "total", "p99")
	busy       = figure{Head{"CPU", "%"}, "", "cpu", 1}
)

// latency is a figure of the service time, in milliseconds, as the articles have it.
func latency(name, direction, key string) figure {
	return figure{Head{name, "ms"}, direction, "latency." + key, 1e6}
}

// of is the figure of a point.
func (f figure) of(p *result.Point) Cell {
	switch {
	case p == nil:
		return none()
	case p.Skipped != "":
		return text("skipped")
	}
	v, err := p.Figure(f.direction, f.key)
	if err != nil {
		v = math.NaN()
	}
	return Cell{Value: v / f.scale, Partial: !p.Completed}
}

// heads are the heads of figures.
func heads(figures []figure) (list []Head) {
	for _, f := range figures {
		list = append(list, f.Head)
	}
	return list
}

// cells are the figures of a point.
func cells(p *result.Point, figures []figure) (list []Cell) {
	for _, f := range figures {
		list = append(list, f.of(p))
	}
	return list
}

// matrix lays out one figure of many points by two of their properties.
type matrix struct {
	rows, columns []int64
	at            map[[2]int64]Cell
}

func (m *matrix) set(row, column int64, c Cell) {
	if m.at == nil {
		m.at = map[[2]int64]Cell{}
	}
	if !slices.Contains(m.rows, row) {
		m.rows = append(m.rows, row)
	}
	if !slices.Contains(m.columns, column) {
		m.columns = append(m.columns, column)
	}
	m.at[[2]int64{row, column}] = c
}

// table makes the table; rows and columns are in ascending order.
func (m *matrix) table(title, corner string, row, column func(int64) string) Table {
	t := Table{Title: title, Corner: corner, Same: true}
	slices.SortFunc(m.rows, cmp.Compare)
	slices.SortFunc(m.columns, cmp.Compare)
	for _, c := range m.columns {
		t.Columns = append(t.Columns, Head{Name: column(c)})
	}
	for _, r := range m.rows {
		line := Row{Head: Head{Name: row(r)}}
		for _, c := range m.columns {
			cell, ok := m.at[[2]int64{r, c}]
			if !ok {
				cell = none()
			}
			line.Cells = append(line.Cells, cell)
		}
		t.Rows = append(t.Rows, line)
	}
	return t
}
