package report

import (
	"math"

	"blkstorm/host"
	"blkstorm/result"
)

// moments are count, mean and the sum of squared distances from it: enough to merge means and deviations of rows
// without loss (Chan, Golub and LeVeque 1979).
type moments struct {
	n, mean, m2 float64
}

func (m *moments) add(n, mean, stddev float64) {
	if n == 0 {
		return
	}
	sum, d := m.n+n, mean-m.mean
	m.m2 += stddev*stddev*n + d*d*m.n*n/sum
	m.mean += d * n / sum
	m.n = sum
}

func (m *moments) stddev() float64 {
	if m.n == 0 {
		return 0
	}
	return math.Sqrt(m.m2 / m.n)
}

// flow is one direction, or one target, in a bucket.
type flow struct {
	ios, bytes, errors uint64
	latency            moments
	// p99 and max are the worst of the rows: neither is ever averaged. The others are of response times, 0 where no
	// I/O has a planned time.
	p99, max, responseP99, responseMax int64
}

func (f *flow) add(s *result.IntervalStat) {
	f.ios += s.IOs
	f.bytes += s.Bytes
	f.errors += s.Errors + s.Short + s.Zero
	f.latency.add(float64(s.IOs), float64(s.Mean), float64(s.StdDev))
	f.p99, f.max = max(f.p99, s.P99), max(f.max, s.Max)
	if r := s.Response; r != nil {
		f.responseP99, f.responseMax = max(f.responseP99, r.P99), max(f.responseMax, r.Max)
	}
}

// bucket is what became of one or more rows of a point.
type bucket struct {
	point      int
	ramp       bool
	slot       int
	start      float64 // since the start of the point's window, as the length in seconds
	length     float64
	usual      float64 // length of the point's rows
	rows       int     // of about that length
	ops        [3]flow // read, write, trim
	low, high  float64 // IOPS of the rows
	cpu        host.CPUShare
	stealMax   float64
	inflight   float64 // mean of the rows, by their length
	inflightHi int64
	queue      float64 // I/Os in the kernel's queues on average: time in queue / time
	heat       []float64
	targets    []flow
}

// series collects the buckets of a whole document, in the order of its rows.
type series struct {
	time    *timeline
	targets int // with a series of their own
	list    []*bucket
	last    map[int]*bucket // of each point
	left    int             // rows that belong nowhere
	beyond  int             // rows of the point after the last one, which the document does not have yet
	has     struct{ queue, heat, several bool }
}

func newSeries(d *result.Doc, t *timeline) *series {
	s := &series{time: t, last: map[int]*bucket{}}
	if len(d.Targets) > 1 {
		s.targets = min(len(d.Targets), maxTargets)
	}
	return s
}

// add takes in a row. One that lies outside its point is counted and left out.
func (s *series) add(in *result.Interval) {
	if in.Point == len(s.time.spans) {
		s.beyond++
		return
	}
	if in.Point < 0 || in.Point > len(s.time.spans) || !(in.LengthS > 0) || math.IsNaN(in.TS) {
		s.left++
		return
	}
	at := s.time.spans[in.Point]
	slack := in.LengthS + 1e-3
	if in.TS < at.start-at.window-slack || in.TS > at.end-at.window+slack {
		s.left++
		return
	}
	b, usual := s.last[in.Point], in.LengthS
	if b != nil {
		usual = b.usual
	}
	slot := s.time.slot(in.TS)
	switch {
	case b != nil && b.ramp == in.Ramp && in.LengthS < usual/2:
		// What is left of a point that ends within an interval: its rate is one of a few I/Os.
	case b == nil || b.slot != slot || b.ramp != in.Ramp:
		if len(s.list) >= s.time.limit {
			s.left++
			return
		}
		b = &bucket{point: in.Point, ramp: in.Ramp, slot: slot, start: in.TS, usual: max(usual, in.LengthS), low: math.Inf(1), targets: make([]flow, s.targets)}
		s.list, s.last[in.Point] = append(s.list, b), b
		fallthrough
	default:
		b.rows++
		rate := float64(in.Read.IOs+in.Write.IOs+in.Trim.IOs) / in.LengthS
		b.low, b.high = min(b.low, rate), max(b.high, rate)
	}
	s.merge(b, in)
}

// merge takes a row into a bucket.
func (s *series) merge(b *bucket, in *result.Interval) {
	part := in.LengthS / (b.length + in.LengthS) // of the row in the bucket
	mean := func(old *float64, v float64) { *old += (v - *old) * part }
	b.length += in.LengthS
	for i, st := range []*result.IntervalStat{&in.Read, &in.Write, &in.Trim} {
		b.ops[i].add(st)
	}
	mean(&b.cpu.UserPct, in.CPU.UserPct)
	mean(&b.cpu.SystemPct, in.CPU.SystemPct)
	mean(&b.cpu.IOWaitPct, in.CPU.IOWaitPct)
	mean(&b.cpu.StealPct, in.CPU.StealPct)
	b.stealMax = max(b.stealMax, in.CPU.StealPct)
	mean(&b.inflight, float64(in.InFlight))
	b.inflightHi = max(b.inflightHi, in.InFlight)
	queue := 0.0
	for _, d := range in.DiskStats {
		if d != nil {
			s.has.queue = true
			queue += float64(d.TimeInQueueMS) / 1000 / in.LengthS
		}
	}
	mean(&b.queue, queue)
	for i, c := range in.TemperatureC {
		if c == nil || i >= maxTargets {
			continue
		}
		s.has.heat = true
		for len(b.heat) <= i {
			b.heat = append(b.heat, math.NaN())
		}
		if !(b.heat[i] >= *c) {
			b.heat[i] = *c
		}
	}
	if len(in.Targets) > 0 {
		s.has.several = true
	}
	for i := range b.targets {
		if i < len(in.Targets) {
			t := &in.Targets[i]
			b.targets[i].add(&t.Read)
			b.targets[i].add(&t.Write)
			b.targets[i].add(&t.Trim)
		}
	}
}
