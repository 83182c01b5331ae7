package device

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"blkstorm/workload"
)

// dataOf is the data of a thread that writes to size bytes.
func dataOf(t *testing.T, s workload.DataSpec, seed uint64, size int64) *workload.Data {
	t.Helper()
	d, err := workload.NewData(&workload.Spec{RW: "write", BlockSize: 4096, Data: s}, seed, seed, 0, size)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// What a run writes never looks like a header. Marks of up to four bytes, which chance could make, are
// ruled out where they lie: every byte there is of a range in which no mark has all of its bytes.
func TestWrittenDataCannotBeASignature(t *testing.T) {
	const size = 300 << 30
	data := dataOf(t, workload.DataSpec{}, 1, size)
	buf := make([]byte, 4096)
	for _, m := range sigMagics {
		armed := false
		for _, b := range []byte(m.magic) {
			armed = armed || b < 0x80 || b > 0xbf
		}
		if !armed {
			t.Errorf("%s: all bytes of %x are of the range that is written where headers lie", m.name, m.magic)
		}
		if len(m.magic) > 5 {
			continue
		}
		for _, offset := range m.offsets {
			block := offset / 4096 * 4096
			data.Fill(buf, block)
			for i, b := range buf[offset-block:][:len(m.magic)] {
				if b < 0x80 || b > 0xbf {
					t.Errorf("%s: byte %d at %d is %#x: the place is not among those that are kept clear", m.name, i, offset, b)
				}
			}
		}
	}
}

// The probe's own answer, on small disks that are written over and over: never a signature.
func TestProbeFindsNothingInWrittenData(t *testing.T) {
	for seed := range uint64(200) {
		image := make([]byte, 1<<20+4096)
		dataOf(t, workload.DataSpec{}, seed, int64(len(image))).Fill(image, 0)
		found, err := ProbeSignatures(bytes.NewReader(image), int64(len(image)))
		if err != nil || len(found) > 0 {
			t.Fatalf("seed %d: %+v, %v", seed, found, err)
		}
	}
}

// The same with data that can be compressed and deduplicated.
func TestProbeFindsNothingInReducedData(t *testing.T) {
	for seed := range uint64(50) {
		image := make([]byte, 1<<20+4096)
		dataOf(t, workload.DataSpec{CompressPct: int(seed) * 2, DedupePct: 50}, seed, int64(len(image))).Fill(image, 0)
		found, err := ProbeSignatures(bytes.NewReader(image), int64(len(image)))
		if err != nil || len(found) > 0 {
			t.Fatalf("seed %d: %+v, %v", seed, found, err)
		}
	}
}

// bothWays are a pattern and a file that hold the bytes; either begins with them.
func bothWays(t *testing.T, bytes []byte) []workload.DataSpec {
	t.Helper()
	path := filepath.Join(t.TempDir(), "evil")
	if err := os.WriteFile(path, bytes, 0o600); err != nil {
		t.Fatal(err)
	}
	return []workload.DataSpec{
		{Content: workload.Content{Kind: workload.DataPattern, Pattern: bytes}},
		{Content: workload.Content{Kind: workload.DataFile, File: path}},
	}
}

// Every mark of the table, as a pattern and as a file, written right to its place: the probe would
// find it there, and does not.
func TestGivenDataCannotBeASignature(t *testing.T) {
	const size = 2000 * giB
	for i, m := range sigMagics {
		for j, offset := range m.offsets {
			t.Run(fmt.Sprintf("%s %d.%d", m.name, i, j), func(t *testing.T) {
				block := offset / 4096 * 4096
				evil := make([]byte, 8191) // of a file that has not two blocks of 4096, a thread begins at the start
				copy(evil[offset-block:], m.magic)
				for _, s := range bothWays(t, evil) {
					buf := make([]byte, len(evil))
					dataOf(t, s, 1, size).Fill(buf, block)
					if found, err := ProbeSignatures(&sparseDisk{t: t, size: size, parts: []patch{{block, buf}}}, size); err != nil || len(found) > 0 {
						t.Errorf("%s: found %v, %v", s.Content.Kind, found, err)
					}
				}
				found, err := ProbeSignatures(&sparseDisk{t: t, size: size, parts: []patch{{block, evil}}}, size)
				if err != nil || len(found) == 0 {
					t.Errorf("the test writes what is no mark: %v", err)
				}
			})
		}
	}
}

// An image of a whole disk that is full of headers, written to its own places, in writes of any size.
func TestImageOfADiskLeavesNoSignature(t *testing.T) {
	evil := make([]byte, 64<<10)
	for _, p := range []patch{
		{510, []byte("\x55\xaa")}, {450, []byte{0xee}}, {512, []byte("EFI PART")}, {4096, []byte("EFI PART")},
		{1024 + 56, []byte("\x53\xef")}, {9 * 512, stratis()}, {4096 + 24, []byte(bcacheMagic)},
		{32<<10 + 1, []byte("CD001")}, {16 << 10, zfsList()}, {64<<10 - 512, []byte("EFI PART")},
	} {
		copy(evil[p.off:], p.data)
	}
	if found, err := ProbeSignatures(bytes.NewReader(evil), int64(len(evil))); err != nil || len(found) < 6 {
		t.Fatalf("the image itself: %v, %v", found, err)
	}
	for _, size := range []int64{1 << 20, 8<<20 + 512, 10 << 20} {
		for _, s := range bothWays(t, evil) {
			for _, write := range []int{64 << 10, 4096, 512 << 10} {
				image := make([]byte, size)
				d := dataOf(t, s, 1, size)
				for at := int64(0); at < size; at += int64(write) {
					d.Fill(image[at:min(at+int64(write), size)], at)
				}
				if found, err := ProbeSignatures(bytes.NewReader(image), size); err != nil || len(found) > 0 {
					t.Errorf("%s, writes of %d to %d bytes: %v, %v", s.Content.Kind, write, size, found, err)
				}
			}
		}
	}
}

// The last 2 MiB hold marks at places that hang on the size: none of their bytes is as it was given.
func TestGivenDataIsKeptFromTheEnd(t *testing.T) {
	for _, size := range []int64{sigWhole, 64*miB + 3584, 100*miB + 777, 2000*giB + 512} {
		start := (size - sigTail) / sigBlock * sigBlock
		for _, s := range bothWays(t, []byte("A")) {
			buf := make([]byte, size-start)
			dataOf(t, s, 1, size).Fill(buf, start)
			if at := bytes.LastIndexByte(buf, 'A'); int64(at) >= size-sigTail-start {
				t.Errorf("%s on %d bytes: %d bytes before the end is what was given", s.Content.Kind, size, len(buf)-at)
			}
		}
	}
}
