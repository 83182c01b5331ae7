package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blkstorm/lab"
)

// fioEntry is what the tests read of a job in fio's JSON.
type fioEntry struct {
	Name    string `json:"jobname"`
	Error   int    `json:"error"`
	Runtime int64  `json:"job_runtime"`
	Read    struct {
		IOs uint64 `json:"total_ios"`
	} `json:"read"`
	Write struct {
		IOs uint64 `json:"total_ios"`
	} `json:"write"`
	Depth   int   `json:"latency_depth"`
	Target  int64 `json:"latency_target"`
	Window  int64 `json:"latency_window"`
	Percent any   `json:"latency_percentile"`
	Steady  *struct {
		Text     string  `json:"ss"`
		Duration int64   `json:"duration"`
		Attained int     `json:"attained"`
		Slope    float64 `json:"slope"`
		Data     struct {
			IOPS []int64 `json:"iops"`
			BW   []int64 `json:"bw"`
		} `json:"data"`
	} `json:"steadystate"`
}

// fioJobs runs a command line in dir, wants a status, and reads the jobs of its JSON.
func fioJobs(t *testing.T, dir string, status int, line string) []fioEntry {
	t.Helper()
	args := append([]string{"fio", "--output-format=json"}, strings.Fields(line)...)
	out := start(t, dir, args...).wait().want(t, status)
	if out.stderr != "" {
		t.Errorf("%s: standard error has %q", line, out.stderr)
	}
	var doc struct {
		Jobs []fioEntry `json:"jobs"`
	}
	if err := json.Unmarshal([]byte(out.stdout), &doc); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out.stdout)
	}
	return doc.Jobs
}

// sizeOf is that of a file; -1 if there is none.
func sizeOf(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		return -1
	}
	return info.Size()
}

// Files are made, laid out anew where they are too short, taken as they are where not, and removed.
func TestFioFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	text := start(t, dir, "fio", "--name=a", "--filename=x", "--size=1m", "--rw=read").wait().want(t, 0, "").stdout
	if !strings.Contains(text, "\na: Laying out IO file (1 file / 1MiB)\n") || sizeOf(t, at("x")) != mib {
		t.Errorf("%d bytes:\n%s", sizeOf(t, at("x")), text)
	}
	if text := start(t, dir, "fio", "--name=a", "--filename=x", "--size=512k", "--rw=read").wait().want(t, 0).stdout; strings.Contains(text, "Laying") {
		t.Errorf("laid out again:\n%s", text)
	}
	if err := os.WriteFile(at("short"), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if jobs := fioJobs(t, dir, 0, "--name=a --filename=short --size=1m --rw=read"); jobs[0].Read.IOs != 256 || sizeOf(t, at("short")) != mib {
		t.Errorf("%+v, %d bytes", jobs, sizeOf(t, at("short")))
	}
	fioJobs(t, dir, 0, "--name=a --filename=only --size=1m --create_only=1")
	if sizeOf(t, at("only")) != mib {
		t.Error("create_only has made no file")
	}
	if jobs := fioJobs(t, dir, 0, "--name=a --filename=x:y --filesize=1m --rw=write --bs=64k --end_fsync=1 --unlink=1"); jobs[0].Write.IOs != 32 || sizeOf(t, at("x")) != -1 || sizeOf(t, at("y")) != -1 {
		t.Errorf("%+v, unlinked %d %d", jobs, sizeOf(t, at("x")), sizeOf(t, at("y")))
	}
	start(t, dir, "fio", "--name=a", "--filename=huge", "--size=900t", "--rw=write").wait().want(t, exitUsage, "only", "free")
	strict := []string{"fio", "--name=a", "--filename=only", "--rw=read", "--iodepth_low=4"}
	if text := start(t, dir, strict...).wait().want(t, 0).stdout; !strings.Contains(text, "note: command line: job a: iodepth_low=4: ") {
		t.Errorf("no note:\n%s", text)
	}
	start(t, dir, append(strict, "--strict")...).wait().want(t, exitUsage, "iodepth_low=4")
	if text := start(t, dir, append(strict, "--parse-only", "--verify=md5")...).wait().want(t, 0).stdout; !strings.Contains(text, "a run refuses: command line: job a: verify=md5: ") {
		t.Errorf("--parse-only: %q", text)
	}
	start(t, dir, "fio", "--readonly", "--name=a", "--filename=z", "--size=1m", "--rw=write").wait().want(t, exitUsage, "rw=write", "--readonly")
	if sizeOf(t, at("huge")) != -1 || sizeOf(t, at("z")) != -1 {
		t.Error("a refused job has made a file")
	}
}

// Jobs end by the first of them, by steady state, by a depth that is found, by a latency that none may have.
func TestFioEnds(t *testing.T) {
	dir := t.TempDir()
	const base = "--filename=x --size=1m --rw=randread --time_based "
	jobs := fioJobs(t, dir, 0, base+"--rate_iops=50 --exitall --name=a --runtime=1 --name=b --runtime=60")
	if len(jobs) != 2 || jobs[1].Runtime > 2000 || jobs[1].Error != 0 {
		t.Errorf("exitall: %+v", jobs)
	}
	jobs = fioJobs(t, dir, 0, base+"--rate_iops=100 --name=a --runtime=60 --ss=iops:90% --ss_dur=2 --ss_ramp=1")
	if s := jobs[0].Steady; s == nil || s.Attained != 1 || s.Text != "iops:90.000000%" || s.Duration != 2 || len(s.Data.IOPS) != 2 || len(s.Data.BW) != 2 || jobs[0].Runtime > 30000 {
		t.Errorf("steadystate: %+v %+v", jobs, s)
	}
	jobs = fioJobs(t, dir, 0, base+"--rate_iops=100 --name=a --runtime=2 --ss=iops:0 --ss_dur=60")
	if s := jobs[0].Steady; s == nil || s.Attained != 0 || jobs[0].Runtime < 1900 {
		t.Errorf("never steady: %+v %+v", jobs, s)
	}
	jobs = fioJobs(t, dir, 0, base+"--ioengine=libaio --iodepth=8 --name=a --runtime=60 --latency_target=100s --latency_window=100ms --latency_percentile=99")
	if j := &jobs[0]; j.Depth != 8 || j.Target != 100e9 || j.Window != 100_000 || j.Percent != 99.0 || j.Runtime > 30000 {
		t.Errorf("latency_target: %+v", j)
	}
	jobs = fioJobs(t, dir, 0, base+"--ioengine=libaio --iodepth=8 --name=a --runtime=1 --latency_target=1ns --latency_window=50ms")
	if j := &jobs[0]; j.Depth != 1 || j.Runtime < 900 {
		t.Errorf("latency_target that cannot be kept: %+v", j)
	}
}

// A latency over max_latency is an error of fio's own number, and its status is fio's.
func TestFioMaxLatency(t *testing.T) {
	out := start(t, "", "fio", "--output-format=json", "--name=a", "--filename=x", "--size=1m", "--rw=randread", "--direct=1", "--max_latency=1ns").wait()
	if out.status != 1 || !strings.Contains(out.stderr, "over the limit of 1ns") || !strings.Contains(out.stdout, `"error" : 110,`) {
		t.Errorf("status %d, %q\n%s", out.status, out.stderr, out.stdout)
	}
}

// The job file is the consent, but for a signature: that is lifted by the option, or by the environment.
func TestFioGuard(t *testing.T) {
	lab.Root(t)
	backing := lab.File(t, 16*mib)
	f, err := os.OpenFile(backing, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	sign := func() {
		t.Helper()
		if _, err := f.WriteAt([]byte("SWAPSPACE2"), 4096-10); err != nil {
			t.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { _ = f.Close() })
	sign()
	dev := lab.LoopOn(t, backing, lab.LoopOptions{})
	line := []string{"fio", "--name=a", "--filename=" + dev, "--rw=write", "--bs=64k", "--size=1m", "--direct=1"}
	before := digest(t, backing)
	blkstorm(t, line...).want(t, exitRefused, "[signature]", dev)
	if digest(t, backing) != before {
		t.Fatal("a refused job has written")
	}
	read := append([]string{}, line...)
	read[3] = "--rw=read"
	blkstorm(t, read...).want(t, 0)
	blkstorm(t, append(line, "--destroy-signature="+dev)...).want(t, 0)
	sign()
	t.Setenv(signatureVariable, "/dev/none,"+dev)
	blkstorm(t, line...).want(t, 0)
	if digest(t, backing) == before {
		t.Error("nothing was written")
	}
}
