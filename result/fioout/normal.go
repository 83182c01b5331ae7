package fioout

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"syscall"
	"time"

	"blkstorm/op"
	"blkstorm/printable"
)

// WriteNormal writes the text form, but for its head: for every report what each direction did, then the sums of
// groups and the counters of disks. Programs look for IOPS=, BW=, lat (usec) and clat percentiles in it.
func WriteNormal(w io.Writer, in *Input) error {
	list, err := reports(in)
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteByte('\n')
	for _, r := range list {
		r.normal(&b, in)
	}
	for i := 0; i < len(list); {
		n := i
		for n < len(list) && list[n].group == list[i].group {
			n++
		}
		normalGroup(&b, list[i:n])
		i = n
	}
	normalDisks(&b, in)
	normalRemarks(&b, in)
	_, err = io.WriteString(w, b.String())
	return err
}

// WriteHead writes what stands before the run in the text form: what each job asks for.
func WriteHead(w io.Writer, in *Input) error {
	var b strings.Builder
	clones := in.Work.Clones
	for i := range clones {
		c := &clones[i]
		if c.Number > 0 {
			continue
		}
		spec := in.workload(c)
		sizes := spec.BlockSizes()
		var parts []string
		for i, letter := range []string{"R", "W", "T"} {
			parts = append(parts, fmt.Sprintf("(%s) %s-%s", letter, binary(float64(sizes[i].Min)), binary(float64(sizes[i].Max))))
		}
		fmt.Fprintf(&b, "%s: (g=%d): rw=%s, bs=%s, ioengine=%s, iodepth=%d\n",
			printable.Text(c.Job.Name), c.Group, c.Job.Text("rw", "read"), strings.Join(parts, ", "), c.Job.Text("ioengine", "psync"), c.Job.Number("iodepth", 1))
		if i+1 < len(clones) && clones[i+1].Number > 0 {
			b.WriteString("...\n")
		}
	}
	fmt.Fprintf(&b, "%s\nStarting %d thread%s\n", Version, len(clones), map[bool]string{false: "s"}[len(clones) == 1])
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *report) normal(b *strings.Builder, in *Input) {
	fmt.Fprintf(b, "%s: (groupid=%d, jobs=%d): err=%2d%s: pid=%d: %s\n", printable.Text(r.name), r.group, r.clones, r.errno, reason(r.errno), in.PID, in.Now.Local().Format("Mon Jan _2 15:04:05 2006"))
	if text := r.job.Text("description", ""); text != "" {
		fmt.Fprintf(b, "  Description  : [%s]\n", printable.Text(text))
	}
	unified := r.unified()
	for _, one := range directions {
		if d := &r.ops[one.op]; d.ios > 0 && unified != "mixed" {
			d.normal(b, r, one.name)
		}
	}
	if unified != "" {
		r.mixed().normal(b, r, "mixed")
	}
	r.normalBuckets(b)
	if d := &r.ops[op.Sync]; d.ios > 0 {
		fmt.Fprintf(b, "  fsync/fdatasync/sync_file_range/syncfs:\n    sync %s\n", d.spread())
		d.normalPercentiles(b, "sync", percentiles(r.job))
	}
	wall := max(r.summed, time.Millisecond).Seconds()
	fmt.Fprintf(b, "  cpu          : usr=%3.2f%%, sys=%3.2f%%, ctx=%d, majf=%d, minf=%d\n",
		100*r.usage.User.Seconds()/wall, 100*r.usage.System.Seconds()/wall, r.usage.Switches, r.usage.MajorFaults, r.usage.MinorFaults)
	fmt.Fprintf(b, "  IO depths    : %s\n", percents(r.depthLevels()))
	fmt.Fprintf(b, "     submit    : %s\n", percents(r.batches()))
	fmt.Fprintf(b, "     complete  : %s\n", percents(r.batches()))
	fmt.Fprintf(b, "     issued rwts: total=%s short=%s dropped=%s\n",
		r.four(func(d *direction) uint64 { return d.ios }), r.four(func(d *direction) uint64 { return d.short }), r.four(func(d *direction) uint64 { return d.dropped }))
	if r.counts() {
		fmt.Fprintf(b, "     errors    : total=%d, first_error=%d/<%s>\n", r.faults, r.errno, sentence(r.errno))
	}
	fmt.Fprintf(b, "     latency   : target=0.00ns, window=0.00ns, percentile=100.00%%, depth=%d\n", r.depth)
}

// reason is what stands behind an error's number.
func reason(errno int) string {
	if errno == 0 {
		return ""
	}
	return fmt.Sprintf(" (func=io_u error, error=%s)", sentence(errno))
}

// sentence is the C library's text of an error, which begins with a capital.
func sentence(errno int) string {
	if errno == 0 {
		return "Success"
	}
	text := syscall.Errno(errno).Error()
	return strings.ToUpper(text[:1]) + text[1:]
}

var directions = []struct {
	op    op.Op
	name  string
	upper string
}{{op.Read, "read", "READ"}, {op.Write, "write", "WRITE"}, {op.Trim, "trim", "TRIM"}}

func (r *report) four(of func(*direction) uint64) string {
	return fmt.Sprintf("%d,%d,%d,%d", of(&r.ops[op.Read]), of(&r.ops[op.Write]), of(&r.ops[op.Trim]), of(&r.ops[op.Sync]))
}

func (d *direction) normal(b *strings.Builder, r *report, name string) {
	rate, iops := d.rates()
	fmt.Fprintf(b, "  %s: IOPS=%s, BW=%s (%s)(%s/%dmsec)\n", name, count(iops), binary(rate)+"/s", metric(rate)+"/s", binary(float64(d.bytes)), d.runtime.Milliseconds())
	fmt.Fprintf(b, "    clat %s\n     lat %s\n", d.spread(), d.spread())
	if list := percentiles(r.job); r.job.On("clat_percentiles", true) {
		d.normalPercentiles(b, "clat", list)
	}
	if list := percentiles(r.job); r.job.On("lat_percentiles", false) {
		d.normalPercentiles(b, "lat", list)
	}
	bw, iopsSpread := d.spreads()
	if bw.samples > 0 {
		unit, name := 1024.0, "KiB/s"
		if bw.mean > 10000*1024 {
			unit, name = 1024*1024, "MiB/s"
		}
		fmt.Fprintf(b, "   bw (%5s/s): min=%5.0f, max=%5.0f, per=%3.2f%%, avg=%5.2f, stdev=%5.2f, samples=%d\n",
			"  "+strings.TrimSuffix(name, "/s"), bw.min/unit, bw.max/unit, d.ofGroup(&bw), bw.mean/unit, bw.dev/unit, bw.samples)
		fmt.Fprintf(b, "   iops        : min=%5.0f, max=%5.0f, avg=%5.2f, stdev=%5.2f, samples=%d\n", iopsSpread.min, iopsSpread.max, iopsSpread.mean, iopsSpread.dev, iopsSpread.samples)
	}
}

// scale is the unit in which latencies of such a spread are shown.
func (d *direction) scale() (name string, ns float64) {
	h := &d.latency
	switch {
	case h.Min() > 2000000 && h.Max() > 99999999 && deviation(h) > 1000000:
		return "msec", 1e6
	case h.Min() > 2000 && h.Max() > 99999 && deviation(h) > 1000:
		return "usec", 1e3
	}
	return "nsec", 1
}

func (d *direction) spread() string {
	name, ns := d.scale()
	h := &d.latency
	return fmt.Sprintf("(%s): min=%s, max=%s, avg=%5.2f, stdev=%5.2f", name, long(float64(h.Min())/ns), long(float64(h.Max())/ns), h.Mean()/ns, deviation(h)/ns)
}

func (d *direction) normalPercentiles(b *strings.Builder, what string, list []float64) {
	name, ns := "nsec", 1.0
	switch h := &d.latency; {
	case h.Min() > 2000000 && h.Max() > 99999999:
		name, ns = "msec", 1e6
	case h.Min() > 2000 && h.Max() > 99999:
		name, ns = "usec", 1e3
	}
	fmt.Fprintf(b, "    %s percentiles (%s):\n", what, name)
	width := 0
	for _, p := range list {
		width = max(width, len(strconv.FormatInt(int64(float64(d.latency.Percentile(p))/ns), 10)))
	}
	for i, p := range list {
		if i%4 == 0 {
			b.WriteString("     | ")
		}
		fmt.Fprintf(b, "%5.2fth=[%*d]", p, width+1, int64(float64(d.latency.Percentile(p))/ns))
		switch {
		case i == len(list)-1:
			b.WriteByte('\n')
		case i%4 == 3:
			b.WriteString(",\n")
		default:
			b.WriteString(", ")
		}
	}
}

// normalBuckets writes the shares by latency, five to a line, without those that are 0.
func (r *report) normalBuckets(b *strings.Builder) {
	for _, g := range r.bucketGroups() {
		line := 0
		for _, one := range g.shares {
			v, _ := one.value.(float64)
			if v <= 0 {
				continue
			}
			if line%5 == 0 {
				if line > 0 {
					b.WriteByte('\n')
				}
				fmt.Fprintf(b, "  lat (%ssec)   : ", g.unit)
			} else {
				b.WriteString(", ")
			}
			fmt.Fprintf(b, "%s=%3.2f%%", one.key, v)
			line++
		}
		if line > 0 {
			b.WriteByte('\n')
		}
	}
}

func percents(o object) string {
	var parts []string
	for _, m := range o {
		v, _ := m.value.(float64)
		parts = append(parts, fmt.Sprintf("%s=%3.1f%%", m.key, v))
	}
	return strings.Join(parts, ", ")
}

// normalGroup sums up the reports of a group.
func normalGroup(b *strings.Builder, list []*report) {
	fmt.Fprintf(b, "\nRun status group %d (all jobs):\n", list[0].group)
	for _, one := range directions {
		var bytes uint64
		var low, high, lowRun, highRun float64
		n := 0
		for _, r := range list {
			d := &r.ops[one.op]
			if d.ios == 0 {
				continue
			}
			rate, _ := d.rates()
			run := float64(d.runtime.Milliseconds())
			if n == 0 {
				low, high, lowRun, highRun = rate, rate, run, run
			}
			n++
			low, high, lowRun, highRun = min(low, rate), max(high, rate), min(lowRun, run), max(highRun, run)
			bytes += d.bytes
		}
		if n == 0 {
			continue
		}
		all := float64(bytes) / max(highRun/1000, 0.001)
		fmt.Fprintf(b, "%7s: bw=%s/s (%s/s), %s/s-%s/s (%s/s-%s/s), io=%s (%s), run=%.0f-%.0fmsec\n",
			one.upper, binary(all), metric(all), binary(low), binary(high), metric(low), metric(high), binary(float64(bytes)), metric(float64(bytes)), lowRun, highRun)
	}
}

func normalDisks(b *strings.Builder, in *Input) {
	disks := in.disks()
	if len(disks) == 0 {
		return
	}
	b.WriteString("\nDisk stats (read/write):\n")
	for _, d := range disks {
		if len(d.below) > 0 {
			b.WriteString("  ")
		}
		fmt.Fprintf(b, "  %s: ios=%d/%d, sectors=%d/%d, merge=%d/%d, ticks=%d/%d, in_queue=%d, util=%3.2f%%", printable.Text(d.name),
			d.ReadIOs, d.WriteIOs, d.ReadBytes/512, d.WriteBytes/512, d.ReadMerges, d.WriteMerges, d.ReadTimeMS, d.WriteTimeMS, d.TimeInQueueMS, d.util)
		if len(d.below) > 0 {
			a := in.beneath(d)
			fmt.Fprintf(b, ", aggrios=%d/%d, aggsectors=%d/%d, aggrmerge=%d/%d, aggrticks=%d/%d, aggrin_queue=%d, aggrutil=%3.2f%%",
				a.ReadIOs, a.WriteIOs, a.ReadBytes/512, a.WriteBytes/512, a.ReadMerges, a.WriteMerges, a.ReadTimeMS, a.WriteTimeMS, a.TimeInQueueMS, a.util)
		}
		b.WriteByte('\n')
	}
}

// normalRemarks adds what fio's form has no place for, at the end.
func normalRemarks(b *strings.Builder, in *Input) {
	first := true
	say := func(format string, args ...any) {
		if first {
			fmt.Fprintf(b, "\nblkstorm %s:\n", in.Doc.Version)
			first = false
		}
		fmt.Fprintln(b, "  "+printable.Text(fmt.Sprintf(format, args...)))
	}
	for _, p := range in.Doc.Points {
		for _, w := range p.Warnings {
			say("%s: warning [%s]: %s: %s", p.Label, w.Code, w.Message, w.Advice)
		}
	}
	for _, w := range in.Doc.Warnings {
		say("warning [%s]: %s: %s", w.Code, w.Message, w.Advice)
	}
	if in.Failed != nil {
		for line := range strings.Lines(in.Failed.Error()) {
			say("error: %s", strings.TrimSuffix(line, "\n"))
		}
	}
	for _, n := range in.Set.Notes {
		say("note: %s", n.Error())
	}
}
