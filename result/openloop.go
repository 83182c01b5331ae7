package result

import (
	"blkstorm/op"
	"blkstorm/runner"
)

// openLoop adds response times and what became of the planned I/Os to the figures of the cells that
// keep wants, if any of them has planned times. Syncs are never planned.
func (b *Builder) openLoop(m *maker, res *runner.Result, keep func(runner.Cell) bool, ops *[op.Count]runner.Stat, total, read, write, trim *Stat) {
	open, undrawn, backlog := false, uint64(0), int64(0)
	for i := range res.Cells {
		c := &res.Cells[i]
		if !keep(runner.Cell{Stream: c.Stream, Target: c.Target}) || !b.point.Streams[c.Stream].Pacing.Open() {
			continue
		}
		open = true
		undrawn += c.Undrawn
		backlog = max(backlog, int64(c.Backlog))
	}
	if !open {
		return
	}
	var sum runner.Stat
	for _, d := range []struct {
		op   op.Op
		stat *Stat
	}{{op.Read, read}, {op.Write, write}, {op.Trim, trim}} {
		one := &ops[d.op]
		sum.Merge(one)
		d.stat.OpenLoop = m.openLoop(one)
		if one.Missed > 0 {
			d.stat.BacklogNS = backlog
		}
	}
	total.OpenLoop = m.openLoop(&sum)
	total.Missed += undrawn
	total.BacklogNS = backlog
}

func (m *maker) openLoop(s *runner.Stat) *OpenLoop {
	return &OpenLoop{Response: m.latency(&s.Response), Offered: s.Offered, Late: s.Late, Missed: s.Missed}
}
