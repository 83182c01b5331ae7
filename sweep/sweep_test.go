package sweep

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

func TestParseAxis(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"threads", "2,4,8,16", "2,4,8,16"},
		{"threads", "16, 2 ,4", "16,2,4"}, // written order
		{"threads", "1-4", "1,2,3,4"},
		{"threads", "4-1", "4,3,2,1"},
		{"iodepth", "1-16*2", "1,2,4,8,16"},
		{"iodepth", "1-20*2", "1,2,4,8,16"},
		{"iodepth", "3-100*3", "3,9,27,81"},
		{"iodepth", "16-1*2", "16,8,4,2,1"},
		{"iodepth", "1,2-10+4,32-64*2", "1,2,6,10,32,64"},
		{"iodepth", "7-7", "7"},
		{"iodepth", "1-1000000*1000000", "1,1000000"},
		{"bs", "4k,64K,1.5m", "4k,64k,1536k"},
		{"bs", "4k-64k*2", "4k,8k,16k,32k,64k"},
		{"bs", "64k-4k*4", "64k,16k,4k"},
		{"bs", "4k-16k + 4k", "4k,8k,12k,16k"},
		{"bs", "512-2k*2,4096", "512,1k,2k,4k"},
		{"bs", "1t-1p*1000000", "1t"}, // the product is over 2^63
		{"read-pct", "0-100+25", "0,25,50,75,100"},
		{"read-pct", "100-0+30", "100,70,40,10"},
		{"read-pct", "100,0", "100,0"},
		{"rw", "randread,randwrite", "randread,randwrite"},
		{"rw", "rw", "rw"},
	} {
		a, err := ParseAxis(c.name, c.in)
		if err != nil || strings.Join(a.Values, ",") != c.want || a.Name != c.name {
			t.Errorf("--%s %s: %v, %v; want %s", c.name, c.in, a, err, c.want)
		}
	}
	for _, c := range []struct{ name, in, part string }{
		{"runtime", "1s,2s", "--runtime cannot be swept; threads, iodepth"},
		{"threads", "", "--threads: an empty value"},
		{"threads", "1,,2", "--threads: an empty value"},
		{"rw", "read,", "--rw: an empty value"},
		{"threads", "0", "from 1 to"},
		{"threads", "1000001", "from 1 to"},
		{"threads", "two", "from 1 to"},
		{"threads", "1,2,1", "--threads: 1 is there twice"},
		{"bs", "4k,4096", "--bs: 4k is there twice"},
		{"rw", "read,read", "read is there twice"},
		{"threads", "1-", `range "1-"`},
		{"threads", "-4", `range "-4"`},
		{"threads", "1-4*1", "step *1"},
		{"threads", "1-4*", "step *"},
		{"threads", "1-4+0", "step +0"},
		{"threads", "1-4*2*2", "step *2*2"},
		{"threads", "10-1*4", "10 cannot be divided by 4"},
		{"threads", "1-5000", "over 1000 values"},
		{"threads", "1-600,601-1200", "over 1000 values"},
		{"bs", "4k-64k", "needs a step"},
		{"read-pct", "0-100", "needs a step"},
		{"read-pct", "101", "from 0 to 100"},
		{"read-pct", "0-100*2", "over 1000 values"},
		{"read-pct", "0-100+0", "step +0"},
		{"bs", "0", "must be over 0"},
		{"bs", "2p", "at most 1p"},
		{"bs", "4q", "unknown suffix"},
	} {
		if a, err := ParseAxis(c.name, c.in); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("--%s %s: %v, error %v, want one with %q", c.name, c.in, a, err, c.part)
		}
	}
}

func spec(t testing.TB, axes ...string) *Spec {
	t.Helper()
	s := &Spec{}
	for i := 0; i < len(axes); i += 2 {
		a, err := ParseAxis(axes[i], axes[i+1])
		if err != nil {
			t.Fatal(err)
		}
		s.Axes = append(s.Axes, a)
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	return s
}

// Written order, the last varies fastest: as nested loops.
func TestOrder(t *testing.T) {
	s := spec(t, "rw", "randread,randwrite", "threads", "2,4", "bs", "4k,8k,64k")
	var want []string
	for _, rw := range []string{"randread", "randwrite"} {
		for _, threads := range []int{2, 4} {
			for _, bs := range []string{"4k", "8k", "64k"} {
				want = append(want, fmt.Sprintf("rw %s, threads %d, bs %s", rw, threads, bs))
			}
		}
	}
	var got []string
	for i, c := range s.All() {
		got = append(got, c.String())
		if i != len(got)-1 || s.At(i).String() != c.String() {
			t.Errorf("combination %d is %v", i, c)
		}
	}
	if !slices.Equal(got, want) || s.Len() != len(want) {
		t.Errorf("%d combinations:\n%s", s.Len(), strings.Join(got, "\n"))
	}
	for i := range s.All() { // a loop that is left
		if i == 3 {
			break
		}
	}
	if none := (&Spec{}); none.Len() != 1 || len(none.At(0)) != 0 {
		t.Error("a sweep without axes is one point")
	}
}

// Any axes: every combination once.
func TestEveryCombinationOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 6))
	for range 200 {
		s := &Spec{}
		product := 1
		for _, name := range Names[:rng.IntN(4)] {
			n := 1 + rng.IntN(5)
			a := Axis{Name: name}
			for v := range n {
				a.Values = append(a.Values, kinds[name].format(int64(v+1)))
			}
			s.Axes = append(s.Axes, a)
			product *= n
		}
		rng.Shuffle(len(s.Axes), func(i, j int) { s.Axes[i], s.Axes[j] = s.Axes[j], s.Axes[i] })
		seen := map[string]bool{}
		for _, c := range s.All() {
			seen[c.String()] = true
		}
		cells := map[int]bool{}
		for _, m := range s.Matrices("threads", "iodepth") {
			for r, row := range m.Points {
				for k, i := range row {
					cells[i] = true
					c := s.At(i)
					threads, _ := c.Get("threads")
					depth, _ := c.Get("iodepth")
					if threads != m.Rows[r] || depth != m.Cols[k] {
						t.Fatalf("%v stands in row %q, column %q", c, m.Rows[r], m.Cols[k])
					}
				}
			}
		}
		if len(seen) != product || s.Len() != product || len(cells) != product {
			t.Fatalf("%v: %d combinations, %d different ones, %d in matrices, want %d", s, s.Len(), len(seen), len(cells), product)
		}
	}
}

func TestGet(t *testing.T) {
	c := spec(t, "rw", "read", "bs", "64k", "read-pct", "70").At(0)
	for name, want := range map[string]int64{"bs": 65536, "read-pct": 70} {
		if n, ok := c.Number(name); !ok || n != want {
			t.Errorf("%s is %d, %v", name, n, ok)
		}
	}
	for _, name := range []string{"rw", "threads", "runtime"} {
		if n, ok := c.Number(name); ok {
			t.Errorf("%s is %d", name, n)
		}
	}
	if v, ok := c.Get("rw"); v != "read" || !ok {
		t.Errorf("rw is %q", v)
	}
	if v, ok := c.Get("iodepth"); ok {
		t.Errorf("iodepth is %q", v)
	}
}

func TestValidate(t *testing.T) {
	long := Axis{Name: "threads"}
	for i := range 1001 {
		long.Values = append(long.Values, fmt.Sprint(i+1))
	}
	wide := func(name string) Axis { return Axis{Name: name, Values: long.Values[:400]} }
	for _, c := range []struct {
		axes []Axis
		part string
	}{
		{[]Axis{{"threads", []string{"1"}}, {"threads", []string{"2"}}}, "--threads: given twice"},
		{[]Axis{{"engine", []string{"aio"}}}, "cannot be swept"},
		{[]Axis{{"bs", nil}}, "--bs: no value"},
		{[]Axis{{"rw", []string{""}}}, "--rw: an empty value"},
		{[]Axis{{"bs", []string{"4k-8k*2"}}}, "unknown suffix"},
		{[]Axis{long}, "--threads: 1001 values"},
		{[]Axis{wide("threads"), wide("iodepth")}, "over 100000 points; shorten the list of --iodepth"},
	} {
		s := Spec{c.axes}
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), c.part) {
			t.Errorf("error %v, want one with %q", err, c.part)
		}
	}
	text, err := json.Marshal(spec(t, "bs", "4k-16k*2"))
	if err != nil || string(text) != `{"axes":[{"name":"bs","values":["4k","8k","16k"]}]}` {
		t.Errorf("%s, %v", text, err)
	}
}

func TestMatrixText(t *testing.T) {
	s := spec(t, "rw", "randread,randwrite", "threads", "2,16", "iodepth", "1,2,64")
	var all strings.Builder
	for _, m := range s.Matrices("threads", "iodepth") {
		all.WriteString(m.Text("IOPS", func(i int) string { return []string{"-", "1,234"}[i%2] + strings.Repeat("0", i/6) }))
	}
	want := `rw randread
IOPS by iodepth
threads      1      2     64
      2      -  1,234      -
     16  1,234      -  1,234
rw randwrite
IOPS by iodepth
threads       1       2      64
      2      -0  1,2340      -0
     16  1,2340      -0  1,2340
`
	if all.String() != want {
		t.Errorf("got\n%s\nwant\n%s", all.String(), want)
	}
	bs := spec(t, "bs", "4k,8k")
	for _, c := range []struct{ row, col, want string }{
		{"bs", "iodepth", "IOPS\nbs\n4k  0\n8k  1\n"},
		{"threads", "bs", "IOPS by bs\n  4k  8k\n   0   1\n"},
		{"threads", "iodepth", "bs 4k\nIOPS\n  0\nbs 8k\nIOPS\n  1\n"},
	} {
		got := ""
		for _, m := range bs.Matrices(c.row, c.col) {
			got += m.Text("IOPS", func(i int) string { return fmt.Sprint(i) })
		}
		if got != c.want {
			t.Errorf("%s x %s: got\n%s\nwant\n%s", c.row, c.col, got, c.want)
		}
	}
}

func TestKnee(t *testing.T) {
	points := []Figure{{true, 100, 50}, {true, 200, 100}, {true, 300, 500}, {false, 900, 10}, {true, 200, 90}, {true, 200, 90}, {true, 0, 1}}
	for _, c := range []struct {
		limit int64
		want  int
		ok    bool
	}{{1000, 2, true}, {500, 2, true}, {499, 4, true}, {90, 4, true}, {89, 0, true}, {50, 0, true}, {49, -1, false}} {
		if i, ok := Knee(points, c.limit); i != c.want || ok != c.ok {
			t.Errorf("limit %d: point %d, %v; want %d, %v", c.limit, i, ok, c.want, c.ok)
		}
	}
	if _, ok := Knee(nil, 1); ok {
		t.Error("a knee of nothing")
	}
}

// The ranges that the guide shows give what it says.
func TestGuide(t *testing.T) {
	text, err := os.ReadFile("../docs/sweep.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 4 || !strings.HasPrefix(cells[1], " `--") {
			continue
		}
		name, list, _ := strings.Cut(strings.Trim(cells[1], " `-"), " ")
		a, err := ParseAxis(name, list)
		if want := strings.Trim(cells[2], " `"); err != nil || strings.Join(a.Values, ",") != want {
			t.Errorf("--%s %s: %v, %v; the guide says %s", name, list, a.Values, err, want)
		}
		rows++
	}
	if rows < 5 {
		t.Errorf("only %d examples found", rows)
	}
}

func FuzzParseAxis(f *testing.F) {
	for _, s := range []string{"2,4,8,16", "1-16*2", "64k-4k*2", "0-100+25", "4k-16k + 4k", "1-9223372036854775807*3"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, name := range Names {
			a, err := ParseAxis(name, s)
			if err != nil {
				continue
			}
			if err := (&Spec{[]Axis{a}}).Validate(); err != nil {
				t.Fatalf("--%s %q gives %v: %v", name, s, a, err)
			}
			if back, err := ParseAxis(name, strings.Join(a.Values, ",")); err != nil || !slices.Equal(back.Values, a.Values) {
				t.Fatalf("--%s %q gives %v and reads back as %v, %v", name, s, a, back, err)
			}
		}
	})
}
