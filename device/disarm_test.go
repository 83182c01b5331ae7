package device

import (
	"bytes"
	"testing"

	"blkstorm/workload"
)

// What a run writes never looks like a header. Marks of up to four bytes, which chance could make, are
// ruled out where they lie: every byte there is of a range in which no mark has all of its bytes.
func TestWrittenDataCannotBeASignature(t *testing.T) {
	const size = 300 << 30
	data := workload.NewData(1, 0, size)
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
		workload.NewData(seed, 0, int64(len(image))).Fill(image, 0)
		found, err := ProbeSignatures(bytes.NewReader(image), int64(len(image)))
		if err != nil || len(found) > 0 {
			t.Fatalf("seed %d: %+v, %v", seed, found, err)
		}
	}
}
