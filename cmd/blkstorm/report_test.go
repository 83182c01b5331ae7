package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"blkstorm/lab/browser"
	"blkstorm/result"
)

// TestReportOfASweep: the page of a real sweep with preconditioning, in a real browser: nothing is asked of a network,
// nothing fails, it fits its window, its charts have something in them, its table sorts, it prints.
func TestReportOfASweep(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	blkstorm(t, "sweep", "--rw", "randrw", "--read-pct", "70", "--threads", "1,2", "--iodepth", "1,4,8", "--ramp", "200ms", "--runtime", "600ms", "--interval", "100ms",
		"--precondition", "steady", "--steady-round", "200ms", "--steady-max-rounds", "6", "--quick", "--knee", "p99=1s", "--size", "32m", "--quiet", "--dir", dir).want(t, 0)
	path := filepath.Join(dir, result.ReportFile)
	b := browser.New(t)
	for _, width := range []int64{400, 1600} {
		for _, scheme := range []string{"light", "dark"} {
			b.Open(t, path, width, scheme)
			if px := b.Overflow(t); px > 0 {
				t.Errorf("at %d px the page is %d px too wide", width, px)
			}
			if list := b.Blank(t); len(list) > 0 {
				t.Errorf("at %d px in %s, charts are blank: %v", width, scheme, list)
			}
		}
	}
	if n := browser.Eval[int](t, b, `document.querySelectorAll(".chart canvas").length`); n < 11 {
		t.Errorf("%d charts", n)
	}
	text := browser.Eval[string](t, b, `document.body.innerText`)
	for _, want := range []string{"Sweep of 6 points over threads × iodepth", "the knee: the most IOPS with p99 within 1s", "teady state", "Mean latency", "iodepth →", "threads ↓"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, order := range []string{"descending", "ascending"} {
		sorted := browser.Eval[bool](t, b, `(() => {
			const table = document.getElementById("points"), col = [...table.tHead.rows[0].cells].findIndex(c => c.textContent === "IOPS");
			table.tHead.rows[0].cells[col].querySelector("button").click();
			const v = [...table.tBodies[0].rows].map(r => Number(r.cells[col].dataset.v)), up = "`+order+`" === "ascending";
			return v.length === 7 && table.tHead.rows[0].cells[col].getAttribute("aria-sort") === "`+order+`" && v.every((x, i) => i === 0 || (up ? v[i - 1] <= x : v[i - 1] >= x));
		})()`)
		if !sorted {
			t.Errorf("the table of points does not sort %s", order)
		}
	}
	// One point is zoomed to in all charts over time.
	if !browser.Eval[bool](t, b, `(() => {
		const zoom = document.getElementById("zoom");
		zoom.selectedIndex = 3;
		zoom.dispatchEvent(new Event("change"));
		return zoom.options.length === 8;
	})()`) {
		t.Error("the list of points is not whole")
	}
	if csv := browser.Eval[string](t, b, `bs.csv(bs.tableRows(document.getElementById("points")))`); strings.Count(csv, "\r\n") != 8 || !strings.HasPrefix(csv, "#,point,T,Q,IOPS,MB/s,mean (µs),") {
		t.Errorf("the table as CSV:\n%s", csv)
	}
	var doc result.Doc
	if err := json.Unmarshal([]byte(browser.Eval[string](t, b, `document.getElementById("doc-json").textContent`)), &doc); err != nil || len(doc.Points) != 7 {
		t.Errorf("the raw result has %d points, %v", len(doc.Points), err)
	}
	if pdf, err := b.PDF(t); err != nil || len(pdf) < 20_000 {
		t.Errorf("printed: %d bytes, %v", len(pdf), err)
	}
	b.Quiet(t, path)
}

// TestReportPageHasItsOptions: every option of the command has a row in its page.
func TestReportPageHasItsOptions(t *testing.T) {
	text := docs(t, "docs/report.md")
	(&app{}).reportCommand().Flags().VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(text, "`-"+f.Shorthand+" FILE`, `--"+f.Name+" FILE`") {
			t.Errorf("no row for --%s", f.Name)
		}
	})
}

// TestReportOfAnInterruptedRun: there is a page, and it says so.
func TestReportOfAnInterruptedRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	p := start(t, "", "run", "--engine", "null", "--size", "1m", "--runtime", "1m", "--interval", "50ms", "--quiet", "--dir", dir)
	for range 600 {
		if info, err := os.Stat(filepath.Join(dir, "intervals.ndjson")); err == nil && info.Size() > 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.signal(syscall.SIGINT)
	p.wait().want(t, 130)
	page, err := os.ReadFile(filepath.Join(dir, result.ReportFile))
	if err != nil || !strings.Contains(string(page), "was interrupted: its figures cover") {
		t.Errorf("%v", err)
	}
}

// TestReportOnAFullDisk: a page that has no room costs the run nothing but its exit status: the document is on standard
// output and in the folder, whole, and nothing half-written is left.
func TestReportOnAFullDisk(t *testing.T) {
	dir := filepath.Join(smallFS(t, 96*kib), "out")
	o := blkstorm(t, "run", "--engine", "null", "--size", "1m", "--runtime", "300ms", "--format", "json", "--quiet", "--dir", dir).
		want(t, 1, filepath.Join(dir, result.ReportFile)+": not written: ", "no space left on device")
	if d := o.document(t); !d.Points[0].Completed {
		t.Error("the point did not end as planned")
	}
	if d := readResult(t, filepath.Join(dir, "result.json")); len(d.Points) != 1 {
		t.Errorf("result.json has %d points", len(d.Points))
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), "report") {
			t.Errorf("%s is left", e.Name())
		}
	}
}

// TestReportKeepsTheResult: the page never takes the place of what it is made of, whatever that is called.
func TestReportKeepsTheResult(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	blkstorm(t, "run", "--engine", "null", "--size", "1m", "--runtime", "200ms", "--interval", "50ms", "--quiet", "--dir", dir).want(t, 0)
	for _, name := range []string{"result.json", "intervals.ndjson", "latency.hlog"} {
		path := filepath.Join(dir, name)
		before := digest(t, path)
		for _, from := range []string{dir, filepath.Join(dir, "result.json")} {
			blkstorm(t, "report", "-o", filepath.Join(dir, "..", "out", name), from).want(t, exitUsage, "is the result itself")
		}
		if digest(t, path) != before {
			t.Errorf("%s has changed", name)
		}
	}
}

// TestReportOfSeveral: one result that cannot be read is told of, and costs the others nothing.
func TestReportOfSeveral(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "c"} {
		out := filepath.Join(dir, name)
		blkstorm(t, "run", "--engine", "null", "--size", "1m", "--runtime", "100ms", "--quiet", "--dir", out).want(t, 0)
		if err := os.Remove(filepath.Join(out, result.ReportFile)); err != nil {
			t.Fatal(err)
		}
	}
	o := blkstorm(t, "report", filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")).want(t, 1, filepath.Join(dir, "b")+": no such file")
	if want := filepath.Join(dir, "a", result.ReportFile) + "\n" + filepath.Join(dir, "c", result.ReportFile) + "\n"; o.stdout != want {
		t.Errorf("%q, want %q", o.stdout, want)
	}
}

// TestAnnounce: only what takes long is told of.
func TestAnnounce(t *testing.T) {
	var said bytes.Buffer
	a := &app{stderr: &said}
	a.announce(time.Hour, "out/report.html")()
	if said.Len() > 0 {
		t.Errorf("after no time: %s", said.String())
	}
	stop := a.announce(time.Nanosecond, "out/\x1breport.html")
	time.Sleep(50 * time.Millisecond)
	stop()
	if want := "blkstorm: making \"out/\\x1breport.html\" of all intervals, which takes a while\n"; said.String() != want {
		t.Errorf("said %q, want %q", said.String(), want)
	}
}

// TestFormulasOfThePage: what a spreadsheet would carry out stays text in a file that is saved from the page.
func TestFormulasOfThePage(t *testing.T) {
	dir := t.TempDir()
	blkstorm(t, "run", "--engine", "null", "--size", "1m", "--runtime", "200ms", "--quiet", "--dir", filepath.Join(dir, "out"), filepath.Join(dir, "x.img")).want(t, 0)
	b := browser.New(t)
	b.Open(t, filepath.Join(dir, "out", result.ReportFile), 1600, "light")
	got := browser.Eval[string](t, b, `bs.csv([["=1+1", "+cmd|' /C calc'!A0", "@x", "-x,y", " =1", "\uff1d1"], [-5, "-0.87", "+1e-7", "-1e5", null, "a=b", "–", "-3 IOPS"]])`)
	want := "'=1+1,'+cmd|' /C calc'!A0,'@x,\"'-x,y\",' =1,'\uff1d1\r\n-5,-0.87,+1e-7,-1e5,,a=b,–,'-3 IOPS\r\n"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
