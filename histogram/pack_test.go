package histogram

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"io"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// inflate is what an encoding holds, with its outer header checked.
func inflate(t testing.TB, code string) []byte {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(code)
	if err != nil {
		t.Fatal(err)
	}
	if n := binary.BigEndian.Uint32(raw[4:]); int(n) != len(raw)-8 {
		t.Fatalf("the outer header says %d bytes, there are %d", n, len(raw)-8)
	}
	z, err := zlib.NewReader(bytes.NewReader(raw[8:]))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return append(raw[:4:4], plain...)
}

// What is compressed is, byte for byte, what the library's encoder compresses.
func FuzzEncodeEqualsReference(f *testing.F) {
	f.Add(int64(0), int64(1), int64(2), int64(1), int64(1))
	f.Add(int64(1), int64(3), int64(Highest), int64(63), int64(64))
	f.Add(int64(80_000), int64(80_001), int64(90_000), int64(8191), int64(8192))
	f.Add(int64(2047), int64(2048), int64(2050), int64(1)<<54, int64(1)<<61)
	f.Fuzz(func(t *testing.T, a, b, c, n, m int64) {
		ref, h := reference(), New()
		for _, v := range []struct{ value, times int64 }{{a, n}, {b, 1}, {c, m}, {a / 2, n}} {
			v.value, v.times = min(max(v.value, 0), Highest), v.times&(1<<61-1)
			if v.times == 0 {
				continue
			}
			if err := ref.RecordValues(v.value, v.times); err != nil {
				t.Fatal(err)
			}
			h.grow()
			h.counts[index(uint64(v.value))] += uint64(v.times)
			h.addN(uint64(v.value), uint64(v.times))
		}
		want, err := ref.Encode(hdr.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		got, err := h.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(inflate(t, got), inflate(t, string(want))) {
			t.Errorf("other bytes for %v", []int64{a, b, c, n, m})
		}
	})
}

// A packer that held a longer histogram before leaves nothing of it, and makes no garbage beyond the
// string and its base64.
func TestEncodeAgain(t *testing.T) {
	long, short := histogramOf(latencies(40, 20_000)...), histogramOf(7)
	want, err := short.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := long.Encode(); err != nil {
		t.Fatal(err)
	}
	if got, err := short.Encode(); err != nil || got != want {
		t.Errorf("after a long one %q, %v, want %q", got, err, want)
	}
	// The collector may empty the pool at any time: the best of some tries.
	best := 1e9
	for range 10 {
		best = min(best, testing.AllocsPerRun(10, func() { _, _ = long.Encode() }))
	}
	if best > 4 {
		t.Errorf("%v allocations per encoding", best)
	}
}
