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
	// minSums is how many sums of neighbours must be left for their autocorrelation to be looked at.
	minSums = 32
	// beyond is by how many standard errors sums must hang together more than the rows let expect to be
	// believed, and belief by how many of them their autocorrelation is then taken for lower than it looks:
	// the largest of several is looked for.
	beyond = 2
	belief = 0.5
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
// (Econometrica 59 (1991), 817); what it lacks is made good. A slow movement below much noise is no such
// process: the noise hides it from rows next to each other. But sums of 2, 4, 8, ... neighbours average the
// noise away, so where these hang together more than such a process lets them, the process is that of the
// sums. Where the lower half of the frequencies still has more than the upper half, by an F test, there is a
// slower movement than all this knows, and the upper half is left out.
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
	var squares float64
	for i := range z {
		z[i] = (y[i] - r*x[i]) / (sumX / n)
		squares += z[i] * z[i]
	}
	m := Mean{Value: r, N: rows, Effective: float64(rows)}
	if math.Sqrt(squares/n) <= alike*r {
		m.SE, m.DF = math.Sqrt(squares)/n, n-1
		return m, nil
	}
	f, k := slowest(z)
	if k < 1 {
		return Mean{}, fmt.Errorf("%w: %d hang together so much (%v) that they are hardly more than one", ErrRows, rows, f)
	}
	power := make([]float64, k)
	for j := range power {
		w := math.Pi * float64(j+1) / n
		c := cosine(z, w)
		power[j] = 2 * c * c / n / f.share(w)
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

// memory is an autoregressive process of order 1 that sums of neighbours follow.
type memory struct {
	size int // rows in a sum; 1: the rows themselves
	phi  float64
}

func (m memory) String() string {
	if m.size == 1 {
		return fmt.Sprintf("autocorrelation up to %.2f", m.phi)
	}
	return fmt.Sprintf("autocorrelation of sums of %d up to %.2f", m.size, m.phi)
}

// slowest is the process with the longest memory of those that z shows, and how many frequencies it
// leaves; z has a mean of 0.
func slowest(z []float64) (longest memory, k int) {
	r, n := autocorrelation(z), float64(len(z))
	longest = memory{1, upperPhi(r, n, doubt)}
	k = longest.frequencies(n)
	plain := upperPhi(r, n, 0)
	for size := 2; len(z)/size >= minSums; size *= 2 {
		v := sums(z, size)
		r, n := autocorrelation(v), float64(len(v))
		expected := sumPhi(plain, float64(size))
		if unbiased(r, n) < expected+beyond*math.Sqrt((1-expected*expected)/n) {
			continue
		}
		m := memory{size, upperPhi(r, n, -belief)}
		if fewer := m.frequencies(float64(len(z))); fewer < k {
			longest, k = m, fewer
		}
	}
	return longest, k
}

// sums adds up size neighbours each, less the mean of all; the last ones that make no whole sum are left out.
func sums(z []float64, size int) []float64 {
	out := make([]float64, len(z)/size)
	for i := range out {
		for _, v := range z[i*size : (i+1)*size] {
			out[i] += v
		}
	}
	mean := average(out)
	for i := range out {
		out[i] -= mean
	}
	return out
}

// autocorrelation is that of order 1 of values around their mean, 0.
func autocorrelation(z []float64) float64 {
	var squares, products float64
	for i := range z {
		squares += z[i] * z[i]
		if i > 0 {
			products += z[i] * z[i-1]
		}
	}
	if squares == 0 {
		return 0
	}
	return products / squares
}

// unbiased is the autocorrelation of order 1 behind that of n values around their mean, which comes out too
// small by (1+4φ)/n; at most maxPhi.
func unbiased(r, n float64) float64 { return min((n*r+1)/(n-4), maxPhi) }

// upperPhi is the autocorrelation behind that of n values, and some of its standard errors more: 0 to maxPhi.
func upperPhi(r, n, errors float64) float64 {
	phi := unbiased(r, n)
	phi += errors * math.Sqrt(max(1-phi*phi, 0)/n)
	return min(max(phi, 0), maxPhi)
}

// sumPhi is the autocorrelation of order 1 of sums of size neighbours, when that of single ones is phi and
// the process of order 1: the covariance of two neighbouring sums over the variance of one, of the geometric
// series that they are.
func sumPhi(phi, size float64) float64 {
	if phi == 0 {
		return 0
	}
	rest := 1 - math.Pow(phi, size)
	return phi * rest * rest / (size*(1-phi*phi) - 2*phi*rest)
}

// share is the spectrum of the process at w radians per row, as part of what it is at 0.
func (m memory) share(w float64) float64 {
	w = min(w*float64(m.size), math.Pi) // sums know no higher frequency
	return (1 - m.phi) * (1 - m.phi) / (1 - 2*m.phi*math.Cos(w) + m.phi*m.phi)
}

// frequencies is how many of the lowest frequencies of n rows are used.
func (m memory) frequencies(n float64) int {
	k := int(0.4 * math.Cbrt(n*n))
	for k > 0 && m.share(math.Pi*float64(k)/n) < leastShare {
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
