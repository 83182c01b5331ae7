package result

import (
	"blkstorm/plan"
	"blkstorm/sweep"
)

// Sweep is how the points of a sweep belong together.
type Sweep struct {
	Axes []sweep.Axis `json:"axes"` // the last one varies fastest
	// Points are the indexes into Doc.Points of the combinations, in order, as far as there are any.
	Points []int `json:"points"`
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

// SumUp brings what the document says of all points together up to the last one. A point that it has
// seen must not change.
func (d *Doc) SumUp() {
	if d.Plan == nil {
		return
	}
	d.sumRounds()
	phase, before := d.Plan.SweepPhase()
	if phase == nil {
		return
	}
	s := &Sweep{Axes: list(phase.Sweep.Axes), Points: []int{}}
	d.Sweep = s
	for i, p := range d.Points { // others, as a preconditioning that was repeated, may lie between
		if p.Phase != plan.Measure || p.Round > 0 {
			continue
		}
		if before--; before < 0 && len(s.Points) < len(phase.Points) {
			s.Points = append(s.Points, i)
		}
	}
	limit := phase.Sweep.Knee
	if limit.IsZero() {
		return
	}
	s.Knee = &Knee{Limit: limit.String()}
	for _, i := range s.Points[min(len(d.figures), len(s.Points)):] {
		p := d.Points[i]
		v, err := p.Figure("total", "latency."+limit.Name())
		d.figures = append(d.figures, sweep.Figure{OK: p.Completed && err == nil, IOPS: p.Total.IOPS, LatencyNS: int64(v)})
	}
	if i, found := sweep.Knee(d.figures, int64(limit.Under)); found {
		s.Knee.Point, s.Knee.IOPS, s.Knee.Value = &s.Points[i], d.figures[i].IOPS, d.figures[i].LatencyNS
	}
}
