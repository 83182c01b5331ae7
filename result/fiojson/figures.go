package fiojson

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"blkstorm/histogram"
	"blkstorm/result"
)

// source is one of the latencies that fio gives for a direction.
type source struct {
	l          *latency
	unit       float64 // nanoseconds
	completion bool    // clat
}

// best chooses what to use of a direction: what begins nearest to the submission, but a histogram before
// percentiles, and these before none.
func (d *direction) best() source {
	all := []source{{l: d.LatNS, unit: 1}, {l: d.ClatNS, unit: 1, completion: true}, {l: d.Lat, unit: 1000}, {l: d.Clat, unit: 1000, completion: true}}
	for _, has := range []func(*latency) bool{
		func(l *latency) bool { return len(l.Bins) > 0 },
		func(l *latency) bool { return len(l.Percentiles) > 0 },
		func(*latency) bool { return true },
	} {
		for _, s := range all {
			if s.l != nil && has(s.l) {
				return s
			}
		}
	}
	return source{}
}

// sum adds up entries of one direction.
type sum struct {
	ios, bytes, short uint64
	iops, rate        float64
	hist              histogram.Histogram
	figures           moments
	percentiles       map[string]int64 // of a single entry without bins
	entries           int              // with I/Os
	noHistogram       bool
}

// moments are the figures that add without a histogram.
type moments struct {
	n            uint64
	lo, hi       int64
	mean, square float64 // of all: mean, and mean of the squares
}

func (m *moments) add(o moments) {
	if o.n == 0 {
		return
	}
	if m.n == 0 {
		*m = o
		return
	}
	all := float64(m.n) + float64(o.n)
	part := float64(o.n) / all
	m.mean += (o.mean - m.mean) * part
	m.square += (o.square - m.square) * part
	m.n += o.n
	m.lo, m.hi = min(m.lo, o.lo), max(m.hi, o.hi)
}

// add takes in one entry's direction, and returns which latency it used.
func (s *sum) add(d *direction, isSync bool) (source, error) {
	one := sum{entries: 1}
	bytes := d.Bytes
	if d.KBytes == nil {
		bytes *= 1024
	}
	var err error
	for _, c := range []struct {
		to   *uint64
		from float64
	}{{&one.ios, d.IOs}, {&one.bytes, bytes}, {&one.short, d.Short}} {
		var e error
		*c.to, e = whole64(c.from)
		err = errors.Join(err, e)
	}
	one.iops, one.rate = d.IOPS, d.BWBytes
	if one.rate == 0 {
		one.rate = d.BW * 1024
	}
	if !(one.iops >= 0 && one.iops < 1e18 && one.rate >= 0 && one.rate < 1e18) {
		err = errors.Join(err, fmt.Errorf("a rate of %g I/Os per second", d.IOPS))
	}
	used := d.best()
	if err == nil && used.l != nil {
		err = one.latency(used, isSync)
	}
	if err != nil || one.ios == 0 && one.figures.n == 0 {
		return used, err
	}
	return used, s.merge(&one)
}

// latency takes in the latencies of the only entry.
func (s *sum) latency(from source, isSync bool) error {
	l := from.l
	n, err := whole64(l.N)
	if err != nil {
		return err
	}
	if n == 0 { // up to 3.18 fio does not say it
		n = s.ios
	}
	if n == 0 {
		return nil
	}
	if isSync {
		s.ios = n
	}
	ns := func(v float64) int64 { return int64(math.Round(min(max(v*from.unit, 0), histogram.Highest))) }
	if !(l.Min <= l.Max) || math.Abs(l.Mean) > 1e18 || math.Abs(l.StdDev) > 1e18 {
		return fmt.Errorf("a latency from %g to %g with a mean of %g", l.Min, l.Max, l.Mean)
	}
	lo, hi := ns(l.Min), ns(l.Max)
	if n == 1 { // fio's minimum of a single one may be rounded otherwise than its maximum
		lo = hi
	}
	mean := min(max(l.Mean*from.unit, float64(lo)), float64(hi))
	deviation := min(max(l.StdDev*from.unit, 0), float64(hi-lo)/2)
	if len(l.Bins) > 0 {
		return s.fromBins(l.Bins, from.unit, lo, hi, mean, deviation)
	}
	s.noHistogram = true
	s.figures = moments{n: n, lo: lo, hi: hi, mean: mean, square: mean*mean + deviation*deviation}
	s.percentiles = map[string]int64{}
	for key, v := range l.Percentiles {
		p, err := strconv.ParseFloat(key, 64)
		if err != nil || !(p >= 0 && p <= 100) {
			return fmt.Errorf("a percentile %q", key)
		}
		if p > 0 {
			s.percentiles[result.PercentileKey(p)] = min(max(ns(v), lo), hi)
		}
	}
	return nil
}

// fromBins makes the histogram: of each bin only its middle is known, of all together minimum, maximum,
// mean and deviation.
func (s *sum) fromBins(bins map[string]float64, unit float64, lo, hi int64, mean, deviation float64) error {
	type bin struct {
		ns int64
		n  uint64
	}
	var all []bin
	total := uint64(0)
	for key, count := range bins {
		v, err := strconv.ParseFloat(key, 64)
		n, countErr := whole64(count)
		if err != nil || countErr != nil || !(v >= 0) || n > 1<<52 {
			return fmt.Errorf("a bin %q with %g values", key, count)
		}
		if n == 0 {
			continue
		}
		if total += n; total > 1<<53 {
			return errors.New("bins with more values than a run can measure")
		}
		all = append(all, bin{ns: min(max(int64(math.Round(min(v*unit, histogram.Highest))), lo), hi), n: n})
	}
	if total == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b bin) int { return int(a.ns - b.ns) })
	r := histogram.NewRecorder()
	record := func(ns int64, n uint64) {
		for ; n > 0; n -= min(n, math.MaxUint32) {
			r.RecordN(ns, uint32(min(n, math.MaxUint32)))
		}
	}
	// The ends are known themselves: one value of the first bin is the minimum, one of the last the maximum.
	if first, last := &all[0], &all[len(all)-1]; total == 1 {
		first.ns, lo = hi, hi
	} else {
		first.n--
		last.n--
		record(lo, 1)
		record(hi, 1)
	}
	for _, b := range all {
		record(b.ns, b.n)
	}
	s.hist.AddRecorder(r)
	mean = min(max(mean, float64(lo)), float64(hi))
	deviation = min(deviation, float64(hi-lo)/2)
	if err := s.hist.Restore(lo, hi, mean, deviation); err != nil {
		return err
	}
	s.figures = moments{n: total, lo: lo, hi: hi, mean: mean, square: mean*mean + deviation*deviation}
	return nil
}

// merge adds what o holds.
func (s *sum) merge(o *sum) error {
	if s.ios+o.ios > 1<<53 || s.figures.n+o.figures.n > 1<<53 || s.bytes+o.bytes > 1<<62 {
		return errors.New("more I/Os than a run can do")
	}
	if o.entries == 0 {
		return nil
	}
	s.ios += o.ios
	s.bytes += o.bytes
	s.short += o.short
	s.iops += o.iops
	s.rate += o.rate
	s.hist.Merge(&o.hist)
	s.figures.add(o.figures)
	s.noHistogram = s.noHistogram || o.noHistogram
	if s.entries == 0 {
		s.percentiles = o.percentiles
	} else {
		s.percentiles = nil // those of several are not to be had from those of each
	}
	s.entries += o.entries
	return nil
}

// stat is the sum as a figure of the document.
func (s *sum) stat() *result.Stat {
	out := &result.Stat{IOs: s.ios, Bytes: s.bytes, Short: s.short, IOPS: s.iops, BytesPerS: s.rate, Latency: &result.Latency{}}
	f := &s.figures
	if f.n == 0 {
		return out
	}
	l := out.Latency
	l.Count, l.Min, l.Max = f.n, f.lo, f.hi
	l.Mean = min(max(int64(math.Round(f.mean)), f.lo), f.hi)
	l.StdDev = min(int64(math.Round(math.Sqrt(max(f.square-f.mean*f.mean, 0)))), (f.hi-f.lo)/2)
	l.Percentiles = s.percentiles
	if s.noHistogram {
		return out
	}
	l.Percentiles = map[string]int64{}
	for _, p := range result.DefaultPercentiles {
		l.Percentiles[result.PercentileKey(p)] = s.hist.Percentile(p)
	}
	l.HDR, _ = s.hist.Encode() // it fails at 2^63 values only
	return out
}
