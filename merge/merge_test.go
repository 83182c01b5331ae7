package merge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blkstorm/op"
	"blkstorm/result"
	"blkstorm/result/load"
	"blkstorm/result/load/loadtest"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 123_456_789, time.UTC)

// must merges, and fails the test when that is refused.
func must(t *testing.T, o Options, paths ...string) *Result {
	t.Helper()
	r, err := Merge(paths, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// vm is a run of one point, in which n intervals with a load each begin at start.
func vm(host string, start time.Time, n int, loads ...loadtest.Load) *loadtest.Run {
	return &loadtest.Run{ID: "id-" + host, Host: host, Points: []loadtest.Point{{Label: "load", Start: start, Rows: loadtest.Steady(n, loads...)}}}
}

func codes(p *result.Point) (list []string) {
	for _, w := range p.Warnings {
		list = append(list, w.Code)
	}
	return list
}

// message is that of a warning of the code; empty without one.
func message(p *result.Point, code string) string {
	for _, w := range p.Warnings {
		if w.Code == code {
			return w.Message
		}
	}
	return ""
}

// The check that percentiles are those of all I/Os: of 1,010,000 the slowest 10,000 are just under 1 %.
func TestFastAndSlow(t *testing.T) {
	fast := vm("a", epoch, 10, loadtest.Load{Op: op.Read, N: 100_000, NS: 1_000_000, Bytes: 4096})
	slow := vm("b", epoch, 10, loadtest.Load{Op: op.Read, N: 1000, NS: 100_000_000, Bytes: 4096})
	for name, paths := range map[string][]string{
		"folders": {fast.Folder(t), slow.Folder(t)}, "documents": {fast.File(t), slow.File(t)}, "both": {slow.File(t), fast.Folder(t)},
	} {
		r := must(t, Options{}, paths...)
		p := r.Doc.Points[0]
		for _, s := range []*result.Stat{p.Total, p.Read, p.Streams[0].Total, p.Streams[0].Read} {
			l := s.Latency
			if s.IOs != 1_010_000 || s.Bytes != 1_010_000*4096 || s.IOPS != 101_000 || s.BytesPerS != 101_000*4096 {
				t.Errorf("%s: %+v", name, s)
			}
			if l.Count != 1_010_000 || l.Min != 1_000_000 || l.Max != 100_000_000 || l.Mean != 1_980_198 {
				t.Errorf("%s: %+v", name, l)
			}
			for key, want := range map[string]int64{"50": 1e6, "95": 1e6, "99": 1e6, "99.9": 100e6} {
				if got := l.Percentiles[key]; got < want || got > want+want/1000 {
					t.Errorf("%s: p%s is %d, want %d", name, key, got, want)
				}
			}
			h, err := load.Histogram(l)
			if err != nil {
				t.Fatal(err)
			}
			if p := h.Percentile(99.5); p != 100_000_000 {
				t.Errorf("%s: p99.5 is %d", name, p)
			}
		}
		how := r.Doc.Merge.Points[0]
		if how.Window != result.MergeEqual || how.LossS != 0 || len(p.Warnings) != 0 || r.Broken || !p.Completed {
			t.Errorf("%s: %+v, warnings %v", name, how, codes(p))
		}
		a, b := how.Rows[0], how.Rows[1]
		if a.IOs != 1_000_000 || *a.P99NS != 1_000_000 || b.IOPS != 1000 || b.MeanNS != 100_000_000 || r.Doc.Merge.Members[1].Name != "b" {
			t.Errorf("%s: rows %+v", name, how.Rows)
		}
		if want := (result.MergeSpread{Min: 1000, Median: 50_500, Max: 100_000, StdDev: 49_500}); how.IOPS != want {
			t.Errorf("%s: spread %+v", name, how.IOPS)
		}
		if len(p.Targets) != 2 || p.Targets[1].Path != "b:/dev/sdb" || p.Targets[1].Read.IOs != 10_000 || p.Targets[1].Read.Latency.HDR != "" {
			t.Errorf("%s: targets %+v", name, p.Targets[1])
		}
	}
}

var eachRead = loadtest.Load{Op: op.Read, N: 100, NS: 200_000, Bytes: 8192}

// A machine that began 5 s late, one that ended 10 s early, and one whose log was cut short 20 s before the
// end: the 20 s that all have in common are used, and each is named.
func TestCommonWindow(t *testing.T) {
	whole := vm("whole", epoch, 60, eachRead)
	late := vm("late", epoch.Add(5*time.Second+300*time.Millisecond), 60, eachRead)
	early := vm("early", epoch, 50, eachRead)
	early.Points[0].Incomplete = true
	torn := vm("torn", epoch, 60, eachRead)
	dir := torn.Folder(t)
	log := filepath.Join(dir, "latency.hlog")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(text, []byte("\n"))
	if err := os.WriteFile(log, append(bytes.Join(lines[:5+40], nil), "Tag=0/lo"...), 0o600); err != nil {
		t.Fatal(err)
	}
	paths := []string{whole.Folder(t), late.Folder(t), early.Folder(t), dir}
	r := must(t, Options{}, paths...)
	p, how := r.Doc.Points[0], r.Doc.Merge.Points[0]
	// From 5.3 s to 40 s; whole intervals of those that began at 0 are 6 to 40, of the late one 5.3 to 39.3.
	if how.Window != result.MergeCommon || how.CommonS != 34.7 || p.WindowS != 34 || how.LossS != 26 || how.LossPct != 100*26.0/60 || !how.CommonStart.Equal(epoch.Add(5300*time.Millisecond)) {
		t.Errorf("%+v, window %g", how, p.WindowS)
	}
	if p.Total.IOs != 4*34*100 || p.Total.IOPS != 400 || p.Total.BytesPerS != 400*8192 || p.Read.Latency.Count != 4*34*100 || p.Read.Latency.Mean != 200_000 {
		t.Errorf("%+v", p.Total)
	}
	for _, row := range how.Rows {
		if row.IOs != 3400 || row.UsedS != 34 || row.IOPS != 100 || row.MaxNS != 200_000 {
			t.Errorf("%+v", row)
		}
	}
	for code, words := range map[string][]string{
		"member_late":        {"late by 5.3 s"},
		"member_ended_early": {"early by 10.0 s", "torn by 20.0 s"},
		"member_broken":      {"early (it was interrupted)"},
		"merged_window_cut":  {"26.0 s of 60.0 s (43.3 %)", "late began last, torn ended first"},
	} {
		for _, word := range words {
			if got := message(p, code); !strings.Contains(got, word) {
				t.Errorf("%s: %q lacks %q", code, got, word)
			}
		}
	}
	if !r.Broken || p.Completed || len(r.Doc.Warnings) != 1 || !strings.Contains(r.Doc.Warnings[0].Message, "torn: its latency.hlog ends, or has a gap, 40.000 s after the start") {
		t.Errorf("broken %v, completed %v, %+v", r.Broken, p.Completed, r.Doc.Warnings)
	}
	// Without logs whole windows are used, and what that means is said.
	r = must(t, Options{}, whole.File(t), late.File(t), early.Folder(t))
	p, how = r.Doc.Points[0], r.Doc.Merge.Points[0]
	if how.Window != result.MergeWhole || p.Total.IOs != 17_000 || p.Total.IOPS != 300 || p.WindowS != 60 {
		t.Errorf("%+v, %+v", how, p.Total)
	}
	if got := message(p, "merged_whole_windows"); !strings.Contains(got, "all measured together for 44.7 s only") || !strings.Contains(got, "2 of 3 have no histogram log to cut: late, whole") {
		t.Errorf("%q", got)
	}
	// Those that did not run together at all.
	r = must(t, Options{}, whole.Folder(t), vm("later", epoch.Add(time.Hour), 60, eachRead).Folder(t))
	if got := message(r.Doc.Points[0], "merged_no_common_window"); !strings.Contains(got, "there is no time that all measured") {
		t.Errorf("%q", got)
	}
}

// text is the document as JSON.
func text(t *testing.T, d *result.Doc) string {
	t.Helper()
	var b bytes.Buffer
	if err := result.WriteJSON(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// random is a run with several streams, targets, directions and points.
func random(rng *rand.Rand, host string, skew time.Duration) *loadtest.Run {
	run := &loadtest.Run{ID: "id-" + host, Host: host, Targets: []string{"/dev/sdb", "/dev/sdc"}}
	for i := range 3 {
		p := loadtest.Point{Label: fmt.Sprint("point ", i), Start: epoch.Add(time.Duration(i)*time.Minute + skew), Streams: []string{"oltp", "log"}}
		for range 5 + rng.IntN(2) {
			var row []loadtest.Load
			for range rng.IntN(30) {
				row = append(row, loadtest.Load{
					Stream: rng.IntN(2), Target: rng.IntN(2), Op: []op.Op{op.Read, op.Write, op.Trim, op.Sync}[rng.IntN(4)],
					N: uint32(1 + rng.IntN(1000)), NS: 1 + rng.Int64N(1<<(10+rng.IntN(20))), Bytes: 4096, Errors: uint64(rng.IntN(2)),
				})
			}
			p.Rows = append(p.Rows, row)
		}
		run.Points = append(run.Points, p)
	}
	return run
}

// The order in which results are named does not matter, and counts are the sums of those that went in,
// whether windows are cut or whole.
func TestOrderAndSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 6 {
		var paths []string
		var want [3]uint64
		cut := round%2 == 0
		for i := range 4 {
			skew := time.Duration(0)
			if cut {
				skew = time.Duration(rng.IntN(1500)) * time.Millisecond
			}
			run := random(rng, fmt.Sprint("vm", i), skew)
			paths = append(paths, run.Folder(t))
			for k, p := range run.Document(t).Points {
				want[k] += p.Total.IOs
			}
		}
		first := must(t, Options{Version: "v"}, paths...).Doc
		rng.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
		if d := cmp.Diff(text(t, first), text(t, must(t, Options{Version: "v"}, paths...).Doc)); d != "" {
			t.Fatal("another order gives another document:", d)
		}
		for i, p := range first.Points {
			checkSums(t, p, first.Merge.Points[i])
			if how := first.Merge.Points[i]; how.Window == result.MergeEqual && p.Total.IOs != want[i] {
				t.Errorf("%d I/Os, the members have %d", p.Total.IOs, want[i])
			}
		}
	}
}

// checkSums holds the parts of a point to its total.
func checkSums(t *testing.T, p *result.Point, how result.MergePoint) {
	t.Helper()
	sums := map[string]uint64{"directions": p.Read.IOs + p.Write.IOs + p.Trim.IOs, "latencies": p.Total.Latency.Count}
	bytes := uint64(0)
	for _, s := range p.Streams {
		sums["streams"] += s.Total.IOs
		sums["streams' latencies"] += s.Total.Latency.Count
		bytes += s.Total.Bytes
	}
	for _, s := range p.Targets {
		sums["targets"] += s.Total.IOs
		sums["targets' latencies"] += s.Total.Latency.Count
	}
	for _, r := range how.Rows {
		sums["rows"] += r.IOs
	}
	for name, sum := range sums {
		if sum != p.Total.IOs {
			t.Errorf("%s (%s): %s sum to %d, the total is %d", p.Label, how.Window, name, sum, p.Total.IOs)
		}
	}
	if bytes != p.Total.Bytes {
		t.Errorf("%s: streams moved %d bytes, the total is %d", p.Label, bytes, p.Total.Bytes)
	}
}

// A merge of merges is the merge of all, but for the rounding of means to nanoseconds.
func TestMergeOfMerges(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var paths []string
	for i := range 5 {
		run := random(rng, fmt.Sprint("vm", i), 0)
		for k := range run.Points {
			for len(run.Points[k].Rows) < 6 {
				run.Points[k].Rows = append(run.Points[k].Rows, nil)
			}
		}
		paths = append(paths, run.Folder(t))
	}
	keep := func(d *result.Doc) string {
		path := filepath.Join(t.TempDir(), "merged.json")
		if err := os.WriteFile(path, []byte(text(t, d)), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	all := must(t, Options{Version: "v"}, paths...).Doc
	left, right := keep(must(t, Options{Version: "v"}, paths[:2]...).Doc), keep(must(t, Options{Version: "v"}, paths[2:]...).Doc)
	again := must(t, Options{Version: "v"}, right, left).Doc
	near := cmp.FilterPath(func(p cmp.Path) bool {
		name := p.Last().String()
		return name == ".Mean" || name == ".StdDev"
	}, cmp.Comparer(func(a, b int64) bool { return a-b <= 2 && b-a <= 2 }))
	opts := cmp.Options{near, cmp.FilterPath(func(p cmp.Path) bool { return strings.HasSuffix(p.GoString(), ".Warnings") }, cmp.Ignore())}
	var a, b result.Doc
	if err := errors.Join(json.Unmarshal([]byte(text(t, all)), &a), json.Unmarshal([]byte(text(t, again)), &b)); err != nil {
		t.Fatal(err)
	}
	for i := range a.Points {
		if d := cmp.Diff(a.Points[i], b.Points[i], opts); d != "" {
			t.Errorf("point %d: -all +merge of merges\n%s", i, d)
		}
	}
	if d := cmp.Diff(a.Merge, b.Merge, opts); d != "" {
		t.Errorf("-all +merge of merges\n%s", d)
	}
	if _, err := Merge([]string{left, paths[0]}, Options{}); !errors.Is(err, ErrTwice) {
		t.Errorf("a member that is in the merge already: %v", err)
	}
}

// A search, other plans and the same run twice are refused, and it is said why.
func TestRefuses(t *testing.T) {
	a, b := vm("a", epoch, 3, eachRead), vm("b", epoch, 3, eachRead)
	other := vm("c", epoch, 3, eachRead)
	other.Points[0].Streams = []string{"x", "y"}
	shorter := vm("d", epoch, 3, eachRead)
	shorter.Points = append(shorter.Points, loadtest.Point{Label: "more", Start: epoch, Rows: loadtest.Steady(1, eachRead)})
	search := b.Document(t)
	search.FindMax = &result.FindMax{}
	path := filepath.Join(t.TempDir(), "search.json")
	if err := os.WriteFile(path, []byte(text(t, search)), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := a.Folder(t)
	for name, c := range map[string]struct {
		paths []string
		is    error
		words string
	}{
		"nothing":      {nil, ErrNothing, "no result was named"},
		"not there":    {[]string{"/nowhere/x"}, ErrNothing, "/nowhere/x: no such file"},
		"twice":        {[]string{folder, filepath.Join(folder, "result.json")}, ErrTwice, "id-a"},
		"other plan":   {[]string{folder, other.File(t)}, ErrDiffer, `the number of phases[0].points[0].streams is 1 in a, and 2 in c`},
		"other points": {[]string{folder, shorter.File(t)}, ErrDiffer, "the number of phases[0].points is 1 in a, and 2 in d"},
		"search":       {[]string{folder, path}, nil, "search for a capacity"},
	} {
		if _, err := Merge(c.paths, Options{}); err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r := must(t, Options{AllowDifferentPlans: true}, folder, shorter.File(t))
	if d := r.Doc; len(d.Points) != 2 || d.Warnings[0].Code != "merged_plans_differ" || d.Points[1].Completed || r.Broken {
		t.Errorf("%d points, %+v", len(d.Points), d.Warnings)
	}
	if got := message(r.Doc.Points[1], "member_missing"); !strings.Contains(got, "1 of 2 members") || !strings.Contains(got, "a (its result does not have this point)") {
		t.Errorf("%q", got)
	}
}

// Points stand in the order in which they ran, also when a member lacks the first ones.
func TestOrderOfPoints(t *testing.T) {
	both := vm("a", epoch, 3, eachRead)
	both.Points = append(both.Points, both.Points[0])
	both.Points[0].Label = "z"
	second := vm("b", epoch, 3, eachRead)
	paths := []string{both.File(t), second.File(t)}
	for range 2 {
		d := must(t, Options{AllowDifferentPlans: true}, paths...).Doc
		if len(d.Points) != 2 || d.Points[0].Label != "z" || d.Points[1].Label != "load" || d.Points[1].Total.IOs != 600 {
			t.Errorf("%q, then %q with %d I/Os", d.Points[0].Label, d.Points[1].Label, d.Points[1].Total.IOs)
		}
		slices.Reverse(paths)
	}
}
