package workload

import (
	"strings"
	"testing"

	"blkstorm/op"
	"blkstorm/unit"
)

func TestParseDistribution(t *testing.T) {
	for text, want := range map[string]string{
		"uniform":                     "uniform",
		"random":                      "uniform",
		"zipf":                        "zipf:1.1",
		"zipf:1.2":                    "zipf:1.2",
		"zipf:1":                      "zipf:1",
		"zipf:1.2:0.25":               "zipf:1.2:0.25",
		"pareto:0.2:1":                "pareto:0.2:1",
		"normal:10:0":                 "normal:10:0",
		"zipf:1.2:1.01":               "! the centre of zipf, 1.01, must be from 0, the range's start, to 1",
		"normal:10:-0.1":              "! the centre of normal, -0.1, must be from 0",
		"pareto:0.2:NaN":              "! the centre of pareto, NaN, must be from 0",
		"zipf:1.2:":                   `! centre "" is not a number`,
		"zipf:1.2:0.5:1":              `! centre "0.5:1" is not a number`,
		"hotband:90/10/5:0.5":         "! is not a whole number of I/Os",
		"zoned:60/10:40/,50/50:/":     "zoned:60/10:40/90,50/50:50/50",
		"zoned:1/1:/,2/2:/,3/3:/":     "zoned:1/1:99/99,2/2:98/98,3/3:97/97",
		"zoned_abs:60/1g:/,50/2g:/":   "zoned_abs:60/1g:40/,50/2g:50/",
		"zoned:1/1:/,2/2:/,3/3:/,4/4": "! takes one list of zones, or READ,WRITE,TRIM",
		"zoned:60/10:40/,":            "! write the percentage of the I/O, a slash",
		"zoned:60/10:40/,50/50:/49":   "! space: the shares sum to 99 %, not to 100",
		"pareto":                      "pareto:0.2",
		"normal":                      "normal:8.333333333333334",
		"zoned:60/10:30/20:10/70":     "zoned:60/10:30/20:10/70",
		"zoned:50/5:30/15:20/":        "zoned:50/5:30/15:20/80",
		"zoned_abs:60/1g:40/9g":       "zoned_abs:60/1g:40/9g",
		"zoned_abs:60/1g:/":           "zoned_abs:60/1g:40/",
		"hotband:90/10/100000":        "hotband:90/10/100000",
		"zipf:5.1":                    "! must be from 0.01 to 5",
		"zipf:0":                      "! must be from 0.01 to 5",
		"zipf:NaN":                    "! must be from 0.01 to 5",
		"zipf:":                       `! "" is not a number`,
		"pareto:1":                    "! must be from 0.01 to 0.99",
		"normal:200":                  "! must be from 0.01 to 100",
		"uniform:1":                   "! takes no parameter",
		"zoned:60/10:30/20:20/70":     "! I/O: the shares sum to 110 %, not to 100",
		"zoned:60/10:40/20":           "! space: the shares sum to 30 %, not to 100",
		"zoned:60/10:40/90:0/0":       "zoned:60/10:40/90:0/0",
		"zoned:60/100:40/0":           "! zone 2: 40 % of the I/O, and no space for it",
		"zoned:60":                    "! write the percentage of the I/O, a slash",
		"zoned":                       "! write the percentage of the I/O, a slash",
		"zoned_abs:50/:50/1g":         "! zone 1: only the last zone can take the rest",
		"zoned_abs:50/0:50/1g":        "! zone 1 has no space",
		"zoned_abs:50/8191p:50/8191p": "! zone 2: over the limit",
		"hotband:90/10":               "! write the percentage of the I/O, that of the space",
		"hotband:90/100/5":            "! must be over 0 and below 100",
		"hotband:0/10/5":              "! must be over 0 and up to 100",
		"hotband:90/10/0":             "! must move after at least 1 I/O",
		"hotband:90/10/x":             "! is not a whole number of I/Os",
		"foo":                         `! unknown distribution "foo"; known are uniform, zipf`,
		"zoned:" + strings.Repeat("1/1:", 70) + "30/30": "! has 71 zones; at most 64",
	} {
		d, err := ParseDistribution(text)
		if part, refused := strings.CutPrefix(want, "! "); refused {
			if err == nil || !strings.Contains(err.Error(), part) {
				t.Errorf("%q: %v, %v; want %q", text, d, err, part)
			}
			continue
		}
		if err != nil || d.String() != want {
			t.Errorf("%q: %q, %v; want %q", text, d, err, want)
		}
	}
}

// FuzzParsers: what is read is written so that it reads back as the same.
func FuzzParsers(f *testing.F) {
	for _, s := range []string{"4k/60:64k/40", "4k:8k,", ",4k", "4k-64k", "512:1k,1-2", "zipf:1.2", "zoned:50/5:30/15:20/", "zoned_abs:60/1g:/", "hotband:90/10/9", "0,25", "1,2,3",
		"4k,8k,16k", "1-2,3-4,5-6", "zipf:1.2:0.25", "zoned:1/1:/,2/2:/,3/3:/"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := ParseSplits(text, each4k); err == nil {
			back, err := ParseSplits(s.String(), [3]int64{})
			// Sizes out of limits are left to Validate.
			if err != nil || back.String() != s.String() {
				t.Errorf("%q: %v, %v, %v", text, s, back, err)
			}
			var sum unit.Percent
			for _, p := range s.Read {
				sum += p.Share
			}
			if sum != unit.Whole {
				t.Errorf("%q: %v sums to %v", text, s, sum)
			}
		}
		if r, err := ParseSizeRanges(text); err == nil {
			if back, err := ParseSizeRanges(r.String()); err != nil || back != r {
				t.Errorf("%q: %v, %v, %v", text, r, back, err)
			}
		}
		if d, err := ParseDistribution(text); err == nil {
			if back, err := ParseDistribution(d.String()); err != nil || back.String() != d.String() {
				t.Errorf("%q: %v, %v, %v", text, d, back, err)
			}
		}
		if p, err := ParsePercents(text); err == nil {
			if back, err := ParsePercents(p.String()); err != nil || back.String() != p.String() {
				t.Errorf("%q: %v, %v, %v", text, p, back, err)
			}
		}
	})
}

// FuzzGenerator: whatever is valid gives I/Os within the range, of sizes that were asked for.
func FuzzGenerator(f *testing.F) {
	f.Add("randrw", "4k/60:64k/40", "", "zipf:1.2", int64(0), int64(0), "", int64(1<<20+4096), uint8(50), uint8(1))
	f.Add("rw", "", "4k-64k", "uniform", int64(0), int64(1<<17), "25,0", int64(1<<20), uint8(30), uint8(0x82))
	f.Add("randread", "4k,512", "", "hotband:90/10/9", int64(8192), int64(0), "", int64(1<<20), uint8(100), uint8(3))
	f.Add("randwrite", "", "", "", int64(0), int64(0), "", int64(1<<20), uint8(0), uint8(0x41))
	f.Add("randtrimwrite", "4k,8k,64k", "", "normal:10:0.1", int64(0), int64(0), "", int64(1<<20), uint8(0), uint8(0x21))
	f.Add("trim", "", "4k-8k,4k-8k,8k-64k", "zoned:1/1:/,2/2:/", int64(0), int64(0), "0,0,9", int64(1<<20), uint8(0), uint8(0x22))
	f.Fuzz(func(t *testing.T, rw, split, sizes, spread string, align, stride int64, pct string, size int64, readPct, bits uint8) {
		s := Spec{RW: rw, BlockSize: 4096, ReadPct: int(readPct), BlockAlign: align, Stride: stride, Backward: bits&0x80 != 0, Coverage: bits&0x40 != 0}
		if bits&0x20 != 0 && s.Writes() {
			s.Fsync = int(bits&0x18) + 1
		}
		s.BlockSizeSplit, _ = ParseSplits(split, each4k)
		s.BlockSizeRange, _ = ParseSizeRanges(sizes)
		s.Distribution, _ = ParseDistribution(spread)
		s.RandomPct, _ = ParsePercents(pct)
		if s.MaxBlock() > 0 {
			s.BlockSize = s.MaxBlock()
		}
		if size <= 0 || s.Validate() != nil {
			t.Skip()
		}
		r, err := s.RangeOn(size)
		if err != nil {
			t.Skip()
		}
		threads := int(bits&7) + 1
		for thread := range threads {
			g, err := NewGenerator(&s, r, 1, thread, threads)
			if err != nil {
				t.Skip()
			}
			var q Request
			for range 300 {
				if g.Next(&q); q.Op == op.Sync {
					continue
				}
				if !s.Issues(q.Op) {
					t.Fatalf("%+v: %+v", s, q)
				}
				if q.Offset < r.Start || q.Length < s.MinBlock() || q.Length > s.BlockSize || q.Offset+q.Length > r.End() || r.End() > size {
					t.Fatalf("%+v: %+v of %+v", s, q, r)
				}
			}
		}
	})
}
