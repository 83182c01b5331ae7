package result

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"

	"blkstorm/host"
)

// IntervalCSV writes interval rows as CSV, as they come: a line per row and, where a row has several
// targets, a line for each of them after it. The column "scope" tells them apart: "all" and "target". Of the
// machine (in flight, CPU, network) the figures stand in lines of all, of a target (disk, temperature) in its
// own; where a point uses one target only, they are in the line of all. Columns may be added at the end of a later version; names stay. Text is as in
// WriteCSV, and so are numbers; a latency of no I/O is empty.
type IntervalCSV struct {
	doc   *Doc
	out   *bufio.Writer
	csv   *csv.Writer
	begun bool
}

// NewIntervalCSV makes a writer for rows of d. Close it, or the end is missing.
func NewIntervalCSV(w io.Writer, d *Doc) *IntervalCSV {
	out := bufio.NewWriterSize(w, 1<<16)
	return &IntervalCSV{doc: d, out: out, csv: csv.NewWriter(out)}
}

// intervalDirections are the prefixes of a direction's columns.
var intervalDirections = []string{"read", "write", "trim"}

func (c *IntervalCSV) header() []string {
	head := []string{
		"run_id", "point", "label", "phase", "ramp", "scope", "target", "start", "start_unix_ns", "t_s", "length_s",
		"total_ios", "total_iops", "total_bytes_per_s", "total_lat_mean_ns", "total_lat_max_ns",
	}
	for _, dir := range intervalDirections {
		for _, name := range []string{
			"ios", "bytes", "errors", "short", "zero", "iops", "bytes_per_s",
			"lat_mean_ns", "lat_stddev_ns", "lat_min_ns", "lat_p50_ns", "lat_p95_ns", "lat_p99_ns", "lat_max_ns",
			"response_mean_ns", "response_p50_ns", "response_p95_ns", "response_p99_ns", "response_max_ns",
		} {
			head = append(head, dir+"_"+name)
		}
	}
	head = append(head, "inflight", "cpu_user_pct", "cpu_system_pct", "cpu_iowait_pct", "cpu_steal_pct", "net_rx_bytes", "net_tx_bytes", "temperature_c")
	for _, name := range diskColumns {
		head = append(head, "disk_"+name)
	}
	return head
}

// diskColumns are the kernel's counters, as in the keys of diskstats.
var diskColumns = []string{
	"read_ios", "read_merges", "read_bytes", "read_time_ms", "write_ios", "write_merges", "write_bytes", "write_time_ms",
	"discard_ios", "discard_bytes", "flush_ios", "in_flight", "io_ticks_ms", "time_in_queue_ms",
}

// Row writes a row.
func (c *IntervalCSV) Row(in *Interval) error {
	if !c.begun {
		c.begun = true
		if err := c.csv.Write(c.header()); err != nil {
			return fmt.Errorf("interval as CSV: %w", err)
		}
	}
	used := c.targets(in.Point)
	single := -1
	if len(used) == 1 {
		single = used[0]
	}
	cells := c.head(in, "all", single)
	cells = append(cells, intervalFigures(in.LengthS, &in.Read, &in.Write, &in.Trim)...)
	cells = append(cells, strconv.FormatInt(in.InFlight, 10), fixed(in.CPU.UserPct), fixed(in.CPU.SystemPct), fixed(in.CPU.IOWaitPct), fixed(in.StealPct),
		count(in.Net.RxBytes), count(in.Net.TxBytes))
	if err := c.csv.Write(append(cells, drive(in, single)...)); err != nil {
		return fmt.Errorf("interval as CSV: %w", err)
	}
	if len(used) < 2 {
		return nil
	}
	for _, i := range used {
		if i >= len(in.Targets) {
			continue
		}
		t := &in.Targets[i]
		cells := c.head(in, "target", i)
		cells = append(cells, intervalFigures(in.LengthS, &t.Read, &t.Write, &t.Trim)...)
		cells = append(cells, make([]string, 7)...)
		if err := c.csv.Write(append(cells, drive(in, i)...)); err != nil {
			return fmt.Errorf("interval as CSV: %w", err)
		}
	}
	return nil
}

// Close writes what is left.
func (c *IntervalCSV) Close() error { return flush(c.csv, c.out) }

// flush hands all that was written on.
func flush(c *csv.Writer, out *bufio.Writer) error {
	c.Flush()
	err := c.Error()
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// targets are the indexes of those that a point uses. Of a point that the document does not have, since its
// run was cut off in it, they are all.
func (c *IntervalCSV) targets(point int) []int {
	if point < len(c.doc.Points) {
		return c.doc.targetsOf(c.doc.Points[point])
	}
	all := make([]int, len(c.doc.Targets))
	for i := range all {
		all[i] = i
	}
	return all
}

// head says which row it is; target is an index, or -1 for several.
func (c *IntervalCSV) head(in *Interval, scope string, target int) []string {
	phase, path := "", ""
	if in.Point < len(c.doc.Points) {
		phase = c.doc.Points[in.Point].Phase
	}
	if target >= 0 && target < len(c.doc.Targets) {
		path = c.doc.Targets[target].Path
	}
	return []string{
		csvText(c.doc.ID), strconv.Itoa(in.Point), csvText(in.Label), csvText(phase), strconv.FormatBool(in.Ramp), scope, csvText(path),
		time.Unix(0, in.StartUnixNS).UTC().Format(time.RFC3339Nano), strconv.FormatInt(in.StartUnixNS, 10), plain(in.TS), plain(in.LengthS),
	}
}

// intervalFigures are the cells of the total and of each direction.
func intervalFigures(length float64, read, write, trim *IntervalStat) []string {
	var ios, bytes uint64
	var sum float64
	var highest int64
	var cells []string
	for _, s := range []*IntervalStat{read, write, trim} {
		ios, bytes, sum, highest = ios+s.IOs, bytes+s.Bytes, sum+float64(s.Mean)*float64(s.IOs), max(highest, s.Max)
		cells = append(cells, count(s.IOs), count(s.Bytes), count(s.Errors), count(s.Short), count(s.Zero), rate(s.IOs, length), rate(s.Bytes, length))
		cells = append(cells, nanoseconds(s.IOs > 0, s.Mean, s.StdDev, s.Min, s.P50, s.P95, s.P99, s.Max)...)
		r := s.Response
		if r == nil {
			r = &IntervalResponse{}
		}
		cells = append(cells, nanoseconds(s.Response != nil, r.Mean, r.P50, r.P95, r.P99, r.Max)...)
	}
	mean := int64(0)
	if ios > 0 {
		mean = round(sum / float64(ios))
	}
	return append(append([]string{count(ios), rate(ios, length), rate(bytes, length)}, nanoseconds(ios > 0, mean, highest)...), cells...)
}

// nanoseconds are cells of latencies, empty where there are none.
func nanoseconds(any bool, list ...int64) []string {
	cells := make([]string, len(list))
	for i, v := range list {
		if any {
			cells[i] = strconv.FormatInt(v, 10)
		}
	}
	return cells
}

// rate is a number per second.
func rate(n uint64, seconds float64) string {
	if seconds <= 0 {
		return fixed(0)
	}
	return fixed(float64(n) / seconds)
}

// drive are the cells of a target's drive; target is an index, or -1 for several.
func drive(in *Interval, target int) []string {
	cells := make([]string, 1, 1+len(diskColumns))
	if target >= 0 && target < len(in.TemperatureC) && in.TemperatureC[target] != nil {
		cells[0] = plain(*in.TemperatureC[target])
	}
	var d *host.DiskStats
	if target >= 0 && target < len(in.DiskStats) {
		d = in.DiskStats[target]
	}
	if d == nil {
		return append(cells, make([]string, len(diskColumns))...)
	}
	for _, v := range []uint64{
		d.ReadIOs, d.ReadMerges, d.ReadBytes, d.ReadTimeMS, d.WriteIOs, d.WriteMerges, d.WriteBytes, d.WriteTimeMS,
		d.DiscardIOs, d.DiscardBytes, d.FlushIOs, d.InFlight, d.IOTicksMS, d.TimeInQueueMS,
	} {
		cells = append(cells, count(v))
	}
	return cells
}
