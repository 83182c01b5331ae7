package report

import (
	"math"
	"slices"

	"blkstorm/plan"
	"blkstorm/result"
)

// maxColumns is how many columns of time a heat map has at most; it is as wide as a screen.
const maxColumns = 1500

// heat is the latencies of all points over time: how many I/Os lie in each class, for each column of time.
type heat struct {
	time *timeline
	// width is how many seconds a column has: a multiple of the timeline's, at least a second.
	width   float64
	columns map[heatKey]*heatColumn
	// estimated says that the counts come from rows, which have only a few percentiles.
	estimated bool
}

// heatColumn is what completed in one column of time; length is that of its longest row.
type heatColumn struct {
	counts
	length float64
}

// heatKey is a column of a point, by its place in the window.
type heatKey struct{ point, slot int }

func newHeat(d *result.Doc, t *timeline) *heat {
	h := &heat{time: t, columns: map[heatKey]*heatColumn{}}
	total := 0.0
	for _, s := range t.spans {
		total += s.end - s.window
	}
	h.width = widthFor(total, maxColumns, max(t.width, shortestInterval(d.Plan)))
	return h
}

// shortestInterval is the shortest interval of the plan's points, in seconds; 1 when the plan does not say.
func shortestInterval(p *plan.Plan) float64 {
	shortest := math.Inf(1)
	if p != nil {
		for i := range p.Phases {
			for j := range p.Phases[i].Points {
				if d := p.Phases[i].Points[j].Interval.D(); d > 0 {
					shortest = min(shortest, d.Seconds())
				}
			}
		}
	}
	if math.IsInf(shortest, 1) {
		return 1
	}
	return shortest
}

// at is the column of a time, in seconds since the start of the point's window; nil for what lies outside of it.
func (h *heat) at(point int, ts, length float64) *heatColumn {
	if point < 0 || point >= len(h.time.spans) {
		return nil
	}
	s := h.time.spans[point]
	if !(ts > -length-1e-3 && ts <= s.end-s.window+length) {
		return nil
	}
	key := heatKey{point, int(math.Floor(max(0, ts)/h.width + 1e-6))}
	c := h.columns[key]
	if c == nil {
		if len(h.columns) >= maxColumns+2*len(h.time.spans) {
			return nil
		}
		c = new(heatColumn)
		h.columns[key] = c
	}
	c.length = max(c.length, length)
	return c
}

// addRow takes in a row, whose I/Os it spreads as its percentiles say: evenly over the classes between two of
// them. What is between is a guess, the ends are not.
func (h *heat) addRow(in *result.Interval) {
	h.estimated = true
	if in.Ramp {
		return
	}
	c := h.at(in.Point, in.TS, in.LengthS)
	if c == nil {
		return
	}
	for _, s := range []*result.IntervalStat{&in.Read, &in.Write, &in.Trim} {
		c.spread(s)
	}
}

func (c *counts) spread(s *result.IntervalStat) {
	if s.IOs == 0 {
		return
	}
	left := s.IOs
	put := func(n uint64, low, high int64) {
		n = min(n, left)
		left -= n
		first, last := binOf(low), binOf(max(low, high))
		for i := first; i <= last && n > 0; i++ {
			part := n / uint64(last-i+1)
			if i == last {
				part = n
			}
			c[i] += part
			n -= part
		}
	}
	put(1, s.Max, s.Max)
	share := func(p float64) uint64 { return uint64(p * float64(s.IOs)) }
	put(share(.5), s.Min, s.P50)
	put(share(.45), s.P50, s.P95)
	put(share(.04), s.P95, s.P99)
	put(share(.0095), s.P99, s.Max)
	put(left, s.Min, s.P50) // what rounding down has left over
}

// heatData is the map as the page has it.
type heatData struct {
	WidthS    float64    `json:"width"`
	PerDecade int        `json:"perDecade"`
	Estimated bool       `json:"estimated"`
	X         column     `json:"x"` // start of each column on the time axis
	W         column     `json:"w"` // and its width; the last one of a point may be shorter
	Cells     [][]uint64 `json:"cells"`
}

func (h *heat) data() *heatData {
	out := &heatData{WidthS: h.width, PerDecade: perDecade, Estimated: h.estimated, X: column{}, W: column{}, Cells: [][]uint64{}}
	keys := make([]heatKey, 0, len(h.columns))
	for k := range h.columns {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b heatKey) int {
		if a.point != b.point {
			return a.point - b.point
		}
		return a.slot - b.slot
	})
	for _, k := range keys {
		s := h.time.spans[k.point]
		start := s.window + float64(k.slot)*h.width
		out.X = append(out.X, start)
		out.W = append(out.W, max(0, min(max(h.width, h.columns[k].length), s.end-start)))
		out.Cells = append(out.Cells, h.columns[k].sparse())
	}
	return out
}
