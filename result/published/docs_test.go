package published

import (
	"fmt"
	"strconv"
	"time"

	"blkstorm/device"
	"blkstorm/host"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/steady"
	"blkstorm/workload"
)

// The documents of the golden files: plans as the profiles make them, with made-up figures that say
// where they come from.

// builder makes a document along its plan.
type builder struct{ *result.Doc }

func newDoc(profile string, targets int, phases ...plan.Phase) *builder {
	d := &result.Doc{Plan: &plan.Plan{Profile: profile, Phases: phases}}
	for i := range targets {
		d.Targets = append(d.Targets, &device.Facts{Path: fmt.Sprintf("/dev/sd%c", 'b'+i)})
	}
	return &builder{d}
}

func phase(kind string, points ...plan.Point) plan.Phase {
	return plan.Phase{Kind: kind, Points: points}
}

// at is a point of one stream. Its label must not matter: it is the same for all that do the same.
func at(rw string, bs int64, readPct, threads, depth int, targets ...int) plan.Point {
	if len(targets) == 0 {
		targets = []int{0}
	}
	s := plan.Stream{Workload: workload.Spec{RW: rw, BlockSize: bs, ReadPct: readPct}, Threads: threads, IODepth: depth, Targets: targets}
	return plan.Point{Label: rw + strconv.FormatInt(bs, 10) + fmt.Sprint(threads, depth), Streams: []plan.Stream{s}, Runtime: plan.Duration(time.Minute), Interval: plan.Duration(time.Second)}
}

// stat has rate I/Os per second for a minute, and latencies around a mean in microseconds.
func stat(rate float64, bs, us int64) *result.Stat {
	s := &result.Stat{IOs: uint64(60 * rate), Bytes: uint64(60*rate) * uint64(bs), IOPS: rate, BytesPerS: rate * float64(bs), Latency: &result.Latency{}}
	if s.IOs > 0 {
		ns := us * 1000
		s.Latency = &result.Latency{Count: s.IOs, Min: ns / 2, Mean: ns, StdDev: ns / 4, Max: 10 * ns,
			Percentiles: map[string]int64{"95": 2 * ns, "99": 3 * ns}}
	}
	return s
}

// slowdown is how much longer a write takes than a read.
const slowdown = 2

// add runs a point of the plan: rate I/Os per second, a read in us microseconds.
func (b *builder) add(phase, index int, rate float64, us int64) *result.Point {
	ph := &b.Plan.Phases[phase]
	pl := &ph.Points[index]
	w := spec(pl)
	reads := 0.0
	if pct := readPct(w); pct > 0 {
		reads = rate * float64(pct) / 100
	}
	p := &result.Point{
		Label: pl.Label, Phase: ph.Kind, WindowS: 60, Completed: true, CPU: host.CPUShare{UserPct: 10, SystemPct: 5.5},
		Read: stat(reads, w.BlockSize, us), Write: stat(rate-reads, w.BlockSize, slowdown*us), Trim: stat(0, 0, 0), Sync: stat(0, 0, 0),
	}
	mean := (float64(p.Read.IOs)*float64(us) + float64(p.Write.IOs)*slowdown*float64(us)) / float64(p.Read.IOs+p.Write.IOs)
	p.Total = stat(rate, w.BlockSize, int64(mean))
	p.Total.Latency.Max = max(p.Read.Latency.Max, p.Write.Latency.Max)
	for i := range pl.Streams {
		s := &pl.Streams[i]
		p.Streams = append(p.Streams, &result.Stream{Label: s.Label, Threads: s.Threads, IODepth: s.IODepth, Total: p.Total, Read: p.Read, Write: p.Write})
	}
	b.Points = append(b.Points, p)
	return p
}

// history gives a point a history of n parts that get slower, each as long as round.
func history(p *result.Point, n int, round time.Duration, bs int64) {
	for i := range n {
		of := func(share float64, us int64) result.IntervalStat {
			ios := uint64(share * float64(60000-2000*min(i, 10)))
			if ios == 0 {
				return result.IntervalStat{}
			}
			ns := (us + int64(10*i)) * 1000
			return result.IntervalStat{IOs: ios, Bytes: ios * uint64(bs), Mean: ns, StdDev: ns / 3, P99: 3 * ns, Max: 12 * ns}
		}
		share := float64(p.Read.IOs) / float64(p.Total.IOs)
		s := &result.Slice{TS: float64(i) * round.Seconds(), LengthS: round.Seconds(), Read: of(share, 200), Write: of(1-share, 800), Total: of(1, 380)}
		s.Total.Max = max(s.Read.Max, s.Write.Max)
		if share == 0 || share == 1 {
			s.Total = s.Read
			if share == 0 {
				s.Total = s.Write
			}
		}
		p.History = append(p.History, s)
	}
}

// settled says in which rounds a preconditioning was steady.
func settled(p *result.Point, round time.Duration, values ...float64) {
	rule := steady.Default()
	rule.Round = round
	p.Steady = report(rule, values)
}

func report(rule steady.Rule, values []float64) *steady.Report {
	t := steady.NewTracker(rule)
	for _, v := range values {
		t.Add(v)
	}
	r := t.Report()
	return &r
}

func settling(n int, from, level float64) (values []float64) {
	for i := range n {
		values = append(values, max(level, from-float64(i)*(from-level)/6)+float64(i%2))
	}
	return values
}

func storageReviewDoc() *result.Doc {
	var matrix []plan.Point
	for _, t := range []int{2, 4, 8, 16} {
		for _, q := range []int{2, 4, 8, 16} {
			matrix = append(matrix, at("randrw", 8192, 70, t, q))
		}
	}
	b := newDoc("storagereview-ssd", 1,
		phase(plan.Purge, at("trim", 1<<20, 0, 1, 4)),
		phase(plan.Precondition, at("randwrite", 4096, 0, 16, 16)), phase(plan.Measure, at("randread", 4096, 100, 16, 16), at("randwrite", 4096, 0, 16, 16)),
		phase(plan.Precondition, at("randrw", 8192, 70, 16, 16)), phase(plan.Measure, matrix...),
		phase(plan.Precondition, at("write", 131072, 0, 16, 16)), phase(plan.Measure, at("read", 131072, 100, 16, 16), at("write", 131072, 0, 16, 16)))
	b.add(0, 0, 100, 10)
	p := b.add(1, 0, 60000, 900)
	history(p, 12, time.Minute, 4096)
	settled(p, time.Minute, settling(12, 60000, 40000)...)
	history(b.add(2, 0, 250000, 100), 60, 5*time.Second, 4096)
	history(b.add(2, 1, 115000, 1100), 60, 5*time.Second, 4096)
	p = b.add(3, 0, 50000, 600)
	history(p, 60, time.Minute, 8192)
	settled(p, time.Minute, settling(60, 90000, 45000)[:4]...)
	for i := range matrix {
		s := &matrix[i].Streams[0]
		history(b.add(4, i, 8000*float64(1+i), int64(s.Threads*s.IODepth*5)), 2+i%2, 30*time.Second, 8192)
	}
	p = b.add(5, 0, 9000, 500)
	history(p, 3, 1500*time.Millisecond, 131072)
	p.History[2].LengthS = 0.2
	p.Completed = false
	b.add(6, 0, 20000, 800)
	p = b.add(6, 1, 9000, 900)
	history(p, 7, 5*time.Second, 131072)
	p.Completed, p.Interrupted = false, true
	return b.Doc
}

func hcibenchDoc() *result.Doc {
	disks := []int{0, 1, 2, 3}
	b := newDoc("hcibench-storagereview", 4, phase(plan.Fill, at("write", 131072, 0, 1, 32, disks...)),
		phase(plan.Measure, at("randread", 4096, 100, 1, 8, disks...), at("randwrite", 4096, 0, 1, 8, disks...), at("randrw", 8192, 70, 1, 8, disks...),
			at("read", 32768, 100, 1, 8, disks...), at("write", 32768, 0, 1, 8, disks...)))
	b.Plan.Quick = true
	b.add(0, 0, 3000, 10000)
	for i, v := range []struct {
		iops float64
		us   int64
	}{{32000, 1000}, {8000, 2000}, {121329, 203}, {2000, 16000}, {500, 32000}} {
		b.add(1, i, v.iops, v.us)
	}
	return b.Doc
}

func cacheMatrixDoc() *result.Doc {
	var points []plan.Point
	for _, bs := range []int64{4, 8, 64} {
		for _, write := range []int{0, 30, 100} {
			points = append(points, at("", bs<<10, 100-write, 2, 1))
		}
	}
	for i := range points {
		points[i].Streams[0].Workload.RW = map[int]string{100: "randread", 70: "randrw", 0: "randwrite"}[points[i].Streams[0].Workload.ReadPct]
		points[i].Label = fmt.Sprint("p", i)
	}
	b := newDoc("vsan-cache-matrix", 2, phase(plan.Measure, points...))
	for i := range points[:8] { // the last one has not run
		p := b.add(0, i, 1000*float64(1+i), 100*int64(1+i))
		if i == 4 {
			p.Skipped, p.Total, p.Read, p.Write = "no room", stat(0, 0, 0), stat(0, 0, 0), stat(0, 0, 0)
		}
	}
	return b.Doc
}

func driveSpecDoc() *result.Doc {
	b := newDoc("drive-spec", 1, phase(plan.Measure, at("read", 65536, 100, 1, 32), at("randread", 4096, 100, 4, 32), at("randwrite", 512, 0, 4, 32), at("randread", 4096, 100, 1, 1)))
	points := b.Plan.Phases[0].Points
	b.Plan.Claims = &plan.Claims{Drive: "Example 400", Source: "its data sheet of 2014", Values: []plan.Claim{
		{Point: points[0].Label, Figure: "bandwidth", Value: 1900 << 20, Unit: "MiB/s"},
		{Point: points[1].Label, Figure: "iops", Value: 270000, Unit: "IOPS"},
		{Point: points[2].Label, Figure: "write.iops", Value: 800000, Unit: "IOPS"},
		{Point: points[3].Label, Figure: "read.mean", Value: 68000, Unit: "us"},
		{Point: "not there", Figure: "iops", Value: 1000, Unit: "IOPS"},
		{Point: points[0].Label, Figure: "nonsense", Value: 5, Unit: "furlongs"},
	}}
	b.add(0, 0, 28000, 1100)
	b.add(0, 1, 262000, 480)
	b.Points[1].Completed = false
	p := b.add(0, 2, 0, 1)
	p.Skipped = "blocks of 512 bytes: the device has 4096"
	b.add(0, 3, 12000, 82)
	return b.Doc
}

func threadRampDoc() *result.Doc {
	var points []plan.Point
	for _, t := range []int{32, 16, 8} {
		points = append(points, at("randrw", 16384, 70, t, 1))
	}
	b := newDoc("thread-ramp", 1, phase(plan.Precondition, at("randrw", 16384, 70, 32, 1)), phase(plan.Measure, points...))
	history(b.add(0, 0, 1000, 400), 49, time.Minute, 16384)
	for i := range 2 {
		history(b.add(1, i, 1000/float64(1+i), 400/int64(1+i)), 5, time.Minute, 16384)
	}
	b.add(1, 2, 200, 100) // without a history
	return b.Doc
}

func streamsDoc() *result.Doc {
	p := at("randrw", 16384, 75, 8, 4)
	log := at("write", 4096, 0, 1, 1).Streams[0]
	p.Label, p.Streams[0].Label, log.Label = "oltp-mysql", "data", "redo log"
	p.Streams = append(p.Streams, log)
	b := newDoc("oltp-mysql", 1, phase(plan.Measure, p))
	got := b.add(0, 0, 5000, 700)
	got.Streams[1].Total = stat(900, 4096, 90)
	got.Streams[1].Sync = stat(900, 0, 450)
	got.Streams[1].Total.OpenLoop = &result.OpenLoop{Response: stat(900, 4096, 120).Latency}
	return b.Doc
}

func cornersDoc() *result.Doc {
	b := newDoc("four-corners", 1, phase(plan.Measure, at("randread", 4096, 100, 4, 32), at("randwrite", 4096, 0, 4, 32), at("read", 1<<20, 100, 1, 16), at("write", 1<<20, 0, 1, 16)))
	for i := range 3 {
		b.add(0, i, 100000/float64(1+i*i*20), 200*int64(1+i))
	}
	return b.Doc
}
