package histogram

import (
	"math"
	"math/big"
	"math/bits"
)

// moments is what is kept of every value beside its bucket, so that minimum, maximum, mean and
// standard deviation are exact. Widths: a value has 42 bits, so 2^64 of them sum to under 2^106
// and their squares to under 2^148; neither accumulator can overflow before count does.
type moments struct {
	count   uint64
	min     uint64 // of an empty Recorder MaxUint64, so that the hot path has no "first value" case
	max     uint64
	sumLo   uint64
	sumHi   uint64
	sqLo    uint64
	sqMid   uint64
	sqHi    uint64
	clamped uint64
}

// addN takes in n values equal to v. n is not 0.
func (m *moments) addN(v, n uint64) {
	m.min, m.max = min(m.min, v), max(m.max, v)
	m.count += n

	hi, lo := bits.Mul64(v, n)
	var c uint64
	m.sumLo, c = bits.Add64(m.sumLo, lo, 0)
	m.sumHi += hi + c

	// v²·n: (vHi·2^64 + vLo)·n, with vHi below 2^20.
	vHi, vLo := bits.Mul64(v, v)
	midA, lo := bits.Mul64(vLo, n)
	hi, midB := bits.Mul64(vHi, n)
	mid, c := bits.Add64(midA, midB, 0)
	hi += c
	m.sqLo, c = bits.Add64(m.sqLo, lo, 0)
	m.sqMid, c = bits.Add64(m.sqMid, mid, c)
	m.sqHi += hi + c
}

// merge takes in all of o's values. The receiver's min must be meaningful or MaxUint64.
func (m *moments) merge(o *moments) {
	m.min, m.max = min(m.min, o.min), max(m.max, o.max)
	m.count += o.count
	m.clamped += o.clamped

	var c uint64
	m.sumLo, c = bits.Add64(m.sumLo, o.sumLo, 0)
	m.sumHi += o.sumHi + c
	m.sqLo, c = bits.Add64(m.sqLo, o.sqLo, 0)
	m.sqMid, c = bits.Add64(m.sqMid, o.sqMid, c)
	m.sqHi += o.sqHi + c
}

// mean returns sum ÷ count, correctly rounded; 0 when empty.
func (m *moments) mean() float64 {
	if m.count == 0 {
		return 0
	}
	f, _ := new(big.Rat).SetFrac(m.sum(), new(big.Int).SetUint64(m.count)).Float64()
	return f
}

// stddev returns the population standard deviation √(count·Σv² − (Σv)²) ÷ count; 0 when empty.
// The difference is formed in integers: in floating point it would cancel to noise as soon as
// the deviation is under 10^-8 of the mean, which a steady SSD over an hour can reach.
func (m *moments) stddev() float64 {
	if m.count == 0 {
		return 0
	}
	n, s := new(big.Int).SetUint64(m.count), m.sum()
	d := new(big.Int).Mul(n, m.squares())
	d.Sub(d, s.Mul(s, s))
	if d.Sign() <= 0 { // below 0 only where the sums were restored from rounded figures
		return 0
	}
	f, _ := new(big.Float).SetInt(d).Float64() // at most 2^212: far from the end of float64
	return math.Sqrt(f) / float64(m.count)
}

func (m *moments) sum() *big.Int {
	return join(m.sumHi, m.sumLo)
}

func (m *moments) squares() *big.Int {
	return join(m.sqHi, m.sqMid, m.sqLo)
}

// join returns the words, most significant first, as one number.
func join(words ...uint64) *big.Int {
	x, w := new(big.Int), new(big.Int)
	for _, word := range words {
		x.Lsh(x, 64)
		x.Or(x, w.SetUint64(word))
	}
	return x
}

// split returns word i (0 is the least significant) of a number that is not negative.
func split(x *big.Int, i uint) uint64 {
	y := new(big.Int).Rsh(x, 64*i)
	return y.And(y, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
}
