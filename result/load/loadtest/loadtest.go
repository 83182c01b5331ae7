// Package loadtest makes results of known content for the tests of those who read results: documents, and
// folders as a run leaves them. No command uses it.
package loadtest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"blkstorm/device"
	"blkstorm/histogram"
	"blkstorm/host"
	"blkstorm/ioengine"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/runner"
	"blkstorm/workload"
)

// Load is equal I/Os of one interval: N of them, each with Bytes bytes and a latency of NS nanoseconds.
type Load struct {
	Stream, Target int
	Op             op.Op
	N              uint32
	NS             int64
	Bytes          int64
	ResponseNS     int64 // 0: of a closed loop
	Errors         uint64
}

// Point is one point: a slice of loads per interval of the window.
type Point struct {
	Label      string
	Phase      string // empty is plan.Measure
	Start      time.Time
	Interval   time.Duration // 0 is a second
	Rows       [][]Load
	Streams    []string // labels; none is one stream "load"
	Incomplete bool
	Open       bool // an open loop
}

// Run is a result.
type Run struct {
	ID, Host string
	Targets  []string // paths; none is /dev/sdb
	Points   []Point
}

// Steady is n equal intervals.
func Steady(n int, loads ...Load) [][]Load {
	rows := make([][]Load, n)
	for i := range rows {
		rows[i] = loads
	}
	return rows
}

// Document is the document with its interval rows.
func (r *Run) Document(t testing.TB) *result.Doc {
	t.Helper()
	d := r.head()
	for i := range r.Points {
		if err := r.point(d, i, nil); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// File writes the document, without a folder's other files, and returns its path.
func (r *Run) File(t testing.TB) string {
	t.Helper()
	var text bytes.Buffer
	if err := result.WriteJSON(&text, r.Document(t)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), r.Host+".json")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Folder writes a result folder and returns its path.
func (r *Run) Folder(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), r.Host)
	folder, err := result.CreateFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := r.head()
	for i := range r.Points {
		err = errors.Join(err, r.point(d, i, folder))
	}
	if err := errors.Join(err, folder.Result(d), folder.Close()); err != nil {
		t.Fatal(err)
	}
	return dir
}

func (r *Run) targets() []string {
	if len(r.Targets) == 0 {
		return []string{"/dev/sdb"}
	}
	return r.Targets
}

func (r *Run) head() *result.Doc {
	p := &plan.Plan{Schema: plan.Schema, Engine: "io_uring", Direct: true, CompleteMin: 1, Pin: "auto", Seed: uint64(len(r.ID))}
	d := &result.Doc{
		Schema: result.Schema, Version: "test", ID: r.ID, Plan: p,
		Host: host.Facts{Hostname: r.Host, Kernel: "6.12.0", CPUs: 2},
	}
	for _, path := range r.targets() {
		p.Targets = append(p.Targets, plan.Target{Spec: path})
		d.Targets = append(d.Targets, &device.Facts{Path: path, Kind: "disk", Name: filepath.Base(path), SizeBytes: 1 << 40})
	}
	for i := range r.Points {
		p.Append(r.Points[i].phase(), r.Points[i].plan(len(d.Targets)))
	}
	if len(r.Points) > 0 {
		d.Started = r.Points[0].Start.Add(-time.Second).UTC()
	}
	return d
}

func (p *Point) phase() string {
	if p.Phase == "" {
		return plan.Measure
	}
	return p.Phase
}

func (p *Point) interval() time.Duration {
	if p.Interval == 0 {
		return time.Second
	}
	return p.Interval
}

func (p *Point) plan(targets int) *plan.Point {
	labels := p.Streams
	if len(labels) == 0 {
		labels = []string{"load"}
	}
	out := &plan.Point{Label: p.Label, Runtime: plan.Duration(time.Minute), Interval: plan.Duration(p.interval())}
	for _, label := range labels {
		s := plan.Stream{Label: label, Workload: workload.Spec{RW: "randrw", BlockSize: 4096, ReadPct: 50}, Threads: 1, IODepth: 4}
		if p.Open {
			s.Pacing.IOPS.Total = 1000
		}
		for t := range targets {
			s.Targets = append(s.Targets, t)
		}
		out.Streams = append(out.Streams, s)
	}
	return out
}

// point measures point i into the document and the folder.
func (r *Run) point(d *result.Doc, i int, folder *result.Folder) error {
	p := &r.Points[i]
	planned := p.plan(len(d.Targets))
	b := d.NewBuilder(p.phase(), planned, result.DefaultPercentiles, true)
	res := &runner.Result{
		Started: p.Start, WindowStart: p.Start, Window: time.Duration(len(p.Rows)) * p.interval(),
		Completed: !p.Incomplete, Interrupted: p.Incomplete, Cells: cells(planned),
	}
	for s := range planned.Streams {
		for _, t := range planned.Streams[s].Targets {
			thread := runner.Thread{Stream: s, Target: t, CPU: -1, Peak: 4}
			thread.Engine = ioengine.Info{Name: "io_uring"}
			res.Threads = append(res.Threads, thread)
		}
	}
	for n, loads := range p.Rows {
		start := time.Duration(n) * p.interval()
		row := &runner.Row{Index: int64(n), Start: start, Length: p.interval(), Wall: p.Start.Add(start), Cells: cells(planned), InFlight: 4}
		row.Host.Disks = make([]host.DiskStats, len(d.Targets))
		for _, l := range loads {
			cell := l.Stream*len(d.Targets) + l.Target
			stat := &row.Cells[cell].Ops[l.Op]
			l.into(stat)
			l.into(&res.Cells[cell].Ops[l.Op])
			res.Faults += l.Errors
		}
		in := b.Row(row)
		if folder != nil {
			if err := errors.Join(folder.Interval(in), folder.Histograms(b, row)); err != nil {
				return err
			}
		}
	}
	_, err := b.Finish(res, d.Plan.Seed)
	return err
}

func cells(p *plan.Point) (out []runner.Cell) {
	for s := range p.Streams {
		for _, t := range p.Streams[s].Targets {
			out = append(out, runner.Cell{Stream: s, Target: t})
		}
	}
	return out
}

func (l *Load) into(s *runner.Stat) {
	r := histogram.NewRecorder()
	r.RecordN(l.NS, l.N)
	s.Latency.AddRecorder(r)
	s.Bytes += uint64(l.N) * uint64(l.Bytes)
	s.Errors += l.Errors
	if l.ResponseNS > 0 {
		r.Reset()
		r.RecordN(l.ResponseNS, l.N)
		s.Response.AddRecorder(r)
		s.Offered += uint64(l.N)
	}
}
