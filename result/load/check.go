package load

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"blkstorm/histogram"
	"blkstorm/result"
)

// Bounds of what is read, beyond anything that is measured: sums of many results stay far from overflow.
const (
	maxCount   = 1 << 53
	maxBytes   = 1 << 62
	maxRate    = 1e18
	maxSeconds = 1e9 // 31 years
)

// check holds a document to what its readers rely on, and fills in figures that it leaves out.
func check(d *result.Doc) error {
	for i, t := range d.Targets {
		if t == nil {
			return fmt.Errorf("targets[%d] is null", i)
		}
	}
	if err := checkTime(d.Started, "started"); err != nil {
		return err
	}
	for i, p := range d.Points {
		if p == nil {
			return fmt.Errorf("points[%d] is null", i)
		}
		if err := checkPoint(d, p); err != nil {
			return fmt.Errorf("points[%d].%w", i, err)
		}
	}
	if err := checkIndexes(d); err != nil {
		return err
	}
	return checkMerge(d)
}

// checkMerge holds what is said of the members of a merge to the document.
func checkMerge(d *result.Doc) error {
	g := d.Merge
	if g == nil {
		return nil
	}
	if len(g.Members) == 0 || len(g.Points) != len(d.Points) {
		return fmt.Errorf("merge has %d members, and %d of %d points", len(g.Members), len(g.Points), len(d.Points))
	}
	for i := range g.Members {
		m := &g.Members[i]
		if err := checkTime(m.Started, fmt.Sprintf("merge.members[%d].started", i)); err != nil {
			return err
		}
		for _, t := range m.Targets {
			if err := inside(t, len(d.Targets), fmt.Sprintf("merge.members[%d].targets", i), "targets"); err != nil {
				return err
			}
		}
	}
	for i := range g.Points {
		for k := range g.Points[i].Rows {
			r, key := &g.Points[i].Rows[k], fmt.Sprintf("merge.points[%d].rows[%d]", i, k)
			if err := errors.Join(inside(r.Member, len(g.Members), key+".member", "members"), checkTime(r.Started, key+".started")); err != nil {
				return err
			}
			for _, v := range []float64{r.IOPS, r.BytesPerS, r.WindowS, r.UsedS} {
				if !(v >= 0 && v <= maxRate) {
					return fmt.Errorf("%s has the figure %g", key, v)
				}
			}
		}
	}
	return nil
}

// checkIndexes holds what refers to points and phases to those that there are.
func checkIndexes(d *result.Doc) error {
	point := func(i int, key string) error { return inside(i, len(d.Points), key, "points") }
	if s := d.Sweep; s != nil {
		for _, i := range s.Points {
			if err := point(i, "sweep.points"); err != nil {
				return err
			}
		}
		if s.Knee != nil && s.Knee.Point != nil {
			if err := point(*s.Knee.Point, "sweep.knee.point"); err != nil {
				return err
			}
		}
	}
	if f := d.FindMax; f != nil {
		if f.FoundPoint != nil {
			if err := point(*f.FoundPoint, "find_max.found_point"); err != nil {
				return err
			}
		}
		for _, s := range f.Steps {
			if err := point(s.Point, "find_max.steps.point"); err != nil {
				return err
			}
		}
	}
	for _, r := range d.Resumed {
		if r.AfterPoint < -1 || r.AfterPoint >= len(d.Points) {
			return fmt.Errorf("resumed.after_point is %d, and there are %d points", r.AfterPoint, len(d.Points))
		}
		for _, i := range r.Repeated {
			if err := point(i, "resumed.repeated"); err != nil {
				return err
			}
		}
	}
	for i, r := range d.Rounds {
		if r == nil {
			return fmt.Errorf("rounds[%d] is null", i)
		}
		if d.Plan == nil {
			return fmt.Errorf("rounds[%d] is there, and no plan", i)
		}
		if err := inside(r.Phase, len(d.Plan.Phases), fmt.Sprintf("rounds[%d].phase", i), "phases"); err != nil {
			return err
		}
	}
	return nil
}

func inside(i, n int, key, of string) error {
	if i < 0 || i >= n {
		return fmt.Errorf("%s is %d, and there are %d %s", key, i, n, of)
	}
	return nil
}

// checkTime accepts no time at all, and those that nanoseconds of 64 bits can count.
func checkTime(t time.Time, key string) error {
	if !t.IsZero() && (t.Year() < 1970 || t.Year() > 2200) {
		return fmt.Errorf("%s is %s, which is no time of a run", key, t.Format(time.RFC3339))
	}
	return nil
}

func checkPoint(d *result.Doc, p *result.Point) error {
	if p.Total == nil || p.Total.Latency == nil {
		return errors.New("total has no figures")
	}
	if err := checkTime(p.Started, "started"); err != nil {
		return err
	}
	for key, v := range map[string]float64{"window_s": p.WindowS, "ramp_s": p.RampS} {
		if v < 0 || v > maxSeconds {
			return fmt.Errorf("%s is %g", key, v)
		}
	}
	c, q := &p.CPU, &p.Process
	for _, v := range []float64{c.UserPct, c.SystemPct, c.IOWaitPct, c.StealPct, q.UserS, q.SystemS, q.CPUs, q.BusiestThreadPct, q.InSubmitPct} {
		if math.Abs(v) > maxSeconds {
			return fmt.Errorf("cpu or process has the figure %g", v)
		}
	}
	if err := checkStats("", &p.Total, &p.Read, &p.Write, &p.Trim, &p.Sync); err != nil {
		return err
	}
	for i, s := range p.Streams {
		if s == nil {
			return fmt.Errorf("streams[%d] is null", i)
		}
		key := fmt.Sprintf("streams[%d].", i)
		for _, t := range s.Targets {
			if err := inside(t, len(d.Targets), key+"targets", "targets"); err != nil {
				return err
			}
		}
		if err := checkStats(key, &s.Total, &s.Read, &s.Write, &s.Trim, &s.Sync); err != nil {
			return err
		}
	}
	if len(p.Targets) == 0 && slices.ContainsFunc(p.Streams, func(s *result.Stream) bool { return len(s.Targets) > 0 }) {
		for _, t := range d.Targets {
			p.Targets = append(p.Targets, &result.Target{Path: t.Path})
		}
	}
	if n := len(p.Targets); n != 0 && n != len(d.Targets) {
		return fmt.Errorf("targets has %d entries, and the run has %d targets", n, len(d.Targets))
	}
	for i, t := range p.Targets {
		if t == nil {
			return fmt.Errorf("targets[%d] is null", i)
		}
		if err := checkStats(fmt.Sprintf("targets[%d].", i), &t.Total, &t.Read, &t.Write, &t.Trim, &t.Sync); err != nil {
			return err
		}
	}
	for i, t := range p.PerThread {
		key := fmt.Sprintf("per_thread[%d].", i)
		if err := errors.Join(inside(t.Stream, len(p.Streams), key+"stream", "streams"), inside(t.Target, len(d.Targets), key+"target", "targets")); err != nil {
			return err
		}
	}
	return checkRows(p)
}

func checkRows(p *result.Point) error {
	for key, rows := range map[string][]*result.Interval{"intervals": p.Intervals, "ramp_intervals": p.RampIntervals} {
		for i, row := range rows {
			if row == nil {
				return fmt.Errorf("%s[%d] is null", key, i)
			}
			if err := checkRow(row, fmt.Sprintf("%s[%d]", key, i)); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkRow(row *result.Interval, key string) error {
	if !(row.LengthS >= 0 && row.LengthS <= maxSeconds) || math.Abs(row.TS) > maxSeconds || row.StartUnixNS < 0 {
		return fmt.Errorf("%s lasts %g s from %g s on, which cannot be", key, row.LengthS, row.TS)
	}
	check := func(s *result.IntervalStat) bool {
		return s.IOs <= maxCount && s.Bytes <= maxBytes && s.Errors <= maxCount && s.Min >= 0 && s.Min <= s.Max && s.Max <= histogram.Highest
	}
	good := check(&row.Read) && check(&row.Write) && check(&row.Trim)
	for i := range row.Targets {
		t := &row.Targets[i]
		good = good && check(&t.Read) && check(&t.Write) && check(&t.Trim)
	}
	if !good {
		return fmt.Errorf("%s has figures beyond what a run can measure", key)
	}
	return nil
}

var statKeys = [...]string{"total", "read", "write", "trim", "sync"}

// checkStats checks the figures of the five; those that are not there become figures of nothing.
func checkStats(key string, stats ...**result.Stat) error {
	for i, s := range stats {
		if *s == nil {
			*s = &result.Stat{}
		}
		if (*s).Latency == nil {
			(*s).Latency = &result.Latency{}
		}
		if err := checkStat(*s); err != nil {
			return fmt.Errorf("%s%s: %w", key, statKeys[i], err)
		}
	}
	return nil
}

func checkStat(s *result.Stat) error {
	switch {
	case s.IOs > maxCount || s.Errors > maxCount || s.Short > maxCount || s.Zero > maxCount:
		return errors.New("there are more I/Os than a run can do")
	case s.Bytes > maxBytes:
		return fmt.Errorf("%d bytes are more than a run can move", s.Bytes)
	case !(s.IOPS >= 0 && s.IOPS <= maxRate) || !(s.BytesPerS >= 0 && s.BytesPerS <= maxRate):
		return fmt.Errorf("a rate of %g I/Os and %g bytes per second cannot be", s.IOPS, s.BytesPerS)
	}
	if err := checkLatency(s.Latency); err != nil {
		return fmt.Errorf("latency_ns: %w", err)
	}
	if o := s.OpenLoop; o != nil {
		if o.Response == nil {
			o.Response = &result.Latency{}
		}
		if err := checkLatency(o.Response); err != nil {
			return fmt.Errorf("response_ns: %w", err)
		}
		if o.Offered > maxCount || o.Late > maxCount || o.Missed > maxCount || o.BacklogNS < 0 {
			return errors.New("more planned I/Os than a run can have")
		}
	}
	return nil
}

func checkLatency(l *result.Latency) error {
	switch {
	case l.Count > maxCount || l.Clamped > l.Count:
		return fmt.Errorf("%d values, %d of them clamped, cannot be", l.Count, l.Clamped)
	case l.Min < 0 || l.Max > histogram.Highest || l.Min > l.Max || l.Mean < 0 || l.Mean > l.Max || l.StdDev < 0 || l.StdDev > l.Max:
		return fmt.Errorf("minimum %d, mean %d, deviation %d and maximum %d contradict each other", l.Min, l.Mean, l.StdDev, l.Max)
	}
	for p, v := range l.Percentiles {
		if v < 0 || v > l.Max {
			return fmt.Errorf("percentile %q is %d, and the maximum %d", p, v, l.Max)
		}
	}
	return nil
}
