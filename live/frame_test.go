package live

import (
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"blkstorm/device"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/steady"
	"blkstorm/unit"
	"blkstorm/verdict"
	"blkstorm/workload"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// noon is when all runs of these tests begin.
var noon = time.Date(2026, 3, 5, 12, 0, 0, 0, time.UTC)

func dur(text string) plan.Duration {
	d, err := unit.Duration(text)
	if err != nil {
		panic(err)
	}
	return plan.Duration(d)
}

func load(label, rw string, threads, depth int, ramp, runtime string) plan.Point {
	return plan.Point{Label: label, Ramp: dur(ramp), Runtime: dur(runtime), Interval: dur("1s"), Streams: []plan.Stream{{
		Workload: workload.Spec{RW: rw, BlockSize: 8192, ReadPct: 70}, Targets: []int{0}, Threads: threads, IODepth: depth,
	}}}
}

// bigPlan fills, brings to steady state and sweeps a disk of 1.6 TB.
func bigPlan() *plan.Plan {
	rule := steady.Default()
	p := &plan.Plan{Targets: []plan.Target{{Spec: "/dev/sdx"}}}
	fill := plan.FillPhase([]int{0}, 2, workload.DataSpec{})
	pre := plan.Phase{Kind: plan.Precondition, Steady: &rule, Points: []plan.Point{load("randrw 70% read 8k 16T/16Q", "randrw", 16, 16, "0", "25m")}}
	measure := plan.Phase{Kind: plan.Measure}
	for _, threads := range []int{2, 4, 8, 16} {
		for _, depth := range []int{2, 4, 8, 16} {
			measure.Points = append(measure.Points, load(fmt.Sprintf("randrw 70%% read 8k %dT/%dQ", threads, depth), "randrw", threads, depth, "5s", "1m"))
		}
	}
	p.Phases = []plan.Phase{fill, pre, {Kind: plan.Idle, Time: dur("10m")}, measure}
	return p
}

func head(p *plan.Plan) *result.Doc {
	d := &result.Doc{Plan: p}
	for _, t := range p.Targets {
		d.Targets = append(d.Targets, &device.Facts{Path: t.Spec, SizeBytes: 1_600_000_000_000})
	}
	return d
}

// mixed is a row of n I/Os of 8 KiB, of which 70 % read, in a second from t on.
func mixed(t float64, n uint64) *result.Interval {
	in := &result.Interval{TS: t, LengthS: 1, Ramp: t < 0, InFlight: 8}
	reads := n * 7 / 10
	in.Read = result.IntervalStat{IOs: reads, Bytes: reads * 8192, Mean: 97_310, P50: 91_200, P95: 210_400, P99: 1_203_000, Max: 5_001_000}
	in.Write = result.IntervalStat{IOs: n - reads, Bytes: (n - reads) * 8192, Mean: 45_700, P50: 40_100, P95: 88_000, P99: 301_000, Max: 12_440_000}
	in.Write.Max += int64(1e5 * (n % 97))
	in.CPU.UserPct, in.CPU.SystemPct, in.StealPct, in.CPU.StealPct = 3.1, 20.4, 0.2, 0.2
	return in
}

// wave is a rate that goes up and down, so that one sees something.
func wave(i int) uint64 { return uint64(9000 + 7000*math.Sin(float64(i)/5)) }

// at is the state of a test with the time at which it is looked at.
type at struct {
	state
	now time.Time
}

func begun(p *plan.Plan) *at {
	a := &at{now: noon}
	a.begin(head(p))
	return a
}

// rows feeds seconds of a point, from its ramp on, as fast as they come.
func (a *at) rows(from, to int, make func(i int) *result.Interval) *at {
	for i := from; i < to; i++ {
		a.now = a.now.Add(time.Second)
		a.addRow(make(i), a.now)
	}
	return a
}

// hung is a device that has stopped to answer.
func hung() *at {
	p := &plan.Plan{Targets: []plan.Target{{Spec: "/dev/sdx"}}}
	point := load("randrw 70% read 8k 4T/16Q", "randrw", 4, 16, "0", "5m")
	p.Append(plan.Measure, &point)
	a := begun(p)
	a.pointBegin(0, 1, plan.Measure, &p.Phases[0].Points[0], a.now)
	a.rows(0, 30, func(i int) *result.Interval { return mixed(float64(i), wave(i)) })
	return a.rows(30, 42, func(i int) *result.Interval {
		return &result.Interval{TS: float64(i), LengthS: 1, InFlight: 64}
	})
}

// states are what golden frames are drawn of.
var states = map[string]func() *at{
	"fill": func() *at { // at 43 %
		p := bigPlan()
		a := begun(p)
		a.pointBegin(0, 18, plan.Fill, &p.Phases[0].Points[0], a.now)
		return a.rows(0, 600, func(i int) *result.Interval {
			in := &result.Interval{TS: float64(i), LengthS: 1, InFlight: 32}
			in.Write = result.IntervalStat{IOs: 17500, Bytes: 2_293_333_333, Mean: 1_822_000, P50: 1_700_000, P95: 2_900_000, P99: 9_102_000, Max: 20_400_000}
			return in
		})
	},
	"precondition": func() *at { // in round 8: seven are over
		p := bigPlan()
		a := begun(p)
		a.pointBegin(1, 18, plan.Precondition, &p.Phases[1].Points[0], a.now)
		a.rows(0, 451, func(i int) *result.Interval { return mixed(float64(i), uint64(60000-100*i)) })
		tracker := steady.NewTracker(*p.Phases[1].Steady)
		for _, v := range []float64{57000, 51000, 45000, 39000, 33000, 27000, 21000} {
			s := tracker.Add(v)
			a.rounds = &s
		}
		return a
	},
	"sweep": func() *at { // point 5 of 16 measured ones, with steady numbers behind it
		p := bigPlan()
		a := begun(p)
		point := &p.Phases[3].Points[4]
		a.pointBegin(6, 18, plan.Measure, point, a.now)
		return a.rows(-5, 26, func(i int) *result.Interval { return mixed(float64(i), wave(i+5)) })
	},
	"ramp": func() *at {
		p := bigPlan()
		a := begun(p)
		a.pointBegin(2, 18, plan.Measure, &p.Phases[3].Points[0], a.now)
		return a.rows(-5, -3, func(i int) *result.Interval { return mixed(float64(i), wave(i+5)) })
	},
	"idle": func() *at {
		p := bigPlan()
		a := begun(p)
		a.pointBegin(2, 18, plan.Idle, nil, a.now)
		a.now = a.now.Add(150 * time.Second)
		return a
	},
	"findmax": func() *at { // nobody knows how many steps there will be; response times
		p := &plan.Plan{Targets: []plan.Target{{Spec: "/dev/sdx"}}}
		point := load("search 12000 IOPS", "randread", 1, 32, "1s", "10s")
		p.Append(plan.Measure, &point)
		a := begun(p)
		next := point
		a.pointBegin(6, -1, plan.Measure, &next, a.now)
		return a.rows(-1, 7, func(i int) *result.Interval {
			in := &result.Interval{TS: float64(i), LengthS: 1, Ramp: i < 0, InFlight: 5}
			in.Read = result.IntervalStat{IOs: 12000, Bytes: 12000 * 4096, Mean: 97_310, P50: 91_200, P95: 210_400, P99: 1_203_000, Max: 5_001_000,
				Response: &result.IntervalResponse{Mean: 121_000, P50: 99_800, P95: 400_000, P99: 2_940_000, Max: 7_700_000}}
			return in
		})
	},
	"warnings": func() *at {
		p := bigPlan()
		a := begun(p)
		a.warn([]verdict.Warning{
			{Code: "cpu_bound", Message: "a thread of blkstorm was on its CPU for 99 % of the time, so that the figures show this machine rather than the device", Advice: "add threads, or CPUs"},
			{Code: "steal", Message: "the hypervisor took 12.5 % of the CPU time away while this point ran", Advice: "run on a host with fewer guests"},
			{Code: "unwritten", Message: "91.2 % of the range that is read was never written: the device may answer without looking", Advice: "fill it first"},
			{Code: "depth_not_reached", Message: "a thread had 31 of 32 I/Os in flight at most", Advice: "lower --iodepth"},
			{Code: "engine_fallback", Message: "io_uring is not there (EPERM): libaio is used", Advice: "allow io_uring"},
		})
		a.pointBegin(10, 18, plan.Measure, &p.Phases[3].Points[8], a.now)
		a.rows(-5, 59, func(i int) *result.Interval { return mixed(float64(i), wave(i+5)) })
		in := mixed(59, 900)
		in.Write.Errors, in.Read.Short = 1234, 5
		return a.rows(59, 60, func(int) *result.Interval { return in })
	},
	"hung": hung,
	"over": func() *at { // the window is over, and something does not come back
		a := hung()
		a.now = noon.Add(5*time.Minute + 12*time.Second)
		return a
	},
	"targets": func() *at { // sixteen of them, with names that are too long
		p := &plan.Plan{}
		point := load("randread 4k 2T/8Q", "randread", 2, 8, "0", "30m")
		point.Streams[0].Targets = nil
		for i := range 16 {
			p.Targets = append(p.Targets, plan.Target{Spec: fmt.Sprintf("/dev/disk/by-id/scsi-%02d", i)})
			point.Streams[0].Targets = append(point.Streams[0].Targets, i)
		}
		p.Append(plan.Measure, &point)
		a := begun(p)
		a.pointBegin(0, 1, plan.Measure, &p.Phases[0].Points[0], a.now)
		return a.rows(0, 900, func(i int) *result.Interval {
			in := &result.Interval{TS: float64(i), LengthS: 1, InFlight: 256}
			for k, t := range p.Targets {
				n := wave(i) + uint64(100*k)
				s := result.IntervalStat{IOs: n, Bytes: n * 4096, Mean: 97_310, P50: 91_200, P95: 210_400, P99: 1_203_000, Max: int64(5_001_000 + k)}
				in.Targets = append(in.Targets, result.IntervalTarget{Path: t.Spec, Read: s})
				in.Read.IOs, in.Read.Bytes = in.Read.IOs+n, in.Read.Bytes+n*4096
				in.Read.Mean, in.Read.P50, in.Read.P95, in.Read.P99, in.Read.Max = s.Mean, s.P50, s.P95, s.P99, s.Max
			}
			return in
		})
	},
}

var sizes = [][2]int{{80, 24}, {160, 50}, {40, 10}}

// Frames as people see them. The screen's size is that of the terminal; a frame leaves some lines to it.
func TestGoldenFrames(t *testing.T) {
	for name, make := range states {
		var got strings.Builder
		for _, size := range sizes {
			for _, ascii := range []bool{false, true} {
				if ascii && size[0] != 80 {
					continue
				}
				a := make()
				c := &screen{ascii: ascii, size: func() (int, int) { return size[0], size[1] }}
				c.renew(nil, &a.state, a.now)
				fmt.Fprintf(&got, "== %d x %d%s\n%s\n", size[0], size[1], map[bool]string{true: " ASCII"}[ascii], strings.Join(c.shown, "\n"))
			}
		}
		path := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got.String()); diff != "" {
			t.Errorf("%s differs (go test ./live -update rewrites it):\n%s", path, diff)
		}
	}
}

// Whatever the size, no frame is larger than it, none fails, and what is most important is in it.
func TestFramesFit(t *testing.T) {
	for name, make := range states {
		a := make()
		for width := 1; width <= 200; width += 1 + width/20 {
			for height := 0; height <= 60; height++ {
				lines := frame(&a.state, a.now, width, height, width%2 == 0)
				if len(lines) > height {
					t.Fatalf("%s: %d lines in %d:\n%s", name, len(lines), height, strings.Join(lines, "\n"))
				}
				for _, line := range lines {
					if n := utf8.RuneCountInString(line); n > width || width%2 == 0 && n != len(line) {
						t.Fatalf("%s: %q in %d columns", name, line, width)
					}
				}
				if len(lines) == 0 && height > 0 || height > 0 && !strings.HasPrefix(lines[0], a.kind[:min(width-1, len(a.kind))]) {
					t.Fatalf("%s: the first of %d lines is not the point: %q", name, height, lines)
				}
			}
		}
	}
}

func TestWrap(t *testing.T) {
	for _, width := range []int{10, 20, 40} {
		for _, indent := range []string{"", "  "} {
			lines := wrap(indent, "one two three four five six seven eight nine ten", width)
			for i, line := range lines {
				if len(line) > width || i > 0 && !strings.HasPrefix(line, "  ") || i == 0 && !strings.HasPrefix(line, indent+"one") {
					t.Errorf("%d: line %d is %q", width, i, line)
				}
			}
			if got := strings.Join(strings.Fields(strings.Join(lines, " ")), " "); got != "one two three four five six seven eight nine ten" {
				t.Error(got)
			}
		}
	}
}
