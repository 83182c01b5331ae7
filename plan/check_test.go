package plan

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blkstorm/device"
	"blkstorm/steady"
	"blkstorm/unit"
	"blkstorm/workload"
)

func TestCheckTakesWhatIsRight(t *testing.T) {
	for name, change := range map[string]func(*Plan){
		"as it is":          func(*Plan) {},
		"auto":              func(p *Plan) { p.Engine = "auto" },
		"largest seed":      func(p *Plan) { p.Seed = MaxSeed },
		"most threads":      func(p *Plan) { p.firstStream().Threads = MaxThreads },
		"deepest":           func(p *Plan) { p.firstStream().IODepth = MaxIODepth },
		"all at once":       func(p *Plan) { p.CompleteMin = 4 },
		"shortest interval": func(p *Plan) { p.firstPoint().Interval = Duration(MinInterval) },
		"longest": func(p *Plan) {
			p.firstPoint().Runtime, p.firstPoint().Interval = Duration(MaxTime), Duration(time.Minute)
		},
		"no ramp": func(p *Plan) { p.firstPoint().Ramp = 0 },
		"one pass, no time": func(p *Plan) {
			p.firstStream().Passes, p.firstStream().Workload.RW, p.firstPoint().Runtime = 1, "write", 0
		},
		"one pass of coverage": func(p *Plan) {
			p.firstStream().Passes, p.firstStream().Workload.RW, p.firstStream().Workload.Coverage = 1, "randwrite", true
			p.firstPoint().Runtime = 0
		},
		"an end of one of two streams": func(p *Plan) {
			pt := p.firstPoint()
			pt.Streams = append(pt.Streams, pt.Streams[0])
			pt.Streams[1].IOs = 1
		},
		"terabytes of trims": func(p *Plan) {
			s := p.firstStream()
			s.Threads, s.IODepth, s.Workload.BlockSize, s.Workload.RW = 1024, 4096, 1<<30, "randtrim"
		},
		"engines of their own": func(p *Plan) {
			direct := false
			s := p.firstStream()
			s.Engine, s.Direct, s.CompleteMin, s.Pin, s.ContinueOnError = "libaio", &direct, 4, "0", &direct
		},
		"both of the targets": func(p *Plan) { p.firstStream().Targets = []int{0, 1} },
	} {
		p := valid()
		change(p)
		if err := p.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Every message names the option, the value and the limit.
func TestCheckRefuses(t *testing.T) {
	for want, change := range map[string]func(*Plan){
		`--engine: unknown engine "x"; known are `:                                                          func(p *Plan) { p.Engine = "x" },
		`--engine: unknown engine "y"; known are `:                                                          func(p *Plan) { p.firstStream().Engine = "y" },
		`--engine null of stream "s": an engine that moves nothing cannot run beside one that does (psync)`: func(p *Plan) { p.firstStream().Engine = "null" },
		`--engine auto of stream "s": is for the whole plan; name an engine here`:                           func(p *Plan) { p.firstStream().Engine = "auto" },
		"--complete-min 6: must be from 1 to the queue depth, 4":                                            func(p *Plan) { p.firstStream().CompleteMin = 6 },
		"--seed 9007199254740992: must be at most 900719925474099":                                          func(p *Plan) { p.Seed = MaxSeed + 1 },
		"the plan has no target":                                                                            func(p *Plan) { p.Targets = nil },
		"the plan has no point to run":                                                                      func(p *Plan) { p.Phases = nil },
		"--runtime 0s: must be over 0":                                                                      func(p *Plan) { p.firstPoint().Runtime = 0 },
		"--runtime -1s: must be over 0":                                                                     func(p *Plan) { p.firstPoint().Runtime = -Duration(time.Second) },
		"--runtime 8784h0m1s: must be at most 8784h0m0s":                                                    func(p *Plan) { p.firstPoint().Runtime = Duration(MaxTime + time.Second) },
		"--ramp 8784h0m1s: must be from 0 to 8784h0m0s":                                                     func(p *Plan) { p.firstPoint().Ramp = Duration(MaxTime + time.Second) },
		"--ramp -1s: must be from 0 to":                                                                     func(p *Plan) { p.firstPoint().Ramp = -Duration(time.Second) },
		"--interval 9ms: must be at least 10ms":                                                             func(p *Plan) { p.firstPoint().Interval = Duration(9 * time.Millisecond) },
		"--interval 10ms: gives over 10000000 intervals in 720h0m1s": func(p *Plan) {
			p.firstPoint().Interval, p.firstPoint().Runtime = Duration(MinInterval), Duration(720*time.Hour)
		},
		"--threads 0: must be from 1 to 1024":                    func(p *Plan) { p.firstStream().Threads = 0 },
		"--threads 1025: must be from 1 to 1024":                 func(p *Plan) { p.firstStream().Threads = 1025 },
		"--iodepth 0: must be from 1 to 4096":                    func(p *Plan) { p.firstStream().IODepth = 0 },
		"--iodepth 4097: must be from 1 to 4096":                 func(p *Plan) { p.firstStream().IODepth = 4097 },
		"--complete-min 0: must be from 1 to the queue depth, 4": func(p *Plan) { p.CompleteMin = 0 },
		"--complete-min 5: must be from 1 to the queue depth, 4": func(p *Plan) { p.CompleteMin = 5 },
		"= 128g of buffers: over the limit of 64g": func(p *Plan) {
			s := p.firstStream()
			s.Threads, s.IODepth, s.Workload.BlockSize = 1024, 128, 1<<20
		},
		"--rw \"x\": known are":                 func(p *Plan) { p.firstStream().Workload.RW = "x" },
		"--bs 0: must be from 1 byte to 1g":     func(p *Plan) { p.firstStream().Workload.BlockSize = 0 },
		"--read-pct 101: must be from 0 to 100": func(p *Plan) { p.firstStream().Workload.ReadPct = 101 },
		"--runtime 1m0s: all streams of the point have an end of their own, with which it ends; leave it out": func(p *Plan) { p.firstStream().Time = Duration(time.Hour) },
		"a single pass needs a sequential workload":                                                           func(p *Plan) { p.firstStream().Passes = 1 },
		"a single pass needs a sequential workload of one block size, or --coverage": func(p *Plan) {
			p.firstStream().Passes, p.firstStream().Workload.RW, p.firstStream().Workload.Stride = 1, "write", 16384
		},
		"--bssplit 4k/50:8k/40: the shares sum to 90 %, not to 100": func(p *Plan) {
			p.firstStream().Workload.BlockSizeSplit.Read = workload.Split{{Bytes: 4096, Share: 5000}, {Bytes: 8192, Share: 4000}}
		},
		"stream \"s\" names target 0 twice":    func(p *Plan) { p.firstStream().Targets = []int{0, 0} },
		"stream \"s\" has no target":           func(p *Plan) { p.firstStream().Targets = nil },
		"point \"x\" has no stream":            func(p *Plan) { p.firstPoint().Streams = nil },
		"--interval 0s: must be at least 10ms": func(p *Plan) { steadyPhase(p); p.firstPoint().Interval = 0 },
		"--steady-max-rounds 1000000: of 1m0s each are over 8784h0m0s together": func(p *Plan) {
			steadyPhase(p)
			p.Phases[0].Steady.MaxRounds = 1_000_000
		},
		"stream \"s\" names target 2 of 2":          func(p *Plan) { p.firstStream().Targets = []int{2} },
		"--size 10000 is not a multiple of --bs 8k": func(p *Plan) { p.firstStream().Workload.Size = unit.Share{Bytes: 10000} },
	} {
		p := valid()
		change(p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %q", err, want)
		}
	}
}

// steadyPhase makes the first phase one that looks for steady state.
func steadyPhase(p *Plan) {
	rule := steady.Default()
	p.Phases[0].Kind, p.Phases[0].Steady = Precondition, &rule
	p.firstPoint().Runtime = Duration(SteadyTime(&rule))
}

// Front ends are told where in the plan the error is.
func TestCheckNamesThePart(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Plan)
		want   []int // phase, point, stream; nil: of the whole plan
	}{
		"plan":   {func(p *Plan) { p.Engine = "x" }, nil},
		"phase":  {func(p *Plan) { p.Phases[1].Kind = "x" }, []int{1, -1, -1}},
		"rule":   {func(p *Plan) { steadyPhase(p); p.Phases[0].Steady.Window = 1 }, []int{0, -1, -1}},
		"point":  {func(p *Plan) { p.Phases[1].Points[1].Ramp = -1 }, []int{1, 1, -1}},
		"shares": {func(p *Plan) { p.Phases[1].Points[1].Streams[0].Share = 3 }, []int{1, 1, -1}},
		"stream": {func(p *Plan) { p.Phases[1].Points[1].Streams[1].IODepth = 0 }, []int{1, 1, 1}},
	} {
		p, other := valid(), valid()
		point := other.Phases[0].Points[0]
		point.Streams = append(point.Streams, point.Streams[0])
		other.Phases[0].Points = append(other.Phases[0].Points, point)
		p.Phases = append(p.Phases, other.Phases[0])
		c.change(p)
		err := p.Check()
		var got []int
		var part *PartError
		if errors.As(err, &part) {
			got = []int{part.Phase, part.Point, part.Stream}
		}
		if err == nil || !cmp.Equal(got, c.want) {
			t.Errorf("%s: %v at %v, want %v", name, err, got, c.want)
		}
	}
}

func TestCheckTarget(t *testing.T) {
	disk := func(size int64, block int) device.Facts {
		return device.Facts{Path: "/dev/a", Kind: "disk", SizeBytes: size, LogicalBlockBytes: block}
	}
	file := func(size int64, align, block int) device.Facts {
		return device.Facts{Path: "/f", Kind: device.KindFile, SizeBytes: size, DIOOffsetAlign: align, LogicalBlockBytes: block}
	}
	bs := func(n int64) func(*Plan) { return func(p *Plan) { p.firstStream().Workload.BlockSize = n } }
	for name, c := range map[string]struct {
		facts  device.Facts
		change func(*Plan)
		want   string // empty: nothing is wrong
	}{
		"disk": {disk(1<<30, 512), bs(8192), ""},
		"4Kn, split": {disk(1<<30, 4096), func(p *Plan) {
			p.firstStream().Workload.BlockSizeSplit.Read = workload.Split{{Bytes: 8192, Share: 5000}, {Bytes: 512, Share: 5000}}
		}, "--bssplit 512: must be a multiple of 4096"},
		"4Kn, blockalign": {disk(1<<30, 4096), func(p *Plan) { p.firstStream().Workload.BlockAlign = 512 }, "--blockalign 512: must be a multiple of 4096"},
		"zones": {disk(1<<30, 512), func(p *Plan) {
			p.firstStream().Workload.Distribution, _ = workload.ParseDistribution("zoned_abs:60/1g:40/1g")
		}, "--random-distribution zoned_abs:60/1g:40/1g: zone 2 ends at 2g"},
		"one block":            {disk(8192, 512), bs(8192), ""},
		"4Kn, 8k":              {disk(1<<30, 4096), bs(8192), ""},
		"4Kn, 512":             {disk(1<<30, 4096), bs(512), "/dev/a: --bs 512: must be a multiple of 4096, the target's logical block size"},
		"4Kn, buffered, 512":   {disk(1<<30, 4096), func(p *Plan) { bs(512)(p); p.Direct = false }, ""},
		"4Kn, offset":          {disk(1<<30, 4096), func(p *Plan) { p.firstStream().Workload.Offset = unit.Share{Bytes: 512} }, "--offset 512: must be a multiple of 4096"},
		"empty":                {disk(0, 512), bs(512), "/dev/a: it is empty (0 bytes)"},
		"smaller than a block": {disk(4096, 512), bs(8192), "range of 4k is smaller than one block of --bs 8k"},
		"offset at the end":    {disk(8192, 512), func(p *Plan) { p.firstStream().Workload.Offset = unit.Share{Bytes: 8192} }, "--offset 8k: the target ends at 8k"},
		"size over the end":    {disk(8192, 512), func(p *Plan) { p.firstStream().Workload.Size = unit.Share{Bytes: 16384} }, "--size 16k at offset 0: the target ends at 8k"},
		"slices":               {disk(8192, 512), func(p *Plan) { p.firstStream().Workload.RW = "write" }, "cut into slices for 2 threads"},
		"file, statx":          {file(1<<20, 4096, 512), bs(512), "/f: --bs 512: must be a multiple of 4096, the target's direct I/O alignment"},
		"file, no statx":       {file(1<<20, 0, 4096), bs(512), "--bs 512: must be a multiple of 4096, the target's underlying logical block size"},
		"file, nothing known":  {file(1<<20, 0, 0), bs(100), ""},
		"file, buffered":       {file(1<<20, 4096, 4096), func(p *Plan) { bs(100)(p); p.Direct = false }, ""},
		"trim": {device.Facts{Path: "/dev/a", SizeBytes: 1 << 30, LogicalBlockBytes: 512, Queue: device.Queue{DiscardMaxBytes: 1 << 20}},
			func(p *Plan) { p.firstStream().Workload.RW = "trim" }, ""},
		"trim, no discard": {disk(1<<30, 512), func(p *Plan) { p.firstStream().Workload.RW = "randtrim" },
			"/dev/a: --rw randtrim: the device takes no discards (queue/discard_max_bytes is 0); --trim-with write-zeroes"},
		"trimwrite, no discard": {disk(1<<30, 512), func(p *Plan) { p.firstStream().Workload.RW = "trimwrite" }, "the device takes no discards"},
		"purge, no discard": {disk(1<<30, 512), func(p *Plan) {
			p.firstStream().Workload.RW, p.firstStream().Workload.Whole = "trim", true
		}, "/dev/a: the device takes no discards (queue/discard_max_bytes is 0), so it cannot be purged: leave the purge out (a profile's with --purge=false)"},
		"zeroes, no discard": {disk(1<<30, 512), func(p *Plan) {
			p.firstStream().Workload.RW, p.firstStream().Workload.TrimWith = "trim", workload.WriteZeroes
		}, ""},
		"holes in a file": {file(1<<20, 512, 512), func(p *Plan) { p.firstStream().Workload.RW = "trim" }, ""},
		"buffered trims are of whole blocks, too": {device.Facts{Path: "/dev/a", SizeBytes: 1 << 30, LogicalBlockBytes: 512, Queue: device.Queue{DiscardMaxBytes: 1 << 20}},
			func(p *Plan) { bs(100)(p); p.Direct, p.firstStream().Workload.RW = false, "trim" }, "--bs 100: must be a multiple of 512"},
		"a target of no stream":    {disk(0, 512), func(p *Plan) { p.firstStream().Targets = []int{1} }, ""},
		"a rest below a block":     {disk(10000, 512), bs(4096), ""},
		"percentage below a block": {disk(8192, 512), func(p *Plan) { p.firstStream().Workload.WorkingSet = unit.Share{Percent: 1} }, "smaller than one block"},
	} {
		p := valid()
		c.change(p)
		err := p.CheckTarget(0, &c.facts)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v\nwant %q", name, err, c.want)
		}
	}
}
