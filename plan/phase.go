package plan

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"blkstorm/steady"
	"blkstorm/unit"
	"blkstorm/workload"
)

// check says what of a phase does not go with its kind.
func (ph *Phase) check() error {
	switch {
	case !slices.Contains(Kinds, ph.Kind):
		return fmt.Errorf("phase %q: known are %s", ph.Kind, strings.Join(Kinds, ", "))
	case ph.Kind == Idle && len(ph.Points) > 0:
		return errors.New("phase idle: has no points")
	case ph.Kind == Idle && (ph.Time.D() <= 0 || ph.Time.D() > MaxTime):
		return fmt.Errorf("phase idle: time %v: must be over 0 and up to %v", ph.Time.D(), MaxTime)
	case ph.Kind != Idle && ph.Time != 0:
		return fmt.Errorf("phase %s: time is for idle; a point has a runtime", ph.Kind)
	case ph.Steady != nil && ph.Kind != Precondition:
		return fmt.Errorf("phase %s: steady is for precondition", ph.Kind)
	case ph.MostPasses != 0 && ph.Steady == nil:
		return fmt.Errorf("phase %s: most_passes %d: goes with steady", ph.Kind, ph.MostPasses)
	case ph.MostPasses < 0 || ph.MostPasses > MaxPasses:
		return fmt.Errorf("phase %s: most_passes %d: must be from 1 to %d", ph.Kind, ph.MostPasses, MaxPasses)
	case ph.Rounds != nil && ph.Kind != Measure:
		return fmt.Errorf("phase %s: rounds are for measure; precondition has steady", ph.Kind)
	case ph.Sweep != nil && ph.Kind != Measure:
		return fmt.Errorf("phase %s: a sweep is measured", ph.Kind)
	case ph.Steady != nil && len(ph.Points) != 1:
		return fmt.Errorf("phase %s: steady state is looked for in one point, not in %d", ph.Kind, len(ph.Points))
	}
	for i := range ph.Points {
		if err := ph.checkPoint(&ph.Points[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkPoint wants of a purge that it trims, and of a fill that it writes, all of the range.
func (ph *Phase) checkPoint(p *Point) error {
	if ph.Kind != Purge && ph.Kind != Fill {
		return nil
	}
	if p.Ramp != 0 {
		return fmt.Errorf("phase %s: ramp %v: has no place, since all that is written is counted", ph.Kind, p.Ramp.D())
	}
	for i := range p.Streams {
		s := &p.Streams[i]
		issues := s.Workload.Writes()
		if ph.Kind == Purge {
			issues = s.Workload.Trims()
		}
		if !issues || s.Workload.Mixed() || s.Passes == 0 || !s.Workload.Whole {
			return fmt.Errorf("phase %s: stream %q does not go over the whole of its range", ph.Kind, s.Label)
		}
	}
	return nil
}

// checkSteady checks the rule against the phase's only point, which is right in itself.
func (ph *Phase) checkSteady() error {
	rule, p := ph.Steady, &ph.Points[0]
	if err := rule.Validate(); err != nil {
		return err
	}
	if rule.MaxRounds > int(MaxTime/rule.Round) {
		return fmt.Errorf("--steady-max-rounds %d: of %v each are over %v together", rule.MaxRounds, rule.Round, MaxTime)
	}
	if rule.Round%p.Interval.D() != 0 {
		return fmt.Errorf("--steady-round %v: must be a multiple of --interval %v", rule.Round, p.Interval.D())
	}
	writes := false
	for i := range p.Streams {
		writes = writes || p.Streams[i].Workload.Writes()
		if p.Streams[i].Passes > 0 {
			return fmt.Errorf("phase %s: stream %q ends by itself, before steady state may come", ph.Kind, p.Streams[i].Label)
		}
	}
	if ph.MostPasses > 0 && !writes {
		return fmt.Errorf("phase %s: most_passes %d: its streams write nothing", ph.Kind, ph.MostPasses)
	}
	if most := SteadyTime(rule); most > 0 && p.Runtime.D() != most {
		return fmt.Errorf("phase %s: runtime %v: is %d rounds of %v", ph.Kind, p.Runtime.D(), rule.MaxRounds, rule.Round)
	}
	return nil
}

// SteadyTime is the time after which steady state is given up; 0 where the rule has no such end. A time
// beyond what a time.Duration holds is its largest value.
func SteadyTime(r *steady.Rule) time.Duration { return mulTime(max(r.MaxRounds, 0), max(r.Round, 0)) }

// purgeBytes is the length of one discard: as much as the kernel takes in one piece of nearly every
// device, so that many are in flight.
const purgeBytes = 64 << 20

// PurgePhase discards all of the given targets, at once.
func PurgePhase(targets []int) Phase {
	s := Stream{
		Label: Purge, Targets: targets, Threads: 1, IODepth: 4, Passes: 1,
		Workload: workload.Spec{RW: "trim", BlockSize: purgeBytes, Whole: true},
	}
	return Phase{Kind: Purge, Points: []Point{wholePoint(Purge, s)}}
}

// fillBytes and fillDepth are the 128 KiB that SNIA's workload-independent preconditioning writes with
// (SSS PTS 2.0.2, 3.3), at a depth that keeps every SSD busy.
const fillBytes, fillDepth = 128 << 10, 32

// FillPhase writes the given targets passes times from start to end, at once, with data of spec.
func FillPhase(targets []int, passes int, data workload.DataSpec) Phase {
	s := Stream{
		Label: Fill, Targets: targets, Threads: 1, IODepth: fillDepth, Passes: passes,
		Workload: workload.Spec{RW: "write", BlockSize: fillBytes, Whole: true, Data: data},
	}
	label := Fill
	if passes > 1 {
		label = fmt.Sprintf("%s %d x", Fill, passes)
	}
	return Phase{Kind: Fill, Points: []Point{wholePoint(label, s)}}
}

func wholePoint(label string, s Stream) Point {
	return Point{Label: fmt.Sprintf("%s %s", label, unit.Size(s.Workload.BlockSize)), Interval: Duration(time.Second), Streams: []Stream{s}}
}
