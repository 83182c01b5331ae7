package workload

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// Data fills write buffers, by default with fresh random bytes: no compressor shortens them, and no
// two blocks are alike. Whatever it fills them with, no write leaves a valid partition table, boot
// sector or file-system header behind. One per thread; it is not safe for concurrent use.
type Data struct {
	kind  int
	state uint64
	zones []zone // none: nothing needs to be kept clear

	reduction          // compressible and duplicate data
	given     *content // a pattern or a file
	at        int      // where in a file the next write begins
}

// What Data fills buffers with.
const (
	withRandom = iota
	withReduced
	withZeros
	withPattern
	withFile
)

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

func randomZones(size int64) []zone {
	return []zone{
		{0, headZone}, {1 << 20, 1<<20 + vmfsZone}, {2 << 20, 2<<20 + vmfsZone},
		{18 << 20, 18<<20 + vmfsZone}, {19 << 20, 19<<20 + vmfsZone}, {size - tailZone, size},
	}
}

// A pattern or a file can hold whole headers, so all places count where one is looked for: up to the
// labels of ZFS and the second header of LUKS2 at 512 KiB, that of 4 MiB, the mirrors of btrfs at
// 64 MiB, 256 MiB and 256 GiB, the labels of bluestore at 1, 10, 100 and 1000 GiB, and the last 2 MiB
// (Promise firmware, the labels of ZFS, the copy of bcachefs).
const (
	headGiven = 528 << 10
	spotGiven = 8 << 10
	tailGiven = 2 << 20
)

func givenZones(size int64) []zone {
	list := []zone{{0, headGiven}, {size - tailGiven, size}}
	for _, at := range []int64{1 << 20, 2 << 20, 4 << 20, 18 << 20, 19 << 20, 64 << 20, 256 << 20, 1 << 30, 10 << 30, 100 << 30, 256 << 30, 1000 << 30} {
		list = append(list, zone{at, at + spotGiven})
	}
	return list
}

// NewData makes the data source of one thread for a target of size bytes. All threads of a run have
// the same run, from which duplicates come; seed and thread together are a thread's own. A file that
// is to be written is read here, once for all threads that are made while one of them lives.
func NewData(s *Spec, run, seed uint64, thread int, size int64) (*Data, error) {
	d := &Data{state: Mix(Mix(seed) + uint64(thread)), zones: randomZones(size)}
	switch s.Data.Content.Kind {
	case DataZero:
		d.kind, d.zones = withZeros, nil
	case DataPattern:
		d.kind, d.zones = withPattern, givenZones(size)
		d.given = newContent(s.Data.Content.Pattern)
	case DataFile:
		var err error
		if d.given, err = loadFile(s.Data.Content.File); err != nil {
			return nil, err
		}
		d.kind, d.zones = withFile, givenZones(size)
		d.at = d.given.start(d.state)
	default:
		if s.Data.reduces() {
			d.kind = withReduced
			d.reduction = newReduction(s, run, d.state)
		}
	}
	d.zones = slices.DeleteFunc(d.zones, func(z zone) bool { return z.start >= size })
	return d, nil
}

// Fill makes the content of a write of len(buf) bytes at offset. 4 KiB take about 200 ns.
func (d *Data) Fill(buf []byte, offset int64) {
	switch d.kind {
	case withRandom:
		d.state = fillRandom(buf, d.state)
	case withReduced:
		d.fillReduced(buf, offset)
	case withZeros:
		clear(buf)
	case withPattern:
		repeat(buf, d.given.bytes) // each buffer begins with it, as in fio
	case withFile:
		d.fillFile(buf)
	}
	for _, z := range d.zones {
		from, to := max(z.start-offset, 0), min(z.end-offset, int64(len(buf)))
		if from < to {
			disarm(buf[from:to])
		}
	}
}

// fillFile goes on in the file where the thread's last write ended.
func (d *Data) fillFile(buf []byte) {
	for len(buf) > 0 {
		n := copy(buf, d.given.bytes[d.at:])
		buf = buf[n:]
		if d.at += n; d.at == len(d.given.bytes) {
			d.at = 0
		}
	}
}

// repeat fills buf with copies of what.
func repeat(buf, what []byte) {
	for n := copy(buf, what); n < len(buf); {
		n += copy(buf[n:], buf[:n])
	}
}

// weyl is the step of the sequence that random data comes from; one step gives 16 bytes.
const weyl = 0xa0761d6478bd642f

// fillRandom writes two words per step from the two halves of one wide product of a Weyl sequence
// (the step of wyrand, by Wang Yi), which is three times as fast as a PCG. The second word turns the
// low half, whose lowest bits are weak, so that they meet strong ones.
func fillRandom(buf []byte, state uint64) uint64 {
	const factor = 0xe7037ed1a0b428db
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
