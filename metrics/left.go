package metrics

import (
	"time"

	"blkstorm/plan"
)

// step is a point of the plan, or an idle time.
type step struct {
	point *plan.Point // to know it again; nil for an idle time
	time  time.Duration
	known bool // time is all that it takes
}

func stepsOf(p *plan.Plan) (steps []step) {
	for i := range p.Phases {
		phase := &p.Phases[i]
		if phase.Kind == plan.Idle {
			steps = append(steps, step{time: phase.Time.D(), known: true})
		}
		for j := range phase.Points {
			steps = append(steps, stepOf(&phase.Points[j]))
		}
	}
	return steps
}

// stepOf is a point as a step. One that ends with its work takes as long as that takes.
func stepOf(p *plan.Point) step {
	return step{point: p, time: p.Length(), known: !p.Work()}
}

// enter goes on to the step of p, which begins now, and sums up what is to follow. A point that the plan
// does not list, as those of a search, says nothing of what follows.
func (f *figures) enter(p *plan.Point, now time.Time) {
	f.window, f.length, f.later = now, 0, -1
	if p != nil {
		f.window = now.Add(p.Ramp.D())
		f.length, _ = p.Window()
	}
	for i := f.at + 1; i < len(f.steps) && f.of >= 0; i++ {
		if f.steps[i].point != p {
			continue
		}
		f.at = i
		if p == nil {
			f.length = f.steps[i].time
		}
		f.later = 0
		for _, s := range f.steps[i+1:] {
			if !s.known {
				f.later = -1
				return
			}
			f.later += s.time
		}
		return
	}
}

// left is how long the running step, and the whole plan, take from now on, at most; false says that
// nobody knows.
func (f *figures) left(now time.Time) (point time.Duration, known bool, whole time.Duration, wholeKnown bool) {
	if !f.running || f.length == 0 {
		return 0, false, 0, false
	}
	point = max(f.window.Add(f.length).Sub(now), 0)
	return point, true, point + f.later, f.later >= 0
}
