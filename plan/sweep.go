package plan

import (
	"errors"
	"fmt"

	"blkstorm/findmax"
	"blkstorm/sweep"
)

// Sweep says what the points of a phase have been made from, so that results can lay them out.
type Sweep struct {
	Axes []sweep.Axis `json:"axes"` // the last one varies fastest
	// Knee is the limit below which the point with the most IOPS is looked for; zero: none is.
	Knee findmax.Limit `json:"knee,omitzero"`
}

// Spec is the sweep as package sweep knows it.
func (s *Sweep) Spec() *sweep.Spec { return &sweep.Spec{Axes: s.Axes} }

// checkSweeps wants of a sweep that its points are there, and at most one sweep outside of rounds: a result
// has one, beside those of its rounds.
func (p *Plan) checkSweeps() error {
	seen := false
	for i := range p.Phases {
		ph := &p.Phases[i]
		if ph.Sweep == nil {
			continue
		}
		switch {
		case ph.Rounds != nil && !ph.Sweep.Knee.IsZero():
			return errors.New("sweep: no knee is looked for in rounds")
		case ph.Rounds != nil:
		case seen:
			return errors.New("sweep: one phase of a plan can have it, beside those with rounds")
		default:
			seen = true
		}
		spec := ph.Sweep.Spec()
		if err := spec.Validate(); err != nil {
			return fmt.Errorf("sweep: %w", err)
		}
		if n := spec.Len(); n != len(ph.Points) {
			return fmt.Errorf("sweep: its axes have %d combinations, and the phase %d points", n, len(ph.Points))
		}
	}
	return nil
}

// SweepPhase is the phase that has a sweep and no rounds, and how many points are measured in the phases
// before it, rounds left out; nil without one.
func (p *Plan) SweepPhase() (ph *Phase, measured int) {
	for i := range p.Phases {
		if p.Phases[i].Rounds != nil {
			continue
		}
		if p.Phases[i].Sweep != nil {
			return &p.Phases[i], measured
		}
		if p.Phases[i].Kind == Measure {
			measured += len(p.Phases[i].Points)
		}
	}
	return nil, 0
}
