package compare

import (
	"fmt"
	"slices"
	"strings"

	"blkstorm/plan"
	"blkstorm/printable"
	"blkstorm/result"
)

// key tells points apart: the label, and which of those with that label it is, from 1.
type key struct {
	label string
	nth   int
}

func (k key) String() string {
	if k.nth > 1 {
		return fmt.Sprintf("%s (number %d)", printable.Name(k.label), k.nth)
	}
	return printable.Name(k.label)
}

// place is a point in one run.
type place struct {
	run   *run
	index int
}

func (p place) point() *result.Point { return p.run.Doc.Points[p.index] }

// side is a result, or repeats of it, with its points in the order of the first run that has them.
type side struct {
	name   string
	runs   []*run
	order  []key
	points map[key][]place
}

func newSide(name string, runs []*run) *side {
	s := &side{name: name, runs: runs, points: map[key][]place{}}
	for _, r := range runs {
		nth := map[string]int{}
		phase, last := -1, 0    // of rounds, and the round before
		had := map[string]int{} // which round of this phase a label had last
		for i, p := range r.Doc.Points {
			if prepares(p.Phase) {
				continue
			}
			first := p.Round == 0 // of its label, or of its label in a phase of rounds
			if p.Round > 0 {
				if phase < 0 || p.Round < last || had[p.Label] == p.Round {
					phase++
					clear(had)
				}
				if last = p.Round; !r.inWindow(phase, p.Round) {
					continue
				}
				first = had[p.Label] == 0
				had[p.Label] = p.Round
			}
			if first {
				nth[p.Label]++
			}
			k := key{p.Label, nth[p.Label]}
			if s.points[k] == nil {
				s.order = append(s.order, k)
			}
			s.points[k] = append(s.points[k], place{r, i})
		}
	}
	return s
}

// inWindow says whether a round belongs to the measurement window of its phase, the n-th one of rounds;
// without a window all rounds count.
func (r *run) inWindow(n, round int) bool {
	if n >= len(r.Doc.Rounds) || r.Doc.Rounds[n].First == 0 {
		return true
	}
	return round >= r.Doc.Rounds[n].First && round <= r.Doc.Rounds[n].Last
}

// byRun puts the places of each run together: more than one are the rounds of a point.
func byRun(places []place) (out [][]place) {
	for _, p := range places {
		if n := len(out); n > 0 && out[n-1][0].run == p.run {
			out[n-1] = append(out[n-1], p)
		} else {
			out = append(out, []place{p})
		}
	}
	return out
}

// prepares says that a phase is there to prepare what is measured.
func prepares(phase string) bool {
	return slices.Contains([]string{plan.Purge, plan.Fill, plan.Precondition, plan.Idle}, phase)
}

// skipped says why a point did not run.
func skipped(places []place) string {
	for _, p := range places {
		if why := p.point().Skipped; why != "" {
			return why
		}
	}
	return ""
}

// match gives the points that both sides measured, and what there is of the others.
func match(a, b *side) (both []key, rest []Unmatched) {
	rest = []Unmatched{}
	add := func(k key, side, why string) {
		rest = append(rest, Unmatched{Label: k.label, Nth: k.nth, Side: side, Why: why})
	}
	for _, k := range a.order {
		switch whyA, whyB := skipped(a.points[k]), skipped(b.points[k]); {
		case b.points[k] == nil:
			add(k, a.name, "only "+a.name+" has it")
		case whyA != "":
			add(k, "both", "skipped in "+a.name+": "+whyA)
		case whyB != "":
			add(k, "both", "skipped in "+b.name+": "+whyB)
		default:
			both = append(both, k)
		}
	}
	for _, k := range b.order {
		if a.points[k] == nil {
			add(k, b.name, "only "+b.name+" has it")
		}
	}
	return both, rest
}

// labels lists the first labels of a side, for messages.
func (s *side) labels() string {
	if len(s.order) == 0 {
		return "no point"
	}
	var names []string
	for i, k := range s.order {
		if i == 3 {
			names = append(names, fmt.Sprintf("and %d more", len(s.order)-i))
			break
		}
		names = append(names, k.String())
	}
	return strings.Join(names, ", ")
}
