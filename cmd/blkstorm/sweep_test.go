package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/lab"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/steady"
	"blkstorm/threshold"
)

// documentOf reads a document of several points.
func documentOf(t *testing.T, o outcome) *result.Doc {
	t.Helper()
	return decode(t, o.stdout)
}

func decode(t *testing.T, text string) *result.Doc {
	t.Helper()
	d := &result.Doc{}
	if err := json.Unmarshal([]byte(text), d); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return d
}

// allWritten checks that no 4 KiB of a file are zeros.
func allWritten(t *testing.T, path string, size int) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil || len(content) != size {
		t.Fatalf("%d bytes, %v", len(content), err)
	}
	zeros := make([]byte, 4096)
	for at := 0; at < size; at += len(zeros) {
		if bytes.Equal(content[at:at+len(zeros)], zeros) {
			t.Fatalf("%s: the block at %d was never written", path, at)
		}
	}
}

// The procedure of a review, scaled down: purge, two fills, preconditioning at 16T/16Q, 16 points. The rule is
// so wide that a shared machine keeps it: what is steady is tested on devices of known rate.
func TestReviewProcedure(t *testing.T) {
	dev, backing := loopOn(t, 64*mib, lab.LoopOptions{})
	dir := t.TempDir() + "/out"
	o := start(t, "", "sweep", "--purge", "--fill", "2", "--precondition", "steady", "--steady-round", "200ms", "--steady-range", "1000", "--steady-fitted", "1000",
		"--interval", "100ms", "--rw", "randrw", "--read-pct", "70", "--bs", "8k", "--threads", "2,4,8,16", "--iodepth", "2,4,8,16", "--ramp", "100ms", "--runtime", "200ms",
		"--knee", "max=1h", "--assert", "errors==0", "--quick", "--destroy", "--format", "json", "--dir", dir, dev).waitFor(5*time.Minute).want(t, exitGood,
		"point 1 of 19, purge 64m; left with it: at most 9.8s, and 128 MiB to write, and 64 MiB to trim", "point 19 of 19, randrw 70% read 8k 16T/16Q; left with it: 300ms", "round 5: ")
	d := documentOf(t, o)
	if len(d.Points) != 19 {
		t.Fatalf("%d points, want 19", len(d.Points))
	}
	for i, want := range []struct {
		phase string
		bytes uint64
	}{{plan.Purge, 64 * mib}, {plan.Fill, 128 * mib}} {
		p := d.Points[i]
		if p.Phase != want.phase || !p.Completed || p.Write.Bytes+p.Trim.Bytes != want.bytes {
			t.Errorf("point %d: %s, completed %v, %d bytes written, %d trimmed", i, p.Phase, p.Completed, p.Write.Bytes, p.Trim.Bytes)
		}
	}
	if st := d.Points[2].Steady; st == nil || st.State.Rounds != len(st.Values) || d.Points[2].Threads*d.Points[2].IODepth != 256 {
		t.Errorf("preconditioning: %+v", st)
	}
	i := 3
	for _, threads := range []int{2, 4, 8, 16} {
		for _, depth := range []int{2, 4, 8, 16} {
			p := d.Points[i]
			if i++; p.Threads != threads || p.IODepth != depth || p.Phase != plan.Measure || !p.Completed || len(p.Asserts) != 1 || !p.Asserts[0].OK {
				t.Errorf("point %d: %s %dT/%dQ, completed %v, asserts %+v", i, p.Phase, p.Threads, p.IODepth, p.Completed, p.Asserts)
			}
			checkSums(t, p)
		}
	}
	k := d.Sweep.Knee
	if len(d.Sweep.Axes) != 2 || len(d.Sweep.Points) != 16 || d.Sweep.Points[0] != 3 || k == nil || k.Point == nil {
		t.Fatalf("%+v, knee %+v", d.Sweep, k)
	}
	for _, p := range d.Points[3:] {
		if p.Total.IOPS > k.IOPS {
			t.Errorf("%s has more IOPS than the knee: %v, %v", p.Label, p.Total.IOPS, k.IOPS)
		}
	}
	kept, err := os.ReadFile(dir + "/result.json")
	if err != nil {
		t.Fatal(err)
	}
	if f := decode(t, string(kept)); len(f.Points) != 19 || *f.Sweep.Knee.Point != *k.Point {
		t.Errorf("the folder has %d points and the knee %+v", len(f.Points), f.Sweep.Knee)
	}
	allWritten(t, backing, 64*mib)
}

// A device whose speed never settles is never called steady: exit status 4, and with --quick a warning.
func TestNeverSteady(t *testing.T) {
	dev := lab.Loop(t, 16*mib, lab.LoopOptions{})
	args := []string{"run", "--precondition", "steady", "--steady-round", "100ms", "--interval", "100ms", "--steady-window", "3", "--steady-max-rounds", "5",
		"--steady-range", "0.0001", "--steady-fitted", "0.0001", "--runtime", "100ms", "--format", "json", dev}
	for status, extra := range map[int][]string{exitMissed: nil, exitGood: {"--quick"}} {
		o := blkstorm(t, append(args, extra...)...).want(t, status)
		d := documentOf(t, o)
		st := d.Points[0].Steady.State
		if len(d.Points) != 2 || st.Steady || !st.NeverReached || st.Rounds != 5 || st.Reached != 0 || !hasWarning(d.Points[0], "not_steady") || !d.Points[1].Completed {
			t.Errorf("%v: %d points, %+v", extra, len(d.Points), st)
		}
		if told := strings.Contains(o.stderr, "steady state was not reached"); told != (status == exitMissed) {
			t.Errorf("%v: %s", extra, o.stderr)
		}
	}
}

// Signals win over faults, these over what was not reached, and what is only a warning is none of them.
func TestStatusOrder(t *testing.T) {
	assert := threshold.Result{}
	fault := &result.Point{Faults: 1}
	missed := &result.Point{Completed: true, Asserts: []threshold.Result{assert}}
	unsteady := &result.Point{Completed: true, Steady: &steady.Report{}}
	half := &result.Point{Phase: plan.Fill}
	skipped := &result.Point{Phase: plan.Measure, Skipped: "no"}
	for _, c := range []struct {
		signal int32
		quick  bool
		want   int
		points []*result.Point
	}{
		{0, false, exitGood, []*result.Point{skipped}},
		{0, false, exitMissed, []*result.Point{missed}},
		{0, true, exitMissed, []*result.Point{missed}},
		{0, false, exitMissed, []*result.Point{unsteady}},
		{0, true, exitGood, []*result.Point{unsteady}},
		{0, false, exitFaults, []*result.Point{missed, unsteady, fault}},
		{0, false, exitFaults, []*result.Point{half}},
		{2, false, 130, []*result.Point{missed, fault, half}},
	} {
		a := &app{signals: &signals{}}
		a.signals.caught.Store(c.signal)
		if got := a.status(&result.Doc{Plan: &plan.Plan{Quick: c.quick}, Points: c.points}); got != c.want {
			t.Errorf("%+v: status %d", c, got)
		}
	}
}

// Limits that are not kept are exit status 4, listed on standard error, after the whole document.
func TestAssertsEndInStatus4(t *testing.T) {
	dev := lab.Loop(t, 16*mib, lab.LoopOptions{})
	o := blkstorm(t, "sweep", "--iodepth", "1,2", "--runtime", "200ms", "--assert", "p50<1ns", "--assert", "iops>0", "--assert", "write.iops<1", dev).want(t, exitMissed,
		"blkstorm: assert p50<1ns: not met in 2 of 2 points", "blkstorm: assert write.iops<1: not met in 2 of 2 points")
	for _, want := range []string{"assert p50<1ns: not met, it is", "assert iops>0: met, it is", "assert write.iops<1: not met, no I/O of direction write", "IOPS by iodepth\n"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in\n%s", want, o.stdout)
		}
	}
	if strings.Contains(o.stderr, "assert iops>0") {
		t.Error(o.stderr)
	}
}

// On a disk with blocks of 4096 the points of 512 are skipped with the reason, and the others run; when all
// are such points, nothing is touched.
func TestSweepOn4Kn(t *testing.T) {
	dev := lab.Loop(t, 16*mib, lab.LoopOptions{SectorSize: 4096})
	d := documentOf(t, blkstorm(t, "sweep", "--bs", "512,4k,8k", "--iodepth", "1,2", "--runtime", "200ms", "--format", "json", dev).want(t, exitGood, "randread 512 1T/1Q: skipped: "+dev))
	if len(d.Points) != 6 {
		t.Fatalf("%d points", len(d.Points))
	}
	for i, p := range d.Points {
		if skipped := strings.Contains(p.Skipped, "--bs 512: must be a multiple of 4096, the target's logical block size"); skipped != (i < 2) || p.Completed == skipped || (p.Total.IOs > 0) == skipped {
			t.Errorf("%s: skipped %q, completed %v, %d I/Os", p.Label, p.Skipped, p.Completed, p.Total.IOs)
		}
	}
	before := kernelCounts(t, dev)
	blkstorm(t, "sweep", "--bs", "512,1k", "--rw", "randwrite", "--destroy", dev).want(t, exitUsage, "none of the 2 points can run; the first: "+dev)
	o := blkstorm(t, "sweep", "--bs", "512,1k,4k,8k", "--dry-run", dev).want(t, exitGood)
	for _, want := range []string{"measure: 4 points, of which 2 are skipped, 1m0s", "[1] measure: randread 512 1T/1Q: skipped: ", "[3] measure: randread 4k 1T/1Q, ramp 0s, runtime 30s", "\ntakes 1m0s\n"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in\n%s", want, o.stdout)
		}
	}
	if after := kernelCounts(t, dev); after.WriteIOs != before.WriteIOs {
		t.Errorf("%d writes", after.WriteIOs-before.WriteIOs)
	}
}

// Sixteen disks as those of a VM, in one point: totals are the sums of the targets, and the fill has
// written all blocks of all of them.
func TestSixteenDisks(t *testing.T) {
	const size = 4 * mib
	var devs, files []string
	for range 16 {
		file := lab.File(t, size)
		files = append(files, file)
		devs = append(devs, lab.LoopOn(t, file, lab.LoopOptions{}))
	}
	d := documentOf(t, blkstorm(t, append([]string{"run", "--fill", "1", "--rw", "randrw", "--bs", "8k", "--iodepth", "2", "--runtime", "1s", "--destroy", "--format", "json"}, devs...)...).want(t, exitGood))
	fill, p := d.Points[0], d.Points[1]
	if fill.Phase != plan.Fill || !fill.Completed || fill.Write.Bytes != 16*size || len(p.Targets) != 16 {
		t.Fatalf("%+v, %d targets", fill.Write, len(p.Targets))
	}
	checkSums(t, p)
	var sum result.Stat
	for i := range devs {
		if fill.Targets[i].Write.Bytes != size {
			t.Errorf("%s: %d of %d bytes were filled", devs[i], fill.Targets[i].Write.Bytes, size)
		}
		s := p.Targets[i].Total
		sum.IOs, sum.Bytes, sum.IOPS = sum.IOs+s.IOs, sum.Bytes+s.Bytes, sum.IOPS+s.IOPS
		allWritten(t, files[i], size)
	}
	if sum.IOs != p.Total.IOs || sum.Bytes != p.Total.Bytes || math.Abs(sum.IOPS-p.Total.IOPS) > 1e-6*p.Total.IOPS {
		t.Errorf("the targets sum up to %d I/Os, %d bytes, %v IOPS; the total has %d, %d, %v", sum.IOs, sum.Bytes, sum.IOPS, p.Total.IOs, p.Total.Bytes, p.Total.IOPS)
	}
}

// A dry run of a huge device shows phases, points, bytes and time, and touches nothing.
func TestDryRunOfAHugeDevice(t *testing.T) {
	file := lab.File(t, 1600<<30)
	dev := lab.LoopOn(t, file, lab.LoopOptions{})
	before, counts := allocated(t, file), kernelCounts(t, dev)
	o := blkstorm(t, "sweep", "--purge", "--fill", "2", "--precondition", "steady", "--rw", "randrw", "--read-pct", "70", "--bs", "8k", "--threads", "1-8", "--iodepth", "1-16*2",
		"--runtime", "25d", "--destroy", "--dry-run", dev).want(t, exitGood)
	for _, want := range []string{
		"purge: purge 64m, trims 1.7 TB (1.6 TiB)\n", "fill: fill 2 x 128k, writes 3.4 TB (3.1 TiB)\n", "precondition: randrw 70% read 8k 8T/16Q, until steady: iops over 5 rounds of 1m0s",
		"measure: 40 points, 1000d\n  [1] measure: randrw 70% read 8k 1T/1Q, ramp 0s, runtime 600h0m0s\n  and so on, to\n  [40] measure: randrw 70% read 8k 8T/16Q",
		"\ntakes at most 1000d25m0s, and 3.1 TiB to write, and 1.6 TiB to trim\n",
	} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in\n%s", want, o.stdout[:min(len(o.stdout), 2000)])
		}
	}
	if after := allocated(t, file); after != before {
		t.Errorf("%d blocks were allocated, %d before", after, before)
	}
	if after := kernelCounts(t, dev); after.WriteIOs != counts.WriteIOs || after.DiscardIOs != counts.DiscardIOs {
		t.Errorf("%+v, before %+v", after, counts)
	}
	blkstorm(t, "sweep", "--fill", "1", "--rw", "randread", "--iodepth", "1,2", dev).want(t, exitRefused, "[consent]")
}

// steps are the rates of a device round by round: it decays, and then holds.
var steps = []int{1000, 750, 550, 400, 400, 400, 400, 400, 400, 400, 400, 400}

// lost is its rate when it is measured, below the band of its steady state.
const lost = 250

// A device whose rate is stepped down and then held becomes steady in the round in which the rule says so of
// these rates, and not before. The throttle is stepped by the run's own rounds, so that steps and rounds agree; what
// the kernel lets through beyond a limit in a round that begins stays below the rule's margins here.
func TestSteadyInTheRightRound(t *testing.T) {
	rule := steady.Default()
	var rates []float64
	want := 0
	for _, rate := range steps {
		rates = append(rates, float64(rate))
		if s := rule.Judge(rates); s.Steady {
			want = s.Reached
			break
		}
	}
	if want != 8 {
		t.Fatalf("the rule is steady in round %d of these rates, want 8", want)
	}
	var d *result.Doc
	for range 3 { // a shared machine may starve a round: then this was another device
		if d = steppedDown(t); asStepped(d.Points[0].Steady) {
			break
		}
	}
	st := d.Points[0].Steady
	measured := make([]float64, len(st.Values))
	for i, v := range st.Values {
		measured[i] = *v
		t.Logf("round %d: %.0f of %d IOPS", i+1, *v, steps[min(i, len(steps)-1)])
	}
	checkDrift(t, d.Points[1])
	if s := rule.Judge(measured); s.Reached != st.State.Reached {
		t.Errorf("the rule says round %d of these values, the run %d", s.Reached, st.State.Reached)
	}
	if st.State.Reached != want || st.State.Rounds != want || st.State.First != want-4 || math.Abs(st.State.Mean-400) > 40 {
		t.Errorf("%+v; want steady in round %d, with a mean of 400", st.State, want)
	}
}

// asStepped says whether the rounds were as fast as the throttle let them be.
func asStepped(r *steady.Report) bool {
	for i, v := range r.Values {
		if want := float64(steps[min(i, len(steps)-1)]); v == nil || math.Abs(*v-want) > 0.12*want {
			return false
		}
	}
	return len(r.Values) > 4
}

// A point that does the same as the preconditioning and is out of its band is told of.
func checkDrift(t *testing.T, p *result.Point) {
	t.Helper()
	if p.Phase != plan.Measure || p.Drift == nil || p.Drift.Value > p.Drift.Low || p.Drift.Value != p.Total.IOPS || !hasWarning(p, "steady_state_lost") {
		t.Errorf("%s: %.0f IOPS, drift %+v, warnings %+v", p.Phase, p.Total.IOPS, p.Drift, p.Warnings)
	}
}

// steppedDown preconditions on a device that gives so many I/Os per second in each round.
func steppedDown(t *testing.T) *result.Doc {
	t.Helper()
	dev := lab.Loop(t, 64*mib, lab.LoopOptions{})
	group := lab.Throttle(t, dev, steps[0], 0)
	cmd := group.Command("nice", "-n", "-10", "blkstorm", "run", "--precondition", "steady", "--steady-round", "1s", "--interval", "500ms", "--steady-max-rounds", fmt.Sprint(len(steps)),
		"--iodepth", "16", "--ramp", "500ms", "--runtime", "2s", "--quick", "--format", "json", dev)
	var stdout bytes.Buffer
	cmd.Dir, cmd.Stdout = t.TempDir(), &stdout
	stderr, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // only if the test ended before it did
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		var round int
		if n, _ := fmt.Sscanf(lines.Text(), "round %d:", &round); n == 1 && round < len(steps) {
			group.Limit(t, steps[round], 0)
		}
		if strings.HasPrefix(lines.Text(), "point 2 of 2") {
			group.Limit(t, lost, 0)
		}
	}
	if err := errors.Join(lines.Err(), cmd.Wait()); err != nil {
		t.Fatal(err)
	}
	return decode(t, stdout.String())
}

// The first I/O error ends a sweep, too, unless it is to go on; and a fill that fails is the end.
func TestErrorsEndASweep(t *testing.T) {
	dev := truncatedLoop(t, 16*mib, 4*mib)
	args := []string{"sweep", "--rw", "read", "--bs", "64k", "--iodepth", "1,2", "--runtime", "500ms", "--assert", "iops<0", "--format", "json", dev}
	if d := documentOf(t, blkstorm(t, args...).want(t, exitFaults)); len(d.Points) != 1 || d.Points[0].Completed || d.Points[0].Faults == 0 {
		t.Errorf("%d points, the first %+v", len(d.Points), d.Points[0].Total)
	}
	if d := documentOf(t, blkstorm(t, append(args, "--continue-on-error")...).want(t, exitFaults)); len(d.Points) != 2 || !d.Points[1].Completed {
		t.Errorf("%d points", len(d.Points))
	}
	small := lab.Loop(t, 64*mib, lab.LoopOptions{Dir: smallFS(t, 8*mib), Buffered: true})
	d := documentOf(t, blkstorm(t, "sweep", "--fill", "1", "--iodepth", "1,2", "--runtime", "500ms", "--destroy", "--format", "json", small).want(t, exitFaults))
	if len(d.Points) != 1 || d.Points[0].Phase != plan.Fill || d.Points[0].Completed {
		t.Errorf("%d points after a fill that failed", len(d.Points))
	}
}

// A signal ends a sweep with the points that it had.
func TestSignalEndsASweep(t *testing.T) {
	dev := lab.Loop(t, 16*mib, lab.LoopOptions{})
	dir := t.TempDir() + "/out"
	p := start(t, "", "sweep", "--dir", dir, "--iodepth", "1,2,4", "--runtime", "300ms", "--interval", "100ms", "--idle", "1m", "--assert", "iops<0", "--precondition", "200ms", "--format", "json", dev)
	for range 600 { // until the first point has ended: it waits then
		if _, err := os.Stat(dir + "/result.json"); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	time.Sleep(200 * time.Millisecond)
	p.signal(syscall.SIGINT)
	if d := documentOf(t, p.wait().want(t, 130)); len(d.Points) != 1 || !d.Points[0].Completed || d.Points[0].Phase != plan.Precondition || len(d.Sweep.Points) != 0 {
		t.Errorf("%d points, %+v", len(d.Points), d.Sweep)
	}
}

// allocated is how many blocks of 512 bytes a file takes.
func allocated(t *testing.T, path string) int64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks
}
