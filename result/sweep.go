package result

import "blkstorm/sweep"

// Sweep is how the points of a sweep belong together.
type Sweep struct {
	Axes []sweep.Axis `json:"axes"` // the last one varies fastest
	// FirstPoint is the index into Doc.Points of the first combination; the others follow.
	FirstPoint int `json:"first_point"`
	// Knee is there when a limit was given.
	Knee *Knee `json:"knee,omitempty"`
}

// Knee is the point with the most IOPS of those whose latency is within a limit.
type Knee struct {
	Limit string  `json:"limit"`    // as in "p99=2ms"
	Point *int    `json:"point"`    // index into Doc.Points; null: no point is within
	IOPS  float64 `json:"iops"`     // of that point
	Value int64   `json:"value_ns"` // what the limit is about
}

// SumUp brings what the document says of all points together up to the last one.
func (d *Doc) SumUp() {
	if d.Plan == nil {
		return
	}
	phase, first := d.Plan.SweepPhase()
	if phase == nil {
		return
	}
	s := &Sweep{Axes: list(phase.Sweep.Axes), FirstPoint: first}
	d.Sweep = s
	limit := phase.Sweep.Knee
	if limit.IsZero() {
		return
	}
	figure := "latency." + limit.Name()
	s.Knee = &Knee{Limit: limit.String()}
	var figures []sweep.Figure
	points := d.Points[min(first, len(d.Points)):min(first+len(phase.Points), len(d.Points))]
	for _, p := range points {
		v, err := p.Figure("total", figure)
		figures = append(figures, sweep.Figure{OK: p.Completed && err == nil, IOPS: p.Total.IOPS, LatencyNS: int64(v)})
	}
	if i, found := sweep.Knee(figures, int64(limit.Under)); found {
		at := first + i
		s.Knee.Point, s.Knee.IOPS, s.Knee.Value = &at, figures[i].IOPS, figures[i].LatencyNS
	}
}
