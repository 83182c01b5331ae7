package histogram

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// ErrRestore is wrapped by every error of Restore.
var ErrRestore = errors.New("the figures do not belong to this histogram")

// Encode returns the buckets in HdrHistogram's V2 compressed encoding, base64, which any
// HdrHistogram library reads ("HISTFAAA..."). Minimum, maximum and sums do not travel with it.
// It fails when the count is beyond what the format holds, 2^63-1.
func (h *Histogram) Encode() (string, error) {
	if h.count > math.MaxInt64 {
		return "", fmt.Errorf("encode histogram: %d values are more than the format holds", h.count)
	}
	p := packers.Get().(*packer)
	defer packers.Put(p)
	first := 0
	if h.count > 0 {
		first = int(index(h.min))
	}
	return p.pack(first, h.touched())
}

// Restore gives a decoded histogram the exact figures that were written beside it, in
// nanoseconds, so that merging results from several machines stays as exact as their documents
// (mean and deviation to the 16 digits of a float64). It fails, and changes nothing, when a
// figure contradicts the buckets, which means that the two come from different runs.
func (h *Histogram) Restore(minNS, maxNS int64, mean, stddev float64) error {
	if h.count == 0 {
		if minNS != 0 || maxNS != 0 || mean != 0 || stddev != 0 {
			return fmt.Errorf("%w: it is empty", ErrRestore)
		}
		return nil
	}
	lo, hi := float64(minNS), float64(maxNS)
	const slack = 1 + 1e-9 // the figures are rounded
	switch {
	case minNS < 0 || Index(minNS) != int(index(h.min)):
		return fmt.Errorf("%w: minimum %d is not in the first bucket", ErrRestore, minNS)
	case maxNS > Highest || Index(maxNS) != int(index(h.max)):
		return fmt.Errorf("%w: maximum %d is not in the last bucket", ErrRestore, maxNS)
	case maxNS < minNS:
		return fmt.Errorf("%w: maximum %d is below minimum %d", ErrRestore, maxNS, minNS)
	case !(mean*slack >= lo && mean <= hi*slack):
		return fmt.Errorf("%w: mean %g is outside %d to %d", ErrRestore, mean, minNS, maxNS)
	case !(stddev >= 0 && stddev <= (hi-lo)/2*slack+mean*1e-9): // Popoviciu's inequality
		return fmt.Errorf("%w: standard deviation %g is impossible between %d and %d", ErrRestore, stddev, minNS, maxNS)
	}

	// Σv = n·mean and Σv² = n·(stddev² + mean²), in a precision that adds no error of its own.
	num := func(x float64) *big.Float { return new(big.Float).SetPrec(512).SetFloat64(x) }
	n := new(big.Float).SetPrec(512).SetUint64(h.count)
	m, d := num(mean), num(stddev)
	sum, _ := num(0.5).Add(num(0.5), num(0).Mul(n, m)).Int(nil)
	sq := num(0).Add(num(0).Mul(m, m), num(0).Mul(d, d))
	squares, _ := num(0.5).Add(num(0.5), sq.Mul(sq, n)).Int(nil)

	h.min, h.max = uint64(minNS), uint64(maxNS)
	h.sumLo, h.sumHi = split(sum, 0), split(sum, 1)
	h.sqLo, h.sqMid, h.sqHi = split(squares, 0), split(squares, 1), split(squares, 2)
	return nil
}
