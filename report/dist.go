package report

import (
	"math"

	"blkstorm/histogram"
	"blkstorm/result"
)

// Limits of the distributions that a page holds.
const (
	maxSplit  = 400  // points that have reads and writes apart
	maxCurves = 4000 // points that have a curve at all
	// curveSteps are the steps per decade of 1/(1-p), up to 1e5: the 99.999th percentile.
	curveSteps = 12
)

// distribution is the latencies of one direction of a point.
type distribution struct {
	Name string `json:"name"`
	// Curve has the percentiles at 1/(1-p) = 10^(i/curveSteps), in nanoseconds, as far as there are I/Os for it.
	Curve     column   `json:"curve"`
	Histogram []uint64 `json:"hist"` // class, count, class, count, ...
}

// pointCurves is what the page's charts of distributions have of one point.
type pointCurves struct {
	Point int            `json:"point"`
	Of    []distribution `json:"of"`
}

// curvePercents are the percentiles of a curve.
var curvePercents = func() (ps []float64) {
	for i := 0; i <= 5*curveSteps; i++ {
		ps = append(ps, 100*(1-math.Pow(10, -float64(i)/curveSteps)))
	}
	return ps
}()

// curves are the distributions of all points whose document has histograms. What cannot be decoded is left out: the
// page says then that there is none.
func curves(d *result.Doc) []pointCurves {
	out := []pointCurves{}
	for i, p := range d.Points {
		if len(out) == maxCurves {
			break
		}
		if p.Total == nil || p.Total.IOs == 0 {
			continue
		}
		c := pointCurves{Point: i}
		ds := directions(p)
		if len(ds) != 1 {
			c.add("total", p.Total)
		}
		if len(d.Points) <= maxSplit || len(ds) == 1 {
			for _, dir := range ds {
				c.add(dir.Name, dir.Stat)
			}
		}
		if len(c.Of) > 0 {
			out = append(out, c)
		}
	}
	return out
}

func (c *pointCurves) add(name string, s *result.Stat) {
	h := histogramOf(s.Latency)
	if h == nil || h.Count() == 0 {
		return
	}
	n := 0
	for n < len(curvePercents) && float64(h.Count())*(1-curvePercents[n]/100) >= 1-1e-9 {
		n++
	}
	values := make([]int64, n)
	h.Percentiles(curvePercents[:n], values)
	curve := make(column, n)
	for i, v := range values {
		curve[i] = float64(v)
	}
	var all counts
	all.addHistogram(h)
	c.Of = append(c.Of, distribution{Name: name, Curve: curve, Histogram: all.sparse()})
}

// histogramOf decodes the histogram of a latency; nil when there is none.
func histogramOf(l *result.Latency) *histogram.Histogram {
	if l == nil || l.HDR == "" {
		return nil
	}
	h, err := histogram.Decode(l.HDR)
	if err != nil {
		return nil
	}
	// The exact ends go with it where they fit; a file that contradicts itself keeps the buckets' own.
	_ = h.Restore(l.Min, l.Max, float64(l.Mean), float64(l.StdDev))
	return h
}

// direction is one of a point's directions with I/Os in it, the total not among them.
type direction struct {
	Name string
	Stat *result.Stat
}

// directions lists those in which something happened, syncs included.
func directions(p *result.Point) []direction {
	return used(direction{"read", p.Read}, direction{"write", p.Write}, direction{"trim", p.Trim}, direction{"sync", p.Sync})
}

func used(ds ...direction) (out []direction) {
	for _, d := range ds {
		if s := d.Stat; s != nil && s.IOs+s.Errors+s.Short+s.Zero > 0 {
			out = append(out, d)
		}
	}
	return out
}
