package execute

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"blkstorm/device"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/threshold"
	"blkstorm/verdict"
	"blkstorm/workload"
)

// several is a plan with a point per block size.
func several(target string, sizes ...int64) *plan.Plan {
	p := job("randread", plan.Target{Spec: target})
	first := p.Phases[0].Points[0]
	p.Phases[0].Points = nil
	for _, bs := range sizes {
		point := first
		point.Label = fmt.Sprintf("bs %d", bs)
		point.Streams = slices.Clone(point.Streams)
		point.Streams[0].Workload.BlockSize = bs
		p.Phases[0].Points = append(p.Phases[0].Points, point)
	}
	return p
}

// A point that cannot run is in the document with its reason, in its place, and the rest runs.
func TestSkippedPoints(t *testing.T) {
	p := several(file(t, 1<<20), 4096, 2<<20, 8192)
	o := options()
	o.Dir = filepath.Join(t.TempDir(), "out")
	var told []int
	o.Point = func(i int, _ *result.Point) error { told = append(told, i); return nil }
	doc, err := carryOut(p, o)
	if err != nil || len(doc.Points) != 3 {
		t.Fatalf("%+v, %v", doc, err)
	}
	for i, point := range doc.Points {
		skipped := strings.Contains(point.Skipped, "smaller than one block of --bs 2m")
		if ran := point.Completed && point.Total.IOs > 0; skipped != (i == 1) || ran == skipped {
			t.Errorf("point %d: skipped %q, completed %v, %d I/Os", i, point.Skipped, point.Completed, point.Total.IOs)
		}
	}
	if !slices.Equal(told, []int{0, 1, 2}) || Faulted(doc) || Missed(doc) {
		t.Errorf("told of %v, faulted %v, missed %v", told, Faulted(doc), Missed(doc))
	}
}

// What leaves nothing to measure is an error before anything is touched: no folder, no figures.
func TestNothingToRun(t *testing.T) {
	path := file(t, 1<<20)
	purge := several(path, 4096, 8192)
	purge.Phases = append([]plan.Phase{plan.FillPhase([]int{0}, 1, workload.DataSpec{})}, purge.Phases...)
	purge.Phases[0].Points[0].Streams[0].Workload.Size.Bytes = 8 << 20
	precondition := several(path, 4096, 8192)
	ph := several(path, 2<<20).Phases[0]
	ph.Kind = plan.Precondition
	precondition.Phases = append([]plan.Phase{ph}, precondition.Phases...)
	for want, p := range map[string]*plan.Plan{
		"phase precondition, bs 2097152: " + path + ": range of 1m":          precondition,
		"none of the 2 points can run; the first: " + path + ": range of 1m": several(path, 2<<20, 4<<20),
		path + ": range of 1m is smaller than one block of --bs 2m":          several(path, 2<<20),
		"phase fill: " + path + ": --size 8m":                                purge,
	} {
		o := options()
		o.Dir = filepath.Join(t.TempDir(), "out")
		p.Destroy = true
		doc, err := carryOut(p, o)
		if err == nil || !strings.HasPrefix(err.Error(), want) || doc != nil {
			t.Errorf("%v; want %q", err, want)
		}
		if _, err := os.Stat(o.Dir); !errors.Is(err, os.ErrNotExist) {
			t.Error("a folder was made")
		}
	}
}

// A point with more threads than any run may have is skipped, too; the machine can do the others.
func TestSkippedForTheMachine(t *testing.T) {
	p := several(file(t, 1<<20), 4096, 4096)
	p.Phases[0].Points[1].Streams = make([]plan.Stream, 5)
	overload(&p.Phases[0].Points[1])
	doc, err := carryOut(p, options())
	if err != nil || doc.Points[0].Skipped != "" || !strings.Contains(doc.Points[1].Skipped, "above the limit of") {
		t.Errorf("%+v, %v", doc, err)
	}
}

// A plan over 2^31 ms is looked at, told of as it goes on, and summed up.
func TestLookAtLongPlans(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Truncate(path, 1600<<30)); err != nil {
		t.Fatal(err)
	}
	p := several(path, 4096, 8192)
	p.Destroy = true
	for i := range p.Phases[0].Points {
		p.Phases[0].Points[i].Runtime, p.Phases[0].Points[i].Interval = plan.Duration(25*24*time.Hour), plan.Duration(time.Second)
	}
	p.Phases = append([]plan.Phase{
		plan.PurgePhase([]int{0}), plan.FillPhase([]int{0}, 2, workload.DataSpec{}), {Kind: plan.Idle, Time: plan.Duration(time.Hour)},
	}, p.Phases...)
	v, err := Look(p, options())
	if err != nil {
		t.Fatal(err)
	}
	want := Outlook{WriteBytes: 3200 << 30, TrimBytes: 1600 << 30, TimeS: 50*86400 + 3600, Work: true}
	if v.Outlook != want || v.Refused() || !v.Targets[0].Writes {
		t.Errorf("%+v, want %+v", v.Outlook, want)
	}
	if got := v.Outlook.String(); got != "50d1h0m0s, and 3.1 TiB to write, and 1.6 TiB to trim" {
		t.Error(got)
	}
	var lines []string
	o := options()
	o.Log = func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	s, err := Prepare(p, o)
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.Phases {
		for j := range p.Phases[i].Points {
			s.announce(&p.Phases[i].Points[j], 0)
		}
	}
	told := strings.Join(lines, "\n")
	if told != `point 1 of 4, purge 64m; left with it: 50d1h0m0s, and 3.1 TiB to write, and 1.6 TiB to trim
point 2 of 4, fill 2 x 128k; left with it: 50d1h0m0s, and 3.1 TiB to write
point 3 of 4, bs 4096; left with it: 50d
point 4 of 4, bs 8192; left with it: 25d` {
		t.Error(told)
	}
	if used := blocks(t, path); used != 0 {
		t.Errorf("%d blocks were written", used)
	}
}

// blocks is how much of a file is there, in 512 bytes.
func blocks(t *testing.T, path string) int64 {
	t.Helper()
	facts, err := SystemRoots().Device.Inspect(path)
	if err != nil {
		t.Fatal(err)
	}
	share, known := SystemRoots().Device.Unwritten(facts, 0, facts.SizeBytes)
	if !known {
		t.Skip("this file system does not tell holes")
	}
	return int64((1 - share) * float64(facts.SizeBytes) / 512)
}

// A consent that is missing is asked for when only a phase before the reads writes.
func TestGuardSeesAllPhases(t *testing.T) {
	p := several(file(t, 1<<20), 4096, 8192)
	p.Phases = append([]plan.Phase{plan.FillPhase([]int{0}, 1, workload.DataSpec{})}, p.Phases...)
	var refused *device.RefusedError
	if _, err := Prepare(p, options()); !errors.As(err, &refused) || refused.Refusals[0].Code != "consent" {
		t.Errorf("%v; want a refusal", err)
	}
}

// Limits are checked on the measured points only, and one that is not kept is no fault.
func TestAsserts(t *testing.T) {
	p := several(file(t, 1<<20), 4096, 2<<20, 8192)
	p.Phases = append([]plan.Phase{{Kind: plan.Precondition, Points: slices.Clone(p.Phases[0].Points[:1])}}, p.Phases...)
	for _, text := range []string{"errors==0", "p99.9<1ns", "response.p99<1s"} {
		a, err := threshold.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		p.Asserts = append(p.Asserts, a)
	}
	doc, err := carryOut(p, options())
	if err != nil || len(doc.Points) != 4 || !Missed(doc) || Faulted(doc) {
		t.Fatalf("%+v, %v", doc, err)
	}
	for i, point := range doc.Points {
		if want := map[int]int{1: 3, 3: 3}[i]; len(point.Asserts) != want {
			t.Errorf("point %d has %d asserts, want %d", i, len(point.Asserts), want)
		}
	}
	got := doc.Points[1].Asserts
	if !got[0].OK || got[1].OK || *got[1].Value < 1 || got[2].OK || !strings.Contains(got[2].Reason, "planned time") {
		t.Errorf("%+v", got)
	}
}

// A fill that has not written each byte of its passes is no fill, and nothing is measured after it.
func TestFillsAreWhole(t *testing.T) {
	path := file(t, 1<<20+512)
	p := several(path, 4096, 8192)
	p.Destroy, p.Direct = true, false
	p.Phases = append([]plan.Phase{plan.FillPhase([]int{0}, 3, workload.DataSpec{})}, p.Phases...)
	s, err := Prepare(p, options())
	if err != nil {
		t.Fatal(err)
	}
	fill := &p.Phases[0].Points[0]
	for _, c := range []struct {
		written uint64
		faults  uint64
		kind    string
		want    string
	}{
		{3 * (1<<20 + 512), 0, plan.Fill, ""},
		{3*(1<<20+512) - 512, 0, plan.Fill, "3146752 of 3147264 bytes were written to " + path},
		{3*(1<<20+512) + 512, 0, plan.Fill, "3147776 of 3147264 bytes were written to"},
		{17, 1, plan.Fill, ""}, // what ended it is said
		{17, 0, plan.Measure, ""},
	} {
		r := &result.Point{Phase: c.kind, Faults: c.faults, Streams: []*result.Stream{{Total: &result.Stat{}}}, Total: &result.Stat{Latency: &result.Latency{}}, Targets: []*result.Target{{Write: &result.Stat{Bytes: c.written}, Trim: &result.Stat{}}}}
		if got := s.leftOut(fill, r); !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%d written: %q; want %q", c.written, got, c.want)
		}
		warned := slices.ContainsFunc(s.judge(fill, r, "", ""), func(w verdict.Warning) bool { return w.Code == "fill_incomplete" })
		if warned != (c.want != "") {
			t.Errorf("%d written: warned %v", c.written, warned)
		}
	}
	if !Faulted(&result.Doc{Points: []*result.Point{{Phase: plan.Fill}}}) || Faulted(&result.Doc{Points: []*result.Point{{Phase: plan.Fill, Completed: true}, {Phase: plan.Measure}}}) {
		t.Error("a fill that is not whole is no fault, or a measurement is one")
	}
	doc, err := carryOut(p, options())
	if err != nil || len(doc.Points) != 3 || !doc.Points[0].Completed || doc.Points[0].Write.Bytes != 3*(1<<20+512) {
		t.Errorf("a real fill: %+v, %v", doc, err)
	}
}
