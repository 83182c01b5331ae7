package metrics

import (
	"math"
	"sync"

	"blkstorm/histogram"
)

// schema is the resolution of the native histograms: 16 buckets for each factor of two, so that a
// quantile is at most 2.2 % off. With it, a microsecond to a second takes 320 of them.
const schema = 4

// bounds are the upper ends of the classic buckets in seconds, for servers that know no others: three
// for each factor of ten, from what a device in memory takes to what somebody waits for.
var bounds = []float64{
	5e-6, 10e-6, 20e-6, 50e-6, 100e-6, 200e-6, 500e-6, 1e-3, 2e-3, 5e-3, 10e-3, 20e-3, 50e-3, 100e-3, 200e-3, 500e-3, 1, 2, 5, 10,
}

// The native buckets of 1 ns and of the highest latency.
var (
	lowest  = nativeBucket(1)
	highest = nativeBucket(histogram.Highest)
)

// nativeBucket is the number of the bucket for a latency over 0: bucket n ends, inclusively, at
// 2^(n/2^schema) seconds, and bucket n-1 where it begins.
func nativeBucket(ns int64) int {
	seconds := float64(ns) / 1e9
	n := int(math.Ceil(math.Log2(seconds) * (1 << schema)))
	// The logarithm may be an ulp off where a bucket ends.
	if seconds <= math.Exp2(float64(n-1)/(1<<schema)) {
		n--
	} else if seconds > math.Exp2(float64(n)/(1<<schema)) {
		n++
	}
	return n
}

// place says where the values of one of histogram's buckets go.
type place struct {
	native  uint16 // from lowest on
	classic uint8  // index into bounds; len(bounds) is beyond them
}

// places are those of all buckets. A bucket of histogram is 0.1 % wide, and goes as a whole to where its
// middle belongs.
var places = sync.OnceValue(func() *[histogram.Buckets]place {
	var all [histogram.Buckets]place
	for i := range all {
		low, high := histogram.Range(i)
		ns := min(max(low+(high-low)/2, 1), histogram.Highest)
		p := place{native: uint16(nativeBucket(ns) - lowest), classic: uint8(len(bounds))}
		for j, end := range bounds {
			if float64(ns) <= end*1e9 {
				p.classic = uint8(j)
				break
			}
		}
		all[i] = p
	}
	return &all
})

// distribution is a latency since the run began, in the buckets of the page.
type distribution struct {
	count   uint64
	sum     float64 // seconds
	zero    uint64  // of 0 ns: no native bucket holds them
	native  []uint64
	classic []uint64
}

// add takes in a row's values; all of them are in one bucket or another.
func (d *distribution) add(h *histogram.Histogram) {
	if d.native == nil {
		d.native, d.classic = make([]uint64, highest-lowest+1), make([]uint64, len(bounds)+1)
	}
	d.count += h.Count()
	d.sum += h.Mean() * float64(h.Count()) / 1e9
	all := places()
	for b := range h.Buckets() {
		p := all[histogram.Index(b.Low)]
		d.classic[p.classic] += b.Count
		if b.High == 0 {
			d.zero += b.Count
			continue
		}
		d.native[p.native] += b.Count
	}
}

// clone is a copy that does not change.
func (d *distribution) clone() distribution {
	c := *d
	c.native, c.classic = append([]uint64(nil), d.native...), append([]uint64(nil), d.classic...)
	return c
}

// buckets are the native buckets that hold something, by number.
func (d *distribution) buckets() map[int]int64 {
	list := map[int]int64{}
	for i, n := range d.native {
		if n > 0 {
			list[lowest+i] = int64(n)
		}
	}
	return list
}

// cumulative is how many values are at or below each of bounds.
func (d *distribution) cumulative() map[float64]uint64 {
	list, sum := make(map[float64]uint64, len(bounds)), uint64(0)
	for i, end := range bounds {
		if d.classic != nil {
			sum += d.classic[i]
		}
		list[end] = sum
	}
	return list
}
