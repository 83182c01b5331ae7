package workload

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"blkstorm/op"
	"blkstorm/unit"
)

// each4k is a --bs of 4k.
var each4k = [3]int64{4096, 4096, 4096}

func splits(t testing.TB, text string) Splits {
	t.Helper()
	s, err := ParseSplits(text, each4k)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sized sets the sizes as the front ends do.
func sized(s Spec, split Splits) Spec {
	s.BlockSizeSplit = split
	s.BlockSize = s.MaxBlock()
	return s
}

// A split is exact in each consecutive 100 I/Os of a thread, or 10 000, whatever the mix; splits per
// direction are exact in each 100 of their direction.
func TestSplitsAreExact(t *testing.T) {
	for _, c := range []struct {
		text    string
		readPct int
		each    int
		want    [2]string // sizes of reads and writes, or of both in the first
	}{
		{"4k/60:64k/40", 70, 100, [2]string{"map[4096:60 65536:40]"}},
		{"4k/10:64k/50:32k/40", 100, 100, [2]string{"map[4096:10 32768:40 65536:50]"}},
		{"4k/10:64k/50:32k/40", 0, 100, [2]string{"map[4096:10 32768:40 65536:50]"}},
		{"512/25:1k/:2k/", 50, 10_000, [2]string{"map[512:2500 1024:3750 2048:3750]"}},
		{"512/24:1k/:2k/", 50, 100, [2]string{"map[512:24 1024:38 2048:38]"}},
		{"4k:8k:16k", 50, 10_000, [2]string{"map[4096:3334 8192:3333 16384:3333]"}},
		{"4k/61.11:8k/13.05:64k/", 33, 10_000, [2]string{"map[4096:6111 8192:1305 65536:2584]"}},
		{"8k/90:32k/10,4k/50:1m/50", 70, 100, [2]string{"map[8192:90 32768:10]", "map[4096:50 1048576:50]"}},
		{",64k/10:128k/90", 30, 100, [2]string{"map[4096:100]", "map[65536:10 131072:90]"}},
		{"64k/10:128k/90,", 30, 100, [2]string{"map[65536:10 131072:90]", "map[4096:100]"}},
		{"4k/0:8k/100", 30, 100, [2]string{"map[8192:100]"}},
	} {
		for _, rw := range []string{"rw", "randrw"} {
			s := sized(Spec{RW: rw, ReadPct: c.readPct}, splits(t, c.text))
			g := gen(t, s, 1<<30, 5, 0, 1)
			var counts [2]map[int64]int
			var seen [2]int
			orders := map[string]bool{}
			order := []byte{}
			for range 5 * c.each * 4 {
				var r Request
				g.Next(&r)
				part := 0
				if c.want[1] != "" && r.Op == op.Write {
					part = 1
				}
				if counts[part] == nil {
					counts[part] = map[int64]int{}
				}
				counts[part][r.Length]++
				order = append(order, byte(r.Length>>10))
				if seen[part]++; seen[part]%c.each == 0 {
					if got := fmt.Sprint(counts[part]); got != c.want[part] {
						t.Fatalf("%s %s: %s of %d, want %s", rw, c.text, got, c.each, c.want[part])
					}
					counts[part] = nil
					orders[string(order)] = true
					order = order[:0]
				}
			}
			if len(orders) < 3 && !strings.Contains(c.text, "/0") {
				t.Errorf("%s: the order repeats", c.text)
			}
		}
	}
}

// Sizes do not depend on the direction: of the reads of a common split each size has its share
// (binomial is an upper bound of the variance; 5 sigma).
func TestCommonSplitIsIndependentOfTheMix(t *testing.T) {
	g := gen(t, sized(Spec{RW: "randrw", ReadPct: 70}, splits(t, "4k/60:64k/40")), 1<<30, 5, 0, 1)
	reads, small := 0, 0
	for range 100_000 {
		var r Request
		if g.Next(&r); r.Op == op.Read {
			if reads++; r.Length == 4096 {
				small++
			}
		}
	}
	near(t, "4k among the reads", small, reads, 0.6)
}

// Offsets of a size are multiples of it, uniform, and reach the last place; with a rest at the range's
// end, the smaller blocks use it, too.
func TestSplitOffsets(t *testing.T) {
	const length = 16*65536 + 3*4096
	g := gen(t, sized(Spec{RW: "randread", Offset: unit.Share{Bytes: 65536}}, splits(t, "4k/60:64k/40")), length+65536, 5, 0, 1)
	const draws = 200_000
	places := map[int64][]int{4096: make([]int, length/4096), 65536: make([]int, 16)}
	for range draws {
		var r Request
		g.Next(&r)
		at := r.Offset - 65536
		if at < 0 || at+r.Length > length || at%r.Length != 0 {
			t.Fatalf("%+v", r)
		}
		places[r.Length][at/r.Length]++
	}
	for size, list := range places {
		n := draws * 6 / 10
		if size == 65536 {
			n = draws * 4 / 10
		}
		for _, got := range list {
			near(t, "place of "+unit.Size(size), got, n, 1/float64(len(list)))
		}
	}
}

func TestSizeRanges(t *testing.T) {
	for _, c := range []struct {
		text           string
		align          int64
		low, step, max int64
	}{
		{"4k-64k", 0, 4096, 4096, 65536},
		{"4k-64k", 512, 4096, 512, 65536},
		{"4k-66k", 0, 4096, 4096, 65536},
		{"5k-64k", 4096, 8192, 4096, 65536},
		{"512:1k", 0, 512, 512, 1024},
		{"8k-8k", 0, 8192, 8192, 8192},
	} {
		for _, rw := range []string{"randread", "read"} {
			r, err := ParseSizeRanges(c.text)
			if err != nil {
				t.Fatal(err)
			}
			s := Spec{RW: rw, BlockSizeRange: r, BlockSizeAlign: c.align}
			s.BlockSize = s.MaxBlock()
			if s.BlockSize != c.max || s.MinBlock() != c.low {
				t.Errorf("%+v: %d to %d", c, s.MinBlock(), s.BlockSize)
			}
			g := gen(t, s, 1<<30, 1, 0, 1)
			counts := map[int64]int{}
			const draws = 50_000
			for range draws {
				var r Request
				g.Next(&r)
				if rw == "randread" && r.Offset%r.Length != 0 || r.Offset+r.Length > 1<<30 {
					t.Fatalf("%+v", r)
				}
				counts[r.Length]++
			}
			n := (c.max-c.low)/c.step + 1
			for size := c.low; size <= c.max; size += c.step {
				near(t, c.text, counts[size], draws, 1/float64(n))
				delete(counts, size)
			}
			if len(counts) != 0 {
				t.Errorf("%+v: other sizes: %v", c, counts)
			}
		}
	}
	r, err := ParseSizeRanges("4k-8k,64k-128k")
	if err != nil {
		t.Fatal(err)
	}
	s := Spec{RW: "randrw", ReadPct: 50, BlockSizeRange: r}
	s.BlockSize = s.MaxBlock()
	g := gen(t, s, 1<<30, 1, 0, 1)
	for range 1000 {
		var q Request
		if g.Next(&q); (q.Op == op.Read) != (q.Length <= 8192) || q.Length > 131072 {
			t.Fatalf("%+v", q)
		}
	}
}

// blockalign: offsets are its multiples, all that fit, each alike often.
func TestBlockAlign(t *testing.T) {
	for _, c := range []struct {
		align  int64
		split  string
		spread string
		places [2]int // of 4k and of 64k
	}{{512, "4k/50:64k/50", "", [2]int{2041, 1921}}, {1 << 17, "4k/50:64k/50", "", [2]int{8, 8}}, {1 << 17, "4k/50:64k/50", "normal:20", [2]int{8, 8}}} {
		s := sized(Spec{RW: "randread", BlockAlign: c.align}, splits(t, c.split))
		if c.spread != "" {
			s.Distribution = distribution(t, c.spread)
		}
		g := gen(t, s, 1<<20, 1, 0, 1)
		seen := map[int64]map[int64]int{4096: {}, 65536: {}}
		const draws = 100_000
		for range draws {
			var r Request
			g.Next(&r)
			if r.Offset%c.align != 0 || r.Offset+r.Length > 1<<20 {
				t.Fatalf("%+v", r)
			}
			seen[r.Length][r.Offset]++
		}
		if got := [2]int{len(seen[4096]), len(seen[65536])}; got != c.places {
			t.Errorf("%+v: %v places", c, got)
		}
		for size, places := range seen {
			for _, got := range places {
				if c.spread == "" {
					near(t, unit.Size(size), got, draws/2, 1/float64(len(places)))
				}
			}
		}
	}
}

// Skewed offsets of several sizes: the hot blocks are those of the smallest size, and a larger I/O goes
// where its block covers one.
func TestSkewedSplit(t *testing.T) {
	const length = 1024*4096 + 4096
	s := sized(Spec{RW: "randread", Distribution: distribution(t, "zipf:1.2")}, splits(t, "4k/50:64k/50"))
	g := gen(t, s, length, 1, 0, 1)
	counts := map[int64]map[int64]int{4096: {}, 65536: {}}
	const draws = 100_000
	for range draws {
		var r Request
		g.Next(&r)
		if r.Offset%r.Length != 0 || r.Offset+r.Length > length {
			t.Fatalf("%+v", r)
		}
		counts[r.Length][r.Offset]++
	}
	hottest := int64(g.spreads[op.Read].order.at(0)) * 4096
	p := 1 / zeta(1.2)(length/4096)
	near(t, "hottest 4k", counts[4096][hottest], draws/2, p)
	if got := counts[65536][min(hottest/65536, 63)*65536]; float64(got) < draws/2*p {
		t.Errorf("the 64k block over the hottest 4k one: %d", got)
	}
}

func TestParseSplitsRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"4k/60:64k/30":                   "the shares sum to 90 %, not to 100",
		"4k/60:64k/50":                   "the shares sum to 110 %, not to 100",
		"4k/60.5:64k/39":                 "the shares sum to 99.5 %, not to 100",
		"4k/150:64k/":                    "the shares sum to 150 %, not to 100",
		"4k/60:64k/40,8k/99":             "the shares sum to 99 %, not to 100",
		"4k/60.123:64k/":                 "has more than two decimals",
		"4k/x":                           `percentage "x" is not a number`,
		"4k/60%:8k/40%":                  `percentage "60%" is not a number`,
		"4k/-5:8k/105":                   "is not a number",
		"":                               "does not begin with a number",
		"4q/100":                         `unknown suffix "q"`,
		"4k/50::8k/50":                   "does not begin with a number",
		"4k,8k,16k,1":                    "takes one split, or READ,WRITE,TRIM",
		strings.Repeat("4k:", 64) + "4k": "has 65 sizes; at most 64",
	} {
		if s, err := ParseSplits(text, each4k); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v; want %q", text, s, err, want)
		}
	}
}

// The plan's form is the option's, and reads back as the same.
func TestSpecReadsBack(t *testing.T) {
	s := sized(Spec{
		RW: "randrw", ReadPct: 70, BlockAlign: 4096, Distribution: distribution(t, "zoned_abs:60.5/1g:39.5/"),
		RandomPct: Percents{100, 100}, Offset: unit.Share{Percent: 50},
	}, splits(t, "4k/60:64k/40,8k"))
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"rw":"randrw","bs":65536,"bssplit":"4k/60:64k/40,8k/100","read_pct":70,"offset":{"percent":50},` +
		`"blockalign":4096,"random_distribution":"zoned_abs:60.5/1g:39.5/","random_pct":"100,100"}`
	if string(text) != want {
		t.Errorf("%s\nwant %s", text, want)
	}
	var back Spec
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if again, _ := json.Marshal(back); string(again) != want {
		t.Errorf("reads back as %s", again)
	}
	plain, _ := json.Marshal(Spec{RW: "read", BlockSize: 4096, ReadPct: 100})
	if string(plain) != `{"rw":"read","bs":4096,"read_pct":100}` {
		t.Errorf("%s", plain)
	}
}
