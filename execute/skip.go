package execute

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/runner"
)

// findSkips compares each point with the targets and the machine. Of several measured points those
// that cannot run are remembered with the reason, and the rest will run; when none can, or a point that
// others build upon cannot, that is an error; with SkipNone the first of all.
func (s *Session) findSkips() error {
	s.skipped = map[*plan.Point]string{}
	measured := 0
	var first error
	for i := range s.plan.Phases {
		phase := &s.plan.Phases[i]
		for j := range phase.Points {
			point := &phase.Points[j]
			err := s.checkOnTargets(point)
			if phase.Kind == plan.Measure {
				measured++
			}
			var part *plan.PartError
			if errors.As(err, &part) {
				part.Phase, part.Point = i, j
			}
			switch {
			case err == nil:
			case s.opts.SkipNone:
				return err
			case phase.Kind == plan.Measure:
				s.skipped[point] = err.Error()
				if first == nil {
					first = err
				}
			case phase.Kind == plan.Precondition: // a plan may have several, each with another load
				return fmt.Errorf("phase %s, %s: %w", phase.Kind, point.Label, err)
			default:
				return fmt.Errorf("phase %s: %w", phase.Kind, err)
			}
		}
	}
	switch {
	case measured == 1 && first != nil:
		return first
	case measured > 0 && len(s.skipped) == measured:
		return fmt.Errorf("none of the %d points can run; the first: %w", measured, first)
	}
	return s.checkTracked()
}

// checkOnTargets says why a point cannot run here.
func (s *Session) checkOnTargets(p *plan.Point) error {
	for i, t := range s.targets {
		if err := s.plan.CheckPoint(p, i, t.facts); err != nil {
			return err
		}
	}
	return s.checkNeeds(p)
}

// newAlignment says whether a new file asks for another alignment than those before, which only now is known: all
// points must be compared with all targets again.
func (s *Session) newAlignment(t *target) bool {
	this := [2]int{t.facts.LogicalBlockBytes, t.facts.DIOOffsetAlign}
	if slices.Contains(s.alignments, this) {
		return false
	}
	s.alignments = append(s.alignments, this)
	return true
}

// skip puts a point that cannot run into the document.
func (s *Session) skip(doc *result.Doc, phase *plan.Phase, p *plan.Point, reason string) (*result.Point, error) {
	s.opts.Log("%s: skipped: %s", p.Label, reason)
	b := doc.NewBuilder(phase.Kind, p, s.opts.Percentiles, s.opts.KeepRows)
	point, err := b.Finish(&runner.Result{WindowStart: time.Now()}, s.plan.Seed)
	if err != nil {
		return nil, err
	}
	point.Skipped = reason
	return point, nil
}
