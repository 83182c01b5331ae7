package workload

import (
	"fmt"
	"strings"
	"testing"
)

// shapesOfLoad are specs that between them use every generator, on 1 TiB unless a name says otherwise.
func shapesOfLoad(tb testing.TB) map[string]Spec {
	many := strings.TrimSuffix(strings.Repeat("4k:", 30)+strings.Repeat("8k:", 34), ":")
	list := map[string]Spec{
		"sequential": {RW: "read"}, "stride": {RW: "read", Stride: 1 << 20, Backward: true}, "streams": {RW: "write", SeqStreams: 64},
		"uniform": {RW: "randread"}, "mix": {RW: "randrw"}, "coverage": {RW: "randwrite", Coverage: true},
		"random-pct":  {RW: "rw", RandomPct: Percents{25, 50}},
		"split":       {RW: "randrw", BlockSizeSplit: splits(tb, "4k/10:64k/50:32k/40")},
		"split of 64": {RW: "randread", BlockSizeSplit: splits(tb, many)},
		"range":       {RW: "randread", BlockSizeRange: SizeRanges{Read: SizeRange{4096, 65536}}},
		"trim":        {RW: "trim"}, "randtrim": {RW: "randtrim", TrimWith: WriteZeroes}, "trimwrite": {RW: "trimwrite"},
		"randtrimwrite": {RW: "randtrimwrite", Fsync: 8}, "fsync": {RW: "randrw", Fsync: 1},
		"zones per direction": {RW: "randrw", Distribution: distribution(tb, "zoned:60/10:40/90,10/10:90/90")},
		"all":                 {RW: "randrw", BlockSizeSplit: splits(tb, "4k/60:64k/40"), Distribution: distribution(tb, "zipf:1.2")},
	}
	for _, text := range []string{
		"zipf:0.01", "zipf:0.9", "zipf:1", "zipf:1.005", "zipf:1.2", "zipf:5", "pareto:0.2", "normal:10",
		"zipf:1.2:0.3", "pareto:0.2:0.3", "normal:10:0.3",
		"zoned:60/10:30/20:10/70", "hotband:90/10/1000",
	} {
		list[text] = Spec{RW: "randread", Distribution: distribution(tb, text)}
	}
	for name, s := range list {
		s.BlockSize, s.ReadPct = 4096, 70
		s.BlockSize = s.MaxBlock()
		list[name] = s
	}
	return list
}

// No generator allocates.
func TestGeneratorsAllocateNothing(t *testing.T) {
	for name, s := range shapesOfLoad(t) {
		g := gen(t, s, 4<<20, 1, 0, 1) // so small that passes end
		var r Request
		if n := testing.AllocsPerRun(1000, func() { g.Next(&r) }); n != 0 {
			t.Errorf("%s: %g allocations per I/O", name, n)
		}
		o := s.drawing()[0]
		if n := testing.AllocsPerRun(1000, func() { g.NextOf(&r, o) }); n != 0 {
			t.Errorf("%s: %g allocations per I/O of a direction", name, n)
		}
	}
}

// The bound is 60 ns per I/O for each of them, on a machine with nothing else to do.
func BenchmarkGenerators(b *testing.B) {
	for name, s := range shapesOfLoad(b) {
		b.Run(fmt.Sprint(name), func(b *testing.B) {
			g := gen(b, s, 1<<40, 1, 0, 1)
			var r Request
			b.ReportAllocs()
			for b.Loop() {
				g.Next(&r)
			}
		})
	}
}
