package histogram

import (
	"math"
	"math/bits"
)

// Recorder collects the latencies of one thread, one direction and one interval slice. It has
// one writer and no locks: the thread that owns it records, and after it has given the slice
// away another goroutine may read it with Histogram.AddRecorder. The handing over must order
// memory (a channel, an atomic flag); Recorder itself does not.
//
// Recording does not allocate, with one exception: when a bucket passes 2^32-1, for which one
// thread at 10 million I/Os per second needs seven minutes in a single bucket, the upper halves
// of all counts are allocated, once for the life of the Recorder. Counts never wrap.
//
// Use NewRecorder; the zero value is not ready.
type Recorder struct {
	// One object of 17 pages: what every record touches lies in its first two cache lines, and no
	// other thread's Recorder can share a line with it.
	moments
	high   *[Buckets]uint32
	counts [Buckets]uint32
}

// NewRecorder returns an empty Recorder of about 136 KiB, of which only the pages become
// resident whose buckets are hit.
func NewRecorder() *Recorder {
	return &Recorder{moments: moments{min: math.MaxUint64}}
}

// Record counts one latency of ns nanoseconds. A value below 0 is recorded as 0 and one above
// Highest as Highest; either is counted in Clamped.
func (r *Recorder) Record(ns int64) {
	v := uint64(ns)
	if v > Highest { // both clamps in one compare: a negative value is huge here
		v = r.clamp(ns, 1)
	}
	if v < r.min {
		r.min = v
	}
	if v > r.max {
		r.max = v
	}
	r.count++

	var c uint64
	r.sumLo, c = bits.Add64(r.sumLo, v, 0)
	r.sumHi += c
	hi, lo := bits.Mul64(v, v)
	r.sqLo, c = bits.Add64(r.sqLo, lo, 0)
	r.sqMid, c = bits.Add64(r.sqMid, hi, c)
	r.sqHi += c

	i := index(v)
	r.counts[i]++
	if r.counts[i] == 0 {
		r.spill(i)
	}
}

// RecordN counts n equal latencies of ns nanoseconds, as a batch has that was submitted and
// reaped under one pair of stamps. It is the same as n calls of Record; n = 0 does nothing.
func (r *Recorder) RecordN(ns int64, n uint32) {
	if n == 0 {
		return
	}
	v := uint64(ns)
	if v > Highest {
		v = r.clamp(ns, n)
	}
	r.addN(v, uint64(n))

	i := index(v)
	was := r.counts[i]
	r.counts[i] = was + n
	if was+n < was {
		r.spill(i)
	}
}

// Count returns the number of recorded latencies since the last Reset.
func (r *Recorder) Count() uint64 { return r.count }

// Clamped returns how many of them lay outside [0, Highest].
func (r *Recorder) Clamped() uint64 { return r.clamped }

// Reset empties r for its next slice. It clears only the buckets between the smallest and the
// largest value, some hundred bytes per factor of two between them instead of all 132 KiB.
func (r *Recorder) Reset() {
	if r.count == 0 {
		return // nothing was recorded, clamps included
	}
	lo, hi := index(r.min), index(r.max)+1
	clear(r.counts[lo:hi])
	if r.high != nil {
		clear(r.high[lo:hi])
	}
	r.moments = moments{min: math.MaxUint64}
}

//go:noinline
func (r *Recorder) clamp(ns int64, n uint32) uint64 {
	r.clamped += uint64(n)
	if ns < 0 {
		return 0
	}
	return Highest
}

//go:noinline
func (r *Recorder) spill(i uint) {
	if r.high == nil {
		r.high = new([Buckets]uint32)
	}
	r.high[i]++
}
