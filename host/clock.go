package host

import (
	"slices"
	"strings"
	"time"
)

// Clock tells what the time stamps around every I/O are worth. A source other than the CPU's own
// counter (hpet, acpi_pm, xen) turns each stamp into a device access or a system call; with
// jiffies, latencies come out as 0, 4 or 8 ms.
type Clock struct {
	Source    string   `json:"source"`    // the kernel's current clock source
	Available []string `json:"available"` // the ones it could use
	// CostNS is the median cost of one read in nanoseconds over many batches. Where the clock is too
	// coarse to time a batch it is the average over the whole measurement.
	CostNS float64 `json:"cost_ns"`
	// ResolutionNS is the smallest step between two successive reads that was not 0, in nanoseconds:
	// for a fine clock about the cost of a read, for a coarse one its tick. 0: it never moved.
	ResolutionNS int64 `json:"resolution_ns"`
	// BackwardSteps counts reads that were earlier than the one before; any is a broken clock.
	BackwardSteps int `json:"backward_steps"`
}

const (
	clockBatch = 256                   // reads that are timed together
	clockSpan  = 20 * time.Millisecond // five ticks of a 250 Hz kernel
	// clockReads ends the measurement of a clock that stands still. A coarse clock read in 20 ns
	// takes 1.5 million reads to pass a 10 ms tick and then the span.
	clockReads = 5_000_000
)

// MeasureClock reads now, a monotonic clock in nanoseconds, for some 20 ms by its own reckoning
// (at most 5 million times), and reports what it saw. A nil now is the clock of the hot loop,
// time.Since of a fixed base. The measured clock times itself, as no other is better.
func MeasureClock(r Roots, now func() int64) Clock {
	if now == nil {
		base := time.Now()
		now = func() int64 { return int64(time.Since(base)) }
	}
	c := Clock{Source: text(r.sys(clockDir, "current_clocksource")), Available: r.clockSources()}

	// Start on an edge, or a coarse clock's first, partial tick would count as a whole one.
	last := now()
	reads := 1
	for first := last; last == first && reads < clockReads; reads++ {
		last = now()
	}
	begin, beginReads := last, reads

	costs := make([]float64, 0, 4096)
	for last-begin < int64(clockSpan) && reads < clockReads {
		batch := last
		for range clockBatch {
			t := now()
			switch step := t - last; {
			case step < 0:
				c.BackwardSteps++
			case step > 0 && (c.ResolutionNS == 0 || step < c.ResolutionNS):
				c.ResolutionNS = step
			}
			last = t
		}
		reads += clockBatch
		costs = append(costs, float64(last-batch)/clockBatch)
	}

	if len(costs) > 0 {
		slices.Sort(costs)
		c.CostNS = costs[len(costs)/2]
		// A batch that is not many ticks long cannot be timed.
		if c.CostNS*clockBatch < 64*float64(c.ResolutionNS) {
			c.CostNS = float64(last-begin) / float64(reads-beginReads)
		}
	}
	c.CostNS = max(c.CostNS, 0) // a clock that ran backward may have ended before it began
	return c
}

const clockDir = "devices/system/clocksource/clocksource0"

func (r Roots) clockSources() []string {
	// Never nil: it is a list in the result document.
	return append([]string{}, strings.Fields(text(r.sys(clockDir, "available_clocksource")))...)
}
