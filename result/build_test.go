package result

import (
	"math"
	"syscall"
	"testing"
	"time"

	"blkstorm/histogram"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/runner"
)

func TestIntervalsSumToTotal(t *testing.T) {
	for name, make := range documents {
		for _, p := range make(t).Points {
			if p.Intervals == nil {
				continue
			}
			sums := map[string]*[4]uint64{"read": {}, "write": {}, "trim": {}}
			for i, in := range p.Intervals {
				if in.Ramp || in.TS < 0 || in.Label != p.Label || i > 0 && in.TS <= p.Intervals[i-1].TS {
					t.Errorf("%s: row %d is out of place: %+v", name, i, in)
				}
				for key, s := range map[string]IntervalStat{"read": in.Read, "write": in.Write, "trim": in.Trim} {
					sum := sums[key]
					sum[0], sum[1], sum[2], sum[3] = sum[0]+s.IOs, sum[1]+s.Bytes, sum[2]+s.Errors, sum[3]+s.Short
				}
			}
			var all [4]uint64
			for _, d := range []figure{{"read", p.Read}, {"write", p.Write}, {"trim", p.Trim}} {
				if got := stat4(d.stat); got != *sums[d.name] {
					t.Errorf("%s: %s is %v, its rows sum to %v", name, d.name, got, *sums[d.name])
				}
				for i, n := range stat4(d.stat) {
					all[i] += n
				}
			}
			if got := stat4(p.Total); got != all {
				t.Errorf("%s: total is %v, the directions sum to %v", name, got, all)
			}
		}
	}
}

func stat4(s *Stat) [4]uint64 { return [4]uint64{s.IOs, s.Bytes, s.Errors, s.Short} }

func TestRatesAreCountsOverWindow(t *testing.T) {
	for name, make := range documents {
		for _, p := range make(t).Points {
			for _, s := range []*Stat{p.Total, p.Read, p.Write, p.Trim, p.Sync, p.Streams[0].Total, p.Targets[0].Total} {
				iops, rate := 0.0, 0.0
				if p.WindowS > 0 {
					iops, rate = float64(s.IOs)/p.WindowS, float64(s.Bytes)/p.WindowS
				}
				if math.Abs(s.IOPS-iops) > 1e-9*iops || math.Abs(s.BytesPerS-rate) > 1e-9*rate {
					t.Errorf("%s: %g IOPS %g B/s, want %g and %g", name, s.IOPS, s.BytesPerS, iops, rate)
				}
			}
		}
	}
}

func TestStreamsAndTargets(t *testing.T) {
	p := manyDoc(t).Points[0]
	if len(p.Streams) != 2 || len(p.Targets) != 2 {
		t.Fatalf("%d streams, %d targets", len(p.Streams), len(p.Targets))
	}
	for _, c := range []struct {
		name string
		got  *Stat
		want uint64
	}{
		{"oltp", p.Streams[0].Total, 2 * (5000 + 1000)},
		{"oltp reads", p.Streams[0].Read, 2 * (3500 + 700)},
		{"log", p.Streams[1].Total, 2 * 90}, // no syncs: they are no I/Os of the workload
		{"log syncs", p.Streams[1].Sync, 2 * 9},
		{"first target", p.Targets[0].Total, 2 * 5000},
		{"second target", p.Targets[1].Total, 2 * (1000 + 90)},
		{"point", p.Total, 2 * 6090},
	} {
		if c.got.IOs != c.want || c.got.Latency.Count != c.want {
			t.Errorf("%s: %d I/Os, %d latencies, want %d", c.name, c.got.IOs, c.got.Latency.Count, c.want)
		}
	}
	row := p.Intervals[0]
	if len(row.Targets) != 2 || row.Targets[0].Read.IOs != 3500 || row.Targets[1].Write.IOs != 300+90 || row.Read.IOs != 4200 {
		t.Errorf("row by target: %+v", row.Targets)
	}
	if row.DiskStats[0] == nil || row.DiskStats[1] != nil {
		t.Error("the disk has counters and the file has none, and the row says otherwise")
	}
	if p.Threads != 4 || p.IODepth != 8 || p.IODepthEffective != 8 || p.InFlight != 65 || len(p.PerThread) != 9 {
		t.Errorf("%dT/%dQ, effective %d, in flight %d, %d threads", p.Threads, p.IODepth, p.IODepthEffective, p.InFlight, len(p.PerThread))
	}
}

func TestRamp(t *testing.T) {
	p := mixedDoc(t).Points[0]
	if p.RampIOs != 1000 || len(p.RampIntervals) != 1 || !p.RampIntervals[0].Ramp || p.RampIntervals[0].TS != -1 {
		t.Errorf("ramp: %d I/Os, rows %+v", p.RampIOs, p.RampIntervals)
	}
	if p.Issued.Sum() != p.RampIOs+p.Total.IOs+p.Drained+p.Faults || p.Total.IOs != 20_000 {
		t.Errorf("issued %d is not ramp %d + window %d", p.Issued.Sum(), p.RampIOs, p.Total.IOs)
	}
}

func TestRowsAreNotKept(t *testing.T) {
	for _, p := range sweepDoc(t).Points {
		if p.Intervals != nil || p.RampIntervals != nil {
			t.Error("rows were kept")
		}
		if p.Total.IOs == 0 || p.InFlight == 0 {
			t.Error("figures went with the rows")
		}
	}
}

func TestEffectiveDepthIsTheFirstStreams(t *testing.T) {
	p := onePlan("a", 0, time.Second, stream("a", "read", 4096, 100, 1, 8, 0), stream("b", "read", 4096, 100, 1, 2, 0))
	d := newDoc(p, disk("sdx", 1<<30))
	point := &p.Phases[0].Points[0]
	res := newSource(point).result(point, 8)
	res.Threads[0], res.Threads[1] = res.Threads[1], res.Threads[0]
	res.Threads[0].Engine.Name = "psync"
	got := newSource(point).build(t, d, point, res, false)
	if got.IODepthEffective != 8 || got.EngineName != "io_uring" {
		t.Errorf("effective depth %d, engine %s", got.IODepthEffective, got.EngineName)
	}
}

func TestErrorNames(t *testing.T) {
	p := brokenDoc(t).Points[0]
	if e := p.Errors[0]; e.Name != "EIO" || e.Errno != 5 || e.Op != "write" || e.Target != "/dev/sdx" || e.TS != 0.07 {
		t.Errorf("%+v", e)
	}
	if e := p.Errors[6]; e.Name != "short" || e.Errno != 0 || e.Message != "short transfer: 512 of 4096 bytes" {
		t.Errorf("%+v", e)
	}
	pl := onePlan("a", 0, time.Second, stream("a", "read", 4096, 100, 1, 1, 0))
	b := newDoc(pl, disk("sdx", 1<<30)).NewBuilder(plan.Measure, &pl.Phases[0].Points[0], nil, false)
	if e := b.ioError(&runner.IOError{Errno: syscall.Errno(4000)}); e.Name != "unknown" || e.Errno != 4000 {
		t.Errorf("%+v", e)
	}
}

// TestDeviationCanBeRestored: 0.5 rounds to 1, which no two values one apart can have.
func TestDeviationCanBeRestored(t *testing.T) {
	p := onePlan("a", 0, time.Second, stream("a", "read", 4096, 100, 1, 1, 0))
	d := newDoc(p, disk("sdx", 1<<30))
	point := &p.Phases[0].Points[0]
	s := newSource(point)
	r := histogram.NewRecorder()
	r.RecordN(1000, 1)
	r.RecordN(1001, 1)
	s.cells[0].Ops[op.Read].Latency.AddRecorder(r)
	got := s.build(t, d, point, s.result(point, 1), false)
	if l := got.Read.Latency; l.Count != 2 || l.StdDev != 0 {
		t.Errorf("%+v", l)
	}
	doc := asJSON(t, d)
	checkStats(t, doc["points"].([]any)[0].(map[string]any))
}
