package workload

import (
	"encoding/binary"
	"math/bits"
)

// Data fills write buffers with fresh random bytes: no compressor shortens them, no two blocks are
// alike, and no write ever leaves a valid partition table, boot sector or file-system header behind.
// One per thread; it is not safe for concurrent use.
type Data struct {
	state uint64
	zones [6]zone
}

// zone is a byte range of the target in which headers lie.
type zone struct{ start, end int64 }

// Where short magic numbers lie that random bytes could hit by chance: within the first 264 KiB (UFS
// looks at 256 KiB), at 1, 2, 18 and 19 MiB (VMFS), and within the last 136 KiB (md 0.90 lies up to
// 128 KiB before the end, the metadata of DRBD and of RAID firmware closer to it). Magics elsewhere
// have 6 bytes and more: chance does not make them. The guard's tests hold this to the guard's table.
const (
	headZone = 264 << 10
	vmfsZone = 8 << 10 // at each of the places
	tailZone = 136 << 10
)

// NewData makes the data source of one thread for a target of size bytes.
func NewData(seed uint64, thread int, size int64) *Data {
	return &Data{
		state: Mix(Mix(seed) + uint64(thread)),
		zones: [6]zone{
			{0, headZone}, {1 << 20, 1<<20 + vmfsZone}, {2 << 20, 2<<20 + vmfsZone},
			{18 << 20, 18<<20 + vmfsZone}, {19 << 20, 19<<20 + vmfsZone}, {size - tailZone, size},
		},
	}
}

// Fill makes the content of a write of len(buf) bytes at offset. 4 KiB take about 200 ns.
func (d *Data) Fill(buf []byte, offset int64) {
	d.state = fillRandom(buf, d.state)
	for _, z := range d.zones {
		from, to := max(z.start-offset, 0), min(z.end-offset, int64(len(buf)))
		if from < to {
			disarm(buf[from:to])
		}
	}
}

// fillRandom writes two words per step from the two halves of one wide product of a Weyl sequence
// (the step of wyrand, by Wang Yi), which is three times as fast as a PCG. The second word turns the
// low half, whose lowest bits are weak, so that they meet strong ones.
func fillRandom(buf []byte, state uint64) uint64 {
	const weyl, factor = 0xa0761d6478bd642f, 0xe7037ed1a0b428db
	for len(buf) >= 32 {
		high, low := bits.Mul64(state, state^factor)
		binary.LittleEndian.PutUint64(buf, high^low)
		binary.LittleEndian.PutUint64(buf[8:], high^bits.RotateLeft64(low, 32))
		state += weyl
		high, low = bits.Mul64(state, state^factor)
		binary.LittleEndian.PutUint64(buf[16:], high^low)
		binary.LittleEndian.PutUint64(buf[24:], high^bits.RotateLeft64(low, 32))
		state += weyl
		buf = buf[32:]
	}
	for i := range buf {
		state = Mix(state)
		buf[i] = byte(state)
	}
	return state
}

// disarm brings every byte into 0x80 to 0xbf. Every magic number has a byte outside: a letter or a
// small number (an MBR's 55 AA, ext's 53 EF), or one above (EBCDIC, erofs), so none can appear.
func disarm(buf []byte) {
	for i := range buf {
		buf[i] = buf[i]&0x3f | 0x80
	}
}
