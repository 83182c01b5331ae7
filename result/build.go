package result

import (
	"math"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/histogram"
	"blkstorm/host"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/runner"
	"blkstorm/verdict"
)

// DefaultPercentiles are those that every latency carries.
var DefaultPercentiles = []float64{50, 90, 95, 99, 99.9, 99.99, 99.999}

// Builder makes one point's part of the document, row by row while it runs.
type Builder struct {
	doc         *Doc
	point       *plan.Point
	phase       string
	percentiles []float64
	keepRows    bool
	peak        int64
	intervals   []*Interval
	ramp        []*Interval
	index       int
	scratch     runner.Stat
	following   []following
	history     *history // nil: none is kept
}

// NewBuilder begins a point of doc. Rows are kept for the document only if keepRows is set: a run of
// days that has a folder does not hold them all in memory.
func (d *Doc) NewBuilder(phase string, p *plan.Point, percentiles []float64, keepRows bool) *Builder {
	b := &Builder{doc: d, point: p, phase: phase, percentiles: percentiles, keepRows: keepRows, index: len(d.Points)}
	if keepRows {
		b.intervals, b.ramp = []*Interval{}, []*Interval{}
	}
	return b
}

// Row takes in a row of the runner and returns its form for the document.
func (b *Builder) Row(row *runner.Row) *Interval {
	in := &Interval{
		Point:       b.index,
		Label:       b.point.Label,
		Ramp:        row.Ramp,
		TS:          seconds(row.Start),
		StartUnixNS: row.Wall.UnixNano(),
		LengthS:     seconds(row.Length),
		InFlight:    row.InFlight,
		CPU:         row.Host.CPU,
		StealPct:    row.Host.CPU.StealPct,
		DiskStats:   []*host.DiskStats{},
		Net:         row.Host.Net,
	}
	disks := make([]host.DiskStats, len(row.Host.Disks))
	copy(disks, row.Host.Disks) // the row's own are used again
	for i := range disks {
		var disk *host.DiskStats
		if i < len(b.doc.Targets) && b.doc.Targets[i].Name != "" {
			disk = &disks[i]
		}
		in.DiskStats = append(in.DiskStats, disk)
	}
	in.Read, in.Write, in.Trim = b.intervalStats(row.Cells, allTargets)
	if n := len(b.doc.Targets); n > 1 {
		in.Targets = make([]IntervalTarget, n)
		for i := range in.Targets {
			it := &in.Targets[i]
			it.Path = b.doc.Targets[i].Path
			it.Read, it.Write, it.Trim = b.intervalStats(row.Cells, i)
		}
	}
	b.follow(row)
	b.history.row(b, row)
	if !row.Ramp {
		b.peak = max(b.peak, row.InFlight)
	}
	if b.keepRows {
		if row.Ramp {
			b.ramp = append(b.ramp, in)
		} else {
			b.intervals = append(b.intervals, in)
		}
	}
	return in
}

// allTargets is none of the indexes of a target.
const allTargets = -1

func (b *Builder) intervalStats(cells []runner.Cell, target int) (read, write, trim IntervalStat) {
	return intervalStat(b.sum(cells, target, op.Read)), intervalStat(b.sum(cells, target, op.Write)), intervalStat(b.sum(cells, target, op.Trim))
}

// sum is one direction of the cells of a target. Where a single cell has it, as is usual, that is the
// cell's own; otherwise it is the Builder's, until the next call.
func (b *Builder) sum(cells []runner.Cell, target int, o op.Op) *runner.Stat {
	b.scratch.Reset()
	sum := &b.scratch
	n := 0
	for i := range cells {
		s := &cells[i].Ops[o]
		if target != allTargets && cells[i].Target != target || s.Latency.Count() == 0 && s.Faults() == 0 {
			continue
		}
		switch n++; n {
		case 1:
			sum = s
		case 2:
			b.scratch.Merge(sum)
			sum = &b.scratch
			fallthrough
		default:
			sum.Merge(s)
		}
	}
	return sum
}

// rowPercentiles are those of IntervalStat.
var rowPercentiles = []float64{50, 95, 99}

func intervalStat(s *runner.Stat) IntervalStat {
	h := &s.Latency
	var p [3]int64
	h.Percentiles(rowPercentiles, p[:])
	out := IntervalStat{
		IOs: h.Count(), Bytes: s.Bytes, Errors: s.Errors, Short: s.Short, Zero: s.Zero,
		Mean: round(h.Mean()), StdDev: round(h.StdDev()), Min: h.Min(), Max: h.Max(),
		P50: p[0], P95: p[1], P99: p[2],
	}
	if r := &s.Response; r.Count() > 0 {
		out.Response = &IntervalResponse{Mean: round(r.Mean()), P50: r.Percentile(50), P95: r.Percentile(95), P99: r.Percentile(99), Max: r.Max()}
	}
	return out
}

// merged adds up the cells that keep wants.
func merged(cells []runner.Cell, keep func(runner.Cell) bool) [op.Count]runner.Stat {
	var sum [op.Count]runner.Stat
	for i := range cells {
		if !keep(runner.Cell{Stream: cells[i].Stream, Target: cells[i].Target}) {
			continue
		}
		for o := range sum {
			sum[o].Merge(&cells[i].Ops[o])
		}
	}
	return sum
}

// Finish completes the point and appends it to the document.
func (b *Builder) Finish(res *runner.Result, seed uint64) (*Point, error) {
	first := &b.point.Streams[0]
	p := &Point{
		Label: b.point.Label, Phase: b.phase, Threads: first.Threads, IODepth: first.IODepth,
		Started: res.WindowStart.UTC(), WindowS: seconds(res.Window), RampS: seconds(res.Ramp),
		Completed: res.Completed, Interrupted: res.Interrupted, Seed: seed,
		RampIOs: res.RampIOs, DrainedMaxNS: int64(res.DrainedMax), Faults: res.Faults, InFlight: b.peak, CPU: res.CPU, Process: process(res),
		Intervals: b.intervals, RampIntervals: b.ramp, History: b.history.all(),
		PerThread: []Thread{}, Errors: []IOError{}, Stuck: []Stuck{}, Warnings: []verdict.Warning{},
	}
	if res.Failed != nil {
		p.Failure = res.Failed.Error()
	}
	b.threads(p, res)
	for i := range res.Errors {
		p.Errors = append(p.Errors, b.ioError(&res.Errors[i]))
	}
	p.StuckIOs = res.StuckIOs
	for _, s := range res.Stuck {
		p.Stuck = append(p.Stuck, Stuck{
			Target: b.doc.Targets[s.Target].Path, Op: s.Op.String(), Offset: s.Offset, Length: s.Length, AgeS: seconds(s.Age),
		})
	}
	if err := b.stats(p, res); err != nil {
		return nil, err
	}
	b.doc.Points = append(b.doc.Points, p)
	return p, nil
}

func (b *Builder) threads(p *Point, res *runner.Result) {
	if i := slices.IndexFunc(res.Threads, func(t runner.Thread) bool { return t.Stream == 0 }); i >= 0 {
		p.EngineName, p.EngineFeatures = res.Threads[i].Engine.Name, res.Threads[i].Engine.Features
	}
	engines := map[string]bool{} // whose notes are there
	for i := range res.Threads {
		t := &res.Threads[i]
		if !engines[t.Engine.Name] {
			engines[t.Engine.Name] = true
			for _, note := range t.Engine.Notes {
				if t.Engine.Name != p.EngineName {
					note = t.Engine.Name + " " + note
				}
				p.EngineNotes = append(p.EngineNotes, note)
			}
		}
		issued := Issued{Read: t.Issued[op.Read], Write: t.Issued[op.Write], Trim: t.Issued[op.Trim], Sync: t.Issued[op.Sync]}
		p.Issued.Read += issued.Read
		p.Issued.Write += issued.Write
		p.Issued.Trim += issued.Trim
		p.Issued.Sync += issued.Sync
		p.Drained += t.Drained
		thread := Thread{Thread: i, Stream: t.Stream, Target: t.Target, InFlight: t.Peak, Issued: issued}
		if t.CPU >= 0 {
			cpu := t.CPU
			thread.CPU = &cpu
		}
		p.PerThread = append(p.PerThread, thread)
	}
}

// stats fills in the figures of the point, its streams and its targets.
func (b *Builder) stats(p *Point, res *runner.Result) error {
	m := maker{window: res.Window, percentiles: b.percentiles}
	every := func(runner.Cell) bool { return true }
	all := merged(res.Cells, every)
	p.Total, p.Read, p.Write, p.Trim, p.Sync = m.five(&all)
	b.openLoop(&m, res, every, &all, p.Total, p.Read, p.Write, p.Trim)
	for i := range b.point.Streams {
		s := &b.point.Streams[i]
		ofStream := func(c runner.Cell) bool { return c.Stream == i }
		one := merged(res.Cells, ofStream)
		stream := &Stream{Label: s.Label, Workload: s.Workload.RW, Threads: s.Threads, IODepth: s.IODepth, Targets: s.Targets, Pacing: s.Pacing, Share: s.Share, Together: s.Together}
		stream.StartS, stream.EndS = life(res.Threads, i)
		stream.IODepthEffective, stream.EngineName = reached(res.Threads, i)
		if i == 0 {
			p.IODepthEffective = stream.IODepthEffective
		}
		if stream.EngineName == p.EngineName {
			stream.EngineName = ""
		}
		stream.Usage = usage(res.Threads, i)
		if b.following != nil {
			stream.Series = b.following[i].series
		}
		for o := range one {
			stream.Moments[o] = Moments{Mean: one[o].Latency.Mean(), StdDev: one[o].Latency.StdDev()}
		}
		stream.Total, stream.Read, stream.Write, stream.Trim, stream.Sync = m.five(&one)
		b.openLoop(&m, res, ofStream, &one, stream.Total, stream.Read, stream.Write, stream.Trim)
		p.Streams = append(p.Streams, stream)
	}
	for i, facts := range b.doc.Targets {
		ofTarget := func(c runner.Cell) bool { return c.Target == i }
		one := merged(res.Cells, ofTarget)
		target := &Target{Path: facts.Path}
		target.Total, target.Read, target.Write, target.Trim, target.Sync = m.five(&one)
		b.openLoop(&m, res, ofTarget, &one, target.Total, target.Read, target.Write, target.Trim)
		p.Targets = append(p.Targets, target)
	}
	return m.err
}

// reached is the depth that the threads of a stream reached, the least over them, and their engine.
func reached(threads []runner.Thread, stream int) (depth int, engine string) {
	for i := range threads {
		if t := &threads[i]; t.Stream == stream {
			if engine == "" || t.Peak < depth {
				depth = t.Peak
			}
			engine = t.Engine.Name
		}
	}
	return depth, engine
}

// usage is what the threads of a stream used.
func usage(threads []runner.Thread, stream int) (sum runner.Usage) {
	for i := range threads {
		if threads[i].Stream == stream {
			sum.Add(threads[i].Usage)
		}
	}
	return sum
}

// life is when the threads of a stream began and ended, in seconds since the window's start.
func life(threads []runner.Thread, stream int) (start, end float64) {
	first := true
	for i := range threads {
		t := &threads[i]
		if t.Stream != stream {
			continue
		}
		if from := seconds(t.From); first || from < start {
			start = from
		}
		end = max(end, seconds(t.To))
		first = false
	}
	return start, max(end, start)
}

// maker makes Stats over one window; the first error stays.
type maker struct {
	window      time.Duration
	percentiles []float64
	err         error
}

// five makes the four directions' figures and their total. A sync moves no data and is no I/O of the
// workload, so the total leaves it out.
func (m *maker) five(ops *[op.Count]runner.Stat) (total, read, write, trim, sync *Stat) {
	var sum runner.Stat
	for _, o := range []op.Op{op.Read, op.Write, op.Trim} {
		sum.Merge(&ops[o])
	}
	return m.stat(&sum), m.stat(&ops[op.Read]), m.stat(&ops[op.Write]), m.stat(&ops[op.Trim]), m.stat(&ops[op.Sync])
}

func (m *maker) stat(s *runner.Stat) *Stat {
	out := &Stat{IOs: s.Latency.Count(), Bytes: s.Bytes, Errors: s.Errors, Short: s.Short, Zero: s.Zero, Latency: m.latency(&s.Latency)}
	if m.window > 0 {
		out.IOPS = float64(out.IOs) / m.window.Seconds()
		out.BytesPerS = float64(out.Bytes) / m.window.Seconds()
	}
	return out
}

func (m *maker) latency(h *histogram.Histogram) *Latency {
	out := &Latency{Count: h.Count()}
	if out.Count == 0 {
		return out
	}
	out.Min, out.Max, out.Mean = h.Min(), h.Max(), round(h.Mean())
	// No deviation is over half the range; one rounded up past it would be refused by
	// histogram.Restore when documents are merged.
	out.StdDev = min(round(h.StdDev()), (out.Max-out.Min)/2)
	out.Clamped = h.Clamped()
	out.Percentiles = map[string]int64{}
	for _, p := range m.percentiles {
		out.Percentiles[PercentileKey(p)] = h.Percentile(p)
	}
	var err error
	if out.HDR, err = h.Encode(); err != nil && m.err == nil {
		m.err = err
	}
	return out
}

// PercentileKey is a percentile as a key of the document: "50", "99.9".
func PercentileKey(p float64) string { return strconv.FormatFloat(p, 'f', -1, 64) }

func (b *Builder) ioError(e *runner.IOError) IOError {
	out := IOError{
		Target: b.doc.Targets[e.Target].Path, Op: e.Op.String(), Offset: e.Offset, Length: e.Length,
		Errno: int(e.Errno), Name: "short", Message: e.Reason(), TS: seconds(e.At),
	}
	if e.Errno == 0 && e.Got == 0 {
		out.Name = "zero"
	}
	if e.Errno != 0 {
		if out.Name = unix.ErrnoName(e.Errno); out.Name == "" {
			out.Name = "unknown"
		}
	}
	return out
}

func process(res *runner.Result) Process {
	p := Process{UserS: seconds(res.Process.User), SystemS: seconds(res.Process.System), MaxRSSBytes: res.Process.MaxRSSBytes,
		BusiestThreadPct: 100 * res.Health.Busy, Descheduled: res.Health.Descheduled, DescheduledMaxNS: int64(res.Health.Longest),
		InSubmitPct: 100 * res.Health.InSubmit, KernelWorkers: res.Health.KernelWorkers}
	if res.ProcessWall > 0 {
		p.CPUs = (p.UserS + p.SystemS) / res.ProcessWall.Seconds()
	}
	return p
}

func seconds(d time.Duration) float64 { return d.Seconds() }

func round(v float64) int64 { return int64(math.Round(v)) }
