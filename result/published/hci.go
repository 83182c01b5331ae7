package published

import "fmt"

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
	s.Notes = []string{"Little's law: IOPS x average latency is how many I/Os were in flight on average. Well below what was asked, the disks were not kept busy; well above, the figures do not belong together."}
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
