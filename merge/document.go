package merge

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"blkstorm/device"
	"blkstorm/host"
	"blkstorm/result"
)

// maxErrors is how many failed I/Os a point of the merged document shows, and of those without an answer.
const maxErrors = 100

// document makes the result of what was added up.
func (m *merger) document() (*result.Doc, error) {
	d := &result.Doc{
		Schema: result.Schema, Version: m.options.Version, ID: m.id(), Host: m.host(), Clock: m.clock(),
		Plan: m.plans.first, Targets: []*device.Facts{}, Points: []*result.Point{}, Percentiles: m.percentiles(),
		Merge: &result.Merge{Members: []result.MergeMember{}, LeftOut: m.leftOut, Points: []result.MergePoint{}},
	}
	if d.Merge.LeftOut == nil {
		d.Merge.LeftOut = []result.MergeLeftOut{}
	}
	m.addMembers(d)
	for _, p := range m.order {
		point, how, err := m.point(d, p)
		if err != nil {
			return nil, err
		}
		d.Points = append(d.Points, point)
		d.Merge.Points = append(d.Merge.Points, *how)
	}
	d.Warnings = m.docWarnings()
	d.SumUp()
	return d, nil
}

// id is the same for the same members.
func (m *merger) id() string {
	h := fnv.New64a()
	for _, mem := range m.members {
		for _, row := range mem.rows {
			fmt.Fprintf(h, "%s %s\n", row.ID, row.Host)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// addMembers lists the members with their targets.
func (m *merger) addMembers(d *result.Doc) {
	for _, mem := range m.members {
		for i := range mem.rows {
			if at := mem.rows[i].Started; d.Started.IsZero() || !at.IsZero() && at.Before(d.Started) {
				d.Started = at
			}
		}
	}
	for _, mem := range m.members {
		mem.firstAt, mem.target = len(d.Merge.Members), len(d.Targets)
		for _, row := range mem.rows {
			row.Targets = slices.Clone(row.Targets)
			for i := range row.Targets {
				row.Targets[i] += mem.target
			}
			row.SkewS = row.Started.Sub(d.Started).Seconds()
			if row.Started.IsZero() {
				row.SkewS = 0
			}
			d.Merge.Members = append(d.Merge.Members, row)
		}
		for _, t := range mem.targets {
			facts := *t
			facts.Path = mem.pathOf(t.Path)
			d.Targets = append(d.Targets, &facts)
		}
	}
}

// pathOf is a target's path with its machine before it.
func (mem *member) pathOf(path string) string {
	if mem.merged {
		return path
	}
	return mem.called + ":" + path
}

// percentiles are those that all asked for, else the usual ones.
func (m *merger) percentiles() []float64 {
	for _, mem := range m.members {
		if !slices.Equal(mem.asked, m.members[0].asked) {
			return nil
		}
	}
	return m.members[0].asked
}

// host has what is the same on all machines.
func (m *merger) host() host.Facts {
	out := m.members[0].facts
	to := reflect.ValueOf(&out).Elem()
	count := 0
	for _, mem := range m.members {
		count += len(mem.rows)
		from := reflect.ValueOf(mem.facts)
		for i := range to.NumField() {
			if !to.Field(i).Equal(from.Field(i)) {
				to.Field(i).SetZero()
			}
		}
	}
	if count > 1 {
		out.Hostname = fmt.Sprintf("%d machines", count)
	}
	return out
}

// clock has the worst of all clocks.
func (m *merger) clock() host.Clock {
	out := m.members[0].clock
	for _, mem := range m.members[1:] {
		c := &mem.clock
		if c.Source != out.Source {
			out.Source = ""
		}
		if !slices.Equal(c.Available, out.Available) {
			out.Available = nil
		}
		out.CostNS = max(out.CostNS, c.CostNS)
		out.ResolutionNS = max(out.ResolutionNS, c.ResolutionNS)
		out.BackwardSteps += c.BackwardSteps
	}
	return out
}

// point makes a point of the document.
func (m *merger) point(d *result.Doc, p *point) (*result.Point, *result.MergePoint, error) {
	out := &result.Point{Label: p.key.label, Phase: p.key.phase, Round: p.key.round}
	if p.meta != nil {
		*out = *p.meta
	}
	gave := p.covered()
	how := m.how(p, gave)
	out.Started = p.startOf(gave)
	out.WindowS = p.length(gave)
	out.Completed = len(gave) > 0 && p.incomplete == 0 && len(gave) == len(m.members)
	out.Interrupted = p.interrupted > 0
	if len(gave) > 0 {
		out.Skipped = ""
	}
	out.EngineName = strings.Join(slices.Sorted(maps.Keys(p.engines)), ", ")
	out.Issued, out.RampIOs, out.Drained, out.Faults, out.StuckIOs = p.issued, p.rampIOs, p.drained, p.faults, p.stuckIOs
	out.DrainedMaxNS, out.InFlight, out.Process, out.CPU = p.drainedMax, p.inFlight, p.process, p.meanCPU()
	out.IODepthEffective = p.depth
	p.addFailures(out)
	err := m.figures(d, p, out, gave)
	m.addTargets(d, p, out)
	out.Warnings = append(m.pointWarnings(p, how, gave), p.warnings.list(len(m.members))...)
	return out, how, err
}

// covered are the parts whose figures are in the point.
func (p *point) covered() []*part {
	gave := p.giving()
	if p.window.kind == result.MergeCommon {
		return gave
	}
	return slices.DeleteFunc(gave, func(part *part) bool { return part.fromFiles })
}

// startOf is when the point's time begins.
func (p *point) startOf(gave []*part) time.Time {
	if len(gave) == 0 {
		return time.Time{}
	}
	if p.window.kind == result.MergeCommon {
		return unixNano(p.window.from)
	}
	return slices.MinFunc(gave, func(a, b *part) int { return a.started.Compare(b.started) }).started
}

// length is how long the point was measured: where members differ in that, the longest.
func (p *point) length(gave []*part) float64 {
	out := 0.0
	for _, part := range gave {
		out = max(out, p.window.used(part))
	}
	return out
}

// even says whether all parts were measured equally long.
func (p *point) even(gave []*part) bool {
	return len(gave) > 0 && !slices.ContainsFunc(gave, func(part *part) bool {
		return p.window.used(part) != p.window.used(gave[0]) || p.window.kind != result.MergeCommon && !part.even
	})
}

// figures makes the sums of all directions and streams.
func (m *merger) figures(d *result.Doc, p *point, out *result.Point, gave []*part) error {
	window := 0.0
	if p.even(gave) {
		window = out.WindowS
	}
	asked := d.Percentiles
	if len(asked) == 0 {
		asked = result.DefaultPercentiles
	}
	var err error
	five := func(total *sum, dirs *[4]sum) (stats [5]*result.Stat) {
		for i := range dirs[:syncs] {
			total.latency.merge(&dirs[i].latency)
			total.response.merge(&dirs[i].response)
		}
		for i, s := range []*sum{total, &dirs[0], &dirs[1], &dirs[2], &dirs[syncs]} {
			var e error
			stats[i], e = s.stat(window, asked, true)
			err = errors.Join(err, e)
		}
		return stats
	}
	s := five(&p.total, &p.dirs)
	out.Total, out.Read, out.Write, out.Trim, out.Sync = s[0], s[1], s[2], s[3], s[4]
	for _, st := range p.streams {
		s := five(&st.total, &st.dirs)
		stream := *st.meta
		stream.Total, stream.Read, stream.Write, stream.Trim, stream.Sync = s[0], s[1], s[2], s[3], s[4]
		stream.Targets = []int{}
		for _, t := range st.targets {
			if !m.keepsTargets() {
				break
			}
			stream.Targets = append(stream.Targets, t.member.target+t.target)
		}
		slices.Sort(stream.Targets)
		out.Streams = append(out.Streams, &stream)
	}
	return err
}

// addTargets lists what each target of each machine gave.
func (m *merger) addTargets(d *result.Doc, p *point, out *result.Point) {
	out.Targets = []*result.Target{}
	if !m.keepsTargets() {
		return
	}
	out.Targets = make([]*result.Target, len(d.Targets))
	for _, part := range p.parts {
		for i, t := range part.targets {
			t.Path = d.Targets[part.member.target+i].Path
			out.Targets[part.member.target+i] = t
		}
	}
	for i, t := range out.Targets {
		if t == nil {
			out.Targets[i] = &result.Target{Path: d.Targets[i].Path, Total: nothing, Read: nothing, Write: nothing, Trim: nothing, Sync: nothing}
		}
	}
}

// meanCPU is the machines' mean.
func (p *point) meanCPU() (out host.CPUShare) {
	slices.SortFunc(p.cpu, func(a, b host.CPUShare) int {
		return cmp.Or(cmp.Compare(a.UserPct, b.UserPct), cmp.Compare(a.SystemPct, b.SystemPct), cmp.Compare(a.IOWaitPct, b.IOWaitPct), cmp.Compare(a.StealPct, b.StealPct))
	})
	n := float64(len(p.cpu))
	for _, c := range p.cpu {
		out.UserPct += c.UserPct / n
		out.SystemPct += c.SystemPct / n
		out.IOWaitPct += c.IOWaitPct / n
		out.StealPct += c.StealPct / n
	}
	return out
}

// addFailures lists what went wrong, with the machine's name before each target.
func (p *point) addFailures(out *result.Point) {
	slices.SortFunc(p.failures, func(a, b failure) int { return a.member.compare(b.member) })
	out.PerThread, out.Errors, out.Stuck = []result.Thread{}, []result.IOError{}, []result.Stuck{}
	var engines []string
	for _, f := range p.failures {
		for _, e := range f.errors {
			if e.Target = f.member.pathOf(e.Target); len(out.Errors) < maxErrors {
				out.Errors = append(out.Errors, e)
			}
		}
		for _, s := range f.stuck {
			if s.Target = f.member.pathOf(s.Target); len(out.Stuck) < maxErrors {
				out.Stuck = append(out.Stuck, s)
			}
		}
		if f.engine != "" {
			engines = append(engines, f.member.name()+": "+f.engine)
		}
	}
	out.Failure = some(engines)
}
