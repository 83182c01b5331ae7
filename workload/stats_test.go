package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"blkstorm/op"
	"blkstorm/unit"
)

// The statistics suite. Every tolerance is five standard deviations of the theory that stands beside
// it: a sound generator fails one check in 1.7 million. Seeds are fixed, so a pass stays a pass.

// near checks that got of draws fell where each falls with probability p: binomial, 5 sigma; where
// fewer than a hundred are expected (or all but a hundred), three more, since the tail of such a small
// count is longer than that of a bell.
func near(t *testing.T, what string, got, draws int, p float64) {
	t.Helper()
	want := float64(draws) * p
	tol := 5*math.Sqrt(want*(1-p)) + 1e-6
	if min(want, float64(draws)-want) < 100 {
		tol += 3
	}
	if math.Abs(float64(got)-want) > tol {
		t.Errorf("%s: %d of %d draws (%.4f %%), want %.4f %% +- %.4f", what, got, draws,
			100*float64(got)/float64(draws), 100*p, 100*tol/float64(draws))
	}
}

func distribution(t testing.TB, text string) Distribution {
	t.Helper()
	d, err := ParseDistribution(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// zeta gives the sums of k^-theta for k up to n: term by term up to 100 000, from there on the integral
// between the middles, whose error is below theta/24*m^(-theta-1).
func zeta(theta float64) func(n float64) float64 {
	const m = 100_000
	sums := make([]float64, m+1)
	for k := 1; k <= m; k++ {
		sums[k] = sums[k-1] + math.Pow(float64(k), -theta)
	}
	return func(n float64) float64 {
		switch {
		case n <= m:
			return sums[int(n)]
		case theta == 1:
			return sums[m] + math.Log((n+0.5)/(m+0.5))
		}
		return sums[m] + (math.Pow(n+0.5, 1-theta)-math.Pow(m+0.5, 1-theta))/(1-theta)
	}
}

// The figures of the field's usual example, seen in the offsets of the generator: zipf:1.2 on a million
// blocks, ten million draws: the hottest block 18.95 %, the hottest ten thousand 90.96 %, each within
// 0.1 (5 sigma are 0.06 and 0.05); and the hot blocks are not at the range's start.
func TestZipfOnAMillionBlocks(t *testing.T) {
	const blocks, draws = 1_000_000, 10_000_000
	g := gen(t, Spec{RW: "randread", BlockSize: 4096, Distribution: distribution(t, "zipf:1.2")}, blocks*4096, 42, 0, 1)
	counts := make([]int32, blocks)
	var r Request
	for range draws {
		g.Next(&r)
		counts[r.Offset/4096]++
	}
	hottest, atStart := 0, 0
	for rank := range uint64(10_000) {
		hottest += int(counts[g.spreads[op.Read].order.at(rank)])
	}
	for _, n := range counts[:blocks/16] {
		atStart += int(n)
	}
	sorted := slices.Clone(counts)
	slices.Sort(sorted)
	first := float64(sorted[blocks-1]) / draws * 100
	many := float64(hottest) / draws * 100
	t.Logf("hottest block %.3f %%, hottest 10 000 %.3f %%; first sixteenth of the range %.1f %%", first, many, float64(atStart)/draws*100)
	if math.Abs(first-18.95) > 0.1 || math.Abs(many-90.96) > 0.1 {
		t.Errorf("hottest block %.3f %%, hottest 10 000 %.3f %%", first, many)
	}
	sum := zeta(1.2)
	near(t, "hottest", int(sorted[blocks-1]), draws, 1/sum(blocks))
	near(t, "hottest 10 000", hottest, draws, sum(10_000)/sum(blocks))
}

// Every theta, 1 among them, on every number of blocks up to 2^48.
func TestZipfFollowsItsDefinition(t *testing.T) {
	const draws = 100_000
	for _, theta := range []float64{0.01, 0.1, 0.5, 0.99, 0.9999999, 1, 1.0001, 1.009, 1.2, 2, 5} {
		sum := zeta(theta)
		for _, n := range []uint64{1, 2, 3, 1000, 1<<31 + 7, 1 << 48} {
			var rng rand.PCG
			rng.Seed(n, math.Float64bits(theta))
			z := newZipf(n, theta)
			borders := []float64{1, 2, 3, 10, 100, 1000, 1e5, 1e7, 1 << 30, 1 << 40, 1 << 47}
			counts := make([]int, len(borders))
			for range draws {
				rank := z.draw(&rng)
				if rank >= n {
					t.Fatalf("theta %g: rank %d of %d", theta, rank, n)
				}
				for i, b := range borders {
					if float64(rank) < b {
						counts[i]++
					}
				}
			}
			for i, b := range borders {
				if b <= float64(n) {
					near(t, unit.Size(int64(n))+" blocks, theta "+formatFloat(theta)+", up to rank "+formatFloat(b), counts[i], draws, min(sum(b)/sum(float64(n)), 1))
				}
			}
		}
	}
}

// pareto:h gives 1-h of the draws to h of the blocks, and (k/n)^(1/power) to the first k.
func TestPareto(t *testing.T) {
	const draws = 200_000
	for _, h := range []float64{0.01, 0.2, 0.5, 0.9, 0.99} {
		for _, n := range []uint64{7, 1000, 1 << 48} {
			s, rng := newTestSpread(t, "pareto:"+formatFloat(h), n)
			ranks := ranksOf(s, rng, draws)
			power := math.Log(h) / math.Log(1-h)
			for _, part := range []float64{0.01, 0.1, h, 0.5} {
				k := math.Floor(part * float64(n))
				near(t, "pareto", below64(ranks, uint64(k)), draws, math.Pow(k/float64(n), 1/power))
			}
		}
	}
}

// normal:s has its mean in the middle and a deviation of s % of the range, cut at its ends.
func TestNormal(t *testing.T) {
	const draws = 200_000
	for _, sigma := range []float64{1, 10, 30, 100} {
		s, rng := newTestSpread(t, "normal:"+formatFloat(sigma), 1<<40)
		ranks := ranksOf(s, rng, draws)
		cdf := func(x float64) float64 { return 0.5 * math.Erfc(-(x-0.5)/(sigma/100)/math.Sqrt2) }
		for _, x := range []float64{0.3, 0.45, 0.5, 0.51, 0.8} {
			near(t, "normal", below64(ranks, uint64(x*(1<<40))), draws, (cdf(x)-cdf(0))/(cdf(1)-cdf(0)))
		}
	}
}

// With a centre the hot blocks lie together: of the zipf and pareto ranks up to 2d, the draws fall within
// d cells of it, round the range's ends; and a bell has its middle there.
func TestCentre(t *testing.T) {
	const n, draws = 10_000, 200_000
	for _, centre := range []string{"0", "0.25", "0.99", "1"} {
		var at float64
		if _, err := fmt.Sscan(centre, &at); err != nil {
			t.Fatal(err)
		}
		middle := min(int64(at*n), n-1)
		distance := func(cell int64) int64 {
			d := (cell - middle + n) % n
			return min(d, n-d)
		}
		zeta := zeta(1.2)
		cdf := func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
		for text, within := range map[string]func(d float64) float64{
			"zipf:1.2":   func(d float64) float64 { return zeta(2*d+1) / zeta(n) },
			"pareto:0.2": func(d float64) float64 { return math.Pow((2*d+1)/n, math.Log(0.8)/math.Log(0.2)) },
			// Numbers from middle-d to middle+d; the curve is continuous, so up to the end of the last.
			"normal:5": func(d float64) float64 { return cdf((d+1)/(0.05*n)) - cdf(-d/(0.05*n)) },
		} {
			s, rng := newTestSpread(t, text+":"+centre, n)
			counts := map[int64]int{}
			for range draws {
				cell := s.next(rng)
				if cell >= n {
					t.Fatalf("%s:%s: cell %d of %d", text, centre, cell, n)
				}
				counts[distance(int64(cell))]++
			}
			sum := 0
			for d := range int64(n) {
				sum += counts[d]
				if d == 0 || d == 1 || d == 10 || d == 500 || d == 2000 {
					near(t, fmt.Sprintf("%s:%s within %d", text, centre, d), sum, draws, within(float64(d)))
				}
			}
		}
		// No two ranks share a cell.
		for _, text := range []string{"zipf:1", "normal:10"} {
			for _, n := range []uint64{1, 2, 3, 1000, 1001} {
				s, _ := newTestSpread(t, text+":"+centre, n)
				seen := map[uint64]bool{}
				for rank := range n {
					seen[s.around(rank)] = true
				}
				if len(seen) != int(n) {
					t.Errorf("%s:%s: %d cells of %d ranks", text, centre, len(seen), n)
				}
			}
		}
	}
}

// newTestSpread lays out ranks without scattering them.
func newTestSpread(t *testing.T, text string, n uint64) (*spread, *rand.PCG) {
	d := distribution(t, text)
	s, err := newSpread(&d, op.Read, n, 4096, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s, rand.NewPCG(n, 7)
}

// ranksOf draws cells and undoes the scattering, by the inverse of the permutation.
func ranksOf(s *spread, rng *rand.PCG, draws int) []uint64 {
	ranks := make([]uint64, draws)
	for i := range ranks {
		ranks[i] = s.order.from(s.next(rng))
	}
	return ranks
}

// from is where v came from.
func (p *permutation) from(v uint64) uint64 {
	for {
		high, low := v/p.left, v%p.left
		for r := rounds - 2; r >= 0; r -= 2 {
			high = turnBack(high, low, p.right, &p.keys[r+1])
			low = turnBack(low, high, p.left, &p.keys[r])
		}
		if v = high*p.left + low; v < p.n {
			return v
		}
	}
}

func turnBack(digit, other, base uint64, key *[2]uint64) uint64 {
	return (digit + base - turn(0, other, base, key)) % base
}

func below64(list []uint64, border uint64) (n int) {
	for _, v := range list {
		if v < border {
			n++
		}
	}
	return n
}

// Zones get their shares exactly in each 100 I/Os, and are uniform within.
func TestZones(t *testing.T) {
	const blocks = 10_007
	for text, borders := range map[string][]int64{
		"zoned:60/10:30/20:10/70":       {0, 1000, 3002, blocks},
		"zoned:60/10:30/20:/":           {0, 1000, 3002, blocks},
		"zoned:90/10:0/50:10/40":        {0, 1000, 6004, blocks},
		"zoned_abs:60/4m:30/8m:10/":     {0, 1024, 3072, blocks},
		"zoned_abs:60/4m:30/8m:10/8m":   {0, 1024, 3072, 5120},
		"zoned:33.33/10:33.33/20:/70":   {0, 1000, 3002, blocks},
		"zoned_abs:5.5/4k:4.5/4k:90/4k": {0, 1, 2, 3},
	} {
		d := distribution(t, text)
		g := gen(t, Spec{RW: "randrw", BlockSize: 4096, ReadPct: 50, Distribution: d}, blocks*4096, 3, 0, 1)
		deck := g.spreads[op.Read].deck.total
		halves := make([]int, len(d.Zones))
		const rounds = 20
		for range rounds {
			seen := make([]uint64, len(d.Zones))
			var r Request
			for range deck {
				g.Next(&r)
				zone := slices.IndexFunc(borders[1:], func(end int64) bool { return r.Offset/4096 < end })
				seen[zone]++
				if 2*(r.Offset/4096-borders[zone]) < borders[zone+1]-borders[zone] {
					halves[zone]++
				}
			}
			if !slices.Equal(seen, g.spreads[op.Read].deck.full) {
				t.Fatalf("%s: %v of %d, want %v", text, seen, deck, g.spreads[op.Read].deck.full)
			}
		}
		for i, n := range halves {
			length := borders[i+1] - borders[i]
			near(t, text, n, rounds*int(g.spreads[op.Read].deck.full[i]), float64((length+1)/2)/float64(length))
		}
	}
}

// The band gets its share exactly in each 100 I/Os, and moves on by its width, round the range.
func TestHotBandMoves(t *testing.T) {
	const blocks, width, every = 1000, 150, 500
	g := gen(t, Spec{RW: "randread", BlockSize: 4096, Distribution: distribution(t, "hotband:90/15/500")}, blocks*4096, 3, 0, 1)
	for move := range int64(40) {
		start := move * width % blocks
		for range every / 100 {
			inside := 0
			var r Request
			for range 100 {
				g.Next(&r)
				if (r.Offset/4096-start+blocks)%blocks < width {
					inside++
				}
			}
			if inside != 90 {
				t.Fatalf("after %d moves: %d of 100 in the band", move, inside)
			}
		}
	}
}
