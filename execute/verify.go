package execute

import (
	"fmt"

	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/threshold"
)

// verifyWhole compares what a purge or a fill has moved with what its passes are, on each target. One
// that fell short, although nothing failed, is not completed; the text says on which.
func (s *Session) verifyWhole(kind string, p *plan.Point, r *result.Point) string {
	if kind != plan.Purge && kind != plan.Fill || !r.Completed {
		return "" // what ended it has been said
	}
	for i, t := range s.targets {
		write, trim := s.wholeBytes(p, i)
		done := r.Targets[i]
		switch {
		case done.Write.Bytes != uint64(write):
			r.Completed = false
			return fmt.Sprintf("%d of %d bytes were written to %s", done.Write.Bytes, write, t.facts.Path)
		case done.Trim.Bytes != uint64(trim):
			r.Completed = false
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
	return false
}

// check holds a measured point to the plan's limits.
func (s *Session) check(kind string, r *result.Point) {
	if kind == plan.Measure && len(s.plan.Asserts) > 0 {
		r.Asserts, _ = threshold.CheckAll(s.plan.Asserts, r)
	}
}
