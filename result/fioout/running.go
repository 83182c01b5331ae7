package fioout

import (
	"time"

	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/runner"
)

// tally is what a stream of the running point has done so far.
type tally struct {
	ops    [op.Count]runner.Stat
	series [op.Count]result.Series
	begun  time.Duration // since the window's start
	ended  time.Duration
	any    bool
}

// PointBegin forgets the point before.
func (in *Input) PointBegin(p *plan.Point) {
	in.running = nil
	if p == nil {
		return
	}
	in.running = make([]*tally, len(p.Streams))
	for i := range in.running {
		in.running[i] = &tally{}
	}
}

// Cells takes in a row of the running point.
func (in *Input) Cells(_ *plan.Point, row *runner.Row) {
	if row.Ramp || in.running == nil {
		return
	}
	if row.Index == 0 {
		in.began = row.Wall
	}
	for i := range row.Cells {
		t := in.running[row.Cells[i].Stream]
		for o := range t.ops {
			s := &row.Cells[i].Ops[o]
			if s.Latency.Count() == 0 {
				continue
			}
			if !t.any {
				t.begun, t.any = row.Start, true
			}
			t.ended = row.Start + row.Length
			t.series[o].IOPS.Add(float64(s.Latency.Count()) / row.Length.Seconds())
			t.series[o].BytesPerS.Add(float64(s.Bytes) / row.Length.Seconds())
			t.ops[o].Merge(s)
		}
	}
}

// addRunning takes in a stream of the running point.
func (r *report) addRunning(in *Input, index int) {
	t := in.running[index]
	if r.started.IsZero() && t.any {
		r.started = in.began
	}
	run := t.ended - t.begun
	r.runtime = max(r.runtime, run)
	r.summed += run
	r.elapsed = max(r.elapsed, in.Now.Sub(in.Doc.Started))
	for o := range t.ops {
		s := &t.ops[o]
		if s.Latency.Count() == 0 {
			continue
		}
		d := &r.ops[o]
		d.ios += s.Latency.Count()
		d.bytes += s.Bytes
		d.short += s.Short
		d.dropped += s.Zero
		d.runtime = max(d.runtime, inMS(run))
		d.latency.Merge(&s.Latency)
		d.series = append(d.series, t.series[o])
	}
}
