package result

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"blkstorm/device"
	"blkstorm/histogram"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/runner"
)

// rowOn makes a row of a mixed stream on n disks as the runner hands it on, with latencies around
// 80 µs and a tail that reaches some milliseconds.
func rowOn(n int) (*Builder, *runner.Row) {
	var targets []int
	var disks []*device.Facts
	for i := range n {
		targets = append(targets, i)
		disks = append(disks, disk(fmt.Sprintf("sd%c", 'a'+i), 1<<30))
	}
	p := onePlan("a", 0, time.Second, stream("", "randrw", 4096, 70, 1, 1, targets...))
	point := &p.Phases[0].Points[0]
	s := newSource(point)
	s.row(0, time.Second, point, n, make([][]load, n)...)
	row := s.rows[0]
	rng := rand.New(rand.NewPCG(1, 2))
	r := histogram.NewRecorder()
	for i := range row.Cells {
		for _, o := range []op.Op{op.Read, op.Write} {
			r.Reset()
			for range 10_000 {
				r.Record(int64(80e3 * math.Exp(rng.NormFloat64())))
			}
			row.Cells[i].Ops[o].Latency.AddRecorder(r)
		}
	}
	return newDoc(p, disks...).NewBuilder(plan.Measure, point, nil, false), row
}

// A row allocates itself, its disks' counters and targets, and the numbers that mean and deviation are
// computed in. No histogram: those have 264 KiB each.
func TestRowAllocations(t *testing.T) {
	for targets, limit := range map[int]float64{1: 60, 16: 60 * 17} {
		b, row := rowOn(targets)
		b.Row(row)
		if n := testing.AllocsPerRun(20, func() { b.Row(row) }); n > limit {
			t.Errorf("%d targets: %g allocations per row, at most %g", targets, n, limit)
		}
		const rows = 20
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range rows {
			b.Row(row)
		}
		runtime.ReadMemStats(&after)
		bytes := (after.TotalAlloc - before.TotalAlloc) / rows
		if limit := uint64(targets+1) * 4096; bytes > limit {
			t.Errorf("%d targets: %d bytes per row, at most %d", targets, bytes, limit)
		}
	}
}

// A row is the sum of its cells, whoever has them: here, a second stream on one target, cells that only
// failed, and one without anything.
func TestRowSumsCells(t *testing.T) {
	b, row := rowOn(3)
	row.Cells = append(row.Cells, runner.Cell{Target: 0}, runner.Cell{Target: 1})
	row.Cells[3].Ops[op.Read].Merge(&row.Cells[2].Ops[op.Read])
	row.Cells[3].Ops[op.Read].Short = 5
	row.Cells[4].Ops[op.Read].Errors = 7
	row.Cells[4].Ops[op.Trim].Errors = 3
	for range 2 { // the Builder's own memory is used again
		in := b.Row(row)
		for i, target := range append(in.Targets, IntervalTarget{Read: in.Read, Write: in.Write, Trim: in.Trim}) {
			sum := merged(row.Cells, func(c runner.Cell) bool { return i == len(in.Targets) || c.Target == i })
			for o, got := range map[op.Op]IntervalStat{op.Read: target.Read, op.Write: target.Write, op.Trim: target.Trim} {
				if want := intervalStat(&sum[o]); got != want {
					t.Errorf("target %d, %v: %+v, want %+v", i, o, got, want)
				}
			}
		}
		if in.Targets[0].Read.IOs != 20_000 || in.Targets[1].Read.Errors != 7 || in.Trim.Errors != 3 || in.Read.Short != 5 {
			t.Errorf("%+v", in)
		}
	}
}

func BenchmarkRow(b *testing.B) {
	for _, targets := range []int{1, 16} {
		b.Run(fmt.Sprint(targets), func(b *testing.B) {
			builder, row := rowOn(targets)
			b.ReportAllocs()
			for b.Loop() {
				builder.Row(row)
			}
		})
	}
}
