package result

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blkstorm/histogram"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/steady"
	"blkstorm/sweep"
	"blkstorm/threshold"
	"blkstorm/verdict"
)

// roundsPlan has a phase of rounds of a matrix of two by two, and one of two points in a list.
func roundsPlan() *plan.Plan {
	p := onePlan("", 0, time.Second, stream("main", "randrw", 4096, 50, 1, 4, 0))
	p.Targets = p.Targets[:1]
	rule := steady.Default()
	rule.Window, rule.MaxRounds = 3, 5
	matrix := plan.Phase{
		Kind:   plan.Measure,
		Sweep:  &plan.Sweep{Axes: []sweep.Axis{{Name: "read-pct", Values: []string{"100", "0"}}, {Name: "bs", Values: []string{"64k", "512"}}}},
		Rounds: &plan.Rounds{Track: []plan.Track{{Point: 2}, {Point: 0, Metric: steady.Mean}}, Rule: rule},
	}
	for _, pct := range []int{100, 0} {
		for _, bs := range []int64{64 << 10, 512} {
			s := stream("main", "randrw", bs, pct, 1, 4, 0)
			s.Workload.WorkingSet.Percent = 0
			matrix.Points = append(matrix.Points, plan.Point{Label: plan.AutoLabel([]plan.Stream{s}), Runtime: plan.Duration(time.Second), Interval: plan.Duration(time.Second), Streams: []plan.Stream{s}})
		}
	}
	pair := plan.Phase{Kind: plan.Measure, Points: matrix.Points[:2], Rounds: &plan.Rounds{Track: []plan.Track{{Point: 1, Metric: steady.P99}}, Rule: rule}}
	p.Phases = []plan.Phase{matrix, pair}
	return p
}

// add adds a point of the phase that completed n I/Os in a second, at a latency around middle.
func add(t testing.TB, d *Doc, p *plan.Point, round, n int, middle int64) *Point {
	s := newSource(p)
	s.row(0, time.Second, p, 1, []load{{op: op.Write, n: n, bytes: uint64(p.Streams[0].Workload.BlockSize), middle: middle}})
	point := s.build(t, d, p, s.result(p, 4), true)
	point.Round = round
	d.SumUp()
	return point
}

// cut adds a point that was interrupted.
func cut(t testing.TB, d *Doc, p *plan.Point, round int) {
	s := newSource(p)
	s.row(0, 500*time.Millisecond, p, 1, []load{{op: op.Write, n: 250, bytes: uint64(p.Streams[0].Workload.BlockSize), middle: 50_000}})
	res := s.result(p, 4)
	res.Window, res.Completed, res.Interrupted = 500*time.Millisecond, false, true
	s.build(t, d, p, res, true).Round = round
	d.SumUp()
}

// skip adds one that cannot run.
func skip(t testing.TB, d *Doc, p *plan.Point) {
	s := newSource(p)
	res := s.result(p, 0)
	res.Window, res.Completed = 0, false
	point := s.build(t, d, p, res, true)
	point.Round, point.Skipped = 1, "bs 512: must be a multiple of 4096"
	d.SumUp()
}

// roundsDoc has five rounds of the matrix, of which the last three are steady, with one skipped cell; and the
// pair, cut off in its third round.
func roundsDoc(t testing.TB) *Doc {
	d := newDoc(roundsPlan(), disk("sdx", 107374182400))
	for round, n := range []int{2000, 1200, 1000, 1010, 990} {
		for i := range d.Plan.Phases[0].Points {
			p := &d.Plan.Phases[0].Points[i]
			if i == 3 {
				if round == 0 {
					skip(t, d, p)
				}
				continue
			}
			point := add(t, d, p, round+1, n/(i+1), int64(100_000*(i+1)))
			point.Warnings = []verdict.Warning{{Code: "few_samples", Message: fmt.Sprintf("p99.9 rests on %d I/Os", round), Advice: "use --runtime 5m"}}
			point.Asserts = []threshold.Result{{Assert: threshold.Assert{Direction: "total", Figure: "iops", Op: threshold.Greater, Value: 400}, OK: i < 2}}
		}
	}
	pair := d.Plan.Phases[1].Points
	for round := range 2 {
		for i := range pair {
			add(t, d, &pair[i], round+1, 500, 50_000)
		}
	}
	cut(t, d, &pair[0], 3)
	return d
}

func TestSumRounds(t *testing.T) {
	d := roundsDoc(t)
	if len(d.Rounds) != 2 {
		t.Fatalf("%d phases of rounds", len(d.Rounds))
	}
	r := d.Rounds[0]
	if r.Phase != 0 || r.Done != 5 || r.FirstPoint != 0 || !r.Reached || r.First != 3 || r.Last != 5 || r.Unsteady() != "" || !r.Over(9) {
		t.Errorf("%+v", r)
	}
	var values []float64
	for _, v := range r.Tracked[0].Steady.Values {
		values = append(values, *v)
	}
	if want := []float64{666, 400, 333, 336, 330}; !slices.Equal(values, want) || r.Tracked[0].Point != d.Plan.Phases[0].Points[2].Label {
		t.Errorf("%q has %v, want %v", r.Tracked[0].Point, values, want)
	}
	if rule := r.Tracked[1].Steady.Rule; rule.Metric != steady.Mean || rule.Round != 3*time.Second {
		t.Errorf("%+v", rule)
	}
	// Round 1 has four points, and those after it three.
	for i, want := range [][]int{{7, 10, 13}, {8, 11, 14}, {9, 12, 15}, {}} {
		c := &r.Cells[i]
		if diff := cmp.Diff(want, c.Points); diff != "" || c.Rounds != len(want) || (c.Skipped == "") != (i < 3) {
			t.Errorf("cell %d: %+v\n%s", i, c, diff)
		}
		if i == 3 {
			continue
		}
		var all histogram.Histogram
		iops, bytes, mean, slowest := 0.0, 0.0, 0.0, int64(0)
		for _, n := range c.Points {
			total := d.Points[n].Total
			h, err := total.Latency.histogram()
			if err != nil {
				t.Fatal(err)
			}
			all.Merge(h)
			iops, bytes, mean = iops+total.IOPS/3, bytes+total.BytesPerS/3, mean+float64(total.Latency.Mean)/3
			slowest = max(slowest, total.Latency.Max)
		}
		if math.Abs(c.IOPS-iops) > 1e-6 || math.Abs(c.BytesPerS-bytes) > 1e-3 || c.MeanNS != round(mean) || c.MaxNS != slowest || c.P99NS != all.Percentile(99) {
			t.Errorf("cell %d: %+v; %v, %v, %v, %v, %v", i, c, iops, bytes, mean, slowest, all.Percentile(99))
		}
	}
	if s := d.Sweep; s != nil {
		t.Errorf("the sweep of the rounds is one of single points: %+v", s)
	}

	r = d.Rounds[1]
	if r.Phase != 1 || r.Done != 2 || r.FirstPoint != 16 || r.Reached || r.First != 0 || r.Last != 0 || r.Over(5) || r.Over(2) == false {
		t.Errorf("%+v", r)
	}
	if !strings.Contains(r.Unsteady(), "p99 of randrw 100% read 512 1T/4Q: 2 of 3 rounds") {
		t.Error(r.Unsteady())
	}
	for i, want := range [][]int{{16, 18}, {17, 19}} {
		if diff := cmp.Diff(want, r.Cells[i].Points); diff != "" {
			t.Errorf("cell %d without a window: %s", i, diff)
		}
	}
	// What follows from the points follows from them all at once, too.
	again := *d
	again.Rounds = nil
	again.SumUp()
	if diff := cmp.Diff(d.Rounds, again.Rounds); diff != "" {
		t.Error(diff)
	}
}

// Before a round is over, its points are what there is; a point without I/O is no figure.
func TestSumFirstRound(t *testing.T) {
	d := newDoc(roundsPlan(), disk("sdx", 107374182400))
	d.SumUp()
	if d.Rounds != nil {
		t.Errorf("before the first point: %+v", d.Rounds)
	}
	ph := &d.Plan.Phases[0]
	add(t, d, &ph.Points[0], 1, 0, 1)
	r := d.Rounds[0]
	if r.Done != 0 || len(r.Tracked) != 2 || len(r.Cells) != 4 || r.Cells[0].Rounds != 1 || r.Cells[0].IOPS != 0 || r.Cells[0].MeanNS != 0 || r.Cells[1].Rounds != 0 {
		t.Errorf("%+v", r)
	}
	for i := range 3 {
		add(t, d, &ph.Points[i+1], 1, 100, 1e6)
	}
	r = d.Rounds[0]
	if v := r.Tracked[1].Steady.Values; r.Done != 1 || len(v) != 1 || v[0] != nil || r.Cells[3].IOPS != 100 {
		t.Errorf("%+v: %v", r, v)
	}
	if !math.IsNaN(d.Points[0].Metric(steady.P99)) || d.Points[0].Metric(steady.IOPS) != 0 || d.Points[1].Metric(steady.Bandwidth) != 100*512 {
		t.Error("metrics of a point")
	}
	// Without its histograms a document has no percentile over several rounds.
	for range 2 {
		for i := range 4 {
			add(t, d, &ph.Points[i], len(d.Points)/4+1, 100, 1e6).Total.Latency.HDR = ""
		}
	}
	d.Rounds = nil
	d.SumUp()
	if c := d.Rounds[0].Cells[3]; c.Rounds != 3 || c.P99NS != 0 || c.MeanNS == 0 {
		t.Errorf("%+v", c)
	}
	var text bytes.Buffer
	if err := WriteText(&text, d); err != nil {
		t.Fatal(err)
	}
}

// The sweep of a phase without rounds is not that of the rounds before it.
func TestSweepBesideRounds(t *testing.T) {
	d := newDoc(roundsPlan(), disk("sdx", 107374182400))
	plain := d.Plan.Phases[1]
	plain.Rounds = nil
	plain.Sweep = &plan.Sweep{Axes: []sweep.Axis{{Name: "bs", Values: []string{"64k", "512"}}}}
	d.Plan.Phases = []plan.Phase{d.Plan.Phases[1], plain}
	for round := range 3 {
		for i := range 2 {
			add(t, d, &d.Plan.Phases[0].Points[i], round+1, 100, 1e6)
		}
	}
	for i := range 2 {
		add(t, d, &plain.Points[i], 0, 100, 1e6)
	}
	if d.Sweep == nil || !slices.Equal(d.Sweep.Points, []int{6, 7}) || d.Rounds[0].Done != 3 {
		t.Errorf("%+v, %+v", d.Sweep, d.Rounds[0])
	}
}
