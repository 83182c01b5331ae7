package main

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"blkstorm/ioengine/registry"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/runner"
	"blkstorm/workload"
)

// loadFlags are the options that say what to run.
type loadFlags struct {
	workload         workload.Spec
	bs, bssplit      string
	threads, iodepth int
	runtime, ramp    time.Duration
	interval         time.Duration
	engine, pin      string
	completeMin      int
	sqpoll, hipri    bool
	grace            time.Duration
	seed             uint64
	direct           bool
	continueOnError  bool
	destroy          bool
	destroySignature []string
	pacing           workload.Pacing
	streams          []string
	label, on        string  // of one stream
	share            float64 // of one stream
}

// add adds all of them.
func (l *loadFlags) add(f *pflag.FlagSet) {
	l.addStream(f)
	l.addRun(f)
}

// addStream adds those that say what one stream does.
func (l *loadFlags) addStream(f *pflag.FlagSet) {
	l.workload = workload.Spec{RW: "randread", BlockSize: 4096, ReadPct: 50}
	f.StringVar(&l.workload.RW, "rw", l.workload.RW, "what to issue, `SHAPE` is "+strings.Join(workload.Shapes, "|"))
	f.StringVar(&l.bs, "bs", "4k", "bytes per I/O, a `SIZE` or READ,WRITE,TRIM; 4k is 4096")
	f.StringVar(&l.bssplit, "bssplit", "", "sizes with their percentages, `LIST` is 4k/60:64k/40 or READ,WRITE,TRIM; exact in each 100 I/Os")
	f.Var(textFlag{&l.workload.BlockSizeRange, "RANGE"}, "bsrange", "a range of sizes, 4k-64k or READ,WRITE,TRIM, all alike often")
	f.Var(sizeFlag{&l.workload.BlockSizeAlign}, "bs-align", "use the sizes of --bsrange that are multiples of this (default: of its smallest)")
	f.IntVar(&l.workload.ReadPct, "read-pct", l.workload.ReadPct, "reads in each 100 I/Os of rw and randrw, exact: `N` is 0 to 100")
	f.Var(shareFlag{&l.workload.Size}, "size", "length of the range on each target (default: to its end); makes a missing file")
	f.Var(shareFlag{&l.workload.Offset}, "offset", "start of the range on each target (default 0)")
	f.Var(shareFlag{&l.workload.WorkingSet}, "working-set", "part of the range that is used (default: all of it)")
	f.Var(sizeFlag{&l.workload.BlockAlign}, "blockalign", "random offsets are multiples of this (default: of the I/O's own size)")
	f.Var(textFlag{&l.workload.Distribution, "KIND"}, "random-distribution", "spread of random offsets: uniform, zipf:1.2, pareto:0.2, normal:10, zoned:90/10:10/90, zoned_abs:90/1g:10/9g, hotband:90/10/100000 (default uniform)")
	f.BoolVar(&l.workload.Coverage, "coverage", false, "random offsets that meet every block once a pass")
	f.Var(textFlag{&l.workload.RandomPct, "N"}, "random-pct", "random I/Os in each 100, exact, or READ,WRITE,TRIM; the others go on from where the last one ended (default: what --rw says)")
	f.Var(sizeFlag{&l.workload.Stride}, "stride", "sequential: from the start of one I/O to that of the next (default: they touch)")
	f.BoolVar(&l.workload.Backward, "backward", false, "sequential: from the end of the range to its start")
	f.IntVar(&l.workload.SeqStreams, "seq-streams", 0, "`N` sequential streams per target, a multiple of the threads (default: one per thread)")
	f.Lookup("seq-streams").DefValue = ""
	l.addData(f)
	l.addKinds(f)
	f.IntVar(&l.threads, "threads", 1, "`T`, threads per target")
	f.IntVar(&l.iodepth, "iodepth", 1, "`Q`, I/Os that each thread keeps in flight")
	l.addPacing(f)
}

// addRun adds those of the whole run.
func (l *loadFlags) addRun(f *pflag.FlagSet) {
	l.runtime, l.interval = 30*time.Second, time.Second
	f.Var(timeFlag{&l.runtime}, "runtime", "measured time, after the ramp; a bare number is seconds")
	f.Var(timeFlag{&l.ramp}, "ramp", "time before the measured window, in no figure")
	f.Var(timeFlag{&l.interval}, "interval", "length of a row of the time series")
	l.addHow(f)
	f.BoolVar(&l.sqpoll, "sqthread-poll", false, "io_uring: let a kernel thread submit (SQPOLL); it needs a CPU of its own")
	f.BoolVar(&l.hipri, "hipri", false, "io_uring: poll the device for completions (IOPOLL); it needs polling queues")
	f.Uint64Var(&l.seed, "seed", 0, "repeat a run's offsets, mix and data with its seed `N` (default: a new one, shown in the result)")
	l.grace = runner.DefaultGrace
	f.Var(timeFlag{&l.grace}, "grace", "how long after the end unanswered I/Os are waited for")
	f.BoolVar(&l.destroy, "destroy", false, "allow to overwrite the targets")
	f.StringArrayVar(&l.destroySignature, "destroy-signature", nil, "overwrite `TARGET` although it carries a file system or other signature; repeatable")
	f.StringArrayVar(&l.streams, "stream", nil, "one of several streams that run together: its own `OPTIONS`, as in \"rw=write bs=64k fsync=1\"; those beside it are defaults; repeatable")
}

// hows are the options of addHow.
var hows = []string{"engine", "complete-min", "pin", "direct", "continue-on-error"}

// addHow adds those that say how I/O is issued, by all streams or by one of several.
func (l *loadFlags) addHow(f *pflag.FlagSet) {
	f.StringVar(&l.engine, "engine", registry.Auto, "how I/O is issued, `NAME` is "+strings.Join(registry.Names(), "|"))
	f.IntVar(&l.completeMin, "complete-min", 1, "`N`, completions that a thread waits for at once")
	f.StringVar(&l.pin, "pin", "auto", "threads to CPUs: auto (one each when they fit), none, or a `LIST` such as 0-3,8")
	f.BoolVar(&l.direct, "direct", true, "bypass the page cache (O_DIRECT)")
	f.BoolVar(&l.continueOnError, "continue-on-error", false, "count failed I/Os and go on")
}

// frame makes a plan without phases from the flags.
func (l *loadFlags) frame(f *pflag.FlagSet, targets []string) *plan.Plan {
	if !f.Changed("seed") {
		l.seed = newSeed()
	}
	p := &plan.Plan{
		Schema: plan.Schema, Engine: l.engine, Direct: l.direct, CompleteMin: l.completeMin, Pin: l.pin, Seed: l.seed,
		SQThreadPoll: l.sqpoll, HiPri: l.hipri, Grace: plan.Duration(l.grace),
		ContinueOnError: l.continueOnError, Destroy: l.destroy,
	}
	if len(targets) == 0 {
		targets = []string{""} // a scratch file of the run's own
	}
	for _, spec := range targets {
		p.Targets = append(p.Targets, plan.Target{Spec: spec})
	}
	return p
}

// point makes a measured point of streams.
func (l *loadFlags) point(streams []plan.Stream) plan.Point {
	return plan.Point{
		Label: plan.AutoLabel(streams), Ramp: plan.Duration(l.ramp), Runtime: plan.Duration(l.runtime), Interval: plan.Duration(l.interval),
		Streams: streams,
	}
}

// allStreams are those of the point: one from the options themselves, or one per --stream.
func (l *loadFlags) allStreams(f *pflag.FlagSet, targets []plan.Target) ([]plan.Stream, error) {
	if len(l.streams) > 0 {
		return l.severalStreams(f, targets)
	}
	s, err := l.stream(f, targets)
	if err != nil {
		return nil, err
	}
	return []plan.Stream{*s}, nil
}

// stream makes one stream. The files that its targets may have to become get as long as it needs.
func (l *loadFlags) stream(f *pflag.FlagSet, targets []plan.Target) (*plan.Stream, error) {
	for _, name := range []string{"size", "working-set", "bs-align", "blockalign", "stride", "seq-streams"} {
		if v := f.Lookup(name).Value.String(); f.Changed(name) && (v == "" || v == "0") {
			return nil, fmt.Errorf("--%s 0: must be over 0", name)
		}
	}
	l.kinds(f)
	if err := l.sizes(f); err != nil {
		return nil, err
	}
	if err := l.mix(f); err != nil {
		return nil, err
	}
	s := &plan.Stream{Label: l.label, Workload: l.workload, Threads: l.threads, IODepth: l.iodepth, Pacing: l.pacing, Share: l.share}
	if s.Label == "" {
		s.Label = l.workload.RW
	}
	var err error
	if s.Targets, err = l.targetsOf(targets); err != nil {
		return nil, err
	}
	for _, i := range s.Targets {
		targets[i].CreateBytes = max(targets[i].CreateBytes, l.createBytes())
	}
	return s, nil
}

// mix settles the share of reads.
func (l *loadFlags) mix(f *pflag.FlagSet) error {
	w := &l.workload
	// A value out of its limits is told as that, by Validate, rather than as one out of place.
	if f.Changed("read-pct") && !w.Mixed() && w.Validate() == nil {
		return fmt.Errorf("--read-pct %d: goes with --rw rw or randrw; --rw %s is no mix of reads and writes", w.ReadPct, w.RW)
	}
	rates := l.pacing.Rates()
	if rates.PerDirection() && w.Mixed() {
		if f.Changed("read-pct") {
			return fmt.Errorf("--read-pct %d: the rates %s fix the mix already", w.ReadPct, rates)
		}
		w.ReadPct = rates.ReadPct()
	}
	if !f.Changed("read-pct") && !w.Mixed() {
		w.ReadPct = 100 // what the plan shows is what is issued
		if !w.Reads() {
			w.ReadPct = 0
		}
	}
	return nil
}

// createBytes is the size of a file that has to be made first: so large that the range fits.
func (l *loadFlags) createBytes() int64 {
	if l.workload.Size.Bytes == 0 || l.workload.Size.Bytes > math.MaxInt64-l.workload.Offset.Bytes {
		return 0
	}
	return l.workload.Offset.Bytes + l.workload.Size.Bytes
}

// allowSignatures lifts the refusal because of a signature from the targets that are named, as they
// are written or by any other name of theirs.
func (a *app) allowSignatures(p *plan.Plan, names []string) error {
	for _, name := range names {
		found := false
		for i := range p.Targets {
			if t := &p.Targets[i]; t.Spec != "" && (t.Spec == name || a.sameTarget(t.Spec, name)) {
				t.DestroySignature, found = true, true
			}
		}
		if !found {
			return fmt.Errorf("--destroy-signature %s: this is no target of the run", name)
		}
	}
	return nil
}

func (a *app) sameTarget(one, other string) bool {
	first, err := a.roots.Device.Resolve(one)
	if err != nil {
		return false
	}
	second, err := a.roots.Device.Resolve(other)
	return err == nil && first == second
}

// newSeed draws a seed that is short enough to be typed again.
func newSeed() uint64 {
	var b [8]byte
	rand.Read(b[:]) // never fails since Go 1.24
	return uint64(binary.LittleEndian.Uint32(b[:]))
}

// flagError says what is wrong with an option in the words of the other messages: option, value, limit.
func flagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return invalidFlag(invalid)
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		return fmt.Errorf("%w; %s --help lists the options", err, cmd.CommandPath())
	}
	return err
}

// parsePercentiles reads a list such as "50,99,99.9".
func parsePercentiles(text string) ([]float64, error) {
	if text == "" {
		return result.DefaultPercentiles, nil
	}
	var list []float64
	for _, part := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || !(v > 0 && v <= 100) {
			return nil, fmt.Errorf("--percentiles %q: %q is not a number over 0 and up to 100", text, part)
		}
		list = append(list, v)
	}
	return list, nil
}
