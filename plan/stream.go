package plan

import (
	"fmt"
	"time"

	"blkstorm/unit"
	"blkstorm/workload"
)

// Part is what a stream uses of one of its targets, in bytes.
type Part struct {
	Offset int64 `json:"offset"`
	Size   int64 `json:"size"`
}

// Tune has each of a stream's threads look for the largest queue depth, up to the stream's, at which
// latencies stay within a limit. A thread keeps a depth for a window and judges it then.
type Tune struct {
	Latency Duration `json:"latency"` // limit of the service time
	// Window is how long a depth is tried.
	Window Duration `json:"window"`
	// Percent of the I/Os of a window must keep the limit: over 0, up to 100.
	Percent float64 `json:"percent"`
	// Hold goes on at the depth that was found, and follows what changes; else the stream ends there.
	Hold bool `json:"hold,omitempty"`
}

// MinTuneWindow is the shortest window of a Tune.
const MinTuneWindow = time.Millisecond

// On is the stream's workload on the i-th of its targets.
func (s *Stream) On(i int) workload.Spec {
	w := s.Workload
	if len(s.Parts) > 0 {
		w.Offset, w.Size, w.WorkingSet = unit.Share{Bytes: s.Parts[i].Offset}, unit.Share{Bytes: s.Parts[i].Size}, unit.Share{}
	}
	return w
}

// checkLimits checks what ends the stream beside its work, and what it uses of its targets.
func (s *Stream) checkLimits() error {
	switch t := s.Tune; {
	case s.Ramp.D() < 0 || s.Ramp.D() > MaxTime:
		return fmt.Errorf("ramp %v of stream %q: must be from 0 to %v", s.Ramp.D(), s.Label, MaxTime)
	case s.MaxLatency < 0:
		return fmt.Errorf("max_latency %v of stream %q: must be at least 0", s.MaxLatency.D(), s.Label)
	case t == nil:
	case t.Latency <= 0:
		return fmt.Errorf("latency %v of stream %q: the limit must be over 0", t.Latency.D(), s.Label)
	case t.Window.D() < MinTuneWindow || t.Window.D() > MaxTime:
		return fmt.Errorf("window %v of stream %q: must be from %v to %v", t.Window.D(), s.Label, MinTuneWindow, MaxTime)
	case !(t.Percent > 0 && t.Percent <= 100):
		return fmt.Errorf("percent %v of stream %q: must be over 0 and up to 100", t.Percent, s.Label)
	case s.Share > 0 || !s.Pacing.IsZero():
		return fmt.Errorf("stream %q: a depth is looked for in a closed loop, without a rate, think time or a share", s.Label)
	}
	if len(s.Parts) == 0 {
		return nil
	}
	if len(s.Parts) != len(s.Targets) {
		return fmt.Errorf("stream %q has %d parts for %d targets", s.Label, len(s.Parts), len(s.Targets))
	}
	for i := range s.Parts {
		if p := s.Parts[i]; p.Offset < 0 || p.Size <= 0 {
			return fmt.Errorf("part %d of stream %q: %d bytes from %d on; must be over 0, from 0 on", i, s.Label, p.Size, p.Offset)
		}
		w := s.On(i)
		if err := w.Validate(); err != nil {
			return err
		}
	}
	return nil
}
