package published

import (
	"blkstorm/plan"
	"blkstorm/result"
)

// sniaSaturation has the report of the write saturation test (SNIA SSS PTS 2.0.2, WSAT): IOPS and
// latency over time and over the gigabytes written, from the first write on.
func sniaSaturation(r *run) []Table {
	var list []*result.Slice
	end := 0.0
	for i := range r.points {
		p := &r.points[i]
		if p.Phase != plan.Measure && p.Phase != plan.Precondition || p.Skipped != "" || !p.spec().Writes() {
			continue
		}
		slices := p.History
		if len(slices) == 0 {
			slices = []*result.Slice{whole(p.Point)}
		}
		for _, s := range slices {
			if s == nil {
				continue
			}
			moved := *s
			moved.TS += end
			list = append(list, &moved)
		}
		end += p.WindowS
	}
	figures := timeFigures(false)
	t := Table{Title: "Write Saturation: IOPS over time and TGBW", Corner: "until", Columns: []Head{{"TGBW", "GB"}}}
	for _, f := range figures {
		t.Columns = append(t.Columns, f.Head)
	}
	written := 0.0
	rows := parts(list, maxTimes)
	for i := range rows {
		p := &rows[i]
		written += p.written
		row := p.row(clock(p.start+p.length), figures)
		row.Cells = append([]Cell{number(written / 1e9)}, row.Cells...)
		t.Rows = append(t.Rows, row)
	}
	t.Notes = []string{"TGBW: total gigabytes (10^9 bytes) written since the first write of the test"}
	return append(append(r.setup(), t), r.convergence()...)
}

// whole is all of a point as one slice.
func whole(p *result.Point) *result.Slice {
	of := func(s *result.Stat) result.IntervalStat {
		if s == nil || s.Latency == nil {
			return result.IntervalStat{}
		}
		return result.IntervalStat{IOs: s.IOs, Bytes: s.Bytes, Mean: s.Latency.Mean, StdDev: s.Latency.StdDev, Max: s.Latency.Max}
	}
	return &result.Slice{LengthS: p.WindowS, Total: of(p.Total), Read: of(p.Read), Write: of(p.Write), Trim: of(p.Trim)}
}
