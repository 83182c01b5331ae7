package execute

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blkstorm/device"
	"blkstorm/lab"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/steady"
	"blkstorm/unit"
	"blkstorm/verdict"
	"blkstorm/workload"
)

// childRun makes the test binary the run that tests kill: a plan, and the folder for its result; without a
// plan it goes on with the run of that folder.
const childRun = "BLKSTORM_TEST_RUN"

func TestMain(m *testing.M) {
	if text := os.Getenv(childRun); text != "" {
		name, dir, _ := strings.Cut(text, ":")
		if err := child(name, dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(name, dir string) error {
	if name == "" {
		_, err := goOn(options(), dir)
		return err
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	p := &plan.Plan{}
	if err := json.Unmarshal(text, p); err != nil {
		return err
	}
	o := options()
	o.Dir = dir
	_, err = carryOut(p, o)
	return err
}

// procedure is a plan of several phases on one file: a preconditioning, idling, and points of growing
// depth.
func procedure(target plan.Target, points int) *plan.Plan {
	p := job("randread", target)
	p.Engine = "auto"
	one := p.Phases[0].Points[0]
	one.Runtime = plan.Duration(60 * time.Millisecond)
	p.Phases = []plan.Phase{
		{Kind: plan.Precondition, Points: []plan.Point{one}},
		{Kind: plan.Idle, Time: plan.Duration(10 * time.Millisecond)},
		{Kind: plan.Measure},
	}
	p.Phases[0].Points[0].Label = "before"
	for i := range points {
		point := one
		point.Label = fmt.Sprintf("depth %d", i+1)
		point.Streams = slices.Clone(point.Streams)
		point.Streams[0].IODepth = i + 1
		p.Phases[2].Points = append(p.Phases[2].Points, point)
	}
	return p
}

// killed runs the plan in a process of its own, and kills it in the middle of the point after n.
func killed(t *testing.T, p *plan.Plan, dir string, n int) {
	t.Helper()
	text, err := json.Marshal(p)
	name := filepath.Join(t.TempDir(), "plan.json")
	if err := errors.Join(err, os.WriteFile(name, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childRun+"="+name+":"+dir)
	var stderr bytes.Buffer
	child.Stderr = &stderr
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Wait() }()
	defer func() { _ = child.Process.Kill() }()
	row := fmt.Appendf(nil, `"point":%d,`, n)
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if rows, err := os.ReadFile(filepath.Join(dir, "intervals.ndjson")); err == nil && bytes.Contains(rows, row) {
			return
		}
	}
	t.Fatalf("point %d has not begun\n%s", n, stderr.String())
}

// goOn resumes the run in dir.
func goOn(o Options, dir string) (*result.Doc, error) {
	o.Dir, o.Resume = dir, true
	return carryOut(nil, o)
}

// stored reads what is in a folder: the raw points, and all else.
func stored(t *testing.T, dir string) (points []json.RawMessage, doc map[string]json.RawMessage) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err := errors.Join(err, json.Unmarshal(text, &doc), json.Unmarshal(doc["points"], &points)); err != nil {
		t.Fatal(err)
	}
	return points, doc
}

// rows counts the rows of each point in intervals.ndjson, all of which must be whole, and in order.
func rows(t *testing.T, dir string) map[int]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "intervals.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	count, last := map[int]int{}, 0
	for line := range bytes.Lines(text) {
		var in result.Interval
		if err := json.Unmarshal(line, &in); err != nil || in.Point < last {
			t.Fatalf("row %s after one of point %d: %v", line, last, err)
		}
		last = in.Point
		count[last]++
	}
	return count
}

func keys(m map[string]json.RawMessage) (list []string) {
	for k := range m {
		list = append(list, k)
	}
	slices.Sort(list)
	return list
}

// Killed in the middle of any point, a run is gone on with: what was finished stays byte for byte, the
// rest runs, and the whole is as if nothing had been.
func TestResumeAfterKill(t *testing.T) {
	const points = 4
	p := procedure(plan.Target{Spec: file(t, 1<<20)}, points)
	p.Engine = "null" // a busy disk is no part of this
	whole := filepath.Join(t.TempDir(), "whole")
	o := options()
	o.Dir = whole
	if _, err := carryOut(p, o); err != nil {
		t.Fatal(err)
	}
	wantPoints, wantDoc := stored(t, whole)
	for n := range points + 1 {
		dir := filepath.Join(t.TempDir(), "out")
		killed(t, p, dir, n)
		before, head := stored(t, dir)
		if len(before) > n {
			t.Skipf("the run was too fast to be killed in point %d", n)
		}
		// A torn last line, as the kernel leaves it now and then.
		torn, err := os.OpenFile(filepath.Join(dir, "intervals.ndjson"), os.O_WRONLY|os.O_APPEND, 0)
		if err == nil {
			_, err = torn.WriteString(`{"type":"interval","lab`)
		}
		if err := errors.Join(err, torn.Close()); err != nil {
			t.Fatal(err)
		}
		doc, err := goOn(options(), dir)
		if err != nil || len(doc.Points) != points+1 {
			t.Fatalf("killed in point %d: %v, %+v", n, err, doc)
		}
		after, now := stored(t, dir)
		for i, point := range before {
			if !bytes.Equal(point, after[i]) {
				t.Errorf("killed in point %d: point %d is\n%s\nand was\n%s", n, i, after[i], point)
			}
		}
		if len(after) != len(wantPoints) {
			t.Fatalf("%d points, want %d", len(after), len(wantPoints))
		}
		var resumed []result.Resumed
		if err := json.Unmarshal(now["resumed"], &resumed); err != nil || len(resumed) != 1 || resumed[0].AfterPoint != len(before)-1 || resumed[0].GapS > 20 {
			t.Errorf("resumed is %s, %v", now["resumed"], err)
		}
		delete(now, "resumed")
		if diff := cmp.Diff(keys(wantDoc), keys(now)); diff != "" {
			t.Error(diff)
		}
		for _, key := range []string{"id", "started", "plan", "host"} {
			if !bytes.Equal(head[key], now[key]) {
				t.Errorf("%s was %s, is %s", key, head[key], now[key])
			}
		}
		count := rows(t, dir)
		for i := range after {
			var got, want result.Point
			var gotKeys, wantKeys map[string]json.RawMessage
			if err := errors.Join(json.Unmarshal(after[i], &got), json.Unmarshal(wantPoints[i], &want), json.Unmarshal(after[i], &gotKeys), json.Unmarshal(wantPoints[i], &wantKeys)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(keys(wantKeys), keys(gotKeys)); diff != "" {
				t.Error(diff)
			}
			if got.Label != want.Label || got.Phase != want.Phase || got.Seed != want.Seed || got.IODepth != want.IODepth || !got.Completed {
				t.Errorf("point %d is %q of %s, want %q of %s", i, got.Label, got.Phase, want.Label, want.Phase)
			}
			if count[i] != 6 {
				t.Errorf("killed in point %d: point %d has %d rows, want 6", n, i, count[i])
			}
			if slices.ContainsFunc(doc.Points[i].Warnings, isGap) {
				t.Errorf("point %d carries a gap", i)
			}
		}
		checkLog(t, dir, points+1)
	}
}

// Killed again and again, at any moment, a run loses no point that it had finished, and comes to its end.
func TestResumeAgainAndAgain(t *testing.T) {
	p := procedure(plan.Target{Spec: file(t, 1<<20)}, 5)
	p.Engine = "null"
	dir := filepath.Join(t.TempDir(), "out")
	killed(t, p, dir, 0)
	before, _ := stored(t, dir)
	for round := 0; len(before) < 6; round++ {
		if round == 200 {
			t.Fatalf("%d of 6 points after %d rounds", len(before), round)
		}
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childRun+"=:"+dir)
		var stderr bytes.Buffer
		child.Stderr = &stderr
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		stop := time.AfterFunc(time.Duration(20+37*round%300)*time.Millisecond, func() { _ = child.Process.Kill() })
		_ = child.Wait() // most were killed
		stop.Stop()
		if child.ProcessState.ExitCode() == 1 {
			t.Fatalf("round %d: %s", round, stderr.String())
		}
		after, _ := stored(t, dir)
		for i, point := range before {
			if i >= len(after) || !bytes.Equal(point, after[i]) {
				t.Fatalf("round %d: point %d is lost or another one", round, i)
			}
		}
		before = after
	}
	for point, n := range rows(t, dir) {
		if n != 6 {
			t.Errorf("point %d has %d rows, want 6", point, n)
		}
	}
}

// checkLog wants whole lines in latency.hlog, in the order of the points.
func checkLog(t *testing.T, dir string, points int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "latency.hlog"))
	if err != nil {
		t.Fatal(err)
	}
	last := -1
	for line := range strings.Lines(string(text)) {
		var n int
		if _, err := fmt.Sscanf(line, "Tag=%d/", &n); err != nil {
			continue
		}
		if n < last || !strings.HasSuffix(line, "\n") {
			t.Fatalf("a line of point %d follows one of point %d", n, last)
		}
		last = n
	}
	if last < 0 || last >= points {
		t.Errorf("the log ends with point %d of %d", last, points)
	}
}

func isGap(w verdict.Warning) bool { return w.Code == "resumed_after_gap" }

// interrupted runs the plan until its point n is under way, as a signal ends it.
func interrupted(t *testing.T, p *plan.Plan, dir string, n int) *result.Doc {
	t.Helper()
	o := options()
	o.Dir = dir
	s, err := Prepare(p, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	seen := 0
	s.opts.Row = func(*plan.Point, *result.Interval) error {
		if seen == n {
			cancel()
		}
		return nil
	}
	s.opts.Point = func(int, *result.Point) error { seen++; return nil }
	doc, err := s.Run(ctx)
	if err != nil || len(doc.Points) != n+1 || !doc.Points[n].Interrupted {
		t.Fatalf("not interrupted in point %d: %v, %+v", n, err, doc)
	}
	return doc
}

// longer gives the points of a plan time to be interrupted in.
func longer(p *plan.Plan) *plan.Plan {
	for i := range p.Phases {
		for j := range p.Phases[i].Points {
			p.Phases[i].Points[j].Runtime = plan.Duration(100 * time.Millisecond)
		}
	}
	return p
}

// What an interrupted run has of its last point is replaced, and a finished run is left alone.
func TestResumeAfterInterrupt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	first := interrupted(t, longer(procedure(plan.Target{Spec: file(t, 1<<20)}, 2)), dir, 1)
	before, _ := stored(t, dir)
	o := options()
	o.KeepRows = true
	doc, err := goOn(o, dir)
	if err != nil || len(doc.Points) != 3 || doc.ID != first.ID {
		t.Fatalf("%v, %+v", err, doc)
	}
	after, _ := stored(t, dir)
	if !bytes.Equal(before[0], after[0]) || bytes.Equal(before[1], after[1]) || len(after) != 3 {
		t.Error("the first point has changed, or the second has not")
	}
	for i, p := range doc.Points {
		if p.Interrupted || !p.Completed || len(p.Intervals) != 10 {
			t.Errorf("point %d: completed %v, %d rows", i, p.Completed, len(p.Intervals))
		}
	}
	files := snapshot(t, dir)
	var done *FinishedError
	if doc, err = goOn(o, dir); !errors.As(err, &done) || doc != nil || len(done.Doc.Points) != 3 || len(done.Doc.Points[2].Intervals) != 10 {
		t.Errorf("a finished run: %v", err)
	}
	if diff := cmp.Diff(files, snapshot(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// snapshot is the content of every file in a folder.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range names(t, dir) {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	return files
}

// age makes the run in dir older, as if it had ended d ago.
func age(t *testing.T, dir string, d time.Duration) {
	t.Helper()
	path := filepath.Join(dir, "result.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc result.Doc
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for _, p := range doc.Points {
		p.Started = p.Started.Add(-d)
	}
	for i := range doc.Resumed {
		doc.Resumed[i].At = doc.Resumed[i].At.Add(-d)
	}
	if text, err = json.MarshalIndent(&doc, "", "  "); err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// After a gap, what follows the preconditioning says so, in this resumption and the next, unless it
// was repeated.
func TestResumeAfterGap(t *testing.T) {
	for name, c := range map[string]struct {
		at     int // interrupted in this point
		age    time.Duration
		repeat bool
		labels string
		gap    []bool
	}{
		"short":                  {1, 30 * time.Second, false, "before, depth 1, depth 2", []bool{false, false, false}},
		"long":                   {1, 2 * time.Minute, false, "before, depth 1, depth 2", []bool{false, true, true}},
		"later":                  {2, 2 * time.Minute, false, "before, depth 1, depth 2", []bool{false, false, true}},
		"in the preconditioning": {0, 2 * time.Minute, false, "before, depth 1, depth 2", []bool{false, false, false}},
		"repeated":               {1, 2 * time.Minute, true, "before, before (again), depth 1, depth 2", []bool{false, false, false, false}},
		"repeated later":         {2, 2 * time.Minute, true, "before, depth 1, before (again), depth 2", []bool{false, false, false, false}},
	} {
		dir := filepath.Join(t.TempDir(), "out")
		interrupted(t, longer(procedure(plan.Target{Spec: file(t, 1<<20)}, 2)), dir, c.at)
		age(t, dir, c.age)
		o := options()
		o.RePrecondition = c.repeat
		doc, err := goOn(o, dir)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var labels []string
		for i, p := range doc.Points {
			labels = append(labels, p.Label)
			if got := slices.ContainsFunc(p.Warnings, isGap); i < len(c.gap) && got != c.gap[i] {
				t.Errorf("%s: point %d has the warning: %v", name, i, got)
			}
		}
		if got := strings.Join(labels, ", "); got != c.labels {
			t.Errorf("%s: points %s", name, got)
		}
		var done *FinishedError
		if _, err := goOn(options(), dir); !errors.As(err, &done) {
			t.Errorf("%s: not finished: %v", name, err)
		}
	}
}

// A gap is remembered when the run is cut off again at once.
func TestGapIsRemembered(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	interrupted(t, longer(procedure(plan.Target{Spec: file(t, 1<<20)}, 3)), dir, 1)
	age(t, dir, time.Hour)
	o := options()
	o.Dir, o.Resume = dir, true
	s, err := Prepare(nil, o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.opts.Point = func(int, *result.Point) error { cancel(); return nil } // when depth 1 has ended
	if doc, err := s.Run(ctx); err != nil || len(doc.Points) != 2 {
		t.Fatalf("%v, %+v", err, doc)
	}
	doc, err := goOn(options(), dir)
	if err != nil || len(doc.Points) != 4 || len(doc.Resumed) != 2 || doc.Resumed[1].GapS > 60 {
		t.Fatalf("%v, %+v", err, doc)
	}
	for i, p := range doc.Points[1:] {
		if !slices.ContainsFunc(p.Warnings, isGap) {
			t.Errorf("point %d lacks the warning", i+1)
		}
	}
}

func TestRePreconditionNeedsOne(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	interrupted(t, longer(procedure(plan.Target{Spec: file(t, 1<<20)}, 1)), dir, 0)
	files := snapshot(t, dir)
	o := options()
	o.RePrecondition = true
	if _, err := goOn(o, dir); err == nil || !strings.Contains(err.Error(), "no precondition phase has been finished") {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff(files, snapshot(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// A steady state of before holds for what comes after the break.
func TestResumeRemembersSteadyState(t *testing.T) {
	p := procedure(plan.Target{Spec: file(t, 1<<20)}, 2)
	rule := steady.Default()
	rule.Round, rule.RangePct, rule.FittedPct, rule.Window, rule.MaxRounds = 20*time.Millisecond, 1000, 1000, 2, 50
	p.Phases[0].Steady = &rule
	longer(p)
	p.Phases[0].Points[0].Runtime = plan.Duration(time.Second)
	dir := filepath.Join(t.TempDir(), "out")
	first := interrupted(t, p, dir, 1)
	if r := first.Points[0].Steady; r == nil || !r.State.Steady {
		t.Fatalf("not steady: %+v", r)
	}
	// The band of then is one that no device is in.
	path := filepath.Join(dir, "result.json")
	first.Points[0].Steady.State.Low, first.Points[0].Steady.State.High = 1e9, 2e9
	text, err := json.MarshalIndent(first, "", "  ")
	if err := errors.Join(err, os.WriteFile(path, text, 0o600)); err != nil {
		t.Fatal(err)
	}
	doc, err := goOn(options(), dir)
	if err != nil || len(doc.Points) != 3 {
		t.Fatal(err)
	}
	if d := doc.Points[1].Drift; d == nil || d.Low != 1e9 { // depth 1 does what the preconditioning did
		t.Errorf("drift %+v", d)
	}
}

// A file that the run made is used as it is; a scratch file is made again, where it was.
func TestResumeOnOwnFiles(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	logged := ""
	o := options()
	o.Log = func(format string, args ...any) { logged += fmt.Sprintf(format, args...) + "\n" }

	p := longer(procedure(plan.Target{Spec: "new.img", CreateBytes: 1 << 20}, 2))
	p.Phases[2].Points[0].Streams[0].Workload.RW = "randwrite"
	interrupted(t, p, "named", 1)
	t.Chdir(t.TempDir()) // it is named relative to the folder of then
	if doc, err := goOn(o, filepath.Join(dir, "named")); err != nil || len(doc.Points) != 3 || doc.Plan.Targets[0].CreateBytes != 1<<20 {
		t.Fatalf("%v, %+v", err, doc)
	}
	if strings.Contains(logged, "once to") {
		t.Errorf("it was written again:\n%s", logged)
	}

	t.Chdir(dir)
	interrupted(t, longer(procedure(plan.Target{CreateBytes: 1 << 20}, 2)), "scratch", 1)
	doc, err := goOn(o, filepath.Join(dir, "scratch"))
	if err != nil || len(doc.Points) != 3 || !doc.Resumed[0].NewFiles || !strings.Contains(logged, "was made anew") {
		t.Fatalf("%v, %+v\n%s", err, doc, logged)
	}
	if !slices.ContainsFunc(doc.Points[1].Warnings, isGap) {
		t.Error("the preconditioning is gone with the scratch file, and nothing says so")
	}
	if got := names(t, dir); !slices.Equal(got, []string{"named", "new.img", "scratch"}) {
		t.Errorf("left: %v", got)
	}
}

// Another target in the place of the one that the run began on is refused, before anything is touched.
func TestResumeOnAnotherTarget(t *testing.T) {
	for name, c := range map[string]struct {
		change func(t *testing.T, path string) error
		want   string
	}{
		"larger": {func(_ *testing.T, path string) error { return os.Truncate(path, 2<<20) }, "size was 1m, is 2m"},
		"gone":   {func(_ *testing.T, path string) error { return os.Remove(path) }, "it is gone"},
		"device": {func(t *testing.T, path string) error {
			lab.Root(t)
			dev := lab.Loop(t, 1<<20, lab.LoopOptions{})
			return errors.Join(os.Remove(path), os.Symlink(dev, path))
		}, "kind was file, is loop"},
	} {
		t.Run(name, func(t *testing.T) {
			path, dir := file(t, 1<<20), filepath.Join(t.TempDir(), "out")
			interrupted(t, longer(procedure(plan.Target{Spec: path}, 1)), dir, 1)
			files := snapshot(t, dir)
			if err := c.change(t, path); err != nil {
				t.Fatal(err)
			}
			_, err := goOn(options(), dir)
			var other *OtherTargetError
			if !errors.As(err, &other) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) && name != "device" {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(files, snapshot(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What the plan says in JSON is the plan.
func TestPlanSurvivesItsFolder(t *testing.T) {
	p := procedure(plan.Target{Spec: file(t, 1<<20), DestroySignature: true}, 2)
	rule := steady.Default()
	p.Phases[0].Steady, p.Destroy, p.Grace, p.ContinueOnError = &rule, true, plan.Duration(3*time.Second), true
	s := &p.Phases[2].Points[0].Streams[0]
	s.Share, s.Passes = 40, 3
	w := &s.Workload
	w.RW, w.ReadPct, w.WorkingSet, w.Offset, w.Whole, w.Durable, w.Fsync, w.TrimWith = "randrw", 70, unit.Share{Percent: 12.5}, unit.Share{Bytes: 4096}, true, true, 7, workload.WriteZeroes
	for _, set := range []struct {
		of interface{ UnmarshalText([]byte) error }
		to string
	}{
		{&w.BlockSizeSplit, "4k/60:64k/40"}, {&w.Distribution, "zipf:1.2"}, {&w.RandomPct, "25,50"}, {&w.Data.Content, "pattern:0xdeadbeef"},
		{&s.Pacing.IOPS, "900,100"}, {&s.Pacing.Burst, "1000/10s"}, {&s.Pacing.Think, "10ms/16"},
	} {
		if err := set.of.UnmarshalText([]byte(set.to)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(p)
	again := &plan.Plan{}
	if err := errors.Join(err, json.Unmarshal(text, again)); err != nil || !reflect.DeepEqual(p, again) {
		t.Errorf("%v:\n%s", err, text)
	}
}

// Folders that cannot be gone on with are left as they are.
func TestResumeOfWhatIsNoRun(t *testing.T) {
	made := filepath.Join(t.TempDir(), "made")
	interrupted(t, longer(procedure(plan.Target{Spec: file(t, 1<<20)}, 2)), made, 1)
	good := snapshot(t, made)
	edit := func(old, now string) func(map[string]string) {
		return func(f map[string]string) {
			if !strings.Contains(f["result.json"], old) {
				t.Errorf("no %q to edit", old)
			}
			f["result.json"] = strings.Replace(f["result.json"], old, now, 1)
		}
	}
	for name, c := range map[string]struct {
		change func(map[string]string)
		want   string
	}{
		"empty":       {func(f map[string]string) { clear(f) }, "there is no result.json in it"},
		"cut":         {func(f map[string]string) { f["result.json"] = f["result.json"][:len(f["result.json"])/2] }, "is no whole document"},
		"no content":  {func(f map[string]string) { f["result.json"] = "" }, "is no whole document"},
		"schema":      {edit("blkstorm.result/1", "blkstorm.result/9"), `has schema "blkstorm.result/9"`},
		"plan schema": {edit("blkstorm.plan/1", "blkstorm.plan/9"), "no plan that this version"},
		"other plan":  {edit(`"label": "before"`, `"label": "after"`), "does not follow from its plan"},
		"no figures":  {edit(`"total": {`, `"sum": {`), "has no figures"},
		"null target": {func(f map[string]string) {
			head, rest, _ := strings.Cut(f["result.json"], `"targets": [`+"\n    {\n      \"path\"")
			_, rest, _ = strings.Cut(rest, "\n    }\n  ]")
			f["result.json"] = head + `"targets": [null]` + rest
		}, "no facts of its targets"},
		"search":      {edit(`"percentiles": [`, `"find_max": {}, "percentiles": [`), "a search cannot be gone on with"},
		"merge":       {edit(`"percentiles": [`, `"merge": {}, "percentiles": [`), "it is a merge: go on with the runs"},
		"broken row":  {func(f map[string]string) { f["intervals.ndjson"] = "garbage\n" + f["intervals.ndjson"] }, "intervals.ndjson: the line that ends at byte 8: is no row"},
		"broken log":  {func(f map[string]string) { f["latency.hlog"] = "Tag=x/y,\n" + f["latency.hlog"] }, "latency.hlog: the line that ends at byte 9"},
		"bad percent": {edit(`"read_pct": 50`, `"read_pct": 500`), "--read-pct 500"},
	} {
		dir := t.TempDir()
		files := map[string]string{}
		for k, v := range good {
			files[k] = v
		}
		c.change(files)
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := goOn(options(), dir); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), dir) && name != "bad percent" {
			t.Errorf("%s: error %v", name, err)
		}
		if diff := cmp.Diff(files, snapshot(t, dir)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if _, err := goOn(options(), filepath.Join(made, "nowhere")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}

// One process at a time has a folder.
func TestFolderIsLocked(t *testing.T) {
	path, dir := file(t, 1<<20), filepath.Join(t.TempDir(), "out")
	interrupted(t, longer(procedure(plan.Target{Spec: path}, 2)), dir, 1)
	o := options()
	tried := 0
	o.Begun = func(*result.Doc) error {
		tried++
		if _, err := goOn(options(), dir); !errors.Is(err, result.ErrInUse) {
			t.Errorf("a second one: %v", err)
		}
		other := options()
		other.Dir = dir
		if _, err := carryOut(job("randread", plan.Target{Spec: path}), other); !errors.Is(err, result.ErrInUse) {
			t.Errorf("a new run in it: %v", err)
		}
		return nil
	}
	if _, err := goOn(o, dir); err != nil || tried != 1 {
		t.Errorf("%v, tried %d times", err, tried)
	}
}

// A folder on a full or read-only file system loses nothing.
func TestResumeWhereNothingCanBeWritten(t *testing.T) {
	lab.Root(t)
	mount := t.TempDir()
	lab.Run(t, "mount", "-t", "tmpfs", "-o", "size=256k", "blkstorm-test", mount)
	t.Cleanup(func() { lab.Run(t, "umount", mount) })
	dir := filepath.Join(mount, "out")
	interrupted(t, longer(procedure(plan.Target{Spec: file(t, 1<<20)}, 2)), dir, 1)
	before, _ := stored(t, dir)

	lab.Run(t, "mount", "-o", "remount,ro", mount)
	if _, err := goOn(options(), dir); err == nil || !strings.Contains(err.Error(), dir+": cannot write to it") {
		t.Errorf("read-only: %v", err)
	}
	lab.Run(t, "mount", "-o", "remount,rw", mount)
	room := filepath.Join(mount, "room")
	fill, err := os.Create(room)
	for err == nil {
		_, err = fill.Write(make([]byte, 4096))
	}
	if err := fill.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := goOn(options(), dir); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("full: %v", err)
	}
	if err := os.Remove(room); err != nil {
		t.Fatal(err)
	}
	if doc, err := goOn(options(), dir); err != nil || len(doc.Points) != 3 {
		t.Fatalf("%v, %+v", err, doc)
	}
	if after, _ := stored(t, dir); !bytes.Equal(before[0], after[0]) {
		t.Error("the finished point has changed")
	}
}

// What makes a target another one.
func TestDifferences(t *testing.T) {
	disk := device.Facts{Path: "/dev/sdb", Kind: "disk", Name: "sdb", Disk: "sdb", SizeBytes: 1 << 30, Model: "Fast", Serial: "S1", WWN: "naa.1"}
	for name, c := range map[string]struct {
		change func(was, is *device.Facts)
		want   string
	}{
		"same":            {func(_, _ *device.Facts) {}, ""},
		"other path":      {func(_, is *device.Facts) { is.Path, is.Name, is.Disk = "/dev/sdc", "sdc", "sdc" }, ""},
		"other serial":    {func(_, is *device.Facts) { is.Serial = "S2" }, "serial was S1, is S2"},
		"no serial":       {func(_, is *device.Facts) { is.Serial, is.WWN = "", "" }, "serial was S1, is none; wwn was naa.1, is none"},
		"serial is new":   {func(was, _ *device.Facts) { was.Serial, was.WWN = "", "" }, ""},
		"other size":      {func(_, is *device.Facts) { is.SizeBytes = 1 << 31 }, "size was 1g, is 2g"},
		"other model":     {func(_, is *device.Facts) { is.Model = "Slow" }, "model was Fast, is Slow"},
		"other partition": {func(was, is *device.Facts) { was.Name, is.Name = "sdb1", "sdb2" }, "partition was 1, is 2"},
		"same partition":  {func(was, is *device.Facts) { was.Name, is.Name, is.Disk = "sdb1", "sdc1", "sdc" }, ""},
		"no name": {func(was, is *device.Facts) {
			was.Serial, was.WWN = "", ""
			is.Path = "/dev/sdc"
		}, "path was /dev/sdb, is /dev/sdc"},
		"other file on the same disk": {func(was, is *device.Facts) {
			was.Kind, is.Kind = device.KindFile, device.KindFile
			was.Path, is.Path = "/a", "/b"
		}, "path was /a, is /b"},
		"other backing file": {func(was, is *device.Facts) {
			*was = device.Facts{Path: "/dev/loop0", Kind: "loop", BackingFile: "/a"}
			*is = *was
			is.BackingFile = "/b"
		}, "backing file was /a, is /b"},
		"dm": {func(was, is *device.Facts) {
			*was = device.Facts{Path: "/dev/dm-0", Kind: "dm", MapperUUID: "LVM-1"}
			*is = device.Facts{Path: "/dev/dm-1", Kind: "dm", MapperUUID: "LVM-2"}
		}, "dm uuid was LVM-1, is LVM-2"},
	} {
		was, is := disk, disk
		c.change(&was, &is)
		if got := strings.Join(differences(&was, &is), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// The time left of a run that goes on is that of what is left.
func TestTimeLeft(t *testing.T) {
	p := procedure(plan.Target{}, 3)
	step := p.Phases[0].Points[0].Runtime.D()
	idle := p.Phases[1].Time.D()
	for _, c := range []struct {
		phase, point int
		again        bool
		want         time.Duration
	}{
		{0, -1, false, 4*step + idle}, {0, 0, false, 3*step + idle}, {2, 0, false, 2 * step}, {2, 2, false, 0},
		{2, 0, true, 3*step + idle}, {0, 0, true, 4*step + idle},
	} {
		r := &resumption{doc: &result.Doc{Plan: p}, place: place{phase: c.phase, point: c.point}}
		if c.again {
			if err := r.precondition(); err != nil {
				t.Fatal(err)
			}
		}
		s := &Session{plan: p, resumed: r}
		if _, got := s.left(); got.TimeS != c.want.Seconds() {
			t.Errorf("%+v: %v s", c, got.TimeS)
		}
	}
}
