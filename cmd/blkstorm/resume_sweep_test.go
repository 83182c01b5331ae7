package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blkstorm/lab"
)

// rawPoints are the points of a folder's document as they stand in it, byte for byte.
func rawPoints(t *testing.T, path string) []json.RawMessage {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct{ Points []json.RawMessage }
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Points
}

// A whole procedure, killed in the middle of its sweep and gone on with: finished points are kept byte for
// byte, the others run, and all of it has the shape of a run that nobody killed.
func TestResumeInTheMiddleOfASweep(t *testing.T) {
	dev, _ := loopOn(t, 32*mib, lab.LoopOptions{})
	dir := t.TempDir()
	args := strings.Fields("sweep --purge --fill 1 --precondition 300ms --rw randrw --read-pct 70 --bs 8k --threads 1,2,4 --iodepth 2,4,8 --runtime 300ms --interval 100ms --destroy --quiet --dir")
	whole := start(t, dir, append(args, "whole", dev)...)
	whole.wait().want(t, exitGood)

	cut := filepath.Join(dir, "cut", "result.json")
	p := start(t, dir, append(args, "cut", dev)...)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if _, err := os.Stat(cut); err == nil && len(rawPoints(t, cut)) >= 6 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("it does not get to its sixth point\n%s", p.stderr.String())
		}
	}
	_ = p.cmd.Process.Kill()
	p.wait()
	before := rawPoints(t, cut)
	if len(before) >= 12 {
		t.Fatalf("killed too late: %d points", len(before))
	}

	start(t, dir, "sweep", "--resume", "cut", "--quiet").wait().want(t, exitGood)
	after := rawPoints(t, cut)
	for i := range before {
		if string(before[i]) != string(after[i]) {
			t.Errorf("point %d has changed", i)
		}
	}
	got, want := readResult(t, cut), readResult(t, filepath.Join(dir, "whole", "result.json"))
	if len(got.Points) != 12 || len(want.Points) != 12 {
		t.Fatalf("%d points, uninterrupted %d", len(got.Points), len(want.Points))
	}
	for i, p := range got.Points {
		q := want.Points[i]
		if p.Label != q.Label || p.Phase != q.Phase || p.Threads != q.Threads || p.IODepth != q.IODepth || !p.Completed || len(p.Targets) != len(q.Targets) {
			t.Errorf("point %d: %s %s, uninterrupted %s %s", i, p.Phase, p.Label, q.Phase, q.Label)
		}
	}
	if got.Sweep == nil || len(got.Sweep.Points) != 9 || len(got.Resumed) != 1 {
		t.Errorf("sweep %+v, resumed %+v", got.Sweep, got.Resumed)
	}
}
