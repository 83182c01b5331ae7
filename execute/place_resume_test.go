package execute

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blkstorm/plan"
	"blkstorm/result"
)

// Gone on with in the middle of a round, the rounds are those of a run that was never cut off: what was
// finished stays, and steady state is reached in the round that follows from all values.
func TestRoundsResume(t *testing.T) {
	target := file(t, 1<<20)
	for _, n := range []int{0, 2, 5, 9, 10} { // of 12 points
		p := cells(target, 3, 4, 6, anyRange)
		o := options()
		o.Drivers = constant(time.Millisecond)
		o.Dir = filepath.Join(t.TempDir(), "out")
		ctx, cancel := context.WithCancel(context.Background())
		o.PointBegun = func(index, _ int, _ string, _ *plan.Point) {
			if index == n {
				cancel()
			}
		}
		s, err := Prepare(p, o)
		if err != nil {
			t.Fatal(err)
		}
		before, err := s.Run(ctx)
		if n == 0 && !errors.Is(err, ErrInterrupted) && err != nil || n > 0 && err != nil {
			t.Fatal(err)
		}
		o.PointBegun = nil
		o.Resume = true
		v, err := Look(nil, o)
		if err != nil || v.Phases[0].Rounds != 6-n/3 || v.TimeS != float64(18-n)*0.04 {
			t.Errorf("cut off in point %d: %+v, %v", n, v, err)
		}
		doc, err := carryOut(nil, o)
		if err != nil {
			t.Fatalf("cut off in point %d: %v", n, err)
		}
		if diff := cmp.Diff(roundsOf(1, 4, 3), order(doc)); diff != "" {
			t.Fatalf("cut off in point %d:\n%s", n, diff)
		}
		if r := checkRounds(t, doc, 4); !r.Reached || r.First != 1 {
			t.Errorf("cut off in point %d: %+v", n, r)
		}
		for i := range n {
			if doc.Points[i].Started != before.Points[i].Started {
				t.Errorf("cut off in point %d: point %d ran again", n, i)
			}
		}
		var done *FinishedError
		if _, err := Prepare(nil, o); !errors.As(err, &done) {
			t.Errorf("cut off in point %d: when all is done: %v", n, err)
		}
	}
}

// Killed in the middle of a round, and gone on with, no round lacks a point and none has one twice.
func TestRoundsResumeAfterKill(t *testing.T) {
	p := cells(file(t, 1<<20), 2, 2, 3, 1e-6) // the null engine's figures are not so much the same
	for _, n := range []int{0, 1, 2, 3, 5} {
		dir := filepath.Join(t.TempDir(), "out")
		killed(t, p, dir, n)
		doc, err := goOn(options(), dir)
		if err != nil {
			t.Fatalf("killed in point %d: %v", n, err)
		}
		if diff := cmp.Diff(roundsOf(1, 3, 2), order(doc)); diff != "" {
			t.Errorf("killed in point %d:\n%s", n, diff)
		}
		if r := checkRounds(t, doc, 3); r.Reached {
			t.Errorf("killed in point %d: %+v", n, r)
		}
		for i, rows := range rows(t, dir) {
			if rows != 4 {
				t.Errorf("killed in point %d: point %d has %d rows", n, i, rows)
			}
		}
		checkLog(t, dir, 6)
	}
}

// A rest in the middle of rounds is told by what follows it.
func TestRoundsAfterAGap(t *testing.T) {
	p := cells("x", 2, 2, 3, 80)
	doc := &result.Doc{Plan: p, Resumed: []result.Resumed{{AfterPoint: 3, GapS: 300}}}
	for i := range 4 {
		doc.Points = append(doc.Points, &result.Point{Phase: plan.Measure, Round: 1 + i/2, Label: p.Phases[0].Points[i%2].Label, Completed: true, Total: &result.Stat{Latency: &result.Latency{}}})
	}
	doc.SumUp()
	if text := standstill(doc, &p.Phases[0]); !strings.Contains(text, "5m0s passed") {
		t.Errorf("within the rounds: %q", text)
	}
	doc.Resumed[0].AfterPoint = -1
	if text := standstill(doc, &p.Phases[0]); text != "" {
		t.Errorf("before the rounds: %q", text)
	}
	if doc.Rounds[0].Done != 2 {
		t.Errorf("%+v", doc.Rounds[0])
	}
}
