package execute

import (
	"context"
	"fmt"

	"blkstorm/plan"
	"blkstorm/result"
)

// place is where a run stands in its plan: at a point of a phase, and in a round, from 1, where the phase has
// them, else 0.
type place struct{ phase, round, point int }

// next goes on from the place of the point that has ended to that of the next; nil at the end of the plan.
func (s *Session) next(ctx context.Context, doc *result.Doc, at *place, of int) (*plan.Phase, *plan.Point) {
	for at.point++; at.phase < len(s.plan.Phases); *at = (place{phase: at.phase + 1}) {
		phase := &s.plan.Phases[at.phase]
		if phase.Kind == plan.Idle {
			s.opts.PointBegun(len(doc.Points), of, phase.Kind, nil)
			s.idle(ctx, phase.Time.D())
		}
		if ctx.Err() != nil {
			return nil, nil
		}
		if phase.Rounds != nil {
			s.nextOfRound(doc, phase, at)
		}
		if at.point < len(phase.Points) {
			return phase, &phase.Points[at.point]
		}
	}
	return nil, nil
}

// nextOfRound moves to a point that runs: beyond those that are skipped, which round 1 has told of, and into
// the next round unless the rounds are over. Then it is beyond the last point.
func (s *Session) nextOfRound(doc *result.Doc, phase *plan.Phase, at *place) {
	at.round = max(at.round, 1)
	for {
		for ; at.point < len(phase.Points); at.point++ {
			if _, skipped := s.skipped[&phase.Points[at.point]]; !skipped || at.round == 1 {
				return
			}
		}
		most := phase.Rounds.Rule.MaxRounds
		if at.round >= most || lastRounds(doc).Over(most) {
			return
		}
		at.round, at.point = at.round+1, 0
	}
}

// lastRounds is what the phase of rounds that is on, or was the last, has come to.
func lastRounds(doc *result.Doc) *result.Rounds {
	if n := len(doc.Rounds); n > 0 {
		return doc.Rounds[n-1]
	}
	return &result.Rounds{}
}

// roundEnded is what the rounds have come to when the last point has ended one; else nil.
func (s *Session) roundEnded(doc *result.Doc) *result.Rounds {
	if r := lastRounds(doc); s.at.round > 0 && r.Done == s.at.round {
		return r
	}
	return nil
}

// neverSteady says why the rounds have ended without steady state; empty when they go on, or have reached
// it.
func (s *Session) neverSteady(doc *result.Doc, phase *plan.Phase) string {
	r := s.roundEnded(doc)
	if phase.Rounds == nil || r == nil || r.Reached || !r.Over(phase.Rounds.Rule.MaxRounds) {
		return ""
	}
	return fmt.Sprintf("after %d rounds, %s", r.Done, r.Unsteady())
}

// checkTracked says why rounds cannot be judged here: what they track cannot run, or, in a run that is gone on
// with, what they measured before.
func (s *Session) checkTracked() error {
	for i := range s.plan.Phases {
		phase := &s.plan.Phases[i]
		if phase.Rounds == nil {
			continue
		}
		if err := s.sameSkips(i); err != nil {
			return err
		}
		for _, t := range phase.Rounds.Track {
			p := &phase.Points[t.Point]
			if reason, skipped := s.skipped[p]; skipped {
				return fmt.Errorf("the rounds of phase %d track %q, which cannot run here: %s; track another point, or leave its size out", i, p.Label, reason)
			}
		}
	}
	return nil
}

// sameSkips has the rounds that a resumed run is in go on with the points that they began with.
func (s *Session) sameSkips(phase int) error {
	if s.resumed == nil || s.resumed.phase != phase {
		return nil
	}
	r := lastRounds(s.resumed.doc)
	if r.Phase != phase {
		return nil
	}
	for i := range r.Cells {
		p := &s.plan.Phases[phase].Points[i]
		reason, skipped := s.skipped[p]
		switch {
		case r.Cells[i].Skipped != "":
			s.skipped[p] = r.Cells[i].Skipped
		case skipped && r.Cells[i].Rounds > 0:
			return fmt.Errorf("the rounds cannot be gone on with: %q ran before, and cannot now: %s", p.Label, reason)
		}
	}
	return nil
}

// round is the number of the round that a point of the phase is run in; 0 without rounds.
func (s *Session) round(phase *plan.Phase) int {
	if phase.Rounds == nil {
		return 0
	}
	return s.at.round
}
