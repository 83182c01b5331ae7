package execute

import (
	"fmt"
	"time"

	"blkstorm/host"
	"blkstorm/result"
)

// disks are the kernel names of what the targets lie on; empty where that is not known.
func (s *Session) disks() []string {
	var names []string
	for _, t := range s.targets {
		name := t.facts.Name
		if name == "" {
			name = t.facts.Disk
		}
		names = append(names, name)
	}
	return names
}

// warmth adds the drives' temperatures to the rows of a point, the highest to the point, and what the
// drives say of their health before and after it.
type warmth struct {
	session    *Session
	max, limit []*float64 // per target
	begin      []*host.DriveHealth
}

func (s *Session) newWarmth() *warmth {
	return &warmth{s, make([]*float64, len(s.targets)), make([]*float64, len(s.targets)), s.healths()}
}

// healthWait is how long a point waits for what drives say of themselves. They answer in milliseconds.
const healthWait = time.Second

func (s *Session) healths() []*host.DriveHealth {
	if s.driver.Dry {
		return make([]*host.DriveHealth, len(s.targets)) // no drive is at work
	}
	return s.opts.Roots.Host.DriveHealths(s.disks(), healthWait)
}

func (w *warmth) row(in *result.Interval) {
	for i := range w.max {
		t, known := w.session.heat.Now(i)
		if !known {
			continue
		}
		if in.TemperatureC == nil {
			in.TemperatureC = make([]*float64, len(w.max))
		}
		in.TemperatureC[i] = &t.Celsius
		if w.max[i] == nil || t.Celsius > *w.max[i] {
			w.max[i] = &t.Celsius
		}
		if t.Limit > 0 {
			w.limit[i] = &t.Limit
		}
	}
}

func (w *warmth) into(p *result.Point) {
	end := w.session.healths()
	for i, t := range p.Targets {
		t.TemperatureMaxC, t.TemperatureLimitC = w.max[i], w.limit[i]
		if w.begin[i] != nil && end[i] != nil {
			t.NVMe = &result.NVMe{Begin: w.begin[i], End: end[i]}
		}
	}
}

// hottest says which target came to its own limit, and farthest beyond; empty when none did.
func hottest(p *result.Point) (text string) {
	worst := 0.0
	for _, t := range p.Targets {
		if t.TemperatureMaxC == nil || t.TemperatureLimitC == nil {
			continue
		}
		if over := *t.TemperatureMaxC - *t.TemperatureLimitC; over >= worst {
			worst = over
			text = fmt.Sprintf("the drive of %s came to %.4g °C; at %.4g °C it warns by itself", t.Path, *t.TemperatureMaxC, *t.TemperatureLimitC)
		}
	}
	return text
}
