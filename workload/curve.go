package workload

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// curve draws numbers 0 to n-1 whose probabilities follow a curve, exactly, for n up to 2^53, in 4 to
// 20 KiB and without a logarithm in nearly all draws. The numbers are cut into some hundred segments,
// within each of which the curve falls or rises by less than a half where any draws are. A segment is
// chosen by its exact share (the alias method: A. Walker, ACM TOMS 3 (1977); the table as in M. Vose,
// IEEE Trans. Software Eng. 17 (1991) 972-975), and a number in it by rejection with a squeeze (L.
// Devroye, Non-Uniform Random Variate Generation (1986), II.3): what lies below the segment's lowest
// point is taken at once. Shares are exact to 2^-50.
type curve struct {
	kind     string
	n, power float64 // the curve's own, see height
	middle   float64
	columns  []column
	segments []segment
}

// column of the alias table: below the cut its own segment, else the other.
type column struct{ cut, other uint64 }

// segment is a run of numbers.
type segment struct {
	start, width uint64
	sure         uint64  // lowest over highest point, as a fraction of 2^64
	top          float64 // highest point
}

// negligible is a share that no run will ever see: of 2^60 draws, one.
const negligible = 0x1p-60

// height of the curve at x: for zipf, whose ranks count from 1, that of the whole number x+1.
func (c *curve) height(x float64) float64 {
	switch c.kind {
	case Zipf:
		return math.Exp(-c.power * math.Log(math.Floor(x)+1))
	case Pareto:
		return math.Exp((c.power - 1) * math.Log(x/c.n))
	}
	z := (x - c.middle) / c.power
	return math.Exp(-z * z / 2)
}

// share of the numbers from a to b-1, but for a common factor.
func (c *curve) share(a, b float64) float64 {
	switch c.kind {
	case Zipf:
		return c.zipfSum(a, b)
	case Pareto:
		// P(x < k) = (k/n)^power, as with fio: h of the numbers get 1-h of the draws.
		if a == 0 {
			return math.Pow(b/c.n, c.power)
		}
		return math.Pow(a/c.n, c.power) * math.Expm1(c.power*math.Log(b/a))
	}
	low, high := (a-c.middle)/(c.power*math.Sqrt2), (b-c.middle)/(c.power*math.Sqrt2)
	if low < 0 && high <= 0 {
		low, high = -high, -low // the side where erfc keeps its digits
	}
	if low < 0 {
		return (math.Erf(high) - math.Erf(low)) / 2
	}
	return (math.Erfc(low) - math.Erfc(high)) / 2
}

// zipfSum is the sum of k^-theta over the ranks a+1 to b: term by term, or by the Euler-Maclaurin
// formula at midpoints, whose next term is below 10^-12 of the sum from rank 64 on.
func (c *curve) zipfSum(a, b float64) (sum float64) {
	if b <= zipfSingles || b-a <= 16 {
		for k := a + 1; k <= b; k++ {
			sum += math.Pow(k, -c.power)
		}
		return sum
	}
	first, last, e := a+0.5, b+0.5, 1-c.power
	length := math.Log(last / first)
	area := length
	if e != 0 {
		area = math.Pow(first, e) * math.Expm1(e*length) / e
	}
	slope := func(x float64) float64 { return -c.power * math.Pow(x, -c.power-1) }
	third := func(x float64) float64 { return slope(x) * (c.power + 1) * (c.power + 2) / (x * x) }
	return area - (slope(last)-slope(first))/24 + 7*(third(last)-third(first))/5760
}

// zipfSingles is how many of the hottest ranks have a segment each.
const zipfSingles = 128

// quarter is the ratio of the ends of a segment where the curve is a power: four in an octave.
var quarter = math.Sqrt(math.Sqrt2)

// newZipf: the k-th number has a probability proportional to k^-theta.
func newZipf(n uint64, theta float64) *curve {
	c := &curve{kind: Zipf, n: float64(n), power: theta}
	borders := []uint64{0}
	for at := uint64(0); at < n; {
		if at < zipfSingles {
			at++
		} else {
			at = min(uint64(float64(at)*quarter), n)
		}
		borders = append(borders, at)
	}
	return c.build(borders)
}

// newPareto: h of the numbers get 1-h of the draws, and so on within these.
func newPareto(n uint64, h float64) *curve {
	c := &curve{kind: Pareto, n: float64(n), power: math.Log(1-h) / math.Log(h)}
	ratio := min(quarter, math.Exp2(0.4/max(math.Abs(c.power-1), 1e-9)))
	borders := []uint64{n}
	for at := n; at > 0; {
		at = min(uint64(float64(at)/ratio), at-1)
		if math.Pow(float64(at)/c.n, c.power) < negligible {
			at = 0
		}
		borders = append([]uint64{at}, borders...)
	}
	return c.build(borders)
}

// newNormal: a bell around the middle, cut at the ends; its deviation is a percentage of n.
func newNormal(n uint64, percent float64) *curve {
	c := &curve{kind: Normal, n: float64(n), power: float64(n) * percent / 100, middle: float64(n) / 2}
	middle := n / 2
	step := max(uint64(c.power/16), 1)
	borders := []uint64{middle}
	for at := middle; at > 0; {
		if at -= min(step, at); c.middle-float64(at) > 9*c.power {
			at = 0
		}
		borders = append([]uint64{at}, borders...)
	}
	for at := middle; at < n; {
		if at == middle {
			at++ // the middle number alone, since the curve rises and falls in it when n is odd
		} else if at += min(step, n-at); float64(at)-c.middle > 9*c.power {
			at = n
		}
		borders = append(borders, at)
	}
	return c.build(borders)
}

// build makes segments between the borders. The curve is monotone in each.
func (c *curve) build(borders []uint64) *curve {
	var shares []float64
	sum := 0.
	for i, end := range borders[1:] {
		start := borders[i]
		s := segment{start: start, width: end - start, sure: math.MaxUint64}
		share := c.share(float64(start), float64(end))
		shares = append(shares, share)
		sum += share
		last := float64(end)
		if c.kind == Zipf {
			last-- // a step is as high as its begin
		}
		first, last := c.height(float64(start)), c.height(last)
		if s.top = max(first, last); s.width > 1 && share > negligible {
			// The rounding of the two heights must not make sure what is not.
			s.sure = uint64(math.Ldexp(min(first, last)/s.top*(1-0x1p-40), 53)) << 11
		}
		c.segments = append(c.segments, s)
	}
	c.columns = aliasTable(shares, sum)
	return c
}

// aliasTable fills columns of equal height, each with one segment or two.
func aliasTable(weights []float64, sum float64) []column {
	table := make([]column, len(weights))
	var small, large []int
	for i := range weights {
		weights[i] *= float64(len(weights)) / sum
		table[i] = column{math.MaxUint64, uint64(i)}
		if weights[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		table[s] = column{uint64(math.Ldexp(weights[s], 53)) << 11, uint64(l)}
		if weights[l] -= 1 - weights[s]; weights[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	return table // what is left over is a whole column but for rounding
}

// draw gives the next number.
func (c *curve) draw(rng *rand.PCG) uint64 {
	i, part := bits.Mul64(rng.Uint64(), uint64(len(c.columns)))
	if column := &c.columns[i]; part >= column.cut {
		i = column.other
	}
	s := &c.segments[i]
	if s.width == 1 {
		return s.start
	}
	for {
		at, fraction := bits.Mul64(rng.Uint64(), s.width)
		at += s.start
		level := rng.Uint64()
		if level < s.sure || float64(level>>11)*0x1p-53*s.top < c.height(float64(at)+float64(fraction)*0x1p-64) {
			return at
		}
	}
}
