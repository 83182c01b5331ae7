package threshold_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"blkstorm/histogram"
	"blkstorm/result"
	"blkstorm/threshold"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		in, direction, figure string
		op                    threshold.Op
		value                 float64
		text                  string
	}{
		{"p99<2ms", "total", "latency.p99", "<", 2e6, "p99<2ms"},
		{" P99.90 <= 1.5s ", "total", "latency.p99.9", "<=", 1.5e9, "p99.9<=1.5s"},
		{"total.latency.p50>250us", "total", "latency.p50", ">", 250e3, "p50>250µs"},
		{"read.response.p99.999<1m", "read", "response.p99.999", "<", 60e9, "read.response.p99.999<1m0s"},
		{"response.max < 2ms", "total", "response.max", "<", 2e6, "response.max<2ms"},
		{"p100==0ns", "total", "latency.p100", "==", 0, "p100==0s"},
		{"iops>50000", "total", "iops", ">", 50000, "iops>50000"},
		{"write.iops>=0.5", "write", "iops", ">=", 0.5, "write.iops>=0.5"},
		{"bandwidth>100m", "total", "bw", ">", 100 << 20, "bw>100m"},
		{"trim.bw>=1.5GiB/s", "trim", "bw", ">=", 3 << 29, "trim.bw>=1536m"},
		{"bw!=1000", "total", "bw", "!=", 1000, "bw!=1000"},
		{"sync.avg<3µs", "sync", "latency.mean", "<", 3e3, "sync.mean<3µs"},
		{"stdev<3us", "total", "latency.stddev", "<", 3e3, "stddev<3µs"},
		{"read.min>1us", "read", "latency.min", ">", 1e3, "read.min>1µs"},
		{"errors==0", "total", "errors", "==", 0, "errors==0"},
		{"read.short<=3", "read", "short", "<=", 3, "read.short<=3"},
		{"cpu<80%", "", "cpu", "<", 80, "cpu<80%"},
		{"steal<0.5", "", "steal", "<", 0.5, "steal<0.5%"},
	} {
		a, err := threshold.Parse(c.in)
		want := threshold.Assert{Direction: c.direction, Figure: c.figure, Op: c.op, Value: c.value}
		if err != nil || a != want || a.String() != c.text {
			t.Errorf("%q: %+v, %v; want %+v, %s", c.in, a, err, want, c.text)
			continue
		}
		if back, err := threshold.Parse(a.String()); err != nil || back != a {
			t.Errorf("%q reads back as %+v, %v", a.String(), back, err)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for in, part := range map[string]string{
		"":                                "has no comparison",
		"p99":                             "has no comparison",
		"p99=2ms":                         "unknown comparison",
		"p99=<2ms":                        "unknown comparison",
		"p99<<2ms":                        "unknown comparison",
		"1ms<p99<2ms":                     "unknown comparison",
		"p99!2ms":                         "unknown comparison",
		"p99<2":                           `"2" has no unit`,
		"p99<":                            "has no unit",
		"p99<2mb":                         "write for example",
		"p99<-2ms":                        "below 0",
		"p99<300d":                        "over the limit",
		"p0<2ms":                          "over 0 and at most 100",
		"p100.1<2ms":                      "over 0 and at most 100",
		"p9.9.9<2ms":                      "over 0 and at most 100",
		"p<2ms":                           `unknown figure "p"`,
		"px<2ms":                          `unknown figure "px"`,
		"<2ms":                            `unknown figure ""`,
		"reads.p99<2ms":                   `unknown figure "reads.p99"`,
		"read.<2ms":                       `unknown figure "read."`,
		"read.write.p99<2ms":              "unknown figure",
		"latency.iops>3":                  "unknown figure",
		"response.errors==0":              "unknown figure",
		"read.cpu<80":                     "cpu is of the whole machine; write cpu",
		"total.steal<80":                  "steal is of the whole machine",
		"latency.steal<80":                "unknown figure",
		"iops>50k":                        "is not a number",
		"iops>1e6":                        "is not a number",
		"iops>-1":                         "is not a number",
		"iops>NaN":                        "is not a number",
		"iops>99999999999999999":          "is not a number",
		"errors<0.5":                      "is not a whole number",
		"bw>5q":                           `unknown suffix "q"`,
		"bw>9p/s":                         "over the limit of 8p per second",
		"cpu<80%%":                        "is not a number",
		strings.Repeat("p", 300) + "<2ms": "at most 200",
	} {
		if a, err := threshold.Parse(in); err == nil || !strings.Contains(err.Error(), part) || !strings.Contains(err.Error(), "--assert") {
			t.Errorf("%q: %+v, error %v, want one with %q", in, a, err, part)
		}
	}
}

// source gives one value, or an error, for every figure.
type source struct {
	value float64
	err   error
}

func (s source) Figure(string, string) (float64, error) { return s.value, s.err }

func TestOperators(t *testing.T) {
	for op, want := range map[string][3]bool{ // below, equal, above
		"<": {true, false, false}, "<=": {true, true, false}, ">": {false, false, true},
		">=": {false, true, true}, "==": {false, true, false}, "!=": {true, false, true},
	} {
		a, err := threshold.Parse("iops" + op + "100")
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range []float64{99, 100, 101} {
			if r := a.Check(source{value: v}); r.OK != want[i] || *r.Value != v || r.Reason != "" {
				t.Errorf("%g %s 100: %v", v, op, r)
			}
		}
		// Without a figure none is met, != neither.
		for _, s := range []source{{err: errors.New("nothing there")}, {value: math.NaN()}, {value: math.Inf(-1)}} {
			if r := a.Check(s); r.OK || r.Value != nil || r.Reason == "" {
				t.Errorf("%v %s 100: %+v", s, op, r)
			}
		}
	}
}

// point has 1000 reads of 1 to 1000 µs in a second, one error among the writes, and nothing else.
func point(t testing.TB) *result.Point {
	t.Helper()
	rec := histogram.NewRecorder()
	for i := range 1000 {
		rec.RecordN(int64(i+1)*1000, 1)
	}
	var h histogram.Histogram
	h.AddRecorder(rec)
	encoded, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	l := &result.Latency{
		Count: 1000, Min: 1000, Max: 1_000_000, Mean: 500_500, StdDev: 288_675, HDR: encoded,
		Percentiles: map[string]int64{"99": 990_111},
	}
	none := func() *result.Stat { return &result.Stat{Latency: &result.Latency{}} }
	read := &result.Stat{IOs: 1000, Bytes: 4096000, IOPS: 1000, BytesPerS: 4096000, Latency: l, Short: 1, Zero: 2}
	p := &result.Point{Total: read, Read: read, Write: none(), Trim: none(), Sync: none()}
	p.Write.Errors = 1
	p.CPU.UserPct, p.CPU.SystemPct, p.CPU.StealPct = 10, 20.5, 0.25
	return p
}

func TestCheckPoint(t *testing.T) {
	p := point(t)
	for _, c := range []struct {
		in   string
		ok   bool
		line string
	}{
		{"p99<2ms", true, "met, it is 990.1 µs"}, // from the document's own list
		{"read.p99<=500us", false, "not met, it is 990.1 µs"},
		{"p25>249us", true, "met, it is 250"}, // from the histogram: it is not in the list
		{"p25<251us", true, "met, it is 250"},
		{"p100==1ms", true, "met, it is 1.000 ms"},
		{"mean==500.5us", true, "met, it is 500.5 µs"},
		{"min>=1us", true, "met, it is 1.000 µs"},
		{"max<1ms", false, "not met, it is 1.000 ms"},
		{"stddev<0.3ms", true, "met, it is 288.7 µs"},
		{"iops>50000", false, "not met, it is 1000.0"},
		{"bw>=4000k/s", true, "met, it is 3.9 MiB/s (4.1 MB/s)"},
		{"errors==0", true, "met, it is 0"},
		{"short<=2", false, "not met, it is 3"},
		{"write.errors==0", false, "not met, it is 1"},
		{"cpu<=30.5", true, "met, it is 30.5%"},
		{"steal<0.2", false, "not met, it is 0.2%"},
		{"write.iops<100", false, "not met, no I/O of direction write completed in the window"},
		{"trim.p99<2ms", false, "not met, no I/O of direction trim"},
		{"sync.mean!=2ms", false, "not met, no I/O of direction sync"},
		{"response.p99<2ms", false, "not met, response.p99 was not measured"},
		{"read.response.max<2ms", false, "not met, response.max of direction read was not measured"},
	} {
		a, err := threshold.Parse(c.in)
		if err != nil {
			t.Fatal(err)
		}
		if r := a.Check(p); r.OK != c.ok || !strings.HasPrefix(r.String(), a.String()+": "+c.line) {
			t.Errorf("%s: %v", c.in, r)
		}
	}
	p.Total.Latency.HDR = "broken"
	a, _ := threshold.Parse("p25<2ms")
	if r := a.Check(p); r.OK || !strings.Contains(r.Reason, "percentile 25 is not in the result") {
		t.Errorf("with a broken histogram: %v", r)
	}
}

func TestDocumentForm(t *testing.T) {
	var list []threshold.Assert
	if err := json.Unmarshal([]byte(`["p99<2ms","trim.iops>5"]`), &list); err != nil {
		t.Fatal(err)
	}
	results, ok := threshold.CheckAll(list, point(t))
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(results); err != nil {
		t.Fatal(err)
	}
	want := `[{"assert":"p99<2ms","value":990111,"ok":true},{"assert":"trim.iops>5","value":null,"ok":false,"reason":"no I/O of direction trim completed in the window"}]`
	if ok || strings.TrimSpace(b.String()) != want {
		t.Errorf("%v\n%s\n%s", ok, b.String(), want)
	}
	var back []threshold.Result
	if err := json.Unmarshal([]byte(b.String()), &back); err != nil || back[0].Assert != list[0] || *back[0].Value != 990111 {
		t.Errorf("reads back as %+v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`["p99=2ms"]`), &list); err == nil {
		t.Error("a plan may have p99=2ms")
	}
	if results, ok := threshold.CheckAll(nil, point(t)); !ok || results == nil {
		t.Errorf("no asserts: %v, %v", results, ok)
	}
	if _, ok := threshold.CheckAll([]threshold.Assert{{Direction: "total", Figure: "iops", Op: ">", Value: 1}}, point(t)); !ok {
		t.Error("all are met, and yet not ok")
	}
}

// A point knows no figures but those that Parse gives.
func TestUnknownFigures(t *testing.T) {
	p := point(t)
	for _, c := range [][2]string{{"all", "iops"}, {"", "iops"}, {"total", "latency"}, {"total", "latency.p0"}, {"total", "latency.pNaN"}, {"total", "latency.p"}, {"total", "latency.median"}} {
		if v, err := p.Figure(c[0], c[1]); err == nil {
			t.Errorf("%s.%s is %g", c[0], c[1], v)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"p99<2ms", "read.response.p99.9>=1h", "bw!=1.5g/s", "cpu<80%", "errors==0", "total.latency.stdev <= 3us"} {
		f.Add(s)
	}
	p := point(f)
	f.Fuzz(func(t *testing.T, s string) {
		a, err := threshold.Parse(s)
		if err != nil {
			return
		}
		if back, err := threshold.Parse(a.String()); err != nil || back != a {
			t.Fatalf("%q is %+v and reads back from %q as %+v, %v", s, a, a.String(), back, err)
		}
		if r := a.Check(p); (r.Value == nil) == (r.Reason == "") {
			t.Fatalf("%q: %+v", s, r)
		}
	})
}

// The guide's examples are read, and its tables have every figure and key.
func TestGuide(t *testing.T) {
	text, err := os.ReadFile("../docs/thresholds.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(text), "```\n")
	block, _, _ = strings.Cut(block, "```")
	examples := 0
	for line := range strings.Lines(block) {
		example, _, _ := strings.Cut(line, "   ")
		if _, err := threshold.Parse(example); err != nil {
			t.Error(err)
		}
		examples++
	}
	if examples < 5 {
		t.Errorf("only %d examples found", examples)
	}
	for _, word := range []string{"iops", "bw", "mean", "min", "max", "stddev", "errors", "short", "cpu", "steal", "assert", "value", "ok", "reason", "response"} {
		if !strings.Contains(string(text), "`"+word+"`") {
			t.Errorf("docs/thresholds.md has no `%s`", word)
		}
	}
}
