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
	zones [3]zone
}

// zone is a byte range of the target in which headers lie.
type zone struct{ start, end int64 }

// Where short magic numbers lie that random bytes could hit by chance: within the first 128 KiB, at
// 1 MiB (VMFS) and within the last 136 KiB (md 0.90 lies up to 128 KiB before the end, DRBD, DDF and
// a GPT's backup closer to it). Magics elsewhere have 8 bytes and more: chance does not make them.
const (
	headZone = 128 << 10
	vmfsZone = 1 << 20
	tailZone = 136 << 10
)

// NewData makes the data source of one thread for a target of size bytes.
func NewData(seed uint64, thread int, size int64) *Data {
	return &Data{
		state: Mix(Mix(seed) + uint64(thread)),
		zones: [3]zone{{0, headZone}, {vmfsZone, vmfsZone + 8<<10}, {size - tailZone, size}},
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

// disarm sets the top bit of every byte. Every magic number of the guard's table has a byte below
// 0x80, be it a letter or a digit (an MBR's 55 AA, ext's 53 EF), so none can appear.
func disarm(buf []byte) {
	for i := range buf {
		buf[i] |= 0x80
	}
}
