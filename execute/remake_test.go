package execute

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"blkstorm/device"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/runner"
)

// remade is a plan that reads a file which must have a size.
func remade(path string, bytes int64) *plan.Plan {
	return job("randread", plan.Target{Spec: path, CreateBytes: bytes, Remake: true})
}

// A file that is too short is written anew, with consent only; one that is long enough is taken as it is.
func TestRemake(t *testing.T) {
	path := file(t, 8192)
	content := bytes.Repeat([]byte("old "), 2048)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	same := func(what string) {
		t.Helper()
		if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, content) {
			t.Fatalf("%s: the file has changed: %d bytes, %v", what, len(now), err)
		}
	}
	var refused *device.RefusedError
	if _, err := Prepare(remade(path, 1<<20), options()); !errors.As(err, &refused) {
		t.Errorf("without consent: %v", err)
	}
	same("without consent")
	p := remade(path, 8192)
	p.Destroy = true
	if _, err := carryOut(p, options()); err != nil {
		t.Fatal(err)
	}
	same("long enough")
	p = remade(path, 1<<20)
	p.Destroy = true
	if _, err := Prepare(p, options()); err != nil {
		t.Fatal(err)
	}
	same("prepared only")
	doc, err := carryOut(p, options())
	if err != nil {
		t.Fatal(err)
	}
	now, err := os.ReadFile(path)
	if err != nil || len(now) != 1<<20 || bytes.Contains(now, []byte("old ")) || bytes.Contains(now, make([]byte, 64)) {
		t.Errorf("written anew: %d bytes, %v", len(now), err)
	}
	if pt := doc.Points[0]; pt.Total.IOs == 0 || !pt.Completed || doc.Targets[0].SizeBytes != 1<<20 {
		t.Errorf("%d I/Os on %d bytes", pt.Total.IOs, doc.Targets[0].SizeBytes)
	}
}

// Where a dry engine runs, nothing of the file changes.
func TestRemakeDry(t *testing.T) {
	path := file(t, 4096)
	p := remade(path, 1<<20)
	p.Destroy, p.Engine = true, "null"
	if _, err := carryOut(p, options()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != 4096 || len(names(t, filepath.Dir(path))) != 1 {
		t.Errorf("%v, %v, %v", info.Size(), err, names(t, filepath.Dir(path)))
	}
}

// A caller ends a point that has reached its purpose, and the next one runs.
func TestEnough(t *testing.T) {
	p := job("randread", plan.Target{Spec: file(t, 1<<20)})
	p.Phases[0].Points = append(p.Phases[0].Points, p.Phases[0].Points[0])
	p.Phases[0].Points[0].Runtime = plan.Duration(time.Hour)
	var ios uint64
	o := options()
	o.Enough = func(pt *plan.Point, row *runner.Row) bool {
		ios += row.Cells[0].Ops[op.Read].Latency.Count()
		return pt.Runtime.D() == time.Hour && row.Index >= 2
	}
	doc, err := carryOut(p, o)
	if err != nil || len(doc.Points) != 2 || !doc.Points[0].Completed || doc.Points[0].Interrupted || !doc.Points[1].Completed || ios == 0 {
		t.Errorf("%v, %d I/Os, %+v", err, ios, doc)
	}
}

// Each of a stream's targets may have a range of its own.
func TestParts(t *testing.T) {
	p := job("read", plan.Target{Spec: file(t, 1<<20)}, plan.Target{Spec: file(t, 1<<20)})
	s := &p.Phases[0].Points[0].Streams[0]
	s.Together, s.Passes = true, 2
	s.Parts = []plan.Part{{Offset: 0, Size: 64 << 10}, {Offset: 512 << 10, Size: 512 << 10}}
	p.Phases[0].Points[0].Runtime = 0
	doc, err := carryOut(p, options())
	if err != nil {
		t.Fatal(err)
	}
	if a, b := doc.Points[0].Targets[0].Total.IOs, doc.Points[0].Targets[1].Total.IOs; a != 2*16 || b != 2*128 {
		t.Errorf("%d and %d I/Os", a, b)
	}
	s.Parts[1].Offset = 768 << 10
	if _, err := Prepare(p, options()); err == nil {
		t.Error("a part beyond the target's end is taken")
	}
}
