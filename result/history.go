package result

import (
	"time"

	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/runner"
)

// Slice is a part of a point's window, longer than a row.
type Slice struct {
	TS      float64      `json:"t_s"`      // start, since the window's start
	LengthS float64      `json:"length_s"` // the last one may be shorter than the others
	Total   IntervalStat `json:"total"`
	Read    IntervalStat `json:"read"`
	Write   IntervalStat `json:"write"`
	Trim    IntervalStat `json:"trim"`
}

// The most slices of a history. Six hours of preconditioning are 360 minutes.
const (
	maxPreconditionSlices = 360
	maxMeasureSlices      = 60
)

// history adds rows up to slices while a point runs.
type history struct {
	rows   int64 // in a slice
	seen   int64 // of the slice that is on
	start  time.Duration
	length time.Duration
	ops    [op.Trim + 1]runner.Stat
	slices []*Slice
}

// KeepHistory gives the point a History: in preconditioning, and in what the plan of a published
// procedure measures, whose tables show figures over time. A slice is a round of the phase's rule, or
// several where there are too many; without a rule, the shortest whole number of rows of which there
// are few enough. Points whose length nobody knows have none, nor have those of rounds of several, which are slices
// themselves.
func (b *Builder) KeepHistory(phase *plan.Phase) {
	unit, most := b.point.Interval.D(), int64(maxPreconditionSlices)
	switch {
	case phase.Kind == plan.Measure && (phase.Rounds == nil || len(phase.Points) == 1) && b.doc.Plan.Profile != "":
		most = maxMeasureSlices
	case phase.Kind != plan.Precondition:
		return
	case phase.Steady != nil:
		unit = phase.Steady.Round
	}
	if b.point.Runtime <= 0 || unit <= 0 {
		return
	}
	units := int64((b.point.Runtime.D() + unit - 1) / unit)
	rows := int64(unit / b.point.Interval.D())
	b.history = &history{rows: (units + most - 1) / most * rows}
}

// row takes in a row of the window.
func (h *history) row(b *Builder, row *runner.Row) {
	if h == nil || row.Ramp {
		return
	}
	if h.seen == 0 {
		h.start = row.Start
	}
	for o := range h.ops {
		h.ops[o].Merge(b.sum(row.Cells, allTargets, op.Op(o)))
	}
	h.length += row.Length
	if h.seen++; h.seen == h.rows {
		h.close()
	}
}

// close ends the slice that is on.
func (h *history) close() {
	s := &Slice{TS: seconds(h.start), LengthS: seconds(h.length)}
	s.Read, s.Write, s.Trim = intervalStat(&h.ops[op.Read]), intervalStat(&h.ops[op.Write]), intervalStat(&h.ops[op.Trim])
	total := &h.ops[0]
	for o := 1; o < len(h.ops); o++ {
		total.Merge(&h.ops[o])
	}
	s.Total = intervalStat(total)
	h.slices = append(h.slices, s)
	for o := range h.ops {
		h.ops[o].Reset()
	}
	h.seen, h.length = 0, 0
}

// all are the slices, with what there is of the last one.
func (h *history) all() []*Slice {
	if h == nil {
		return nil
	}
	if h.seen > 0 {
		h.close()
	}
	return h.slices
}
