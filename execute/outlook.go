package execute

import (
	"fmt"
	"math"
	"time"

	"github.com/dustin/go-humanize"

	"blkstorm/plan"
)

// Outlook is what a part of a plan will take.
type Outlook struct {
	// WriteBytes and TrimBytes are those of points that go over their range a number of times; how long
	// that takes, nobody knows.
	WriteBytes int64 `json:"write_bytes"`
	TrimBytes  int64 `json:"trim_bytes"`
	// TimeS is the time of ramps, windows and idle phases in seconds.
	TimeS float64 `json:"time_s"`
	// AtMost says that it may be less, since steady state may come early.
	AtMost bool `json:"at_most"`
	// Work says that there are points that end with their work; nobody knows how long that takes, and TimeS is without it.
	Work bool `json:"work"`
}

// outlook is what a phase takes from its point number from on, of round round (0 or 1: of the first one), and
// in all rounds after it; points that are skipped take nothing.
func (s *Session) outlook(phase *plan.Phase, round, from int) (o Outlook) {
	o.AtMost = phase.Steady != nil || phase.Rounds != nil
	after := int64(0) // rounds
	if phase.Rounds != nil {
		after = int64(phase.Rounds.Rule.MaxRounds - max(round, 1))
	}
	for j := range phase.Points {
		p := &phase.Points[j]
		times := after
		if j >= from {
			times++
		}
		if _, skipped := s.skipped[p]; skipped {
			continue
		}
		o.TimeS += float64(times) * p.Length().Seconds()
		if !p.Work() || times == 0 {
			continue
		}
		if o.Work = true; s.driver.Dry {
			continue
		}
		for i := range s.targets {
			write, trim := s.wholeBytes(p, i)
			o.WriteBytes, o.TrimBytes = o.WriteBytes+times*write, o.TrimBytes+times*trim
		}
	}
	o.TimeS = toMillisecond(o.TimeS + phase.Time.D().Seconds())
	return o
}

func (o *Outlook) add(other Outlook) {
	o.WriteBytes += other.WriteBytes
	o.TrimBytes += other.TrimBytes
	o.TimeS = toMillisecond(o.TimeS + other.TimeS)
	o.AtMost = o.AtMost || other.AtMost
	o.Work = o.Work || other.Work
}

// toMillisecond rounds what a sum of many fractions leaves.
func toMillisecond(seconds float64) float64 { return math.Round(seconds*1000) / 1000 }

// wholeBytes is how many bytes the passes of a point write to and trim on target i.
func (s *Session) wholeBytes(p *plan.Point, i int) (write, trim int64) {
	for k := range p.Streams {
		st := &p.Streams[k]
		for n, t := range st.Targets {
			w := st.On(n)
			r, err := w.RangeOn(s.targets[t].facts.SizeBytes)
			if t != i || st.Passes == 0 || err != nil {
				continue
			}
			n := int64(st.Passes) * r.Length
			switch {
			case st.Workload.Trims():
				trim += n
			case st.Workload.Writes():
				write += n
			}
		}
	}
	return write, trim
}

// mostBytes is what MostPasses of a phase are in bytes, over all of the streams' targets.
func (s *Session) mostBytes(phase *plan.Phase, p *plan.Point) (n int64) {
	for k := range p.Streams {
		for at, t := range p.Streams[k].Targets {
			w := p.Streams[k].On(at)
			if r, err := w.RangeOn(s.targets[t].facts.SizeBytes); err == nil && w.Writes() {
				n += int64(phase.MostPasses) * r.Length
			}
		}
	}
	return n
}

// String is "at most 1h2m3s, and 2.0 GiB to write".
func (o Outlook) String() string {
	var text string
	if o.TimeS > 0 || !o.Work {
		text = SecondsText(o.TimeS)
		if o.AtMost {
			text = "at most " + text
		}
	}
	for _, b := range []struct {
		n    int64
		verb string
	}{{o.WriteBytes, "write"}, {o.TrimBytes, "trim"}} {
		if b.n == 0 {
			continue
		}
		if text != "" {
			text += ", and "
		}
		text += humanize.IBytes(uint64(b.n)) + " to " + b.verb
	}
	switch {
	case !o.Work || o.WriteBytes+o.TrimBytes > 0:
		return text
	case text == "":
		return "as long as the streams take"
	}
	return text + ", and as long as the streams take"
}

// maxSeconds is what a time.Duration holds.
const maxSeconds = float64(1<<63-1) / 1e9

// SecondsText is a time for people: to the second from a minute on, and with days.
func SecondsText(s float64) string {
	d := time.Duration(min(s, maxSeconds*0.999) * 1e9)
	if d < time.Minute {
		return d.Round(time.Millisecond).String()
	}
	d = d.Round(time.Second)
	const day = 24 * time.Hour
	if d < 2*day {
		return d.String()
	}
	days := d / day
	if d %= day; d == 0 {
		return fmt.Sprintf("%dd", days)
	}
	return fmt.Sprintf("%dd%v", days, d)
}

// announce says which point of a plan with several begins, and how much is left with it.
func (s *Session) announce(p *plan.Point, round int) {
	k, n := 0, 0
	var left Outlook
	where := ""
	for i := range s.plan.Phases {
		phase := &s.plan.Phases[i]
		for j := range phase.Points {
			if n++; &phase.Points[j] == p {
				k = n
				left = s.outlook(phase, round, j)
				if round > 0 {
					where = fmt.Sprintf("round %d of at most %d, point %d of %d", round, phase.Rounds.Rule.MaxRounds, j+1, len(phase.Points))
				}
			}
		}
		if k > 0 && (len(phase.Points) == 0 || k <= n-len(phase.Points)) {
			left.add(s.outlook(phase, 0, 0))
		}
	}
	if where == "" {
		where = fmt.Sprintf("point %d of %d", k, n)
	}
	if k > 0 && (n > 1 || round > 0) {
		s.opts.Log("%s, %s; left with it: %v", where, p.Label, left)
	}
}
