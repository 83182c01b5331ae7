package workload

import (
	"math"
	"slices"
	"testing"
	"time"

	"blkstorm/unit"
)

// Every number of blocks is permuted without gaps or doubles, and back.
func TestPermutationIsABijection(t *testing.T) {
	for n := uint64(1); n < 300; n++ {
		p := newPermutation(n, n)
		seen := make([]bool, n)
		for i := range n {
			v := p.at(i)
			if v >= n || seen[v] {
				t.Fatalf("%d blocks: %d goes to %d", n, i, v)
			}
			if seen[v] = true; p.from(v) != i {
				t.Fatalf("%d blocks: %d comes from %d", n, v, p.from(v))
			}
		}
	}
	for _, n := range []uint64{1<<32 + 7, 1 << 48, 1<<48 - 1, 1 << 62} {
		p := newPermutation(n, 5)
		for i := range uint64(10_000) {
			place := i * (n / 10_000)
			if v := p.at(place); v >= n || p.from(v) != place {
				t.Fatalf("%d blocks: %d goes to %d", n, place, v)
			}
		}
	}
}

// Over the keys, each block comes first, and last, equally often: binomial, 5 sigma.
func TestPermutationKeysAreFair(t *testing.T) {
	for _, n := range []uint64{2, 3, 7, 16, 60} {
		const keys = 20_000
		first, last := make([]int, n), make([]int, n)
		for key := range uint64(keys) {
			p := newPermutation(n, key)
			first[p.at(0)]++
			last[p.at(n-1)]++
		}
		for v := range n {
			near(t, "first", first[v], keys, 1/float64(n))
			near(t, "last", last[v], keys, 1/float64(n))
		}
	}
}

// Full coverage, over all threads: each block once a pass, in another order each pass, and uniform in
// every slice of a pass: of the m draws of a sixteenth, each value of the low 6 bits has its share, and
// each sixteenth of the range has (hypergeometric: variance m*p*(1-p)*(n-m)/(n-1); 5 sigma).
func TestCoverage(t *testing.T) {
	for _, c := range []struct{ blocks, threads int }{{1, 1}, {2, 1}, {3, 2}, {100, 7}, {65_536, 1}, {65_521, 1}, {65_521, 16}, {65_536, 3}} {
		gens := make([]*Generator, c.threads)
		for i := range gens {
			gens[i] = gen(t, Spec{RW: "randwrite", BlockSize: 4096, Coverage: true}, int64(c.blocks)*4096, 9, i, c.threads)
		}
		var orders [3][]int64
		var r Request
		for pass := range orders {
			sum := int64(0)
			for turn := int64(0); sum < int64(c.blocks); turn++ {
				for _, g := range gens {
					if turn < g.Blocks() {
						g.Next(&r)
						orders[pass] = append(orders[pass], r.Offset/4096)
						sum++
					}
				}
			}
			seen := make([]bool, c.blocks)
			for _, block := range orders[pass] {
				if seen[block] {
					t.Fatalf("%+v, pass %d: block %d came twice", c, pass, block)
				}
				seen[block] = true
			}
			if c.blocks > 1000 {
				sliceUniform(t, orders[pass])
			}
		}
		if c.blocks < 100 {
			continue
		}
		for i := range orders {
			other := orders[(i+1)%3]
			same := 0
			for k, block := range orders[i] {
				if other[k] == block {
					same++
				}
			}
			if same > 10 { // Poisson with mean 1
				t.Errorf("%+v: %d blocks have the same place in two passes", c, same)
			}
		}
	}
}

func sliceUniform(t *testing.T, order []int64) {
	t.Helper()
	n := float64(len(order))
	for i := range 16 {
		slice := order[i*len(order)/16 : (i+1)*len(order)/16]
		var low [64]int
		var part [16]int
		for _, block := range slice {
			low[block%64]++
			part[int(block)*16/len(order)]++
		}
		m := float64(len(slice))
		check := func(what string, list []int) {
			p := 1 / float64(len(list))
			for v, got := range list {
				if dev := math.Abs(float64(got) - m*p); dev > 1+5*math.Sqrt(m*p*(1-p)*(n-m)/(n-1)) {
					t.Errorf("%g blocks, sixteenth %d of the pass: %s %d came %d times, want %.0f", n, i, what, v, got, m*p)
				}
			}
		}
		check("low bits", low[:])
		check("sixteenth", part[:])
	}
}

// 15 TiB with 16 threads: the start costs nothing, in time and in memory.
func TestCoverageStartsAtOnce(t *testing.T) {
	for _, size := range []int64{15 << 40, 1 << 60} {
		began := time.Now()
		per := testing.AllocsPerRun(1, func() {
			for i := range 16 {
				g := gen(t, Spec{RW: "randread", BlockSize: 4096, Coverage: true}, size, 1, i, 16)
				var r Request
				if g.Next(&r); r.Offset < 0 || r.Offset+r.Length > size {
					t.Errorf("%+v", r)
				}
			}
		})
		if took := time.Since(began); took > time.Second || per > 500 {
			t.Errorf("%s: %v and %.0f small allocations", unit.Size(size), took, per)
		}
	}
}

// Threads never meet within a pass, and with the same seed and another thread count the pass is the
// same set of places.
func TestCoverageSharesAreDisjoint(t *testing.T) {
	s := Spec{RW: "randread", BlockSize: 512, Coverage: true}
	var all []int64
	for i := range 5 {
		g := gen(t, s, 512*1003, 4, i, 5)
		var r Request
		for range g.Blocks() {
			g.Next(&r)
			all = append(all, r.Offset/512)
		}
	}
	slices.Sort(all)
	for i, block := range all {
		if int64(i) != block {
			t.Fatalf("block %d is missing or double", i)
		}
	}
	if _, err := NewGenerator(&s, Range{Blocks: 3, Length: 3 * 512}, 1, 0, 4); err == nil {
		t.Error("3 blocks for 4 threads: no error")
	}
}
