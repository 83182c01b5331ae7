package fioout

import (
	"fmt"
	"strings"
	"time"

	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/plan/fiojob"
	"blkstorm/runner"
)

// Progress is the line that says how far a run is: how many jobs and files are at work and what each does, what is
// done in percent, the rates of the last row and the time left; in.ETA must be that of the row's end.
func (in *Input) Progress(p *plan.Point, row *runner.Row) string {
	var b strings.Builder
	files := 0
	for i := range p.Streams {
		files += len(p.Streams[i].Targets)
	}
	fmt.Fprintf(&b, "Jobs: %d (f=%d): [%s]", len(p.Streams), files, in.letters())
	if ran := (row.Start + row.Length).Seconds(); in.ETA == Unknown || row.Ramp {
		b.WriteString("[-.-%]")
	} else {
		fmt.Fprintf(&b, "[%.1f%%]", 100*ran/(ran+float64(in.ETA)))
	}
	var rates, counts []string
	for _, one := range directions {
		var ios, bytes uint64
		for i := range row.Cells {
			ios += row.Cells[i].Ops[one.op].Latency.Count()
			bytes += row.Cells[i].Ops[one.op].Bytes
		}
		if ios > 0 && row.Length > 0 {
			rates = append(rates, one.name[:1]+"="+binary(float64(bytes)/row.Length.Seconds())+"/s")
			counts = append(counts, one.name[:1]+"="+count(float64(ios)/row.Length.Seconds()))
		}
	}
	if len(rates) > 0 {
		fmt.Fprintf(&b, "[%s][%s IOPS]", strings.Join(rates, ","), strings.Join(counts, ","))
	}
	if in.ETA != Unknown {
		fmt.Fprintf(&b, "[eta %s]", left(time.Duration(in.ETA)*time.Second))
	}
	return b.String()
}

// letters say what each clone does, those that do the same put together: m(1),P(2).
func (in *Input) letters() string {
	var parts []string
	last, n := byte(0), 0
	flush := func() {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%c(%d)", last, n))
		}
	}
	for i := range in.Work.Clones {
		letter := in.letter(&in.Work.Clones[i])
		if letter != last {
			flush()
			last, n = letter, 0
		}
		n++
	}
	flush()
	return strings.Join(parts, ",")
}

// letter is _ for a clone that is through, P for one that is to come, and else that of what it does: a capital for
// what is in order.
func (in *Input) letter(c *fiojob.Clone) byte {
	switch at := len(in.Doc.Points); {
	case c.Point < at:
		return '_'
	case c.Point > at:
		return 'P'
	}
	stream := in.stream(c)
	if stream == nil {
		return '_'
	}
	spec := &stream.Workload
	letter := byte('m')
	for o, alone := range map[op.Op]byte{op.Read: 'r', op.Write: 'w', op.Trim: 'd'} {
		if spec.Issues(o) && !spec.Mixed() && !spec.Pairs() {
			letter = alone
		}
	}
	if !spec.Random() {
		letter -= 'a' - 'A'
	}
	return letter
}

// left writes a time as 00m:05s, 01h:00m:05s or 02d:01h:00m:05s.
func left(d time.Duration) string {
	s := int64(d / time.Second)
	text := fmt.Sprintf("%02dm:%02ds", s/60%60, s%60)
	if s >= 3600 {
		text = fmt.Sprintf("%02dh:%s", s/3600%24, text)
	}
	if s >= 24*3600 {
		text = fmt.Sprintf("%02dd:%s", s/(24*3600), text)
	}
	return text
}
