package runner

import "time"

// schedule divides a point's time into rows: those of the ramp first, then those of the window. All
// times are nanoseconds on the run's own clock. Threads and control ask the same schedule, so that
// they agree on where an I/O belongs.
type schedule struct {
	start    int64 // first I/O of the point
	window   int64 // start of the window: start + ramp
	interval int64
	rampRows int64 // rows before the window; the last one may be shorter than the interval
}

func newSchedule(start int64, ramp, interval time.Duration) schedule {
	return schedule{
		start:    start,
		window:   start + int64(ramp),
		interval: int64(interval),
		rampRows: (int64(ramp) + int64(interval) - 1) / int64(interval),
	}
}

// row is the row in which a time lies.
func (s *schedule) row(t int64) int64 {
	switch {
	case t >= s.window:
		return s.rampRows + (t-s.window)/s.interval
	case t > s.start:
		return (t - s.start) / s.interval
	default:
		return 0
	}
}

// begin is the time at which a row starts.
func (s *schedule) begin(row int64) int64 {
	if row >= s.rampRows {
		return s.window + (row-s.rampRows)*s.interval
	}
	return s.start + row*s.interval
}

// end is the time at which the next row starts.
func (s *schedule) end(row int64) int64 { return s.begin(row + 1) }
