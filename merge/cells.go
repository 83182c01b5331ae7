package merge

import (
	"blkstorm/histogram"
	"blkstorm/result"
)

// count is figures beside a histogram.
type count struct{ bytes, errors, short, zero uint64 }

func (c *count) add(s *result.IntervalStat) {
	c.bytes = plus(c.bytes, s.Bytes)
	c.errors = plus(c.errors, s.Errors)
	c.short = plus(c.short, s.Short)
	c.zero = plus(c.zero, s.Zero)
}

// cell is one direction of a member's part: of all of it, of a stream, or of a target.
type cell struct {
	hist histogram.Histogram
	count
}

func (c *cell) reset() {
	c.hist.Reset()
	c.count = count{}
}

// cells add up a part, interval by interval.
type cells struct {
	part    *part
	rows    int
	length  int64
	all     [4]cell
	streams []*streamCells
	targets []*[4]cell // as many as the member has
	line    histogram.Histogram
	row     [4]histogram.Histogram // one interval's, of several lines
}

type streamCells struct {
	name string
	dirs [4]cell
}

func (c *cells) begin(p *part) {
	c.part, c.rows, c.length = p, 0, 0
	for d := range c.all {
		c.all[d].reset()
	}
	for _, st := range c.streams {
		for d := range st.dirs {
			st.dirs[d].reset()
		}
	}
	for len(c.targets) < len(p.member.targets) {
		c.targets = append(c.targets, new([4]cell))
	}
	for _, t := range c.targets {
		for d := range t {
			t[d].reset()
		}
	}
}

func (c *cells) stream(name string) *streamCells {
	for _, st := range c.streams {
		if st.name == name {
			return st
		}
	}
	st := &streamCells{name: name}
	c.streams = append(c.streams, st)
	return st
}

// target is the index of a path; -1: the member has no such target.
func (c *cells) target(path string) int {
	for i, t := range c.part.member.targets {
		if t.Path == path {
			return i
		}
	}
	return -1
}

func directionOf(name string) int {
	for d, n := range directions {
		if n == name {
			return d
		}
	}
	return -1
}

// add takes in an interval, or nothing of it when its lines are not what its row counts.
func (c *cells) add(sl *slice) error {
	row := sl.row
	stats := [...]*result.IntervalStat{&row.Read, &row.Write, &row.Trim}
	var lines [4]int
	for _, l := range sl.lines {
		lines[directionOf(l.Direction)]++
	}
	if err := c.check(sl); err != nil {
		return err
	}
	for _, l := range sl.lines {
		d := directionOf(l.Direction)
		if err := l.Decode(&c.line); err != nil {
			return err
		}
		target := c.target(l.Target)
		c.sharpen(d, target, lines[d], row, &stats)
		if lines[d] == 1 || d == syncs {
			c.all[d].hist.Merge(&c.line)
		}
		c.stream(l.Stream).dirs[d].hist.Merge(&c.line)
		c.targets[target][d].hist.Merge(&c.line)
	}
	for d, stat := range stats {
		if lines[d] > 1 {
			restore(&c.row[d], stat)
			c.all[d].hist.Merge(&c.row[d])
		}
		c.all[d].add(stat)
		if len(row.Targets) == 0 {
			c.targets[0][d].add(stat)
		}
	}
	for t := range row.Targets {
		of := &row.Targets[t]
		for d, stat := range [...]*result.IntervalStat{&of.Read, &of.Write, &of.Trim} {
			c.targets[t][d].add(stat)
		}
	}
	c.rows++
	c.length += c.part.series.unit
	return nil
}

// check decodes the lines, and holds their counts to the row's; c.row gets the sum of each direction.
func (c *cells) check(sl *slice) error {
	for d := range c.row {
		c.row[d].Reset()
	}
	for _, l := range sl.lines {
		if err := l.Decode(&c.line); err != nil {
			return err
		}
		if c.target(l.Target) < 0 {
			return lineError(l, "its target is none of the run's")
		}
		c.row[directionOf(l.Direction)].Merge(&c.line)
	}
	for d, stat := range [...]*result.IntervalStat{&sl.row.Read, &sl.row.Write, &sl.row.Trim} {
		if c.row[d].Count() != stat.IOs {
			return countError(sl.row, directions[d], c.row[d].Count(), stat.IOs)
		}
	}
	if n := len(sl.row.Targets); n > 0 && n != len(c.part.member.targets) {
		return targetsError(sl.row, len(c.part.member.targets))
	}
	return nil
}

// sharpen gives the line's histogram its exact figures, where the row has those of nothing else.
func (c *cells) sharpen(d, target, lines int, row *result.Interval, stats *[3]*result.IntervalStat) {
	if d == syncs {
		return
	}
	if lines == 1 {
		restore(&c.line, stats[d])
		return
	}
	if target < len(row.Targets) {
		of := &row.Targets[target]
		stat := [...]*result.IntervalStat{&of.Read, &of.Write, &of.Trim}[d]
		if stat.IOs == c.line.Count() {
			restore(&c.line, stat)
		}
	}
}

// into adds what was cut out to the point, and makes the member's own figures of it.
func (c *cells) into(to *cutting) {
	p, part := to.point, to.part
	used := float64(c.length) / 1e9
	p.mu.Lock()
	defer p.mu.Unlock()
	var total sum
	for d := range c.all {
		one := c.all[d].sum(used)
		p.dirs[d].takeIn(one)
		if d != syncs {
			total.takeIn(one)
			p.total.counters(one)
		}
	}
	alone := len(p.streams) == 1
	for _, st := range c.streams {
		to := p.streamOf(st.name)
		if to == nil {
			continue
		}
		for d := range st.dirs {
			from := &st.dirs[d]
			if alone {
				from.count = c.all[d].count
			} else {
				from.bytes = share(c.all[d].bytes, from.hist.Count(), c.all[d].hist.Count())
			}
			one := from.sum(used)
			to.dirs[d].takeIn(one)
			if d != syncs {
				to.total.counters(one)
			}
		}
	}
	part.targets = make([]*result.Target, len(part.member.targets))
	for i, t := range part.member.targets {
		part.targets[i] = targetStats(t.Path, c.targets[i], used)
	}
	stat, _ := total.stat(0, rowPercentiles, false) // only an encoding can fail
	part.rows = []result.MergeRow{rowOf(stat)}
}

// rowPercentiles are those of a row and a target.
var rowPercentiles = result.DefaultPercentiles

// share is the part of bytes that n of all I/Os moved: exact where all have one size.
func share(bytes, n, all uint64) uint64 {
	if all == 0 {
		return 0
	}
	return uint64(float64(bytes)*(float64(n)/float64(all)) + 0.5)
}

// sum is the cell as a sum, over its own time.
func (c *cell) sum(used float64) *sum {
	s := &sum{ios: c.hist.Count(), bytes: c.bytes, errors: c.errors, short: c.short, zero: c.zero}
	if used > 0 {
		s.rates(float64(s.ios)/used, float64(s.bytes)/used)
	}
	s.latency.addHistogram(&c.hist)
	return s
}

// takeIn adds all of o, which was cut out of a window.
func (s *sum) takeIn(o *sum) {
	s.counters(o)
	s.latency.count += o.latency.count
	s.latency.hist.Merge(&o.latency.hist)
}

// counters adds what is no latency.
func (s *sum) counters(o *sum) {
	s.ios, s.bytes = plus(s.ios, o.ios), plus(s.bytes, o.bytes)
	s.errors, s.short, s.zero = plus(s.errors, o.errors), plus(s.short, o.short), plus(s.zero, o.zero)
	s.microIOPS, s.milliBytes = plus(s.microIOPS, o.microIOPS), plus(s.milliBytes, o.milliBytes)
}

// targetStats are a target's figures.
func targetStats(path string, dirs *[4]cell, used float64) *result.Target {
	var stats [4]*result.Stat
	var total sum
	for d := range dirs {
		one := dirs[d].sum(used)
		stats[d], _ = one.stat(used, rowPercentiles, false) // only an encoding can fail
		if d != syncs {
			total.takeIn(one)
		}
	}
	all, _ := total.stat(used, rowPercentiles, false) // as above
	return withoutHistograms(&result.Target{Path: path, Total: all, Read: stats[0], Write: stats[1], Trim: stats[2], Sync: stats[3]})
}
