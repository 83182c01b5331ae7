package execute

import (
	"context"
	"errors"
	"fmt"
	"time"

	"blkstorm/host"
	"blkstorm/plan"
	"blkstorm/result"
)

// Points gives the points of a run one after the other, with the kind of phase each belongs to. It is
// called when the one before has ended and its sinks have been called; nil ends the run.
type Points func() (kind string, p *plan.Point)

// Run carries out the prepared plan, point by point. The document is returned also when I/Os failed, a
// device hung or ctx was cancelled; an error with no document means that no point ran.
func (s *Session) Run(ctx context.Context) (*result.Doc, error) {
	s.at = s.start()
	of := 0
	for i := range s.plan.Phases {
		of += s.plan.Phases[i].MostPoints()
	}
	return s.run(ctx, of, func(doc *result.Doc) (*plan.Phase, *plan.Point, error) {
		if phase, p := s.repeat(ctx, doc); p != nil {
			return phase, p, nil
		}
		phase, p := s.next(ctx, doc, &s.at, of)
		return phase, p, nil
	})
}

// RunPoints carries out points that are not known ahead, on the targets of the prepared plan, as Run
// does. Each may do what the plan's own points do, at another rate, depth or time: one that does not
// go with the targets, or writes where the plan does not (the guard was not asked), ends the run with
// an error. The document's plan lists the points that were run, so that it says what to repeat; until
// the first one (Options.Begun) it is the prepared plan.
func (s *Session) RunPoints(ctx context.Context, next Points) (*result.Doc, error) {
	return s.run(ctx, -1, func(doc *result.Doc) (*plan.Phase, *plan.Point, error) {
		kind, p := next()
		if p == nil {
			return nil, nil, nil
		}
		if err := s.checkPoint(kind, p); err != nil {
			return nil, nil, err
		}
		if doc.Plan == s.plan {
			ran := *s.plan
			ran.Phases = nil
			doc.Plan = &ran
		}
		doc.Plan.Append(kind, p)
		return &plan.Phase{Kind: kind}, p, nil
	})
}

// Make makes the files that the prepared plan wants, and runs nothing.
func (s *Session) Make(ctx context.Context) (*result.Doc, error) {
	defer s.release()
	if err := s.take(ctx); err != nil {
		return nil, err
	}
	return s.document(), nil
}

// checkPoint is Prepare for a single point, whose targets have been found and checked.
func (s *Session) checkPoint(kind string, p *plan.Point) error {
	one := *s.plan
	one.Phases = []plan.Phase{{Kind: kind, Points: []plan.Point{*p}}}
	if err := one.Check(); err != nil {
		return err
	}
	for i, t := range s.targets {
		if err := one.CheckTarget(i, t.facts); err != nil {
			return err
		}
		if one.Writes(i) && !s.plan.Writes(i) {
			return fmt.Errorf("point %q writes to %s, which the plan only reads", p.Label, t.facts.Path)
		}
	}
	return s.checkNeeds(p)
}

// run makes everything ready once, and runs what next gives until there is no more or none should follow.
func (s *Session) run(ctx context.Context, of int, next func(*result.Doc) (*plan.Phase, *plan.Point, error)) (*result.Doc, error) {
	folder, err := s.folder()
	if err != nil {
		return nil, err
	}
	if folder != nil {
		defer closeQuietly(folder)
	}
	defer s.release()
	if err := s.take(ctx); errors.Is(err, ErrInterrupted) {
		return s.document(), err // whole, without a point
	} else if err != nil {
		return nil, err
	}
	s.heat = s.opts.Roots.Host.NewThermometer(s.disks())
	defer s.heat.Close()
	s.clock = host.MeasureClock(s.opts.Roots.Host, nil)
	doc := s.document()
	if s.opts.Begun != nil {
		if err := s.opts.Begun(doc); err != nil {
			return nil, err
		}
	}
	if r := s.resumed; r != nil {
		s.opts.Log("going on with run %s: %d points are finished", doc.ID, len(doc.Points))
		if r.newFiles {
			s.opts.Log("its scratch file ended with it, and was made anew")
		}
	}
	if err := s.begin(doc, folder); err != nil {
		return nil, err
	}
	for {
		phase, p, err := next(doc)
		if err == nil && p != nil {
			s.opts.PointBegun(len(doc.Points), of, phase.Kind, p)
			err = s.runPoint(ctx, doc, folder, phase, p)
		}
		if len(doc.Points) == 0 && err == nil && ctx.Err() != nil {
			return doc, ErrInterrupted
		}
		if len(doc.Points) == 0 {
			return nil, err // none began: there is nothing to show
		}
		if err != nil || p == nil || ctx.Err() != nil || unfit(doc, s.opts.JobsApart) {
			return doc, err
		}
	}
}

// unfit says whether the last point ended in a way after which no other should begin; apart is Options.JobsApart.
func unfit(doc *result.Doc, apart bool) bool {
	last := doc.Points[len(doc.Points)-1]
	if last.Phase == plan.Purge || last.Phase == plan.Fill {
		return !last.Completed || last.Faults > 0 // what follows would measure another state than it says
	}
	return last.StuckIOs > 0 || last.Failure != "" || last.Faults > 0 && !last.Completed && !apart // an error ends the run, unless it is to go on
}

// idle waits.
func (s *Session) idle(ctx context.Context, d time.Duration) {
	s.opts.Log("idle for %v", d)
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
