package plan

import (
	"strings"
	"testing"

	"blkstorm/workload"
)

// What is asked of written data needs something that is written.
func TestCheckData(t *testing.T) {
	half := workload.DataSpec{CompressPct: 50}
	stream := func(rw string, pct int, data workload.DataSpec) Stream {
		return Stream{Targets: []int{0}, Workload: workload.Spec{RW: rw, ReadPct: pct, Data: data}}
	}
	for name, c := range map[string]struct {
		target  Target
		streams []Stream
		want    string // "" is right
	}{
		"reads only":            {streams: []Stream{stream("randread", 100, half)}, want: "--compress-pct 50: goes with shapes that write; --rw randread issues no writes"},
		"all reads of a mix":    {streams: []Stream{stream("randrw", 100, half)}, want: "--rw randrw issues no writes"},
		"trims":                 {streams: []Stream{stream("randtrim", 0, workload.DataSpec{DedupePct: 1})}, want: "--dedupe-pct 1: goes"},
		"another writes others": {streams: []Stream{stream("randread", 100, half), stream("randwrite", 0, workload.DataSpec{})}, want: "goes with"},
		"zeros":                 {streams: []Stream{stream("read", 100, workload.DataSpec{Content: workload.Content{Kind: workload.DataZero}})}, want: "--data zero: goes"},
		"random":                {streams: []Stream{stream("read", 100, workload.DataSpec{Content: workload.Content{Kind: workload.DataRandom}})}},
		"one writes":            {streams: []Stream{stream("randread", 100, half), stream("randwrite", 0, half)}},
		"a mix":                 {streams: []Stream{stream("randrw", 99, half)}},
		"trim and write":        {streams: []Stream{stream("trimwrite", 0, half)}},
		"nothing asked":         {streams: []Stream{stream("randread", 100, workload.DataSpec{})}},
		"a new file":            {target: Target{Spec: "new", CreateBytes: 4096}, streams: []Stream{stream("randread", 100, half)}},
		"a scratch file":        {target: Target{}, streams: []Stream{stream("randread", 100, half)}},
	} {
		if c.target == (Target{}) && name != "a scratch file" {
			c.target.Spec = "/dev/sdb"
		}
		// Each stream in a point of its own, as in a sweep.
		p := &Plan{Targets: []Target{c.target}, Phases: []Phase{{Kind: Measure}}}
		for _, s := range c.streams {
			p.Phases[0].Points = append(p.Phases[0].Points, Point{Streams: []Stream{s}})
		}
		err := p.CheckData()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
