package workload

import (
	"math/bits"
	"math/rand/v2"

	"blkstorm/unit"
)

// chunk is the piece in which the compressible share holds: so small that every block that an array
// compresses by itself, of 4 KiB or larger, has it, and each sector keeps some bytes of its own.
const chunk = 512

// chunkStep is how far the Weyl sequence goes on with each chunk, whether or not all of it is random.
const chunkStep = chunk / 16 * weyl & (1<<64 - 1)

// minRandom is the least of a chunk that stays random, so that no two are alike at 100 %.
const minRandom = 8

// A run of repeated bytes costs a compressor some of what it saves: about this much.
const runCost = 4

// poolSize is how many contents all duplicates of a run share. What a block hash finds over n units
// is the unique ones and these: 128/n too many, 1.3 points at 10 000 units and less beyond. It is the
// same number however much is written, because a pool that grew would leave contents behind that were
// overwritten but once.
const poolSize = 128

// reduction makes data that can be compressed or deduplicated.
type reduction struct {
	random, drawn int         // bytes of a chunk that stay random, and that are drawn for it
	filler        [chunk]byte // the others
	scratch       [chunk]byte // for I/Os that cut chunks

	unit  int64  // of duplicates; 0: none
	whole bool   // I/Os are whole units, or cut them in the same places each time
	pct   uint64 // duplicates in 100
	pool  uint64
	deck  deck // class 0 is a duplicate
	rng   rand.PCG
}

func newReduction(s *Spec, run, seed uint64) reduction {
	r := reduction{random: chunk, drawn: chunk}
	if s.Data.CompressPct > 0 {
		r.random = max(chunk-chunk*s.Data.CompressPct/100-runCost, minRandom)
		r.drawn = (r.random + 31) / 32 * 32 // fillRandom is slow with the rest of 32 bytes
	}
	r.pool = Mix(run ^ 0x6475706c69636174)
	// Eight bytes over and over, of the range in which no header lies, and never zero.
	for i := range r.filler {
		r.filler[i] = byte(r.pool>>(i%8*8))&0x3f | 0x80
	}
	if s.Data.DedupePct == 0 {
		return r
	}
	r.pct = uint64(s.Data.DedupePct)
	if r.unit = s.Data.DedupeUnit; r.unit == 0 {
		r.unit = DedupeUnit
	}
	r.whole = true // else a unit may be written whole at one time, and in parts at another
	for _, n := range []int64{s.grain(), s.BlockAlign, s.Stride} {
		r.whole = r.whole && n%r.unit == 0
	}
	share := unit.Percent(s.Data.DedupePct) * 100
	r.deck = newDeck([]unit.Percent{share, unit.Whole - share})
	r.rng.Seed(seed, Mix(seed))
	return r
}

// fillReduced cuts the write into units and makes each either new or one of the pool's.
func (d *Data) fillReduced(buf []byte, offset int64) {
	if d.unit == 0 {
		d.fresh(buf, offset%chunk)
		return
	}
	for len(buf) > 0 {
		number, from := offset/d.unit, offset%d.unit
		piece := buf[:min(d.unit-from, int64(len(buf)))]
		if member, found := d.duplicate(uint64(number), int64(len(piece)) == d.unit); found {
			d.compressible(piece, Mix(d.pool+member), from)
		} else {
			d.fresh(piece, from)
		}
		buf, offset = buf[len(piece):], offset+int64(len(piece))
	}
}

// fresh fills buf, which begins at byte from of a unit, with what has not been written before.
func (d *Data) fresh(buf []byte, from int64) {
	from %= chunk
	d.compressible(buf, d.state, from)
	d.state += (uint64(from) + uint64(len(buf)) + chunk - 1) / chunk * chunkStep
}

// duplicate says whether a unit is a duplicate, and of which member of the pool. Units that are
// written whole are dealt from a deck: just the share in each 100 of a thread, and another member each
// time. One that several writes fill must be of one kind in all of them, whoever writes: that is
// decided by its place.
func (r *reduction) duplicate(number uint64, whole bool) (member uint64, found bool) {
	if r.whole && whole {
		return below(&r.rng, poolSize), r.deck.draw(&r.rng) == 0
	}
	hash := Mix(r.pool ^ Mix(number))
	high, _ := bits.Mul64(hash, 100)
	return Mix(hash) % poolSize, high < r.pct
}

// compressible fills buf with the bytes from position from on of the content that begins with state.
func (d *Data) compressible(buf []byte, state uint64, from int64) {
	state += uint64(from) / chunk * chunkStep
	if cut := int(from % chunk); cut > 0 {
		d.chunks(d.scratch[:], state)
		n := copy(buf, d.scratch[cut:])
		buf, state = buf[n:], state+chunkStep
	}
	end := len(buf) / chunk * chunk
	d.chunks(buf[:end], state)
	if buf = buf[end:]; len(buf) > 0 {
		d.chunks(d.scratch[:], state+uint64(end/chunk)*chunkStep)
		copy(buf, d.scratch[:])
	}
}

// chunks fills whole chunks.
func (r *reduction) chunks(buf []byte, state uint64) {
	if r.random == chunk {
		fillRandom(buf, state)
		return
	}
	for ; len(buf) > 0; buf = buf[chunk:] {
		fillRandom(buf[:r.drawn], state)
		copy(buf[r.random:chunk], r.filler[:])
		state += chunkStep
	}
}
