package execute

import (
	"cmp"
	"fmt"
	"strings"

	"blkstorm/ioengine"
	"blkstorm/ioengine/registry"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/verdict"
)

// ownDrivers finds the engines that streams name beside the plan's: each of them, or an error.
func ownDrivers(p *plan.Plan) (map[string]*ioengine.Driver, error) {
	own := map[string]*ioengine.Driver{}
	for _, name := range p.OwnEngines() {
		found, _, err := registry.Candidates(name, p.OptionsOf(name))
		if err != nil {
			return nil, err
		}
		own[name] = &found[0]
	}
	return own, nil
}

// driverOf is the engine that a stream runs on.
func (s *Session) driverOf(st *plan.Stream) *ioengine.Driver {
	if d := s.own[st.Engine]; d != nil {
		return d
	}
	return &s.driver
}

// depthOf is what each thread of a stream keeps in flight on its engine.
func (s *Session) depthOf(st *plan.Stream) int {
	if most := s.driverOf(st).MaxDepth; most > 0 {
		return min(st.IODepth, most)
	}
	return st.IODepth
}

// buffered says whether any stream of the point uses the page cache, and which, unless all do.
func (s *Session) buffered(p *plan.Point) (is bool, which string) {
	var labels []string
	for i := range p.Streams {
		if !s.plan.DirectOf(&p.Streams[i]) {
			labels = append(labels, p.Streams[i].Label)
		}
	}
	switch len(labels) {
	case 0:
		return false, ""
	case len(p.Streams):
		return true, ""
	case 1:
		return true, " of stream " + labels[0]
	}
	return true, " of streams " + strings.Join(labels, ", ")
}

// synchronous says whether every stream of the point runs on an engine that keeps one I/O in flight.
func (s *Session) synchronous(p *plan.Point) bool {
	for i := range p.Streams {
		if s.driverOf(&p.Streams[i]).MaxDepth != 1 {
			return false
		}
	}
	return true
}

// deepest is the largest depth that a stream of the point was asked for.
func deepest(p *plan.Point) (depth int) {
	for i := range p.Streams {
		depth = max(depth, p.Streams[i].IODepth)
	}
	return depth
}

// shallowest is the depth of the stream that fell shortest of what it was asked for, of those that were to keep
// theirs; else of the first one.
func (s *Session) shallowest(p *plan.Point, r *result.Point) (worst verdict.Depth) {
	short := -1
	for i := range p.Streams {
		st, got := &p.Streams[i], r.Streams[i]
		d := verdict.Depth{
			Engine: cmp.Or(got.EngineName, r.EngineName), Synchronous: s.driverOf(st).MaxDepth == 1, Paced: st.Waits(),
			Threads: st.Threads, Asked: st.IODepth, Reached: got.IODepthEffective,
		}
		if len(p.Streams) > 1 {
			d.In = " by stream " + st.Label
		}
		by := d.Asked - d.Reached
		if d.Reached == 0 || d.Paced && !d.Synchronous {
			by = 0
		}
		if by > short {
			short, worst = by, d
		}
	}
	return worst
}

// checkPins compares --pin, also those of streams, with the CPUs that this process may use.
func checkPins(p *plan.Plan) error {
	if err := checkPin(p.Pin); err != nil {
		return err
	}
	for i := range p.Phases {
		for j := range p.Phases[i].Points {
			for k, s := range p.Phases[i].Points[j].Streams {
				if s.Pin == "" {
					continue
				}
				if err := checkPin(s.Pin); err != nil {
					return &plan.PartError{Phase: i, Point: j, Stream: k, Err: fmt.Errorf("stream %q: %w", s.Label, err)}
				}
			}
		}
	}
	return nil
}
