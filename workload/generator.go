package workload

import (
	"fmt"
	"math/rand/v2"

	"blkstorm/op"
	"blkstorm/unit"
)

// mixBlock is the number of consecutive I/Os within which the read share is exact.
const mixBlock = 100

// Request is the next I/O to issue.
type Request struct {
	Offset int64
	Length int64 // 0 of a sync
	Op     op.Op
	Flags  op.Flags
}

// How a generator finds offsets.
const (
	byChance  = iota // random with replacement
	byWalk           // sequential
	byBoth           // sequential, with random jumps
	byPassing        // every block once a pass
)

// Generator gives the I/Os of one thread, one after the other, without end. It is not safe for
// concurrent use.
type Generator struct {
	rng    rand.PCG
	start  int64 // byte offset of the range that this generator uses
	length int64
	mode   int
	blocks int64

	simple bool // uniform random offsets, one size per direction, nothing between

	mixed     bool   // reads and writes, by the numbers that follow
	only      op.Op  // else: the direction
	readPct   uint64 // reads in each block of 100
	blockLeft uint64 // I/Os left in the current block of 100
	readsLeft uint64 // reads among them

	pairs   bool // each block is trimmed and then written
	half    bool // one has been trimmed and not yet written:
	trimmed struct{ offset, length int64 }

	flags  [op.Count]op.Flags
	every  uint64 // writes after which a sync is due; 0: never
	writes uint64 // since the last one
	due    bool   // the next I/O is a sync

	sizers [op.Count]*sizer

	spreads [op.Count]*spread // nil: uniform
	cell    int64             // bytes of a cell of a spread
	snap    bool              // cells are smaller than some blocks: the block that covers the cell is meant

	// A sequential mix has a position per direction, as fio's rw=rw has: the reads alone are
	// sequential, and so are the writes.
	walks  [op.Count]walk
	jumps  [op.Count]*deck // class 0 is a random I/O
	passes coverage

	jumpEvery int           // I/Os after which one is random, instead of jumps; 0: jumps say
	sequence  [op.Count]int // of these, done
}

// NewGenerator makes the generator of thread number thread (from 0) of threads that share the range.
// The same seed and thread give the same I/Os. What the range cannot give is an error: fewer blocks
// than threads or streams, zones without a block.
func NewGenerator(s *Spec, r Range, seed uint64, thread, threads int) (*Generator, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	g := &Generator{start: r.Start, length: r.Length, blocks: r.Blocks}
	g.rng.Seed(seed, Mix(seed^uint64(thread)))
	g.layKinds(s)
	for i, o := range s.drawing() {
		if first := s.drawing()[0]; i > 0 && !s.apart() {
			g.sizers[o] = g.sizers[first] // one deck for all
			continue
		}
		g.sizers[o] = newSizer(s, o, r.Length)
	}
	switch {
	case s.Coverage:
		return g, g.cover(r, seed, thread, threads)
	case s.Random():
		g.mode = byChance
	case s.Sequential():
		g.mode = byWalk
	default:
		g.mode = byBoth
	}
	if g.mode != byChance {
		if err := g.layWalks(s, r, thread, threads); err != nil {
			return nil, err
		}
	}
	if g.mode != byWalk && !s.Distribution.IsZero() {
		return g, g.laySpread(s, seed)
	}
	g.simple = g.mode == byChance && !g.pairs && g.every == 0 && s.oneSizeEach()
	return g, nil
}

// layKinds says which directions come in which order, and with which flags.
func (g *Generator) layKinds(s *Spec) {
	g.mixed, g.pairs, g.only = s.Reads() && s.Writes(), s.Pairs(), s.drawing()[0]
	if g.mixed {
		g.readPct = uint64(s.ReadPct)
	}
	g.every = uint64(max(s.Fsync, s.Fdatasync))
	if s.JumpEvery > 1 {
		g.jumpEvery = s.JumpEvery
	}
	for _, o := range op.All {
		g.flags[o] = s.flags(o)
	}
}

func (g *Generator) cover(r Range, seed uint64, thread, threads int) error {
	if r.Blocks < int64(threads) {
		return fmt.Errorf("--coverage: the range of %d blocks has none for some of %d threads; lower --threads or --bs, or widen the range", r.Blocks, threads)
	}
	g.mode = byPassing
	g.passes = newCoverage(uint64(r.Blocks), seed, thread, threads)
	g.blocks = int64(g.passes.share())
	return nil
}

func (g *Generator) layWalks(s *Spec, r Range, thread, threads int) (err error) {
	pcts := map[int]*deck{}
	for _, o := range s.drawing() {
		if g.walks[o], err = newWalk(s, r, thread, threads, g.mode == byBoth); err != nil {
			return err
		}
		pct := s.randomPct(o)
		if pcts[pct] == nil || len(s.RandomPct) > 1 {
			d := newDeck([]unit.Percent{unit.Percent(pct) * 100, unit.Percent(100-pct) * 100})
			pcts[pct] = &d
		}
		g.jumps[o] = pcts[pct]
		g.blocks = g.walks[o].blocks(s.BlockSize)
	}
	return nil
}

func (g *Generator) laySpread(s *Spec, seed uint64) (err error) {
	g.cell = s.BlockAlign
	cells := uint64(0)
	if g.cell > 0 {
		cells = uint64((g.length-s.BlockSize)/g.cell) + 1
	} else {
		g.cell = s.MinBlock()
		g.snap = !s.OneSize()
		cells = uint64(g.length / g.cell)
	}
	var shared *spread
	for _, o := range s.drawing() {
		if shared == nil || s.Distribution.apart() {
			if shared, err = newSpread(&s.Distribution, o, cells, g.cell, seed); err != nil {
				return err
			}
		}
		g.spreads[o] = shared
	}
	return nil
}

// Blocks is the number of blocks that this generator uses: one pass of a sequential workload, or of
// one with full coverage.
func (g *Generator) Blocks() int64 { return g.blocks }

// Pass is the number of I/Os, syncs apart, in which a pass is done: one for each block, or two where
// each is trimmed and then written.
func (g *Generator) Pass() int64 {
	if g.pairs {
		return 2 * g.blocks
	}
	return g.blocks
}

// Next fills in the next I/O: a sync when one is due, else one of the direction whose turn it is.
func (g *Generator) Next(r *Request) {
	if g.simple { // what nearly every benchmark does, without a question more than it needs
		o := g.only
		if g.mixed {
			o = g.direction()
		}
		b := &g.sizers[o].blocks[0]
		r.Op, r.Flags, r.Length = o, g.flags[o], b.size
		r.Offset = g.start + int64(below(&g.rng, b.count))*b.align
		return
	}
	if g.due {
		g.sync(r)
		return
	}
	g.fill(r, g.direction())
}

// NextOf fills in the next I/O of a direction, a read, write or trim that the workload issues: for
// callers that choose the direction themselves. When a sync is due, that comes first, as with Next,
// and r.Op tells. In a shape of pairs, a write goes to the block that was trimmed last, or, when that
// is written already, to one of its own.
func (g *Generator) NextOf(r *Request, o op.Op) {
	if g.due {
		g.sync(r)
		return
	}
	g.fill(r, o)
}

func (g *Generator) sync(r *Request) {
	*r = Request{Op: op.Sync, Flags: g.flags[op.Sync]}
	g.due = false
}

func (g *Generator) fill(r *Request, o op.Op) {
	r.Op, r.Flags = o, g.flags[o]
	if g.pairs {
		g.pair(r, o)
	} else {
		g.draw(r, o)
	}
	if g.every > 0 && o == op.Write {
		if g.writes++; g.writes == g.every {
			g.writes, g.due = 0, true
		}
	}
}

// pair trims a new block, or writes the one that was trimmed, as fio's trimwrite does.
func (g *Generator) pair(r *Request, o op.Op) {
	if o == op.Write && g.half {
		r.Offset, r.Length = g.trimmed.offset, g.trimmed.length
		g.half = false
		return
	}
	g.draw(r, op.Trim)
	if o == op.Trim {
		g.trimmed.offset, g.trimmed.length = r.Offset, r.Length
		g.half = true
	}
}

// draw finds size and offset, by what holds for direction o.
func (g *Generator) draw(r *Request, o op.Op) {
	b := g.sizers[o].next(&g.rng)
	r.Length = b.size
	switch g.mode {
	case byChance:
		r.Offset = g.start + g.random(o, b)
	case byWalk:
		w := &g.walks[o]
		l := w.next()
		r.Length = w.fit(l, b.size)
		r.Offset = g.start + w.step(l, r.Length)
	case byPassing:
		r.Offset = g.start + int64(g.passes.next())*b.size
	default:
		r.Offset = g.start + g.jumpOrStep(o, b)
	}
}

// jumpOrStep: a random I/O is a jump, from which the stream goes on, as with fio's percentage_random
// and vdbench's seekpct.
func (g *Generator) jumpOrStep(o op.Op, b *block) int64 {
	w := &g.walks[o]
	l := w.next()
	if !g.jump(o) {
		return w.step(l, b.size)
	}
	at := g.random(o, b)
	w.jump(l, at, b.size)
	return at
}

// jump says whether the direction's next I/O is a random one.
func (g *Generator) jump(o op.Op) bool {
	if g.jumpEvery == 0 {
		return g.jumps[o].draw(&g.rng) == 0
	}
	n := &g.sequence[o]
	first := *n == 0
	if *n++; *n == g.jumpEvery {
		*n = 0
	}
	return first
}

// random is an offset within the range.
func (g *Generator) random(o op.Op, b *block) int64 {
	spread := g.spreads[o]
	if spread == nil {
		return int64(below(&g.rng, b.count)) * b.align
	}
	at := int64(spread.next(&g.rng)) * g.cell
	if g.snap {
		at -= at % b.align
		at = min(at, int64(b.count-1)*b.align) // the last whole one covers a rest at the range's end
	}
	return at
}

// direction is the one whose turn it is. That of a mix is drawn without replacement from a block of
// 100 I/Os that holds exactly readPct reads (selection sampling, as in deck).
func (g *Generator) direction() op.Op {
	if !g.mixed {
		if g.half {
			return op.Write
		}
		return g.only
	}
	if g.blockLeft == 0 {
		g.blockLeft, g.readsLeft = mixBlock, g.readPct
	}
	read := below(&g.rng, g.blockLeft) < g.readsLeft
	g.blockLeft--
	if read {
		g.readsLeft--
		return op.Read
	}
	return op.Write
}

// Mix spreads the bits of a seed, so that neighbouring numbers give unrelated streams (the finalizer
// of splitmix64: Steele, Lea, Flood 2014).
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
