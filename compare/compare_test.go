package compare

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blkstorm/op"
	"blkstorm/result/load"
	"blkstorm/result/load/loadtest"
)

// epoch is when the runs of these tests begin.
var epoch = time.Unix(1_700_000_000, 0)

// device makes runs: rows of reads whose number and latency wander from row to row.
type device struct {
	r     *rand.Rand
	phi   float64 // how rows hang together
	sd    float64 // of the level, as part of it
	speed float64
	rows  int
	label string
}

func (d *device) run(id string) *loadtest.Run {
	p := loadtest.Point{Label: d.label, Start: epoch}
	if p.Label == "" {
		p.Label = "randread 4k"
	}
	state := d.r.NormFloat64()
	for range d.rows {
		state = d.phi*state + math.Sqrt(1-d.phi*d.phi)*d.r.NormFloat64()
		level := (1 + d.sd*state) * d.speed
		var loads []loadtest.Load
		// A median among most of the values, and a tail of 2 %.
		for i, share := range []float64{0.35, 0.4, 0.23, 0.02} {
			ns := int64([]float64{80e3, 100e3, 120e3, 400e3}[i] * (1 + 0.02*d.r.Float64()) / level)
			loads = append(loads, loadtest.Load{Op: op.Read, N: uint32(10_000 * share * level), NS: ns, Bytes: 4096})
		}
		p.Rows = append(p.Rows, loads)
	}
	return &loadtest.Run{ID: id, Host: "vm", Points: []loadtest.Point{p}}
}

func newDevice(seed uint64) *device {
	return &device{r: rand.New(rand.NewPCG(seed, 0)), phi: 0.3, sd: 0.01, speed: 1, rows: 25}
}

func opened(t *testing.T, path string) *load.Result {
	t.Helper()
	r, err := load.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (d *device) folder(t *testing.T, id string) *load.Result {
	t.Helper()
	return opened(t, d.run(id).Folder(t))
}

func compared(t *testing.T, o Options, sides ...[]*load.Result) *Doc {
	t.Helper()
	d, err := New(sides, o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func one(r *load.Result) []*load.Result { return []*load.Result{r} }

// find is a figure of the first point.
func find(t *testing.T, d *Doc, direction, metric string) *Figure {
	t.Helper()
	for _, f := range d.Comparisons[0].Points[0].Figures {
		if f.Direction == direction && f.Metric == metric {
			return f
		}
	}
	t.Fatalf("no %s %s", direction, metric)
	return nil
}

func codes(d *Doc) map[string]bool {
	out := map[string]bool{}
	for _, w := range d.Warnings {
		out[w.Code] = true
	}
	for _, c := range d.Comparisons {
		for _, w := range c.Warnings {
			out[w.Code] = true
		}
	}
	return out
}

// Runs of one device: 40 pairs show any difference at most at the rate promised; a device 5 % slower is
// found in all its figures that a run tells.
func TestSameAndSlower(t *testing.T) {
	const pairs = 40
	dev := newDevice(1)
	shown := 0
	for range pairs {
		d := compared(t, Options{}, one(dev.folder(t, "a")), one(dev.folder(t, "b")))
		if s := d.Comparisons[0].Summary; s.Better+s.Worse > 0 {
			shown++
		} else if s.NoDifference < 5 {
			t.Fatalf("%+v", s)
		}
	}
	rate := float64(DefaultFalseRate)
	if limit := rate + 5*math.Sqrt(rate*(1-rate)/pairs); float64(shown)/pairs > limit {
		t.Errorf("%d of %d pairs of the same device show a difference, promised are %v", shown, pairs, rate)
	}

	dev.rows = 60
	base := dev.folder(t, "a")
	dev.speed = 0.95
	d := compared(t, Options{}, one(base), one(dev.folder(t, "b")))
	for _, metric := range []string{"iops", "bw", "mean", "p50", "p99"} {
		f := find(t, d, "total", metric)
		change := 5.0
		if metric == "iops" || metric == "bw" {
			change = -5
		}
		if f.Verdict != Worse || math.Abs(*f.ChangePct-change) > 2 || *f.LowPct > change+1 || *f.HighPct < change-1 {
			t.Errorf("%s: %s, %v (%v to %v)", metric, f.Verdict, *f.ChangePct, *f.LowPct, *f.HighPct)
		}
	}
	if f := find(t, d, "total", "max"); f.Verdict != CannotTell || !strings.Contains(f.Why, "repeated runs do") {
		t.Errorf("max: %+v", f)
	}
	if !codes(d)["one_pair"] {
		t.Error("nothing says that a pair knows no variation from run to run")
	}
}

// Repeats are judged by their values, one against several by the scatter of the several.
func TestRepeats(t *testing.T) {
	dev := newDevice(2)
	side := func(n int) (out []*load.Result) {
		for i := range n {
			out = append(out, dev.folder(t, string(rune('a'+i))+strings.Repeat("x", int(100*dev.speed))))
		}
		return out
	}
	base := side(4)
	dev.speed = 0.9
	slow := side(4)
	d := compared(t, Options{}, base, slow)
	for _, metric := range []string{"iops", "mean", "p99", "max"} {
		f := find(t, d, "total", metric)
		if f.Verdict != Worse || f.Method != FromRepeats || len(f.RunsA) != 4 || f.EffectiveB != 4 {
			t.Errorf("%s: %+v", metric, f)
		}
	}
	if codes(d)["one_pair"] || codes(d)["repeats_differ"] {
		t.Errorf("warnings %v", d.Warnings)
	}
	d = compared(t, Options{}, base, slow[:1])
	if f := find(t, d, "total", "iops"); f.Method != OneAgainstOthers || f.Verdict != Worse {
		t.Errorf("%+v", f)
	}
	// A second result beside the repeats, and the same one twice.
	d = compared(t, Options{}, base, base, slow)
	if s := d.Comparisons[0].Summary; s.Better+s.Worse > 0 || d.Comparisons[1].Summary.Worse == 0 || d.Comparisons[1].Side != "C" {
		t.Errorf("%+v", d.Comparisons)
	}
	if !codes(d)["same_result"] {
		t.Error("nothing says that a result is compared with itself")
	}
}

// Without histograms of rows, percentiles cannot be told; without rows, nothing can.
func TestWithoutSeries(t *testing.T) {
	dev := newDevice(3)
	file := func(speed float64) *load.Result {
		dev.speed = speed
		return opened(t, dev.run("x").File(t))
	}
	d := compared(t, Options{}, one(file(1)), one(file(0.9)))
	if f := find(t, d, "total", "iops"); f.Verdict != Worse {
		t.Errorf("%+v", f)
	}
	if f := find(t, d, "total", "p99"); f.Verdict != CannotTell || !strings.Contains(f.Why, "latency.hlog") || f.ChangePct == nil {
		t.Errorf("%+v", f)
	}

	short := newDevice(4)
	short.rows = 12
	d = compared(t, Options{}, one(short.folder(t, "a")), one(short.folder(t, "b")))
	if f := find(t, d, "total", "iops"); f.Verdict != CannotTell || !strings.Contains(f.Why, "12, at least 20") || f.LowPct != nil {
		t.Errorf("%+v", f)
	}
	if d.Confidence != 0.95 || strings.Contains(string(text(t, d)), "Welch") {
		t.Errorf("%v\n%s", d.Confidence, text(t, d))
	}

	// A row that is missing, and a log cut short within the window.
	whole := dev.folder(t, "a")
	cut := dev.run("b").Folder(t)
	damage(t, filepath.Join(cut, "latency.hlog"), func(b []byte) []byte { return b[:len(b)/2] })
	d = compared(t, Options{}, one(whole), one(opened(t, cut)))
	if f := find(t, d, "total", "p99"); f.Verdict != CannotTell || !strings.Contains(f.Why, "do not add up") {
		t.Errorf("%+v", f)
	}
	damage(t, filepath.Join(cut, "intervals.ndjson"), func(b []byte) []byte { return append(b[:len(b)*3/4:len(b)*3/4], "\nx\n"...) })
	d = compared(t, Options{}, one(whole), one(opened(t, cut)))
	if f := find(t, d, "total", "iops"); f.Verdict != CannotTell || !strings.Contains(f.Why, "cannot be read") {
		t.Errorf("%+v", f)
	}
}

func damage(t *testing.T, path string, f func([]byte) []byte) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, f(b), 0o600); err != nil {
		t.Fatal(err)
	}
}

func text(t *testing.T, d *Doc) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Mixed loads have their directions, of which only those that moved something are shown; of what was
// measured on one side only the change is not told.
func TestDirections(t *testing.T) {
	mixed := func(write uint32, id string) *load.Result {
		run := &loadtest.Run{ID: id, Host: "vm", Points: []loadtest.Point{{Label: "mix", Start: epoch, Rows: loadtest.Steady(30,
			loadtest.Load{Op: op.Read, N: 700, NS: 100e3, Bytes: 4096}, loadtest.Load{Op: op.Write, N: write, NS: 50e3, Bytes: 8192})}}}
		return opened(t, run.Folder(t))
	}
	d := compared(t, Options{}, one(mixed(300, "a")), one(mixed(330, "b")))
	if f := find(t, d, "write", "iops"); f.Verdict != Better || math.Abs(*f.ChangePct-10) > 1e-9 {
		t.Errorf("rows all alike: %+v", f)
	}
	for _, metric := range []string{"iops", "p50", "mean"} {
		if f := find(t, d, "read", metric); f.Verdict != NoDifference || *f.P != 1 {
			t.Errorf("equal %s: %+v", metric, f)
		}
	}
	d = compared(t, Options{}, one(mixed(300, "a")), one(mixed(0, "b")))
	if f := find(t, d, "write", "iops"); f.Verdict != CannotTell || f.B != nil || f.ChangePct != nil || !strings.Contains(f.Why, "no I/O") {
		t.Errorf("%+v", f)
	}
	metrics, err := ParseMetrics("read.p99, stddev,total.mean,mean")
	if err != nil {
		t.Fatal(err)
	}
	d = compared(t, Options{Metrics: metrics}, one(mixed(300, "a")), one(mixed(300, "b")))
	var got []string
	for _, f := range d.Comparisons[0].Points[0].Figures {
		got = append(got, f.Direction+"."+f.Metric)
	}
	if want := "total.stddev total.mean read.p99 read.stddev read.mean write.stddev write.mean"; strings.Join(got, " ") != want {
		t.Errorf("%v, want %v", got, want)
	}
	// What nothing has is no empty table.
	if metrics, err = ParseMetrics("mean,trim.p99"); err != nil {
		t.Fatal(err)
	}
	if _, err := New([][]*load.Result{one(mixed(300, "a")), one(mixed(300, "b"))}, Options{Metrics: metrics}); err == nil || !strings.Contains(err.Error(), "--metric trim.p99: no point that is compared has") {
		t.Errorf("a direction that nothing has: %v", err)
	}
}

// What goes out is JSON with finite numbers, whatever came in.
func TestHostileResults(t *testing.T) {
	const evil = "<script>alert(1)</script>\x1b[2J\u202e & \"x\""
	dev := newDevice(5)
	dev.label = evil
	a, b := dev.run("<b>"), dev.run("c")
	a.Host = "vm" // a folder's name
	b.Points = append(b.Points, loadtest.Point{Label: "none", Start: epoch}, loadtest.Point{Label: evil, Start: epoch, Rows: loadtest.Steady(30)})
	ra, rb := opened(t, a.Folder(t)), opened(t, b.Folder(t))
	ra.Doc.Host.Hostname, rb.Doc.Host.CPUModel = evil, evil
	ra.Doc.Host.CPUModel = "x"
	ra.Doc.Points[0].WindowS = 0
	limit, err := ParseLimit("mean worse 1% at <script>*")
	if err != nil {
		t.Fatal(err)
	}
	d := compared(t, Options{Version: evil, FailIf: []Limit{limit}}, one(ra), one(rb))
	var js, html bytes.Buffer
	if err := WriteJSON(&js, d); err != nil {
		t.Fatal(err)
	}
	var back Doc
	if err := json.Unmarshal(js.Bytes(), &back); err != nil || back.Comparisons[0].Points[0].Label != evil {
		t.Errorf("%v", err)
	}
	if err := WriteHTML(&html, d); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(html.Bytes(), []byte("<script>alert")) || bytes.ContainsAny(html.Bytes(), "\x1b\u202e") {
		i := bytes.Index(html.Bytes(), []byte("<script>alert"))
		t.Errorf("a label gets into the page as it is: %d %.300q", i, html.Bytes()[max(i-100, 0):])
	}
	if out := text(t, d); bytes.ContainsAny(out, "\x1b\u202e") {
		t.Errorf("a label gets to the terminal as it is: %q", out)
	}
}

func TestNothingToCompare(t *testing.T) {
	dev := newDevice(6)
	a := dev.folder(t, "a")
	dev.label = "another"
	_, err := New([][]*load.Result{one(a), one(dev.folder(t, "b"))}, Options{})
	if err == nil || !strings.Contains(err.Error(), "the baseline has randread 4k, and B has another") {
		t.Errorf("%v", err)
	}
	if _, err := New([][]*load.Result{one(a)}, Options{}); err == nil {
		t.Error("one result is compared with nothing")
	}
	if _, err := New([][]*load.Result{one(a), {}}, Options{}); err == nil {
		t.Error("a side without results passes")
	}
	if _, err := New([][]*load.Result{one(a), one(a)}, Options{FalseRate: 0.6}); err == nil {
		t.Error("a rate of 60 % passes")
	}
}
