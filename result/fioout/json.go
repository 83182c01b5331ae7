package fioout

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"blkstorm/host"
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
	o.add("job options", options(r.last.Own))
	if text := r.job.Text("description", ""); text != "" {
		o.add("desc", text)
	}
	unified := r.unified()
	if unified != "mixed" {
		for _, one := range directions {
			o.add(one.name, r.direction(in, &r.ops[one.op]))
		}
		sync := &r.ops[op.Sync]
		o.add("sync", object{{"total_ios", sync.ios}, {"lat_ns", latency(sync, percentiles(r.job), in.Plus)}})
	}
	if unified != "" {
		o.add("mixed", r.direction(in, r.mixed()))
	}
	o.add("job_runtime", r.summed.Milliseconds())
	wall := max(r.summed, time.Millisecond)
	o.add("usr_cpu", 100*r.usage.User.Seconds()/wall.Seconds())
	o.add("sys_cpu", 100*r.usage.System.Seconds()/wall.Seconds())
	o.add("ctx", r.usage.Switches)
	o.add("majf", r.usage.MajorFaults)
	o.add("minf", r.usage.MinorFaults)
	o.add("iodepth_level", r.depthLevels())
	o.add("iodepth_submit", r.batches())
	o.add("iodepth_complete", r.batches())
	for _, g := range r.bucketGroups() {
		o.add(g.key, g.shares)
	}
	r.latencyTarget(&o)
	if r.steady != nil {
		o.add("steadystate", r.steady.json())
	}
	return o
}

// unified says how directions are put together: empty is not at all, mixed instead of each, both beside each.
func (r *report) unified() string {
	switch r.job.Text("unified_rw_reporting", "none") {
	case "mixed", "1":
		return "mixed"
	case "both", "2":
		return "both"
	}
	return ""
}

// mixed is all directions as one.
func (r *report) mixed() *direction {
	var all direction
	for _, one := range directions {
		d := &r.ops[one.op]
		all.ios, all.bytes, all.short, all.dropped = all.ios+d.ios, all.bytes+d.bytes, all.short+d.short, all.dropped+d.dropped
		all.runtime = max(all.runtime, d.runtime)
		all.latency.Merge(&d.latency)
		all.series = append(all.series, d.series...)
	}
	return &all
}

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
	agg := 0.0
	if bw.samples > 0 {
		agg = 100
	}
	o.add("bw_min", int64(bw.min/1024))
	o.add("bw_max", int64(bw.max/1024))
	o.add("bw_agg", agg)
	o.add("bw_mean", bw.mean/1024)
	o.add("bw_dev", bw.dev/1024)
	o.add("bw_samples", bw.samples)
	o.add("iops_min", int64(iops.min))
	o.add("iops_max", int64(iops.max))
	o.add("iops_mean", iops.mean)
	o.add("iops_stddev", iops.dev)
	o.add("iops_samples", iops.samples)
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

// depthLevels is the distribution over queue depths. The depth is kept exactly, so that all I/Os have it.
func (r *report) depthLevels() object {
	level := object{}
	found := !r.any()
	for _, step := range []struct {
		key string
		max int
	}{{"1", 1}, {"2", 3}, {"4", 7}, {"8", 15}, {"16", 31}, {"32", 63}, {">=64", math.MaxInt}} {
		v := 0.0
		if !found && r.depth <= step.max {
			found, v = true, 100
		}
		level.add(step.key, v)
	}
	return level
}

// batches is the distribution over I/Os per call, which is not counted: slots are filled as they become free.
func (r *report) batches() object {
	dist := object{}
	for _, key := range []string{"0", "4", "8", "16", "32", "64", ">=64"} {
		v := 0.0
		if r.any() && key == "4" {
			v = 100
		}
		dist.add(key, v)
	}
	return dist
}

func (r *report) any() bool {
	for i := range r.ops {
		if r.ops[i].ios > 0 {
			return true
		}
	}
	return false
}

// bucketGroup is the shares of I/Os by latency in one unit.
type bucketGroup struct {
	key, unit string
	shares    object
}

// bucketGroups are over all directions.
func (r *report) bucketGroups() []bucketGroup {
	steps := []int64{2, 4, 10, 20, 50, 100, 250, 500, 750, 1000}
	list := []bucketGroup{{"latency_ns", "n", nil}, {"latency_us", "u", nil}, {"latency_ms", "m", nil}}
	var total uint64
	for _, one := range directions {
		total += r.ops[one.op].ios
	}
	last, unit := int64(-1), int64(1)
	for i := range list {
		if i == len(list)-1 {
			steps = append(steps, 2000)
		}
		for _, step := range steps {
			list[i].shares.add(strconv.FormatInt(step, 10), r.share(last, step*unit, total))
			last = step * unit
		}
		unit *= 1000
	}
	list[2].shares.add(">=2000", r.share(last, math.MaxInt64, total))
	return list
}

// share is how many I/Os in 100 took over low and up to high, in ns.
func (r *report) share(low, high int64, total uint64) float64 {
	if total == 0 {
		return 0
	}
	var n uint64
	for _, one := range directions {
		for b := range r.ops[one.op].latency.Buckets() {
			if b.High > low && b.High <= high {
				n += b.Count
			}
		}
	}
	return 100 * float64(n) / float64(total)
}

// disk is the growth of the kernel's counters of one.
type disk struct {
	name string
	host.DiskStats
	util float64 // percent
}

// disks are over all points; none where there are no counters, or the jobs do not want them.
func (in *Input) disks() (list []disk) {
	for i, t := range in.Doc.Targets {
		if t.Name == "" || i >= len(in.Disks) || !in.Work.Clones[0].Job.On("disk_util", true) {
			continue
		}
		d := disk{name: t.Name, DiskStats: in.Disks[i]}
		if in.DiskTime > 0 {
			d.util = min(100*float64(d.IOTicksMS)/(1000*in.DiskTime.Seconds()), 100)
		}
		list = append(list, d)
	}
	return list
}

func diskUtil(in *Input) (list []any) {
	for _, d := range in.disks() {
		list = append(list, object{
			{"name", d.name},
			{"read_ios", d.ReadIOs}, {"write_ios", d.WriteIOs}, {"read_sectors", d.ReadBytes / 512}, {"write_sectors", d.WriteBytes / 512},
			{"read_merges", d.ReadMerges}, {"write_merges", d.WriteMerges}, {"read_ticks", d.ReadTimeMS}, {"write_ticks", d.WriteTimeMS},
			{"in_queue", d.TimeInQueueMS}, {"util", d.util},
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
