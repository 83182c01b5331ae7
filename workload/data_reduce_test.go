package workload

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"blkstorm/lab"
)

// deflated is how long a deflate stream of b is.
func deflated(tb testing.TB, b []byte) int {
	tb.Helper()
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.DefaultCompression)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := w.Write(b); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return packed.Len()
}

// What is saved lies within 5 points of what was asked for, of whole writes and of each 4 KiB of them,
// and every sector is another one.
func TestCompressiblePerBlock(t *testing.T) {
	for _, pct := range []int{0, 20, 50, 80, 100} {
		for _, size := range []int{4 << 10, 8 << 10, 64 << 10, 1 << 20} {
			d := dataOf(t, Spec{BlockSize: int64(size), Data: DataSpec{CompressPct: pct}}, 7, 0, 1<<40)
			buf := make([]byte, size)
			sectors := map[[512]byte]bool{}
			for i := range 3 {
				d.Fill(buf, 1<<30+int64(i*size))
				for _, unit := range []int{4096, size} {
					for at := 0; at < len(buf) && at < 256<<10; at += unit {
						saved := 100 - 100*float64(deflated(t, buf[at:at+unit]))/float64(unit)
						if math.Abs(saved-float64(pct)) > 5 {
							t.Errorf("%d %% of %d: deflate saves %.1f %% of %d bytes at %d", pct, size, saved, unit, at)
						}
					}
				}
				for at := 0; at < len(buf); at += 512 {
					sector := [512]byte(buf[at:])
					if sectors[sector] {
						t.Fatalf("%d %% of %d: a sector came twice", pct, size)
					}
					sectors[sector] = true
				}
			}
		}
	}
}

// The compressors that storage uses, at the level it uses them and above.
func TestCompressibleByOutsideTools(t *testing.T) {
	for _, line := range []string{"lz4 -1", "lz4 -9", "zstd -1", "zstd -9", "gzip -6"} {
		args := strings.Fields(line + " -c")
		program := lab.Tool(t, args[0])
		t.Run(line, func(t *testing.T) {
			for _, pct := range []int{0, 20, 50, 80} {
				for _, size := range []int{4 << 10, 8 << 10, 64 << 10, 1 << 20} {
					d := dataOf(t, Spec{BlockSize: int64(size), Data: DataSpec{CompressPct: pct}}, 3, 1, 1<<40)
					buf := make([]byte, size)
					d.Fill(buf, 1<<30)
					path := filepath.Join(t.TempDir(), "block")
					if err := os.WriteFile(path, buf, 0o600); err != nil {
						t.Fatal(err)
					}
					packed, err := exec.Command(program, append(args[1:], path)...).Output()
					if err != nil {
						t.Fatal(err)
					}
					if saved := 100 - 100*float64(len(packed))/float64(size); math.Abs(saved-float64(pct)) > 5 {
						t.Errorf("%d %% of %d bytes: saves %.1f %%", pct, size, saved)
					}
				}
			}
		})
	}
}

// store is what lies on a target: the hash of each unit.
type store map[int64][32]byte

// put writes what all units of the bytes hold.
func (s store) put(buf []byte, offset int64, unit int) {
	for at := 0; at < len(buf); at += unit {
		s[offset+int64(at)] = sha256.Sum256(buf[at : at+unit])
	}
}

// unique is the share of contents among the units, in percent.
func unique(stores ...store) float64 {
	contents, units := map[[32]byte]bool{}, 0
	for _, s := range stores {
		units += len(s)
		for _, hash := range s {
			contents[hash] = true
		}
	}
	return 100 * float64(len(contents)) / float64(units)
}

// Threads and targets together: a block hash finds what was asked for, at all sizes of I/O and unit,
// also after everything has been overwritten at random. Whole units are dealt, so all that chance
// does is which contents of the pool come up; the rest, in the units that several writes fill, is a
// binomial: 5 sigma of it.
func TestDedupeSeenByABlockHash(t *testing.T) {
	const threads, targets, perThread = 3, 2, 10 << 20 // 15 360 units of 4 KiB
	for _, pct := range []int{1, 40, 90, 100} {
		for _, c := range []struct {
			size, unit int64
			whole      bool
		}{{64 << 10, 4096, true}, {4096, 4096, true}, {64 << 10, 8192, true}, {6144, 4096, false}, {2048, 4096, false}} {
			var stores []store
			s := Spec{RW: "write", BlockSize: c.size, Data: DataSpec{DedupePct: pct, DedupeUnit: c.unit}}
			for target := range targets {
				flat := make([]byte, threads*perThread/c.size*c.size)
				for thread := range threads {
					d := dataOf(t, s, uint64(target), thread, 1<<40)
					// Each thread writes the pieces of its own, which are neighbours of the others'.
					for at := int64(thread) * c.size; at+c.size <= int64(len(flat)); at += threads * c.size {
						d.Fill(flat[at:at+c.size], 1<<30+at)
					}
				}
				flat = flat[:int64(len(flat))/c.unit*c.unit]
				on := store{}
				on.put(flat, 0, int(c.unit))
				stores = append(stores, on)
			}
			units := float64(targets * len(stores[0]))
			p := float64(pct) / 100
			tolerance := 0.1 // a begun deck
			if !c.whole {
				tolerance = 100 * 5 * math.Sqrt(p*(1-p)/float64(len(stores[0]))) // places are alike on all targets
			}
			got, want := unique(stores...), 100-float64(pct)
			if got < want-tolerance || got > want+tolerance+100*poolSize/units {
				t.Errorf("%d %% in units of %d by writes of %d: %.3f %% are unique, want %.3f within %.3f", pct, c.unit, c.size, got, want, tolerance)
			}
		}
	}
}

// Blocks that are overwritten at random, hot ones more often, keep the share.
func TestDedupeOutlivesOverwriting(t *testing.T) {
	const blocks = 10000
	s := Spec{RW: "randwrite", BlockSize: 4096, Data: DataSpec{DedupePct: 50}, Distribution: distribution(t, "zipf:0.9")}
	d := dataOf(t, s, 1, 0, 1<<40)
	g := gen(t, s, blocks*4096, 1, 0, 1)
	on := store{}
	buf := make([]byte, 4096)
	for i := range int64(blocks) {
		d.Fill(buf, 1<<30+i*4096)
		on.put(buf, i*4096, 4096)
	}
	var r Request
	for range 5 * blocks {
		g.Next(&r)
		d.Fill(buf, 1<<30+r.Offset)
		on.put(buf, r.Offset, 4096)
	}
	// The state of the last write of each block is a fair coin: 5 sigma, and the pool.
	if got, limit := unique(on), 100*5*math.Sqrt(0.25/blocks); got < 50-limit || got > 50+limit+100*poolSize/blocks {
		t.Errorf("%.2f %% are unique after overwriting, want 50 within %.2f", got, limit)
	}
}

// So do units that some writes cover whole and others in part.
func TestDedupeOutlivesCutting(t *testing.T) {
	const size, blocks = 40 << 20, 40 << 20 / 4096
	for _, s := range []Spec{
		{RW: "randwrite", BlockSize: 16 << 10, BlockAlign: 512},
		{RW: "write", BlockSize: 16 << 10, Stride: 15 << 10},
		{RW: "randwrite", BlockSizeSplit: splits(t, "2k/50:16k/50"), BlockSize: 16 << 10},
	} {
		s.Data.DedupePct = 50
		flat := make([]byte, size)
		dataOf(t, s, 1, 0, 1<<40).Fill(flat, 1<<30)
		d, g := dataOf(t, s, 2, 1, 1<<40), gen(t, s, size, 1, 0, 1)
		var r Request
		for range 3 * size / (16 << 10) {
			g.Next(&r)
			d.Fill(flat[r.Offset:r.Offset+r.Length], 1<<30+r.Offset)
		}
		on := store{}
		on.put(flat, 0, 4096)
		if got, limit := unique(on), 100*5*math.Sqrt(0.25/blocks); got < 50-limit || got > 50+limit+100*poolSize/blocks {
			t.Errorf("%s: %.2f %% are unique, want 50 within %.2f", s.Label(), got, limit)
		}
	}
}

// Just the share of each 100 units of a thread is a duplicate, and nothing is written twice that is
// not meant to be, over passes, threads and targets.
func TestDedupeIsExact(t *testing.T) {
	pool := map[[32]byte]int{}
	all := map[[32]byte]int{}
	s := Spec{RW: "write", BlockSize: 4096, Data: DataSpec{DedupePct: 37}}
	buf := make([]byte, 4096)
	type source struct{ seed, thread int }
	decks := map[source][]int{}
	for _, from := range []source{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
		d := dataOf(t, s, uint64(from.seed), from.thread, 1<<40)
		for m := range uint64(poolSize) {
			d.compressible(buf, Mix(d.pool+m), 0)
			pool[sha256.Sum256(buf)]++
		}
		for i := range 2000 { // passes over 500 blocks
			d.Fill(buf, 1<<30+int64(i%500)*4096)
			hash := sha256.Sum256(buf)
			all[hash]++
			if i%100 == 0 {
				decks[from] = append(decks[from], 0)
			}
			if pool[hash] > 0 {
				decks[from][i/100]++
			}
		}
	}
	if len(pool) != poolSize {
		t.Errorf("the pool has %d contents over all threads, want %d", len(pool), poolSize)
	}
	for from, list := range decks {
		for i, n := range list {
			if n != 37 {
				t.Errorf("%+v: %d duplicates in hundred %d, want 37", from, n, i)
			}
		}
	}
	for hash, n := range all {
		if n > 1 && pool[hash] == 0 {
			t.Errorf("a content that is not of the pool came %d times", n)
		}
	}
	// Every member comes up alike often: 2960 draws over 128, chi-square with 127 degrees of freedom.
	chi, expect := 0.0, 2960./poolSize
	for hash := range pool {
		chi += (float64(all[hash]) - expect) * (float64(all[hash]) - expect) / expect
	}
	if limit := 127 + 5*math.Sqrt(2*127); chi > limit {
		t.Errorf("the members of the pool come up unevenly: chi-square %.1f, want below %.1f", chi, limit)
	}
}

// Both at once: the duplicates are compressible, too, and no unit is all zeros or all one byte.
func TestCompressibleDuplicates(t *testing.T) {
	d := dataOf(t, Spec{BlockSize: 64 << 10, Data: DataSpec{CompressPct: 50, DedupePct: 50}}, 5, 0, 1<<40)
	buf := make([]byte, 16<<20)
	d.Fill(buf, 1<<30)
	on := store{}
	on.put(buf, 0, 4096)
	if got := unique(on); math.Abs(got-50) > 0.1+100*poolSize/4096. {
		t.Errorf("%.2f %% are unique, want 50", got)
	}
	for at := 0; at < len(buf); at += 64 << 10 {
		unit := buf[at : at+4096]
		if saved := 100 - 100*float64(deflated(t, unit))/4096; math.Abs(saved-50) > 5 {
			t.Errorf("deflate saves %.1f %% of the unit at %d, want 50", saved, at)
		}
		if bytes.Count(unit, unit[:1]) > 1024 {
			t.Errorf("the unit at %d is %#x over and over", at, unit[0])
		}
	}
}

// However a content is cut into writes, also within its chunks, the pieces are the same bytes.
func TestDuplicatesDoNotDependOnTheCut(t *testing.T) {
	for _, pct := range []int{0, 50} {
		s := Spec{BlockSize: 1000, Data: DataSpec{CompressPct: pct, DedupePct: 100}}
		whole, cut := make([]byte, 1<<20), make([]byte, 1<<20)
		dataOf(t, s, 1, 0, 1<<40).Fill(whole, 1<<30)
		d := dataOf(t, s, 2, 5, 1<<40)
		for at, turn := 0, 0; at < len(cut); turn++ {
			n := min([]int{1, 31, 511, 512, 513, 1000, 4096, 9999}[turn%8], len(cut)-at)
			d.Fill(cut[at:at+n], 1<<30+int64(at))
			at += n
		}
		if !bytes.Equal(whole, cut) {
			t.Errorf("%d %%: cut differently, the content differs", pct)
		}
	}
	// The same when nothing is a duplicate: no byte is left as it was.
	d := dataOf(t, Spec{BlockSize: 1000, Data: DataSpec{CompressPct: 50}}, 2, 0, 1<<40)
	buf := make([]byte, 5003)
	d.Fill(buf, 1<<30+77)
	for at := 0; at+64 <= len(buf); at++ {
		if bytes.Count(buf[at:at+64], []byte{0}) > 16 {
			t.Fatalf("the bytes from %d on are %x", at, buf[at:at+64])
		}
	}
}

// dataSpecs are one of each kind.
func dataSpecs(tb testing.TB) map[string]DataSpec {
	path := filepath.Join(tb.TempDir(), "data")
	if err := os.WriteFile(path, bytes.Repeat([]byte("0123456789abcdef"), 10000), 0o600); err != nil {
		tb.Fatal(err)
	}
	list := map[string]DataSpec{
		"random": {}, "zero": {Content: Content{Kind: DataZero}},
		"pattern": {Content: Content{Kind: DataPattern, Pattern: []byte("\xde\xad\xbe\xef")}},
		"file":    {Content: Content{Kind: DataFile, File: path}},
		"dedupe":  {DedupePct: 40}, "both": {CompressPct: 50, DedupePct: 40}, "byte pattern": {Content: Content{Kind: DataPattern, Pattern: []byte("x")}},
	}
	for _, pct := range []int{20, 50, 80} {
		list[fmt.Sprintf("compress %d", pct)] = DataSpec{CompressPct: pct}
	}
	return list
}

func TestFillAllocatesNothing(t *testing.T) {
	for name, s := range dataSpecs(t) {
		d := dataOf(t, Spec{BlockSize: 4096, Data: s}, 1, 0, 1<<40)
		buf := make([]byte, 6000) // units and chunks that are cut
		if n := testing.AllocsPerRun(1000, func() { d.Fill(buf, 0); d.Fill(buf, 1<<30+100) }); n != 0 {
			t.Errorf("%s: %g allocations per write", name, n)
		}
	}
}

func BenchmarkFill4k(b *testing.B) {
	for name, s := range dataSpecs(b) {
		b.Run(name, func(b *testing.B) {
			d := dataOf(b, Spec{BlockSize: 4096, Data: s}, 1, 0, 1<<40)
			buf := make([]byte, 4096)
			b.SetBytes(4096)
			b.ReportAllocs()
			for b.Loop() {
				d.Fill(buf, 1<<30+8192)
			}
		})
	}
}
