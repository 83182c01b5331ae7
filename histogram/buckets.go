package histogram

import "math/bits"

// The range and the precision of every histogram of the program, in nanoseconds. They are
// those of hdrhistogram.New(Lowest, Highest, Digits), and so is the bucket layout.
const (
	Lowest  = 1                 // smallest value told apart from its neighbour, 1 ns
	Highest = 3_600_000_000_000 // largest value told apart, 1 h; what is above is clamped to it
	Digits  = 3                 // significant decimal digits

	// Buckets is the length of the counts array: (32+1) × 1024. HDR's geometry needs single-unit
	// resolution up to 2×10^3, so 2048 sub-buckets of which the upper half repeats per power of
	// two, and 32 powers of two reach from 2^11 past Highest (3.6e12 < 2^42).
	Buckets = 33 << halfBits

	halfBits = 10                  // log2 of half the sub-bucket count
	subMask  = 1<<(halfBits+1) - 1 // values up to this one have a bucket each
)

// Bucket is a range of values that are counted together, both ends included, in nanoseconds.
type Bucket struct {
	Low, High int64
	Count     uint64
}

// index returns the bucket of a value in [0, Highest]: the formula of HdrHistogram's
// countsArrayIndex for 3 digits and a lowest value of 1, without its two-level detour.
func index(v uint64) uint {
	// The mask makes all values below 2048 have e = 0 without a branch; the &63 tells the compiler
	// that the shift needs no guard.
	e := uint(bits.Len64(v|subMask)-(halfBits+1)) & 63
	return e<<halfBits + uint(v>>e)
}

// Index returns the bucket number, 0 to Buckets-1, that counts the value ns. Values outside
// [0, Highest] are clamped to that range first.
func Index(ns int64) int {
	return int(index(uint64(min(max(ns, 0), Highest))))
}

// Range returns the lowest and the highest value, in nanoseconds, that bucket i counts: HDR's
// lowest and highest equivalent value. i is 0 to Buckets-1. The bucket of Highest reaches a
// little above it.
func Range(i int) (low, high int64) {
	if i <= subMask {
		return int64(i), int64(i)
	}
	e := uint(i>>halfBits) - 1
	low = (int64(i) - int64(e)<<halfBits) << e
	return low, low + 1<<e - 1
}

// middle returns HDR's median equivalent value of bucket i, which stands for the values of a
// bucket where only its count is known.
func middle(i int) uint64 {
	low, high := Range(i)
	return uint64(low + (high-low+1)>>1)
}
