package workload

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"blkstorm/op"
)

// mixBlock is the number of consecutive I/Os within which the read share is exact.
const mixBlock = 100

// Request is the next I/O to issue.
type Request struct {
	Offset int64
	Length int64
	Op     op.Op
}

// Generator gives the I/Os of one thread, one after the other, without end. It is not safe for
// concurrent use.
type Generator struct {
	rng       rand.PCG
	start     int64 // byte offset of the range that this generator uses
	blocks    uint64
	blockSize int64
	random    bool

	readPct   uint64 // reads in each block of 100
	blockLeft uint64 // I/Os left in the current block of 100
	readsLeft uint64 // reads among them

	// A sequential mix has a position per direction, as fio's rw=rw has: the reads alone are
	// sequential, and so are the writes.
	next [op.Count]uint64
}

// NewGenerator makes the generator of thread number thread (from 0) of threads that share the range.
// The same seed and thread give the same I/Os. A sequential range with fewer blocks than threads is
// an error: some thread would have nothing to do.
func NewGenerator(s *Spec, r Range, seed uint64, thread, threads int) (*Generator, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if !s.Random() {
		if r.Blocks < int64(threads) {
			return nil, fmt.Errorf("sequential range of %d blocks cannot be cut into slices for %d threads; lower --threads or --bs, or widen the range", r.Blocks, threads)
		}
		r = r.Slice(s.BlockSize, thread, threads)
	}
	g := &Generator{
		start:     r.Start,
		blocks:    uint64(r.Blocks),
		blockSize: s.BlockSize,
		random:    s.Random(),
		readPct:   uint64(s.readPct()),
	}
	g.rng.Seed(seed, Mix(seed^uint64(thread)))
	return g, nil
}

// Blocks is the number of blocks that this generator uses: one pass of a sequential workload.
func (g *Generator) Blocks() int64 { return int64(g.blocks) }

// Next fills in the next I/O.
func (g *Generator) Next(r *Request) {
	r.Op = g.direction()
	r.Length = g.blockSize
	r.Offset = g.start + int64(g.block(r.Op))*g.blockSize
}

// direction draws without replacement from a block of 100 I/Os that holds exactly readPct reads
// (selection sampling, Knuth 3.4.2 algorithm S: each order of the block is equally likely).
func (g *Generator) direction() op.Op {
	switch g.readPct {
	case 100:
		return op.Read
	case 0:
		return op.Write
	}
	if g.blockLeft == 0 {
		g.blockLeft, g.readsLeft = mixBlock, g.readPct
	}
	read := g.below(g.blockLeft) < g.readsLeft
	g.blockLeft--
	if read {
		g.readsLeft--
		return op.Read
	}
	return op.Write
}

func (g *Generator) block(o op.Op) uint64 {
	if g.random {
		return g.below(g.blocks)
	}
	n := g.next[o]
	if g.next[o] = n + 1; g.next[o] == g.blocks {
		g.next[o] = 0
	}
	return n
}

// below is uniform over [0, n) by multiplication (Lemire 2019, without the rejection step: for n
// blocks the bias is at most n/2^64, which 2^48 blocks bring to 1 in 65 536 of one part in 2^48).
func (g *Generator) below(n uint64) uint64 {
	high, _ := bits.Mul64(g.rng.Uint64(), n)
	return high
}

// Mix spreads the bits of a seed, so that neighbouring numbers give unrelated streams (the finalizer
// of splitmix64: Steele, Lea, Flood 2014).
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
