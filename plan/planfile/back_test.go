package planfile

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blkstorm/findmax"
	"blkstorm/plan"
	"blkstorm/steady"
	"blkstorm/sweep"
	"blkstorm/threshold"
	"blkstorm/unit"
	"blkstorm/workload"
)

// full is a plan with a value in every field, so that no key can get lost.
func full(t testing.TB) *plan.Plan {
	t.Helper()
	splits := func(text string) workload.Splits {
		s, err := workload.ParseSplits(text, [3]int64{})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	knee, err := findmax.ParseLimit("p99=2ms")
	if err != nil {
		t.Fatal(err)
	}
	rule := steady.Default()
	fio := steady.Rule{Kind: steady.FioSlope, Window: 30, Round: time.Second, Limit: steady.Limit{Value: 0.3, Percent: true}, Metric: steady.Mean}
	point := func(ramp time.Duration, streams ...plan.Stream) plan.Point {
		p := plan.Point{Label: "a point", Ramp: plan.Duration(ramp), Interval: plan.Duration(500 * time.Millisecond), Streams: streams}
		if !p.Ends() {
			p.Runtime = plan.Duration(25 * time.Minute)
		}
		return p
	}
	one := func(w workload.Spec) plan.Stream {
		return plan.Stream{Label: "one: of #several", Workload: w, Targets: []int{1, 0}, Threads: 2, IODepth: 4}
	}
	paced, burst, think, passes, shared := one(workload.Spec{RW: "randrw", BlockSize: 8192, BlockSizeSplit: splits("4k/60:8k/40,8k/100"), ReadPct: 1, Distribution: workload.Distribution{Kind: workload.Zipf, Param: 1.2}}), one(workload.Spec{RW: "randwrite", BlockSize: 65536, BlockSizeRange: workload.SizeRanges{Read: workload.SizeRange{Min: 4096, Max: 65536}}, BlockSizeAlign: 512, BlockAlign: 4096, Durable: true, Fsync: 3, Fdatasync: 4}), one(workload.Spec{RW: "read", BlockSize: 4096, ReadPct: 50, Stride: 16384, Backward: true, SeqStreams: 4, RandomPct: workload.Percents{25, 0, 50}, Offset: unit.Share{Bytes: 1 << 20}, Size: unit.Share{Percent: 33.3}, WorkingSet: unit.Share{Bytes: 1 << 30}}), one(workload.Spec{RW: "randwrite", BlockSize: 4096, Coverage: true, Data: workload.DataSpec{CompressPct: 50, DedupePct: 40, DedupeUnit: 8192}}), one(workload.Spec{RW: "write", BlockSize: 4096, Data: workload.DataSpec{Content: workload.Content{Kind: workload.DataPattern, Pattern: []byte("a \"b\"\n")}}})
	paced.Pacing = workload.Pacing{IOPS: workload.Rates{Each: [4]float64{900, 100}}, Arrival: workload.ArrivalPoisson}
	burst.Pacing = workload.Pacing{Burst: workload.Burst{Count: 10, Every: time.Second}}
	burst.Workload.Fdatasync = 0
	think.Pacing = workload.Pacing{Think: workload.Think{Pause: 10 * time.Millisecond, Every: 16}}
	passes.Passes = 3
	shared.Share = 100
	bytesRate := one(workload.Spec{RW: "read", BlockSize: 4096})
	bytesRate.Pacing.Bytes = workload.Rates{Total: 100 << 20}
	ended := one(workload.Spec{RW: "randwrite", BlockSize: 4096, JumpEvery: 8})
	ended.Start, ended.Time, ended.IOs, ended.Ramp = plan.Duration(time.Second), plan.Duration(time.Minute), 99, plan.Duration(2*time.Second)
	ended.Targets, ended.Parts, ended.Together = []int{0, 2}, []plan.Part{{Offset: 4096, Size: 8192}, {Size: 1 << 20}}, true
	ended.EndsPoint, ended.EndSync, ended.MaxLatency = true, true, plan.Duration(5*time.Millisecond)
	ended.Tune = &plan.Tune{Latency: plan.Duration(time.Millisecond), Window: plan.Duration(time.Second), Percent: 99.5, Hold: true}
	repeated := plan.Phase{
		Kind: plan.Measure, Points: []plan.Point{point(0, think), point(0, passes)}, Sweep: &plan.Sweep{Axes: []sweep.Axis{{Name: "bs", Values: []string{"4k", "8k"}}}},
		Rounds: &plan.Rounds{Track: []plan.Track{{Point: 0, Metric: steady.P99}, {Point: 1}}, Rule: steady.Default()},
	}
	repeated.Points[1].Label = "another"
	repeated.Rounds.Rule.Window, repeated.Rounds.Rule.RangePct, repeated.Rounds.Rule.FittedPct, repeated.Rounds.Rule.MaxRounds = 3, 12.5, 7, 9
	return &plan.Plan{
		Schema: plan.Schema, Targets: []plan.Target{{Spec: "0123"}, {Spec: "true", DestroySignature: true}, {CreateBytes: 1 << 30, Remake: true}},
		Engine: "io_uring", SQThreadPoll: true, HiPri: true, CompleteMin: 2, Pin: "3", Seed: plan.MaxSeed,
		Grace: plan.Duration(3 * time.Second), ContinueOnError: true, Destroy: true, Quick: true, Profile: "drive-spec-2",
		Claims: &plan.Claims{Drive: "a drive", Source: "its: data sheet", Values: []plan.Claim{{Point: "a point", Figure: "read.mean", Value: 68_000, Unit: "us"}}},
		Phases: []plan.Phase{
			plan.PurgePhase([]int{0, 1, 2}), plan.FillPhase([]int{2}, 2, workload.DataSpec{CompressPct: 30}),
			{Kind: plan.Precondition, Steady: &rule, MostPasses: 4, Points: []plan.Point{point(0, one(workload.Spec{RW: "randtrimwrite", BlockSize: 4096, TrimWith: workload.WriteZeroes}))}},
			{Kind: plan.Precondition, Steady: &fio, Points: []plan.Point{point(0, think)}},
			{Kind: plan.Idle, Time: plan.Duration(25 * 24 * time.Hour)},
			{Kind: plan.Measure, Points: []plan.Point{point(0, think)}, Sweep: &plan.Sweep{Axes: []sweep.Axis{{Name: "threads", Values: []string{"2"}}}, Knee: knee}},
			{Kind: plan.Measure, Points: []plan.Point{point(time.Second, paced, burst, bytesRate, ended), point(0, passes), point(0, shared)}},
			repeated,
		},
		Asserts: []threshold.Assert{{Direction: "read", Figure: "response.p99.9", Op: threshold.LessOrEqual, Value: 5e6}, {Direction: "total", Figure: "bw", Op: threshold.Greater, Value: 1 << 20}},
	}
}

// What results embed, and what Write writes, reads back as the same plan.
func TestReadsBack(t *testing.T) {
	p := full(t)
	asJSON, err := json.MarshalIndent(p, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	asYAML, err := Write(p)
	if err != nil {
		t.Fatal(err)
	}
	const before, after = `{"schema": "blkstorm.result/1", "host": {"cpus": 4}, "plan": `, `, "points": [[[{]`
	rows := strings.Repeat(" ", 3*MaxYAML)
	for name, text := range map[string]string{
		"JSON": string(asJSON), "YAML": string(asYAML), "a result": before + string(asJSON) + after, "a long result": before + rows + string(asJSON) + after,
		"a result in YAML": "schema: blkstorm.result/1\nplan:\n  " + strings.ReplaceAll(string(asYAML), "\n", "\n  "),
	} {
		if diff := cmp.Diff(p, load(t, text)); diff != "" {
			t.Errorf("%s: -written +read:\n%s\n%s", name, diff, text[:min(len(text), 3000)])
		}
	}
}

// A plan that is too long for YAML is written as JSON, and reads back, too.
func TestLongPlanReadsBack(t *testing.T) {
	p := load(t, "targets: [/dev/a]\nphases: [measure: {sweep: {threads: 1-100, iodepth: 1-100}}]")
	text, err := Write(p)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) < MaxYAML || text[0] != '{' {
		t.Errorf("%d bytes: %.80s", len(text), text)
	}
	if diff := cmp.Diff(p, load(t, string(text))); diff != "" {
		t.Errorf("-written +read:\n%s", diff)
	}
}

// The plan above has every key, and so has the form of a rule.
func TestFullHasEveryKey(t *testing.T) {
	text, err := Write(full(t))
	if err != nil {
		t.Fatal(err)
	}
	keys := names(fieldsOf(reflect.TypeFor[plan.Plan]()), fieldsOf(reflect.TypeFor[plan.Claims]()), fieldsOf(reflect.TypeFor[plan.Claim]()), fieldsOf(reflect.TypeFor[plan.Target]()), fieldsOf(reflect.TypeFor[plan.Phase]()),
		fieldsOf(reflect.TypeFor[plan.Point]()), fieldsOf(streamType), fieldsOf(workloadType), dataFields, paceFields,
		fieldsOf(reflect.TypeFor[ruleForm]()), fieldsOf(reflect.TypeFor[unit.Share]()), fieldsOf(reflect.TypeFor[plan.Rounds]()), roundsFields)
	// fsync excludes fdatasync; direct is false here, and is always written.
	for _, k := range keys {
		if k != "fdatasync" && !bytes.Contains(text, []byte(k+":")) {
			t.Errorf("no %s in\n%s", k, text)
		}
	}
	for _, r := range []steady.Rule{steady.Default(), {Kind: steady.FioSlope}} {
		var written map[string]any
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &written); err != nil {
			t.Fatal(err)
		}
		for k := range written {
			if !strings.Contains(" "+strings.Join(names(fieldsOf(reflect.TypeFor[ruleForm]())), " ")+" ", " "+k+" ") {
				t.Errorf("a rule has %s, which no plan file can", k)
			}
		}
	}
}

// FuzzRead never panics, and whatever it reads it reads again from what was written of it.
func FuzzRead(f *testing.F) {
	examples, err := filepath.Glob("../../docs/examples/*.yaml")
	if err != nil || len(examples) == 0 {
		f.Fatalf("no examples: %v", err)
	}
	for _, name := range examples {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	asYAML, err := Write(full(f))
	if err != nil {
		f.Fatal(err)
	}
	asJSON, err := json.Marshal(full(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(asYAML))
	f.Add(string(asJSON))
	f.Add(strings.ReplaceAll(bomb(), ",", ", "))
	f.Add(matrix + "{track: [{read_pct: 0, bs: 4k}, {point: 3, metric: mean}, \"randrw 100% read 1m 4T/32Q\"], window: 3, range_pct: 15}")
	nodes, streams := maxNodes, maxStreams
	maxNodes, maxStreams = 3000, 300
	f.Cleanup(func() { maxNodes, maxStreams = nodes, streams })
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Read("plan.yaml", strings.NewReader(text), Options{Seed: 7})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "plan.yaml:") {
				t.Errorf("no file is named: %v", err)
			}
			return
		}
		first, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		yaml, err := Write(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, again := range []string{string(first), string(yaml)} {
			q, err := Read("again", strings.NewReader(again), Options{Seed: 8})
			if err != nil {
				t.Fatalf("%v\n%s", err, again)
			}
			second, err := json.Marshal(q)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(first, second) {
				t.Fatalf("%s\nis read as\n%s", first, second)
			}
		}
	})
}
