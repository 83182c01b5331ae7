package execute

import (
	"errors"
	"time"

	"blkstorm/device"
	"blkstorm/plan"
)

// Preview is what a dry run shows: the plan, what the guard says, and what it would take.
type Preview struct {
	Schema  string          `json:"schema"`
	Plan    *plan.Plan      `json:"plan"`
	Targets []PreviewTarget `json:"targets"`
	// FillBytes is what would be written before the first point: new files, once.
	FillBytes int64 `json:"fill_bytes"`
	// FinishedPoints is how many points of a resumed run are done already.
	FinishedPoints int `json:"finished_points,omitempty"`
	// TimeS is the time of all ramps and windows that are yet to come.
	TimeS float64 `json:"time_s"`
}

// PreviewTarget is one target of a dry run.
type PreviewTarget struct {
	*device.Facts
	Writes bool `json:"writes"`
	// StartByte and EndByte bound what the plan touches, over all its points.
	StartByte int64            `json:"start_byte"`
	EndByte   int64            `json:"end_byte"`
	Create    bool             `json:"create"` // a new file
	Refusals  []device.Refusal `json:"refusals"`
}

// Look does all of Prepare and touches nothing; refusals are part of the answer.
func Look(p *plan.Plan, o Options) (*Preview, error) {
	s, err := Prepare(p, o)
	if s != nil && s.resumed != nil {
		defer closeQuietly(s.resumed.folder)
	}
	var refused *device.RefusedError
	if err != nil && !errors.As(err, &refused) {
		return nil, err
	}
	v := &Preview{Schema: "blkstorm.preview/1", Plan: s.plan, TimeS: s.timeLeft().Round(time.Millisecond).Seconds()}
	if s.resumed != nil {
		v.FinishedPoints = len(s.resumed.doc.Points)
	}
	for i, t := range s.targets {
		refusals, err := s.refusals(i, t)
		if err != nil {
			return nil, err
		}
		if refusals == nil {
			refusals = []device.Refusal{}
		}
		start, end := s.bounds(i)
		v.Targets = append(v.Targets, PreviewTarget{
			Facts: t.facts, Writes: s.plan.Writes(i) && !s.driver.Dry, Create: t.create, Refusals: refusals, StartByte: start, EndByte: end,
		})
		if t.create && !s.driver.Dry {
			v.FillBytes += t.plan.CreateBytes
		}
	}
	return v, nil
}

// bounds is the part of target i that the plan touches, from its first to its last byte.
func (s *Session) bounds(i int) (start, end int64) {
	start = s.targets[i].facts.SizeBytes
	for _, w := range s.workloadsOn(s.targets[i].plan) {
		if r, err := w.RangeOn(s.targets[i].facts.SizeBytes); err == nil {
			start, end = min(start, r.Start), max(end, r.End())
		}
	}
	return min(start, end), end
}

// Refused says whether the real run would be refused by the guard.
func (v *Preview) Refused() bool {
	for _, t := range v.Targets {
		if len(t.Refusals) > 0 {
			return true
		}
	}
	return false
}
