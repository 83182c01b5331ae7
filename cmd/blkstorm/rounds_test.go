package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// sniaIOPS is the matrix of the IOPS test of SNIA on the null engine.
const sniaIOPS = `
targets: [{create_bytes: 64m}]
engine: "null"
phases:
- measure:
    sweep: {read_pct: [100, 95, 65, 50, 35, 5, 0], bs: [1m, 128k, 64k, 32k, 16k, 8k, 4k, 512]}
    rw: randrw
    threads: 4
    iodepth: 32
    runtime: 1m
    rounds:
      track: [{read_pct: 100, bs: 1m}, {read_pct: 65, bs: 64k}, {read_pct: 0, bs: 4k}]
`

// What is shown of a plan of 1,400 points fits on a screen or two, from a file and from standard input.
func TestRoundsAreShown(t *testing.T) {
	name := filepath.Join(t.TempDir(), "plan.yaml")
	if err := os.WriteFile(name, []byte(sniaIOPS), 0o600); err != nil {
		t.Fatal(err)
	}
	dry := command(t, "plan", "run", "--dry-run", "-")
	dry.Stdin = strings.NewReader(sniaIOPS)
	p := &process{t: t, cmd: dry}
	dry.Stdout, dry.Stderr = &p.stdout, &p.stderr
	p.begin()
	shown, _, _ := strings.Cut(p.wait().want(t, 0).stdout, "\nplan:\n")
	checked := blkstorm(t, "plan", "check", name).want(t, 0).stdout
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"dry run", shown, []string{"measure: 56 points a round, at most 25 rounds, at most 23h20m0s\n", "takes at most 23h20m0s"}},
		{"check", checked, []string{"  these 56 points a round, at most 25 rounds of 56m0s\n", "takes 23h20m0s at most"}},
	} {
		for _, want := range append(c.want, "until all these are steady over the same 5 rounds (range within 20 %, fitted range within 10 % of the mean):\n    iops of randrw 100% read 1m 4T/32Q\n    iops of randrw 65% read 64k 4T/32Q\n    iops of randrw 0% read 4k 4T/32Q\n") {
			if !strings.Contains(c.text, want) {
				t.Errorf("%s lacks %q:\n%s", c.name, want, c.text)
			}
		}
		if n := strings.Count(c.text, "ramp 0s, runtime 1m0s"); n != 56 || strings.Count(c.text, "\n") > 70 {
			t.Errorf("%s: %d cells in %d lines", c.name, n, strings.Count(c.text, "\n"))
		}
	}
}

// Rounds without steady state end with status 4, or under quick with a warning; what each brought is told.
func TestRoundsEnd(t *testing.T) {
	short := strings.NewReplacer("runtime: 1m", "runtime: 20ms\n    interval: 10ms", "[100, 95, 65, 50, 35, 5, 0]", "[100, 65, 0]", "[1m, 128k, 64k, 32k, 16k, 8k, 4k, 512]", "[1m, 64k, 4k]").Replace(sniaIOPS)
	never := short + "      window: 2\n      max_rounds: 3\n      range_pct: 0.000001\n"
	soon := short + "      window: 2\n      max_rounds: 3\n      range_pct: 1000\n      fitted_pct: 1000\n"
	for _, c := range []struct {
		name, text string
		status     int
		stderr     []string
		stdout     string
	}{
		{"never", never, exitMissed, []string{
			"round 1: iops of randrw 0% read 4k 4T/32Q: 1 of 2 rounds", "round 2: not steady yet", "round 3: never steady in 3 rounds",
			"blkstorm: steady state was not reached in 3 rounds: iops of randrw 100% read 1m 4T/32Q: range ", "round 2 of at most 3, point 9 of 9, randrw 0% read 4k 4T/32Q; left with it: at most 200ms",
		}, "NOT STEADY after 3 rounds"},
		{"never, quick", "quick: true\n" + never, 0, []string{"round 3: never steady in 3 rounds"}, "warning [not_steady]: steady state was not reached: after 3 rounds"},
		{"soon", soon, 0, []string{"round 2: all steady over rounds 1 to 2"}, "steady state reached in round 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := filepath.Join(t.TempDir(), "plan.yaml")
			if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			o := blkstorm(t, "plan", "run", name).want(t, c.status, c.stderr...)
			if !strings.Contains(o.stdout, c.stdout) || strings.Contains(o.stdout, "seed") {
				t.Errorf("the text lacks %q, or has single points:\n%s", c.stdout, o.stdout)
			}
			for _, want := range []string{"IOPS by bs", "read-pct  ", "max latency in µs by bs"} {
				if !strings.Contains(o.stdout, want) {
					t.Errorf("the text lacks %q:\n%s", want, o.stdout)
				}
			}
			rounds := strings.Count(o.stderr, ": iops of randrw 0% read 4k")
			lines := strings.Split(strings.TrimSpace(blkstorm(t, "plan", "run", "--quiet", "--format", "csv", name).want(t, c.status).stdout), "\n")
			if last := fmt.Sprintf(",%d", rounds); !strings.HasSuffix(lines[0], ",asserts_missed,round") || !strings.HasSuffix(lines[len(lines)-1], last) {
				t.Errorf("the CSV is not of %d rounds:\n%s\n%s", rounds, lines[0], lines[len(lines)-1])
			}
		})
	}
}
