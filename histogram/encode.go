package histogram

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// maxDecoded bounds the count of a histogram that comes from outside. No fleet reaches it (a
// billion I/Os per second for 100 days), and it leaves room to merge 2048 of them in 64 bits.
const maxDecoded = 1 << 53

var (
	// ErrEncoding is wrapped by every error of Decode.
	ErrEncoding = errors.New("not a usable HdrHistogram V2 encoding")
	// ErrRestore is wrapped by every error of Restore.
	ErrRestore = errors.New("the figures do not belong to this histogram")
)

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

// Decode reads what Encode wrote, or another tool with a lowest value of 1 and 3 digits; its
// range may differ, and values above Highest come in clamped. Buckets and count are exact. All
// else is then only known to the bucket: minimum and maximum are the outer ends of the first and
// the last bucket, mean and deviation come from bucket middles (under 0.1 % off). Restore puts
// the exact figures back where they are known.
func Decode(s string) (*Histogram, error) {
	if err := checkHeader(s); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	in, err := hdr.Decode([]byte(s))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	if in.TotalCount() > maxDecoded {
		return nil, fmt.Errorf("%w: a count of %d is no measurement", ErrEncoding, in.TotalCount())
	}
	h := New()
	first, last := -1, 0
	for i, c := range in.Export().Counts {
		if c == 0 {
			continue
		}
		h.grow()
		n := uint64(c)
		if low, _ := Range(i); low > Highest {
			i = Index(Highest)
			h.clamped += n
		}
		h.counts[i] += n
		h.addN(min(middle(i), Highest), n)
		if first < 0 {
			first = i
		}
		last = i
	}
	if h.count > 0 {
		low, _ := Range(first)
		_, high := Range(last)
		h.min, h.max = uint64(low), uint64(min(high, Highest))
	}
	return h, nil
}

// checkHeader refuses a foreign geometry before the library allocates for it: a header of a few
// bytes may declare 50 MiB of counts, and the strings of Decode come over a network.
func checkHeader(s string) error {
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return err
	}
	if len(raw) < 8 {
		return io.ErrUnexpectedEOF
	}
	z, err := zlib.NewReader(bytes.NewReader(raw[8:]))
	if err != nil {
		return err
	}
	// The header, big-endian: cookie, payload length, normalizing offset, digits (int32 each),
	// lowest, highest (int64), conversion ratio (float64).
	var head [40]byte
	if _, err := io.ReadFull(z, head[:]); err != nil {
		return err
	}
	digits := int32(binary.BigEndian.Uint32(head[12:]))
	lowest := int64(binary.BigEndian.Uint64(head[16:]))
	ratio := math.Float64frombits(binary.BigEndian.Uint64(head[32:]))
	if digits != Digits || lowest != Lowest || ratio != 1 {
		return fmt.Errorf("geometry has %d digits from %d with ratio %g, want %d digits from %d with ratio 1",
			digits, lowest, ratio, Digits, Lowest)
	}
	return nil
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
