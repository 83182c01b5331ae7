package published

import (
	"fmt"
	"math"

	"blkstorm/plan"
	"blkstorm/threshold"
)

// driveSpec has the figures of a data sheet, and, where the plan has claims, how near to them the drive
// came.
func driveSpec(r *run) []Table {
	figures := []figure{
		{Head{"Bandwidth", "MB/s"}, "total", "bw", 1e6}, {Head{"Bandwidth", "MiB/s"}, "total", "bw", 1 << 20}, iops,
		{Head{"Access Latency", "µs"}, "total", "latency.mean", 1e3}, {Head{"99th Percentile", "µs"}, "total", "latency.p99", 1e3},
	}
	sheet := Table{Title: "as in a data sheet", Corner: "workload", Columns: append([]Head{{"T/Q", ""}}, heads(figures)...)}
	for _, p := range r.measured() {
		row := Row{Head: Head{Name: name(p.spec())}, Cells: []Cell{text(depth(p.plan))}}
		row.Cells = append(row.Cells, cells(p.Point, figures)...)
		sheet.Rows = append(sheet.Rows, row)
	}
	sheet.Notes = []string{"MB = 10^6 bytes, MiB = 2^20. Access Latency is the average; at 1T/1Q it is that of the drive, at more it has the queue in it."}
	if r.doc.Plan.Claims == nil {
		return []Table{sheet}
	}
	return []Table{claimed(r, r.doc.Plan.Claims), sheet}
}

// shownUnit is the unit of a claim as all of the output writes it; data sheets have both forms.
func shownUnit(unit string) string {
	if unit == "us" {
		return "µs"
	}
	return unit
}

// claimed has a row per claim, in the unit of the data sheet.
func claimed(r *run, c *plan.Claims) Table {
	t := Table{Title: "measured against claimed: " + c.Drive, Corner: "claim", Columns: []Head{{Name: "claimed"}, {Name: "measured"}, {Name: "of claimed"}}}
	for i := range c.Values {
		v := &c.Values[i]
		what, measured := v.Point, none()
		for _, p := range r.measured() {
			if p.Label != v.Point {
				continue
			}
			what = name(p.spec()) + ", " + depth(p.plan)
			if direction, key, err := threshold.ParseFigure(v.Figure); err == nil {
				measured = figure{Head{}, direction, key, 1}.of(p.Point)
			}
		}
		share := none()
		if measured.Text == "" && v.Value > 0 && !math.IsNaN(measured.Value) {
			share = text(fmt.Sprintf("%.1f %%", 100*measured.Value/v.Value))
		}
		measured.Value = v.InUnit(measured.Value)
		t.Rows = append(t.Rows, Row{Head{what + ": " + v.Figure, shownUnit(v.Unit)}, []Cell{number(v.InUnit(v.Value)), measured, share}})
	}
	t.Notes = []string{"MB = 10^6 bytes, MiB = 2^20, GB = 10^9. Of a latency, over 100 % is slower than claimed."}
	if n := len(r.doc.Targets); n > 1 {
		t.Notes = append(t.Notes, fmt.Sprintf("the claims are of one of the %d devices: %d00 %% of IOPS and bandwidth is what all of them are claimed to do", n, n))
	}
	if c.Source != "" {
		t.Notes = append(t.Notes, "claimed by "+c.Source)
	}
	return t
}
