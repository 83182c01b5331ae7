package report

import (
	"testing"
	"time"

	"blkstorm/plan"
	"blkstorm/workload"
)

// Every end that points of a phase have is in the table, not just that of the first.
func TestEndsOfPoints(t *testing.T) {
	timed := func(runtime, ramp time.Duration) plan.Point {
		return plan.Point{Runtime: plan.Duration(runtime), Ramp: plan.Duration(ramp), Streams: []plan.Stream{{Workload: workload.Spec{RW: "read"}}}}
	}
	ending := func(s plan.Stream) plan.Point { return plan.Point{Streams: []plan.Stream{s}} }
	pass, twice, ios, own := ending(plan.Stream{Passes: 1}), ending(plan.Stream{Passes: 2}), ending(plan.Stream{IOs: 5}), ending(plan.Stream{Time: plan.Duration(time.Minute)})
	for want, points := range map[string][]plan.Point{
		"":          nil,
		"after 30s": {timed(30*time.Second, 0), timed(30*time.Second, 0)},
		"after 30s, and a ramp of 5s; after one pass":                   {timed(30*time.Second, 5*time.Second), pass},
		"after 2 passes; with its streams; after 1m0s":                  {twice, ios, own},
		"after one pass; after 2 passes; with its streams; 2 others":    {pass, twice, ios, own, timed(time.Hour, 0), pass},
		"after one pass; after 2 passes; with its streams; another one": {pass, twice, ios, own},
	} {
		if got := pointEnds(points); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
