package execute

import (
	"errors"

	"blkstorm/device"
	"blkstorm/plan"
)

// Preview is what a dry run shows: the plan, what the guard says, and what it would take.
type Preview struct {
	Schema  string          `json:"schema"`
	Plan    *plan.Plan      `json:"plan"`
	Targets []PreviewTarget `json:"targets"`
	// FillBytes is what would be written before the first point: new files, once.
	FillBytes int64          `json:"fill_bytes"`
	Phases    []PreviewPhase `json:"phases"`
	// FinishedPoints is how many points of a resumed run are done already; the phases and the outlook
	// are of what is yet to come.
	FinishedPoints int `json:"finished_points,omitempty"`
	// Repeats are the points and idle phases that a resumed run does again before it goes on.
	Repeats []string `json:"repeats,omitempty"`
	// Outlook is of the whole plan.
	Outlook
}

// PreviewPhase is one phase of a dry run.
type PreviewPhase struct {
	Kind    string           `json:"kind"`
	Points  int              `json:"points"`           // how many will run, of a phase of rounds in each round
	Rounds  int              `json:"rounds,omitempty"` // how many at most, of a phase of rounds
	Skipped []PreviewSkipped `json:"skipped"`
	// Finished is how many of its points a resumed run has done; of an idle phase 1. Of a phase of rounds it is 0 until all are done.
	Finished int `json:"finished,omitempty"`
	// Each is what its points take, one by one, once.
	Each []Outlook `json:"-"`
	Outlook
}

// PreviewSkipped is a point that cannot run on the targets.
type PreviewSkipped struct {
	Point  int    `json:"point"` // index within the phase
	Label  string `json:"label"`
	Reason string `json:"reason"`
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
	v := &Preview{Schema: "blkstorm.preview/1", Plan: s.plan}
	v.Phases, v.Outlook = s.left()
	if s.resumed != nil {
		v.FinishedPoints = len(s.resumed.doc.Points)
		for _, st := range s.resumed.again {
			what := st.phase.Time.D().String()
			if st.point != nil {
				what = st.point.Label
			}
			v.Repeats = append(v.Repeats, st.phase.Kind+": "+what)
		}
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

// left is what the plan will take, phase by phase and in all; of a resumed run, what it has left.
func (s *Session) left() (phases []PreviewPhase, total Outlook) {
	if s.resumed != nil {
		for _, st := range s.resumed.again {
			again := plan.Phase{Kind: st.phase.Kind, Time: st.phase.Time, Steady: st.phase.Steady}
			if st.point != nil {
				again.Time, again.Points = 0, []plan.Point{*st.point}
			}
			total.add(s.outlook(&again, 0, 0))
		}
	}
	for i := range s.plan.Phases {
		phase := s.lookAt(i)
		phases = append(phases, phase)
		total.add(phase.Outlook)
	}
	return phases, total
}

// lookAt is what phase i will take: all of it, or what a resumed run has left.
func (s *Session) lookAt(i int) PreviewPhase {
	phase := &s.plan.Phases[i]
	at := s.begins(i)
	from := at.point
	v := PreviewPhase{Kind: phase.Kind, Skipped: []PreviewSkipped{}, Outlook: s.outlook(phase, at.round, from)}
	if from > 0 || s.resumed != nil && i < s.resumed.phase {
		v.TimeS -= phase.Time.D().Seconds()
		v.Finished = max(from, 1)
	}
	if phase.Rounds != nil && from < len(phase.Points) {
		v.Rounds = phase.Rounds.Rule.MaxRounds - max(at.round-1, 0)
		from, v.Finished = 0, 0 // of the rounds after this one
	}
	for j := range phase.Points {
		one := plan.Phase{Kind: phase.Kind, Steady: phase.Steady, Points: phase.Points[j : j+1]}
		v.Each = append(v.Each, s.outlook(&one, 0, 0))
	}
	for j := from; j < len(phase.Points); j++ {
		p := &phase.Points[j]
		if reason, skipped := s.skipped[p]; skipped {
			v.Skipped = append(v.Skipped, PreviewSkipped{Point: j, Label: p.Label, Reason: reason})
			continue
		}
		v.Points++
	}
	return v
}

// begins is the place of the first point of phase i that has not run.
func (s *Session) begins(i int) place {
	phase := &s.plan.Phases[i]
	beyond := place{phase: i, point: len(phase.Points)}
	if phase.Rounds != nil {
		beyond.round = phase.Rounds.Rule.MaxRounds
	}
	switch r := s.resumed; {
	case r == nil || i > r.phase:
		return place{phase: i}
	case i < r.phase:
		return beyond
	}
	at := s.resumed.place
	if at.point++; phase.Rounds != nil {
		if s.nextOfRound(s.resumed.doc, phase, &at); at.point == len(phase.Points) {
			return beyond
		}
	}
	return at
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
