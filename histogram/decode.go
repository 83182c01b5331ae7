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
	"sync"
)

// maxDecoded bounds the count of a histogram that comes from outside. No fleet reaches it (a
// billion I/Os per second for 100 days), and it leaves room to merge 2048 of them in 64 bits.
const maxDecoded = 1 << 53

// The V2 encoding, whose layout is described in HdrHistogram's Java sources (AbstractHistogram,
// encodeIntoByteBuffer). The second digit from the right of a cookie is the word size and no matter here.
const (
	cookieMask       = 0xffffff0f
	cookieCompressed = 0x1c849304
	cookiePlain      = 0x1c849303
	outerHeader      = 8  // cookie, length of what is compressed
	innerHeader      = 40 // see decodeHeader
	// maxIndexes is how many buckets an encoding can have: of the range up to 2^63-1.
	maxIndexes = (64 - halfBits) << halfBits
	maxVarint  = 9 // bytes of a count
)

// ErrEncoding is wrapped by every error of Decode and DecodeInto.
var ErrEncoding = errors.New("not a usable HdrHistogram V2 encoding")

// Decode reads what Encode wrote, or another tool with a lowest value of 1 and 3 digits; its
// range may differ, and values above Highest come in clamped. Buckets and count are exact. All
// else is then only known to the bucket: minimum and maximum are the outer ends of the first and
// the last bucket, mean and deviation come from bucket middles (under 0.1 % off). Restore puts
// the exact figures back where they are known.
func Decode(s string) (*Histogram, error) {
	h := New()
	if err := h.DecodeInto([]byte(s)); err != nil {
		return nil, err
	}
	return h, nil
}

// DecodeInto is Decode into h, whose own values go and whose memory stays; after an error it is
// empty. It takes memory of its own only the first time.
//
// hdrhistogram-go's decoder is not used: it makes a third of a MiB of counts each time, in its own form,
// and takes over twice the time.
func (h *Histogram) DecodeInto(code []byte) error {
	h.Reset()
	d := decoders.Get().(*decoder)
	defer decoders.Put(d)
	err := d.decode(h, code)
	if err != nil {
		h.wipe()
		return fmt.Errorf("%w: %w", ErrEncoding, err)
	}
	return nil
}

// wipe is Reset for a histogram whose minimum and maximum may not span its counts.
func (h *Histogram) wipe() {
	clear(h.counts)
	h.moments = moments{}
}

// decoder is what decoding needs beside the histogram.
type decoder struct {
	raw     []byte // the base64 taken off
	in      bytes.Reader
	z       io.ReadCloser // reads in; nil until it is needed
	payload []byte
}

var decoders = sync.Pool{New: func() any { return new(decoder) }}

func (d *decoder) decode(h *Histogram, code []byte) error {
	n := base64.StdEncoding.DecodedLen(len(code))
	if cap(d.raw) < n {
		d.raw = make([]byte, n)
	}
	n, err := base64.StdEncoding.Decode(d.raw[:n], code)
	if err != nil {
		return err
	}
	raw := d.raw[:n]
	if len(raw) < outerHeader {
		return io.ErrUnexpectedEOF
	}
	if c := binary.BigEndian.Uint32(raw) & cookieMask; c != cookieCompressed {
		return fmt.Errorf("cookie %#x is that of another encoding, want %#x", c, cookieCompressed)
	}
	length := int64(int32(binary.BigEndian.Uint32(raw[4:])))
	if raw = raw[outerHeader:]; length < 0 || length > int64(len(raw)) {
		return fmt.Errorf("%d compressed bytes are announced, %d are there", length, len(raw))
	}
	if err := d.inflate(raw[:length]); err != nil {
		return err
	}
	return h.take(d.payload)
}

// inflate reads the header, which must be of this package's geometry, and the counts into d.payload.
func (d *decoder) inflate(compressed []byte) error {
	d.in.Reset(compressed)
	var err error
	if d.z == nil {
		d.z, err = zlib.NewReader(&d.in)
	} else {
		err = d.z.(zlib.Resetter).Reset(&d.in, nil)
	}
	if err != nil {
		return err
	}
	var head [innerHeader]byte
	if _, err := io.ReadFull(d.z, head[:]); err != nil {
		return err
	}
	length, err := decodeHeader(&head)
	if err != nil {
		return err
	}
	if cap(d.payload) <= length {
		d.payload = make([]byte, length+1)
	}
	// One byte more is asked for: the end of the stream must be seen, whose checksum is tested then.
	d.payload = d.payload[:length+1]
	n, err := io.ReadFull(d.z, d.payload)
	if err == nil || n < length {
		return fmt.Errorf("%d bytes of counts are announced, and there are not as many", length)
	}
	if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	d.payload = d.payload[:length]
	return nil
}

// decodeHeader refuses another geometry, and returns how many bytes of counts follow. The header,
// big-endian: cookie, payload length, normalizing offset, digits (int32 each), lowest, highest (int64),
// conversion ratio (float64). The offset describes the writer's memory, not the payload; how far the
// range reaches changes no bucket.
func decodeHeader(head *[innerHeader]byte) (payload int, err error) {
	if c := binary.BigEndian.Uint32(head[:]) & cookieMask; c != cookiePlain {
		return 0, fmt.Errorf("inner cookie %#x is that of another encoding, want %#x", c, cookiePlain)
	}
	digits := int32(binary.BigEndian.Uint32(head[12:]))
	lowest := int64(binary.BigEndian.Uint64(head[16:]))
	ratio := math.Float64frombits(binary.BigEndian.Uint64(head[32:]))
	if digits != Digits || lowest != Lowest || ratio != 1 {
		return 0, fmt.Errorf("geometry has %d digits from %d with ratio %g, want %d digits from %d with ratio 1",
			digits, lowest, ratio, Digits, Lowest)
	}
	length := int32(binary.BigEndian.Uint32(head[4:]))
	if length < 0 || length > maxIndexes*maxVarint {
		return 0, fmt.Errorf("%d bytes of counts are announced, over what any range needs", length)
	}
	return int(length), nil
}

// take reads the counts into h, which is empty: numbers of at least 0 are those of one bucket after the
// other, -n stands for n empty ones.
func (h *Histogram) take(payload []byte) error {
	first, last := -1, 0
	for i := 0; len(payload) > 0; {
		v, n := varint(payload)
		if n == 0 {
			return io.ErrUnexpectedEOF
		}
		payload = payload[n:]
		if v < 0 {
			if v < -int64(maxIndexes-i) {
				return fmt.Errorf("%d empty buckets after bucket %d are more than there are", -v, i)
			}
			i += int(-v)
			continue
		}
		if i >= maxIndexes {
			return fmt.Errorf("over %d buckets", maxIndexes)
		}
		if v > 0 {
			if uint64(v) > maxDecoded-h.count {
				return fmt.Errorf("a count of over %d is no measurement", int64(maxDecoded))
			}
			h.grow()
			at := i
			if at > topIndex {
				at = topIndex
				h.clamped += uint64(v)
			}
			h.counts[at] += uint64(v)
			h.addN(min(middle(at), Highest), uint64(v))
			if first < 0 {
				first = at
			}
			last = at
		}
		i++
	}
	if h.count > 0 {
		low, _ := Range(first)
		_, high := Range(last)
		h.min, h.max = uint64(low), uint64(min(high, Highest))
	}
	return nil
}

// topIndex is the bucket of Highest.
var topIndex = Index(Highest)

// varint reads a number in HdrHistogram's form of ZigZag LEB128, whose ninth byte has eight bits. n is
// how many bytes it takes; 0: b ends before it does.
func varint(b []byte) (v int64, n int) {
	var u uint64
	for n < maxVarint-1 {
		if n >= len(b) {
			return 0, 0
		}
		c := b[n]
		u |= uint64(c&0x7f) << (7 * n)
		n++
		if c < 0x80 {
			return int64(u>>1) ^ -int64(u&1), n
		}
	}
	if n >= len(b) {
		return 0, 0
	}
	u |= uint64(b[n]) << (7 * n)
	return int64(u>>1) ^ -int64(u&1), n + 1
}
