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
	"slices"
	"strings"
	"testing"
	"time"

	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/verdict"
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
