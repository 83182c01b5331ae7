package workload

import (
	"math/bits"
	"math/rand/v2"

	"blkstorm/unit"
)

// deck deals classes in exact shares: of each total consecutive draws, each class gets just its
// number, in random order (selection sampling, Knuth 3.4.2 algorithm S: every order is equally
// likely).
type deck struct {
	full, rest  []uint64 // per class: of a new deck, and what is left of this one
	total, left uint64
}

// newDeck makes a deck of 100 when all shares are whole percents, else of 10 000.
func newDeck(shares []unit.Percent) deck {
	d := deck{full: make([]uint64, len(shares)), rest: make([]uint64, len(shares))}
	by := uint64(100)
	for _, s := range shares {
		if s%100 != 0 {
			by = 1
		}
	}
	for i, s := range shares {
		d.full[i] = uint64(s) / by
		d.total += d.full[i]
	}
	return d
}

// draw deals the next class.
func (d *deck) draw(rng *rand.PCG) int {
	if d.left == 0 {
		copy(d.rest, d.full)
		d.left = d.total
	}
	n := below(rng, d.left)
	d.left--
	for i := range d.rest {
		if n < d.rest[i] {
			d.rest[i]--
			return i
		}
		n -= d.rest[i]
	}
	return 0 // not reached: the classes sum to what is left
}

// below is uniform over [0, n) by multiplication (Lemire 2019, without the rejection step: for n
// blocks the bias is at most n/2^64, which 2^48 blocks bring to 1 in 65 536 of one part in 2^48).
func below(rng *rand.PCG, n uint64) uint64 {
	high, _ := bits.Mul64(rng.Uint64(), n)
	return high
}
