package merge

import (
	"math"
	"math/big"

	"blkstorm/histogram"
	"blkstorm/result"
)

// latencies is a sum of latencies: a histogram as long as every part has one, and the moments of all.
// All is counted in integers, so that the order in which parts come does not matter.
type latencies struct {
	hist    histogram.Histogram
	count   uint64
	clamped uint64
	absent  bool // some part has no histogram
	lo, hi  int64
	sum     big.Int // of mean x count
	squares big.Int // of (deviation² + mean²) x count
	term    big.Int // scratch
	factor  big.Int // scratch
}

// add takes in a latency of a document; h is its histogram, nil where it has none.
func (l *latencies) add(in *result.Latency, h *histogram.Histogram) {
	if in.Count == 0 {
		return
	}
	if l.count == 0 {
		l.lo, l.hi = in.Min, in.Max
	}
	l.lo, l.hi = min(l.lo, in.Min), max(l.hi, in.Max)
	l.count += in.Count
	l.clamped += in.Clamped
	n := l.factor.SetUint64(in.Count)
	l.sum.Add(&l.sum, l.term.Mul(n, l.term.SetInt64(in.Mean)))
	mean, deviation := uint64(in.Mean), uint64(in.StdDev)
	l.term.SetUint64(mean)
	l.term.Mul(&l.term, &l.term)
	square := new(big.Int).SetUint64(deviation)
	square.Mul(square, square)
	l.term.Add(&l.term, square)
	l.squares.Add(&l.squares, l.term.Mul(&l.term, n))
	if h == nil {
		l.absent = true
		return
	}
	l.hist.Merge(h)
}

// addHistogram takes in a histogram whose figures are exact.
func (l *latencies) addHistogram(h *histogram.Histogram) {
	if h.Count() == 0 {
		return
	}
	l.count += h.Count()
	l.hist.Merge(h)
}

// merge takes in all of o.
func (l *latencies) merge(o *latencies) {
	if o.count == 0 {
		return
	}
	if l.count == 0 {
		l.lo, l.hi = o.lo, o.hi
	}
	l.lo, l.hi = min(l.lo, o.lo), max(l.hi, o.hi)
	l.count += o.count
	l.clamped += o.clamped
	l.absent = l.absent || o.absent
	l.sum.Add(&l.sum, &o.sum)
	l.squares.Add(&l.squares, &o.squares)
	l.hist.Merge(&o.hist)
}

func (l *latencies) reset() {
	l.hist.Reset()
	l.count, l.clamped, l.absent, l.lo, l.hi = 0, 0, false, 0, 0
	l.sum.SetInt64(0)
	l.squares.SetInt64(0)
}

// figures is the sum as a latency of the document; hdr says whether with its histogram.
func (l *latencies) figures(percentiles []float64, hdr bool) (*result.Latency, error) {
	out := &result.Latency{Count: l.count, Clamped: l.clamped}
	if l.count == 0 {
		return out, nil
	}
	if l.absent {
		n := new(big.Float).SetUint64(l.count)
		mean, _ := new(big.Float).Quo(new(big.Float).SetInt(&l.sum), n).Float64()
		// n·Σv² − (Σv)² in integers, as in package histogram
		d := new(big.Int).Mul(new(big.Int).SetUint64(l.count), &l.squares)
		d.Sub(d, new(big.Int).Mul(&l.sum, &l.sum))
		variance, _ := new(big.Float).SetInt(d).Float64()
		out.Min, out.Max, out.Mean = l.lo, l.hi, round(mean)
		out.StdDev = min(round(math.Sqrt(max(variance, 0))/float64(l.count)), (l.hi-l.lo)/2)
		return out, nil
	}
	h := &l.hist
	out.Min, out.Max, out.Mean = h.Min(), h.Max(), round(h.Mean())
	out.StdDev = min(round(h.StdDev()), (out.Max-out.Min)/2)
	out.Percentiles = map[string]int64{}
	values := make([]int64, len(percentiles))
	h.Percentiles(percentiles, values)
	for i, p := range percentiles {
		out.Percentiles[result.PercentileKey(p)] = values[i]
	}
	if !hdr {
		return out, nil
	}
	var err error
	out.HDR, err = h.Encode()
	return out, err
}

func round(v float64) int64 { return int64(math.Round(v)) }

// sum adds up figures of one direction.
type sum struct {
	ios, bytes, errors, short, zero uint64
	// Rates are added in millionths of I/Os and thousandths of bytes per second.
	microIOPS, milliBytes uint64
	latency               latencies

	open                  bool // there are planned times
	response              latencies
	offered, late, missed uint64
	backlog               int64
}

// add takes in what a document says of a direction, but for its latencies.
func (s *sum) add(in *result.Stat) {
	s.ios = plus(s.ios, in.IOs)
	s.bytes = plus(s.bytes, in.Bytes)
	s.errors = plus(s.errors, in.Errors)
	s.short = plus(s.short, in.Short)
	s.zero = plus(s.zero, in.Zero)
	s.rates(in.IOPS, in.BytesPerS)
	if in.OpenLoop != nil {
		s.open = true
		s.offered = plus(s.offered, in.Offered)
		s.late = plus(s.late, in.Late)
		s.missed = plus(s.missed, in.Missed)
		s.backlog = max(s.backlog, in.BacklogNS)
	}
}

func (s *sum) rates(iops, bytes float64) {
	s.microIOPS = plus(s.microIOPS, fixed(iops, 1e6))
	s.milliBytes = plus(s.milliBytes, fixed(bytes, 1e3))
}

// cut empties what covers the window; what is known of whole windows only stays.
func (s *sum) cut() {
	s.ios, s.bytes, s.errors, s.short, s.zero, s.microIOPS, s.milliBytes = 0, 0, 0, 0, 0, 0, 0
	s.latency.reset()
}

// stat is the sum as a figure of the document. Where all members measured equally long, that is window_s,
// and the rates are the counts divided by it; with 0 they are the members' sums.
func (s *sum) stat(window float64, percentiles []float64, hdr bool) (*result.Stat, error) {
	out := &result.Stat{IOs: s.ios, Bytes: s.bytes, Errors: s.errors, Short: s.short, Zero: s.zero,
		IOPS: float64(s.microIOPS) / 1e6, BytesPerS: float64(s.milliBytes) / 1e3}
	if window > 0 {
		out.IOPS, out.BytesPerS = float64(s.ios)/window, float64(s.bytes)/window
	}
	var err error
	if out.Latency, err = s.latency.figures(percentiles, hdr); err != nil || !s.open {
		return out, err
	}
	out.OpenLoop = &result.OpenLoop{Offered: s.offered, Late: s.late, Missed: s.missed, BacklogNS: s.backlog}
	out.Response, err = s.response.figures(percentiles, hdr)
	return out, err
}

// plus adds without wrapping around: figures from outside may be anything.
func plus(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

func fixed(v, scale float64) uint64 {
	if v *= scale; v >= math.MaxUint64/2 {
		return math.MaxUint64 / 2
	}
	return uint64(math.Round(v))
}
