package workload

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"blkstorm/op"
	"blkstorm/unit"
)

func gen(t testing.TB, s Spec, size int64, seed uint64, thread, threads int) *Generator {
	t.Helper()
	r, err := s.RangeOn(size)
	if err != nil {
		t.Fatal(err)
	}
	g, err := NewGenerator(&s, r, seed, thread, threads)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestMixIsExactInEveryBlockOf100(t *testing.T) {
	for _, pct := range []int{0, 1, 33, 50, 70, 99, 100} {
		for _, rw := range []string{"rw", "randrw"} {
			g := gen(t, Spec{RW: rw, BlockSize: 4096, ReadPct: pct}, 1<<30, 7, 0, 1)
			orders := map[string]bool{}
			for block := range 500 {
				var r Request
				reads, order := 0, make([]byte, 0, 100)
				for range 100 {
					g.Next(&r)
					if r.Op == op.Read {
						reads++
					}
					order = append(order, byte('0'+r.Op))
				}
				if reads != pct {
					t.Fatalf("%s read_pct %d: block %d has %d reads", rw, pct, block, reads)
				}
				orders[string(order)] = true
			}
			if mixed := pct > 1 && pct < 99; mixed && len(orders) != 500 {
				t.Errorf("%s read_pct %d: the order within a block repeats: %d orders in 500 blocks", rw, pct, len(orders))
			}
		}
	}
}

// The place of a single read within its block of 100 is uniform: each of 100 places gets n/100 of n
// blocks, standard deviation sqrt(n*0.01*0.99); 5 sigma.
func TestMixOrderIsUniform(t *testing.T) {
	g := gen(t, Spec{RW: "randrw", BlockSize: 4096, ReadPct: 1}, 1<<30, 11, 0, 1)
	const n = 20000
	var places [100]int
	var r Request
	for range n {
		for place := range 100 {
			if g.Next(&r); r.Op == op.Read {
				places[place]++
			}
		}
	}
	for place, got := range places {
		if dev := math.Abs(float64(got) - n/100.0); dev > 5*math.Sqrt(n*0.01*0.99) {
			t.Errorf("place %d: %d reads, want %d within 5 sigma", place, got, n/100)
		}
	}
}

// Random offsets are uniform with replacement: of m draws each sixteenth of the range gets m/16,
// standard deviation sqrt(m*1/16*15/16); 5 sigma. All stay on block borders inside the range.
func TestRandomOffsetsAreUniform(t *testing.T) {
	for _, c := range []struct {
		name string
		spec Spec
		size int64
	}{
		{"small", Spec{RW: "randread", BlockSize: 4096}, 4096 * 1000},
		{"2^31+7 blocks", Spec{RW: "randread", BlockSize: 512}, 512 * (1<<31 + 7)},
		{"2^32+7 blocks", Spec{RW: "randread", BlockSize: 4096}, 4096 * (1<<32 + 7)},
		{"2^34 blocks", Spec{RW: "randwrite", BlockSize: 4096}, 4096 << 34},
		{"part", Spec{RW: "randread", BlockSize: 8192, Offset: unit.Share{Bytes: 4096}, WorkingSet: unit.Share{Percent: 20}}, 1 << 40},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := c.spec.RangeOn(c.size)
			if err != nil {
				t.Fatal(err)
			}
			g := gen(t, c.spec, c.size, 3, 0, 1)
			const m = 1 << 20
			var parts [16]int
			var req Request
			for range m {
				g.Next(&req)
				if req.Offset < r.Start || req.Offset+req.Length > r.End() {
					t.Fatalf("offset %d length %d is outside %+v", req.Offset, req.Length, r)
				}
				n := req.Offset - r.Start
				if n%c.spec.BlockSize != 0 {
					t.Fatalf("offset %d is not on a block border", req.Offset)
				}
				parts[n/c.spec.BlockSize*16/r.Blocks]++
			}
			for i, got := range parts {
				if dev := math.Abs(float64(got) - m/16.0); dev > 5*math.Sqrt(m/16.0*15/16) {
					t.Errorf("sixteenth %d: %d of %d draws", i, got, m)
				}
			}
		})
	}
}

// Sequential slices are disjoint and together cover the range: each block exactly once a pass.
func TestSequentialSlicesCoverTheRangeOnce(t *testing.T) {
	for _, c := range []struct{ blocks, threads int64 }{{1, 1}, {100, 1}, {100, 3}, {101, 16}, {16, 16}, {1021, 160}} {
		spec := Spec{RW: "write", BlockSize: 4096, Offset: unit.Share{Bytes: 8192}, Size: unit.Share{Bytes: c.blocks * 4096}}
		seen := map[int64]int{}
		for thread := range c.threads {
			g := gen(t, spec, 1<<30, 1, int(thread), int(c.threads))
			var r Request
			last := int64(-1)
			for range g.Blocks() {
				g.Next(&r)
				if last >= 0 && r.Offset != last+4096 {
					t.Fatalf("%d blocks, thread %d of %d: %d follows %d", c.blocks, thread, c.threads, r.Offset, last)
				}
				last = r.Offset
				seen[r.Offset]++
			}
			first := last - (g.Blocks()-1)*4096
			if g.Next(&r); r.Offset != first {
				t.Fatalf("second pass of thread %d begins at %d, want %d", thread, r.Offset, first)
			}
		}
		if int64(len(seen)) != c.blocks {
			t.Fatalf("%d blocks, %d threads: %d blocks seen", c.blocks, c.threads, len(seen))
		}
		for offset, times := range seen {
			if times != 1 || offset < 8192 || offset >= 8192+c.blocks*4096 {
				t.Fatalf("offset %d issued %d times", offset, times)
			}
		}
	}
}

func TestSequentialMixKeepsAPositionPerDirection(t *testing.T) {
	g := gen(t, Spec{RW: "rw", BlockSize: 4096, ReadPct: 50}, 1<<20, 5, 0, 1)
	var next [op.Count]int64
	var r Request
	for range 10000 {
		g.Next(&r)
		if r.Offset != next[r.Op] {
			t.Fatalf("%s at %d, want %d", r.Op, r.Offset, next[r.Op])
		}
		next[r.Op] = (r.Offset + 4096) % (1 << 20)
	}
}

func TestSeeds(t *testing.T) {
	draw := func(seed uint64, thread int) [64]Request {
		g := gen(t, Spec{RW: "randrw", BlockSize: 4096, ReadPct: 50}, 1<<30, seed, thread, 4)
		var out [64]Request
		for i := range out {
			g.Next(&out[i])
		}
		return out
	}
	if first, again := draw(1, 0), draw(1, 0); first != again {
		t.Error("the same seed gives other I/Os")
	}
	if draw(1, 0) == draw(2, 0) || draw(1, 0) == draw(1, 1) {
		t.Error("another seed or thread gives the same I/Os")
	}
}

func TestRangeOn(t *testing.T) {
	share := func(s string) unit.Share {
		if s == "" {
			return unit.Share{}
		}
		v, err := unit.ParseShare(s)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, c := range []struct {
		bs                  int64
		offset, size, ws    string
		target, start, blks int64
		err                 string
	}{
		{4096, "", "", "", 1 << 20, 0, 256, ""},
		{4096, "", "", "", 1<<20 + 4095, 0, 256, ""},
		{8192, "4k", "", "", 1 << 20, 4096, 127, ""},
		{4096, "", "", "20%", 1 << 20, 0, 51, ""},
		{4096, "50%", "", "", 1 << 20, 1 << 19, 128, ""},
		{4096, "50%", "100%", "", 1 << 20, 1 << 19, 128, ""},
		{4096, "1m", "", "", 1 << 20, 0, 0, "target ends at 1m"},
		{4096, "512k", "768k", "", 1 << 20, 0, 0, "target ends at 1m"},
		{4096, "", "2m", "", 1 << 20, 0, 0, "target ends at 1m"},
		{4096, "", "512k", "1m", 1 << 20, 0, 0, "range has only 512k"},
		{4096, "", "", "", 2048, 0, 0, "range of 2k is smaller than one block of --bs 4k"},
		{4096, "", "", "", 1000, 0, 0, "range of 1000 bytes is smaller"},
		{4096, "", "", "1%", 4096 * 50, 0, 0, "smaller than one block"},
	} {
		s := Spec{RW: "randread", BlockSize: c.bs, Offset: share(c.offset), Size: share(c.size), WorkingSet: share(c.ws)}
		r, err := s.RangeOn(c.target)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%+v: error %v, want one with %q", c, err, c.err)
			}
			continue
		}
		if err != nil || r != (Range{c.start, c.blks, c.blks * c.bs}) {
			t.Errorf("%+v: got %+v, %v", c, r, err)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		err  string
	}{
		{Spec{RW: "randread", BlockSize: 4096}, ""},
		{Spec{RW: "trim", BlockSize: 4096}, ""},
		{Spec{RW: "erase", BlockSize: 4096}, `--rw "erase": known are read, write, rw`},
		{Spec{RW: "randread", BlockSize: 0}, "--bs 0"},
		{Spec{RW: "randread", BlockSize: 2 << 30}, "--bs 2g"},
		{Spec{RW: "randrw", BlockSize: 4096, ReadPct: 101}, "--read-pct 101"},
		{Spec{RW: "randrw", BlockSize: 4096, ReadPct: -1}, "--read-pct -1"},
		{Spec{RW: "read", BlockSize: 4096, Size: unit.Share{Bytes: 10000}}, "--size 10000 is not a multiple of --bs 4k"},
		{Spec{RW: "read", BlockSize: 4096, WorkingSet: unit.Share{Bytes: 10000}}, "--working-set 10000"},
	} {
		err := c.spec.Validate()
		if c.err == "" && err != nil || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%+v: error %v, want %q", c.spec, err, c.err)
		}
	}
	s := Spec{RW: "read", BlockSize: 4096}
	if _, err := NewGenerator(&s, Range{Blocks: 3, Length: 3 * 4096}, 1, 0, 4); err == nil {
		t.Error("3 sequential blocks for 4 threads: no error")
	}
}

func TestGeneratorAllocatesNothing(t *testing.T) {
	g := gen(t, Spec{RW: "randrw", BlockSize: 4096, ReadPct: 70}, 1<<40, 1, 0, 1)
	d := dataOf(t, Spec{}, 1, 0, 1<<40)
	buf := make([]byte, 4096)
	var r Request
	if n := testing.AllocsPerRun(1000, func() { g.Next(&r); d.Fill(buf, 0); d.Fill(buf, 1<<30) }); n != 0 {
		t.Errorf("%g allocations per I/O", n)
	}
}

func BenchmarkNext(b *testing.B) {
	for _, rw := range []string{"read", "randread", "randrw"} {
		b.Run(rw, func(b *testing.B) {
			s := Spec{RW: rw, BlockSize: 4096, ReadPct: 70}
			r, _ := s.RangeOn(1 << 40)
			g, err := NewGenerator(&s, r, 1, 0, 1)
			if err != nil {
				b.Fatal(err)
			}
			var req Request
			b.ReportAllocs()
			for b.Loop() {
				g.Next(&req)
			}
		})
	}
}

func formatFloat(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
