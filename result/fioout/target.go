package fioout

import (
	"fmt"
	"strings"
)

// reached is the queue depth that a latency_target has led to, or the job's own.
func (r *report) reached() int {
	if r.tuned > 0 {
		return r.tuned
	}
	return r.depth
}

// targetPercent is the share of I/Os that must keep the target.
func (r *report) targetPercent() float64 {
	if r.tune.Percent > 0 {
		return r.tune.Percent
	}
	return 100
}

// latencyTarget adds what a latency_target asks for, and what it has come to. Without a suffix in its key a
// target is in ns, and a window in µs, as fio has it.
func (r *report) latencyTarget(o *object) {
	o.add("latency_depth", r.reached())
	o.add("latency_target", int64(r.tune.Latency))
	o.add("latency_target_ns", int64(r.tune.Latency))
	o.add("latency_percentile", r.targetPercent())
	window := r.tune.Window.D().Microseconds()
	o.add("latency_window", window)
	o.add("latency_window_us", window)
}

func (r *report) normalTarget(b *strings.Builder) {
	fmt.Fprintf(b, "     latency   : target=%s, window=%s, percentile=%.2f%%, depth=%d\n",
		shortTime(float64(r.tune.Latency)), shortTime(float64(r.tune.Window)), r.targetPercent(), r.reached())
}

// shortTime writes a time in ns as fio does: with two decimals, below 2000 of a unit.
func shortTime(ns float64) string {
	for _, unit := range []string{"ns", "us", "ms"} {
		if ns < 2000 {
			return fmt.Sprintf("%.2f%s", ns, unit)
		}
		ns /= 1000
	}
	return fmt.Sprintf("%.2fsec", ns)
}
