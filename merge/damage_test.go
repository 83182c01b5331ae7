package merge

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/result/load/loadtest"
)

// A run that was killed within its second point: its files have what its document lacks.
func TestKilledMember(t *testing.T) {
	two := func(host string, n int) *loadtest.Run {
		run := vm(host, epoch, 3, eachRead)
		run.Points = append(run.Points, loadtest.Point{Label: "second", Start: epoch.Add(time.Minute), Rows: loadtest.Steady(n, eachRead)})
		return run
	}
	dir := two("killed", 4).Folder(t)
	path := filepath.Join(dir, "result.json")
	doc := map[string]any{}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		t.Fatal(err)
	}
	doc["points"] = doc["points"].([]any)[:1]
	if text, err = json.Marshal(doc); err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := must(t, Options{}, two("sound", 10).Folder(t), dir)
	p, how := r.Doc.Points[1], r.Doc.Merge.Points[1]
	if p.WindowS != 4 || p.Total.IOs != 800 || how.Window != result.MergeCommon || how.LossS != 6 || p.Phase != plan.Measure {
		t.Errorf("%+v, %d I/Os in %g s", how, p.Total.IOs, p.WindowS)
	}
	if got := message(p, "member_broken"); !strings.Contains(got, "killed (the run was cut off within this point)") {
		t.Errorf("%q", got)
	}
	// Where nothing can be cut, such a member gives nothing, and is named.
	r = must(t, Options{}, two("sound", 10).File(t), dir)
	if got := message(r.Doc.Points[1], "member_missing"); !strings.Contains(got, "killed (its run was cut off") || r.Doc.Points[1].Total.IOs != 1000 {
		t.Errorf("%q, %d I/Os", got, r.Doc.Points[1].Total.IOs)
	}
}

// spoilLog damages the histogram of the k-th row.
func spoilLog(t *testing.T, dir string, k int) {
	t.Helper()
	path := filepath.Join(dir, "latency.hlog")
	log, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(log, []byte("\n"))
	line := lines[5+k]
	copy(line[len(line)-12:], "AAAAAAAA")
	if err := os.WriteFile(path, bytes.Join(lines, nil), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Damage within a log ends its member's part there, and the others' with it.
func TestDamagedLog(t *testing.T) {
	dir := vm("bad", epoch.Add(time.Millisecond), 10, eachRead).Folder(t)
	spoilLog(t, dir, 7)
	r := must(t, Options{}, vm("good", epoch, 10, eachRead).Folder(t), dir)
	p := r.Doc.Points[0]
	if p.WindowS != 6 || p.Total.IOs != 1200 || !r.Broken || !strings.Contains(r.Doc.Warnings[0].Message, "bad: its latency.hlog is damaged: line 13") {
		t.Errorf("%g s, %d I/Os, %+v", p.WindowS, p.Total.IOs, r.Doc.Warnings)
	}
}

// Files that end within a line are damaged, also where nothing is to be cut and the document has all figures.
func TestCutFiles(t *testing.T) {
	for _, name := range []string{"intervals.ndjson", "latency.hlog"} {
		dir := vm("cut", epoch, 10, eachRead).Folder(t)
		path := filepath.Join(dir, name)
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, text[:len(text)-5], 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		r := must(t, Options{}, vm("whole", epoch, 10, eachRead).Folder(t), dir)
		if p := r.Doc.Points[0]; p.WindowS != 10 || !r.Broken || !strings.Contains(r.Doc.Warnings[0].Message, "cut: its ") {
			t.Errorf("%s: %g s, broken %v, %+v", name, p.WindowS, r.Broken, r.Doc.Warnings)
		}
	}
}

// An input that cannot be read at all is left out and named; figures that contradict their histogram are.
func TestLeftOut(t *testing.T) {
	good := vm("good", epoch, 3, eachRead).File(t)
	cut := filepath.Join(t.TempDir(), "cut.json")
	text, err := os.ReadFile(good)
	if err == nil {
		err = os.WriteFile(cut, text[:len(text)/2], 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	r := must(t, Options{}, cut, good, "/nowhere/x")
	if d := r.Doc; len(d.Merge.LeftOut) != 2 || !r.Broken || d.Warnings[0].Code != "merged_left_out" || !strings.Contains(d.Warnings[0].Message, "2 of 3 inputs") || !strings.Contains(d.Warnings[0].Message, "cut short") {
		t.Errorf("%+v, %+v", r.Doc.Merge.LeftOut, r.Doc.Warnings)
	}
	// A merge of that merge still says so.
	again := filepath.Join(t.TempDir(), "again.json")
	var merged bytes.Buffer
	if err := errors.Join(result.WriteJSON(&merged, r.Doc), os.WriteFile(again, merged.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	if r := must(t, Options{}, again, vm("third", epoch, 3, eachRead).File(t)); len(r.Doc.Merge.LeftOut) != 2 || !r.Broken || len(r.Doc.Merge.Members) != 2 {
		t.Errorf("merged once more: %+v", r.Doc.Merge)
	}
	bad := vm("bad", epoch, 3, eachRead).Document(t)
	bad.Points[0].Read.Latency.Max *= 2
	bad.Points[0].Total.Latency.Max *= 2
	path := filepath.Join(t.TempDir(), "bad.json")
	var b bytes.Buffer
	if err := errors.Join(result.WriteJSON(&b, bad), os.WriteFile(path, b.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	r = must(t, Options{}, path, good)
	if got := message(r.Doc.Points[0], "member_missing"); !strings.Contains(got, "bad (its figures are damaged") || r.Doc.Points[0].Total.IOs != 300 || !r.Broken {
		t.Errorf("%q, %d I/Os", got, r.Doc.Points[0].Total.IOs)
	}
}

// Errors, an open loop, and the names of machines that are called the same.
func TestErrorsAndResponse(t *testing.T) {
	paced := eachRead
	paced.ResponseNS, paced.Errors = 900_000, 2
	a, b := vm("vm", epoch, 4, paced), vm("vm", epoch.Add(1500*time.Millisecond), 4, paced)
	a.ID, b.ID = "1111111111", "2222222222"
	a.Points[0].Open, b.Points[0].Open = true, true
	r := must(t, Options{}, a.Folder(t), b.Folder(t))
	p := r.Doc.Points[0]
	if p.Total.OpenLoop == nil || p.Total.Response.Count != 800 || p.Total.Response.Max != 900_000 || p.Total.Offered != 800 || p.Read.Response.Count != 800 {
		t.Errorf("%+v", p.Total.OpenLoop)
	}
	if p.Total.IOs != 400 || p.Total.Errors != 8 || p.Faults != 16 || !r.Broken || r.Doc.Merge.Points[0].Rows[0].Errors != 4 {
		t.Errorf("%+v, faults %d", p.Total, p.Faults)
	}
	if got := codes(p); !slices.Contains(got, "merged_response_whole") {
		t.Errorf("warnings %v", got)
	}
	var text bytes.Buffer
	if err := result.WriteText(&text, r.Doc); err != nil || !strings.Contains(text.String(), "planned moment of each I/O, over the machines' whole windows\n") {
		t.Errorf("%v: the text does not say what the response times cover:\n%s", err, text.String())
	}
	if m := r.Doc.Merge.Members; m[0].Name != "vm (11111111)" || m[1].Name != "vm (22222222)" || p.Targets[0].Path != "vm (11111111):/dev/sdb" {
		t.Errorf("%+v", m)
	}
}
