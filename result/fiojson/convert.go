package fiojson

import (
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"blkstorm/device"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/verdict"
)

// allClients is the name of the entry in which fio adds up its clients. It is not used where they are
// there themselves: fio's own sum has been wrong in several versions.
const allClients = "All clients"

// convert makes a result document of fio's.
func convert(in *document, cut bool) (*Output, error) {
	jobs := in.Jobs
	if len(in.Clients) > 0 {
		jobs = in.Clients
		if len(jobs) > 1 {
			jobs = slices.DeleteFunc(slices.Clone(jobs), func(j *job) bool { return j != nil && j.Name == allClients })
		}
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("%w: it has no jobs", ErrDamaged)
	}
	c := &converter{in: in, out: &Output{Doc: &result.Doc{Schema: result.Schema, Points: []*result.Point{}, Targets: []*device.Facts{}}}}
	if in.Version != nil {
		c.out.Doc.Version = *in.Version
	}
	for i, j := range jobs {
		if j == nil {
			return nil, fmt.Errorf("%w: jobs[%d] is null", ErrDamaged, i)
		}
		if err := c.job(j); err != nil {
			return nil, fmt.Errorf("%w: job %q: %w", ErrDamaged, j.Name, err)
		}
	}
	for _, p := range c.points {
		if err := c.finish(p); err != nil {
			return nil, fmt.Errorf("%w: job %q: %w", ErrDamaged, p.name, err)
		}
	}
	c.head(cut)
	return c.out, nil
}

type converter struct {
	in     *document
	out    *Output
	points []*point
	hosts  []string
	bins   bool // some latency has bins
	noBins bool // some has none
	clat   bool // some is fio's completion latency
	mixed  bool
}

// point is a point while its entries are added.
type point struct {
	name    string
	group   int64
	options map[string]string
	entries int
	start   time.Time
	runtime float64 // s
	failed  []int64 // fio's errors
	faults  uint64
	ops     [4]sum // read, write, trim, sync
}

// The directions, as in point.ops.
const (
	read = iota
	write
	trim
	sync
)

// job adds an entry to its point.
func (c *converter) job(j *job) error {
	i := slices.IndexFunc(c.points, func(p *point) bool { return p.name == j.Name && p.group == j.Group })
	if i < 0 {
		i = len(c.points)
		c.points = append(c.points, &point{name: j.Name, group: j.Group, options: options(c.in.Global, j.Options)})
	}
	p := c.points[i]
	p.entries++
	if j.Host != "" && !slices.Contains(c.hosts, j.Host) {
		c.hosts = append(c.hosts, j.Host)
	}
	if start := c.start(j); p.start.IsZero() || start.Before(p.start) {
		p.start = start
	}
	if j.Error != 0 {
		p.failed = append(p.failed, j.Error)
	}
	faults, err := whole64(j.TotalError)
	if err != nil {
		return err
	}
	p.faults += faults
	if j.Mixed != nil {
		c.mixed = true
	}
	for o, d := range []*direction{read: j.Read, write: j.Write, trim: j.Trim, sync: j.Sync} {
		if o == read && d == nil {
			d = j.Mixed
		}
		if d == nil {
			continue
		}
		if !(d.Runtime >= 0 && d.Runtime < 1e12) {
			return fmt.Errorf("a runtime of %g ms", d.Runtime)
		}
		p.runtime = max(p.runtime, d.Runtime/1000)
		used, err := p.ops[o].add(d, o == sync)
		if err != nil {
			return err
		}
		c.note(used, d, o)
	}
	return nil
}

// note remembers what kind of latency was used.
func (c *converter) note(used source, d *direction, o int) {
	switch {
	case used.l == nil || d.IOs == 0 && used.l.N == 0:
		return
	case len(used.l.Bins) > 0:
		c.bins = true
	case o != sync:
		c.noBins = true
	}
	if used.completion {
		c.clat = true
	}
}

// start is when the entry's job started, as near as fio says it.
func (c *converter) start(j *job) time.Time {
	ms := c.in.TimestampMS
	if ms == 0 {
		ms = c.in.Timestamp * 1000
	}
	switch {
	case j.Start > 0:
		ms = j.Start
	case ms > 0 && j.Elapsed > 0:
		ms -= j.Elapsed * 1000
	}
	if !(ms > 0 && ms < 7e12) { // of no year up to 2190
		return time.Time{}
	}
	return time.UnixMilli(int64(ms)).UTC()
}

// options are those of a job, over those of all.
func options(global, own map[string]any) map[string]string {
	out := map[string]string{}
	for _, from := range []map[string]any{global, own} {
		for key, value := range from {
			out[key] = fmt.Sprint(value)
		}
	}
	return out
}

// number is an option that is a number, or other.
func (p *point) number(key string, other int) int {
	n, err := strconv.Atoi(p.options[key])
	if err != nil || n < 1 || n > 1<<20 {
		return other
	}
	return n
}

// finish makes the point's part of the document.
func (c *converter) finish(p *point) error {
	label := p.name
	if label == "" {
		label = fmt.Sprintf("job %d", len(c.out.Doc.Points)+1)
	}
	out := &result.Point{
		Label: label, Phase: plan.Measure, Threads: max(p.number("numjobs", p.entries), 1), IODepth: p.number("iodepth", 1),
		EngineName: p.options["ioengine"], Started: p.start, WindowS: p.runtime, Completed: len(p.failed) == 0, Faults: p.faults,
		PerThread: []result.Thread{}, Errors: []result.IOError{}, Stuck: []result.Stuck{}, Targets: []*result.Target{}, Warnings: []verdict.Warning{},
	}
	var total sum
	for o := range p.ops {
		if o != sync {
			if err := total.merge(&p.ops[o]); err != nil {
				return err
			}
		}
	}
	out.Total, out.Read, out.Write, out.Trim, out.Sync = total.stat(), p.ops[read].stat(), p.ops[write].stat(), p.ops[trim].stat(), p.ops[sync].stat()
	out.Issued = result.Issued{Read: out.Read.IOs, Write: out.Write.IOs, Trim: out.Trim.IOs, Sync: out.Sync.IOs}
	out.Streams = []*result.Stream{{
		Label: label, Workload: p.options["rw"], Threads: out.Threads, IODepth: out.IODepth, Targets: []int{},
		Total: out.Total, Read: out.Read, Write: out.Write, Trim: out.Trim, Sync: out.Sync,
	}}
	if len(p.failed) > 0 {
		out.Failure = fmt.Sprintf("fio ended it with error %d", p.failed[0])
	}
	c.target(p.options["filename"])
	c.out.Doc.Points = append(c.out.Doc.Points, out)
	c.out.Options = append(c.out.Options, p.options)
	return nil
}

// target lists the files of an option: several are divided by colons, of which a name may have escaped ones.
func (c *converter) target(filename string) {
	const escaped = "\x00"
	for name := range strings.SplitSeq(strings.ReplaceAll(filename, `\:`, escaped), ":") {
		name = strings.ReplaceAll(name, escaped, ":")
		if name != "" && !slices.ContainsFunc(c.out.Doc.Targets, func(f *device.Facts) bool { return f.Path == name }) {
			c.out.Doc.Targets = append(c.out.Doc.Targets, &device.Facts{Path: name})
		}
	}
}

// head fills in what concerns the whole document.
func (c *converter) head(cut bool) {
	d := c.out.Doc
	id := fnv.New64a()
	for i, p := range d.Points {
		if i == 0 || p.Started.Before(d.Started) {
			d.Started = p.Started
		}
		fmt.Fprintf(id, "%s %d %d %d %g\n", p.Label, p.Started.UnixNano(), p.Total.IOs, p.Total.Bytes, p.WindowS)
	}
	d.ID = fmt.Sprintf("%016x", id.Sum64())
	d.Host.Hostname = strings.Join(c.hosts, ",")
	d.Warnings = []verdict.Warning{}
	warn := func(is bool, code, message, advice string) {
		if is {
			d.Warnings = append(d.Warnings, verdict.Warning{Code: code, Message: message, Advice: advice})
		}
	}
	warn(c.noBins, "fio_no_bins", "fio wrote percentiles without the histogram behind them: they cannot be merged with others",
		"run fio with --output-format=json+")
	warn(c.bins, "fio_bins", "latencies come from fio's bins: percentiles are up to 0.8 % off", "keep that in mind when they are compared")
	warn(c.clat && c.in.Ours == nil, "fio_completion_latency", "latencies are fio's clat, which begins after the submission; those of blkstorm begin before it",
		"run fio with --lat_percentiles=1 for comparable ones")
	warn(c.mixed, "fio_mixed", "fio did not tell reads from writes (unified_rw_reporting): all I/Os are shown as reads", "run fio without unified_rw_reporting")
	if c.in.Ours != nil { // its clat is its lat, and what it warned of still holds
		d.Warnings = append(d.Warnings, c.in.Ours.Warnings...)
	}
	warn(cut, "fio_cut_short", "the last document of the file is cut short: the one before it is used", "take the figures for those of an earlier moment")
}

// whole64 is a count, which fio may have written with a decimal point.
func whole64(f float64) (uint64, error) {
	if !(f >= 0 && f <= 1<<62) {
		return 0, fmt.Errorf("a count of %g", f)
	}
	return uint64(math.Round(f)), nil
}
