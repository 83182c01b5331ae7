package result

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"blkstorm/verdict"
)

// WriteCSV writes one row per point and direction, under a header: always the total, then read,
// write, trim and sync as far as they have I/Os. Columns may be added at the end of a later version;
// names stay. Numbers are plain (no separators, a dot for the fraction), times UTC in RFC 3339; a
// cell without a value is empty, as the latency of a direction that completed nothing. Targets and
// warning codes are joined by ";". A row is one line; what of its text cannot be printed is escaped, and what
// a spreadsheet would take for a formula gets an apostrophe before it.
func WriteCSV(w io.Writer, d *Doc) error {
	var b bytes.Buffer
	c := csv.NewWriter(&b)
	percentiles := d.percentiles()
	rows := [][]string{csvHeader(percentiles)}
	for i, p := range d.Points {
		for _, dir := range append([]figure{{"total", p.Total}}, p.directions()...) {
			rows = append(rows, d.csvRow(i, p, dir, percentiles))
		}
	}
	if err := c.WriteAll(rows); err != nil {
		return fmt.Errorf("result as CSV: %w", err)
	}
	return write(w, b.Bytes())
}

func csvHeader(percentiles []string) []string {
	head := []string{
		"run_id", "point", "label", "phase", "direction", "targets", "engine",
		"threads", "iodepth", "iodepth_effective", "inflight_max",
		"started", "ramp_s", "window_s", "completed", "interrupted", "seed",
		"issued", "ios", "bytes", "errors", "short", "zero", "stuck",
		"iops", "bytes_per_s", "mb_per_s", "mib_per_s",
		"lat_mean_ns", "lat_stddev_ns", "lat_min_ns",
	}
	head = append(head, percentileColumns(percentiles)...)
	return append(head, "lat_max_ns",
		"cpu_user_pct", "cpu_system_pct", "cpu_iowait_pct", "cpu_steal_pct", "process_cpus", "warnings",
		"offered", "late", "missed", "response_mean_ns", "response_p50_ns", "response_p95_ns", "response_p99_ns", "response_max_ns",
		"skipped", "asserts_missed", "round")
}

// percentileColumns names the columns of percentiles: lat_p99_9_ns.
func percentileColumns(keys []string) (names []string) {
	for _, key := range keys {
		names = append(names, csvText("lat_p"+strings.ReplaceAll(key, ".", "_")+"_ns"))
	}
	return names
}

func (d *Doc) csvRow(index int, p *Point, dir figure, percentiles []string) []string {
	issued := map[string]string{
		"total": count(p.Issued.Sum()), "read": count(p.Issued.Read), "write": count(p.Issued.Write), "trim": count(p.Issued.Trim),
		"sync": count(p.Issued.Sync),
	}
	s := dir.stat
	row := []string{
		csvText(d.ID), strconv.Itoa(index), csvText(p.Label), csvText(p.Phase), dir.name, csvText(strings.Join(d.paths(p), ";")), csvText(p.EngineName),
		strconv.Itoa(p.Threads), strconv.Itoa(p.IODepth), strconv.Itoa(p.IODepthEffective), strconv.FormatInt(p.InFlight, 10),
		p.Started.UTC().Format(time.RFC3339Nano), plain(p.RampS), plain(p.WindowS),
		strconv.FormatBool(p.Completed), strconv.FormatBool(p.Interrupted), count(p.Seed),
		issued[dir.name], count(s.IOs), count(s.Bytes), count(s.Errors), count(s.Short), count(s.Zero), count(p.StuckIOs),
		fixed(s.IOPS), fixed(s.BytesPerS), fixed(s.BytesPerS / 1e6), fixed(s.BytesPerS / (1 << 20)),
	}
	return slices.Concat(row, csvLatency(s.Latency, percentiles), []string{
		fixed(p.CPU.UserPct), fixed(p.CPU.SystemPct), fixed(p.CPU.IOWaitPct), fixed(p.CPU.StealPct), fixed(p.Process.CPUs),
		csvText(codes(p.Warnings, d.Warnings)),
	}, csvOpenLoop(s), []string{csvText(p.Skipped), csvText(p.missed()), p.roundText()})
}

// roundText is the number of the point's round; empty for one that has none.
func (p *Point) roundText() string {
	if p.Round == 0 {
		return ""
	}
	return strconv.Itoa(p.Round)
}

// missed joins the limits that the point does not keep.
func (p *Point) missed() string {
	var list []string
	for i := range p.Asserts {
		if !p.Asserts[i].OK {
			list = append(list, p.Asserts[i].Assert.String())
		}
	}
	return strings.Join(list, ";")
}

// csvOpenLoop are the cells of paced streams, empty for others.
func csvOpenLoop(s *Stat) []string {
	if s.OpenLoop == nil {
		return make([]string, 8)
	}
	cells := []string{count(s.Offered), count(s.Late), count(s.Missed)}
	r := s.Response
	if r.Count == 0 {
		return append(cells, make([]string, 5)...)
	}
	cells = append(cells, strconv.FormatInt(r.Mean, 10))
	for _, key := range []string{"50", "95", "99"} {
		v, ok := r.Percentiles[key]
		cell := ""
		if ok {
			cell = strconv.FormatInt(v, 10)
		}
		cells = append(cells, cell)
	}
	return append(cells, strconv.FormatInt(r.Max, 10))
}

func csvLatency(l *Latency, percentiles []string) []string {
	cells := make([]string, len(percentiles)+4)
	if l == nil || l.Count == 0 {
		return cells
	}
	ns := func(v int64) string { return strconv.FormatInt(v, 10) }
	cells[0], cells[1], cells[2], cells[len(cells)-1] = ns(l.Mean), ns(l.StdDev), ns(l.Min), ns(l.Max)
	for i, key := range percentiles {
		if v, ok := l.Percentiles[key]; ok {
			cells[3+i] = ns(v)
		}
	}
	return cells
}

// percentiles lists the keys of all percentiles in the document, ascending; the default ones when
// nothing was measured, so that the header does not depend on that.
func (d *Doc) percentiles() []string {
	keys := map[string]bool{}
	for _, p := range d.Points {
		for key := range p.Total.Latency.Percentiles {
			keys[key] = true
		}
	}
	if len(keys) == 0 {
		for _, p := range DefaultPercentiles {
			keys[PercentileKey(p)] = true
		}
	}
	return ascending(slices.Collect(maps.Keys(keys)))
}

// ascending sorts the keys of percentiles by their value.
func ascending(keys []string) []string {
	value := func(key string) float64 {
		v, _ := strconv.ParseFloat(key, 64)
		return v
	}
	slices.SortFunc(keys, func(a, b string) int { return cmp.Compare(value(a), value(b)) })
	return keys
}

func (d *Doc) paths(p *Point) []string {
	var paths []string
	for _, i := range d.targetsOf(p) {
		paths = append(paths, d.Targets[i].Path)
	}
	return paths
}

// codes joins the codes of a point's warnings and of the run's.
func codes(lists ...[]verdict.Warning) string {
	var out []string
	for _, l := range lists {
		for _, w := range l {
			if !slices.Contains(out, w.Code) {
				out = append(out, w.Code)
			}
		}
	}
	return strings.Join(out, ";")
}

func count(n uint64) string { return strconv.FormatUint(n, 10) }

// plain is a number with as many digits as it has, never with an exponent.
func plain(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// fixed is a number with three decimals.
func fixed(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }
