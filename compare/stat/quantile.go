package stat

import (
	"errors"
	"math"
)

// Quantile is a percentile of one run with what is known of its chance error.
type Quantile struct {
	Value float64 // over 0
	// Share is the part of all values that are not over Value, of Ratio: what is counted in each row
	// over how many there are.
	Share Mean
	// At is the value that a part of all values, over 0 and at most 1, does not exceed.
	At func(share float64) float64
	// Step is how far apart values are that can be told apart, as part of Value.
	Step float64
}

// quantiles compares two percentiles.
type quantiles struct {
	a, b Quantile
	df   float64
}

// CompareQuantiles compares two percentiles. The interval of each is Woodruff's (R. S. Woodruff, Confidence
// Intervals for Medians and Other Position Measures, J. Am. Statist. Assoc. 47 (1952), 635): the limits of
// the share of values below it, which is a mean over rows, read off the distribution. It needs no guess of
// how dense values are there, and is as lopsided as they are. The interval of the ratio is put together
// from the two by the method of variance estimates recovery, on logarithms (G. Y. Zou, A. Donner,
// Construction of confidence limits about effect measures, Statist. Med. 27 (2008), 1693).
func CompareQuantiles(a, b Quantile) (Comparison, error) {
	if !(a.Value > 0) || !(b.Value > 0) || math.IsInf(a.Value, 0) || math.IsInf(b.Value, 0) {
		return nil, errors.New("a ratio needs figures over 0")
	}
	c := quantiles{a: a, b: b}
	downA, upA := a.reach(1)
	downB, upB := b.reach(1)
	widthA, widthB := downA+upA, downB+upB
	if math.IsInf(widthA, 0) || math.IsInf(widthB, 0) {
		c.df = min(a.Share.DF, b.Share.DF)
	} else {
		c.df = satterthwaite(widthA, widthB, a.Share.DF, b.Share.DF)
	}
	return c, nil
}

// reach is how far down and up, in logarithms, values within t standard errors of the share go; +Inf
// where the share's limit is beyond all values.
func (q Quantile) reach(t float64) (down, up float64) {
	step := t * q.Step / math.Sqrt(12) // of values spread evenly over a step
	limit := func(share float64) float64 {
		v := q.At(share)
		if !(v > 0) {
			return math.Inf(1)
		}
		return math.Hypot(math.Log(v/q.Value), step)
	}
	down, up = math.Inf(1), math.Inf(1)
	if share := q.Share.Value - t*q.Share.SE; share > 0 {
		down = limit(share)
	}
	if share := q.Share.Value + t*q.Share.SE; share < 1 {
		up = limit(share)
	}
	return down, up
}

// reach is how far down and up the ratio goes.
func (c quantiles) reach(t float64) (down, up float64) {
	downA, upA := c.a.reach(t)
	downB, upB := c.b.reach(t)
	return math.Hypot(downB, upA), math.Hypot(upB, downA)
}

func (c quantiles) Interval(alpha float64) (low, high float64) {
	down, up := c.reach(critical(alpha, c.df))
	change := math.Log(c.b.Value / c.a.Value)
	return math.Exp(change - down), math.Exp(change + up)
}

// P is found where the interval just touches no change.
func (c quantiles) P() float64 {
	change := math.Log(c.b.Value / c.a.Value)
	if change == 0 {
		return 1
	}
	far := func(t float64) bool {
		down, up := c.reach(t)
		if change > 0 {
			return change > down
		}
		return -change > up
	}
	low, high := 0.0, 1.0
	for ; far(high); high *= 2 {
		if low = high; high > 1e6 {
			return 0
		}
	}
	for range 60 {
		if middle := (low + high) / 2; far(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return tails(low, c.df)
}
