package workload

import (
	"math"
	"math/bits"
)

// rounds of the Feistel network. Four make it a pseudo-random permutation (Luby, Rackoff 1988); two
// more cost 3 ns and leave no pattern in small domains, see the tests.
const rounds = 6

// permutation is a keyed bijection of [0, n), in no memory: the generalised Feistel cipher of Black
// and Rogaway ("Ciphers with Arbitrary Finite Domains", 2002). A number is cut into a digit below
// left and one below right, with left*right just over n; a result beyond n is encrypted again ("cycle
// walking") until it lies within, which happens about once in sqrt(n) draws.
type permutation struct {
	n, left, right uint64
	inverse        uint64 // 2^64/left, rounded down: dividing by it costs 10 ns less
	keys           [rounds][2]uint64
}

// newPermutation makes the permutation of n numbers, 1 to 2^62, that belongs to key.
func newPermutation(n, key uint64) permutation {
	left := uint64(math.Sqrt(float64(n)))
	for left*left < n {
		left++
	}
	p := permutation{n: n, left: left, right: (n + left - 1) / left, inverse: math.MaxUint64 / left}
	p.rekey(key)
	return p
}

// rekey makes it another permutation of the same numbers.
func (p *permutation) rekey(key uint64) {
	for i := range p.keys {
		key = Mix(key)
		p.keys[i][0] = key
		key = Mix(key)
		p.keys[i][1] = key | 1
	}
}

// at is where i goes.
func (p *permutation) at(i uint64) uint64 {
	for {
		high, _ := bits.Mul64(i, p.inverse) // i/left, or one less
		low := i - high*p.left
		if low >= p.left {
			high++
			low -= p.left
		}
		for r := 0; r < rounds; r += 2 {
			low = turn(low, high, p.left, &p.keys[r])
			high = turn(high, low, p.right, &p.keys[r+1])
		}
		if i = high*p.left + low; i < p.n {
			return i
		}
	}
}

// turn adds a keyed hash of other to digit, modulo base. The hash is a folded wide product, as in
// wyhash by Wang Yi.
func turn(digit, other, base uint64, key *[2]uint64) uint64 {
	high, low := bits.Mul64(other^key[0], key[1])
	hash, _ := bits.Mul64(high^low, base)
	if digit += hash; digit >= base {
		digit -= base
	}
	return digit
}

// coverage walks through a permutation: every block once a pass over all threads, each of which takes
// every step-th place of it; in another order each pass.
type coverage struct {
	order              permutation
	place, first, step uint64
	seed, pass         uint64
}

func newCoverage(n, seed uint64, thread, threads int) coverage {
	c := coverage{order: newPermutation(n, 0), place: uint64(thread), first: uint64(thread), step: uint64(threads), seed: seed}
	c.order.rekey(c.key())
	return c
}

// key of a pass; threads that share a seed walk through the same permutation.
func (c *coverage) key() uint64 { return Mix(c.seed^0x636f766572616765) + Mix(c.pass) }

func (c *coverage) next() uint64 {
	if c.place >= c.order.n {
		c.pass++
		c.order.rekey(c.key())
		c.place = c.first
	}
	block := c.order.at(c.place)
	c.place += c.step
	return block
}

// share is how many blocks this thread has in a pass.
func (c *coverage) share() uint64 { return (c.order.n - c.first + c.step - 1) / c.step }
