package main

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"blkstorm/findmax"
	"blkstorm/lab"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/workload"
)

// search runs find-max to its end, which takes its time.
func search(t *testing.T, args ...string) outcome {
	t.Helper()
	return start(t, "", append([]string{"find-max"}, args...)...).waitFor(3 * time.Minute)
}

// found reads the document of a search.
func (o outcome) found(t *testing.T) *result.Doc {
	t.Helper()
	doc := &result.Doc{}
	if err := json.Unmarshal([]byte(o.stdout), doc); err != nil || doc.FindMax == nil {
		t.Fatalf("standard output is no document of a search: %v\n%s\n%s", err, o.stdout, o.stderr)
	}
	return doc
}

// disturbed says whether the machine had other work to do while the search ran: then a step may fail
// whose rate the disk could have kept.
func disturbed(doc *result.Doc) bool {
	return slices.ContainsFunc(doc.Points, func(p *result.Point) bool {
		return hasWarning(p, "generator_cpu_bound") || hasWarning(p, "descheduled") || hasWarning(p, "steal") || hasWarning(p, "submitted_late")
	})
}

// On a disk of known service time that does one I/O at a time, Poisson arrivals make an M/D/1 queue.
// Pollaczek and Khinchine have its mean response: d (1 + rho / 2(1 - rho)). The service time is taken
// as it was measured, since the disk answers a little after its time. A search that was disturbed may
// find less; none finds more.
func TestFindMaxOnADiskOfKnownServiceTime(t *testing.T) {
	disk := lab.NewProgrammable(t, 16*mib)
	disk.SetLatency(lab.Range{}, lab.Reads, time.Millisecond)
	for range 3 {
		out := search(t, "--limit", "mean=3ms", "--arrival", "poisson", "--iodepth", "1", "--start", "450",
			"--resolution", "4", "--probe", "1500ms", "--confirm", "3s", "--ramp", "200ms", "--format", "json", disk.Dev)
		doc := out.found(t)
		f := doc.FindMax
		if out.status == exitMissed && disturbed(doc) {
			t.Logf("disturbed: %s", f.Why)
			continue
		}
		out.want(t, exitGood)
		p := doc.Points[*f.FoundPoint]
		d := float64(p.Total.Latency.Mean) / 1e9
		wait := 0.003 - d
		want := 2 * wait / (d + 2*wait) / d
		off := *f.FoundIOPS/want - 1
		t.Logf("found %.4g IOPS of %.4g at a service time of %.3f ms: %+.1f %%, %d steps", *f.FoundIOPS, want, 1e3*d, 100*off, len(f.Steps))
		if f.Arrival != "poisson" || len(f.Steps) != len(doc.Points) {
			t.Errorf("%+v", f)
		}
		if math.Abs(off) <= 0.05 {
			return
		}
		if off > 0.1 || !disturbed(doc) {
			t.Errorf("off by %+.1f %%", 100*off)
		}
	}
	t.Log("no search was left alone: it has been seen only that none finds too much")
}

// Fixed arrivals at a disk that takes four at a time wait for nothing until it is full: the result is
// what the disk gives.
func TestFindMaxReachesTheCeiling(t *testing.T) {
	disk := lab.NewProgrammable(t, 16*mib)
	disk.SetLatency(lab.Range{}, lab.Reads, 4*time.Millisecond)
	out := search(t, "--limit", "p50=15ms", "--iodepth", "4", "--probe", "1500ms", "--confirm", "2s",
		"--ramp", "100ms", "--format", "json", disk.Dev)
	doc := out.found(t)
	f := doc.FindMax
	if out.status != exitMissed || !disturbed(doc) {
		out.want(t, exitGood)
		most := 0.0 // other load on the machine may keep the disk from its 1000
		for _, s := range f.Steps {
			most = max(most, s.Achieved)
		}
		if found := *f.FoundIOPS; found > 1000 || !disturbed(doc) && (!f.ReachedCeiling || found < 0.9*most) {
			t.Errorf("found %v, the most was %v of 1000, %+v", found, most, f)
		}
	}
	if f.Steps[0].Verdict != "closed_loop" || doc.Points[0].Total.OpenLoop != nil || doc.Points[1].Total.OpenLoop == nil {
		t.Errorf("%+v", f.Steps)
	}
	// The plan says what was run, with its rates.
	points := doc.Plan.Phases[0].Points
	if len(doc.Plan.Phases) != 1 || len(points) != len(doc.Points) {
		t.Fatalf("%d points in the plan, %d were run", len(points), len(doc.Points))
	}
	for i, s := range f.Steps {
		if rate := points[s.Point].Streams[0].Pacing.IOPS.Total; s.Point != i || rate != s.Asked || points[i].Label != doc.Points[i].Label {
			t.Errorf("step %d: %+v, the plan has a rate of %v", i, s, rate)
		}
	}
}

// An interrupted search has a whole document, with nothing found.
func TestFindMaxInterrupted(t *testing.T) {
	t.Parallel()
	p := start(t, "", "find-max", "--limit", "p99=1s", "--size", "8m", "--start", "100", "--format", "json")
	time.Sleep(3 * time.Second)
	p.signal(syscall.SIGINT)
	doc := p.wait().want(t, 130).found(t)
	f := doc.FindMax
	if f.FoundIOPS != nil || f.Why != "interrupted" || f.Steps == nil || len(f.Steps) != 0 || len(doc.Points) != 1 || !doc.Points[0].Interrupted {
		t.Errorf("%+v", f)
	}
}

// I/O errors end a search, too: what a broken disk can do is no capacity.
func TestFindMaxFaults(t *testing.T) {
	t.Parallel()
	disk := lab.NewProgrammable(t, 16*mib)
	disk.FailRange(0, 0, lab.Reads, syscall.EIO)
	args := []string{"find-max", "--limit", "p99=1s", "--start", "2000", "--probe", "600ms", "--confirm", "600ms", "--ramp", "0", "--format", "json"}
	doc := blkstorm(t, append(args, disk.Dev)...).want(t, exitFaults).found(t)
	if f := doc.FindMax; f.FoundIOPS != nil || !strings.Contains(f.Why, "I/O errors ended a step") || len(doc.Points) != 1 {
		t.Errorf("%+v", f)
	}
	doc = blkstorm(t, append(args, "--continue-on-error", disk.Dev)...).want(t, exitFaults).found(t)
	if f := doc.FindMax; f.FoundIOPS != nil || f.Steps[0].Verdict != "faults" {
		t.Errorf("%+v", f)
	}
}

// The rate is that over all targets, and a closed loop has none.
func TestPace(t *testing.T) {
	s := &plan.Stream{Targets: []int{0, 1, 2, 3}, Pacing: workload.Pacing{Arrival: "poisson"}}
	pace(s, 1000, "poisson")
	if s.Pacing.IOPS.Total != 250 || s.Pacing.Arrival != "poisson" {
		t.Errorf("%+v", s.Pacing)
	}
	if pace(s, 0, "poisson"); !s.Pacing.IsZero() || s.Pacing.Open() {
		t.Errorf("%+v", s.Pacing)
	}
}

// What the search sees of a point: response times and what was planned in an open loop, service times
// in a closed one.
func TestMeasured(t *testing.T) {
	latency := func(mean int64) *result.Latency {
		return &result.Latency{Count: 9, Min: mean - 1, Mean: mean, Max: mean + 2, Percentiles: map[string]int64{"99": mean + 1}}
	}
	closed := &result.Point{WindowS: 2, Total: &result.Stat{IOs: 90, IOPS: 45, Latency: latency(100)}}
	open := &result.Point{WindowS: 2, Faults: 3, Total: &result.Stat{IOs: 90, IOPS: 45, Latency: latency(100),
		OpenLoop: &result.OpenLoop{Response: latency(200), Offered: 95, Missed: 5}}}
	var got []findmax.Step
	for _, limit := range []string{"p99=1ms", "mean=1ms", "max=1ms"} {
		l, err := findmax.ParseLimit(limit)
		if err != nil {
			t.Fatal(err)
		}
		f := &finder{cfg: findmax.Config{Limit: l}}
		got = append(got, f.measured(closed), f.measured(open))
	}
	want := []findmax.Step{}
	for _, above := range []time.Duration{1, 0, 2} {
		want = append(want,
			findmax.Step{IOs: 90, Achieved: 45, Value: 100 + above, Min: 99, Window: 2 * time.Second},
			findmax.Step{IOs: 90, Achieved: 45, Value: 200 + above, Min: 199, Window: 2 * time.Second, Planned: 100, Missed: 5, Faults: 3})
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
}
