package execute

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blkstorm/ioengine"
	"blkstorm/ioengine/model"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/steady"
	"blkstorm/unit"
	"blkstorm/verdict"
)

// anyRange is a limit that every window of ten rounds keeps: a busy machine changes no outcome.
const anyRange = steady.MaxPct

// cells is a plan with a phase of rounds of n points that write, of which the first and the last are tracked.
func cells(target string, n int, window, most int, pct float64) *plan.Plan {
	p := job("randwrite", plan.Target{Spec: target})
	p.Engine, p.Destroy = "null", true
	one := p.Phases[0].Points[0]
	one.Runtime = plan.Duration(40 * time.Millisecond)
	rule := steady.Default()
	rule.Window, rule.MaxRounds, rule.RangePct, rule.FittedPct = window, most, pct, pct
	ph := plan.Phase{Kind: plan.Measure, Rounds: &plan.Rounds{Track: []plan.Track{{Point: 0}, {Point: n - 1, Metric: steady.Bandwidth}}, Rule: rule}}
	for i := range n {
		point := one
		point.Label = fmt.Sprintf("cell %d", i)
		point.Streams = slices.Clone(point.Streams)
		point.Streams[0].IODepth = 8
		ph.Points = append(ph.Points, point)
	}
	p.Phases = []plan.Phase{ph}
	return p
}

// constant is a device that does not change.
func constant(d time.Duration) []ioengine.Driver {
	return ever(func(int64) time.Duration { return d })
}

// ever is a device whose writes take what a function of what was written says.
func ever(service func(written int64) time.Duration) []ioengine.Driver {
	return []ioengine.Driver{model.New(func(written int64, _ *ioengine.IO) time.Duration { return service(written) }).Driver()}
}

// order is the round and the label of each point.
func order(doc *result.Doc) (list []string) {
	for _, p := range doc.Points {
		list = append(list, fmt.Sprintf("%d %s", p.Round, p.Label))
	}
	return list
}

// roundsOf are the points of rounds first to last.
func roundsOf(first, last, cells int) (list []string) {
	for r := first; r <= last; r++ {
		for i := range cells {
			list = append(list, fmt.Sprintf("%d cell %d", r, i))
		}
	}
	return list
}

// checkRounds compares what the document says of its only phase of rounds with its points.
func checkRounds(t *testing.T, doc *result.Doc, done int) *result.Rounds {
	t.Helper()
	if len(doc.Rounds) != 1 || doc.Rounds[0].Done != done {
		t.Fatalf("rounds: %+v, want %d", doc.Rounds, done)
	}
	r := doc.Rounds[0]
	phase := &doc.Plan.Phases[r.Phase]
	at := map[string]*result.Point{}
	for _, p := range doc.Points {
		at[fmt.Sprintf("%d %s", p.Round, p.Label)] = p
	}
	for i, tr := range r.Tracked {
		track := phase.Rounds.Track[i]
		if tr.Point != phase.Points[track.Point].Label || len(tr.Steady.Values) != done {
			t.Fatalf("tracked %d is %q with %d values", i, tr.Point, len(tr.Steady.Values))
		}
		for k, v := range tr.Steady.Values {
			if p := at[fmt.Sprintf("%d %s", k+1, tr.Point)]; v == nil || *v != p.Metric(track.Metric) {
				t.Errorf("tracked %d: round %d has %v", i, k+1, v)
			}
		}
	}
	for i, c := range r.Cells {
		if c.Label != phase.Points[i].Label || c.Rounds != len(c.Points) {
			t.Fatalf("cell %d: %+v", i, c)
		}
		iops, mean, measured, slowest := 0.0, 0.0, 0.0, int64(0)
		for _, n := range c.Points {
			p := doc.Points[n]
			if p.Label != c.Label || r.First > 0 && (p.Round < r.First || p.Round > r.Last) {
				t.Errorf("cell %d is made of %q of round %d", i, p.Label, p.Round)
			}
			iops += p.Total.IOPS / float64(c.Rounds)
			if p.Total.IOs > 0 {
				mean += float64(p.Total.Latency.Mean)
				measured++
			}
			slowest = max(slowest, p.Total.Latency.Max)
		}
		mean /= max(measured, 1)
		if c.Rounds > 0 && (c.IOPS < iops*(1-1e-9) || c.IOPS > iops*(1+1e-9) || float64(c.MeanNS) < mean-1 || float64(c.MeanNS) > mean+1 || c.MaxNS != slowest || c.P99NS > slowest) {
			t.Errorf("cell %d: %+v; IOPS %v, mean %v, max %v", i, c, iops, mean, slowest)
		}
		if want := r.Last - r.First + 1; r.First > 0 && c.Skipped == "" && c.Rounds != want {
			t.Errorf("cell %d is over %d rounds, want %d", i, c.Rounds, want)
		}
	}
	return r
}

// A device that does not change is steady as soon as there is a window; then the next phase follows. Sinks
// hear of each round, and of at most so many points.
func TestRoundsEndWhenSteady(t *testing.T) {
	p := cells(file(t, 1<<20), 3, 3, 9, anyRange)
	after := p.Phases[0].Points[0]
	after.Label = "after"
	p.Phases = append(p.Phases, plan.Phase{Kind: plan.Measure, Points: []plan.Point{after}})
	o := options()
	o.Drivers = constant(time.Millisecond)
	o.Dir = filepath.Join(t.TempDir(), "out")
	var told []int
	var log []string
	o.Rounds = func(r *result.Rounds) { told = append(told, r.Done) }
	o.Log = func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }
	o.PointBegun = func(_, of int, _ string, _ *plan.Point) {
		if of != 9*3+1 {
			t.Errorf("one of %d points begins", of)
		}
	}
	doc, err := carryOut(p, o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append(roundsOf(1, 3, 3), "0 after"), order(doc)); diff != "" {
		t.Fatal(diff)
	}
	r := checkRounds(t, doc, 3)
	if !r.Reached || r.First != 1 || r.Last != 3 || Missed(doc) || !slices.Equal(told, []int{1, 2, 3}) {
		t.Errorf("%+v; told of %v", r, told)
	}
	if text := strings.Join(log, "\n"); !strings.Contains(text, "round 2 of at most 9, point 3 of 3, cell 2; left with it: at most 920ms") {
		t.Errorf("the log has\n%s", text)
	}
	for _, p := range doc.Points {
		if slices.ContainsFunc(p.Warnings, func(w verdict.Warning) bool { return w.Code == "not_steady" }) {
			t.Errorf("%s: %+v", p.Label, p.Warnings)
		}
	}
	// What is in the folder says the same.
	f, stored, err := result.OpenFolder(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	closeQuietly(f)
	if diff := cmp.Diff(doc.Rounds, stored.Rounds); diff != "" {
		t.Error(diff)
	}
}

// A device that gets slower and slower never is: the rounds end, the warning and the status say so.
func TestRoundsNeverSteady(t *testing.T) {
	p := cells(file(t, 1<<20), 2, 2, 4, 1e-6)
	o := options()
	// In each round it gets slower by a third and more, whatever is lost to a busy machine.
	o.Drivers = ever(func(written int64) time.Duration {
		return time.Millisecond/4 + time.Duration(written/4096)*5*time.Microsecond
	})
	doc, err := carryOut(p, o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(roundsOf(1, 4, 2), order(doc)); diff != "" {
		t.Fatal(diff)
	}
	r := checkRounds(t, doc, 4)
	if r.Reached || r.First != 3 || r.Last != 4 || !r.Tracked[0].Steady.State.NeverReached || !Missed(doc) {
		t.Errorf("%+v", r)
	}
	for i, point := range doc.Points {
		k := slices.IndexFunc(point.Warnings, func(w verdict.Warning) bool { return w.Code == "not_steady" })
		if (k >= 0) != (i == len(doc.Points)-1) {
			t.Errorf("point %d: %+v", i, point.Warnings)
		}
		if k >= 0 && !strings.Contains(point.Warnings[k].Message, "after 4 rounds, iops of cell 0: range") {
			t.Errorf("point %d: %s", i, point.Warnings[k].Message)
		}
	}
	doc.Plan.Quick = true
	if Missed(doc) {
		t.Error("under quick it is a warning only")
	}
}

// What cannot run is skipped in all rounds, told once, and cannot be tracked.
func TestRoundsSkip(t *testing.T) {
	for _, skipped := range []int{1, 2} { // in the middle, and at the end
		p := cells(file(t, 1<<20), 3, 2, 3, anyRange)
		p.Phases[0].Points[skipped].Streams[0].Workload.Size = unit.Share{Bytes: 1 << 30}
		p.Phases[0].Rounds.Track = []plan.Track{{Point: 0}, {Point: 3 - skipped}}
		o := options()
		o.Drivers = constant(time.Millisecond)
		doc, err := carryOut(p, o)
		if err != nil {
			t.Fatal(err)
		}
		want := append(roundsOf(1, 1, 3), roundsOf(2, 2, 3)...)
		want = slices.Delete(want, 3+skipped, 4+skipped)
		if diff := cmp.Diff(want, order(doc)); diff != "" {
			t.Error(diff)
		}
		r := checkRounds(t, doc, 2)
		if !r.Reached || r.Cells[skipped].Skipped == "" || r.Cells[skipped].Rounds != 0 {
			t.Errorf("%+v", r)
		}
		p.Phases[0].Rounds.Track[0].Point = skipped
		if _, err := Prepare(p, o); err == nil || !strings.Contains(err.Error(), fmt.Sprintf(`track "cell %d", which cannot run here`, skipped)) {
			t.Errorf("%v", err)
		}
		v, err := Look(cellsSkipping(p, skipped), o)
		if err != nil || v.Phases[0].Points != 2 || v.Phases[0].Rounds != 3 || v.TimeS != 6*0.04 || !v.AtMost || len(v.Phases[0].Skipped) != 1 {
			t.Errorf("%+v, %v", v, err)
		}
	}
}

func cellsSkipping(p *plan.Plan, skipped int) *plan.Plan {
	p.Phases[0].Rounds.Track = []plan.Track{{Point: 0}, {Point: 3 - skipped}}
	return p
}

// Cut off in the middle of a round, what there is is a valid result, and not steady.
func TestRoundsInterrupted(t *testing.T) {
	for _, c := range []struct {
		n, done int
		rounds  []int // of each cell
	}{{1, 0, []int{1, 0, 0}}, {3, 1, []int{1, 1, 1}}, {5, 1, []int{1, 1, 1}}, {8, 2, []int{2, 2, 2}}} {
		p := cells(file(t, 1<<20), 3, 4, 9, anyRange)
		o := options()
		o.Drivers = constant(time.Millisecond)
		ctx, cancel := context.WithCancel(context.Background())
		o.PointBegun = func(index, _ int, _ string, _ *plan.Point) {
			if index == c.n {
				time.AfterFunc(15*time.Millisecond, cancel)
			}
		}
		s, err := Prepare(p, o)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := s.Run(ctx)
		cancel()
		if err != nil || len(doc.Points) != c.n+1 || !doc.Points[c.n].Interrupted {
			t.Fatalf("%v, %+v", err, order(doc))
		}
		r := checkRounds(t, doc, c.done)
		if r.Reached || r.First != 0 || !Missed(doc) {
			t.Errorf("%+v", r)
		}
		for i, cell := range r.Cells {
			if cell.Rounds != c.rounds[i] {
				t.Errorf("interrupted in point %d: cell %d is over %d rounds, want %d", c.n, i, cell.Rounds, c.rounds[i])
			}
		}
	}
}

// failing is a device that fails every I/O from the n-th on.
func failing(n int) []ioengine.Driver {
	d := constant(time.Millisecond)[0]
	open := d.Open
	d.Open = func(c ioengine.Config) (ioengine.Engine, error) {
		e, err := open(c)
		return &failer{Engine: e, left: &n}, err
	}
	return []ioengine.Driver{d}
}

type failer struct {
	ioengine.Engine
	left *int
}

func (f *failer) Cycle(submit []uint32, wait int, limit time.Duration, done []ioengine.Completion) (int, int, error) {
	n, k, err := f.Engine.Cycle(submit, wait, limit, done)
	for i := range done[:k] {
		if *f.left--; *f.left < 0 {
			done[i].Res = -5 // EIO
		}
	}
	return n, k, err
}

// An error ends the rounds, as it ends every plan that is not to go on.
func TestRoundsEndWithAnError(t *testing.T) {
	p := cells(file(t, 1<<20), 2, 2, 9, anyRange)
	o := options()
	o.Drivers = failing(30) // a round has some 80
	doc, err := carryOut(p, o)
	if err != nil || len(doc.Points) != 1 || doc.Points[0].Completed || !Faulted(doc) || doc.Rounds[0].Done != 0 {
		t.Errorf("%v, %v", err, order(doc))
	}
}
