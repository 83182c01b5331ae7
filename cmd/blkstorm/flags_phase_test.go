package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"blkstorm/execute"
)

// preview is what a dry run of the command line shows.
func preview(t *testing.T, args ...string) *execute.Preview {
	t.Helper()
	o := blkstorm(t, append(args, "--dry-run", "--format", "json", "--size", "64m", "new")...).want(t, exitGood)
	v := &execute.Preview{}
	if err := json.Unmarshal([]byte(o.stdout), v); err != nil {
		t.Fatal(err)
	}
	return v
}

// labels are the points of a phase, and its kind.
func labels(v *execute.Preview, phase int) string {
	var list []string
	for _, p := range v.Plan.Phases[phase].Points {
		list = append(list, strings.ReplaceAll(p.Label, " size 64m", ""))
	}
	return v.Plan.Phases[phase].Kind + ": " + strings.Join(list, ", ")
}

// The order is that of nested loops in the order in which the options are written.
func TestSweepOrder(t *testing.T) {
	for args, want := range map[string]string{
		"--threads 1,2 --iodepth 4,8":                  "randread 4k 1T/4Q, randread 4k 1T/8Q, randread 4k 2T/4Q, randread 4k 2T/8Q",
		"--iodepth 4,8 --threads 1,2":                  "randread 4k 1T/4Q, randread 4k 2T/4Q, randread 4k 1T/8Q, randread 4k 2T/8Q",
		"--bs 4k-16k*4":                                "randread 4k 1T/1Q, randread 16k 1T/1Q",
		"--rw randread,randrw,randwrite --read-pct 70": "randread 4k 1T/1Q, randrw 70% read 4k 1T/1Q, randwrite 4k 1T/1Q",
		"--read-pct 0,100 --rw randrw --threads 3":     "randrw 0% read 4k 3T/1Q, randrw 100% read 4k 3T/1Q",
	} {
		v := preview(t, append([]string{"sweep"}, strings.Fields(args)...)...)
		if got := labels(v, 0); got != "measure: "+want {
			t.Errorf("%s:\n%s\nwant\n%s", args, got, want)
		}
	}
	// Streams take what stands beside them.
	v := preview(t, "sweep", "--iodepth", "2,4", "--stream", "rw=randread bs=8k", "--stream", "rw=randread threads=2 iodepth=1")
	if got, want := labels(v, 0), "measure: randread 8k 1T/2Q + randread 4k 2T/1Q, randread 8k 1T/4Q + randread 4k 2T/1Q"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	// What one combination settles does not hold for the next.
	v = preview(t, "sweep", "--rw", "randread,randtrim,randrw")
	for i, want := range []struct {
		readPct int
		trim    string
	}{{100, ""}, {0, "discard"}, {50, ""}} {
		if w := v.Plan.Phases[0].Points[i].Streams[0].Workload; w.ReadPct != want.readPct || w.TrimWith != want.trim {
			t.Errorf("point %d: %+v", i, w)
		}
	}
}

// Phases come in their order, before what is measured, with the load that is asked for.
func TestPhases(t *testing.T) {
	for args, want := range map[string][]string{
		"run --purge --fill 2 --precondition steady --idle 3s --threads 2 --iodepth 4": {"purge: purge 64m", "fill: fill 2 x 128k", "precondition: randread 4k 2T/4Q", "idle: ", "measure: randread 4k 2T/4Q"},
		"run --fill 1 --bs 8k": {"fill: fill 128k", "measure: randread 8k 1T/1Q"},
		"sweep --precondition 5m --threads 2,16,4 --iodepth 32,8 --bs 8k,4k --rw randread": {"precondition: randread 8k 16T/32Q"},
		"run --precondition 5m --precondition-with rw=randwrite --iodepth 4":               {"precondition: randwrite 4k 1T/4Q", "measure: randread 4k 1T/4Q"},
		"sweep --precondition 5m --precondition-with threads=3 --threads 2,4 --bs 8k":      {"precondition: randread 8k 3T/1Q"},
	} {
		v := preview(t, strings.Fields(args)...)
		for i, w := range want {
			if got := labels(v, i); got != w {
				t.Errorf("%s: phase %d is %q, want %q", args, i, got, w)
			}
		}
	}
	v := preview(t, "run", "--offset", "1m", "--working-set", "50%", "--purge", "--fill", "2", "--compress-pct", "50", "--precondition", "steady",
		"--steady-metric", "p99", "--steady-round", "10s", "--steady-window", "3", "--steady-range", "30", "--steady-fitted", "15", "--steady-max-rounds", "7", "--quick",
		"--assert", "p99<2ms", "--assert", "errors==0")
	fill := &v.Plan.Phases[1].Points[0].Streams[0].Workload
	if v.TrimBytes != 64*mib || v.WriteBytes != 128*mib || fill.Data.CompressPct != 50 || fill.Offset.Bytes != mib || !fill.WorkingSet.IsZero() {
		t.Errorf("%+v, fill %+v", v.Outlook, fill)
	}
	rule := v.Plan.Phases[2].Steady
	if got, want := rule.String(), "p99 over 3 rounds of 10s: range within 30 %, fitted range within 15 % of the mean; at most 7 rounds"; got != want {
		t.Error(got)
	}
	if !v.AtMost || v.TimeS != 70+30 || !v.Plan.Quick || fmt.Sprint(v.Plan.Asserts) != "[p99<2ms errors==0]" {
		t.Errorf("%+v, quick %v, asserts %v", v.Outlook, v.Plan.Quick, v.Plan.Asserts)
	}
	v = preview(t, "run", "--precondition", "steady", "--steady-rule", "iops_slope:0.3%", "--steady-window", "6", "--steady-round", "2s")
	if got := v.Plan.Phases[0].Steady.String(); got != "iops over 6 rounds of 2s: slope per round below 0.3%; at most 25 rounds" {
		t.Error(got)
	}
}

// What is wrong is said with the option, before anything is touched.
func TestPhaseAndSweepErrors(t *testing.T) {
	for args, want := range map[string]string{
		"run --fill 0":                                                     "--fill 0: must be from 1 to 1000",
		"run --fill -1":                                                    "--fill -1: must be",
		"run --idle 0":                                                     "--idle 0s: must be over 0",
		"run --steady-window 4":                                            "--steady-window: goes with --precondition steady",
		"run --precondition 5m --quick":                                    "--quick: goes with --precondition steady",
		"run --precondition-with bs=4k":                                    "--precondition-with: goes with --precondition",
		"run --precondition=":                                              "--precondition: is empty",
		"run --precondition soon":                                          "--precondition soon: must be steady or a time such as 30m",
		"run --precondition 0s":                                            "--precondition 0s: must be steady or a time such as 30m: must be over 0",
		"run --precondition 5m --precondition-with bogus=1":                `--precondition-with "bogus=1": "bogus=1" is no option`,
		"run --precondition steady --steady-window 1":                      "--steady-window 1: must be from 2",
		"run --precondition steady --steady-max-rounds 3":                  "--steady-max-rounds 3: must be at least the window, 5",
		"run --precondition steady --steady-metric x":                      `--steady-metric "x": unknown`,
		"run --precondition steady --steady-rule x":                        "--steady-rule x: neither snia nor one of fio's",
		"run --precondition steady --steady-round 1500ms":                  "--steady-round 1.5s: must be a multiple of --interval 1s",
		"run --precondition steady --steady-range 0":                       "--steady-range 0: must be over 0",
		"run --precondition steady --steady-rule iops:5% --steady-range 9": "--steady-range: belongs to the rule snia",
		"run --assert p99":                                                 "--assert p99: has no comparison",
		"run --assert p99<2":                                               `--assert p99<2: "2" has no unit`,
		"sweep --threads 2,x":                                              `--threads 2,x: "x": must be a whole number`,
		"sweep --threads 2,2":                                              "--threads 2,2: 2 is there twice",
		"sweep --bs 4k-8k":                                                 `--bs 4k-8k: range "4k-8k": needs a step`,
		"sweep --rw randread,bogus":                                        `--rw "bogus": known are`,
		"sweep --rw randread,randrw --read-pct 20,30":                      "rw randread, read-pct 20: --read-pct 20: goes with --rw rw or randrw",
		"sweep --knee p99":                                                 "--knee p99: ",
		"sweep --threads 1-1000 --iodepth 1-1000":                          "the sweep has over 100000 points",
		"sweep --threads 1,2000":                                           "--threads 2000: must be from 1 to 1024",
	} {
		blkstorm(t, append(strings.Fields(args), "--size", "1m", "new")...).want(t, exitUsage, want)
	}
}
