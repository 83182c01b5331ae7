package published

import (
	"fmt"
	"strconv"
)

// corners has a row per corner.
func corners(r *run) []Table {
	figures := []figure{iops, megabytes, average, p99, maximum}
	t := Table{Title: "the four corners", Corner: "corner", Columns: append([]Head{{"T/Q", ""}}, heads(figures)...)}
	for _, p := range r.measured() {
		row := Row{Head: Head{Name: name(p.spec())}, Cells: []Cell{text(depth(p.plan))}}
		row.Cells = append(row.Cells, cells(p.Point, figures)...)
		t.Rows = append(t.Rows, row)
	}
	return []Table{t}
}

// threadRamp has a row per number of threads, with the latencies of the Scaled OLTP articles.
func threadRamp(r *run) (list []Table) {
	for _, p := range r.preconditioned() {
		list = append(list, overTime("preconditioning at "+depth(p.plan), &p))
	}
	figures := []figure{iops, megabytes, average, p99}
	t := Table{Title: "per number of threads", Corner: "threads", Columns: append(heads(figures), Head{"Average 99th Percentile", "ms"}, busy.Head)}
	for _, p := range r.measured() {
		threads := 0
		if len(p.plan.Streams) > 0 {
			threads = p.plan.Streams[0].Threads
		}
		row := Row{Head{Name: strconv.Itoa(threads)}, cells(p.Point, figures)}
		row.Cells = append(row.Cells, averageP99(&p), busy.of(p.Point))
		t.Rows = append(t.Rows, row)
		if len(t.Notes) == 0 && len(p.History) > 0 && p.History[0] != nil {
			t.Notes = []string{fmt.Sprintf("Average 99th Percentile: the mean of the 99th percentiles of parts of %.4g s of the test; 99th Percentile is of all its I/Os.",
				p.History[0].LengthS)}
		}
	}
	return append(list, t)
}

// averageP99 is the mean of the 99th percentiles of the parts of a point.
func averageP99(p *point) Cell {
	if p.Skipped != "" {
		return text("skipped")
	}
	sum, n := 0.0, 0
	for _, h := range p.History {
		if h != nil && h.Total.IOs > 0 {
			sum, n = sum+float64(h.Total.P99), n+1
		}
	}
	if n == 0 {
		return none()
	}
	return Cell{Value: sum / float64(n) / 1e6, Partial: !p.Completed}
}
