// Package histogram counts latencies: a recorder cheap enough to see every I/O, histograms that
// merge without loss, percentiles, and the HdrHistogram encodings that other tools read.
//
// The runner owns one Recorder per thread, direction and interval slice and merges retired ones
// into Histograms; result, report and fleet take figures from those and write them out. The
// package never reads a clock, starts a goroutine or opens a file, and knows nothing of I/O.
//
// Values are int64 nanoseconds. Buckets are those of HdrHistogram with 3 significant digits
// from 1 ns to 1 h, so a bucketed value is at most 1/1024 (0.1 %) off; count, minimum, maximum,
// mean and standard deviation do not come from the buckets and are exact.
package histogram

import (
	"iter"
	"math"
	"math/bits"
)

// Histogram is a distribution of latencies. The zero value is empty and ready; it allocates its
// 264 KiB of counts with the first value, so unused directions cost nothing. Counts have 64 bits.
// It is not safe for concurrent use, and must not be copied: use Clone.
type Histogram struct {
	moments
	counts []uint64 // nil or Buckets long
}

// New returns an empty Histogram.
func New() *Histogram { return new(Histogram) }

// AddRecorder takes in everything that r holds and leaves r as it is. It reads only the buckets
// between r's smallest and largest value.
func (h *Histogram) AddRecorder(r *Recorder) {
	if r.count == 0 {
		return
	}
	h.grow()
	lo, hi := index(r.min), index(r.max)+1
	dst := h.counts[lo:hi]
	add(dst, r.counts[lo:hi], 0)
	if r.high != nil {
		add(dst, r.high[lo:hi], 32)
	}
	h.merge(&r.moments)
}

// Merge takes in everything that o holds: afterwards h is what it would be had it seen o's values
// itself, in any order.
func (h *Histogram) Merge(o *Histogram) {
	if o.count == 0 {
		return
	}
	h.grow()
	lo, hi := index(o.min), index(o.max)+1
	add(h.counts[lo:hi], o.counts[lo:hi], 0)
	h.merge(&o.moments)
}

// stride is how many buckets are taken in one step.
const stride = 8

// add adds src, shifted left by less than 64, to dst, which is as long. Written out it takes two thirds
// of a simple loop's time. A look for steps without a value costs more than it saves, unless there are
// fewer values than some tens: whether a step has one cannot be predicted.
func add[T uint32 | uint64](dst []uint64, src []T, shift uint) {
	for len(src) >= stride && len(dst) >= stride {
		s, d := (*[stride]T)(src), (*[stride]uint64)(dst)
		d[0] += uint64(s[0]) << (shift & 63)
		d[1] += uint64(s[1]) << (shift & 63)
		d[2] += uint64(s[2]) << (shift & 63)
		d[3] += uint64(s[3]) << (shift & 63)
		d[4] += uint64(s[4]) << (shift & 63)
		d[5] += uint64(s[5]) << (shift & 63)
		d[6] += uint64(s[6]) << (shift & 63)
		d[7] += uint64(s[7]) << (shift & 63)
		dst, src = dst[stride:], src[stride:]
	}
	for i, c := range src {
		dst[i] += uint64(c) << (shift & 63)
	}
}

// grow makes h ready for its next value.
func (h *Histogram) grow() {
	if h.counts == nil {
		h.counts = make([]uint64, Buckets)
	}
	if h.count == 0 {
		h.min = math.MaxUint64
	}
}

// Count returns the number of values.
func (h *Histogram) Count() uint64 { return h.count }

// Clamped returns how many of the values lay outside [0, Highest] and were recorded as its ends.
func (h *Histogram) Clamped() uint64 { return h.clamped }

// Min returns the smallest value in nanoseconds; 0 when empty.
func (h *Histogram) Min() int64 {
	if h.count == 0 {
		return 0
	}
	return int64(h.min)
}

// Max returns the largest value in nanoseconds; 0 when empty.
func (h *Histogram) Max() int64 { return int64(h.max) }

// Mean returns the arithmetic mean in nanoseconds, correctly rounded; 0 when empty.
func (h *Histogram) Mean() float64 { return h.mean() }

// StdDev returns the population standard deviation (divisor n, as fio and HdrHistogram have it)
// in nanoseconds; 0 when empty. It is computed without cancellation whatever the mean.
func (h *Histogram) StdDev() float64 { return h.stddev() }

// Percentile returns the value in nanoseconds that p percent of the values do not exceed, after
// the nearest-rank definition: the one of rank ⌈p/100·n⌉, at least 1. The bucket of that rank
// answers with its highest value, as HdrHistogram does, held between Min and Max.
//
// p counts in steps of 10^-9, so that 99.9 of 1000 values is rank 999, although the nearest
// float64 to 99.9 is above it. p of 0 or less, and NaN, give Min; p of 100 or more gives Max;
// an empty histogram gives 0.
func (h *Histogram) Percentile(p float64) int64 {
	var value [1]int64
	h.Percentiles([]float64{p}, value[:])
	return value[0]
}

// Percentiles writes what Percentile says of each of ps into values, which is as long. Ascending ps
// take one walk over the buckets for all.
func (h *Histogram) Percentiles(ps []float64, values []int64) {
	w := walk{counts: h.touched()}
	var last uint64
	for i, p := range ps {
		switch {
		case h.count == 0:
			values[i] = 0
		case !(p > 0):
			values[i] = h.Min()
		case p >= 100:
			values[i] = h.Max()
		default:
			rank := rankOf(p, h.count)
			if rank < last {
				w = walk{counts: w.counts}
			}
			last = rank
			_, high := Range(int(index(h.min)) + w.find(rank))
			values[i] = min(max(high, h.Min()), h.Max())
		}
	}
}

// touched are the buckets from the first to the last that hold a value.
func (h *Histogram) touched() []uint64 {
	if h.count == 0 {
		return nil
	}
	return h.counts[index(h.min) : index(h.max)+1]
}

// walk goes up over buckets until those passed hold a number of values.
type walk struct {
	counts []uint64
	next   int    // the bucket to look at
	seen   uint64 // values in those before it
}

// find returns the bucket in which the value of a rank lies, not less than the ranks asked for before
// and not more than there are values.
func (w *walk) find(rank uint64) int {
	for w.next+stride < len(w.counts) {
		c := (*[stride]uint64)(w.counts[w.next:])
		n := (c[0] + c[1]) + (c[2] + c[3]) + ((c[4] + c[5]) + (c[6] + c[7]))
		if w.seen+n >= rank {
			break
		}
		w.seen += n
		w.next += stride
	}
	for w.next < len(w.counts)-1 && w.seen+w.counts[w.next] < rank {
		w.seen += w.counts[w.next]
		w.next++
	}
	return w.next
}

// rankOf returns ⌈p/100·n⌉, at least 1, for 0 < p < 100.
func rankOf(p float64, n uint64) uint64 {
	const steps = 1e9 // of a percent
	hi, lo := bits.Mul64(uint64(math.Round(p*steps)), n)
	rank, rest := bits.Div64(hi, lo, 100*steps)
	if rest > 0 {
		rank++
	}
	return max(rank, 1)
}

// Buckets returns the buckets that hold a value, from the lowest up.
func (h *Histogram) Buckets() iter.Seq[Bucket] {
	return func(yield func(Bucket) bool) {
		first := int(index(h.min))
		for i, c := range h.touched() {
			if c > 0 {
				low, high := Range(first + i)
				if !yield(Bucket{Low: low, High: high, Count: c}) {
					return
				}
			}
		}
	}
}

// Reset empties h and keeps its memory.
func (h *Histogram) Reset() {
	clear(h.touched())
	h.moments = moments{}
}

// Clone returns an independent copy.
func (h *Histogram) Clone() *Histogram {
	c := New()
	c.Merge(h)
	return c
}
