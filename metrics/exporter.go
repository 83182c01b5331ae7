// Package metrics shows how a run goes to Prometheus: an Exporter takes in what a run's sinks say, and
// a Server answers scrapes with it.
//
// Commands make both where --metrics asks for them. The sinks are called by the goroutines that gather
// rows, never by the threads that do I/O, and only add to counters; a page is made by whoever asks for
// one, from a copy. The package measures and judges nothing, and never writes but to who asked.
package metrics

import (
	"strconv"
	"sync"
	"time"

	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/runner"
)

// Exporter keeps the figures of a page. Its methods may be called from any goroutine.
type Exporter struct {
	version string
	started time.Time
	now     func() time.Time

	mu      sync.Mutex // held for additions and copies only
	figures figures
}

// figures are what a page is made from.
type figures struct {
	id, host   string
	targets    []target
	streams    map[streamKey]*counts
	histograms map[histogramKey]*pair
	warnings   map[string]uint64 // by code

	running   bool // a point or an idle time is
	index, of int
	phase     string
	label     string
	asked     int64
	window    time.Time     // when it begins or began
	length    time.Duration // of the window, or the idle time; 0: nobody knows
	later     time.Duration // what follows; below 0: nobody knows
	inflight  int64
	cpu       [4]float64 // as cpuModes, 0 to 1
	rowEnd    time.Time
	heat      []*float64 // per target
	steps     []step
	at        int
}

// target is what is known of one.
type target struct {
	name, kind, model, serial, firmware, transport string
	size                                           int64
}

// streamKey names the counters of one direction of a stream on a target.
type streamKey struct {
	phase, ramp, stream, target, direction string
}

// counts are those of rows, and what became of planned I/Os.
type counts struct {
	ios, bytes, errors, short, zero uint64
	open                            bool // the others are meant
	offered, late, missed           uint64
}

// histogramKey names a latency: of all streams on a target.
type histogramKey struct {
	phase, ramp, target, direction string
}

// pair is the latency of a direction, and in an open loop its response time.
type pair struct {
	latency  distribution
	response *distribution
}

// undrawn is the direction of planned I/Os that were missed before one was drawn for them.
const undrawn = "undrawn"

// New makes an Exporter; version is of this program.
func New(version string) *Exporter {
	return &Exporter{version: label(version), started: time.Now(), now: time.Now, figures: figures{
		streams: map[streamKey]*counts{}, histograms: map[histogramKey]*pair{}, warnings: map[string]uint64{}, at: -1, later: -1,
	}}
}

// Begin takes the head of the document, before the first point.
func (e *Exporter) Begin(d *result.Doc) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := &e.figures
	f.id, f.host = label(d.ID), label(d.Host.Hostname)
	f.targets = nil
	for _, t := range d.Targets {
		f.targets = append(f.targets, target{
			name: label(t.Path), kind: label(t.Kind), model: label(t.Model), serial: label(t.Serial),
			firmware: label(t.Firmware), transport: label(t.Transport), size: t.SizeBytes,
		})
	}
	f.heat = make([]*float64, len(f.targets))
	f.steps = stepsOf(d.Plan)
	for _, w := range d.Warnings {
		f.warnings[label(w.Code)]++
	}
}

// PointBegin says that a point begins: the index-th (from 0) of of, which is -1 when nobody knows. p is
// nil for an idle phase.
func (e *Exporter) PointBegin(index, of int, kind string, p *plan.Point) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := &e.figures
	f.running, f.index, f.of, f.phase = true, index, of, label(kind)
	f.label, f.asked, f.inflight = "", 0, 0
	f.enter(p, e.now())
	if p == nil {
		return
	}
	f.label = label(p.Label)
	for i := range p.Streams {
		f.zero(p, i)
	}
}

// zero makes the counters of a stream that are going to count: a rate needs to see where they begin.
func (f *figures) zero(p *plan.Point, stream int) {
	s := &p.Streams[stream]
	f.asked += int64(s.Threads) * int64(s.IODepth) * int64(len(s.Targets))
	for _, t := range s.Targets {
		for _, o := range op.All {
			if !s.Workload.Issues(o) {
				continue
			}
			open := s.Pacing.Open() && o != op.Sync
			if p.Ramp > 0 {
				f.counts(p, true, stream, t, o)
				f.pair(true, t, o, open)
			}
			if c := f.counts(p, false, stream, t, o); open {
				c.open = true // and stays so, whatever later points do
			}
			f.pair(false, t, o, open)
		}
	}
}

// Row takes a row of the running point and its form for the document; it keeps neither.
func (e *Exporter) Row(p *plan.Point, row *runner.Row, in *result.Interval) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := &e.figures
	now := e.now()
	f.inflight = row.InFlight
	f.cpu = [4]float64{row.Host.CPU.UserPct / 100, row.Host.CPU.SystemPct / 100, row.Host.CPU.IOWaitPct / 100, row.Host.CPU.StealPct / 100}
	f.rowEnd = row.Wall.Add(row.Length)
	f.window = now.Add(-row.Start - row.Length)
	for i, t := range in.TemperatureC {
		if t != nil && i < len(f.heat) {
			celsius := *t
			f.heat[i] = &celsius
		}
	}
	for i := range row.Cells {
		c := &row.Cells[i]
		for _, o := range op.All {
			s := &c.Ops[o]
			if s.Latency.Count() == 0 && s.Faults() == 0 {
				continue
			}
			n := f.counts(p, row.Ramp, c.Stream, c.Target, o)
			n.ios += s.Latency.Count()
			n.bytes += s.Bytes
			n.errors += s.Errors
			n.short += s.Short
			n.zero += s.Zero
			h := f.pair(row.Ramp, c.Target, o, s.Response.Count() > 0)
			h.latency.add(&s.Latency)
			if s.Response.Count() > 0 {
				h.response.add(&s.Response)
			}
		}
	}
}

// Measured takes what the runner says of a point that has ended: what became of its planned I/Os is
// known only then.
func (e *Exporter) Measured(p *plan.Point, res *runner.Result) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := &e.figures
	for i := range res.Cells {
		c := &res.Cells[i]
		if !p.Streams[c.Stream].Pacing.Open() {
			continue
		}
		for _, o := range op.All {
			if s := &c.Ops[o]; s.Offered+s.Missed > 0 {
				n := f.counts(p, false, c.Stream, c.Target, o)
				n.open = true
				n.offered += s.Offered
				n.late += s.Late
				n.missed += s.Missed
			}
		}
		key := f.key(p, false, c.Stream, c.Target)
		key.direction = undrawn
		n := f.countsOf(key)
		n.open = true
		n.missed += c.Undrawn
	}
}

// PointEnd takes what became of the running point.
func (e *Exporter) PointEnd(p *result.Point) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := &e.figures
	f.running, f.inflight = false, 0
	for _, w := range p.Warnings {
		f.warnings[label(w.Code)]++
	}
}

// streamName is a stream's label or, if it has none, its index, as in latency.hlog.
func streamName(p *plan.Point, i int) string {
	if name := p.Streams[i].Label; name != "" {
		return label(name)
	}
	return strconv.Itoa(i)
}

func (f *figures) key(p *plan.Point, ramp bool, stream, target int) streamKey {
	return streamKey{phase: f.phase, ramp: yes(ramp), stream: streamName(p, stream), target: f.name(target)}
}

// counts are the counters of a direction.
func (f *figures) counts(p *plan.Point, ramp bool, stream, target int, o op.Op) *counts {
	key := f.key(p, ramp, stream, target)
	key.direction = o.String()
	return f.countsOf(key)
}

// countsOf are the counters of a key, from 0 on.
func (f *figures) countsOf(key streamKey) *counts {
	c := f.streams[key]
	if c == nil {
		c = &counts{}
		f.streams[key] = c
	}
	return c
}

func (f *figures) pair(ramp bool, target int, o op.Op, open bool) *pair {
	key := histogramKey{phase: f.phase, ramp: yes(ramp), target: f.name(target), direction: o.String()}
	h := f.histograms[key]
	if h == nil {
		h = &pair{}
		f.histograms[key] = h
	}
	if open && h.response == nil {
		h.response = &distribution{}
	}
	return h
}

func (f *figures) name(target int) string {
	if target < len(f.targets) {
		return f.targets[target].name
	}
	return ""
}
