package workload

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"math"
	"testing"
)

// An outside compressor finds nothing, neither within a write nor across many of them.
func TestDataIsIncompressible(t *testing.T) {
	d := dataOf(t, Spec{}, 42, 0, 1<<40)
	var all, packed bytes.Buffer
	buf := make([]byte, 4096)
	for i := range 512 {
		d.Fill(buf, int64(i+1000)*4096)
		all.Write(buf)
	}
	w, err := flate.NewWriter(&packed, flate.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(all.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if packed.Len() < all.Len() {
		t.Errorf("%d bytes compress to %d", all.Len(), packed.Len())
	}
}

// No two 512-byte pieces are alike, over writes, threads and odd lengths.
func TestDataHasNoDuplicates(t *testing.T) {
	seen := map[[512]byte]bool{}
	for thread := range 4 {
		d := dataOf(t, Spec{}, 42, thread, 1<<40)
		buf := make([]byte, 8192)
		for i := range 500 {
			d.Fill(buf, int64(i+1000)*8192)
			for at := 0; at < len(buf); at += 512 {
				piece := [512]byte(buf[at:])
				if seen[piece] {
					t.Fatalf("thread %d, write %d: a block came twice", thread, i)
				}
				seen[piece] = true
			}
		}
	}
}

// Every bit of the words is set in half of the draws: 5 sigma of a fair coin.
func TestDataBitsAreFair(t *testing.T) {
	d := dataOf(t, Spec{}, 1, 0, 1<<40)
	buf := make([]byte, 1<<20)
	d.Fill(buf, 1<<30)
	n := len(buf) / 8
	var ones [64]int
	for at := 0; at < len(buf); at += 8 {
		w := binary.LittleEndian.Uint64(buf[at:])
		for bit := range ones {
			ones[bit] += int(w >> bit & 1)
		}
	}
	for bit, got := range ones {
		if math.Abs(float64(got)-float64(n)/2) > 5*math.Sqrt(float64(n)/4) {
			t.Errorf("bit %d: set in %d of %d words", bit, got, n)
		}
	}
}

// Where headers lie, every byte is from 0x80 to 0xbf; elsewhere bytes are free.
func TestDataIsDisarmedWhereHeadersLie(t *testing.T) {
	const size = 1<<30 + 512
	d := dataOf(t, Spec{}, 9, 0, size)
	buf := make([]byte, 64<<10)
	for _, c := range []struct {
		offset   int64
		from, to int // part of buf that must be disarmed
	}{
		{0, 0, 64 << 10},
		{264<<10 - 512, 0, 512},
		{264 << 10, 0, 0},
		{1<<20 - 4096, 4096, 12 << 10},
		{512 << 20, 0, 0},
		{size - 64<<10, 0, 64 << 10},
		{size - tailZone - 512, 512, 64 << 10},
	} {
		d.Fill(buf, c.offset)
		low := 0
		for i, b := range buf {
			inside := i >= c.from && i < c.to
			if inside && (b < 0x80 || b > 0xbf) {
				t.Fatalf("offset %d: byte %d is %#x", c.offset, i, b)
			}
			if !inside && b < 0x80 {
				low++
			}
		}
		if outside := len(buf) - (c.to - c.from); outside > 0 && low < outside*4/10 {
			t.Errorf("offset %d: only %d of %d bytes outside the zone are below 0x80", c.offset, low, outside)
		}
	}
}

// dataOf is the data of thread number thread of a run whose seed is 42.
func dataOf(tb testing.TB, s Spec, seed uint64, thread int, size int64) *Data {
	tb.Helper()
	d, err := NewData(&s, 42, seed, thread, size)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}
