package published

import (
	"encoding/json"
	"fmt"
	"slices"
)

// storageReview has the figures of the SSD reviews: throughput, average latency, max latency and
// standard deviation, over time while a device is preconditioned with each workload, and of the main
// test, whose 8K 70/30 is a sweep over threads and queue.
func storageReview(r *run) (list []Table) {
	for _, p := range r.preconditioned() {
		list = append(list, overTime(fmt.Sprintf("%s, preconditioning at %s", name(p.spec()), depth(p.plan)), &p))
	}
	groups := byWorkload(r.measured())
	single := Table{Title: "main test", Corner: "workload", Columns: append([]Head{{"T/Q", ""}}, heads(reviewed)...)}
	var sweeps, times []Table
	var alone []point
	for _, g := range groups {
		if len(g) > 1 {
			sweeps = append(sweeps, threadsAndQueue(g))
			times = append(times, sideBySide(name(g[0].spec())+", main test over time", g, func(p *point) string { return depth(p.plan) })...)
			continue
		}
		alone = append(alone, g[0])
		row := Row{Head: Head{Name: name(g[0].spec())}, Cells: []Cell{text(depth(g[0].plan))}}
		row.Cells = append(row.Cells, cells(g[0].Point, reviewed)...)
		single.Rows = append(single.Rows, row)
	}
	list = append(append(list, single), sweeps...)
	if len(alone) > 0 {
		list = append(list, sideBySide("main test over time", alone, func(p *point) string { return name(p.spec()) })...)
	}
	list = append(list, times...)
	if i := slices.IndexFunc(list, func(t Table) bool { return len(t.Rows) > 0 }); i >= 0 {
		list[i].Notes = append([]string{reviewNote}, list[i].Notes...)
	}
	return list
}

const reviewNote = "Throughput: read + write; MB are 10^6 bytes. Average Latency, Standard Deviation: of all I/Os, reads and writes together. " +
	"Max Latency: the peak of reads or writes, whichever is higher."

// reviewed are the figures of the articles.
var reviewed = []figure{throughput, megabytes, average, maximum, deviation}

// byWorkload groups points that do the same at different T/Q, in order.
func byWorkload(points []point) (groups [][]point) {
	index := map[string]int{}
	for _, p := range points {
		key, err := json.Marshal(p.spec())
		if err != nil {
			key = []byte(p.Label) // cannot happen: plans are marshalled into every document
		}
		i, ok := index[string(key)]
		if !ok {
			i = len(groups)
			index[string(key)] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], p)
	}
	return groups
}

// threadsAndQueue has a column per T/Q, as the charts of the articles do.
func threadsAndQueue(points []point) Table {
	t := Table{Title: fmt.Sprintf("%s, main test %s to %s", name(points[0].spec()), depth(points[0].plan), depth(points[len(points)-1].plan)), Corner: "T/Q"}
	for _, p := range points {
		t.Columns = append(t.Columns, Head{Name: depth(p.plan)})
	}
	figures := []figure{throughput, megabytes, average, maximum}
	if mixed(points[0].spec()) {
		figures = append(figures, peakRead, peakWrite)
	}
	for _, f := range append(figures, deviation) {
		row := Row{Head: f.Head}
		for _, p := range points {
			row.Cells = append(row.Cells, f.of(p.Point))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
