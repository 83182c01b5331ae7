package planfile

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blkstorm/plan"
	"blkstorm/unit"
)

const claimed = "targets: [/dev/a]\nphases: [measure: {label: 4K Read}]\nclaims:\n  drive: X\n  values:\n"

// Claims are written as data sheets have them.
func TestClaims(t *testing.T) {
	p := load(t, claimed+"  - {point: 4K Read, figure: iops, value: '270,000 IOPS'}\n  - {point: 4K Read, figure: read.bw, value: 1900 MiB/s}\n"+
		"  - {point: 4K Read, figure: mean, value: 68 µs}\n  - {point: 4K Read, figure: p99, value: 0.5 ms}\n  - {point: 4K Read, figure: bandwidth, value: 1500000000, unit: GB/s}\n")
	want := []plan.Claim{
		{Point: "4K Read", Figure: "iops", Value: 270_000, Unit: "IOPS"}, {Point: "4K Read", Figure: "read.bw", Value: 1900 << 20, Unit: "MiB/s"},
		{Point: "4K Read", Figure: "mean", Value: 68_000, Unit: "us"}, {Point: "4K Read", Figure: "p99", Value: 500_000, Unit: "ms"},
		{Point: "4K Read", Figure: "bandwidth", Value: 1.5e9, Unit: "GB/s"},
	}
	if diff := cmp.Diff(want, p.Claims.Values); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	for i, inUnit := range []float64{270_000, 1900, 68, 0.5, 1.5} {
		if got := p.Claims.Values[i].InUnit(p.Claims.Values[i].Value); got != inUnit {
			t.Errorf("claim %d: %v in its unit, want %v", i, got, inUnit)
		}
	}
}

func TestClaimErrors(t *testing.T) {
	for _, c := range []struct{ claim, want string }{
		{"{point: 8K Read, figure: iops, value: 1 IOPS}", `claims.values[0].point "8K Read": no measured point has this label; there are 4K Read`},
		{"{figure: iops, value: 1 IOPS}", "claims.values[0].point: is empty"},
		{"{point: 4K Read, value: 1 IOPS}", "claims.values[0].figure: is empty; it is iops, bandwidth, or a latency"},
		{"{point: 4K Read, figure: write.mean, value: 15 us}", `claims.values[0].figure "write.mean": 4K Read has no I/O of that kind`},
		{"{point: 4K Read, figure: sync.mean, value: 15 us}", `claims.values[0].figure "sync.mean": 4K Read has no I/O of that kind`},
		{"{point: 4K Read, figure: bw, value: '1,5 GB/s'}", `claims.values[0].value: value "1,5 GB/s": commas stand between thousands, as in 270,000 IOPS; write a fraction with a point`},
		{"{point: 4K Read, figure: iops, value: '27,0000 IOPS'}", "commas stand between thousands"},
		{"{point: 4K Read, figure: iops, value: '0,270,000.5,1 IOPS'}", "commas stand between thousands"},
		{"{point: 4K Read, figure: speed, value: 1 IOPS}", `claims.values[0].figure "speed": unknown figure`},
		{"{point: 4K Read, figure: errors, value: 1 IOPS}", `claims.values[0].figure "errors": data sheets claim iops, bandwidth and latencies`},
		{"{point: 4K Read, figure: iops, value: 1900 MiB/s}", "claims.values[0].unit MiB/s: is one of bandwidth, and iops is iops"},
		{"{point: 4K Read, figure: bw, value: 1900}", `plan.yaml:6: claims.values[0].value: value "1900": write a number and its unit`},
		{"{point: 4K Read, figure: bw, value: 1900 Mbit}", `plan.yaml:6: claims.values[0].value: value "1900 Mbit": unit "Mbit": known are IOPS`},
		{"{point: 4K Read, figure: bw, value: 1900, unit: MiB/s}", "write the number with its unit, as in 1900 MiB/s"},
		{"{point: 4K Read, figure: mean, value: 68, unit: us}", "claims.values[0].value 68: is 0.068 us, which no drive has"},
		{"{point: 4K Read, figure: bw, value: [1]}", "plan.yaml:6: claims.values[0].value: is a list"},
		{"{point: 4K Read, figure: iops, valu: 1 IOPS}", "plan.yaml:6: claims.values[0].valu: is no key here; did you mean value?"},
	} {
		if _, err := read(claimed + "  - " + c.claim + "\n"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v\nwant %s", c.claim, err, c.want)
		}
	}
	for text, want := range map[string]string{
		"drive: ''\nvalues: []": "c.yaml: claims.drive: is empty", "drive: X": "c.yaml: claims.values: is empty",
		"phases: []": "c.yaml:1: phases: is no key here; known are drive, source, values",
		"":           "c.yaml: is empty; it takes the keys drive, source and values", "root:x:0": "c.yaml:1: is a single value where claims have keys, such as drive and values",
	} {
		if _, err := ReadClaims("c.yaml", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v\nwant %s", text, err, want)
		}
	}
}

func TestProfileName(t *testing.T) {
	if _, err := read("profile: SNIA iops\ntargets: [/dev/a]\nphases: [measure: {}]\n"); err == nil || !strings.Contains(err.Error(), `profile "SNIA iops": is a name of small letters`) {
		t.Error(err)
	}
	// Whoever knows which there are takes no other: a result would say that it is of a procedure that nobody has published.
	for text, want := range map[string]string{
		"profile: snia-iosp":      "plan.yaml:1: profile snia-iosp: is no procedure that this version has; leave it out, or name one of snia-iops, four-corners",
		"profile: iops":           "plan.yaml:1: profile iops: is no procedure",
		"profile: \"\"":           "",
		"profile: four-corners":   "",
		`{"profile": "made-up",`:  "plan.yaml:1: profile made-up: is no procedure",
		"quick: true\nprofile: x": "plan.yaml:2: profile x: is no procedure",
	} {
		rest := "\ntargets: [/dev/a]\nphases: [measure: {}]\n"
		if strings.HasPrefix(text, "{") {
			rest = `"targets": ["/dev/a"], "phases": [{"measure": {}}]}`
		}
		_, err := Read("plan.yaml", strings.NewReader(text+rest), Options{Profiles: []string{"snia-iops", "four-corners"}})
		if got := fmt.Sprint(err); want == "" && err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s\nwant %s", text, got, want)
		}
	}
}

// A label may have the values of its point in a sweep; purges and fills have a range.
func TestSweptLabelAndRanges(t *testing.T) {
	p := load(t, `
targets: [/dev/a]
phases:
  - purge: {offset: 10%, size: 50%}
  - fill: {passes: 2, size: 64m}
  - measure: {label: "8K {read_pct}/{write_pct} {threads}T {bs} {x}", rw: randrw, bs: 8k, sweep: {threads: [2, 4], read_pct: [70, 0]}}
`)
	if w := &p.Phases[0].Points[0].Streams[0].Workload; w.Offset != (unit.Share{Percent: 10}) || w.Size != (unit.Share{Percent: 50}) {
		t.Errorf("purge %+v", w)
	}
	if s := &p.Phases[1].Points[0].Streams[0]; s.Workload.Size.Bytes != 64<<20 || s.Passes != 2 {
		t.Errorf("fill %+v", s)
	}
	var labels []string
	for _, pt := range p.Phases[2].Points {
		labels = append(labels, pt.Label)
	}
	want := []string{"8K 70/30 2T {bs} {x}", "8K 0/100 2T {bs} {x}", "8K 70/30 4T {bs} {x}", "8K 0/100 4T {bs} {x}"}
	if diff := cmp.Diff(want, labels); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
