package result

import (
	"testing"
	"time"

	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/steady"
)

// The slices of a history add up to the window, ramp left out, and are as long as there may be many.
func TestHistory(t *testing.T) {
	minutes := func(n int) *steady.Rule { r := steady.Default(); r.MaxRounds = n; return &r }
	for _, c := range []struct {
		name    string
		kind    string
		steady  *steady.Rule
		rounds  *plan.Rounds
		profile string
		runtime time.Duration
		rows    int // of a second each, of the window
		slices  int
		longest float64
	}{
		{"rounds", plan.Precondition, minutes(25), nil, "", 25 * time.Minute, 300, 5, 60},
		{"rounds, a row too many", plan.Precondition, minutes(25), nil, "", 25 * time.Minute, 301, 6, 60},
		{"a day of rounds", plan.Precondition, minutes(1440), nil, "", 24 * time.Hour, 600, 3, 240},
		{"time", plan.Precondition, nil, nil, "", time.Hour, 100, 10, 10},
		{"short time", plan.Precondition, nil, nil, "", 10 * time.Second, 10, 10, 1},
		{"of unknown length", plan.Precondition, nil, nil, "", 0, 10, 0, 0},
		{"measured", plan.Measure, nil, nil, "", time.Hour, 100, 0, 0},
		{"measured in a profile", plan.Measure, nil, nil, "storagereview-ssd", time.Hour, 150, 3, 60},
		{"a round of a profile", plan.Measure, nil, &plan.Rounds{}, "snia-iops", time.Minute, 60, 0, 0},
		{"the only point of a round", plan.Measure, nil, &plan.Rounds{}, "snia-wsat", 2 * time.Hour, 240, 2, 120},
		{"fill of a profile", plan.Fill, nil, nil, "snia-iops", time.Minute, 60, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := onePlan("randrw", time.Second, c.runtime, stream("main", "randrw", 8192, 70, 1, 1, 0))
			p.Profile = c.profile
			d := newDoc(p, disk("sdx", 1<<30))
			phase := &plan.Phase{Kind: c.kind, Steady: c.steady, Rounds: c.rounds, Points: p.Phases[0].Points}
			if c.profile == "snia-iops" {
				phase.Points = append(phase.Points, phase.Points[0])
			}
			point := &phase.Points[0]
			s := newSource(point)
			b := d.NewBuilder(c.kind, point, DefaultPercentiles, false)
			b.KeepHistory(phase)
			for i := -1; i < c.rows; i++ {
				s.row(i, time.Second, point, 1, []load{{op: op.Read, n: 7 + i%5, bytes: 8192, middle: 240_000}, {op: op.Write, n: 3, bytes: 8192, middle: int64(1_000_000 + 1000*i)}})
			}
			for _, row := range s.rows {
				b.Row(row)
			}
			got, err := b.Finish(s.result(point, 1), 42)
			if err != nil {
				t.Fatal(err)
			}
			if len(got.History) != c.slices {
				t.Fatalf("%d slices, want %d", len(got.History), c.slices)
			}
			var ios, bytes, writes uint64
			var longest, end float64
			var peak int64
			for _, h := range got.History {
				if h.TS != end {
					t.Errorf("a slice begins at %v s, the one before ended at %v s", h.TS, end)
				}
				end += h.LengthS
				longest = max(longest, h.LengthS)
				ios, bytes, writes, peak = ios+h.Total.IOs, bytes+h.Total.Bytes, writes+h.Write.IOs, max(peak, h.Total.Max)
				if h.Total.IOs != h.Read.IOs+h.Write.IOs || h.Total.Max != max(h.Read.Max, h.Write.Max) || h.Total.P99 > h.Total.Max || h.Total.StdDev == 0 {
					t.Errorf("total %+v is not that of %+v and %+v", h.Total, h.Read, h.Write)
				}
			}
			if longest != c.longest {
				t.Errorf("the longest slice has %v s, want %v", longest, c.longest)
			}
			if total := got.Total; c.slices > 0 && (ios != total.IOs || bytes != total.Bytes || writes != got.Write.IOs || peak != total.Latency.Max) {
				t.Errorf("slices have %d I/Os, %d bytes, %d writes, max %d; the window %d, %d, %d, %d", ios, bytes, writes, peak, total.IOs, total.Bytes, got.Write.IOs, total.Latency.Max)
			}
		})
	}
}
