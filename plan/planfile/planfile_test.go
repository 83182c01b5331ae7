package planfile

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blkstorm/plan"
	"blkstorm/steady"
	"blkstorm/sweep"
	"blkstorm/threshold"
	"blkstorm/workload"
)

// load reads a text that must be right.
func load(t testing.TB, text string, targets ...string) *plan.Plan {
	t.Helper()
	p, err := Read("plan.yaml", strings.NewReader(text), Options{Targets: targets, Seed: 7})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A short plan is expanded into the plain one.
func TestShortForms(t *testing.T) {
	got := load(t, `
targets: [/dev/a, {spec: serial=S, destroy_signature: true}]
destroy: true
defaults: {rw: randrw, read_pct: 70, bs: 8k}
phases:
  - purge
  - fill: 2
  - idle: 5m
  - precondition: {threads: 16, iodepth: 16, steady: {window: 4}}
  - measure: {sweep: {threads: [2, 4], iodepth: "2-4*2"}, ramp: 10s, runtime: 60, targets: [serial=S]}
asserts: ["p99<2ms"]
`)
	rule := steady.Default()
	rule.Window = 4
	load := func(threads, iodepth int, targets ...int) []plan.Stream {
		return []plan.Stream{{
			Label: "randrw", Workload: workload.Spec{RW: "randrw", BlockSize: 8192, ReadPct: 70}, Targets: targets, Threads: threads, IODepth: iodepth,
		}}
	}
	measured := func(threads, iodepth int) plan.Point {
		return plan.Point{
			Label: fmt.Sprintf("randrw 70%% read 8k %dT/%dQ", threads, iodepth), Ramp: plan.Duration(10 * time.Second),
			Runtime: plan.Duration(time.Minute), Interval: plan.Duration(time.Second), Streams: load(threads, iodepth, 1),
		}
	}
	want := &plan.Plan{
		Schema: plan.Schema, Targets: []plan.Target{{Spec: "/dev/a"}, {Spec: "serial=S", DestroySignature: true}},
		Engine: "auto", Direct: true, CompleteMin: 1, Pin: "auto", Seed: 7, Destroy: true,
		Asserts: []threshold.Assert{{Direction: "total", Figure: "latency.p99", Op: threshold.Less, Value: 2e6}},
		Phases: []plan.Phase{
			plan.PurgePhase([]int{0, 1}), plan.FillPhase([]int{0, 1}, 2, workload.DataSpec{}), {Kind: plan.Idle, Time: plan.Duration(5 * time.Minute)},
			{Kind: plan.Precondition, Steady: &rule, Points: []plan.Point{{
				Label: "randrw 70% read 8k 16T/16Q", Runtime: plan.Duration(25 * time.Minute), Interval: plan.Duration(time.Second), Streams: load(16, 16, 0, 1),
			}}},
			{Kind: plan.Measure, Points: []plan.Point{measured(2, 2), measured(2, 4), measured(4, 2), measured(4, 4)},
				Sweep: &plan.Sweep{Axes: []sweep.Axis{{Name: "threads", Values: []string{"2", "4"}}, {Name: "iodepth", Values: []string{"2", "4"}}}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// What stands nearer to a stream counts, and puts aside what says the same in other words.
func TestLayers(t *testing.T) {
	p := load(t, `
targets: [/dev/a]
defaults: {bssplit: "4k/50:8k/50", rate_iops: 1000, read_pct: 70, iodepth: 8, rw: randrw, interval: 2s}
phases:
  - measure:
      threads: 3
      streams:
        - {label: all, iodepth: 4}
        - {bs: 64k, rw: write, think_time: 1ms}
        - {rw: write, rate_bytes: 10m}
        - {rate_iops: "30,10"}
  - measure: [{share: 30, streams: [{share: 75}, {share: 25}], rate_iops: 400}]
`)
	for i, want := range []plan.Stream{
		{Label: "all", IODepth: 4, Workload: workload.Spec{RW: "randrw", BlockSize: 8192, ReadPct: 70}, Pacing: workload.Pacing{IOPS: workload.Rates{Total: 1000}}},
		{Label: "write", IODepth: 8, Workload: workload.Spec{RW: "write", BlockSize: 65536}, Pacing: workload.Pacing{Think: workload.Think{Pause: time.Millisecond, Every: 1}}},
		{Label: "write 3", IODepth: 8, Workload: workload.Spec{RW: "write", BlockSize: 8192}, Pacing: workload.Pacing{Bytes: workload.Rates{Total: 10 << 20}}},
		{Label: "randrw", IODepth: 8, Workload: workload.Spec{RW: "randrw", BlockSize: 8192, ReadPct: 75}, Pacing: workload.Pacing{IOPS: workload.Rates{Each: [4]float64{30, 10}}}},
	} {
		got := p.Phases[0].Points[0].Streams[i]
		if split := got.Workload.BlockSizeSplit; split.IsZero() != (i == 1) {
			t.Errorf("stream %d: split %v", i, split)
		}
		got.Workload.BlockSizeSplit = workload.Splits{}
		want.Targets, want.Threads = []int{0}, 3
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("stream %d: -want +got:\n%s", i, diff)
		}
	}
	// A rate beside shares is that of all streams together.
	for i, want := range []float64{300, 100} {
		if s := p.Phases[1].Points[0].Streams[i]; s.Share != 0 || s.Pacing.IOPS.Total != want {
			t.Errorf("stream %d with a share: %+v", i, s)
		}
	}
	if p.Phases[0].Points[0].Interval.D() != 2*time.Second {
		t.Errorf("interval %v", p.Phases[0].Points[0].Interval.D())
	}
}

// Axes run in written order, the last one fastest, and take the place of defaults.
func TestSweepOrder(t *testing.T) {
	p := load(t, `
targets: [/dev/a]
defaults: {bssplit: "4k/50:8k/50", rw: randrw, read_pct: 30}
phases:
  - measure: {sweep: {rw: [randread, randrw], bs: "4k-16k*2"}}
`)
	var got []string
	for _, pt := range p.Phases[0].Points {
		got = append(got, pt.Label)
	}
	want := []string{
		"randread 4k 1T/1Q", "randread 8k 1T/1Q", "randread 16k 1T/1Q",
		"randrw 30% read 4k 1T/1Q", "randrw 30% read 8k 1T/1Q", "randrw 30% read 16k 1T/1Q",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Targets of the command line take the file's place, but not its consent.
func TestTargetsOfTheCommandLine(t *testing.T) {
	const text = `
targets: [{spec: /dev/a, destroy_signature: true, create_bytes: 1g}, /dev/b]
destroy: true
phases:
  - measure: {targets: [0, /dev/b]}
  - measure: {targets: [/dev/b]}
  - purge: {targets: [1]}
  - fill
`
	numbers := func(p *plan.Plan) (out [][]int) {
		for _, ph := range p.Phases {
			out = append(out, ph.Points[0].Streams[0].Targets)
		}
		return out
	}
	p := load(t, text)
	if !p.Destroy || !cmp.Equal(numbers(p), [][]int{{0, 1}, {1}, {1}, {0, 1}}) {
		t.Errorf("of the file: destroy %v, targets %v", p.Destroy, numbers(p))
	}
	p = load(t, text, "/dev/x", "/dev/y", "/dev/z")
	want := []plan.Target{{Spec: "/dev/x"}, {Spec: "/dev/y"}, {Spec: "/dev/z"}}
	if p.Destroy || !cmp.Equal(p.Targets, want) || !cmp.Equal(numbers(p), [][]int{{0, 1, 2}, {1}, {1}, {0, 1, 2}}) {
		t.Errorf("three others: destroy %v, targets %v of %v", p.Destroy, numbers(p), p.Targets)
	}
	if _, err := read(text, "/dev/x"); err == nil || !strings.Contains(err.Error(), "phases[1].measure.targets: names number 1 of the file's targets; the command line has only 1") {
		t.Errorf("one other: %v", err)
	}
	if p := load(t, "phases: [fill]", "/dev/x"); !cmp.Equal(numbers(p), [][]int{{0}}) {
		t.Errorf("a file without targets: %v", numbers(p))
	}
	if p := load(t, "phases: [fill]\ntargets: [{}]"); p.Targets[0].Spec != "" {
		t.Errorf("a scratch file: %v", p.Targets)
	}
}

// Anchors, aliases and merges, as people write them.
func TestAnchors(t *testing.T) {
	p := load(t, `
targets: [/dev/a]
defaults: &base {rw: read, bs: 64k}
phases:
  - measure: {<<: *base, bs: 8k}
  - measure: {<<: [{iodepth: 4}, *base, {iodepth: 9}]}
`)
	for i, want := range []string{"read 8k 1T/1Q", "read 64k 1T/4Q"} {
		if got := p.Phases[i].Points[0].Label; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// A file, a folder with a result, standard input.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "p.yaml")
	if err := os.WriteFile(file, []byte("targets: [/dev/a]\nphases: [fill]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(file, nil, Options{}); err != nil {
		t.Error(err)
	}
	if _, err := Load(dir, nil, Options{}); err == nil || !strings.Contains(err.Error(), "result.json: no such file") {
		t.Errorf("a folder without a result: %v", err)
	}
	text, err := json.Marshal(map[string]any{"plan": full(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ResultFile), text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(dir, nil, Options{}); err != nil {
		t.Error(err)
	}
	if _, err := Load("-", strings.NewReader("phases: 3"), Options{Targets: []string{"x"}}); err == nil || !strings.HasPrefix(err.Error(), "standard input:1: phases: ") {
		t.Errorf("standard input: %v", err)
	}
	if _, err := Load(filepath.Join(dir, "none"), nil, Options{}); err == nil || !strings.Contains(err.Error(), "plan file: ") {
		t.Errorf("no file: %v", err)
	}
}
