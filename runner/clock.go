package runner

import "time"

// clock is the run's own monotonic clock: nanoseconds since the run began. time.Since costs one vDSO
// call, as much as reading the kernel's clock any other way.
type clock struct{ base time.Time }

func newClock() clock { return clock{base: time.Now()} }

func (c clock) now() int64 { return int64(time.Since(c.base)) }

// wall is the wall-clock time of a stamp, as the wall clock stood when the run began: a step of the
// wall clock meanwhile does not bend the series.
func (c clock) wall(stamp int64) time.Time { return c.base.Add(time.Duration(stamp)) }
