package workload

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"blkstorm/op"
)

// What a shape issues, and what the guard is to be asked for.
func TestIssues(t *testing.T) {
	for _, c := range []struct {
		spec    Spec
		want    string // r, w, t, s
		changes bool
	}{
		{Spec{RW: "read"}, "r", false},
		{Spec{RW: "write"}, "w", true},
		{Spec{RW: "rw", ReadPct: 50}, "rw", true},
		{Spec{RW: "randrw", ReadPct: 100}, "r", false},
		{Spec{RW: "randrw", ReadPct: 0}, "w", true},
		{Spec{RW: "trim"}, "t", true},
		{Spec{RW: "randtrim", ReadPct: 100}, "t", true},
		{Spec{RW: "trimwrite"}, "wt", true},
		{Spec{RW: "randtrimwrite"}, "wt", true},
		{Spec{RW: "write", Fsync: 1}, "ws", true},
		{Spec{RW: "randrw", ReadPct: 50, Fdatasync: 8}, "rws", true},
	} {
		got := ""
		for _, part := range []struct {
			issued bool
			name   string
		}{{c.spec.Reads(), "r"}, {c.spec.Writes(), "w"}, {c.spec.Trims(), "t"}, {c.spec.Syncs(), "s"}} {
			if part.issued {
				got += part.name
			}
		}
		if got != c.want || c.spec.Changes() != c.changes {
			t.Errorf("%s: issues %s, changes %v", c.spec.RW, got, c.spec.Changes())
		}
	}
}

func TestTrims(t *testing.T) {
	for _, with := range []string{"", Discard, WriteZeroes} {
		want := op.Flags(0)
		if with == WriteZeroes {
			want = op.Zeroes
		}
		for _, rw := range []string{"trim", "randtrim"} {
			g := gen(t, Spec{RW: rw, BlockSize: 4096, TrimWith: with}, 16*4096, 1, 1, 2)
			var r Request
			for i := range int64(100) {
				g.Next(&r)
				if r.Op != op.Trim || r.Flags != want || r.Length != 4096 || r.Offset%4096 != 0 || r.Offset+r.Length > 16*4096 {
					t.Fatalf("%s %s: %+v", rw, with, r)
				}
				if at := (8 + i%8) * 4096; rw == "trim" && r.Offset != at {
					t.Fatalf("trim %d at %d, want %d", i, r.Offset, at)
				}
			}
			if g.Pass() != g.Blocks() {
				t.Errorf("%s: a pass of %d blocks has %d trims", rw, g.Blocks(), g.Pass())
			}
		}
	}
}

// Every block is trimmed and then written, whatever finds its size and place; and a pass is over when
// each block was both.
func TestPairs(t *testing.T) {
	for name, s := range map[string]Spec{
		"sequential": {RW: "trimwrite"},
		"random":     {RW: "randtrimwrite"},
		"coverage":   {RW: "randtrimwrite", Coverage: true},
		"split":      {RW: "randtrimwrite", BlockSizeSplit: splits(t, "4k,8k,4k/50:64k/50")},
		"range":      {RW: "trimwrite", BlockSizeRange: SizeRanges{Read: SizeRange{4096, 65536}}},
		"skewed":     {RW: "randtrimwrite", Distribution: distribution(t, "zipf:1.2")},
		"jumps":      {RW: "trimwrite", RandomPct: Percents{0, 0, 25}},
	} {
		s.BlockSize = 4096
		s.BlockSize = s.MaxBlock()
		s.Durable = true
		g := gen(t, s, 64<<20, 3, 0, 2)
		seen := map[int64]int{}
		sizes := map[int64]int{}
		for range g.Pass() / 2 {
			var trim, write Request
			g.Next(&trim)
			g.Next(&write)
			if trim.Op != op.Trim || write.Op != op.Write || trim.Offset != write.Offset || trim.Length != write.Length {
				t.Fatalf("%s: %+v, then %+v", name, trim, write)
			}
			if trim.Flags != 0 || write.Flags != op.Durable {
				t.Fatalf("%s: flags %d and %d", name, trim.Flags, write.Flags)
			}
			seen[trim.Offset]++
			sizes[trim.Length]++
		}
		if s.Passes() && len(seen) != int(g.Blocks()) {
			t.Errorf("%s: %d places in a pass of %d blocks", name, len(seen), g.Blocks())
		}
		if name == "split" && (len(sizes) != 2 || sizes[8192] != 0) {
			t.Errorf("sizes %v, want those of trims", sizes)
		}
	}
}

// The k-th sync comes right after k times N writes, and takes no place in the blocks of 100.
func TestSyncsAreExact(t *testing.T) {
	for _, rw := range []string{"write", "randwrite", "rw", "randrw", "trimwrite", "randtrimwrite"} {
		for _, every := range []int{1, 2, 7, 100, 333} {
			for _, data := range []bool{false, true} {
				s, flags := Spec{RW: rw, BlockSize: 4096, ReadPct: 37, Fsync: every}, op.Flags(0)
				if data {
					s.Fsync, s.Fdatasync, flags = 0, every, op.DataOnly
				}
				g := gen(t, s, 1<<30, 7, 0, 1)
				writes, syncs, others, reads := 0, 0, 0, 0
				due := false
				for range 20_000 {
					var r Request
					r.Length, r.Offset = -1, -1
					g.Next(&r)
					if (r.Op == op.Sync) != due {
						t.Fatalf("%s: %s after %d writes and %d syncs, want one after each %d", rw, r.Op, writes, syncs, every)
					}
					switch due = false; r.Op {
					case op.Sync:
						if syncs++; r.Length != 0 || r.Offset != 0 || r.Flags != flags {
							t.Fatalf("%+v", r)
						}
						continue
					case op.Write:
						writes++
						due = writes%every == 0
					case op.Read:
						reads++
					}
					if others++; others%100 == 0 && s.Mixed() && reads != 37*others/100 {
						t.Fatalf("%s: %d reads in %d I/Os", rw, reads, others)
					}
				}
			}
		}
	}
}

// Syncs change nothing of the I/Os between them.
func TestSyncsDoNotDisturb(t *testing.T) {
	plain := gen(t, Spec{RW: "randrw", BlockSize: 4096, ReadPct: 50}, 1<<30, 7, 0, 1)
	synced := gen(t, Spec{RW: "randrw", BlockSize: 4096, ReadPct: 50, Fsync: 3}, 1<<30, 7, 0, 1)
	for range 10_000 {
		var a, b Request
		plain.Next(&a)
		if synced.Next(&b); b.Op == op.Sync {
			synced.Next(&b)
		}
		if a != b {
			t.Fatalf("%+v without syncs, %+v with", a, b)
		}
	}
}

// NextOf gives the direction that is asked for, but for a sync that is due; each direction goes its
// own way, and the exact mix of Next goes on where it was.
func TestNextOf(t *testing.T) {
	g := gen(t, Spec{RW: "rw", BlockSize: 4096, ReadPct: 70, Fsync: 4}, 1<<30, 7, 0, 1)
	var next [op.Count]int64
	writes, reads, others := 0, 0, 0
	for i := range 30_000 {
		var r Request
		asked := op.Op(i / 3 % 2)
		if i%3 == 0 {
			if g.Next(&r); r.Op != op.Sync {
				if others++; r.Op == op.Read {
					reads++
				}
				if others%100 == 0 && reads != others*70/100 {
					t.Fatalf("%d reads in %d I/Os of Next", reads, others)
				}
			}
		} else if g.NextOf(&r, asked); r.Op != asked && r.Op != op.Sync {
			t.Fatalf("%s, asked for %s", r.Op, asked)
		}
		if r.Op == op.Sync {
			if writes != 4 {
				t.Fatalf("a sync after %d writes", writes)
			}
			writes = 0
			continue
		}
		if r.Offset != next[r.Op] {
			t.Fatalf("%s at %d, want %d", r.Op, r.Offset, next[r.Op])
		}
		next[r.Op] += 4096
		if r.Op == op.Write {
			writes++
		}
	}
	pairs := gen(t, Spec{RW: "trimwrite", BlockSize: 4096}, 1<<30, 7, 0, 1)
	var got []string
	for _, o := range []op.Op{op.Trim, op.Write, op.Write, op.Trim, op.Trim, op.Write} {
		var r Request
		pairs.NextOf(&r, o)
		got = append(got, fmt.Sprint(r.Op, r.Offset/4096))
	}
	if want := []string{"trim 0", "write 0", "write 1", "trim 2", "trim 3", "write 3"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Of two values trims have the second, as in fio, and of three the third.
func TestValuesPerDirection(t *testing.T) {
	percents := func(text string) Percents {
		p, err := ParsePercents(text)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	ranges := func(text string) SizeRanges {
		r, err := ParseSizeRanges(text)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, c := range []struct {
		spec Spec
		want map[string]string // sizes, random-pct and first zone of each shape
	}{
		{Spec{BlockSizeSplit: splits(t, "4k")}, map[string]string{"read": "4096", "write": "4096", "trim": "4096"}},
		{Spec{BlockSizeSplit: splits(t, "4k,8k")}, map[string]string{"read": "4096", "write": "8192", "trim": "8192"}},
		{Spec{BlockSizeSplit: splits(t, "4k,8k,64k")}, map[string]string{"read": "4096", "write": "8192", "trim": "65536"}},
		{Spec{BlockSizeSplit: splits(t, ",,64k")}, map[string]string{"read": "4096", "write": "4096", "trim": "65536"}},
		{Spec{BlockSizeSplit: Splits{Read: Fixed(4096), Trim: Fixed(8192)}}, map[string]string{"read": "4096", "write": "4096", "trim": "8192"}},
		{Spec{BlockSizeRange: ranges("4k-4k,8k-8k")}, map[string]string{"read": "4096", "write": "8192", "trim": "8192"}},
		{Spec{BlockSizeRange: ranges("4k-4k,8k-8k,1m-1m")}, map[string]string{"read": "4096", "write": "8192", "trim": "1048576"}},
		{Spec{BlockSizeRange: SizeRanges{Read: SizeRange{4096, 4096}, Trim: SizeRange{512, 512}}}, map[string]string{"write": "4096", "trim": "512"}},
	} {
		for rw, want := range c.want {
			s := c.spec
			s.RW, s.BlockSize = rw, 4096
			s.BlockSize = s.MaxBlock()
			var r Request
			gen(t, s, 1<<30, 1, 0, 1).Next(&r)
			if got := fmt.Sprint(r.Length); got != want || fmt.Sprint(s.BlockSize) != want {
				t.Errorf("%s of %s: %s, bs %d, want %s", rw, s.SizeText(), got, s.BlockSize, want)
			}
		}
	}
	for text, want := range map[string][3]int{"10": {10, 10, 10}, "10,20": {10, 20, 20}, "10,20,30": {10, 20, 30}} {
		for i, rw := range []string{"read", "write", "trim"} {
			g := gen(t, Spec{RW: rw, BlockSize: 4096, RandomPct: percents(text)}, 1<<40, 1, 0, 1)
			jumps, next := 0, int64(0)
			for range 100 {
				var r Request
				if g.Next(&r); r.Offset != next {
					jumps++
				}
				next = r.Offset + 4096
			}
			if jumps != want[i] {
				t.Errorf("%s --random-pct %s: %d jumps", rw, text, jumps)
			}
		}
	}
	for text, want := range map[string][3]int{
		"zoned:90/50:10/50": {90, 90, 90}, "zoned:90/50:10/50,20/50:80/50": {90, 20, 20}, "zoned:90/50:10/50,20/50:80/50,70/50:30/50": {90, 20, 70},
		"zoned_abs:90/2g:10/,20/2g:80/2g": {90, 20, 20},
	} {
		for i, rw := range []string{"randread", "randwrite", "randtrim"} {
			g := gen(t, Spec{RW: rw, BlockSize: 4096, Distribution: distribution(t, text)}, 4<<30, 1, 0, 1)
			first := 0
			for range 100 {
				var r Request
				if g.Next(&r); r.Offset < 2<<30 {
					first++
				}
			}
			if first != want[i] {
				t.Errorf("%s %s: %d in the first half", rw, text, first)
			}
		}
	}
	// In a mix, each direction is exact in its own 100; with one list for all, they are together.
	for _, text := range []string{"zoned:90/50:10/50", "zoned:90/50:10/50,20/50:80/50"} {
		g := gen(t, Spec{RW: "randrw", BlockSize: 4096, ReadPct: 70, Distribution: distribution(t, text)}, 1<<30, 1, 0, 1)
		var seen, first [op.Count]int
		for range 10_000 {
			var r Request
			g.Next(&r)
			o := r.Op
			if !strings.Contains(text, ",") {
				o = op.Read
			}
			if seen[o]++; r.Offset < 1<<29 {
				first[o]++
			}
			if want := [op.Count]int{90, 20}; seen[o]%100 == 0 && first[o] != seen[o]/100*want[o] {
				t.Fatalf("%s: %d of %d %ss in the first half", text, first[o], seen[o], o)
			}
		}
	}
}

func TestKindsAreValidated(t *testing.T) {
	for want, s := range map[string]Spec{
		`--trim-with "x": known are discard, write-zeroes`:                                                {RW: "trim", TrimWith: "x"},
		"--trim-with write-zeroes: goes with shapes that trim; --rw write issues no trims":                {RW: "write", TrimWith: WriteZeroes},
		"--fsync 4: goes without --fdatasync 8; give one of them":                                         {RW: "write", Fsync: 4, Fdatasync: 8},
		"--fsync -1: must be a number of writes, or 0 for none":                                           {RW: "write", Fsync: -1},
		"--fdatasync -2: must be a number of writes, or 0 for none":                                       {RW: "write", Fdatasync: -2},
		"--fsync 4: goes with shapes that write; --rw randread issues no writes":                          {RW: "randread", Fsync: 4},
		"--fdatasync 4: goes with shapes that write; --rw randtrim issues no writes":                      {RW: "randtrim", Fdatasync: 4},
		"--fsync 1: goes with shapes that write; --rw rw issues no writes":                                {RW: "rw", ReadPct: 100, Fsync: 1},
		"--dsync: goes with shapes that write; --rw trim issues no writes":                                {RW: "trim", Durable: true},
		"--random-distribution zipf:1.2:2: the centre of zipf, 2, must be from 0":                         {RW: "randread", Distribution: Distribution{Kind: Zipf, Param: 1.2, Centre: new(2.)}},
		"--bssplit 4k/100,4k/100,8k/90: the shares sum to 90 %, not to 100":                               {RW: "trim", BlockSizeSplit: Splits{Read: Fixed(4096), Write: Fixed(4096), Trim: Split{{8192, 9000}}}},
		"--bsrange 4k-8k,4k-8k,8k-4k: 8k-4k must lie within 1 byte to 1g, trims to 1t; the smaller size ": {RW: "trim", BlockSizeRange: SizeRanges{Read: SizeRange{4096, 8192}, Trim: SizeRange{8192, 4096}}},
	} {
		s.BlockSize = 4096
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %q", err, want)
		}
	}
	for want, s := range map[string]Spec{
		"trim 4k":                                {RW: "trim", TrimWith: Discard},
		"randtrim 4k zeroes":                     {RW: "randtrim", TrimWith: WriteZeroes},
		"randrw 30% read 4k dsync fsync 8":       {RW: "randrw", ReadPct: 30, Durable: true, Fsync: 8},
		"trimwrite 4k fdatasync 1":               {RW: "trimwrite", Fdatasync: 1},
		"randread 4k normal:10:0.75":             {RW: "randread", Distribution: distribution(t, "normal:10:0.75")},
		"randtrim 4k zoned:50/10:50/90,100/100,": {RW: "randtrim", Distribution: distribution(t, "zoned:50/10:50/90,100/100,1/1:99/99")},
	} {
		s.BlockSize = 4096
		if err := s.Validate(); err != nil || !strings.HasPrefix(s.Label(), want) {
			t.Errorf("%q, %v; want %q", s.Label(), err, want)
		}
	}
}
