// Package stat tells whether two measurements differ by more than chance: from the rows of one run each,
// which hang together in time, or from repeated runs.
//
// Package compare gives it plain numbers and takes intervals and probabilities. It knows nothing of
// results, labels or units, keeps no state and draws no random numbers: the same input gives the same
// output.
//
// A mean over rows has its standard error from the long-run variance of the rows (Ratio), a mean over
// repeats from their scatter (Repeats). Two means are compared by Welch's t, and the interval of their
// ratio is Fieller's, which holds "no change" exactly when Welch's test does (Compare). Percentiles of one
// run have Woodruff's interval (CompareQuantiles). Where many things are compared at once, Level says how
// sure each must be so that what is shown as a difference is wrong no more often than promised.
package stat

import (
	"errors"
	"math"
)

// Mean is a figure with what is known of its chance error.
type Mean struct {
	Value float64
	SE    float64 // standard error
	DF    float64 // degrees of freedom of SE; 0 when SE is not known, as of a single value
	N     int     // rows or repeats
	// Effective is how many independent rows would be as good; N for repeats.
	Effective float64
}

// AtLeast is m with a standard error of no less than se: what is counted in steps is not known better than
// to the step, even when all rows agree.
func (m Mean) AtLeast(se float64) Mean {
	m.SE = max(m.SE, se)
	return m
}

// Repeats is the mean of values that were measured independently of each other.
func Repeats(values []float64) Mean {
	n := float64(len(values))
	var sum, squares float64
	for _, v := range values {
		sum += v / n
	}
	for _, v := range values {
		squares += (v - sum) * (v - sum)
	}
	m := Mean{Value: sum, N: len(values), Effective: n}
	if n > 1 {
		m.SE, m.DF = math.Sqrt(squares/(n-1)/n), n-1
	}
	return m
}

// Comparison is b against a.
type Comparison interface {
	// P is how often two things that are alike come out at least this far apart, 0 to 1.
	P() float64
	// Interval is where the ratio b/a lies, at confidence 1-alpha; 0 < alpha < 1. It holds 1 exactly when
	// P is over alpha. An end that is not known is 0 or +Inf.
	Interval(alpha float64) (low, high float64)
}

// ErrUnknown is wrapped by the errors of Compare that say that nothing tells chance from difference.
var ErrUnknown = errors.New("nothing tells how much of a difference is chance")

// means compares two means.
type means struct {
	a, b, seA, seB, df float64
}

// Compare compares two means by Welch's t with Satterthwaite's degrees of freedom. Where one of them is a
// single value, the scatter of the other's repeats stands for both (Student's two-sample t with a pooled
// variance and one value on one side); both single is ErrUnknown. The means must be over 0.
func Compare(a, b Mean) (Comparison, error) {
	if !(a.Value > 0) || !(b.Value > 0) || math.IsInf(a.Value, 0) || math.IsInf(b.Value, 0) {
		return nil, errors.New("a ratio needs figures over 0")
	}
	c := means{a: a.Value, b: b.Value, seA: a.SE, seB: b.SE}
	switch {
	case a.DF == 0 && b.DF == 0:
		return nil, ErrUnknown
	case a.DF == 0:
		c.seA, c.df = b.SE*math.Sqrt(float64(b.N)), b.DF
	case b.DF == 0:
		c.seB, c.df = a.SE*math.Sqrt(float64(a.N)), a.DF
	default:
		c.df = satterthwaite(a.SE, b.SE, a.DF, b.DF)
	}
	return c, nil
}

func (c means) P() float64 {
	if c.a == c.b {
		return 1
	}
	return tails((c.b-c.a)/math.Hypot(c.seA, c.seB), c.df)
}

// Interval is Fieller's (E. C. Fieller, J. R. Statist. Soc. B 16 (1954), 175): all ratios r for which
// b - r·a is within t standard errors of 0. When a itself may be 0, there is no upper end.
func (c means) Interval(alpha float64) (low, high float64) {
	t := critical(alpha, c.df)
	// In units of the errors' own size, so that squares stay in range: r²·p - 2abr + q = 0.
	a, b, ga, gb := c.a, c.b, t*c.seA, t*c.seB
	unitA, unitB := max(a, ga), max(b, gb)
	if math.IsInf(unitA, 0) || math.IsInf(unitB, 0) {
		return 0, math.Inf(1)
	}
	a, ga, b, gb = a/unitA, ga/unitA, b/unitB, gb/unitB
	p, q := (a-ga)*(a+ga), (b-gb)*(b+gb)
	d := math.Sqrt(max(a*a*b*b-p*q, 0))
	unit := unitB / unitA
	switch {
	case p > 0:
		low = (a*b - d) / p
		if q > 0 { // the same, without a difference of numbers that are nearly equal
			low = q / (a*b + d)
		}
		return max(low, 0) * unit, (a*b + d) / p * unit
	case q > 0: // the ratios between the negative root and the positive one are out
		return q / (a*b + d) * unit, math.Inf(1)
	}
	return 0, math.Inf(1)
}
