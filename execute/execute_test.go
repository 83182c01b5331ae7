package execute

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"blkstorm/device"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/workload"
)

// job is a short plan on the targets; tests change what they are about.
func job(rw string, targets ...plan.Target) *plan.Plan {
	s := plan.Stream{Label: rw, Workload: workload.Spec{RW: rw, BlockSize: 4096, ReadPct: 50}, Threads: 1, IODepth: 1}
	for i := range targets {
		s.Targets = append(s.Targets, i)
	}
	return &plan.Plan{
		Schema: plan.Schema, Targets: targets, Engine: "psync", Direct: true, CompleteMin: 1, Pin: "auto", Seed: 1,
		Phases: []plan.Phase{{Kind: plan.Measure, Points: []plan.Point{{
			Label: "test", Runtime: plan.Duration(50 * time.Millisecond), Interval: plan.Duration(10 * time.Millisecond), Streams: []plan.Stream{s},
		}}}},
	}
}

func options() Options { return Options{Roots: SystemRoots(), Percentiles: result.DefaultPercentiles} }

// carryOut prepares and runs.
func carryOut(p *plan.Plan, o Options) (*result.Doc, error) {
	s, err := Prepare(p, o)
	if err != nil {
		return nil, err
	}
	return s.Run(context.Background())
}

// file makes a file of size bytes in the test's folder.
func file(t *testing.T, size int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "target")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func names(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

func TestRunCallsItsSinksInOrder(t *testing.T) {
	var calls []string
	o := options()
	o.Dir = filepath.Join(t.TempDir(), "out")
	o.Begun = func(d *result.Doc) error {
		calls = append(calls, "begun")
		if len(d.Targets) != 1 || len(d.Points) != 0 || d.Plan == nil {
			t.Errorf("begun with %+v", d)
		}
		return nil
	}
	o.Row = func(*plan.Point, *result.Interval) error {
		calls = append(calls, "row")
		return nil
	}
	o.Point = func(i int, p *result.Point) error {
		calls = append(calls, "point")
		if i != 0 || p.Total.IOs == 0 {
			t.Errorf("point %d: %+v", i, p.Total)
		}
		return nil
	}
	doc, err := carryOut(job("randread", plan.Target{Spec: file(t, 1<<20)}), o)
	if err != nil || len(doc.Points) != 1 || !doc.Points[0].Completed || Faulted(doc) {
		t.Fatalf("%+v, %v", doc, err)
	}
	if want := "begun row row row row row point"; strings.Join(calls, " ") != want {
		t.Errorf("calls: %v, want %s", calls, want)
	}
	if got := names(t, o.Dir); !slices.Equal(got, []string{"intervals.ndjson", "latency.hlog", "result.json"}) {
		t.Errorf("folder: %v", got)
	}
}

// A sink that fails costs the error, not the figures.
func TestSinkErrorsAreReturnedBesideTheDocument(t *testing.T) {
	broken := errors.New("broken")
	for name, change := range map[string]func(*Options){
		"row":   func(o *Options) { o.Row = func(*plan.Point, *result.Interval) error { return broken } },
		"point": func(o *Options) { o.Point = func(int, *result.Point) error { return broken } },
	} {
		o := options()
		change(&o)
		doc, err := carryOut(job("randread", plan.Target{Spec: file(t, 1<<20)}), o)
		if !errors.Is(err, broken) || doc == nil || doc.Points[0].Total.IOs == 0 {
			t.Errorf("%s: %v, %v", name, doc, err)
		}
	}
	o := options()
	o.Begun = func(*result.Doc) error { return broken }
	if doc, err := carryOut(job("randread", plan.Target{Spec: file(t, 1<<20)}), o); !errors.Is(err, broken) || doc != nil {
		t.Errorf("begun: %v, %v", doc, err)
	}
}

// What can be known before is known before: no folder, no file, no document.
func TestPrepareTouchesNothing(t *testing.T) {
	existing := file(t, 1<<20)
	for name, c := range map[string]struct {
		change func(*plan.Plan, *Options)
		want   string
	}{
		"pin":        {func(p *plan.Plan, _ *Options) { p.Pin = "1023" }, "--pin 1023: CPU 1023 is not among"},
		"pin text":   {func(p *plan.Plan, _ *Options) { p.Pin = "a-b" }, "--pin \"a-b\": want auto"},
		"plan":       {func(p *plan.Plan, _ *Options) { p.CompleteMin = 2 }, "--complete-min 2"},
		"target":     {func(p *plan.Plan, _ *Options) { p.Phases[0].Points[0].Streams[0].Workload.BlockSize = 2 << 20 }, "smaller than one block"},
		"dir exists": {func(_ *plan.Plan, o *Options) { o.Dir = filepath.Dir(existing) }, "is not empty"},
		"dir a file": {func(_ *plan.Plan, o *Options) { o.Dir = existing }, "a file of that name is in the way"},
		"dir below":  {func(_ *plan.Plan, o *Options) { o.Dir = filepath.Join(existing, "x", "y") }, "not a directory"},
		"guard":      {func(p *plan.Plan, _ *Options) { p.Phases[0].Points[0].Streams[0].Workload.RW = "randwrite" }, "pass --destroy"},
	} {
		dir := t.TempDir()
		p := job("randread", plan.Target{Spec: existing}, plan.Target{Spec: filepath.Join(dir, "new"), CreateBytes: 1 << 20})
		o := options()
		o.Dir = filepath.Join(dir, "out")
		c.change(p, &o)
		if _, err := Prepare(p, o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if got := names(t, dir); len(got) != 0 {
			t.Errorf("%s: left %v", name, got)
		}
	}
}

func TestGuardComesAsRefusal(t *testing.T) {
	path := file(t, 1<<20)
	_, err := Prepare(job("randwrite", plan.Target{Spec: path}), options())
	var refused *device.RefusedError
	if !errors.As(err, &refused) || refused.Path != path || refused.Refusals[0].Code != device.CodeConsent {
		t.Errorf("%v", err)
	}
	v, err := Look(job("randwrite", plan.Target{Spec: path}), options())
	if err != nil || !v.Refused() || len(v.Targets[0].Refusals) != 1 || !v.Targets[0].Writes {
		t.Errorf("%+v, %v", v, err)
	}
	p := job("randwrite", plan.Target{Spec: path})
	p.Destroy = true
	if v, err := Look(p, options()); err != nil || v.Refused() || v.FillBytes != 0 {
		t.Errorf("%+v, %v", v, err)
	}
}

func TestCancelledBeforeTheFirstPoint(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s, err := Prepare(job("randread", plan.Target{Spec: file(t, 1<<20)}), options())
	if err != nil {
		t.Fatal(err)
	}
	if doc, err := s.Run(ctx); doc == nil || len(doc.Points) != 0 || !errors.Is(err, ErrInterrupted) {
		t.Errorf("%v, %v; want a document without points", doc, err)
	}
}

// A target that vanishes between the check and the run gives an error and no empty document.
func TestNoDocumentWithoutAPoint(t *testing.T) {
	path := file(t, 1<<20)
	s, err := Prepare(job("randread", plan.Target{Spec: path}), options())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if doc, err := s.Run(context.Background()); doc != nil || err == nil {
		t.Errorf("%v, %v", doc, err)
	}
}

// New files are written to their last byte, whatever their size, and scratch files leave nothing.
func TestNewFilesAreWrittenToTheirEnd(t *testing.T) {
	for _, size := range []int64{4096, 512 * 3, 1 << 20, 1<<20 + 4096, 3<<20 + 512*5} {
		path := filepath.Join(t.TempDir(), "new")
		p := job("randread", plan.Target{Spec: path, CreateBytes: size})
		p.Phases[0].Points[0].Streams[0].Workload.BlockSize = 512
		if _, err := carryOut(p, options()); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil || int64(len(content)) != size {
			t.Fatalf("%d bytes, %v; want %d", len(content), err, size)
		}
		for i := range size / 512 {
			if bytes.Equal(content[i*512:(i+1)*512], make([]byte, 512)) {
				t.Fatalf("%d bytes: sector %d was not written", size, i)
			}
		}
	}
	dir := t.TempDir()
	t.Chdir(dir)
	p := job("randrw", plan.Target{CreateBytes: 1 << 20})
	if doc, err := carryOut(p, options()); err != nil || doc.Targets[0].SizeBytes != 1<<20 {
		t.Errorf("%+v, %v", doc, err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
}

// An engine that moves nothing makes no file to stay, and is not asked by the guard.
func TestDryEngineLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	p := job("randwrite", plan.Target{Spec: filepath.Join(dir, "new"), CreateBytes: 1 << 40}, plan.Target{Spec: file(t, 1<<20)})
	p.Engine = "null"
	doc, err := carryOut(p, options())
	if err != nil || doc.Points[0].Total.IOs == 0 {
		t.Fatalf("%v, %v", doc, err)
	}
	if got := names(t, dir); len(got) != 0 {
		t.Errorf("left %v", got)
	}
	if v, err := Look(p, options()); err != nil || v.FillBytes != 0 || v.Targets[0].Writes || v.Refused() {
		t.Errorf("%+v, %v", v, err)
	}
}

// When a file cannot be made, those that were made before it go, too.
func TestNoFileStaysWhenAnotherFails(t *testing.T) {
	dir := t.TempDir()
	p := job("randread", plan.Target{Spec: filepath.Join(dir, "one"), CreateBytes: 1 << 20}, plan.Target{Spec: filepath.Join(dir, "two"), CreateBytes: 1 << 20})
	s, err := Prepare(p, options())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "two"), []byte("somebody else's"), 0o600); err != nil {
		t.Fatal(err)
	}
	if doc, err := s.Run(context.Background()); doc != nil || !errors.Is(err, os.ErrExist) {
		t.Errorf("%v, %v", doc, err)
	}
	if got := names(t, dir); !slices.Equal(got, []string{"two"}) {
		t.Errorf("left %v", got)
	}
}

func TestTargetsOnce(t *testing.T) {
	path := file(t, 1<<20)
	link := path + ".link"
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	hard := path + ".hard"
	if err := os.Link(path, hard); err != nil {
		t.Fatal(err)
	}
	for want, other := range map[string]string{
		"target " + hard + " is the same as " + path: hard,
		"target " + path + " is given twice":         path,
		"target " + link + " is the same as " + path: link,
	} {
		_, err := Prepare(job("randread", plan.Target{Spec: path}, plan.Target{Spec: other}), options())
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestIdentity(t *testing.T) {
	f := &device.Facts{Path: "/dev/sdb", Vendor: "ACME", Model: "Disk 1", Serial: "S1", SizeBytes: 1_000_204_886_016}
	if got, want := Identity(f), "/dev/sdb ACME Disk 1 serial S1, 1.0 TB (932 GiB)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := Identity(&device.Facts{Path: "/f", SizeBytes: 4096}), "/f, 4.1 kB (4.0 KiB)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestFaulted(t *testing.T) {
	for want, p := range map[*result.Point]bool{
		{}:             false,
		{Faults: 1}:    true,
		{Failure: "x"}: true,
		{StuckIOs: 1}:  true,
	} {
		if Faulted(&result.Doc{Points: []*result.Point{{}, want}}) != p {
			t.Errorf("%+v: want %v", want, p)
		}
	}
}
