package execute

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blkstorm/plan"
	"blkstorm/result"
)

// at is the point of the plan with other numbers.
func at(p *plan.Plan, depth int) *plan.Point {
	point := p.Phases[0].Points[0]
	point.Label = fmt.Sprintf("depth %d", depth)
	point.Streams = append([]plan.Stream(nil), point.Streams...)
	point.Streams[0].IODepth = depth
	return &point
}

// Points that are decided on from the ones before run on targets that are made and claimed once, and
// the document says what was run.
func TestRunPoints(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	p := job("randrw", plan.Target{CreateBytes: 1 << 20})
	o := options()
	o.Dir = filepath.Join(dir, "out")
	var head *result.Doc
	o.Begun = func(d *result.Doc) error {
		if head = d; d.Plan != p {
			t.Error("the head has not the prepared plan")
		}
		return nil
	}
	seen := 0
	o.Point = func(i int, point *result.Point) error {
		if seen++; i != seen-1 || head.Points[i] != point {
			t.Errorf("point %d is no. %d", i, seen)
		}
		head.Version = point.Label // anything that the folder's document must have
		return nil
	}
	fills := 0
	o.Log = func(format string, _ ...any) {
		if strings.HasPrefix(format, "writing %s once") {
			fills++
		}
	}
	s, err := Prepare(p, o)
	if err != nil {
		t.Fatal(err)
	}
	given := 0
	doc, err := s.RunPoints(context.Background(), func() (string, *plan.Point) {
		if given != seen {
			t.Errorf("asked for point %d when %d have ended", given, seen)
		}
		given++
		switch given {
		case 1:
			return plan.Precondition, at(p, 1)
		case 2, 3:
			return plan.Measure, at(p, given)
		}
		return "", nil
	})
	if err != nil || len(doc.Points) != 3 || fills != 1 {
		t.Fatalf("%d points, %v; %d files written", len(doc.Points), err, fills)
	}
	var ran []string
	for _, phase := range doc.Plan.Phases {
		for _, point := range phase.Points {
			ran = append(ran, fmt.Sprintf("%s %s %dQ", phase.Kind, point.Label, point.Streams[0].IODepth))
		}
	}
	if got, want := strings.Join(ran, ", "), "precondition depth 1 1Q, measure depth 2 2Q, measure depth 3 3Q"; got != want {
		t.Errorf("the plan has %s, want %s", got, want)
	}
	if len(p.Phases) != 1 || len(p.Phases[0].Points) != 1 {
		t.Error("the caller's plan has grown")
	}
	text, err := os.ReadFile(filepath.Join(o.Dir, "result.json"))
	var kept result.Doc
	if err := errors.Join(err, json.Unmarshal(text, &kept)); err != nil {
		t.Fatal(err)
	}
	if len(kept.Points) != 3 || len(kept.Plan.Phases) != 2 || kept.Version != "depth 3" {
		t.Errorf("the folder has %d points, %d phases and what the sink added to point %q", len(kept.Points), len(kept.Plan.Phases), kept.Version)
	}
}

// A point cannot do what the guard was not asked about, nor what its targets cannot.
func TestRunPointsChecksEach(t *testing.T) {
	for want, change := range map[string]func(*plan.Point){
		"which the plan only reads":  func(p *plan.Point) { p.Streams[0].Workload.RW = "randwrite" },
		"smaller than one block":     func(p *plan.Point) { p.Streams[0].Workload.BlockSize = 2 << 20 },
		"--iodepth 0":                func(p *plan.Point) { p.Streams[0].IODepth = 0 },
		"names target 1 of 1":        func(p *plan.Point) { p.Streams[0].Targets = []int{1} },
		"above the limit of":         func(p *plan.Point) { p.Streams = make([]plan.Stream, 5); overload(p) },
		"--runtime 0s: must be over": func(p *plan.Point) { p.Runtime = 0 },
	} {
		p := job("randread", plan.Target{Spec: file(t, 1<<20)})
		s, err := Prepare(p, options())
		if err != nil {
			t.Fatal(err)
		}
		good := true
		doc, err := s.RunPoints(context.Background(), func() (string, *plan.Point) {
			point := at(p, 1)
			if !good {
				change(point)
			}
			good = false
			return plan.Measure, point
		})
		if err == nil || !strings.Contains(err.Error(), want) || doc == nil || len(doc.Points) != 1 || len(doc.Plan.Phases[0].Points) != 1 {
			t.Errorf("%v, %+v; want %q after one point", err, doc, want)
		}
	}
}

// overload gives a point more threads than any run may have.
func overload(p *plan.Point) {
	for i := range p.Streams {
		s := job("randread").Phases[0].Points[0].Streams[0]
		s.Threads, s.Targets = plan.MaxThreads, []int{0}
		p.Streams[i] = s
	}
}

// No point at all is no document; an interruption ends the run whatever would come next.
func TestRunPointsEnds(t *testing.T) {
	p := job("randread", plan.Target{Spec: file(t, 1<<20)})
	s, err := Prepare(p, options())
	if err != nil {
		t.Fatal(err)
	}
	if doc, err := s.RunPoints(context.Background(), func() (string, *plan.Point) { return "", nil }); doc != nil || err != nil {
		t.Errorf("%v, %v; want neither document nor error", doc, err)
	}
	if s, err = Prepare(p, options()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	doc, err := s.RunPoints(ctx, func() (string, *plan.Point) {
		point := at(p, 1)
		point.Runtime = plan.Duration(time.Minute)
		time.AfterFunc(100*time.Millisecond, cancel)
		return plan.Measure, point
	})
	if err != nil || len(doc.Points) != 1 || !doc.Points[0].Interrupted {
		t.Errorf("%+v, %v; want one interrupted point", doc, err)
	}
}
