package planfile

import (
	"strings"
	"testing"
)

// read reads a text as the file plan.yaml.
func read(text string, targets ...string) (string, error) {
	p, err := Read("plan.yaml", strings.NewReader(text), Options{Targets: targets, Seed: 7})
	if err != nil {
		return "", err
	}
	out, err := Write(p)
	return string(out), err
}

const head = "targets: [/dev/a, /dev/b]\nphases:\n" // what follows begins on line 3

// Every error names file, line, key, value, and what would be right.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		// The text.
		{"empty", "", "plan.yaml: is empty; docs/plan.md shows"},
		{"blank", " \n\n", "plan.yaml: is empty"},
		{"comments", "# no more\n", "plan.yaml: holds nothing but comments"},
		{"binary", "\x00\x01\xff", "plan.yaml: is no text"},
		{"latin 1", "targets: [\xe9]", "plan.yaml: is no text"},
		{"huge", "#" + strings.Repeat("x", MaxYAML), "plan.yaml: is over the limit of 1048576 bytes"},
		{"tab", "targets: [/dev/a]\nphases:\n\t- purge\n", "plan.yaml:3: a tab in the indentation; YAML takes blanks only"},
		{"not YAML", "targets: [/dev/a\nphases: [purge]\n", "plan.yaml:1: is not YAML: "},
		{"two documents", "targets: [/dev/a]\n---\nphases: []\n", "plan.yaml:2: a second document begins"},
		{"text", "hello\n", "plan.yaml:1: is a single value where a plan has keys"},
		{"list", "- purge\n", "plan.yaml:1: is a list where a plan has keys"},
		{"twice", "targets: [/dev/a]\ntargets: [/dev/b]\n", "plan.yaml:2: key targets: given twice, first on line 1"},
		{"twice in JSON", "{\"seed\": 1,\n\"seed\": 2}", "plan.yaml:2: key seed: given twice, first on line 1"},
		{"tag", "targets: !foo [/dev/a]\nphases: !!binary aGk=\n", "plan.yaml:2: tag !!binary: is not known"},
		{"key", "? [a]\n: 1\n", "plan.yaml:1: a key must be a word"},
		{"deep", strings.Repeat("[", 40) + strings.Repeat("]", 40), "plan.yaml:1: mappings and lists are over 32 deep"},
		{"deep JSON", "{\"a\":" + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "}", "plan.yaml:1: objects and lists are over 32 deep"},
		{"endless", "a: &a [*a]\n", "plan.yaml:1: alias *a: is inside of what it stands for"},
		{"bomb", bomb(), "plan.yaml:1: over 500000 values, aliases expanded"},
		{"merge", "<<: 3\n", "plan.yaml:1: <<: is a single value; it takes a mapping"},
		{"cut JSON", `{"plan": {"schema": "blkstorm.plan/1",`, "plan.yaml:1: is not YAML: "},

		// The top.
		{"no targets", "phases: [purge]\n", "plan.yaml: has no key targets; name them there, or as TARGET"},
		{"no phases", "targets: [/dev/a]\n", "plan.yaml: has no key phases"},
		{"nothing to run", "targets: [/dev/a]\nphases: [idle: 5s]\n", "plan.yaml: the plan has no point to run"},
		{"no phase", "targets: [/dev/a]\nphases: []\n", "plan.yaml: the plan has no point to run"},
		{"no value", "targets:\nphases: [purge]\n", "plan.yaml:1: targets: is nothing; it takes a list"},
		{"unknown key", "target: [/dev/a]\n", "plan.yaml:1: target: is no key here; did you mean targets?"},
		{"far from any", "volume: 3\n", "plan.yaml:1: volume: is no key here; known are schema, targets, defaults, phases, engine"},
		{"schema", "schema: blkstorm.plan/2\n", "plan.yaml:1: schema: blkstorm.plan/2: this version reads blkstorm.plan/1"},
		{"engine", head + "- measure: {}\nengine: uring\n", `plan.yaml:4: engine: unknown engine "uring"; known are auto`},
		{"seed", head + "- measure: {}\nseed: 9007199254740992\n", "plan.yaml:4: seed 9007199254740992: must be at most 9007199254740991"},
		{"seed below 0", "seed: -1\n", "plan.yaml:1: seed -1: must be a whole number of at least 0"},
		{"bool", "direct: yes\n", "plan.yaml:1: direct yes: must be true or false"},
		{"time", "grace: soon\n", `plan.yaml:1: grace: time "soon": write for example 30s`},
		{"list for a value", "engine: [auto]\n", "plan.yaml:1: engine: is a list; it takes a single value"},
		{"assert", "asserts:\n- errors==0\n- p99<2\n", `plan.yaml:3: asserts[1] "p99<2": "2" has no unit`},
		{"asserts", "asserts: p99<2ms\n", "plan.yaml:1: asserts: is a single value; it takes a list"},
		{"target", "targets:\n- /dev/a\n- {spec: /dev/b, create: 1g}\n", "plan.yaml:3: targets[1].create: is no key here; known are spec, destroy_signature, create_bytes"},
		{"empty target", "targets: ['']\n", "plan.yaml:1: targets[0]: is empty"},
		{"size", "targets:\n- spec: x\n  create_bytes: 1q\n", `plan.yaml:3: targets[0].create_bytes: size "1q": unknown suffix "q"`},
		{"plan", "plan: 3\n", "plan.yaml:1: plan: is a single value, not a plan"},

		// Phases.
		{"phases", "targets: [a]\nphases: purge\n", "plan.yaml:2: phases: is a single value; it takes a list"},
		{"unknown phase", head + "- purge\n- mesure: {}\n", "plan.yaml:4: phases[1].mesure: is no phase; did you mean measure?"},
		{"unknown kind", head + "- kind: warm\n", "plan.yaml:3: phases[0].kind: warm: known are purge, fill"},
		{"list", head + "- [purge]\n", "plan.yaml:3: phases[0]: is a list; a phase is one of purge"},
		{"indented wrongly", head + "- measure:\n  rw: read\n", "plan.yaml:3: phases[0]: has 2 keys; it takes one of purge, fill, precondition, measure, idle, with what belongs to it indented below"},
		{"nothing to measure", head + "- measure\n", "plan.yaml:3: phases[0].measure: is nothing; it takes the keys of a point"},
		{"idle", head + "- idle\n", "plan.yaml:3: phases[0].idle: is nothing; it takes a time"},
		{"idle 0", head + "- purge\n- idle: 0\n", "plan.yaml:4: phases[1].idle: phase idle: time 0s: must be over 0"},
		{"fill", head + "- fill: 0\n", "plan.yaml:3: phases[0].fill: 0: must be from 1 to 1000 passes"},
		{"fill text", head + "- fill: twice\n", "plan.yaml:3: phases[0].fill twice: must be a whole number"},
		{"fill key", head + "- fill: {iodepth: 4}\n", "plan.yaml:3: phases[0].fill.iodepth: is no key here; known are passes, targets, offset, size, data"},
		{"fill data", head + "- fill:\n    compress_pct: 120\n", "plan.yaml:4: phases[0].fill.compress_pct 120: must be from 0 to 100"},
		{"purge", head + "- purge: 2\n", "plan.yaml:3: phases[0].purge: is a single value; it takes nothing, or the keys targets, offset, size"},
		{"time of measure", head + "- kind: measure\n  time: 5m\n  points: [{}]\n", "plan.yaml:3: phases[0]: phase measure: time is for idle"},
		{"steady of measure", head + "- measure: {steady: {}}\n", "plan.yaml:3: phases[0].measure.steady: is no key here"},
		{"rule", head + "- precondition:\n    steady:\n      window: 1\n", "plan.yaml:5: phases[0].precondition.steady.window 1: must be from 2 to 100000 rounds"},
		{"rule's key", head + "- precondition: {steady: {rounds: 4}}\n", "plan.yaml:3: phases[0].precondition.steady.rounds: is no key here; did you mean round?"},
		{"metric", head + "- precondition: {steady: {metric: p95}}\n", `plan.yaml:3: phases[0].precondition.steady.metric "p95": unknown`},
		{"rounds", head + "- precondition: {steady: {round: 90s}, interval: 1m}\n", "plan.yaml:3: phases[0].precondition.steady.round 1m30s: must be a multiple of interval 1m0s"},

		// Points and streams.
		{"iodepth", head + "- kind: measure\n  points:\n  - streams:\n    - rw: read\n      iodepth: 0\n", "plan.yaml:7: phases[0].points[0].streams[0].iodepth 0: must be from 1 to 4096"},
		{"short", head + "- measure:\n    threads: 1025\n", "plan.yaml:4: phases[0].measure.threads 1025: must be from 1 to 1024"},
		{"in defaults", head + "- purge\n- measure: {}\ndefaults:\n  read_pct: 101\n  rw: rw\n", "plan.yaml:6: defaults.read_pct 101: must be from 0 to 100"},
		{"not given", head + "- measure: {streams: [{passes: 1}]}\n", "plan.yaml:3: phases[0].measure.streams[0]: a single pass needs a sequential workload of one block size, or coverage"},
		{"runtime", head + "- measure:\n  - runtime: 5\n  - runtime: 0\n", "plan.yaml:5: phases[0].measure[1].runtime 0s: must be over 0"},
		{"option's spelling", head + "- measure: {read-pct: 3}\n", "plan.yaml:3: phases[0].measure.read-pct: is no key here; did you mean read_pct?"},
		{"nothing", head + "- measure:\n    bs:\n", "plan.yaml:4: phases[0].measure.bs: has no value"},
		{"bs", head + "- measure: {bs: 8q}\n", `plan.yaml:3: phases[0].measure.bs: size "8q": unknown suffix`},
		{"size", head + "- measure: {bs: 8k, size: 10000}\n", "plan.yaml:3: phases[0].measure.size 10000 is not a multiple of bs 8k"},
		{"split", head + "- measure: {bssplit: 4k/50:8k/40}\n", "plan.yaml:3: phases[0].measure.bssplit 4k/50:8k/40: the shares sum to 90 %"},
		{"read_pct", head + "- measure: {rw: randread, read_pct: 70}\n", "plan.yaml:3: phases[0].measure.read_pct: 70: goes with rw and randrw; randread is no mix"},
		{"a rate of I/Os with a suffix", head + "- measure: {rate_iops: 1k}\n", `plan.yaml:3: phases[0].measure.rate_iops: "1k" is not a number`},
		{"an empty rate", head + "- measure: {rate_iops: ''}\n", `plan.yaml:3: phases[0].measure.rate_iops: "" is not a number`},
		{"a rate of bytes", head + "- measure: {pacing: {rate_bytes: fast}}\n", `plan.yaml:3: phases[0].measure.pacing.rate_bytes: size "fast" does not begin`},
		{"rates fix the mix", head + "- measure: {rw: randrw, read_pct: 70, rate_iops: '9,1'}\n", "plan.yaml:3: phases[0].measure.read_pct: 70: the rates 9,1 fix the mix already"},
		{"rw", head + "- measure: {rw: reed}\n", `plan.yaml:3: phases[0].measure.rw "reed": known are`},
		{"twice, in both forms", head + "- measure:\n    rw: read\n    workload: {rw: write}\n", "plan.yaml:5: phases[0].measure.workload.rw: given twice, first on line 4 as phases[0].measure.rw"},
		{"workload", head + "- measure: {workload: read}\n", "plan.yaml:3: phases[0].measure.workload: is a single value; it takes keys: rw"},
		{"in workload", head + "- measure: {workload: {threads: 3}}\n", "plan.yaml:3: phases[0].measure.workload.threads: is no key here"},
		{"streams", head + "- measure: {streams: 3}\n", "plan.yaml:3: phases[0].measure.streams: is a single value; it takes a list of streams"},
		{"no stream", head + "- measure: {streams: []}\n", `plan.yaml:3: phases[0].measure: point "" has no stream`},
		{"share", head + "- measure:\n    streams:\n    - {share: 50}\n    - {share: 40}\n", "plan.yaml:3: phases[0].measure.share: the shares of the streams sum to 90, not to 100"},
		{"number", head + "- measure: {streams: [{share: .nan}]}\n", "plan.yaml:3: phases[0].measure.streams[0].share .nan: must be a number"},
		{"no such target", head + "- measure: {targets: [2]}\n", "plan.yaml:3: phases[0].measure.targets[0]: 2: there are 2 targets, with numbers from 0"},
		{"no such name", head + "- measure: {targets: [/dev/c]}\n", "plan.yaml:3: phases[0].measure.targets[0]: /dev/c: is none of the file's targets"},
		{"target twice", head + "- measure: {targets: [/dev/a, 0]}\n", "plan.yaml:3: phases[0].measure.targets[1]: 0: is there twice"},
		{"no target at all", head + "- measure: {targets: []}\n", "plan.yaml:3: phases[0].measure.targets: is empty; leave it out for all"},
		{"complete_min", head + "- measure: {}\ncomplete_min: 4\n", "plan.yaml:4: complete_min 4: must be from 1 to the queue depth, 1"},
		{"percentage", head + "- measure: {size: 120%}\n", `plan.yaml:3: phases[0].measure.size: percentage "120%" is outside 0% to 100%`},
		{"share of a whole", head + "- measure: {size: {percent: 120}}\n", "plan.yaml:3: phases[0].measure.size.percent: 120: must be from 0 to 100"},
		{"both", head + "- measure: {size: {percent: 20, bytes: 4k}}\n", "plan.yaml:3: phases[0].measure.size: has bytes and percent"},

		// Sweeps.
		{"axis", head + "- measure: {sweep: {engine: [auto]}}\n", "plan.yaml:3: phases[0].measure.sweep.engine: is no key here; known are threads, iodepth, bs, read_pct, rw"},
		{"range", head + "- measure: {sweep: {bs: 4k-64k}}\n", `plan.yaml:3: phases[0].measure.sweep.bs: range "4k-64k": needs a step`},
		{"sweep", head + "- measure: {sweep: [4]}\n", "plan.yaml:3: phases[0].measure.sweep: is a list; it takes lists of values, by keys"},
		{"beside", head + "- measure:\n    threads: 4\n    sweep: {threads: [4]}\n", "plan.yaml:4: phases[0].measure.threads: is swept on line 5; leave it out here"},
		{"swept value", head + "- measure:\n    sweep:\n      iodepth: [1,\n        4097]\n", "plan.yaml:5: phases[0].measure.sweep.iodepth 4097: must be from 1 to 4096"},
		{"too many", head + "- measure: {sweep: {threads: 1-1000, iodepth: 1-101}}\n", "plan.yaml:3: phases[0].measure.sweep: the sweep has over 100000 points"},
		{"too many together", head + strings.Repeat("- measure: {sweep: {threads: 1-1000, iodepth: 1-60}}\n", 2), "plan.yaml:4: phases[1].measure: the plan has over 100000 streams"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := read(c.text); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%v\nwant %s", err, c.want)
			}
		})
	}
}

// bomb has nine anchors, each with nine aliases of the one before: 3.9e8 values.
func bomb() string {
	b := "a0: &a0 [1,1,1,1,1,1,1,1,1]\n"
	for i := 1; i < 9; i++ {
		last := string(rune('0' + i - 1))
		name := string(rune('0' + i))
		b += "a" + name + ": &a" + name + " [" + strings.TrimSuffix(strings.Repeat("*a"+last+",", 9), ",") + "]\n"
	}
	return b
}
