package execute

import (
	"fmt"
	"slices"

	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/threshold"
)

// leftOut compares what a purge or a fill has moved with what its passes are, on each target, and says
// what is missing although nothing failed.
func (s *Session) leftOut(p *plan.Point, r *result.Point) string {
	failed := r.Interrupted || r.Faults > 0 || r.StuckIOs > 0 || r.Failure != "" // what ended it is said then
	if r.Phase != plan.Purge && r.Phase != plan.Fill || failed {
		return ""
	}
	for i, t := range s.targets {
		write, trim := s.wholeBytes(p, i)
		done := r.Targets[i]
		switch {
		case done.Write.Bytes != uint64(write):
			return fmt.Sprintf("%d of %d bytes were written to %s", done.Write.Bytes, write, t.facts.Path)
		case done.Trim.Bytes != uint64(trim):
			return fmt.Sprintf("%d of %d bytes were trimmed on %s", done.Trim.Bytes, trim, t.facts.Path)
		}
	}
	return ""
}

// Missed says whether a document does not keep what was asked of it: a threshold, or a steady state that
// was not reached, where that is no warning only.
func Missed(doc *result.Doc) bool {
	for _, p := range doc.Points {
		for i := range p.Asserts {
			if !p.Asserts[i].OK {
				return true
			}
		}
		if st := p.Steady; st != nil && !st.State.Steady && !doc.Plan.Quick {
			return true
		}
	}
	return !doc.Plan.Quick && slices.ContainsFunc(doc.Rounds, func(r *result.Rounds) bool { return !r.Reached })
}

// check holds a measured point to the plan's limits.
func (s *Session) check(kind string, r *result.Point) {
	if kind == plan.Measure && len(s.plan.Asserts) > 0 {
		r.Asserts, _ = threshold.CheckAll(s.plan.Asserts, r)
	}
}
