package workload

import (
	"slices"
	"strings"
	"testing"

	"blkstorm/op"
	"blkstorm/unit"
)

// offsets draws n I/Os and returns where they begin, in blocks of 4k.
func offsets(g *Generator, n int) []int64 {
	list := make([]int64, n)
	var r Request
	for i := range list {
		g.Next(&r)
		list[i] = r.Offset / 4096
	}
	return list
}

func TestWalks(t *testing.T) {
	for name, c := range map[string]struct {
		spec            Spec
		thread, threads int
		want            []int64 // on 10 blocks
	}{
		"backward":          {Spec{Backward: true}, 0, 1, []int64{9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 9, 8}},
		"stride":            {Spec{Stride: 3 * 4096}, 0, 1, []int64{0, 3, 6, 9, 0, 3}},
		"stride backward":   {Spec{Stride: 4 * 4096, Backward: true}, 0, 1, []int64{9, 5, 1, 9, 5}},
		"streams":           {Spec{SeqStreams: 2}, 0, 1, []int64{0, 5, 1, 6, 2, 7, 3, 8, 4, 9, 0, 5}},
		"uneven streams":    {Spec{SeqStreams: 3}, 0, 1, []int64{0, 3, 6, 1, 4, 7, 2, 5, 8, 0, 3, 9, 1}},
		"streams, thread 1": {Spec{SeqStreams: 4}, 1, 2, []int64{5, 7, 6, 8, 5, 9, 6, 7}},
		"streams backward":  {Spec{SeqStreams: 2, Backward: true}, 0, 1, []int64{4, 9, 3, 8}},
		"thread, backward":  {Spec{Backward: true}, 1, 2, []int64{9, 8, 7, 6, 5, 9}},
		"no random":         {Spec{RandomPct: Percents{0}}, 0, 1, []int64{0, 1, 2}},
	} {
		c.spec.RW, c.spec.BlockSize = "read", 4096
		if got := offsets(gen(t, c.spec, 10*4096, 1, c.thread, c.threads), len(c.want)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Sequential I/Os of several sizes touch, and never pass the end.
func TestWalkWithSplit(t *testing.T) {
	for _, backward := range []bool{false, true} {
		g := gen(t, sized(Spec{RW: "write", Backward: backward}, splits(t, "4k/60:64k/40")), 10<<20, 1, 0, 1)
		end := int64(0)
		if backward {
			end = 10 << 20
		}
		for range 10_000 {
			var r Request
			g.Next(&r)
			at, next := r.Offset, r.Offset+r.Length
			if backward {
				at, next = next, at
			}
			restart := !backward && at == 0 && end > 10<<20-65536 || backward && at == 10<<20 && end < 65536
			if at != end && !restart || r.Offset < 0 || r.Offset+r.Length > 10<<20 {
				t.Fatalf("%+v after %d", r, end)
			}
			end = next
		}
	}
}

// Of each 100 I/Os just so many jump, and the others go on from there; per direction, of each 100 of
// the direction. A jump that hits the next block by chance has odds of 1 in 2^28.
func TestRandomPct(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		want [2]int // jumps in each 100 I/Os of a direction; -1: counted together with the reads
	}{
		{Spec{RW: "read", RandomPct: Percents{25}}, [2]int{25, 0}},
		{Spec{RW: "randread", RandomPct: Percents{20}}, [2]int{20, 0}},
		{Spec{RW: "read", RandomPct: Percents{1}, Backward: true}, [2]int{1, 0}},
		{Spec{RW: "write", RandomPct: Percents{30}, Stride: 8192}, [2]int{0, 30}},
		{Spec{RW: "rw", ReadPct: 60, RandomPct: Percents{50}}, [2]int{50, -1}},
		{Spec{RW: "rw", ReadPct: 60, RandomPct: Percents{0, 25}}, [2]int{0, 25}},
		{Spec{RW: "randrw", ReadPct: 60, RandomPct: Percents{75, 10}}, [2]int{75, 10}},
		{Spec{RW: "read", RandomPct: Percents{25}, Distribution: distribution(t, "zoned:50/1:50/99")}, [2]int{25, 0}},
	} {
		c.spec.BlockSize = 4096
		g := gen(t, c.spec, 1<<40, 3, 1, 4)
		var last [2]int64
		var seen, jumps [2]int
		step := int64(4096)
		if c.spec.Stride > 0 {
			step = c.spec.Stride
		}
		if c.spec.Backward {
			step = -step
		}
		start := int64(1 << 38) // thread 1 of 4
		if c.spec.Backward {
			start = 3<<38 - 4096 // counted from the end
		}
		last[0], last[1] = start-step, start-step
		for range 10_000 {
			var r Request
			g.Next(&r)
			part := int(r.Op)
			moved := r.Offset != last[part]+step
			last[part] = r.Offset
			if c.want[1] < 0 {
				part = 0
			}
			if moved {
				jumps[part]++
			}
			if seen[part]++; seen[part]%100 == 0 {
				if jumps[part] != c.want[part] {
					t.Fatalf("%s %s: %d of 100 %ss jump", c.spec.RW, c.spec.RandomPct, jumps[part], op.Op(part))
				}
				jumps[part] = 0
			}
		}
	}
}

func TestOffsetsAreValidated(t *testing.T) {
	zipf := distribution(t, "zipf:1.2")
	split := splits(t, "4k/60:64k/40")
	for want, s := range map[string]Spec{
		"--coverage: goes with random shapes; --rw read meets every block":               {RW: "read", Coverage: true},
		"--coverage: every block once a pass needs one block size, not 4k/60":            {RW: "randread", Coverage: true, BlockSizeSplit: split},
		"--coverage: every block once a pass leaves no room for --random-distri":         {RW: "randread", Coverage: true, Distribution: zipf},
		"leaves no room for --random-pct 25":                                             {RW: "randread", Coverage: true, RandomPct: Percents{25}},
		"needs --blockalign to be the block's size, 64k, not 8k":                         {RW: "randread", Coverage: true, BlockAlign: 8192},
		"--random-distribution zipf:1.2: goes with random offsets; --rw read":            {RW: "read", Distribution: zipf},
		"--random-distribution zipf:7: the parameter of zipf, 7, must be from":           {RW: "randread", Distribution: Distribution{Kind: Zipf, Param: 7}},
		"--blockalign 8k: goes with random offsets":                                      {RW: "read", BlockAlign: 8192},
		"--blockalign -1: must be over 0":                                                {RW: "randread", BlockAlign: -1},
		"--stride 8k: goes with sequential offsets; --rw randread":                       {RW: "randread", Stride: 8192},
		"--stride -1: must be over 0":                                                    {RW: "read", Stride: -1},
		"--backward: goes with sequential offsets":                                       {RW: "randread", Backward: true},
		"--seq-streams 2: goes with sequential offsets":                                  {RW: "randread", SeqStreams: 2},
		"--seq-streams 70000: must be from 1 to 65536":                                   {RW: "read", SeqStreams: 70000},
		"--random-pct 101: must be from 0 to 100":                                        {RW: "read", RandomPct: Percents{101}},
		"--random-pct 1,2,3,4: takes one percentage, or READ,WRITE,TRIM":                 {RW: "read", RandomPct: Percents{1, 2, 3, 4}},
		"--bs-align 512: goes with --bsrange only":                                       {RW: "read", BlockSizeAlign: 512},
		"--bs-align 1m: --bsrange 4k-64k holds no multiple":                              {RW: "read", BlockSizeRange: SizeRanges{Read: SizeRange{4096, 65536}}, BlockSizeAlign: 1 << 20},
		"--bs-align -1: must be from 1 byte to 1t":                                       {RW: "read", BlockSizeRange: SizeRanges{Read: SizeRange{4096, 65536}}, BlockSizeAlign: -1},
		"--bsrange 64k-4k: 64k-4k must lie within":                                       {RW: "read", BlockSizeRange: SizeRanges{Read: SizeRange{65536, 4096}}},
		"--bsrange: goes without --bssplit":                                              {RW: "read", BlockSizeRange: SizeRanges{Read: SizeRange{4096, 65536}}, BlockSizeSplit: split},
		"--bs 64k: must be the largest of the sizes, 128k":                               {RW: "read", BlockSizeSplit: Splits{Read: Fixed(128 << 10)}},
		"--bs 2g: must be from 1 byte to 1g, trims to 1t":                                {RW: "read", BlockSizeSplit: Splits{Read: Fixed(2 << 30)}},
		"--bssplit 4k/90: the shares sum to 90 %, not to 100":                            {RW: "read", BlockSizeSplit: Splits{Read: Split{{4096, 9000}}}},
		"--bssplit 4k/100,4k/100,2t/100: size 2t must be from 1 byte to 1g, trims to 1t": {RW: "trim", BlockSizeSplit: Splits{Read: Fixed(4096), Write: Fixed(4096), Trim: Fixed(2 << 40)}},
		"--bsrange 4k-2g: must be from 1 byte to 1g, trims to 1t":                        {RW: "read", BlockSizeRange: SizeRanges{Read: SizeRange{4096, 2 << 30}}},
		"--size 10000 is not a multiple of what divides all block sizes, 4k":             {RW: "read", BlockSizeSplit: split, Size: unit.Share{Bytes: 10000}},
	} {
		s.BlockSize = 65536
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %q", err, want)
		}
	}
	for want, c := range map[string]struct {
		spec    Spec
		threads int
	}{
		"--seq-streams 3: must be a multiple of --threads 2":                         {Spec{RW: "read", SeqStreams: 3}, 2},
		"--seq-streams 300: the range has only 256 blocks":                           {Spec{RW: "read", SeqStreams: 300}, 2},
		"cut into slices for 257 threads":                                            {Spec{RW: "read"}, 257},
		"--coverage: the range of 256 blocks has none":                               {Spec{RW: "randread", Coverage: true}, 257},
		"--stride 512k: must be shorter than each stream's slice of the range, 512k": {Spec{RW: "read", Stride: 512 << 10}, 2},
		"zone 1 holds no block of 4k":                                                {Spec{RW: "randread", Distribution: distribution(t, "zoned:50/0.1:50/99.9")}, 1},
		"zone 2 ends at 2m, and the range has only 256 blocks":                       {Spec{RW: "randread", Distribution: distribution(t, "zoned_abs:50/1m:50/1m")}, 1},
		"zone 2 holds no block of 4k":                                                {Spec{RW: "randread", Distribution: distribution(t, "zoned_abs:50/1m:50/")}, 1},
		"hotband:90/0.1/100: the band holds no block of 4k":                          {Spec{RW: "randread", Distribution: distribution(t, "hotband:90/0.1/100")}, 1},
	} {
		c.spec.BlockSize = 4096
		if _, err := NewGenerator(&c.spec, Range{Blocks: 256, Length: 1 << 20}, 1, 0, c.threads); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %q", err, want)
		}
	}
}

// With JumpEvery each direction has a random offset after just so many I/Os, and goes on from it between.
func TestJumpEvery(t *testing.T) {
	for _, s := range []Spec{
		{RW: "randread", BlockSize: 4096, JumpEvery: 8},
		{RW: "randrw", ReadPct: 70, BlockSize: 4096, JumpEvery: 3},
		{RW: "randwrite", BlockSize: 4096, JumpEvery: 1},
	} {
		r, err := s.RangeOn(1 << 40)
		if err != nil {
			t.Fatal(err)
		}
		g, err := NewGenerator(&s, r, 7, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		var n, next [op.Count]int64
		var request Request
		for range 10_000 {
			g.Next(&request)
			o := request.Op
			if goesOn := request.Offset == next[o]; goesOn == (n[o]%int64(s.JumpEvery) == 0) {
				t.Fatalf("%s: %s %d goes on: %v", s.Label(), o, n[o], goesOn)
			}
			n[o]++
			next[o] = request.Offset + request.Length
		}
	}
	for _, s := range []Spec{{RW: "read", BlockSize: 4096, JumpEvery: 2}, {RW: "randread", BlockSize: 4096, JumpEvery: -1}, {RW: "randread", BlockSize: 4096, JumpEvery: 2, Coverage: true}} {
		if err := s.Validate(); err == nil {
			t.Errorf("%+v is taken", s)
		}
	}
}
