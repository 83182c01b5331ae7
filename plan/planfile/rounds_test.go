package planfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blkstorm/plan"
	"blkstorm/steady"
)

const matrix = `
targets: [/dev/a]
defaults: {rw: randrw, threads: 4, iodepth: 32, runtime: 1m}
phases:
- measure:
    sweep: {read_pct: [100, 65, 0], bs: [1m, 64k, 4096]}
    rounds: `

// All ways to name what is tracked, and the numbers of the rule.
func TestRounds(t *testing.T) {
	rule := steady.Default()
	other := rule
	other.Window, other.RangePct, other.FittedPct, other.MaxRounds = 3, 15, 7.5, 12
	for _, c := range []struct {
		text string
		want plan.Rounds
	}{
		{`{track: ["randrw 0% read 4k 4T/32Q"]}`, plan.Rounds{Track: []plan.Track{{Point: 8}}, Rule: rule}},
		{`{track: [{read_pct: 0, bs: 4k}, {bs: 64k, read_pct: 65, metric: mean}, {bs: 1024k, metric: bw, read_pct: 100}]}`,
			plan.Rounds{Track: []plan.Track{{Point: 8}, {Point: 4, Metric: steady.Mean}, {Point: 0, Metric: steady.Bandwidth}}, Rule: rule}},
		{`{track: [{point: 8, metric: p99}, {point: "randrw 100% read 64k 4T/32Q"}, 8], window: 3, range_pct: 15, fitted_pct: 7.5%, max_rounds: 12}`,
			plan.Rounds{Track: []plan.Track{{Point: 8, Metric: steady.P99}, {Point: 1}, {Point: 8}}, Rule: other}},
	} {
		p := load(t, matrix+c.text)
		if diff := cmp.Diff(&c.want, p.Phases[0].Rounds); diff != "" {
			t.Errorf("%s: -want +got:\n%s", c.text, diff)
		}
		if p.Phases[0].Sweep == nil || len(p.Phases[0].Points) != 9 {
			t.Errorf("%s: %+v", c.text, p.Phases[0])
		}
		text, err := Write(p)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, load(t, string(text))); diff != "" {
			t.Errorf("-written +read:\n%s\n%s", diff, text)
		}
	}
	// An axis with a single value need not be named; each phase of rounds has its sweep, beside one without.
	p := load(t, `
targets: [/dev/a]
phases:
- measure: {rw: rw, sweep: {read_pct: [100, 0], bs: [128k]}, rounds: {track: [{read_pct: 0, metric: bw}]}}
- measure: {rw: rw, sweep: {read_pct: [100, 0], bs: [1m]}, rounds: {track: [{read_pct: 0, metric: bw}, {read_pct: 100, metric: bw}]}}
- measure: {sweep: {threads: [1, 2]}}
- {kind: measure, points: [{bs: 4k}, {bs: 8k, label: larger}], rounds: {track: [larger, {point: 0, metric: mean}]}}
- measure: {rounds: {track: [0]}}
`)
	for i, want := range []struct {
		sweep bool
		track []plan.Track
	}{
		{true, []plan.Track{{Point: 1, Metric: steady.Bandwidth}}}, {true, []plan.Track{{Point: 1, Metric: steady.Bandwidth}, {Point: 0, Metric: steady.Bandwidth}}},
		{true, nil}, {false, []plan.Track{{Point: 1}, {Point: 0, Metric: steady.Mean}}}, {false, []plan.Track{{Point: 0}}},
	} {
		ph := &p.Phases[i]
		var track []plan.Track
		if ph.Rounds != nil {
			track = ph.Rounds.Track
		}
		if diff := cmp.Diff(want.track, track); diff != "" || (ph.Sweep != nil) != want.sweep {
			t.Errorf("phase %d: %v, sweep %+v", i, diff, ph.Sweep)
		}
	}
}

func TestRoundsErrors(t *testing.T) {
	const at = "plan.yaml:7: phases[0].measure.rounds"
	for _, c := range []struct{ text, want string }{
		{`[8]`, at + ": is a list; it takes a mapping of track, window, range_pct, fitted_pct, max_rounds"},
		{`{window: 5}`, at + ": has no track: name the points"},
		{`{track: []}`, at + ": has no track"},
		{`{track: 8}`, at + ".track: is a single value; it takes a list of points"},
		{`{track: [[8]]}`, at + ".track[0]: is a list; it takes a point's label, or keys: point, metric, read_pct, bs"},
		{`{tracks: [8]}`, at + ".tracks: is no key here; did you mean track?"},
		{`{track: [9]}`, at + ".track[0]: 9: the phase has 9 points, with numbers from 0"},
		{`{track: [-1]}`, at + ".track[0]: -1: the phase has 9 points"},
		{`{track: ["randrw 0% read 4k"]}`, at + `.track[0]: "randrw 0% read 4k": is the label of none of the points; known are randrw 100% read 1m 4T/32Q, randrw 100% read 64k 4T/32Q,`},
		{`{track: ["8"]}`, "points of a sweep can be named by their values, too, as in {read_pct: 0, bs: 4k}"},
		{`{track: [{metric: iops}]}`, at + ".track[0]: names no point"},
		{`{track: [{point: 8, bs: 4k}]}`, at + ".track[0]: has point and bs; give one of them"},
		{`{track: [{point: [8]}]}`, at + ".track[0].point: is a list; it takes a single value"},
		{`{track: [{point: 8, metric: speed}]}`, at + `.track[0].metric "speed": unknown; known are iops`},
		{`{track: [{threads: 4}]}`, at + ".track[0].threads: is no key here"},
		{`{track: [{bs: 8k, read_pct: 0}]}`, at + ".track[0].bs: 8k: is none of the sweep's values; known are 1m, 64k, 4k"},
		{`{track: [{bs: x}]}`, at + ".track[0].bs"},
		{`{track: [{bs: 4k-64k*2, read_pct: 0}]}`, at + ".track[0]"},
		{`{track: [{bs: 4k}]}`, at + ".track[0]: these values are those of 3 points; give one of each axis, as in {read_pct: 0, bs: 4k}"},
		{`{track: [8, {bs: 4k, read_pct: 0}]}`, at + `.track[1]: names the iops of "randrw 0% read 4k 4T/32Q", as item 0 does`},
		{`{track: [8], window: 1}`, at + ".window 1: must be from 2"},
		{`{track: [8], window: x}`, at + ".window x: must be a whole number"},
		{`{track: [8], window: 30}`, at + ".max_rounds 25: must be at least the window, 30 rounds"},
		{`{track: [8], max_rounds: 4}`, at + ".max_rounds 4: must be at least the window, 5 rounds"},
		{`{track: [8], max_rounds: 20000}`, at + ".max_rounds 20000: of 9 points each are over 100000 points together"},
		{`{track: [8], range_pct: 0}`, at + ".range_pct 0: must be over 0"},
		{`{track: [8], fitted_pct: 2000}`, at + ".fitted_pct 2000: must be over 0"},
		{`{track: [8], round: 1m}`, at + ".round: is no key here"},
		{"{track: [8]}\n    label: all", "plan.yaml:5: phases[0].measure: rounds: points 0 and 1 have the same label"},
	} {
		_, err := read(matrix + c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n%v, want\n%s", c.text, err, c.want)
		}
	}
	for _, c := range []struct{ text, want string }{
		{"- precondition: {steady: {}, rounds: {track: [0]}}", "phases[0].precondition.rounds: is no key here"},
		{"- {kind: fill, rounds: {track: [0]}}", "the phase has 0 points"},
		{"- {kind: measure, rounds: {track: [0]}}", "the phase has 0 points"},
		{"- {kind: measure, points: [{}], sweep: {axes: [{name: bs, values: []}]}, rounds: {track: [{bs: 4k}]}}", "phases[0].sweep: --bs: no value to sweep"},
		{"- {kind: measure, points: [{}], sweep: {axes: []}, rounds: {track: [{bs: 4k}]}}", "phases[0].sweep: its axes have 1 combinations"},
		{"- {kind: measure, points: [{}], sweep: {axes: [{name: bs, values: [4k, 8k]}]}, rounds: {track: [{bs: 4k}]}}", "its axes have 2 combinations, and the phase 1 points"},
		{"- precondition: {rw: randwrite, steady: {}, most_passes: 0x}", "phases[0].precondition.most_passes 0x: must be a whole number"},
		{"- precondition: {rw: randwrite, most_passes: 4}", "most_passes 4: goes with steady"},
		{"- measure: {rw: randwrite, most_passes: 4}", "phases[0].measure.most_passes: is no key here"},
	} {
		_, err := read(head + c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n%v, want\n%s", c.text, err, c.want)
		}
	}
}
