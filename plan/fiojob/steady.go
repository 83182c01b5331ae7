package fiojob

import (
	"strconv"
	"strings"
	"time"

	"blkstorm/plan"
	"blkstorm/steady"
)

// Steady is when the jobs of a point have reached fio's steady state, which ends them.
type Steady struct {
	Rule steady.Rule
	// Ramp is how long after the window's start the first round begins.
	Ramp time.Duration
}

// defaultSteadyInterval is fio's steadystate_check_interval.
const defaultSteadyInterval = time.Second

// steady finds out whether the jobs of a point end with steady state. They are judged by their sum, and end
// together: so all of them must ask for the same.
func (t *translator) steady(p *plan.Point, jobs []*Job) *Steady {
	first := jobs[0]
	for _, j := range jobs {
		for _, option := range []string{"steadystate", "steadystate_duration", "steadystate_ramp_time", "steadystate_check_interval"} {
			if j.Text(option, "") != first.Text(option, "") {
				t.refuse(j, option, "differs from that of job %s, which runs at the same time: jobs are judged by their sum, and end together", first.Name)
				return nil
			}
		}
	}
	text := first.Text("steadystate", "")
	if text == "" {
		return nil
	}
	interval := first.time("steadystate_check_interval", time.Second)
	if interval == 0 {
		interval = defaultSteadyInterval
	}
	duration := first.time("steadystate_duration", time.Second)
	if duration == 0 {
		t.refuse(first, "steadystate", "needs steadystate_duration: without it no window is ever judged")
		return nil
	}
	rule, err := steady.ParseFio(first.steadyText(text), duration, interval)
	if err != nil {
		t.refuse(first, "steadystate", "%v", err)
		return nil
	}
	if interval < p.Interval.D() {
		p.Interval = plan.Duration(interval)
	}
	if interval%p.Interval.D() != 0 {
		t.refuse(first, "steadystate_check_interval", "must be a multiple of %v", p.Interval.D())
		return nil
	}
	if len(p.Streams) > 1 && !first.On("group_reporting", false) {
		t.note(first, "steadystate", "jobs that run together are judged by their sum, and end together")
	}
	return &Steady{Rule: rule, Ramp: first.time("steadystate_ramp_time", time.Second)}
}

// steadyText writes the limit as a plain number. That of lat is a time to fio, and its number of µs is what it
// compares with nanoseconds: lat:5ms ends a job when latencies deviate by less than 5000 ns.
func (j *Job) steadyText(text string) string {
	criterion, limit, found := strings.Cut(text, ":")
	if !found || strings.HasSuffix(strings.TrimSpace(limit), "%") {
		return text
	}
	if strings.HasPrefix(criterion, "lat") {
		if d, err := duration(strings.TrimSpace(limit), time.Microsecond); err == nil {
			return criterion + ":" + strconv.FormatInt(d.Microseconds(), 10)
		}
	}
	if n, err := number(strings.TrimSpace(limit), j.kbBase); err == nil {
		return criterion + ":" + strconv.FormatInt(n, 10)
	}
	return text
}
