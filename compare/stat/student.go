package stat

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

// tails is the probability that Student's t with df degrees of freedom, which need not be whole, lies at
// least |t| away from 0: I_x(df/2, 1/2) with x = df/(df+t²) (Abramowitz and Stegun, Handbook of
// Mathematical Functions, 26.7.1 and 26.5.27).
func tails(t, df float64) float64 {
	switch {
	case t == 0:
		return 1
	case math.IsInf(t, 0):
		return 0
	}
	return mathext.RegIncBeta(df/2, 0.5, df/(df+t*t))
}

// critical is the t that |t| exceeds with probability alpha, which is over 0 and below 1: the inverse of
// tails, by bisection, since mathext's own inverse loses itself in far tails. +Inf is beyond all numbers.
func critical(alpha, df float64) float64 {
	low, high := 0.0, 1.0
	for ; tails(high, df) > alpha; high *= 2 {
		if low = high; high > math.MaxFloat64/4 {
			return math.Inf(1)
		}
	}
	for range 60 {
		if middle := low + (high-low)/2; tails(middle, df) > alpha {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// satterthwaite is the number of degrees of freedom of the sum of two variances, each known with its own
// (F. E. Satterthwaite, Biometrics Bulletin 2 (1946), 110; B. L. Welch, Biometrika 34 (1947), 28).
func satterthwaite(a, b, dfA, dfB float64) float64 {
	big := max(a, b)
	if big == 0 {
		return min(dfA, dfB)
	}
	a, b = a/big, b/big // fourth powers would leave the range
	a, b = a*a, b*b
	return (a + b) * (a + b) / (a*a/dfA + b*b/dfB)
}
