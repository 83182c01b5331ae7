package fioout

import (
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"blkstorm/op"
	"blkstorm/plan/fiojob"
	"blkstorm/plan/fiojob/jobfile"
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
	if globals := in.globals(); len(globals) > 0 {
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

// globals are the options of all jobs: those that the last one inherits, as fio has it where a file has several
// [global] sections.
func (in *Input) globals() object {
	n := len(in.Work.Clones)
	if n == 0 {
		return nil
	}
	return options(in.Work.Clones[n-1].Job.Globals)
}

// options are settings under their canonical names, as strings; one that is given twice is there twice. Those of
// files are in the order in which fio reads them: what others depend on first, names of files last.
func options(settings []jobfile.Setting) object {
	o := object{}
	var last object
	first := 0
	for _, s := range settings {
		name := s.Name
		if known := fiojob.Lookup(name); known != nil {
			name = known.Name
		}
		switch {
		case s.Pos.Line == 0: // of the command line
			o.add(name, s.Value)
		case slices.Contains(readFirst, name):
			o = slices.Insert(o, first, member{name, s.Value})
			first++
		case name == "filename" || name == "filename_format":
			last.add(name, s.Value)
		default:
			o.add(name, s.Value)
		}
	}
	return append(o, last...)
}

var readFirst = []string{"kb_base", "unit_base", "cpus_allowed_policy", "lockfile"}

func (r *report) json(in *Input) object {
	o := object{}
	o.add("jobname", r.name)
	o.add("groupid", r.group)
	start := int64(0) // of one that did not
	if !r.started.IsZero() {
		start = r.started.UnixMilli()
	}
	o.add("job_start", start)
	o.add("error", r.errno)
	o.add("eta", in.ETA)
	o.add("elapsed", int64(math.Ceil(r.elapsed.Seconds())))
	o.add("job options", options(r.last.Own))
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
	if r.counts() {
		o.add("total_err", r.faults)
		o.add("first_error", r.errno)
	}
	o.add("latency_depth", r.depth)
	o.add("latency_target", int64(0))
	o.add("latency_target_ns", int64(0))
	o.add("latency_percentile", 100.0)
	o.add("latency_window", int64(0))
	o.add("latency_window_us", int64(0))
	if text := r.job.Text("description", ""); text != "" {
		o.add("desc", text)
	}
	return o
}

// counts says whether the job goes on when an I/O fails.
func (r *report) counts() bool {
	return !slices.Contains([]string{"none", "0"}, r.job.Text("continue_on_error", "none"))
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
		all.together += d.together
	}
	return &all
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
	failed := []any{}
	if in.Failed != nil {
		for line := range strings.Lines(in.Failed.Error()) {
			failed = append(failed, strings.TrimSuffix(line, "\n"))
		}
	}
	notes := []any{}
	for _, n := range in.Set.Notes {
		notes = append(notes, n.Error())
	}
	return object{{"version", in.Doc.Version}, {"seed", in.Doc.Plan.Seed}, {"engine", in.engine()}, {"errors", failed}, {"warnings", warnings}, {"notes", notes}}
}

func (in *Input) engine() string {
	if len(in.Doc.Points) == 0 {
		return ""
	}
	return in.Doc.Points[0].EngineName
}
