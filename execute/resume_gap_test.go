package execute

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/steady"
)

// After a gap, what follows the preconditioning says so, in this resumption and the next, unless it
// was repeated.
func TestResumeAfterGap(t *testing.T) {
	for name, c := range map[string]struct {
		at     int // interrupted in this point
		age    time.Duration
		repeat bool
		labels string
		gap    []bool
	}{
		"short":                  {1, 30 * time.Second, false, "before, depth 1, depth 2", []bool{false, false, false}},
		"long":                   {1, 2 * time.Minute, false, "before, depth 1, depth 2", []bool{false, true, true}},
		"later":                  {2, 2 * time.Minute, false, "before, depth 1, depth 2", []bool{false, false, true}},
		"in the preconditioning": {0, 2 * time.Minute, false, "before, depth 1, depth 2", []bool{false, false, false}},
		"repeated":               {1, 2 * time.Minute, true, "before, before (again), depth 1, depth 2", []bool{false, false, false, false}},
		"repeated later":         {2, 2 * time.Minute, true, "before, depth 1, before (again), depth 2", []bool{false, false, false, false}},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		interrupted(t, longer(procedure(plan.Target{Spec: file(t, 1<<20)}, 2)), dir, c.at)
		age(t, dir, c.age)
		o := options()
		o.RePrecondition = c.repeat
		doc, err := goOn(o, dir)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var labels []string
		for i, p := range doc.Points {
			labels = append(labels, p.Label)
			if got := slices.ContainsFunc(p.Warnings, isGap); i < len(c.gap) && got != c.gap[i] {
				t.Errorf("%s: point %d has the warning: %v", name, i, got)
			}
		}
		if got := strings.Join(labels, ", "); got != c.labels {
			t.Errorf("%s: points %s", name, got)
		}
		var done *FinishedError
		if _, err := goOn(options(), dir); !errors.As(err, &done) {
			t.Errorf("%s: not finished: %v", name, err)
		}
	}
}

// A gap is remembered when the run is cut off again at once.
func TestGapIsRemembered(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	interrupted(t, longer(procedure(plan.Target{Spec: file(t, 1<<20)}, 3)), dir, 1)
	age(t, dir, time.Hour)
	o := options()
	o.Dir, o.Resume = dir, true
	s, err := Prepare(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.opts.Point = func(int, *result.Point) error { cancel(); return nil } // when depth 1 has ended
	if doc, err := s.Run(ctx); err != nil || len(doc.Points) != 2 {
		t.Fatalf("%v, %+v", err, doc)
	}
	doc, err := goOn(options(), dir)
	if err != nil || len(doc.Points) != 4 || len(doc.Resumed) != 2 || doc.Resumed[1].GapS > 60 {
		t.Fatalf("%v, %+v", err, doc)
	}
	for i, p := range doc.Points[1:] {
		if !slices.ContainsFunc(p.Warnings, isGap) {
			t.Errorf("point %d lacks the warning", i+1)
		}
	}
}

func TestRePreconditionNeedsOne(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	interrupted(t, longer(procedure(plan.Target{Spec: file(t, 1<<20)}, 1)), dir, 0)
	files := snapshot(t, dir)
	o := options()
	o.RePrecondition = true
	if _, err := goOn(o, dir); err == nil || !strings.Contains(err.Error(), "no precondition phase has been finished") {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(files, snapshot(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// A steady state of before holds for what comes after the break.
func TestResumeRemembersSteadyState(t *testing.T) {
	p := procedure(plan.Target{Spec: file(t, 1<<20)}, 2)
	rule := steady.Default()
	rule.Round, rule.RangePct, rule.FittedPct, rule.Window, rule.MaxRounds = 20*time.Millisecond, 1000, 1000, 2, 50
	p.Phases[0].Steady = &rule
	longer(p)
	p.Phases[0].Points[0].Runtime = plan.Duration(time.Second)
	dir := filepath.Join(t.TempDir(), "out")
	first := interrupted(t, p, dir, 1)
	if r := first.Points[0].Steady; r == nil || !r.State.Steady {
		t.Fatalf("not steady: %+v", r)
	}
	// The band of then is one that no device is in.
	path := filepath.Join(dir, "result.json")
	first.Points[0].Steady.State.Low, first.Points[0].Steady.State.High = 1e9, 2e9
	text, err := json.MarshalIndent(first, "", "  ")
	if err := errors.Join(err, os.WriteFile(path, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	doc, err := goOn(options(), dir)
	if err != nil || len(doc.Points) != 3 {
		t.Fatal(err)
	}
	if d := doc.Points[1].Drift; d == nil || d.Low != 1e9 { // depth 1 does what the preconditioning did
		t.Errorf("drift %+v", d)
	}
}
