package merge

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"blkstorm/result"
)

// how tells what each member gave.
func (m *merger) how(p *point, gave []*part) *result.MergePoint {
	how := &result.MergePoint{Window: p.window.kind, CommonS: p.window.seconds(), Rows: []result.MergeRow{}}
	if how.CommonS > 0 && len(gave) > 0 {
		how.CommonStart = unixNano(p.window.from)
	} else {
		how.CommonS = 0
	}
	parts := map[*member]*part{}
	var first, last time.Time
	longest, used := 0.0, math.Inf(1)
	for _, part := range p.parts {
		parts[part.member] = part
		if part.gave() {
			if first.IsZero() || part.started.Before(first) {
				first = part.started
			}
			if part.started.After(last) {
				last = part.started
			}
		}
	}
	for _, part := range gave {
		longest = max(longest, part.window)
		used = min(used, p.window.used(part))
	}
	how.SkewS = last.Sub(first).Seconds()
	if p.window.kind == result.MergeCommon && longest > 0 {
		how.LossS = longest - used
		how.LossPct = 100 * how.LossS / longest
	}
	for _, mem := range m.members {
		how.Rows = append(how.Rows, rowsOf(mem, parts[mem], &p.window, first)...)
	}
	spread(how)
	return how
}

// rowsOf are the rows of one input.
func rowsOf(mem *member, part *part, w *window, first time.Time) []result.MergeRow {
	if part == nil || len(part.rows) == 0 {
		rows := make([]result.MergeRow, len(mem.rows))
		for i := range rows {
			rows[i] = result.MergeRow{Member: mem.firstAt + i, Missing: missing(mem, part)}
		}
		return rows
	}
	rows := slices.Clone(part.rows)
	for i := range rows {
		row := &rows[i]
		row.Member += mem.firstAt
		if !mem.merged {
			row.Started, row.WindowS, row.UsedS = part.started, part.window, w.used(part)
			row.Notes, row.Missing = part.notes, missing(mem, part)
		}
		if row.Missing == "" || row.WindowS > 0 {
			row.SkewS = row.Started.Sub(first).Seconds()
		}
	}
	return rows
}

// missing says why a part has no figures; empty: it has.
func missing(mem *member, part *part) string {
	switch {
	case part == nil && len(mem.notes) > 0:
		return "its result does not have this point: " + mem.notes[0]
	case part == nil:
		return "its result does not have this point"
	case part.missing != "":
		return part.missing
	case part.skipped != "":
		return "it skipped the point: " + part.skipped
	case !part.gave():
		return cmp.Or(strings.Join(part.notes, "; "), "it ended before its window began")
	case len(part.rows) == 0:
		return "its run was cut off within the point, and no common time can be cut out"
	}
	return ""
}

// spread fills in how far the members lie apart.
func spread(how *result.MergePoint) {
	var iops, rate, mean, p99, top []float64
	complete := true
	for i := range how.Rows {
		r := &how.Rows[i]
		if r.Missing != "" {
			continue
		}
		iops, rate = append(iops, r.IOPS), append(rate, r.BytesPerS)
		if r.IOs == 0 {
			continue
		}
		mean, top = append(mean, float64(r.MeanNS)), append(top, float64(r.MaxNS))
		if r.P99NS == nil {
			complete = false
			continue
		}
		p99 = append(p99, float64(*r.P99NS))
	}
	how.IOPS, how.BytesPerS, how.MeanNS, how.MaxNS = spreadOf(iops), spreadOf(rate), spreadOf(mean), spreadOf(top)
	if complete {
		how.P99NS = spreadOf(p99)
	}
}

func spreadOf(v []float64) (s result.MergeSpread) {
	if len(v) == 0 {
		return s
	}
	slices.Sort(v)
	n := len(v)
	mean := 0.0
	for _, x := range v {
		mean += x / float64(n)
	}
	square := 0.0
	for _, x := range v {
		square += (x - mean) * (x - mean) / float64(n)
	}
	return result.MergeSpread{Min: v[0], Median: (v[(n-1)/2] + v[n/2]) / 2, Max: v[n-1], StdDev: math.Sqrt(square)}
}
