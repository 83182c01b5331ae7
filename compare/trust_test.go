package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/result/load"
	"blkstorm/result/load/loadtest"
	"blkstorm/steady"
	"blkstorm/verdict"
)

// Each thing in which two results differ, or which speaks against one, is warned of, and nothing else is.
func TestWarnings(t *testing.T) {
	one1 := func(r *load.Result) *result.Point { return r.Doc.Points[0] }
	none := []string{"one_pair"}
	for _, c := range []struct {
		name   string
		change func(r *load.Result)
		codes  []string
		says   string
	}{
		{"the same", func(*load.Result) {}, nil, ""},
		{"another machine", func(r *load.Result) { r.Doc.Host.Hostname, r.Doc.Host.CPUs = "other", 4 }, []string{"host_differs"}, "cpus (2, 4), hostname (vm, other)"},
		{"a fact not known", func(r *load.Result) { r.Doc.Host.Hostname, r.Doc.Host.CPUs = "", 0 }, nil, ""},
		{"another kernel", func(r *load.Result) { r.Doc.Host.Kernel = "7.0" }, []string{"kernel_differs"}, "6.12.0, 7.0"},
		{"another drive", func(r *load.Result) { r.Doc.Targets[0].Serial, r.Doc.Targets[0].SizeBytes = "S2", 1 }, []string{"device_differs"}, "serial (S1, S2), size_bytes"},
		{"more drives", func(r *load.Result) { r.Doc.Targets = append(r.Doc.Targets, r.Doc.Targets[0]) }, []string{"device_differs"}, "number (1, 2)"},
		{"another plan", func(r *load.Result) { r.Doc.Plan.Phases[0].Points[0].Streams[0].IODepth = 7; r.Doc.Plan.Direct = false }, []string{"plan_differs"},
			"direct (true, false), phases[0].points[0].streams[0].iodepth (4, 7)"},
		{"a plan with more", func(r *load.Result) { r.Doc.Plan.Phases = append(r.Doc.Plan.Phases, plan.Phase{Kind: plan.Idle}) }, []string{"plan_differs"}, "phases (1 entries, 2 entries)"},
		{"another seed and name", func(r *load.Result) { r.Doc.Plan.Seed = 99; r.Doc.Plan.Targets[0].Spec = "serial=x" }, nil, ""},
		{"another engine", func(r *load.Result) { one1(r).EngineName = "libaio" }, []string{"engine_differs"}, "(io_uring, libaio)"},
		{"another depth", func(r *load.Result) { one1(r).IODepth = 32 }, []string{"depth_differs"}, "(1T/4Q, 1T/32Q)"},
		{"another version", func(r *load.Result) { r.Doc.Version = "9" }, []string{"version_differs"}, `"test", "9"`},
		{"itself", func(r *load.Result) { r.Doc.ID = "a" }, []string{"same_result"}, ""},
		{"partial", func(r *load.Result) { one1(r).Completed = false }, []string{"side_partial"}, "B: 1 of 1"},
		{"errors", func(r *load.Result) { one1(r).Faults = 1 }, []string{"side_errors"}, "B: 1 of 1"},
		{"quick", func(r *load.Result) { r.Doc.Plan.Quick = true }, []string{"side_quick"}, ""},
		{"not steady", func(r *load.Result) { one1(r).Steady = &steady.Report{} }, []string{"side_not_steady"}, ""},
		{"buffered", func(r *load.Result) { one1(r).Warnings = append(one1(r).Warnings, verdict.Warning{Code: "buffered"}) }, []string{"side_buffered"}, ""},
		{"hot", func(r *load.Result) {
			r.Doc.Warnings = append(r.Doc.Warnings, verdict.Warning{Code: "hot", Message: "90 C"})
		}, []string{"side_warned"}, "B: [hot] 90 C"},
	} {
		open := func(id string) *load.Result {
			run := &loadtest.Run{ID: id, Host: "vm", Points: []loadtest.Point{{Label: "x", Start: epoch, Rows: loadtest.Steady(30, loadtest.Load{Op: op.Read, N: 100, NS: 1e5, Bytes: 4096})}}}
			r := opened(t, run.File(t))
			r.Doc.Targets[0].Serial = "S1"
			return r
		}
		a, b := open("a"), open("b")
		c.change(b)
		d := compared(t, Options{}, one(a), one(b))
		var got []string
		messages := ""
		for _, w := range slices.Concat(d.Warnings, d.Comparisons[0].Warnings) {
			got = append(got, w.Code)
			messages += w.Message + "\n"
			if w.Message == "" || w.Advice == "" && w.Code != "side_warned" {
				t.Errorf("%s: %+v", c.name, w)
			}
		}
		if want := slices.Concat(none, c.codes); !slices.Equal(got, want) || !strings.Contains(messages, c.says) {
			t.Errorf("%s: %v, want %v with %q:\n%s", c.name, got, want, c.says, messages)
		}
	}
}

// Repeats that are none are told of.
func TestRepeatsThatAreNone(t *testing.T) {
	open := func(id string, labels ...string) *load.Result { return evenRun(t, id, labels...) }
	a, b := []*load.Result{open("a", "x", "y"), open("b", "x")}, []*load.Result{open("c", "x"), open("c", "x")}
	d := compared(t, Options{}, a, b)
	for _, code := range []string{"missing_repeats", "repeats_differ", "same_result"} {
		if !codes(d)[code] {
			t.Errorf("no %s in %+v", code, d.Warnings)
		}
	}
	// However many points are lacking, that is one warning.
	many := []string{"x"}
	for i := range 8 {
		many = append(many, fmt.Sprint("p", i))
	}
	var lacking []string
	for _, w := range compared(t, Options{}, []*load.Result{open("m", many...), open("n", "x")}, []*load.Result{open("c", "x")}).Warnings {
		if w.Code == "missing_repeats" {
			lacking = append(lacking, w.Message)
		}
	}
	want := "A: of the 2 runs, p0 is in 1, p1 is in 1, p2 is in 1, p3 is in 1, p4 is in 1, and 3 more points are not in all"
	if len(lacking) != 1 || lacking[0] != want {
		t.Errorf("%q, want %q", lacking, want)
	}
	// A point that one repeat of several has, against one of another side, has nothing to be told by.
	d = compared(t, Options{}, a, []*load.Result{open("d", "y")})
	if f := find(t, d, "total", "iops"); f.Verdict != CannotTell || !strings.Contains(f.Why, "of the repeats only") {
		t.Errorf("%+v", f)
	}
	d = compared(t, Options{}, a, b)
	if u := d.Comparisons[0].Unmatched; len(u) != 1 || u[0].Label != "y" || u[0].Side != "A" {
		t.Errorf("%+v", u)
	}
}

func evenRun(t *testing.T, id string, labels ...string) *load.Result {
	t.Helper()
	return even(t, id, 1000, 1, 1e5, labels...)
}

// Points are matched by label and order, those that prepare are left out, and a skipped one is listed.
func TestMatch(t *testing.T) {
	rows := loadtest.Steady(30, loadtest.Load{Op: op.Read, N: 10, NS: 1e5, Bytes: 4096})
	run := func(id string, points ...loadtest.Point) *load.Result {
		for i := range points {
			points[i].Start, points[i].Rows = epoch.Add(time.Duration(i)*time.Minute), rows
		}
		return opened(t, (&loadtest.Run{ID: id, Host: "vm", Points: points}).File(t))
	}
	a := run("a", loadtest.Point{Label: "fill", Phase: plan.Fill}, loadtest.Point{Label: "x"}, loadtest.Point{Label: "x"}, loadtest.Point{Label: "z"})
	b := run("b", loadtest.Point{Label: "fill", Phase: plan.Fill}, loadtest.Point{Label: "x"}, loadtest.Point{Label: "new"}, loadtest.Point{Label: "x"}, loadtest.Point{Label: "z"}, loadtest.Point{Label: "x"})
	b.Doc.Points[4].Skipped = "too small"
	d := compared(t, Options{}, one(a), one(b))
	var got []string
	for _, p := range d.Comparisons[0].Points {
		got = append(got, key{p.Label, p.Nth}.String())
	}
	if want := []string{"x", "x (number 2)"}; !slices.Equal(got, want) {
		t.Errorf("compared %q, want %q", got, want)
	}
	got = nil
	for _, u := range d.Comparisons[0].Unmatched {
		got = append(got, u.Side+" "+key{u.Label, u.Nth}.String()+": "+u.Why)
	}
	if want := []string{"both z: skipped in B: too small", "B new: only B has it", "B x (number 3): only B has it"}; !slices.Equal(got, want) {
		t.Errorf("not compared %q, want %q", got, want)
	}
	if out := string(text(t, d)); !strings.Contains(out, "not compared\n  z: skipped in B: too small\n") {
		t.Errorf("%s", out)
	}
}

// Of a phase in rounds the measurement window counts, and its rounds are what there is to judge by; beside
// repeats, the run is one value.
func TestRounds(t *testing.T) {
	rounds := func(id string, ns int64) *load.Result {
		run := &loadtest.Run{ID: id, Host: "vm"}
		for i := range 10 { // two cells, five rounds; the first two are before the window
			jitter := int64(i/2%3) * 10
			if i < 4 {
				jitter = 1e6
			}
			run.Points = append(run.Points, loadtest.Point{Label: []string{"x", "y"}[i%2], Start: epoch.Add(time.Duration(i) * time.Minute),
				Rows: loadtest.Steady(2, loadtest.Load{Op: op.Read, N: 100, NS: ns + jitter, Bytes: 4096})})
		}
		r := opened(t, run.File(t))
		for i, p := range r.Doc.Points {
			p.Round = 1 + i/2
		}
		r.Doc.Rounds = []*result.Rounds{{Done: 5, First: 3, Last: 5, Reached: true}}
		return r
	}
	a, b := rounds("a", 1e5), rounds("b", 1.1e5)
	d := compared(t, Options{}, one(a), one(b))
	if n := len(d.Comparisons[0].Points); n != 2 {
		t.Fatalf("%d points", n)
	}
	f := find(t, d, "total", "mean")
	if f.Method != FromRounds || len(f.RunsA) != 3 || f.Verdict != Worse || !codes(d)["one_pair"] {
		t.Errorf("%+v, %v", f, codes(d))
	}
	// The same phase once more is another point of that label.
	twice := rounds("d", 1e5)
	twice.Doc.Points = append(twice.Doc.Points, rounds("e", 1e5).Doc.Points...)
	twice.Doc.Rounds = append(twice.Doc.Rounds, twice.Doc.Rounds[0])
	if s := newSide("A", []*run{{Result: twice}}); len(s.order) != 4 || len(s.points[key{"y", 2}]) != 3 {
		t.Errorf("%v", s.order)
	}
	d = compared(t, Options{}, []*load.Result{a, rounds("c", 1.001e5)}, one(b))
	f = find(t, d, "total", "mean")
	if f.Method != OneAgainstOthers || len(f.RunsA) != 2 || len(f.RunsB) != 1 || codes(d)["missing_repeats"] {
		t.Errorf("%+v, %v", f, codes(d))
	}
}
