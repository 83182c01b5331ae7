package published

import (
	"fmt"
	"math"
	"slices"
)

// streams has a table per point, with a row per stream: several run at once.
func streams(r *run) (list []Table) {
	figures := []figure{
		iops, megabytes, latency("Average", "total", "mean"), latency("95th", "total", "p95"), latency("99th", "total", "p99"), latency("Max", "total", "max"),
		{Head{"Response", "ms"}, "total", "response.mean", 1e6}, {Head{"Response 99th", "ms"}, "total", "response.p99", 1e6},
		latency("Sync", "sync", "mean"),
	}
	for _, p := range r.measured() {
		t := Table{Title: p.Label, Corner: "stream", Columns: append([]Head{{"T/Q", ""}}, heads(figures)...)}
		if p.Skipped != "" {
			t.Rows = []Row{{Head{Name: "skipped"}, nil}}
			list = append(list, t)
			continue
		}
		for i, s := range p.Streams {
			if s == nil || i >= len(p.plan.Streams) {
				continue
			}
			one := *p.Point // with the stream's figures in place of all
			one.Total, one.Read, one.Write, one.Trim, one.Sync = s.Total, s.Read, s.Write, s.Trim, s.Sync
			row := Row{Head: Head{Name: streamName(i, &p)}, Cells: []Cell{text(fmt.Sprintf("%dT/%dQ", s.Threads, s.IODepth))}}
			row.Cells = append(row.Cells, cells(&one, figures)...)
			t.Rows = append(t.Rows, row)
		}
		if len(t.Rows) > 1 {
			row := Row{Head: Head{Name: "all"}, Cells: []Cell{none()}}
			row.Cells = append(row.Cells, cells(p.Point, figures)...)
			t.Rows = append(t.Rows, row)
		}
		t.dropEmpty(6) // not all have these
		note := "Average, 95th, 99th, Max: service time."
		for _, c := range t.Columns {
			note += streamNotes[c.Name]
		}
		t.Notes = []string{note}
		list = append(list, t)
	}
	return list
}

// streamNotes say what columns are that not all tables have.
var streamNotes = map[string]string{
	"Response": " Response: from the planned moment of each I/O, of streams at a rate.",
	"Sync":     " Sync: the average of syncs, which are in no other column.",
}

// dropEmpty takes out the columns from the given one on in which no row has anything.
func (t *Table) dropEmpty(from int) {
	for j := len(t.Columns) - 1; j >= from; j-- {
		if slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Cells[j].Text != "" || !math.IsNaN(r.Cells[j].Value) }) {
			continue
		}
		t.Columns = slices.Delete(t.Columns, j, j+1)
		for i := range t.Rows {
			t.Rows[i].Cells = slices.Delete(t.Rows[i].Cells, j, j+1)
		}
	}
}

// streamName is a stream's label, and what it does.
func streamName(i int, p *point) string {
	s := &p.plan.Streams[i]
	if s.Label == "" {
		return name(&s.Workload)
	}
	return s.Label + " (" + name(&s.Workload) + ")"
}
