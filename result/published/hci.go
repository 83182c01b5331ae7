package published

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// mebibytes is what HCIBench and the reviews that use it call MB/s.
var mebibytes = figure{Head{"Throughput", "MiB/s"}, "total", "bw", 1 << 20}

// hcibench has a row per profile, as HCIBench's result has: reads and writes apart, and Little's law.
func hcibench(r *run) []Table {
	figures := []figure{
		iops, mebibytes, average, latency("Read Latency", "read", "mean"), latency("Write Latency", "write", "mean"), p95,
	}
	t := Table{Title: "per profile", Corner: "profile", Columns: heads(figures)}
	apart := []figure{
		{Head{"Read", "IOPS"}, "read", "iops", 1}, {Head{"Read", "MiB/s"}, "read", "bw", 1 << 20},
		{Head{"Write", "IOPS"}, "write", "iops", 1}, {Head{"Write", "MiB/s"}, "write", "bw", 1 << 20},
	}
	s := Table{Title: "reads and writes apart, and Little's law", Corner: "profile",
		Columns: append(heads(apart), Head{"In flight", "asked"}, Head{"IOPS x latency", "in flight"})}
	for _, p := range r.measured() {
		head := Head{Name: name(p.spec())}
		t.Rows = append(t.Rows, Row{head, cells(p.Point, figures)})
		row := Row{head, cells(p.Point, apart)}
		row.Cells = append(row.Cells, number(float64(inFlight(p.plan))), little(&p))
		s.Rows = append(s.Rows, row)
	}
	t.Notes = []string{"Throughput is in MiB/s (2^20 bytes), which HCIBench and the reviews call MB/s. Latencies are averages over all I/Os of all disks."}
	s.Notes = []string{"Little's law: IOPS x average latency is how many I/Os were in flight on average. Well below what was asked, the disks were not kept busy; above, the figures do not belong together."}
	if n := len(r.doc.Targets); n > 1 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d disks together", n))
	}
	return []Table{t, s}
}

// little is how many I/Os must have been in flight on average.
func little(p *point) Cell {
	rate, mean := throughput.of(p.Point), average.of(p.Point)
	if rate.Text != "" {
		return rate
	}
	return Cell{Value: rate.Value * mean.Value / 1e3, Partial: rate.Partial}
}

// cacheMatrix has block sizes against the share of writes.
func cacheMatrix(r *run) (list []Table) {
	for _, f := range []struct {
		figure
		title string
	}{{iops, "IOPS"}, {megabytes, "MB/s"}, {average, "average latency in ms"}} {
		var m matrix
		for _, p := range r.measured() {
			if pct := readPct(p.spec()); pct >= 0 {
				m.set(p.spec().MaxBlock(), int64(100-pct), f.of(p.Point))
			}
		}
		list = append(list, m.table(f.title, "block size", size, func(v int64) string { return fmt.Sprintf("%d%% Write", v) }))
	}
	return list
}

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
		t.Notes = []string{"Average, 95th, 99th, Max: service time. Response: from the planned moment of each I/O; only streams at a rate have it. Sync: the average of syncs, which no other column has."}
		t.dropEmpty(6) // not all have these
		list = append(list, t)
	}
	return list
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
