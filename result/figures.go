package result

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// figure is a row of a table of results: a direction, a stream, a target or a point.
type figure struct {
	name string
	stat *Stat
}

// columns says which figures a table has beside IOPS, MB/s and average.
type columns struct {
	response    bool     // response time instead of rates and service time
	binary      bool     // MiB/s
	deviation   bool     // standard deviation
	percentiles []string // keys
}

// figures writes a table of results. All latencies of a table are in one unit, so that a row reads
// from left to right as what it is: from the average to the worst.
func figures(b *strings.Builder, indent string, rows []figure, want columns) {
	latencyOf := func(s *Stat) *Latency { return s.Latency }
	if want.response {
		latencyOf = func(s *Stat) *Latency { return s.Response }
	}
	unit, scale := latencyUnit(rows, latencyOf)
	rate := func(head string, f func(*Stat) float64) column {
		c := column{head: head}
		for _, r := range rows {
			c.values = append(c.values, f(r.stat))
		}
		return c
	}
	latency := func(head string, f func(*Latency) (int64, bool)) column {
		c := column{head: head, unit: unit}
		for _, r := range rows {
			v, ok := int64(0), false
			if l := latencyOf(r.stat); l != nil && l.Count > 0 {
				v, ok = f(l)
			}
			if !ok {
				c.values = append(c.values, math.NaN())
				continue
			}
			c.values = append(c.values, float64(v)/scale)
		}
		return c
	}

	var cols []column
	if !want.response {
		cols = append(cols, rate("IOPS", func(s *Stat) float64 { return s.IOPS }),
			rate("MB/s", func(s *Stat) float64 { return s.BytesPerS / 1e6 }))
	}
	if want.binary {
		cols = append(cols, rate("MiB/s", func(s *Stat) float64 { return s.BytesPerS / (1 << 20) }))
	}
	cols = append(cols, latency("average", func(l *Latency) (int64, bool) { return l.Mean, true }))
	if want.deviation {
		cols = append(cols, latency("stdev", func(l *Latency) (int64, bool) { return l.StdDev, true }))
	}
	for _, key := range want.percentiles {
		cols = append(cols, latency("p"+key, func(l *Latency) (int64, bool) { v, ok := l.Percentiles[key]; return v, ok }))
	}
	cols = append(cols, latency("max", func(l *Latency) (int64, bool) { return l.Max, true }))
	var counts [][]string
	if !want.response {
		counts = counters(rows)
	}

	t := table{left: 1}
	names := []string{"", ""}
	for _, r := range rows {
		names = append(names, shorten(r.name, 44))
	}
	grid := [][]string{names}
	for i := range cols {
		grid = append(grid, cols[i].cells())
	}
	grid = append(grid, counts...)
	for i := range names {
		row := make([]string, len(grid))
		for c := range grid {
			row[c] = grid[c][i]
		}
		t.add(row...)
	}
	t.write(b, indent)
}

// counters are the columns of what went wrong, present only when something did.
func counters(rows []figure) [][]string {
	var out [][]string
	for _, c := range []struct {
		head string
		get  func(*Stat) uint64
	}{
		{"errors", func(s *Stat) uint64 { return s.Errors }},
		{"short", func(s *Stat) uint64 { return s.Short }},
		{"zero", func(s *Stat) uint64 { return s.Zero }},
	} {
		cells, sum := []string{c.head, ""}, uint64(0)
		for _, r := range rows {
			sum += c.get(r.stat)
			cells = append(cells, commas(c.get(r.stat)))
		}
		if sum > 0 {
			out = append(out, cells)
		}
	}
	return out
}

// latencyUnit chooses the unit of a table by its smallest average: µs up to 10 ms, then ms.
func latencyUnit(rows []figure, latencyOf func(*Stat) *Latency) (unit string, nanoseconds float64) {
	smallest := int64(math.MaxInt64)
	for _, r := range rows {
		if l := latencyOf(r.stat); l != nil && l.Count > 0 {
			smallest = min(smallest, l.Mean)
		}
	}
	if smallest >= 10e6 && smallest < math.MaxInt64 {
		return "ms", 1e6
	}
	return "µs", 1e3
}

// shownPercentiles are those a point's table has: the four that people read of the default ones;
// ones asked for are all shown.
func shownPercentiles(s *Stat) []string {
	usual := map[string]bool{}
	for _, p := range DefaultPercentiles {
		usual[PercentileKey(p)] = true
	}
	keys := slices.Collect(maps.Keys(s.Latency.Percentiles))
	for _, key := range keys {
		if !usual[key] || len(keys) != len(usual) {
			return ascending(keys)
		}
	}
	return []string{"50", "95", "99", "99.9"}
}

// shorten keeps the end of a name, which tells paths apart.
func shorten(name string, width int) string {
	if utf8.RuneCountInString(name) <= width {
		return name
	}
	r := []rune(name)
	return "…" + string(r[len(r)-width+1:])
}
