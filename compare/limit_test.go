package compare

import (
	"strings"
	"testing"

	"blkstorm/op"
	"blkstorm/result/load"
	"blkstorm/result/load/loadtest"
)

func TestParseLimit(t *testing.T) {
	for in, want := range map[string]string{
		"p99 worse 10%":                      "p99 worse 10%",
		" IOPS  Worse 5 ":                    "iops worse 5%",
		"read.p99.90 worse 0.5%":             "read.p99.9 worse 0.5%",
		"total.avg worse 10%":                "mean worse 10%",
		"response.max worse 200%":            "response.max worse 200%",
		"bandwidth worse 5% at  randread 4k": "bw worse 5% at randread 4k",
		"p50 worse 1% AT *4T/16Q":            "p50 worse 1% at *4T/16Q",
	} {
		l, err := ParseLimit(in)
		if err != nil || l.String() != want {
			t.Errorf("%q: %q, %v; want %q", in, l.String(), err, want)
			continue
		}
		if back, err := ParseLimit(l.String()); err != nil || back.String() != want {
			t.Errorf("%q reads back as %q, %v", want, back.String(), err)
		}
	}
	for in, part := range map[string]string{
		"":                        "write FIGURE worse PERCENT",
		"p99":                     "write FIGURE worse PERCENT",
		"p99 better 10%":          "write FIGURE worse PERCENT",
		"p99 worse":               "write FIGURE worse PERCENT",
		"p99 worse x":             "no percentage",
		"p99 worse 0%":            "no percentage",
		"p99 worse -5%":           "no percentage",
		"p99 worse 1e3%":          "no percentage",
		"p99 worse NaN%":          "no percentage",
		"p99 worse 5%%":           "no percentage",
		"iops worse 100%":         "cannot become worse by 100%",
		"errors worse 5%":         "is not compared",
		"cpu worse 5%":            "is not compared",
		"p101 worse 5%":           "over 0 and at most 100",
		"foo worse 5%":            "unknown figure",
		"p99 worse 5% at":         "nothing, or at and",
		"p99 worse 5% randread":   "nothing, or at and",
		strings.Repeat("x", 1000): "1000 bytes long",
	} {
		if l, err := ParseLimit(in); err == nil || !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), "--fail-if") {
			t.Errorf("%q: %v, %v; want %q", in, l, err, part)
		}
	}
}

// What is read is written so that it is read as the same.
func FuzzParseLimit(f *testing.F) {
	f.Add("p99 worse 10%", "randread")
	f.Add("read.response.p99.9 worse 0.001% at a*b", "a\x1bb")
	f.Add("iops worse 99.999 at *", "")
	f.Fuzz(func(t *testing.T, text, label string) {
		l, err := ParseLimit(text)
		if err != nil {
			return
		}
		back, err := ParseLimit(l.String())
		if err != nil || back.String() != l.String() || back.Metric != l.Metric {
			t.Errorf("%q: %q reads back as %q, %v", text, l.String(), back.String(), err)
		}
		if l.covers(label) != back.covers(label) {
			t.Errorf("%q covers %q otherwise than %q", text, label, l.String())
		}
	})
}

// even is a run of two points whose figures do not vary: what changed is shown.
func even(t *testing.T, id string, reads, writes uint32, ns int64, labels ...string) *load.Result {
	t.Helper()
	run := &loadtest.Run{ID: id, Host: "vm"}
	for _, label := range labels {
		run.Points = append(run.Points, loadtest.Point{Label: label, Start: epoch, Rows: loadtest.Steady(30,
			loadtest.Load{Op: op.Read, N: reads, NS: ns, Bytes: 4096}, loadtest.Load{Op: op.Write, N: writes, NS: 50e3, Bytes: 4096})})
	}
	return opened(t, run.Folder(t))
}

func TestFailIf(t *testing.T) {
	base := even(t, "a", 1000, 0, 100e3, "one", "two")
	for _, c := range []struct {
		name  string
		other *load.Result
		limit string
		where string // labels of what breaks it
		why   string
	}{
		{"worse", even(t, "b", 900, 0, 111e3, "one", "two"), "p99 worse 10%", "one two", "+11.0 %, from"},
		{"worse, of the only direction", even(t, "b", 900, 0, 111e3, "one", "two"), "read.p99 worse 10%", "one two", "+11.0 %"},
		{"at one point", even(t, "b", 900, 0, 111e3, "one", "two"), "p99 worse 10% at t*", "two", "+11.0 %"},
		{"just as much", even(t, "b", 900, 0, 100e3, "one", "two"), "iops worse 10%", "one two", "-10.0"},
		{"less", even(t, "b", 901, 0, 100e3, "one", "two"), "iops worse 10%", "", ""},
		{"better", even(t, "b", 1200, 0, 50e3, "one", "two"), "iops worse 1%", "", ""},
		{"a point is gone", even(t, "b", 1000, 0, 100e3, "one"), "mean worse 10%", "two", "only A has it"},
		{"a point is new", even(t, "b", 1000, 0, 100e3, "one", "two", "three"), "mean worse 10%", "", ""},
		{"no interval", even(t, "b", 1000, 0, 120e3, "one", "two"), "max worse 10%", "one two", "cannot be told"},
		{"a direction is gone", even(t, "b", 0, 1000, 100e3, "one", "two"), "read.mean worse 10%", "one two", "no I/O of direction read"},
	} {
		l, err := ParseLimit(c.limit)
		if err != nil {
			t.Fatal(err)
		}
		d := compared(t, Options{FailIf: []Limit{l}}, one(base), one(c.other))
		var where []string
		for _, b := range d.FailIf[0].Broken {
			where = append(where, b.Label)
			if !strings.Contains(b.Why, c.why) {
				t.Errorf("%s: %q, want %q", c.name, b.Why, c.why)
			}
		}
		if strings.Join(where, " ") != c.where || (d.Broken() == 1) != (c.where != "") {
			t.Errorf("%s: broken at %v, want %q", c.name, where, c.where)
		}
	}
	for _, text := range []string{"p99 worse 1% at nowhere", "write.p99 worse 1%"} {
		l, err := ParseLimit(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := New([][]*load.Result{one(base), one(base)}, Options{FailIf: []Limit{l}}); err == nil || !strings.Contains(err.Error(), "no point has such") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
