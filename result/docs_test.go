package result

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"blkstorm/device"
	"blkstorm/histogram"
	"blkstorm/host"
	"blkstorm/ioengine"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/runner"
	"blkstorm/unit"
	"blkstorm/verdict"
	"blkstorm/workload"
)

// The documents of the golden files: invented machines, figures made from a fixed seed through the
// Builder, as a run makes them.

var epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

func newDoc(p *plan.Plan, targets ...*device.Facts) *Doc {
	return &Doc{
		Schema: Schema, Version: "1.2.3", ID: "0123456789abcdef", Started: epoch,
		Host: host.Facts{
			Hostname: "bench-1", OS: "Example Linux 9", Kernel: "6.8.0-example", Arch: "amd64", Hypervisor: "vmware",
			CPUModel: "Example CPU @ 2.00GHz", CPUs: 16, AllowedCPUs: 16, NUMANodes: 1, MemoryBytes: 32 << 30, MemlockBytes: -1,
		},
		Clock:   host.Clock{Source: "tsc", Available: []string{"tsc", "hpet"}, CostNS: 21.5, ResolutionNS: 1},
		Plan:    p,
		Targets: targets,
	}
}

func disk(name string, size int64) *device.Facts {
	return &device.Facts{
		Path: "/dev/" + name, Kind: "disk", Name: name, Device: "8:16", Disk: name, SizeBytes: size,
		LogicalBlockBytes: 512, PhysicalBlockBytes: 4096, Vendor: "Example", Model: "Virtual Disk", Serial: "S-" + name,
	}
}

func stream(label, rw string, bs int64, readPct, threads, depth int, targets ...int) plan.Stream {
	return plan.Stream{
		Label: label, Workload: workload.Spec{RW: rw, BlockSize: bs, ReadPct: readPct, WorkingSet: unit.Share{Percent: 20}},
		Targets: targets, Threads: threads, IODepth: depth,
	}
}

func onePlan(label string, ramp, runtime time.Duration, streams ...plan.Stream) *plan.Plan {
	p := &plan.Plan{
		Schema: plan.Schema, Engine: "auto", Direct: true, CompleteMin: 1, Pin: "auto", Seed: 42,
		Phases: []plan.Phase{{Kind: plan.Measure, Points: []plan.Point{{
			Label: label, Ramp: plan.Duration(ramp), Runtime: plan.Duration(runtime),
			Interval: plan.Duration(time.Second), Streams: streams,
		}}}},
	}
	for range 2 {
		p.Targets = append(p.Targets, plan.Target{Spec: "/dev/example"})
	}
	return p
}

// load is what a test's device does in one second: I/Os of a direction with latencies around a
// middle, in nanoseconds.
type load struct {
	op     op.Op
	n      int
	bytes  uint64
	middle int64
	errors uint64
	short  uint64
}

// source makes rows as the runner would, and the point's result from them.
type source struct {
	rng    *rand.Rand
	cells  []runner.Cell // totals of the window
	rows   []*runner.Row
	ramp   uint64
	faults uint64
}

func newSource(p *plan.Point) *source {
	return &source{rng: rand.New(rand.NewPCG(1, 2)), cells: cellsOf(p)}
}

func cellsOf(p *plan.Point) []runner.Cell {
	var cells []runner.Cell
	for s := range p.Streams {
		for _, t := range p.Streams[s].Targets {
			cells = append(cells, runner.Cell{Stream: s, Target: t})
		}
	}
	return cells
}

// row adds a second that starts at second t of the window; loads has an entry per cell.
func (s *source) row(t int, length time.Duration, p *plan.Point, disks int, loads ...[]load) {
	row := &runner.Row{
		Ramp: t < 0, Start: time.Duration(t) * time.Second, Length: length,
		Wall: epoch.Add(time.Duration(t) * time.Second), Cells: cellsOf(p),
		Host: runner.Sample{
			CPU: host.CPUShare{UserPct: 12.5, SystemPct: 20.25, IOWaitPct: 0.5},
			Net: host.NetStats{RxBytes: 1000, TxBytes: 2000},
		},
	}
	for range disks {
		row.Host.Disks = append(row.Host.Disks, host.DiskStats{ReadIOs: 10, ReadBytes: 40960, IOTicksMS: 1000})
	}
	for i := range row.Cells {
		stream := &p.Streams[row.Cells[i].Stream]
		row.InFlight += int64(stream.Threads * stream.IODepth)
		for _, l := range loads[i] {
			s.fill(&row.Cells[i].Ops[l.op], l)
		}
		for o := range op.Count {
			stat := &row.Cells[i].Ops[o]
			s.faults += stat.Errors + stat.Short
			if row.Ramp {
				s.ramp += stat.Latency.Count()
			} else {
				s.cells[i].Ops[o].Merge(stat)
			}
		}
	}
	s.rows = append(s.rows, row)
}

func (s *source) fill(stat *runner.Stat, l load) {
	r := histogram.NewRecorder()
	for range l.n {
		v := l.middle/2 + int64(s.rng.Uint64()%uint64(l.middle))
		if s.rng.Uint64()%1000 == 0 {
			v *= 20 // a tail, as devices have
		}
		r.RecordN(v, 1)
	}
	stat.Latency.AddRecorder(r)
	stat.Bytes += uint64(l.n) * l.bytes
	stat.Errors += l.errors
	stat.Short += l.short
}

// result is what the runner returns after the rows.
func (s *source) result(p *plan.Point, peak int) *runner.Result {
	res := &runner.Result{
		Started: epoch.Add(-p.Ramp.D()), WindowStart: epoch, Window: p.Runtime.D(), Completed: true,
		Cells: s.cells, Ramp: p.Ramp.D(), RampIOs: s.ramp, Faults: s.faults,
		CPU:         host.CPUShare{UserPct: 12.5, SystemPct: 20.25, IOWaitPct: 0.5, StealPct: 0.125},
		Process:     host.ProcessTimes{User: 1500 * time.Millisecond, System: 4500 * time.Millisecond, MaxRSSBytes: 64 << 20},
		ProcessWall: 4 * time.Second,
	}
	for i := range s.cells {
		stream := &p.Streams[s.cells[i].Stream]
		for n := range stream.Threads {
			th := runner.Thread{
				Stream: s.cells[i].Stream, Target: s.cells[i].Target, CPU: n, Peak: min(peak, stream.IODepth),
				Engine: ioengine.Info{Name: "io_uring", Features: []string{"registered buffers", "registered files"}},
			}
			if n == 0 {
				for o := range op.Count {
					th.Issued[o] = s.cells[i].Ops[o].Latency.Count() + s.cells[i].Ops[o].Errors + s.cells[i].Ops[o].Short
				}
			}
			res.Threads = append(res.Threads, th)
		}
	}
	return res
}

// build feeds the rows to a Builder and finishes the point.
func (s *source) build(t testing.TB, d *Doc, p *plan.Point, res *runner.Result, keepRows bool) *Point {
	t.Helper()
	b := d.NewBuilder(plan.Measure, p, DefaultPercentiles, keepRows)
	for _, row := range s.rows {
		b.Row(row)
	}
	point, err := b.Finish(res, 42)
	if err != nil {
		t.Fatal(err)
	}
	return point
}

// singleDoc reads only, and everything went well.
func singleDoc(t testing.TB) *Doc {
	p := onePlan("randread 4k 4T/16Q", 0, 3*time.Second, stream("main", "randread", 4096, 100, 4, 16, 0))
	p.Targets = p.Targets[:1]
	d := newDoc(p, disk("sdx", 107374182400))
	point := &p.Phases[0].Points[0]
	s := newSource(point)
	for i := range 3 {
		s.row(i, time.Second, point, 1, []load{{op: op.Read, n: 40_000 + 1000*i, bytes: 4096, middle: 90_000}})
	}
	res := s.result(point, 16)
	res.Threads[0].Drained, res.Threads[0].Issued[op.Read] = 64, res.Threads[0].Issued[op.Read]+64
	s.build(t, d, point, res, true)
	return d
}

// mixedDoc reads and writes after a ramp, with warnings.
func mixedDoc(t testing.TB) *Doc {
	p := onePlan("randrw 70% read 8k 4T/64Q", time.Second, 2*time.Second, stream("main", "randrw", 8192, 70, 4, 64, 0))
	p.Targets, p.Destroy = p.Targets[:1], true
	d := newDoc(p, disk("sdx", 960197124096))
	point := &p.Phases[0].Points[0]
	s := newSource(point)
	mix := []load{{op: op.Read, n: 7000, bytes: 8192, middle: 240_000}, {op: op.Write, n: 3000, bytes: 8192, middle: 1_800_000}}
	s.row(-1, time.Second, point, 1, []load{{op: op.Read, n: 700, bytes: 8192, middle: 400_000}, {op: op.Write, n: 300, bytes: 8192, middle: 9_000_000}})
	s.row(0, time.Second, point, 1, mix)
	s.row(1, time.Second, point, 1, mix)
	res := s.result(point, 36)
	res.Threads[0].Issued[op.Read] += 700
	res.Threads[0].Issued[op.Write] += 300
	pt := s.build(t, d, point, res, true)
	pt.Warnings = []verdict.Warning{
		{Code: "depth_not_reached", Message: "64 I/Os per thread were asked for and at most 36 were in flight", Advice: "the device's queue takes 144; use fewer threads, or more virtual disks on more controllers, until what is asked for is what is measured"},
		{Code: "few_samples", Message: "p99.99 rests on 2 I/Os", Advice: "use --runtime 5m"},
	}
	d.Warnings = []verdict.Warning{{Code: "clock_slow", Message: "reading the clock costs 1700 ns <a third of a CPU & more>", Advice: "set clocksource=tsc"}}
	return d
}

// brokenDoc was interrupted on a device with errors, short transfers and I/Os that never came back.
func brokenDoc(t testing.TB) *Doc {
	p := onePlan("randwrite 4k 2T/4Q", 0, 60*time.Second, stream("main", "randwrite", 4096, 0, 2, 4, 0))
	p.Targets, p.ContinueOnError = p.Targets[:1], true
	d := newDoc(p, disk("sdx", 107374182400))
	point := &p.Phases[0].Points[0]
	s := newSource(point)
	s.row(0, time.Second, point, 1, []load{{op: op.Write, n: 1200, bytes: 4096, middle: 18_000_000, errors: 6, short: 1}})
	s.row(1, 500*time.Millisecond, point, 1, []load{{}})
	res := s.result(point, 4)
	res.Window, res.Completed, res.Interrupted = 1500*time.Millisecond, false, true
	for i := range 6 {
		res.Errors = append(res.Errors, runner.IOError{Op: op.Write, Offset: 1 << (20 + 2*i), Length: 4096, Errno: syscall.EIO, At: time.Duration(i+1) * 70 * time.Millisecond})
	}
	res.Errors = append(res.Errors, runner.IOError{Op: op.Write, Offset: 8192, Length: 4096, Got: 512, At: 800 * time.Millisecond})
	res.StuckIOs = 2
	res.Stuck = []runner.Stuck{
		{Op: op.Write, Offset: 40960, Length: 4096, Age: 31 * time.Second},
		{Op: op.Write, Offset: 107374178304, Length: 4096, Age: 30500 * time.Millisecond},
	}
	s.build(t, d, point, res, true)
	return d
}

// manyDoc has two streams on two targets.
func manyDoc(t testing.TB) *Doc {
	p := onePlan("oltp+log", 0, 2*time.Second,
		stream("oltp", "randrw", 8192, 70, 4, 8, 0, 1), stream("log", "write", 65536, 0, 1, 1, 1))
	file := &device.Facts{Path: "/srv/bench/with a long name, so that the table has to shorten it/data.img", Kind: "file", SizeBytes: 10 << 30}
	d := newDoc(p, disk("sdx", 107374182400), file)
	point := &p.Phases[0].Points[0]
	s := newSource(point)
	for i := range 2 {
		s.row(i, time.Second, point, 2,
			[]load{{op: op.Read, n: 3500, bytes: 8192, middle: 300_000}, {op: op.Write, n: 1500, bytes: 8192, middle: 500_000}},
			[]load{{op: op.Read, n: 700, bytes: 8192, middle: 900_000}, {op: op.Write, n: 300, bytes: 8192, middle: 700_000}},
			[]load{{op: op.Write, n: 90, bytes: 65536, middle: 15_000_000}, {op: op.Sync, n: 9, middle: 25_000_000}})
	}
	s.build(t, d, point, s.result(point, 16), true)
	return d
}

// trimsDoc trims and writes each block, and syncs now and then; one sync failed.
func trimsDoc(t testing.TB) *Doc {
	p := onePlan("trimwrite 64k fsync 100 1T/1Q", 0, 2*time.Second, stream("main", "trimwrite", 65536, 0, 1, 1, 0))
	p.Targets = p.Targets[:1]
	w := &p.Phases[0].Points[0].Streams[0].Workload
	w.TrimWith, w.Fsync, w.Durable = workload.WriteZeroes, 100, true
	d := newDoc(p, disk("sdx", 107374182400))
	point := &p.Phases[0].Points[0]
	s := newSource(point)
	for i := range 2 {
		s.row(i, time.Second, point, 1, []load{
			{op: op.Write, n: 2000, bytes: 65536, middle: 250_000}, {op: op.Trim, n: 2000, bytes: 65536, middle: 90_000},
			{op: op.Sync, n: 20, middle: 1_500_000, errors: uint64(i)},
		})
	}
	s.build(t, d, point, s.result(point, 1), true)
	return d
}

// emptyDoc completed no I/O: its engine broke in the ramp.
func emptyDoc(t testing.TB) *Doc {
	p := onePlan("randread 4k 1T/1Q", 10*time.Second, 60*time.Second, stream("main", "randread", 4096, 100, 1, 1, 0))
	p.Targets = p.Targets[:1]
	d := newDoc(p, disk("sdx", 107374182400))
	point := &p.Phases[0].Points[0]
	s := newSource(point)
	res := s.result(point, 1)
	res.Window, res.Completed, res.Failed = 0, false, errors.New("io_uring: enter: invalid argument")
	s.build(t, d, point, res, true)
	return d
}

// sweepDoc has a fill and three points, the last one cut short.
func sweepDoc(t testing.TB) *Doc {
	p := onePlan("", 0, time.Second, stream("main", "randread", 4096, 100, 1, 1, 0))
	p.Targets = p.Targets[:1]
	fill := onePlan("fill 1m 1T/4Q", 0, time.Second, stream("fill", "write", 1<<20, 0, 1, 4, 0)).Phases[0]
	fill.Kind = "fill"
	p.Phases = append([]plan.Phase{fill}, p.Phases...)
	d := newDoc(p, &device.Facts{Path: "/var/tmp/blkstorm.img", Kind: "file", SizeBytes: 1 << 30})
	s := newSource(&fill.Points[0])
	s.row(0, time.Second, &fill.Points[0], 0, []load{{op: op.Write, n: 1024, bytes: 1 << 20, middle: 3_900_000}})
	s.build(t, d, &fill.Points[0], s.result(&fill.Points[0], 4), false).Phase = "fill"
	for i, depth := range []int{1, 4, 16} {
		st := stream("main", "randread", 4096, 100, 1, depth, 0)
		point := plan.Point{Label: fmt.Sprintf("randread 4k 1T/%dQ", depth), Runtime: plan.Duration(time.Second), Streams: []plan.Stream{st}}
		s := newSource(&point)
		s.row(0, time.Second, &point, 0, []load{{op: op.Read, n: 9000 * depth, bytes: 4096, middle: 100_000 + int64(i)*8000}})
		res := s.result(&point, depth)
		if depth == 16 {
			res.Completed, res.Interrupted, res.Window = false, true, 700*time.Millisecond
		}
		s.build(t, d, &point, res, false)
	}
	return d
}
