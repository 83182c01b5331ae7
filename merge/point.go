package merge

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"blkstorm/host"
	"blkstorm/result"
)

// The directions, in the order of sums.
var directions = [...]string{"read", "write", "trim", "sync"}

const syncs = 3 // index of the one that is in no total

// point is a point of the merged document while its parts are added.
type point struct {
	key    key
	place  int // its largest index in any member: one that lacks others has a smaller one
	window window

	mu      sync.Mutex
	parts   []*part
	total   sum
	dirs    [4]sum
	streams []*stream // in the order of the first member that has them
	first   *member   // whose meta is used
	meta    *result.Point
	// Figures that need no window in common.
	issued                             result.Issued
	rampIOs, drained, faults, stuckIOs uint64
	drainedMax, inFlight               int64
	depth                              int // the least that a member reached
	cpu                                []host.CPUShare
	process                            result.Process
	incomplete, interrupted            int
	engines                            map[string]int
	failures                           []failure
	warnings                           warnings
}

// failure is what went wrong on one machine: the first I/Os that failed or were never answered, and why the
// engine broke.
type failure struct {
	member *member
	errors []result.IOError
	stuck  []result.Stuck
	engine string
}

// maxFailed is how many of a member's failed I/Os are kept, and of those without an answer.
const maxFailed = 5

// stream is one stream of a point, by its label.
type stream struct {
	meta    *result.Stream
	name    string
	total   sum
	dirs    [4]sum
	targets []targetOf
}

// targetOf is a target of a member.
type targetOf struct {
	member *member
	target int
}

// giving are the parts that have figures.
func (p *point) giving() []*part {
	return slices.DeleteFunc(slices.Clone(p.parts), func(p *part) bool { return !p.gave() })
}

// add takes in a member's point. doc is nil when only the files have it.
func (m *merger) add(k key, part *part, doc *result.Point, merged *result.Merge, s *scratch) {
	if doc == nil {
		part.fromFiles = true
		if part.series.empty() {
			return
		}
		part.started, part.window = unixNano(part.series.start()), part.series.length()
		part.notes = append(part.notes, "the run was cut off within this point")
	}
	m.mu.Lock()
	p := m.points[k]
	if p == nil {
		p = &point{key: k, place: part.at, engines: map[string]int{}}
		m.points[k] = p
	}
	m.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.place = max(p.place, part.at)
	p.parts = append(p.parts, part)
	if doc == nil {
		return
	}
	if err := s.prepare(doc); err != nil {
		part.window, part.missing = 0, fmt.Sprintf("its figures are damaged: %v", err)
		part.member.broken = true
		return
	}
	p.describe(part, doc)
	if merged != nil {
		part.rows = merged.Points[part.at].Rows
	} else {
		part.rows = []result.MergeRow{rowOf(doc.Total)}
	}
	m.targetRows.Add(int64(len(doc.Targets)))
	if m.keepsTargets() {
		for _, t := range doc.Targets {
			part.targets = append(part.targets, withoutHistograms(t))
		}
	}
	if part.gave() {
		same := func(rate float64, n uint64) bool { return math.Abs(rate*doc.WindowS-float64(n)) <= 1e-9*float64(n) }
		part.even = same(doc.Total.IOPS, doc.Total.IOs) && same(doc.Total.BytesPerS, doc.Total.Bytes)
		p.addFigures(doc, s)
	}
}

// describe takes in what is no figure of the window.
func (p *point) describe(part *part, doc *result.Point) {
	p.note(part, doc)
	if p.meta == nil || part.member.compare(p.first) < 0 {
		p.first = part.member
		p.meta = &result.Point{Label: doc.Label, Phase: doc.Phase, Round: doc.Round, Threads: doc.Threads, IODepth: doc.IODepth, Skipped: doc.Skipped}
	}
	if part.window > 0 {
		if p.engines[doc.EngineName]++; p.depth == 0 || doc.IODepthEffective < p.depth {
			p.depth = doc.IODepthEffective
		}
		p.cpu = append(p.cpu, doc.CPU)
	}
	i := &p.issued
	i.Read, i.Write, i.Trim, i.Sync = plus(i.Read, doc.Issued.Read), plus(i.Write, doc.Issued.Write), plus(i.Trim, doc.Issued.Trim), plus(i.Sync, doc.Issued.Sync)
	p.rampIOs, p.drained, p.faults, p.stuckIOs = plus(p.rampIOs, doc.RampIOs), plus(p.drained, doc.Drained), plus(p.faults, doc.Faults), plus(p.stuckIOs, doc.StuckIOs)
	p.drainedMax = max(p.drainedMax, doc.DrainedMaxNS)
	p.inFlight += max(0, doc.InFlight)
	q := &p.process
	q.UserS += doc.Process.UserS
	q.SystemS += doc.Process.SystemS
	q.CPUs += doc.Process.CPUs
	q.MaxRSSBytes = max(q.MaxRSSBytes, doc.Process.MaxRSSBytes)
	q.BusiestThreadPct = max(q.BusiestThreadPct, doc.Process.BusiestThreadPct)
	q.Descheduled = plus(q.Descheduled, doc.Process.Descheduled)
	q.DescheduledMaxNS = max(q.DescheduledMaxNS, doc.Process.DescheduledMaxNS)
	q.InSubmitPct = max(q.InSubmitPct, doc.Process.InSubmitPct)
	q.KernelWorkers += doc.Process.KernelWorkers
	if len(doc.Errors)+len(doc.Stuck) > 0 || doc.Failure != "" {
		p.failures = append(p.failures, failure{
			part.member, slices.Clone(doc.Errors[:min(len(doc.Errors), maxFailed)]), slices.Clone(doc.Stuck[:min(len(doc.Stuck), maxFailed)]), doc.Failure,
		})
	}
	for i, s := range doc.Streams {
		st := p.stream(i, s)
		for _, t := range s.Targets {
			st.targets = append(st.targets, targetOf{part.member, t})
		}
	}
}

// note keeps what a reader must know of the part.
func (p *point) note(part *part, doc *result.Point) {
	say := func(format string, args ...any) { part.notes = append(part.notes, fmt.Sprintf(format, args...)) }
	if doc.Interrupted {
		p.interrupted++
		say("it was interrupted")
	}
	if doc.StuckIOs > 0 {
		say("its device did not answer %d I/Os", doc.StuckIOs)
	}
	if doc.Failure != "" {
		say("it failed: %s", doc.Failure)
	}
	if doc.Faults > 0 {
		say("%d of its I/Os failed or fell short", doc.Faults)
	}
	if !doc.Completed && doc.Skipped == "" {
		p.incomplete++
		if len(part.notes) == 0 {
			say("it was not completed")
		}
	}
	for i := range doc.Asserts {
		if !doc.Asserts[i].OK {
			say("it did not keep %s", doc.Asserts[i].Assert)
		}
	}
	if doc.Steady != nil && !doc.Steady.State.Steady {
		say("steady state was not reached")
	}
	for _, w := range doc.Warnings {
		p.warnings.add(part.member, w)
	}
}

// stream finds the stream by its label, and one without by its place, as tags of the histogram log do.
func (p *point) stream(i int, own *result.Stream) *stream {
	name := own.Label
	if name == "" {
		name = strconv.Itoa(i)
	}
	if st := p.streamOf(name); st != nil {
		return st
	}
	st := &stream{name: name, meta: &result.Stream{
		Label: own.Label, Workload: own.Workload, Threads: own.Threads, IODepth: own.IODepth, Pacing: own.Pacing, Share: own.Share,
	}}
	p.streams = append(p.streams, st)
	return st
}

// streamOf finds the stream of a name; nil: there is none.
func (p *point) streamOf(name string) *stream {
	for _, st := range p.streams {
		if st.name == name {
			return st
		}
	}
	return nil
}

// addFigures takes in the figures of the whole window.
func (p *point) addFigures(doc *result.Point, s *scratch) {
	p.total.add(doc.Total)
	for d, stat := range [...]*result.Stat{doc.Read, doc.Write, doc.Trim, doc.Sync} {
		p.dirs[d].addAll(stat, s)
	}
	for i, own := range doc.Streams {
		st := p.stream(i, own)
		st.total.add(own.Total)
		for d, stat := range [...]*result.Stat{own.Read, own.Write, own.Trim, own.Sync} {
			st.dirs[d].addAll(stat, s)
		}
	}
}

// addAll takes in a direction with its latencies.
func (s *sum) addAll(stat *result.Stat, sc *scratch) {
	s.add(stat)
	s.latency.add(stat.Latency, sc.histogram(stat.Latency))
	if stat.OpenLoop != nil {
		s.response.add(stat.Response, sc.histogram(stat.Response))
	}
}

// rowOf is a member's row of a point, but for times.
func rowOf(s *result.Stat) result.MergeRow {
	l := s.Latency
	at := func(key string) *int64 {
		if v, ok := l.Percentiles[key]; ok {
			return &v
		}
		return nil
	}
	return result.MergeRow{
		IOs: s.IOs, Bytes: s.Bytes, Errors: s.Errors + s.Short + s.Zero, IOPS: s.IOPS, BytesPerS: s.BytesPerS,
		MeanNS: l.Mean, MaxNS: l.Max, P50NS: at("50"), P95NS: at("95"), P99NS: at("99"), P999NS: at("99.9"),
	}
}

// nothing is the figures of a direction that was not used, shared by all of them.
var nothing = &result.Stat{Latency: &result.Latency{}}

// withoutHistograms is a target's figures as they are kept for each machine: a histogram of each would
// make the document as large as all members together.
func withoutHistograms(t *result.Target) *result.Target {
	out := *t
	reads := t.Total != nil && t.Read != nil && t.Total.IOs == t.Read.IOs && t.Total.Errors == t.Read.Errors && t.Total.Short+t.Total.Zero == t.Read.Short+t.Read.Zero
	for _, s := range []**result.Stat{&out.Total, &out.Read, &out.Write, &out.Trim, &out.Sync} {
		*s = bare(*s)
	}
	if reads {
		out.Read = out.Total
	}
	return &out
}

func bare(s *result.Stat) *result.Stat {
	if s == nil || s.IOs == 0 && s.Errors+s.Short+s.Zero == 0 && s.OpenLoop == nil {
		return nothing
	}
	out := *s
	l := *s.Latency
	l.HDR = ""
	out.Latency = &l
	if s.OpenLoop != nil {
		open := *s.OpenLoop
		r := *open.Response
		r.HDR = ""
		open.Response = &r
		out.OpenLoop = &open
	}
	return &out
}
