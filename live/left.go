package live

import (
	"fmt"
	"time"
)

// done is how much of the running point is over, 0 to 1; 0 when nobody knows.
func (s *state) done(now time.Time) float64 {
	part := 0.0
	switch whole := s.ramp + s.time; {
	case s.work && s.bytes == 0:
	case s.work:
		part = float64(s.moved) / float64(s.bytes)
	case whole > 0:
		part = float64(now.Sub(s.window)+s.ramp) / float64(whole)
	}
	return min(max(part, 0), 1)
}

// left is the time that the running point still takes (at most, if it has a rule); false when nobody knows.
func (s *state) left(now time.Time) (time.Duration, bool) {
	if !s.running {
		return 0, true
	}
	if s.work {
		if s.rate <= 0 || s.bytes == 0 {
			return 0, false
		}
		rest := max(float64(s.bytes)-float64(s.moved), 0) / s.rate
		if rest > 1e9 { // 30 years: it stands still
			return 0, false
		}
		return seconds(rest), true
	}
	return max(s.window.Add(s.time).Sub(now), 0), true
}

// planLeft says how long the whole plan still takes, and when it is over; empty when there is no plan to
// go by.
func (s *state) planLeft(now time.Time) string {
	if s.of < 0 {
		return "not known, each point decides on the next"
	}
	if s.at < 0 {
		return ""
	}
	left, known := s.left(now)
	more, less := !known, s.running && s.rule != nil || s.often
	for _, later := range s.steps[s.at+1:] {
		more = more || later.work
		less = less || later.rule != nil || later.often
		if !later.work {
			left += later.ramp + later.time
		}
	}
	end := clock(now.Add(left), now)
	switch {
	case more && left == 0:
		return "not known yet"
	case more && less:
		return fmt.Sprintf("about %s left, until about %s", span(left), end)
	case more:
		return fmt.Sprintf("over %s left, until after %s", span(left), end)
	case less:
		return fmt.Sprintf("at most %s left, until %s", span(left), end)
	}
	return fmt.Sprintf("%s left, until %s", span(left), end)
}

// span prints a time for people, with the two units that matter.
func span(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	two := func(a int64, big string, b int64, small string) string {
		if b == 0 {
			return fmt.Sprintf("%d %s", a, big)
		}
		return fmt.Sprintf("%d %s %d %s", a, big, b, small)
	}
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return two(s/60, "min", s%60, "s")
	case s < 86400:
		return two(s/3600, "h", s%3600/60, "min")
	}
	return two(s/86400, "d", s%86400/3600, "h")
}

// clock prints when something is: the time of the day, with the date unless it is today's.
func clock(t, now time.Time) string {
	if y, m, d := t.Date(); now.Year() == y && now.Month() == m && now.Day() == d {
		return t.Format("15:04:05")
	}
	return t.Format("Mon 2 Jan 15:04")
}
