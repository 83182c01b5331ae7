package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blkstorm/result/load"
)

// TestDamagedFolder: lines that cannot be read cost the page what they had, not the page; what is left is there, and
// the page says what is not.
func TestDamagedFolder(t *testing.T) {
	spoil := func(n int) func([]byte) []byte { // the nth line from the end
		return func(text []byte) []byte {
			lines := bytes.SplitAfter(text, []byte("\n"))
			lines[len(lines)-1-n] = []byte("<b>spoilt\n")
			return bytes.Join(lines, nil)
		}
	}
	cut := func(text []byte) []byte { return text[:len(text)-7] }
	garbage := func(text []byte) []byte { return bytes.Repeat([]byte("\x00\xff\n"), 100) }
	decode := func(text []byte) []byte { return append(bytes.TrimSuffix(text, []byte("\n")), "AAAA\n"...) }
	whole := dataOf(t, pageOf(t, openFolder(t, run(t).Path)))
	for name, c := range map[string]struct {
		file   string
		spoil  func([]byte) []byte
		says   string
		places int // on the charts over time that are lost
		heat   int // columns of the map that are lost; below 0: not looked at
	}{
		"row":         {"intervals.ndjson", spoil(2), "A part of intervals.ndjson cannot be read, and is left out: line ", 1, 0},
		"last row":    {"intervals.ndjson", cut, "The last line of intervals.ndjson is cut short, and left out.", 1, 0},
		"no row":      {"intervals.ndjson", garbage, "100 lines of intervals.ndjson cannot be read, and are left out; the first: line 1: ", -1, 0},
		"line":        {"latency.hlog", spoil(2), "A part of latency.hlog cannot be read, and is left out: line ", 0, 1},
		"last line":   {"latency.hlog", cut, "The last line of latency.hlog is cut short, and left out.", 0, 1},
		"no line":     {"latency.hlog", garbage, "100 lines of latency.hlog cannot be read, and are left out; the first: line 1: ", 0, 0},
		"a histogram": {"latency.hlog", decode, "A part of latency.hlog cannot be read, and is left out: line ", 0, 1},
	} {
		dir := run(t).Path
		path := filepath.Join(dir, c.file)
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, c.spoil(text), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		page := pageOf(t, openFolder(t, dir))
		if !strings.Contains(page, c.says) {
			t.Errorf("%s: the page does not say %q", name, c.says)
		}
		if strings.Contains(page, dir) || strings.Contains(page, "<b>spoilt") {
			t.Errorf("%s: the page has the folder's path, or what was damaged", name)
		}
		data := dataOf(t, page)
		for key, lost := range map[string]int{"x": c.places, "heat": c.heat} {
			had, has := countOf(whole, key), countOf(data, key)
			if lost >= 0 && has != had-lost || lost < 0 && has != 0 {
				t.Errorf("%s: %d of %s, and %d without damage", name, has, key, had)
			}
		}
		if estimated := strings.Contains(page, "since latency.hlog cannot be read"); estimated != (name == "no line") {
			t.Errorf("%s: the map is said to be an estimate: %v", name, estimated)
		}
	}
}

func openFolder(t *testing.T, dir string) *load.Result {
	t.Helper()
	r, err := load.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// countOf is how many places in time the page's charts have, or columns its map has.
func countOf(data map[string]any, key string) int {
	if key == "heat" {
		data, key = data["heat"].(map[string]any), "x"
	}
	list, _ := data[key].([]any)
	return len(list)
}

// TestCutOff: a run that was killed within its second point, or its first, has a page that says so, and does not call
// figures trustworthy that are not there.
func TestCutOff(t *testing.T) {
	for left, want := range map[int]string{0: "Point 1 has not ended, or the run was cut off within it: what is in intervals.ndjson of it (5 rows)", 1: "Point 2 has not ended, or the run was cut off within it: what is in intervals.ndjson of it (4 rows)"} {
		r := run(t)
		r.Doc.Points = r.Doc.Points[:left]
		out := pageOf(t, r)
		if !strings.Contains(out, want) {
			t.Errorf("with %d points, the page does not say %q", left, want)
		}
		if trust := strings.Contains(out, "No warnings"); trust != (left > 0) {
			t.Errorf("with %d points, it says that there are no warnings: %v", left, trust)
		}
	}
}

// TestHeadlineRanToItsEnd: a point that was cut short is the headline only where there is no other.
func TestHeadlineRanToItsEnd(t *testing.T) {
	d := docOf(1, 1, 1, 1)
	for i, rate := range []float64{100, 900, 300} {
		d.Points[i].Total.IOPS = rate
	}
	d.Points[1].Completed = false
	if i, _ := headline(d); i != 2 {
		t.Errorf("the headline is point %d", i)
	}
	d.Points[0].Completed, d.Points[2].Completed = false, false
	if i, _ := headline(d); i != 1 {
		t.Errorf("where none ran to its end, it is point %d", i)
	}
}
