package stat

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// MinRows is the smallest number of rows that are judged: below it, how far they hang together cannot be
// told.
const MinRows = 20

// maxRows bounds the work for a run of days: longer series are added up in groups, which loses nothing but
// detail of how rows next to each other differ.
const maxRows = 1024

// ErrRows is wrapped by the errors of Ratio that say that the series is too short for what it is.
var ErrRows = errors.New("the rows are too few")

// Constants of Ratio, chosen by simulation (TestFalseDifferences has the rates that come of it).
const (
	// leastShare is how much of its value at frequency 0 the spectrum must still have at the highest
	// frequency that is used.
	leastShare = 0.5
	// doubt is by how many of its standard errors the autocorrelation is taken for higher than it looks:
	// taking it for lower makes differences of nothing.
	doubt = 0.5
	// rise is the probability below which a spectrum that is higher at the lower of its frequencies is not
	// taken for level.
	rise   = 0.2
	maxPhi = 0.99
	// alike is the scatter, as part of the ratio, up to which rows count as all alike: what is left is the
	// rounding of the clock, which hangs together as it likes.
	alike = 1e-6
)

// Ratio is Σy/Σx over the rows of a series, such as I/Os over seconds or nanoseconds over I/Os, with its
// standard error. Rows in time are not independent: a slow second is followed by a slow second. So the
// variance is the long-run variance of the rows' linearised contributions (y - r·x)/x̄ (the ratio estimator
// of W. G. Cochran, Sampling Techniques, 3rd ed. 1977, section 6.4), estimated from their first cosine
// transforms (the equal-weighted cosine estimator of E. Lazarus, D. Lewis, J. Stock, M. Watson, HAR
// Inference: Recommendations for Practice, J. Bus. Econ. Stat. 36 (2018), 541): each of k low frequencies
// gives one nearly independent value of it, and the mean of them has a t distribution with k degrees of
// freedom. Their k = 0.4·n^(2/3) is for series of moderate memory; it is lowered here to where an
// autoregressive process of order 1, with the autocorrelation of the rows corrected for its bias (M. G.
// Kendall, Biometrika 41 (1954), 403), still has most of its power, as D. W. K. Andrews does for kernels
// (Econometrica 59 (1991), 817); what it lacks is made good. Where the lower half of these frequencies still
// has more than the upper half, by an F test, there is a slower movement than that process knows, and the
// upper half is left out.
//
// The error wraps ErrRows when there are fewer than MinRows rows, or when they hang together so much that
// they are no more than one.
func Ratio(y, x []float64) (Mean, error) {
	if len(y) < MinRows {
		return Mean{}, fmt.Errorf("%w: %d, at least %d are needed", ErrRows, len(y), MinRows)
	}
	rows := len(y)
	y, x = grouped(y), grouped(x)
	n := float64(len(y))
	var sumY, sumX float64
	for i := range y {
		sumY += y[i]
		sumX += x[i]
	}
	if !(sumX > 0) || math.IsInf(sumX, 0) || math.IsNaN(sumY) || math.IsInf(sumY, 0) {
		return Mean{}, errors.New("nothing was counted")
	}
	r := sumY / sumX
	z := make([]float64, len(y))
	var squares, products float64
	for i := range z {
		z[i] = (y[i] - r*x[i]) / (sumX / n)
		squares += z[i] * z[i]
		if i > 0 {
			products += z[i] * z[i-1]
		}
	}
	m := Mean{Value: r, N: rows, Effective: float64(rows)}
	if math.Sqrt(squares/n) <= alike*r {
		m.SE, m.DF = math.Sqrt(squares)/n, n-1
		return m, nil
	}
	phi := upperPhi(products/squares, n)
	k := frequencies(phi, n)
	if k < 1 {
		return Mean{}, fmt.Errorf("%w: %d hang together so much (autocorrelation up to %.2f) that they are hardly more than one", ErrRows, rows, phi)
	}
	power := make([]float64, k)
	for j := range power {
		w := math.Pi * float64(j+1) / n
		c := cosine(z, w)
		power[j] = 2 * c * c / n / ar1Share(phi, w)
	}
	power = level(power)
	variance := average(power)
	m.SE, m.DF = math.Sqrt(variance/n), float64(len(power))
	m.Effective = min(squares/variance, float64(rows))
	return m, nil
}

// grouped adds up neighbours until there are at most maxRows.
func grouped(v []float64) []float64 {
	size := (len(v) + maxRows - 1) / maxRows
	if size <= 1 {
		return v
	}
	out := make([]float64, 0, maxRows)
	for i := 0; i < len(v); i += size {
		sum := 0.0
		for _, one := range v[i:min(i+size, len(v))] {
			sum += one
		}
		out = append(out, sum)
	}
	return out
}

// upperPhi is the autocorrelation of order 1 behind that of n rows around their mean, which comes out too
// small by (1+4φ)/n, and then some: 0 to maxPhi.
func upperPhi(r, n float64) float64 {
	phi := min((n*r+1)/(n-4), maxPhi)
	phi += doubt * math.Sqrt(max(1-phi*phi, 0)/n)
	return min(max(phi, 0), maxPhi)
}

// ar1Share is the spectrum of an autoregressive process of order 1 at w radians per row, as part of what it
// is at 0.
func ar1Share(phi, w float64) float64 {
	return (1 - phi) * (1 - phi) / (1 - 2*phi*math.Cos(w) + phi*phi)
}

// frequencies is how many of the lowest frequencies of n rows are used.
func frequencies(phi, n float64) int {
	k := int(0.4 * math.Cbrt(n*n))
	for k > 0 && ar1Share(phi, math.Pi*float64(k)/n) < leastShare {
		k--
	}
	return k
}

// cosine is Σ z[i]·cos(w·(i+1/2)), by Chebyshev's recurrence.
func cosine(z []float64, w float64) float64 {
	twice := 2 * math.Cos(w)
	before, now := math.Cos(w/2), math.Cos(w/2) // at -1/2 and at 1/2
	sum := 0.0
	for _, v := range z {
		sum += v * now
		before, now = now, twice*now-before
	}
	return sum
}

// level is the beginning of a spectrum, as far as its lower half is no higher than its upper half.
func level(power []float64) []float64 {
	for len(power) > 1 {
		half := (len(power) + 1) / 2
		f := average(power[:half]) / average(power[half:])
		low, high := float64(half), float64(len(power)-half)
		// The probability that F with low and high degrees of freedom is over f (Abramowitz and Stegun, 26.6.2).
		if mathext.RegIncBeta(high/2, low/2, high/(high+low*f)) > rise {
			break
		}
		power = power[:half]
	}
	return power
}

func average(v []float64) (mean float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	return mean
}
