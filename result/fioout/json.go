package fioout

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"blkstorm/op"
	"blkstorm/plan/fiojob"
	"blkstorm/plan/fiojob/jobfile"
	"blkstorm/result"
)

// Version is what fio's consumers are told of the form.
const Version = "fio-3.42"

// WriteJSON writes one document in fio's form.
func WriteJSON(w io.Writer, in *Input) error {
	list, err := reports(in)
	if err != nil {
		return err
	}
	var doc object
	doc.add("fio version", Version)
	doc.add("timestamp", in.Now.Unix())
	doc.add("timestamp_ms", in.Now.UnixMilli())
	doc.add("time", in.Now.Local().Format("Mon Jan _2 15:04:05 2006"))
	if globals := options(in.Work.Clones[0].Job.Globals); len(globals) > 0 {
		doc.add("global options", globals)
	}
	jobs := []any{}
	for _, r := range list {
		jobs = append(jobs, r.json(in))
	}
	doc.add("jobs", jobs)
	if disks := diskUtil(in); disks != nil {
		doc.add("disk_util", disks)
	}
	doc.add("blkstorm", remarks(in))
	var b strings.Builder
	write(&b, doc, 0)
	b.WriteByte('\n')
	_, err = io.WriteString(w, b.String())
	return err
}

// options are settings under their canonical names, as strings; one that is given twice is there twice.
func options(settings []jobfile.Setting) object {
	o := object{}
	for _, s := range settings {
		name := s.Name
		if known := fiojob.Lookup(name); known != nil {
			name = known.Name
		}
		o.add(name, s.Value)
	}
	return o
}

func (r *report) json(in *Input) object {
	o := object{}
	o.add("jobname", r.name)
	o.add("groupid", r.group)
	o.add("job_start", r.started.UnixMilli())
	o.add("error", r.errno)
	o.add("eta", in.ETA)
	o.add("elapsed", int64(math.Ceil(r.elapsed.Seconds())))
	o.add("job options", options(r.job.Own))
	names := [...]string{op.Read: "read", op.Write: "write", op.Trim: "trim"}
	for _, d := range []op.Op{op.Read, op.Write, op.Trim} {
		o.add(names[d], r.direction(in, d))
	}
	sync := &r.ops[op.Sync]
	o.add("sync", object{{"total_ios", sync.ios}, {"lat_ns", latency(sync, nil, in.Plus)}})
	o.add("job_runtime", r.summed.Milliseconds())
	wall := max(r.summed, time.Millisecond)
	o.add("usr_cpu", 100*r.usage.User.Seconds()/wall.Seconds())
	o.add("sys_cpu", 100*r.usage.System.Seconds()/wall.Seconds())
	o.add("ctx", r.usage.Switches)
	o.add("majf", r.usage.MajorFaults)
	o.add("minf", r.usage.MinorFaults)
	r.depths(&o)
	r.buckets(&o)
	o.add("latency_depth", r.depth)
	o.add("latency_target", int64(0))
	o.add("latency_target_ns", int64(0))
	o.add("latency_percentile", 100.0)
	o.add("latency_window", int64(0))
	o.add("latency_window_us", int64(0))
	return o
}

func (r *report) direction(in *Input, which op.Op) object {
	d := &r.ops[which]
	o := object{}
	o.add("io_bytes", d.bytes)
	o.add("io_kbytes", d.bytes/1024)
	var rate, iops float64
	if d.runtime > 0 {
		rate, iops = float64(d.bytes)/d.runtime.Seconds(), float64(d.ios)/d.runtime.Seconds()
	}
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
		if !r.job.Has("clat_percentiles") {
			clat = nil
		}
	}
	o.add("clat_ns", latency(d, clat, in.Plus && clat != nil))
	o.add("lat_ns", latency(d, lat, in.Plus && lat != nil))
	d.samples(&o)
	return o
}

// samples adds the spread of rates from interval to interval. Of a group, the rates of clones are added up,
// as they run side by side.
func (d *direction) samples(o *object) {
	var bw, iops result.Spread
	var bwDev, iopsDev float64
	for i := range d.series {
		s := &d.series[i]
		bw.Samples += s.BytesPerS.Samples
		bw.Min, bw.Max, bw.Mean = bw.Min+s.BytesPerS.Min, bw.Max+s.BytesPerS.Max, bw.Mean+s.BytesPerS.Mean
		iops.Samples += s.IOPS.Samples
		iops.Min, iops.Max, iops.Mean = iops.Min+s.IOPS.Min, iops.Max+s.IOPS.Max, iops.Mean+s.IOPS.Mean
		bwDev += square(s.BytesPerS.StdDev()) // of sums of what is independent
		iopsDev += square(s.IOPS.StdDev())
	}
	agg := 0.0
	if bw.Samples > 0 {
		agg = 100
	}
	o.add("bw_min", int64(bw.Min/1024))
	o.add("bw_max", int64(bw.Max/1024))
	o.add("bw_agg", agg)
	o.add("bw_mean", bw.Mean/1024)
	o.add("bw_dev", math.Sqrt(bwDev)/1024)
	o.add("bw_samples", bw.Samples)
	o.add("iops_min", int64(iops.Min))
	o.add("iops_max", int64(iops.Max))
	o.add("iops_mean", iops.Mean)
	o.add("iops_stddev", math.Sqrt(iopsDev))
	o.add("iops_samples", iops.Samples)
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
	o.add("stddev", h.StdDev())
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
			b.add(strconv.FormatInt(bucket.High, 10), bucket.Count)
		}
		o.add("bins", b)
	}
	return o
}

// defaultPercentiles are fio's.
var defaultPercentiles = []float64{1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99, 99.5, 99.9, 99.95, 99.99}

func percentiles(j *fiojob.Job) []float64 {
	if list := j.Floats("percentile_list"); len(list) > 0 {
		return list
	}
	return defaultPercentiles
}

// depths adds the distributions over queue depths. The depth is kept exactly, so that all I/Os have it; and
// slots are filled in one call.
func (r *report) depths(o *object) {
	var any bool
	for i := range r.ops {
		any = any || r.ops[i].ios > 0
	}
	level := object{}
	for _, step := range []struct {
		key string
		max int
	}{{"1", 1}, {"2", 3}, {"4", 7}, {"8", 15}, {"16", 31}, {"32", 63}, {">=64", math.MaxInt}} {
		v := 0.0
		if any && r.depth <= step.max && !has(level) {
			v = 100
		}
		level.add(step.key, v)
	}
	o.add("iodepth_level", level)
	for _, key := range []string{"iodepth_submit", "iodepth_complete"} {
		dist := object{}
		for _, step := range []string{"0", "4", "8", "16", "32", "64", ">=64"} {
			v := 0.0
			if any && step == "4" {
				v = 100
			}
			dist.add(step, v)
		}
		o.add(key, dist)
	}
}

func has(o object) bool {
	for _, m := range o {
		if m.value.(float64) > 0 {
			return true
		}
	}
	return false
}

// buckets adds the shares of I/Os by latency, over all directions.
func (r *report) buckets(o *object) {
	groups := []struct {
		key   string
		unit  int64
		steps []int64
		over  bool
	}{
		{"latency_ns", 1, []int64{2, 4, 10, 20, 50, 100, 250, 500, 750, 1000}, false},
		{"latency_us", 1000, []int64{2, 4, 10, 20, 50, 100, 250, 500, 750, 1000}, false},
		{"latency_ms", 1000000, []int64{2, 4, 10, 20, 50, 100, 250, 500, 750, 1000, 2000}, true},
	}
	var total uint64
	for _, d := range []op.Op{op.Read, op.Write, op.Trim} {
		total += r.ops[d].ios
	}
	last := int64(-1)
	for _, g := range groups {
		out := object{}
		for _, step := range g.steps {
			out.add(strconv.FormatInt(step, 10), r.share(last, step*g.unit, total))
			last = step * g.unit
		}
		if g.over {
			out.add(">=2000", r.share(last, math.MaxInt64, total))
		}
		o.add(g.key, out)
	}
}

// share is how many I/Os in 100 took over low and up to high, in ns.
func (r *report) share(low, high int64, total uint64) float64 {
	if total == 0 {
		return 0
	}
	var n uint64
	for _, d := range []op.Op{op.Read, op.Write, op.Trim} {
		for b := range r.ops[d].latency.Buckets() {
			if b.High > low && b.High <= high {
				n += b.Count
			}
		}
	}
	return 100 * float64(n) / float64(total)
}

// diskUtil is the growth of the kernel's counters over all points; nil where there are none, or the jobs do
// not want them.
func diskUtil(in *Input) []any {
	var list []any
	for i, t := range in.Doc.Targets {
		if t.Name == "" || !in.Work.Clones[0].Job.On("disk_util", true) {
			continue
		}
		if i >= len(in.Disks) {
			continue
		}
		u := &in.Disks[i]
		util := 0.0
		if in.DiskTime > 0 {
			util = min(100*float64(u.IOTicksMS)/float64(in.DiskTime.Milliseconds()+1), 100)
		}
		list = append(list, object{
			{"name", t.Name},
			{"read_ios", u.ReadIOs}, {"write_ios", u.WriteIOs}, {"read_sectors", u.ReadBytes / 512}, {"write_sectors", u.WriteBytes / 512},
			{"read_merges", u.ReadMerges}, {"write_merges", u.WriteMerges}, {"read_ticks", u.ReadTimeMS}, {"write_ticks", u.WriteTimeMS},
			{"in_queue", u.TimeInQueueMS}, {"util", util},
		})
	}
	return list
}

// remarks are what fio's form has no place for.
func remarks(in *Input) object {
	warnings := []any{}
	for _, p := range in.Doc.Points {
		for _, w := range p.Warnings {
			warnings = append(warnings, object{{"job", p.Label}, {"code", w.Code}, {"message", w.Message}, {"advice", w.Advice}})
		}
	}
	for _, w := range in.Doc.Warnings {
		warnings = append(warnings, object{{"code", w.Code}, {"message", w.Message}, {"advice", w.Advice}})
	}
	notes := []any{}
	for _, n := range in.Set.Notes {
		notes = append(notes, n.Error())
	}
	return object{{"version", in.Doc.Version}, {"seed", in.Doc.Plan.Seed}, {"engine", fmt.Sprint(in.engine())}, {"warnings", warnings}, {"notes", notes}}
}

func (in *Input) engine() string {
	if len(in.Doc.Points) == 0 {
		return ""
	}
	return in.Doc.Points[0].EngineName
}
