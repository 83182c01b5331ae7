package workload

import (
	"math/rand/v2"

	"blkstorm/op"
	"blkstorm/unit"
)

// block is a size with the offsets that it can have at random: count multiples of align.
type block struct {
	size, align int64
	count       uint64
}

// sizer draws the size of the next I/O. Directions without sizes of their own share one.
type sizer struct {
	blocks []block // of a split
	deck   deck

	low, step   int64 // of a range
	steps       uint64
	align, room int64 // of all sizes, 0: each its own; and the length of the range
	drawn       block
}

func newSizer(s *Spec, o op.Op, length int64) *sizer {
	z := s.sizes(o)
	r := &sizer{low: z.low, step: z.step, steps: z.steps, align: s.BlockAlign, room: length}
	if z.steps == 1 {
		z.split, r.steps = Fixed(z.low), 0
	}
	var shares []unit.Percent
	for _, p := range z.split {
		r.blocks = append(r.blocks, r.fit(p.Bytes))
		shares = append(shares, p.Share)
	}
	r.deck = newDeck(shares)
	return r
}

// fit finds the offsets that a size can have.
func (z *sizer) fit(size int64) block {
	b := block{size: size, align: z.align}
	if b.align == 0 {
		b.align = size
	}
	if size <= z.room {
		b.count = uint64((z.room-size)/b.align) + 1
	}
	return b
}

func (z *sizer) next(rng *rand.PCG) *block {
	switch {
	case z.steps > 0:
		z.drawn = z.fit(z.low + int64(below(rng, z.steps))*z.step)
		return &z.drawn
	case len(z.blocks) == 1:
		return &z.blocks[0]
	}
	return &z.blocks[z.deck.draw(rng)]
}
