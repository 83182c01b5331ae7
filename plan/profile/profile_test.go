package profile

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blkstorm/plan"
)

// lines are a plan in a few words: a line per phase or point.
func lines(p *plan.Plan) (list []string) {
	for i := range p.Phases {
		ph := &p.Phases[i]
		for j := range ph.Points {
			pt := &ph.Points[j]
			text := ph.Kind
			if ph.Kind != plan.Purge && ph.Kind != plan.Fill {
				text += ": " + pt.Label
			}
			for k := range pt.Streams {
				s := &pt.Streams[k]
				text += fmt.Sprintf(" | %s %dT/%dQ", s.Workload.Label(), s.Threads, s.IODepth)
				if s.Passes > 0 {
					text += fmt.Sprintf(" x %d", s.Passes)
				}
				if r := s.Pacing.Rates(); !r.IsZero() {
					text += " at " + r.String()
				}
			}
			if pt.Ramp > 0 {
				text += " | " + duration(pt.Ramp).String() + " +"
			}
			if pt.Runtime > 0 {
				text += " | " + duration(pt.Runtime).String()
			}
			list = append(list, text)
		}
		if ph.Steady != nil {
			list = append(list, "  until "+ph.Steady.String())
		}
		if r := ph.Rounds; r != nil {
			text := fmt.Sprintf("  rounds: window %d, range %g, fitted %g, at most %d, of", r.Rule.Window, r.Rule.RangePct, r.Rule.FittedPct, r.Rule.MaxRounds)
			for _, t := range r.Track {
				text += fmt.Sprintf(" %v of %q", t.Metric, ph.Points[t.Point].Label)
			}
			list = append(list, text)
		}
	}
	return list
}

func get(t *testing.T, name string, o Options) *plan.Plan {
	t.Helper()
	p, err := Get(name)
	if err != nil {
		t.Fatal(err)
	}
	pl, err := p.Plan(o, 7)
	if err != nil {
		t.Fatal(err)
	}
	return pl
}

const sixHours = "  until iops over 5 rounds of 10m0s: range within 20 %, fitted range within 10 % of the mean; at most 36 rounds"

// stage is a workload of the SSD reviews: it is preconditioned with itself at 16T/16Q, then measured.
func stage(label, load string) []string {
	return []string{
		"precondition: " + label + " | " + load + " 16T/16Q | 6h", sixHours,
		"measure: " + label + " | " + load + " 16T/16Q | 10s + | 5m",
	}
}

func combined(lists ...[]string) (all []string) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// mixSweep are the points of 8K 70/30, in order.
func mixSweep() (list []string) {
	for _, t := range []int{2, 4, 8, 16} {
		for _, q := range []int{2, 4, 8, 16} {
			list = append(list, fmt.Sprintf("measure: 8K 70/30 %dT/%dQ | randrw 70%% read 8k %dT/%dQ | 10s + | 5m", t, q, t, q))
		}
	}
	return list
}

func cacheMatrix() (list []string) {
	for _, bs := range []string{"4k", "8k", "16k", "32k", "64k", "128k"} {
		for _, write := range []int{0, 30, 70, 100} {
			list = append(list, fmt.Sprintf("measure: %s %d%% Write | randrw %d%% read %s working set 20%% 2T/1Q | 15m", bs, write, 100-write, bs))
		}
	}
	return list
}

// iopsCells are SNIA's 56: mixes in the outer loop, block sizes in the inner one.
func iopsCells() (list []string) {
	for _, read := range []int{100, 95, 65, 50, 35, 5, 0} {
		for _, bs := range []string{"1m", "128k", "64k", "32k", "16k", "8k", "4k", "512"} {
			list = append(list, fmt.Sprintf("measure: RND %s %d/%d | randrw %d%% read %s 4T/32Q | 1m", bs, read, 100-read, read, bs))
		}
	}
	return list
}

func latencyCells() (list []string) {
	for _, read := range []int{100, 65, 0} {
		for _, bs := range []string{"8k", "4k", "512"} {
			list = append(list, fmt.Sprintf("measure: RND %s %d/%d | randrw %d%% read %s 1T/1Q | 1m", bs, read, 100-read, read, bs))
		}
	}
	return list
}

func throughput(bs string) []string {
	return []string{
		"purge | trim 64m 1T/4Q x 1", "fill | write 128k 1T/32Q x 2",
		"measure: SEQ " + bs + " read | read " + bs + " 1T/32Q | 1m", "measure: SEQ " + bs + " write | write " + bs + " 1T/32Q | 1m",
		fmt.Sprintf("  rounds: window 5, range 20, fitted 10, at most 25, of bandwidth of %q bandwidth of %q", "SEQ "+bs+" read", "SEQ "+bs+" write"),
	}
}

const fillOncePlan, fillTwicePlan, purgePlan = "fill | write 128k 1T/32Q x 1", "fill | write 128k 1T/32Q x 2", "purge | trim 64m 1T/4Q x 1"

// Each profile does what was published, in that order and with those numbers.
func TestPublished(t *testing.T) {
	hour := " | 30m + | 1h"
	spec := " | 10s + | 1m"
	published := map[string][]string{
		"storagereview-ssd": combined([]string{fillOncePlan},
			stage("4K Random 100% Read", "randread 4k"), stage("4K Random 100% Write", "randwrite 4k"),
			stage("8K Sequential 100% Read", "read 8k"), stage("8K Sequential 100% Write", "write 8k"),
			stage("128K Sequential 100% Read", "read 128k"), stage("128K Sequential 100% Write", "write 128k"),
			[]string{"precondition: 8K 70/30 | randrw 70% read 8k 16T/16Q | 6h", sixHours}, mixSweep()),
		"hcibench-storagereview": {
			fillOncePlan, "measure: 4K Random 100% Read | randread 4k 1T/8Q" + hour, "measure: 4K Random 100% Write | randwrite 4k 1T/8Q" + hour,
			"measure: 8K Random 70/30 | randrw 70% read 8k 1T/8Q" + hour, "measure: 32K Sequential 100% Read | read 32k 1T/8Q" + hour,
			"measure: 32K Sequential 100% Write | write 32k 1T/8Q" + hour,
		},
		"hcibench-easy-run": {
			fillOncePlan, "measure: 4K Random 70/30 | randrw 70% read 4k 1T/4Q" + hour, "measure: 8K Random 50/50 | randrw 50% read 8k 1T/4Q" + hour,
			"measure: 4K Random 100% Read | randread 4k 1T/4Q" + hour, "measure: 4K Random 100% Write | randwrite 4k 1T/4Q" + hour,
			"measure: 256K Sequential 100% Read | read 256k 1T/1Q" + hour, "measure: 256K Sequential 100% Write | write 256k 1T/1Q" + hour,
		},
		"vsan-cache-matrix": combined([]string{fillOncePlan}, cacheMatrix()),
		"drive-spec": {
			fillTwicePlan, "measure: 64K Sequential Read | read 64k 1T/32Q" + spec, "measure: 64K Sequential Write | write 64k 1T/32Q" + spec,
			"measure: 1M Sequential Read | read 1m 1T/32Q" + spec, "measure: 1M Sequential Write | write 1m 1T/32Q" + spec,
			"precondition: 4K Random Write | randwrite 4k 4T/32Q | 25m",
			"  until iops over 5 rounds of 1m0s: range within 20 %, fitted range within 10 % of the mean; at most 25 rounds",
			"measure: 512B Random Read | randread 512 4T/32Q" + spec, "measure: 512B Random Write | randwrite 512 4T/32Q" + spec,
			"measure: 4K Random Read | randread 4k 4T/32Q" + spec, "measure: 4K Random Write | randwrite 4k 4T/32Q" + spec,
			"measure: Read Latency | randread 4k 1T/1Q" + spec, "measure: Write Latency | randwrite 4k 1T/1Q" + spec,
		},
		"thread-ramp": {
			fillOncePlan, "precondition: 16K 70/30 32T | randrw 70% read 16k 32T/1Q | 6h", "measure: 16K 70/30 32T | randrw 70% read 16k 32T/1Q | 1h",
			"measure: 16K 70/30 16T | randrw 70% read 16k 16T/1Q | 1h", "measure: 16K 70/30 8T | randrw 70% read 16k 8T/1Q | 1h",
			"measure: 16K 70/30 4T | randrw 70% read 16k 4T/1Q | 1h", "measure: 16K 70/30 2T | randrw 70% read 16k 2T/1Q | 1h",
		},
		"four-corners": {
			fillOncePlan, "measure: 4K Random Read | randread 4k 1T/32Q | 30s + | 5m", "measure: 4K Random Write | randwrite 4k 1T/32Q | 30s + | 5m",
			"measure: 128K Sequential Read | read 128k 1T/32Q | 30s + | 5m", "measure: 128K Sequential Write | write 128k 1T/32Q | 30s + | 5m",
		},
		"oltp-mysql": {fillOncePlan, "measure: OLTP MySQL | randread 16k size 90% 32T/1Q | randwrite 16k size 90% 4T/4Q | write 4k fdatasync 1 offset 90% size 10% 1T/1Q | 1m + | 10m"},
		"oltp-sqlserver": {
			fillOncePlan, "measure: OLTP SQL Server | randread 8k size 90% 16T/1Q | randwrite 8k-256k size 90% 1T/16Q | " +
				"write 4k-60k dsync offset 90% size 10% 1T/1Q | 1m + | 10m",
		},
		"nosql-marklogic": {
			fillOncePlan, "measure: NoSQL MarkLogic | write 4k dsync size 10% 1T/1Q | write 128k offset 10% size 30% 1T/1Q | " +
				"read 128k offset 40% size 30% 1T/1Q | write 128k offset 70% size 30% 1T/1Q | 1m + | 10m",
		},
		"vmmark-tile": {
			fillOncePlan, "measure: VMmark Tile | randrw 50% read 32k size 30% 1T/32Q at 500 | write 8k offset 30% size 5% 1T/32Q at 200 | " +
				"randrw 70% read 8k offset 35% size 35% 1T/32Q at 1200 | write 8k offset 70% size 5% 1T/32Q at 300 | " +
				"randread 8k offset 75% size 15% 1T/32Q at 100 | randrw 70% read 8k offset 90% size 10% 1T/32Q at 30 | 1m + | 10m",
		},
		"snia-iops": combined([]string{purgePlan, fillTwicePlan}, iopsCells(),
			[]string{`  rounds: window 5, range 20, fitted 10, at most 25, of iops of "RND 4k 0/100" iops of "RND 64k 65/35" iops of "RND 1m 100/0"`}),
		"snia-throughput": combined(throughput("1m"), throughput("128k")),
		"snia-latency": combined([]string{purgePlan, fillTwicePlan}, latencyCells(),
			[]string{`  rounds: window 5, range 20, fitted 10, at most 25, of mean of "RND 4k 0/100"`}),
		"snia-wsat": {
			purgePlan, "measure: RND 4k 0/100 | randwrite 4k 4T/32Q | 30m",
			`  rounds: window 5, range 20, fitted 10, at most 48, of iops of "RND 4k 0/100"`,
		},
	}
	for _, p := range All() {
		got := get(t, p.Name, Options{})
		if diff := cmp.Diff(published[p.Name], lines(got)); diff != "" {
			t.Errorf("%s: -published +plan:\n%s", p.Name, diff)
		}
		if got.Profile != p.Name || got.Quick || got.Destroy || got.Seed != 7 || len(got.Targets) != 1 || got.Targets[0] != (plan.Target{}) {
			t.Errorf("%s: %+v", p.Name, got)
		}
		delete(published, p.Name)
	}
	if len(published) > 0 {
		t.Errorf("there are no profiles %v", published)
	}
	if ph := get(t, "snia-wsat", Options{}).Phases[1]; ph.Points[0].Interval.D() != time.Minute {
		t.Errorf("samples of %v", ph.Points[0].Interval.D())
	}
	sweep, _ := get(t, "storagereview-ssd", Options{}).SweepPhase()
	if sweep == nil || len(sweep.Sweep.Axes) != 2 {
		t.Error("8K 70/30 is no sweep")
	}
}

// With a purge, reads of each workload find the device written again, and writes a fresh one.
func TestReviewWithPurge(t *testing.T) {
	var kinds []string
	for _, ph := range get(t, "storagereview-ssd", Options{Set: map[string]string{"purge": "true", "precondition": "none"}}).Phases {
		kinds = append(kinds, ph.Kind)
	}
	read, write := "purge fill measure", "purge measure"
	want := strings.Join([]string{read, write, read, write, read, write, read}, " ")
	if got := strings.Join(kinds, " "); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// The quick form does the same in minutes, and is marked.
func TestQuick(t *testing.T) {
	for _, p := range All() {
		slow, quick := get(t, p.Name, Options{}), get(t, p.Name, Options{Quick: true})
		if !quick.Quick || quick.Time() > 3*time.Minute || quick.Time() > slow.Time()/5 {
			t.Errorf("%s: quick %v, takes %v of %v", p.Name, quick.Quick, quick.Time(), slow.Time())
		}
		if len(slow.Phases) != len(quick.Phases) {
			t.Errorf("%s: %d phases, %d of them quick", p.Name, len(slow.Phases), len(quick.Phases))
			continue
		}
		for i := range slow.Phases {
			for j := range slow.Phases[i].Points {
				one, other := slow.Phases[i].Points[j], quick.Phases[i].Points[j]
				if slow.Phases[i].Kind == plan.Fill {
					continue // fewer passes
				}
				if diff := cmp.Diff(one.Streams, other.Streams); diff != "" || one.Label != other.Label {
					t.Errorf("%s: %s", p.Name, diff)
				}
			}
		}
	}
}
