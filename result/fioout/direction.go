package fioout

import (
	"math"
	"strconv"

	"blkstorm/histogram"
	"blkstorm/plan/fiojob"
	"blkstorm/result"
)

func (r *report) direction(in *Input, d *direction) object {
	o := object{}
	o.add("io_bytes", d.bytes)
	o.add("io_kbytes", d.bytes/1024)
	rate, iops := d.rates()
	o.add("bw_bytes", int64(rate))
	o.add("bw", int64(rate/1024))
	o.add("iops", iops)
	o.add("runtime", d.runtime.Milliseconds())
	o.add("total_ios", d.ios)
	o.add("short_ios", d.short)
	o.add("drop_ios", d.dropped)
	none := direction{}
	o.add("slat_ns", latency(&none, nil, false))
	list := percentiles(r.job)
	clat, lat := list, []float64(nil)
	if !r.job.On("clat_percentiles", true) {
		clat = nil
	}
	if r.job.On("lat_percentiles", false) {
		lat = list
	}
	o.add("clat_ns", latency(d, clat, in.Plus && clat != nil))
	o.add("lat_ns", latency(d, lat, in.Plus && lat != nil))
	d.samples(&o)
	return o
}

// rates are bytes and I/Os per second.
func (d *direction) rates() (bytes, ios float64) {
	if d.runtime <= 0 {
		return 0, 0
	}
	return float64(d.bytes) / d.runtime.Seconds(), float64(d.ios) / d.runtime.Seconds()
}

// spread is of rates from interval to interval.
type spread struct {
	samples             int
	min, max, mean, dev float64
}

// spreads are those of bandwidth and of IOPS. Of a group, the rates of clones are added up, as they run side
// by side.
func (d *direction) spreads() (bw, iops spread) {
	for i := range d.series {
		bw.add(&d.series[i].BytesPerS)
		iops.add(&d.series[i].IOPS)
	}
	bw.dev, iops.dev = math.Sqrt(bw.dev), math.Sqrt(iops.dev)
	return bw, iops
}

// add adds a clone's; dev is a variance meanwhile.
func (s *spread) add(o *result.Spread) {
	s.samples += o.Samples
	s.min, s.max, s.mean = s.min+o.Min, s.max+o.Max, s.mean+o.Mean
	s.dev += square(o.StdDev())
}

// samples adds the spreads.
func (d *direction) samples(o *object) {
	bw, iops := d.spreads()
	o.add("bw_min", int64(bw.min/1024))
	o.add("bw_max", int64(bw.max/1024))
	o.add("bw_agg", d.ofGroup(&bw))
	o.add("bw_mean", bw.mean/1024)
	o.add("bw_dev", bw.dev/1024)
	o.add("bw_samples", bw.samples)
	o.add("iops_min", int64(iops.min))
	o.add("iops_max", int64(iops.max))
	o.add("iops_mean", iops.mean)
	o.add("iops_stddev", iops.dev)
	o.add("iops_samples", iops.samples)
}

// ofGroup is a mean bandwidth in percent of what its group did.
func (d *direction) ofGroup(bw *spread) float64 {
	if bw.samples == 0 || d.together <= 0 {
		return 0
	}
	return min(100*bw.mean/d.together, 100)
}

func square(v float64) float64 { return v * v }

// latency is one set of latencies. Service time is measured from before the submit call, so that there is no
// part of it that is submission alone: it is fio's lat, and its clat, and slat has no samples.
func latency(d *direction, list []float64, bins bool) object {
	h := &d.latency
	o := object{}
	o.add("min", h.Min())
	o.add("max", h.Max())
	o.add("mean", h.Mean())
	o.add("stddev", deviation(h))
	o.add("N", h.Count())
	if h.Count() == 0 {
		return o
	}
	if list != nil {
		p := object{}
		for _, v := range list {
			p.add(decimal(v), h.Percentile(v))
		}
		o.add("percentile", p)
	}
	if bins {
		b := object{}
		for bucket := range h.Buckets() {
			b.add(strconv.FormatInt(bucket.Low+(bucket.High-bucket.Low)/2, 10), bucket.Count)
		}
		o.add("bins", b)
	}
	return o
}

// deviation is that of a sample, as fio's is.
func deviation(h *histogram.Histogram) float64 {
	n := float64(h.Count())
	if n < 2 {
		return 0
	}
	return h.StdDev() * math.Sqrt(n/(n-1))
}

// defaultPercentiles are fio's.
var defaultPercentiles = []float64{1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99}

func percentiles(j *fiojob.Job) []float64 {
	if list := j.Floats("percentile_list"); len(list) > 0 {
		return list
	}
	return defaultPercentiles
}
