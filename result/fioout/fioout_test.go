package fioout

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"blkstorm/device"
	"blkstorm/histogram"
	"blkstorm/host"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/plan/fiojob"
	"blkstorm/plan/fiojob/jobfile"
	"blkstorm/result"
	"blkstorm/runner"
	"blkstorm/workload"
)

// input is that of a command line, none of whose jobs has run.
func input(t *testing.T, args ...string) *Input {
	t.Helper()
	c, err := fiojob.ParseCommand(args, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	set := fiojob.ReadJobs(c, nil)
	work := set.Translate(fiojob.Env{Look: func(string) (fiojob.Facts, error) {
		return fiojob.Facts{Exists: true, Bytes: 1 << 30}, nil
	}, Seed: 1})
	if len(set.Errors)+len(set.Refusals) > 0 {
		t.Fatalf("%v, %v", set.Errors, set.Refusals)
	}
	return &Input{Work: work, Set: set, Doc: &result.Doc{Version: "v1", Plan: work.Plan}, TerseVersion: 3, PID: 7}
}

// stat is a direction's figures from latencies.
func stat(t *testing.T, s *result.Stream, o op.Op, bytes uint64, latencies ...int64) *result.Stat {
	t.Helper()
	r, h := histogram.NewRecorder(), histogram.New()
	for _, ns := range latencies {
		r.Record(ns)
	}
	h.AddRecorder(r)
	out := &result.Stat{IOs: h.Count(), Bytes: bytes, Latency: &result.Latency{Count: h.Count()}}
	if h.Count() > 0 {
		code, err := h.Encode()
		if err != nil {
			t.Fatal(err)
		}
		out.Latency = &result.Latency{Count: h.Count(), Min: h.Min(), Max: h.Max(), Mean: int64(h.Mean()), StdDev: int64(h.StdDev()), HDR: code}
		s.Moments[o] = result.Moments{Mean: h.Mean(), StdDev: h.StdDev()}
	}
	return out
}

func stream(t *testing.T, seconds float64, bytes uint64, reads ...int64) *result.Stream {
	t.Helper()
	s := &result.Stream{EndS: seconds, Targets: []int{0}}
	s.Read = stat(t, s, op.Read, bytes, reads...)
	s.Write, s.Trim, s.Sync = stat(t, s, op.Write, 0), stat(t, s, op.Trim, 0), stat(t, s, op.Sync, 0)
	return s
}

type jsonJob struct {
	Name    string `json:"jobname"`
	Group   int    `json:"groupid"`
	Error   int    `json:"error"`
	Runtime int64  `json:"job_runtime"`
	Read    struct {
		IOs    uint64  `json:"total_ios"`
		BW     uint64  `json:"bw_bytes"`
		IOPS   float64 `json:"iops"`
		Run    int64   `json:"runtime"`
		Agg    float64 `json:"bw_agg"`
		BWMean float64 `json:"bw_mean"`
		Lat    struct {
			N            uint64
			Min, Max     int64
			Mean, StdDev float64
		} `json:"lat_ns"`
	} `json:"read"`
}

func jsonOf(t *testing.T, in *Input) (doc struct {
	Jobs  []jsonJob        `json:"jobs"`
	Disks []map[string]any `json:"disk_util"`
}) {
	t.Helper()
	var b strings.Builder
	if err := WriteJSON(&b, in); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(b.String()), &doc); err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	return doc
}

// Mean and deviation lose nothing to rounding, and the deviation is that of a sample.
func TestMomentsAreExact(t *testing.T) {
	in := input(t, "--name=a", "--filename=x", "--size=1m")
	in.Doc.Points = []*result.Point{{Streams: []*result.Stream{stream(t, 2, 12288, 100, 101, 103)}}}
	job := jsonOf(t, in).Jobs[0]
	lat := job.Read.Lat
	if lat.N != 3 || lat.Min != 100 || lat.Max != 103 || math.Abs(lat.Mean-304.0/3) > 1e-6 || math.Abs(lat.StdDev-math.Sqrt(7.0/3)) > 1e-6 {
		t.Errorf("%+v", lat)
	}
	if job.Read.Run != 2000 || job.Read.BW != 6144 || job.Read.IOPS != 1.5 || job.Runtime != 2000 {
		t.Errorf("%+v", job.Read)
	}
	// A document that was read back has whole nanoseconds only.
	in.Doc.Points[0].Streams[0].Moments = [op.Count]result.Moments{}
	if lat := jsonOf(t, in).Jobs[0].Read.Lat; lat.Mean != 101 || math.Abs(lat.StdDev-math.Sqrt(1.5)) > 1e-6 {
		t.Errorf("%+v", lat)
	}
}

// Groups: their clones are added, or each has its share of the group's bandwidth.
func TestGroups(t *testing.T) {
	for _, together := range []bool{false, true} {
		args := []string{"--filename=x", "--size=1m", "--name=a", "--numjobs=2", "--name=b", "--stonewall"}
		if together {
			args = append([]string{"--group_reporting"}, args...)
		}
		in := input(t, args...)
		one, two := stream(t, 1, 1<<20, 10), stream(t, 2, 3<<20, 20, 30)
		one.Series[op.Read].BytesPerS.Add(1 << 20)
		two.Series[op.Read].BytesPerS.Add(1 << 19)
		in.Doc.Points = []*result.Point{{Streams: []*result.Stream{one, two}}}
		doc := jsonOf(t, in)
		got := ""
		for _, j := range doc.Jobs {
			got += fmt.Sprintf("%s %d %d %d %g %g; ", j.Name, j.Group, j.Read.IOs, j.Read.Run, j.Read.BWMean, j.Read.Agg)
		}
		want := "a 0 1 1000 1024 50; a 0 2 2000 512 25; b 1 0 0 0 0; "
		if together {
			want = "a 0 3 2000 1536 75; b 1 0 0 0 0; "
		}
		if got != want {
			t.Errorf("together %v: %s\nwant %s", together, got, want)
		}
	}
}

// An error belongs to the job whose file it is of.
func TestErrorsOfJobs(t *testing.T) {
	in := input(t, "--size=1m", "--name=a", "--filename=x", "--name=b", "--filename=y", "--name=c", "--stonewall")
	bad, good := stream(t, 1, 4096, 10), stream(t, 1, 4096, 10)
	bad.Read.Errors, good.Targets = 1, []int{1}
	in.Doc.Targets = []*device.Facts{{Path: "/x"}, {Path: "/y"}}
	in.Doc.Points = []*result.Point{{Streams: []*result.Stream{bad, good}, Faults: 1, Errors: []result.IOError{{Target: "/y", Errno: 5}, {Target: "/x", Errno: 28}}}}
	doc := jsonOf(t, in)
	if doc.Jobs[0].Error != 28 || doc.Jobs[1].Error != 0 || doc.Jobs[2].Error != 0 {
		t.Errorf("%+v", doc.Jobs)
	}
	// A transfer that fell short has no number.
	in.Doc.Points[0].Errors = nil
	if doc := jsonOf(t, in); doc.Jobs[0].Error != int(syscall.EIO) {
		t.Errorf("%+v", doc.Jobs[0])
	}
	// An I/O that was never answered counts when nothing failed.
	in.Doc.Points[0].Stuck = []result.Stuck{{Target: "/y"}, {Target: "/x"}}
	if doc := jsonOf(t, in); doc.Jobs[0].Error != int(syscall.EIO) || doc.Jobs[1].Error != int(syscall.ETIMEDOUT) {
		t.Errorf("%+v", doc.Jobs)
	}
	for _, c := range []struct {
		err  error
		want syscall.Errno
	}{
		{fmt.Errorf("x: %w", syscall.ENOSPC), syscall.ENOSPC},
		{&device.RefusedError{Path: "/dev/x"}, syscall.EPERM},
		{fmt.Errorf("x: %w", os.ErrNotExist), syscall.ENOENT},
		{errors.New("two lines\nof it"), syscall.EINVAL},
	} {
		in.Refuse(c.err, "v1")
		doc := jsonOf(t, in)
		if len(doc.Jobs) != 3 || doc.Jobs[0].Error != int(c.want) || doc.Jobs[2].Error != int(c.want) || doc.Jobs[2].Group != 1 {
			t.Errorf("%v: %+v", c.err, doc.Jobs)
		}
	}
}

// fakeDisk has counters, and is made of others.
func fakeDisk(t *testing.T, root, name string, ios int, below ...string) {
	t.Helper()
	dir := filepath.Join(root, "class/block", name)
	if err := os.MkdirAll(filepath.Join(dir, "slaves"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, b := range below {
		if err := os.MkdirAll(filepath.Join(dir, "slaves", b), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	line := fmt.Sprintf("%d 0 %d 5 0 0 0 0 0 7 9 0 0 0 0\n", ios, 8*ios)
	if err := os.WriteFile(filepath.Join(dir, "stat"), []byte(line), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A file stands for the disk below it, each disk is there once, and one that is made of others has theirs, too.
func TestDisks(t *testing.T) {
	root := t.TempDir()
	fakeDisk(t, root, "dm-0", 100, "sda", "sdb")
	fakeDisk(t, root, "sda", 10)
	fakeDisk(t, root, "sdb", 20)
	in := input(t, "--name=a", "--filename=x", "--size=1m")
	targets := []*device.Facts{{Path: "/f", Kind: device.KindFile, Disk: "dm-0"}, {Path: "/dev/dm-0", Name: "dm-0"}, {Path: "/tmpfs"}, {Path: "/gone", Name: "nosuch"}}
	in.Disks = Watch(host.Roots{Sys: root}, targets)
	time.Sleep(2 * time.Millisecond)
	fakeDisk(t, root, "dm-0", 400, "sda", "sdb")
	fakeDisk(t, root, "sda", 110)
	fakeDisk(t, root, "sdb", 220)
	in.Disks.Update()
	disks := jsonOf(t, in).Disks
	if len(disks) != 3 || disks[0]["name"] != "dm-0" || disks[0]["read_ios"] != 300.0 || disks[0]["read_sectors"] != 2400.0 || disks[0]["aggr_read_ios"] != 300.0 ||
		disks[0]["aggr_write_merge"] != 0.0 || disks[1]["name"] != "sda" || disks[1]["read_ios"] != 100.0 || disks[2]["read_ios"] != 200.0 {
		t.Errorf("%v", disks)
	}
	if _, has := disks[1]["aggr_util"]; has {
		t.Errorf("sda is made of nothing: %v", disks[1])
	}
	var b strings.Builder
	if err := WriteNormal(&b, in); err != nil {
		t.Fatal(err)
	}
	want := "\n    dm-0: ios=300/0, sectors=2400/0, merge=0/0, ticks=0/0, in_queue=0, util=0.00%, aggrios=300/0, aggsectors=2400/0, aggrmerge=0/0, aggrticks=0/0, aggrin_queue=0, aggrutil=0.00%\n  sda: ios=100/0"
	if !strings.Contains(b.String(), want) {
		t.Errorf("the text lacks\n%s\n%s", want, b.String())
	}
	in = input(t, "--name=a", "--filename=x", "--size=1m", "--disk_util=0")
	in.Disks = Watch(host.Roots{Sys: root}, targets)
	if got := jsonOf(t, in).Disks; got != nil {
		t.Errorf("%v", got)
	}
}

// The line of progress.
func TestProgress(t *testing.T) {
	in := input(t, "--filename=x", "--size=1m", "--name=a", "--name=b", "--stonewall", "--rw=randrw", "--numjobs=2", "--name=c", "--rw=write", "--name=d", "--stonewall")
	in.Doc.Points = []*result.Point{{}}
	row := &runner.Row{Start: time.Second, Length: time.Second, Cells: make([]runner.Cell, 1)}
	r := histogram.NewRecorder()
	for range 250 {
		r.Record(1000)
	}
	row.Cells[0].Ops[op.Write].Latency.AddRecorder(r)
	row.Cells[0].Ops[op.Write].Bytes = 250 * 4096
	point := &plan.Point{Streams: []plan.Stream{{Targets: []int{0}}, {Targets: []int{0, 1}}, {Targets: []int{0}, Workload: workload.Spec{}}}}
	for eta, want := range map[int64]string{
		6:       "Jobs: 3 (f=4): [_(1),m(2),W(1),P(1)][25.0%][w=1000KiB/s][w=250 IOPS][eta 00m:06s]",
		90061:   "Jobs: 3 (f=4): [_(1),m(2),W(1),P(1)][0.0%][w=1000KiB/s][w=250 IOPS][eta 01d:01h:01m:01s]",
		Unknown: "Jobs: 3 (f=4): [_(1),m(2),W(1),P(1)][-.-%][w=1000KiB/s][w=250 IOPS]",
	} {
		in.ETA = eta
		if got := in.Progress(point, row); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// Options keep their order and what is written twice; those of files come in the order in which fio reads them.
func TestOptions(t *testing.T) {
	at := func(line int, pairs ...string) (list []jobfile.Setting) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, jobfile.Setting{Name: pairs[i], Value: pairs[i+1], Pos: jobfile.Pos{Line: line}})
		}
		return list
	}
	for want, settings := range map[string][]jobfile.Setting{
		"filename=x bs=4k bs=8k rw=read":              at(0, "filename", "x", "blocksize", "4k", "bs", "8k", "readwrite", "read"),
		"kb_base=1000 unit_base=0 rw=read filename=x": at(3, "filename", "x", "kb_base", "1000", "rw", "read", "unit_base", "0"),
	} {
		var parts []string
		for _, m := range options(settings) {
			parts = append(parts, fmt.Sprintf("%s=%v", m.key, m.value))
		}
		if got := strings.Join(parts, " "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
