package execute

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"blkstorm/plan"
	"blkstorm/result"
)

// Whoever shows a run is told of each point before it runs, and of how many there are, if that is known.
func TestPointBegun(t *testing.T) {
	p := job("randread", plan.Target{Spec: file(t, 1<<20)})
	point := p.Phases[0].Points[0]
	p.Phases = []plan.Phase{
		{Kind: plan.Precondition, Points: []plan.Point{point}},
		{Kind: plan.Idle, Time: plan.Duration(time.Millisecond)},
		{Kind: plan.Measure, Points: []plan.Point{point, point}},
	}
	var told []string
	o := options()
	o.PointBegun = func(index, of int, kind string, p *plan.Point) {
		told = append(told, fmt.Sprint("begun ", index, " of ", of, " ", kind, " ", p != nil))
	}
	o.Point = func(i int, _ *result.Point) error { told = append(told, fmt.Sprint("ended ", i)); return nil }
	if _, err := carryOut(p, o); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"begun 0 of 3 precondition true", "ended 0", "begun 1 of 3 idle false", "begun 1 of 3 measure true", "ended 1",
		"begun 2 of 3 measure true", "ended 2",
	}
	if !slices.Equal(told, want) {
		t.Errorf("told %q\nwant %q", told, want)
	}

	told = nil
	s, err := Prepare(p, o)
	if err != nil {
		t.Fatal(err)
	}
	given := 0
	if _, err := s.RunPoints(context.Background(), func() (string, *plan.Point) {
		if given++; given > 2 {
			return "", nil
		}
		return plan.Measure, &point
	}); err != nil {
		t.Fatal(err)
	}
	want = []string{"begun 0 of -1 measure true", "ended 0", "begun 1 of -1 measure true", "ended 1"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q\nwant %q", told, want)
	}
}
