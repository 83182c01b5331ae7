package plan

import (
	"fmt"
	"math"
	"time"
)

// Window is how long the point's window lasts at most; a steady state, or a failure, may end it sooner. It is false
// for a point that ends with its work, which takes as long as it does.
func (pt *Point) Window() (time.Duration, bool) {
	if pt.Runtime > 0 || !pt.Ends() {
		return max(pt.Runtime.D(), 0), true
	}
	var last time.Duration
	for i := range pt.Streams {
		s := &pt.Streams[i]
		if s.Time <= 0 {
			return 0, false
		}
		begins := max(addTime(s.Start.D(), s.Ramp.D()), pt.Ramp.D())
		last = max(last, addTime(begins-pt.Ramp.D(), s.Time.D()))
	}
	return last, true
}

// Work says that the point ends with its work, passes, bytes or I/Os, rather than with its time.
func (pt *Point) Work() bool {
	_, known := pt.Window()
	return !known
}

// Passes is how many passes end the point; 0 where something else does.
func (pt *Point) Passes() (most int) {
	if !pt.Work() {
		return 0
	}
	for i := range pt.Streams {
		if pt.Streams[i].Passes == 0 {
			return 0
		}
		most = max(most, pt.Streams[i].Passes)
	}
	return most
}

// EndText says what ends the point: "ramp 0s, runtime 30s", "one pass", "until its streams end".
func (pt *Point) EndText() string {
	window, known := pt.Window()
	switch n := pt.Passes(); {
	case n == 1:
		return "one pass"
	case n > 1:
		return fmt.Sprintf("%d passes", n)
	case !known:
		return fmt.Sprintf("ramp %v, until its streams end", pt.Ramp.D())
	}
	return fmt.Sprintf("ramp %v, runtime %v", pt.Ramp.D(), window)
}

// Length is the ramp and the window of the point, at most; 0 of one that ends with its work.
func (pt *Point) Length() time.Duration {
	window, known := pt.Window()
	if !known {
		return 0
	}
	return addTime(pt.Ramp.D(), window)
}

// RoundTime is how long the ramps and windows of all points of the phase take together; how long work takes,
// nobody knows. A sum beyond what a time.Duration holds is its largest value.
func (ph *Phase) RoundTime() (sum time.Duration) {
	for i := range ph.Points {
		sum = addTime(sum, ph.Points[i].Length())
	}
	return sum
}

// Time is how long the plan's ramps, windows and idle times take together at most: steady state may come
// earlier, also in rounds. What ends with its work (Work), and filling new files, is not in
// it: how long that takes, nobody knows. A sum beyond what a time.Duration
// holds, 292 years, is its largest value.
func (p *Plan) Time() time.Duration {
	var sum time.Duration
	for i := range p.Phases {
		sum = addTime(sum, p.Phases[i].length())
	}
	return sum
}

// length is the phase's part of Plan.Time.
func (ph *Phase) length() time.Duration {
	points := ph.RoundTime()
	if ph.Rounds != nil {
		points = mulTime(ph.Rounds.Rule.MaxRounds, points)
	}
	return addTime(ph.Time.D(), points)
}

// addTime adds two times of at least 0.
func addTime(a, b time.Duration) time.Duration {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// mulTime is n times d, both of at least 0.
func mulTime(n int, d time.Duration) time.Duration {
	if d > 0 && n > int(math.MaxInt64/d) {
		return math.MaxInt64
	}
	return time.Duration(n) * d
}
