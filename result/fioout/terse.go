package fioout

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"blkstorm/op"
	"blkstorm/printable"
)

// tersePercentiles is how many percentiles a line has room for.
const tersePercentiles = 20

// WriteTerse writes a line of fields per report, in the version of the form that in.TerseVersion says: 2 to 5.
func WriteTerse(w io.Writer, in *Input) error {
	list, err := reports(in)
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, r := range list {
		r.terse(&b, in)
	}
	_, err = io.WriteString(w, b.String())
	return err
}

func (r *report) terse(b *strings.Builder, in *Input) {
	v := in.TerseVersion
	var f []string
	add := func(fields ...string) { f = append(f, fields...) }
	add(strconv.Itoa(v))
	if v >= 3 {
		add(Version)
	}
	add(strings.ReplaceAll(printable.Text(r.name), ";", "_"), strconv.Itoa(r.group), strconv.Itoa(r.errno))
	for _, one := range directions {
		if one.op != op.Trim || v != 3 {
			add(r.terseDirection(&r.ops[one.op], v)...)
		}
	}
	wall := max(r.summed, time.Millisecond).Seconds()
	add(decimal(100*r.usage.User.Seconds()/wall)+"%", decimal(100*r.usage.System.Seconds()/wall)+"%",
		strconv.FormatInt(r.usage.Switches, 10), strconv.FormatInt(r.usage.MajorFaults, 10), strconv.FormatInt(r.usage.MinorFaults, 10))
	for _, m := range r.depthLevels() {
		share, _ := m.value.(float64)
		add(fmt.Sprintf("%.1f%%", share))
	}
	for _, g := range r.bucketGroups()[1:] {
		for _, m := range g.shares {
			share, _ := m.value.(float64)
			add(fmt.Sprintf("%.2f%%", share))
		}
	}
	if v >= 3 {
		for _, d := range in.disks() {
			add(d.name, num(d.ReadIOs), num(d.WriteIOs), num(d.ReadMerges), num(d.WriteMerges), num(d.ReadTimeMS), num(d.WriteTimeMS), num(d.TimeInQueueMS), fmt.Sprintf("%.2f%%", d.util))
		}
	}
	text := printable.Text(r.job.Text("description", ""))
	if text != "" && v != 2 {
		add(text)
	}
	b.WriteString(strings.Join(f, ";") + "\n")
	if text != "" && v == 2 {
		b.WriteString(text + "\n")
	}
}

func num(n uint64) string { return strconv.FormatUint(n, 10) }

// terseDirection has latencies in µs.
func (r *report) terseDirection(d *direction, v int) []string {
	rate, iops := d.rates()
	f := []string{num(d.bytes / 1024), strconv.FormatInt(int64(rate/1024), 10), strconv.FormatInt(int64(iops), 10), strconv.FormatInt(d.runtime.Milliseconds(), 10)}
	f = append(f, "0", "0", decimal(0), decimal(0))
	h := &d.latency
	lat := []string{strconv.FormatInt(h.Min()/1000, 10), strconv.FormatInt(h.Max()/1000, 10), decimal(h.Mean() / 1000), decimal(deviation(h) / 1000)}
	f = append(f, lat...)
	list := percentiles(r.job)
	for i := range tersePercentiles {
		if i < len(list) {
			f = append(f, decimal(list[i])+"%="+strconv.FormatInt(h.Percentile(list[i])/1000, 10))
		} else {
			f = append(f, "0%=0")
		}
	}
	f = append(f, lat...)
	bw, spread := d.spreads()
	f = append(f, strconv.FormatInt(int64(bw.min/1024), 10), strconv.FormatInt(int64(bw.max/1024), 10), decimal(d.ofGroup(&bw))+"%", decimal(bw.mean/1024), decimal(bw.dev/1024))
	if v >= 5 {
		f = append(f, strconv.Itoa(bw.samples), strconv.FormatInt(int64(spread.min), 10), strconv.FormatInt(int64(spread.max), 10), decimal(spread.mean), decimal(spread.dev), strconv.Itoa(spread.samples))
	}
	return f
}
