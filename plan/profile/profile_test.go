package profile

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blkstorm/plan"
	"blkstorm/plan/planfile"
	"blkstorm/unit"
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

// example has a value for each setting that no profile has as a default.
var example = map[string]string{
	"threads": "3", "iodepth": "5", "ramp": "7s", "runtime": "11s", "precondition": "13s", "steady-round": "3s", "steady-max-rounds": "9",
	"purge": "true", "fill": "3", "size": "512m", "working-set": "33%", "compress-pct": "17", "dedupe-pct": "19", "data": "zero",
}

// Each setting of each profile does something, and says so where the profile does not have it.
func TestEverySetting(t *testing.T) {
	for _, p := range All() {
		for _, name := range OptionNames() {
			value := example[name]
			if value == "" {
				t.Fatalf("no example of --%s", name)
			}
			if name == "purge" && strings.HasPrefix(p.Name, "snia-") {
				value = "false"
			}
			set := map[string]string{name: value}
			if name == "steady-round" || name == "steady-max-rounds" {
				if p.Setting("precondition") != nil {
					set["precondition"] = "steady"
				}
			}
			base := map[string]string{}
			for k, v := range set {
				if k != name {
					base[k] = v
				}
			}
			got, err := p.Plan(Options{Set: set}, 7)
			if p.Setting(name) == nil {
				if err == nil || !strings.Contains(err.Error(), "--"+name+": "+p.Name+" has no such setting; it has --") {
					t.Errorf("%s --%s: %v", p.Name, name, err)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s --%s %s: %v", p.Name, name, value, err)
				continue
			}
			if cmp.Equal(get(t, p.Name, Options{Set: base}), got) {
				t.Errorf("%s --%s %s: changes nothing", p.Name, name, value)
			}
		}
	}
}

// Values are checked, by the name of their option.
func TestWrongSettings(t *testing.T) {
	for _, c := range []struct{ profile, name, value, want string }{
		{"snia-iops", "threads", "0", "--threads 0: must be a whole number from 1 to 1024"},
		{"snia-iops", "threads", "2,4", "--threads 2,4: must be a whole number"},
		{"storagereview-ssd", "threads", "2,2", "--threads 2,2: 2 is there twice"},
		{"storagereview-ssd", "iodepth", "4096,5000", "--iodepth 4096,5000: must be a whole number from 1 to 4096"},
		{"snia-iops", "runtime", "0", "--runtime 0: must be over 0"},
		{"snia-iops", "runtime", "400d", "--runtime 400d: must be at most"},
		{"snia-iops", "runtime", "soon", `--runtime soon: time "soon"`},
		{"snia-iops", "runtime", "", "--runtime : is empty"},
		{"snia-iops", "steady-max-rounds", "4", "--steady-max-rounds 4: must be a whole number from 5"},
		{"snia-iops", "fill", "-1", "--fill -1: must be"},
		{"snia-iops", "purge", "maybe", "--purge maybe: must be true or false"},
		{"snia-iops", "size", "0", "--size 0: must be over 0"},
		{"snia-iops", "working-set", "120%", "--working-set 120%:"},
		{"snia-iops", "compress-pct", "101", "--compress-pct 101: must be a whole number from 0 to 100"},
		{"snia-iops", "data", "noise", "--data noise:"},
		{"thread-ramp", "precondition", "always", "--precondition always: must be steady, none or a time such as 30m"},
		{"thread-ramp", "steady-round", "1ms", "--steady-round 1ms: must be at least 10ms"},
		{"oltp-mysql", "size", "99m", "--size 99m: the streams have parts of it; it must be at least 100m"},
	} {
		p, err := Get(c.profile)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Plan(Options{Set: map[string]string{c.name: c.value}}, 7); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v\nwant %s", err, c.want)
		}
	}
	if _, err := Get("snia"); err == nil || !strings.Contains(err.Error(), `profile "snia": is not known; there are storagereview-ssd, `) {
		t.Error(err)
	}
}

// Streams that have parts of a size share it out without overlapping.
func TestAreas(t *testing.T) {
	for _, size := range []string{"", "50%", "1000m"} {
		o := Options{Set: map[string]string{}}
		if size != "" {
			o.Set["size"] = size
		}
		for _, name := range []string{"oltp-mysql", "oltp-sqlserver", "nosql-marklogic", "vmmark-tile"} {
			p := get(t, name, o)
			whole, err := unit.ParseShare(size)
			if size == "" {
				whole, err = unit.Share{Percent: 100}, nil
			}
			if err != nil {
				t.Fatal(err)
			}
			const device = 100 << 30
			end := int64(0)
			for _, s := range p.Phases[1].Points[0].Streams {
				w := &s.Workload
				from := w.Offset.Of(device)
				if from != end && from != 0 { // two streams may have the same part
					t.Errorf("%s --size %s: %s begins at %d, not at %d", name, size, s.Label, from, end)
				}
				end = from + w.Size.Of(device)
			}
			if most := whole.Of(device); end > most || end < most-1<<20 {
				t.Errorf("%s --size %s: ends at %d of %d", name, size, end, most)
			}
			if fill := p.Phases[0].Points[0].Streams[0].Workload.Size; size != "" && fill != whole {
				t.Errorf("%s --size %s: fills %v", name, size, fill)
			}
		}
	}
}

// What is shown can be shown again from any name that targets can have, and holds all that was asked for.
func TestFile(t *testing.T) {
	p, err := Get("drive-spec")
	if err != nil {
		t.Fatal(err)
	}
	claims, err := Claims("px04shb040")
	if err != nil {
		t.Fatal(err)
	}
	claims.Drive, claims.Source = `a "drive": #1, {null}`, "null"
	seed := uint64(1<<53 - 1)
	targets := []plan.Target{{Spec: "/dev/sdb"}, {Spec: `serial=a "b", c: [d]`, DestroySignature: true}, {Spec: "0:1:2:3"}, {Spec: "null"}, {Spec: "17"}, {Spec: "\x1b[2J\n#"}}
	o := Options{
		Set: map[string]string{"size": "512m", "data": `pattern:"a, }: #"`}, Targets: targets, Destroy: true, Seed: &seed,
		Engine: "psync", Claims: claims,
	}
	text, err := p.File(o)
	if err != nil {
		t.Fatal(err)
	}
	got, err := planfile.Read("x", bytes.NewReader(text), planfile.Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for i := range targets {
		targets[i].CreateBytes = 512 << 20
	}
	if diff := cmp.Diff(targets, got.Targets); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff(claims, got.Claims); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !got.Destroy || got.Engine != "psync" || got.Seed != seed {
		t.Errorf("%+v", got)
	}
	for i := range got.Phases {
		for _, pt := range got.Phases[i].Points {
			w := &pt.Streams[0].Workload
			if w.Size.Bytes != 512<<20 || w.Writes() && string(w.Data.Content.Pattern) != "a, }: #" {
				t.Errorf("%s: %+v", pt.Label, w)
			}
		}
	}
	if _, err := (&Profile{Name: "four-corners"}).File(Options{Claims: claims}); err == nil || !strings.Contains(err.Error(), "--claims: four-corners has no use for claims") {
		t.Error(err)
	}
}

// Every profile says in its file where it comes from, what it leaves out, and what is assumed.
func TestFilesSayWhatTheyAre(t *testing.T) {
	for _, p := range All() {
		text, err := p.File(Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"# " + p.Name + ": ", "\n# Source: ", "\n# What it leaves out: ", "\n# Assumed", "\nprofile: " + p.Name + "\n"} {
			if !bytes.Contains(text, []byte(part)) {
				t.Errorf("%s: lacks %q", p.Name, part)
			}
		}
		for line := range strings.Lines(string(text)) {
			if len(line) > 121 || strings.TrimRight(line, " \n") != strings.TrimRight(line, "\n") {
				t.Errorf("%s: %q", p.Name, line)
			}
		}
	}
}

// The claims that ship with the program are those of the data sheets, and go with the profile.
func TestShippedClaims(t *testing.T) {
	want := map[string]string{
		"PX04SHB040":     "1900 MiB/s, 850 MiB/s, 270000 IOPS, 125000 IOPS",
		"PX04SVB096":     "1900 MiB/s, 850 MiB/s, 270000 IOPS, 60000 IOPS",
		"ioDrive2-365GB": "0.91 GB/s, 0.59 GB/s, 110000 IOPS, 140000 IOPS, 68 us, 15 us",
		"ioDrive2-785GB": "1.5 GB/s, 1.1 GB/s, 215000 IOPS, 230000 IOPS, 68 us, 15 us",
		"ioDrive2-1.2TB": "1.5 GB/s, 1.3 GB/s, 245000 IOPS, 250000 IOPS, 275000 IOPS, 800000 IOPS, 68 us, 15 us",
		"ioDrive2-3TB":   "1.5 GB/s, 1.3 GB/s, 136000 IOPS, 242000 IOPS, 68 us, 15 us",
	}
	for _, name := range ClaimNames() {
		c, err := Claims(strings.ToLower(name))
		if err != nil {
			t.Error(err)
			continue
		}
		var values []string
		for i := range c.Values {
			v := &c.Values[i]
			values = append(values, fmt.Sprintf("%.10g %s", v.InUnit(v.Value), v.Unit))
		}
		if got := strings.Join(values, ", "); got != want[name] {
			t.Errorf("%s: %s\nwant %s", name, got, want[name])
		}
		delete(want, name)
		if diff := cmp.Diff(c, get(t, "drive-spec", Options{Claims: c}).Claims); diff != "" {
			t.Errorf("%s: -file +plan:\n%s", name, diff)
		}
	}
	if len(want) > 0 {
		t.Errorf("there are no claims of %v", want)
	}
	if _, err := Claims("PX05"); err == nil || !strings.Contains(err.Error(), "--claims PX05: is no file and none of the drives PX04SHB040, ") {
		t.Error(err)
	}
}
