package histogram

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
)

// sameAsReference fails the test where the library reads s, and we read something else of it. What it
// refuses we may read: it refuses more of what concerns ranges.
func sameAsReference(t *testing.T, s string) {
	t.Helper()
	h, err := Decode(s)
	if err != nil {
		return
	}
	ref, refErr := hdr.Decode([]byte(s))
	if refErr != nil {
		return
	}
	if uint64(ref.TotalCount()) != h.Count() {
		t.Fatalf("%d values, the reference has %d", h.Count(), ref.TotalCount())
	}
	for i, c := range ref.Export().Counts {
		if i < topIndex && uint64(c) != at(h, i) {
			t.Fatalf("bucket %d has %d, the reference %d", i, at(h, i), c)
		}
	}
}

func at(h *Histogram, i int) uint64 {
	if h.counts == nil {
		return 0
	}
	return h.counts[i]
}

// A decoded histogram replaces what was there, and one that fails leaves nothing.
func TestDecodeInto(t *testing.T) {
	a, b := histogramOf(latencies(7, 1000)...), histogramOf(5, 2_000_000_000)
	codeA, err := a.Encode()
	if err != nil {
		t.Fatal(err)
	}
	codeB, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	h := New()
	for _, code := range []string{codeA, codeB, codeA} {
		if err := h.DecodeInto([]byte(code)); err != nil {
			t.Fatal(err)
		}
		want, err := Decode(code)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want.counts, h.counts); d != "" || h.moments != want.moments {
			t.Fatal("a histogram that was used before decodes to something else:", d)
		}
	}
	// 5 in bucket 3, then a run of empty buckets beyond the end.
	if err := h.DecodeInto(encoded(t, -3, 5, -maxIndexes)); err == nil {
		t.Fatal("a run of empty buckets beyond the end is read")
	}
	if d := cmp.Diff(make([]uint64, Buckets), h.counts); d != "" || h.moments != (moments{}) {
		t.Error("after an error the histogram holds something:", d)
	}
}

// encoded is an encoding of the numbers given.
func encoded(t *testing.T, numbers ...int64) []byte {
	t.Helper()
	var payload []byte
	for _, v := range numbers {
		u := uint64(v<<1) ^ uint64(v>>63)
		for n := 0; n < maxVarint-1 && u >= 0x80; n++ {
			payload = append(payload, byte(u)|0x80)
			u >>= 7
		}
		payload = append(payload, byte(u))
	}
	head := binary.BigEndian.AppendUint32(nil, cookiePlain|0x10)
	head = binary.BigEndian.AppendUint32(head, uint32(len(payload)))
	head = binary.BigEndian.AppendUint32(head, 0)
	head = binary.BigEndian.AppendUint32(head, Digits)
	head = binary.BigEndian.AppendUint64(head, Lowest)
	head = binary.BigEndian.AppendUint64(head, Highest)
	head = binary.BigEndian.AppendUint64(head, 0x3ff0000000000000) // 1.0
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	if _, err := w.Write(append(head, payload...)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out := binary.BigEndian.AppendUint32(nil, cookieCompressed|0x10)
	out = binary.BigEndian.AppendUint32(out, uint32(z.Len()))
	return []byte(base64.StdEncoding.EncodeToString(append(out, z.Bytes()...)))
}

func TestVarint(t *testing.T) {
	for _, v := range []int64{0, 1, -1, 63, 64, -64, -65, 1 << 20, -(1 << 40), 1<<53 - 1, 1<<62 + 5, 1<<63 - 1, -1 << 63} {
		u := uint64(v<<1) ^ uint64(v>>63)
		var b []byte
		for n := 0; n < maxVarint-1 && u >= 0x80; n++ {
			b = append(b, byte(u)|0x80)
			u >>= 7
		}
		b = append(b, byte(u))
		if got, n := varint(b); got != v || n != len(b) {
			t.Errorf("%d: read %d from %d of %d bytes", v, got, n, len(b))
		}
		if _, n := varint(b[:len(b)-1]); n != 0 {
			t.Errorf("%d: read from %d of its %d bytes", v, n, len(b))
		}
	}
}

func FuzzDecodeAsReference(f *testing.F) {
	for _, h := range []*Histogram{New(), histogramOf(0, 1, 2048, Highest), histogramOf(latencies(3, 500)...)} {
		code, err := h.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(code)
	}
	f.Fuzz(sameAsReference)
}

func BenchmarkDecode(b *testing.B) {
	code, err := histogramOf(device(100_000)...).Encode()
	if err != nil {
		b.Fatal(err)
	}
	text, h := []byte(code), New()
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := h.DecodeInto(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeReference(b *testing.B) {
	code, err := histogramOf(device(100_000)...).Encode()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := hdr.Decode([]byte(code)); err != nil {
			b.Fatal(err)
		}
	}
}
