package report

import (
	"math"

	"blkstorm/histogram"
)

// perDecade is how many classes of latency a factor of ten has in histograms and heat maps: each reaches 15 %
// above its lower end.
const perDecade = 16

// bins is how many classes there are up to the longest latency that is told apart.
const bins = 12*perDecade + perDecade*2/3 // 1 ns to 10^12.66 ns, over an hour

// binOf is the class of a latency.
func binOf(ns int64) int {
	if ns <= 1 {
		return 0
	}
	return min(bins-1, int(math.Log10(float64(ns))*perDecade+1e-9))
}

// binOfBucket is the class of each bucket of a histogram: that of its middle.
var binOfBucket = func() (table [histogram.Buckets]uint8) {
	for i := range table {
		low, high := histogram.Range(i)
		table[i] = uint8(binOf(low + (high-low)/2))
	}
	return table
}()

// counts is how many values lie in each class.
type counts [bins]uint64

func (c *counts) addHistogram(h *histogram.Histogram) {
	for b := range h.Buckets() {
		c[binOfBucket[histogram.Index(b.Low)]] += b.Count
	}
}

// sparse is the classes with values: class, count, class, count, ...
func (c *counts) sparse() []uint64 {
	out := []uint64{}
	for i, n := range c {
		if n > 0 {
			out = append(out, uint64(i), n)
		}
	}
	return out
}
