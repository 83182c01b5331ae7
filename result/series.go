package result

import (
	"math"
	"time"

	"blkstorm/op"
	"blkstorm/runner"
)

// Series sums up what one direction of a stream did from interval to interval, per second: for documents
// in forms that have it. Intervals before its first I/O and after its last one are not among them.
type Series struct{ IOPS, BytesPerS Spread }

// Moments are mean and standard deviation (of the population) of latencies in ns, as Latency has them
// rounded.
type Moments struct{ Mean, StdDev float64 }

// Spread is of values that come one by one (Welford's method).
type Spread struct {
	Samples  int
	Min, Max float64
	Mean     float64
	Squares  float64 // of the deviations, summed up
}

// Add takes in a value.
func (s *Spread) Add(v float64) {
	if s.Samples == 0 {
		s.Min, s.Max = v, v
	}
	s.Samples++
	s.Min, s.Max = min(s.Min, v), max(s.Max, v)
	diff := v - s.Mean
	s.Mean += diff / float64(s.Samples)
	s.Squares += diff * (v - s.Mean)
}

// StdDev is the deviation of the sample.
func (s *Spread) StdDev() float64 {
	if s.Samples < 2 {
		return 0
	}
	return math.Sqrt(s.Squares / float64(s.Samples-1))
}

// following is the series of a stream's directions while its point runs.
type following struct {
	series [op.Count]Series
	idle   [op.Count]int // intervals without an I/O that may be its end
}

// follow takes a row of the window into the series of all streams.
func (b *Builder) follow(row *runner.Row) {
	if row.Ramp || row.Length < b.point.Interval.D()/2 {
		return // the rest of a window says little
	}
	if b.following == nil {
		b.following = make([]following, len(b.point.Streams))
	}
	for s := range b.following {
		var ios, bytes [op.Count]uint64
		for i := range row.Cells {
			if c := &row.Cells[i]; c.Stream == s {
				for o := range c.Ops {
					ios[o] += c.Ops[o].Latency.Count()
					bytes[o] += c.Ops[o].Bytes
				}
			}
		}
		b.following[s].add(&ios, &bytes, row.Length)
	}
}

func (f *following) add(ios, bytes *[op.Count]uint64, length time.Duration) {
	for o := range f.series {
		one := &f.series[o]
		if ios[o] == 0 {
			if one.IOPS.Samples > 0 {
				f.idle[o]++
			}
			continue
		}
		for ; f.idle[o] > 0; f.idle[o]-- {
			one.IOPS.Add(0)
			one.BytesPerS.Add(0)
		}
		one.IOPS.Add(float64(ios[o]) / length.Seconds())
		one.BytesPerS.Add(float64(bytes[o]) / length.Seconds())
	}
}
