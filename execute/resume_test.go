package execute

import (
	"bytes"
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

	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/steady"
	"blkstorm/unit"
	"blkstorm/workload"
)

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

// A dry run of what is left says what had been finished, and what is done again.
func TestLookAtWhatIsLeft(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	interrupted(t, longer(procedure(plan.Target{Spec: file(t, 1<<20)}, 3)), dir, 2)
	o := options()
	o.Dir, o.Resume = dir, true
	for again, want := range map[bool][]string{false: nil, true: {"precondition: before (again)", "idle: 10ms"}} {
		o.RePrecondition = again
		v, err := Look(nil, o)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(v.Repeats, want) || v.FinishedPoints != 2 {
			t.Errorf("repeats %q after %d points", v.Repeats, v.FinishedPoints)
		}
		for i, n := range []int{1, 1, 1} {
			if v.Phases[i].Finished != n {
				t.Errorf("phase %d: %d finished, want %d", i, v.Phases[i].Finished, n)
			}
		}
		if left := v.Phases[2]; left.Points != 2 || left.TimeS != 0.2 {
			t.Errorf("left: %+v", left)
		}
	}
}
