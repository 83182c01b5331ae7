package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blkstorm/lab"
)

// Options that would do nothing are an error that says so, not silence.
func TestOptionsOfNoUse(t *testing.T) {
	dev, dev2 := lab.Loop(t, 16*mib, lab.LoopOptions{}), lab.Loop(t, 16*mib, lab.LoopOptions{})
	for line, want := range map[string]string{
		"run --data zero":                               "--data zero: goes with shapes that write; --rw randread issues no writes",
		"run --size 1m --compress-pct 50":               "--compress-pct 50: goes with shapes that write; --rw randread issues no writes",
		"run --rw randrw --read-pct 100 --dedupe-pct 9": "--dedupe-pct 9: goes with shapes that write; --rw randrw issues no writes",
		"run --rw trim --dedupe-pct 9 --dedupe-unit 8k": "--dedupe-pct 9: goes with shapes that write; --rw trim issues no writes",
		"run --purge --data pattern:0x01":               "--data pattern:0x01: goes with shapes that write; --rw randread issues no writes",
		"sweep --iodepth 1,2 --data zero":               "--data zero: goes with shapes that write; --rw randread issues no writes",
		"sweep --rw read,randread --read-pct 70":        "--read-pct 70: goes with --rw rw or randrw; none of --rw read,randread is a mix of reads and writes",
		"sweep --rw randread --read-pct 70":             "--read-pct 70: goes with --rw rw or randrw; --rw randread is no mix",
		"run --seed 99999999999999999999":               "--seed 99999999999999999999: must be a whole number from 0 to 9007199254740991",
		"run --seed -1":                                 "--seed -1: must be a whole number from 0",
		"find-max --limit p99=1ms --start 0":            "--start 0: must be over 0; leave it out to begin with a closed loop",
		"find-max --limit p99=1ms --data zero":          "--data zero: goes with shapes that write",
	} {
		out := blkstorm(t, append(strings.Fields(line), "--destroy", "--dry-run", dev)...)
		if out.status != exitUsage || !strings.Contains(out.stderr, want) {
			t.Errorf("%s: status %d, %s\nwant %s", line, out.status, out.stderr, want)
		}
	}
	blkstorm(t, "run", "--stream", "on="+dev, "--dry-run", dev, dev2).want(t, exitUsage, "target "+dev2+": no --stream is on it")
	for _, line := range []string{
		"run --fill 1 --data zero", "run --rw randrw --data zero", "run --precondition 1s --precondition-with rw=randwrite --compress-pct 30",
		"sweep --rw randrw --read-pct 0,50,100 --compress-pct 50", "sweep --rw read,randrw --read-pct 70 --data zero",
		"sweep --rw read,write --dedupe-pct 50", "run --data random",
	} {
		blkstorm(t, append(strings.Fields(line), "--destroy", "--dry-run", dev)...).want(t, exitGood)
	}
}

// A new file is laid out with the data that the run asks for, and is read so when the run is repeated.
func TestNewFilesHaveTheDataAskedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "new")
	run := []string{"run", "--rw", "randread", "--size", "32m", "--runtime", "100ms", "--quiet"}
	p := start(t, dir, append(run, "--compress-pct", "50", "--dedupe-pct", "40", "--format", "json", "new")...).wait().want(t, exitGood)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := uniquePct(content, 4096); got < 58 || got > 65 {
		t.Errorf("%.1f %% of the blocks are unique, want 60 and the 128 contents that are shared", got)
	}
	if got := packedPct(t, content[1<<20:2<<20], "gzip", "-1", "-c"); got > 56 {
		t.Errorf("gzip makes %.1f %% of it, want 50", got)
	}
	result := filepath.Join(dir, "result.json")
	if err := os.WriteFile(result, []byte(p.stdout), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, dir, "plan", "run", "--format", "json", result).wait().want(t, exitGood, path+" exists, and nothing is written to it: what it holds stays as it is")
	if again, err := os.ReadFile(path); err != nil || string(again) != string(content) {
		t.Errorf("the file changed, %v", err)
	}
	start(t, dir, append(run, "--data", `pattern:"ab"`, "--size", "5000k", "other")...).wait().want(t, exitGood)
	content, err = os.ReadFile(filepath.Join(dir, "other"))
	if err != nil || len(content) != 5000<<10 {
		t.Fatalf("%d bytes, %v", len(content), err)
	}
	// Neither end, where marks of file systems would lie.
	if middle := content[600<<10 : 604<<10]; string(middle) != strings.Repeat("ab", 2048) {
		t.Errorf("%q", middle[:16])
	}
}
