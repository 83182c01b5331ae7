package report

import (
	"bytes"
	"encoding/json"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"blkstorm/op"
	"blkstorm/result"
	"blkstorm/result/load"
	"blkstorm/result/load/loadtest"
	"blkstorm/verdict"
)

func pageOf(t *testing.T, r *load.Result) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, r, "1.2.3"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOrder: the sections come in the order in which a reader asks, and the links above lead to them.
func TestOrder(t *testing.T) {
	out := pageOf(t, run(t))
	last := 0
	for _, id := range []string{"verdict", "tested", "time", "points-all", "latency", "details", "machine", "raw"} {
		at := strings.Index(out, `<section id="`+id+`">`)
		if at < last {
			t.Errorf("section %q is at %d, after %d", id, at, last)
		}
		last = at
		if !strings.Contains(out, `<a href="#`+id+`">`) {
			t.Errorf("nothing leads to section %q", id)
		}
	}
	for _, want := range []string{"<title>", "2.00 s", "[1] stalled", "[2] calm", "/dev/sdb", "No warnings"} {
		if !strings.Contains(out, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// dataOf is the page's data for its charts.
func dataOf(t *testing.T, out string) map[string]any {
	t.Helper()
	m := regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`).FindStringSubmatch(out)
	if m == nil {
		t.Fatal("the page has no data")
	}
	var v map[string]any
	if err := json.Unmarshal([]byte(m[1]), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestData(t *testing.T) {
	v := dataOf(t, pageOf(t, run(t)))
	if n := len(v["points"].([]any)); n != 2 {
		t.Errorf("%d points", n)
	}
	top := 0.0
	for _, x := range v["dirs"].([]any)[0].(map[string]any)["max"].([]any) {
		if x != nil {
			top = max(top, x.(float64))
		}
	}
	if top != 2e9 {
		t.Errorf("the longest read over time is %g", top)
	}
}

// nasty are names that would do harm on a page that trusts them.
var nasty = []string{
	`</script><script>document.title="owned"</script>`, `"><img src=x onerror=alert(1)>`, `'"` + "`${alert(1)}", `<!--<script>`, `&lt;b&gt;`, "a\u2028b\u2029c",
	"esc\x1b[2Jape", "bidi\u202etxt", "nul\x00", "日本語 Größe µ", "javascript:alert(1)", "{{.Title}}", "line\nbreak", "]]>",
}

// nastyResult has them wherever a result has text.
func nastyResult(t testing.TB) *load.Result {
	t.Helper()
	all := strings.Join(nasty, " ")
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	d := (&loadtest.Run{ID: all, Host: all, Targets: []string{"/dev/" + nasty[0], "/dev/" + all}, Points: []loadtest.Point{
		{Label: all, Start: start, Streams: []string{nasty[0], all}, Rows: loadtest.Steady(3, loadtest.Load{Op: op.Read, N: 9, NS: 1000, Bytes: 512}, loadtest.Load{Op: op.Write, Stream: 1, Target: 1, N: 9, NS: 1000, Bytes: 512})},
		{Label: nasty[0], Start: start.Add(time.Minute), Streams: []string{nasty[0], all}, Rows: loadtest.Steady(3, loadtest.Load{Op: op.Read, N: 9, NS: 1000, Bytes: 512})},
	}}).Document(t)
	d.Version = all
	d.Host.Kernel, d.Host.Hypervisor, d.Host.OS, d.Clock.Source = all, all, all, all
	d.Warnings = []verdict.Warning{{Code: all, Message: all, Advice: all}}
	for _, f := range d.Targets {
		f.Model, f.Serial, f.Vendor, f.Spec, f.Controller.Model, f.Scheduler = all, all, all, all, all, all
	}
	for _, p := range d.Points {
		p.Phase, p.EngineName, p.EngineFeatures, p.Failure = "measure", all, []string{all}, all
		p.Warnings = []verdict.Warning{{Code: all, Message: all, Advice: all}}
		p.Errors = []result.IOError{{Target: all, Op: all, Name: all, Message: all}}
		p.Stuck = []result.Stuck{{Target: all, Op: all}}
	}
	d.Points[1].Skipped = all
	d.FindMax = &result.FindMax{Limit: all, Why: all, Steps: []result.FindMaxStep{{Kind: all, Verdict: all, Why: all}}}
	d.Rounds = []*result.Rounds{{Cells: []result.Cell{{Label: all}}, Tracked: []result.Tracked{{Point: all}}}}
	path := filepath.Join(t.TempDir(), "nasty.json")
	file, err := os.Create(path)
	if err == nil {
		err = result.WriteJSON(file, d)
	}
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	r, err := load.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestNastyNames: text of a result is text on the page. The page has the tags of its own template and no other.
func TestNastyNames(t *testing.T) {
	out := pageOf(t, nastyResult(t))
	body := regexp.MustCompile(`(?s)<script.*?</script>`).ReplaceAllString(out, "")
	for _, tag := range []string{"<script", "<img", "<b>", "<!--"} {
		if strings.Contains(body, tag) {
			t.Errorf("the page has a %s", tag)
		}
	}
	if n := strings.Count(out, "</script>"); n != 4 || strings.Count(out, "<script") != 4 {
		t.Errorf("%d scripts end", n)
	}
	for _, c := range out {
		if c < ' ' && c != '\n' && c != '\t' || c == '\u202e' {
			t.Fatalf("the page has the character %U", c)
		}
	}
	text := html.UnescapeString(body)
	for _, want := range []string{nasty[0], nasty[1], nasty[2], "日本語 Größe µ", `esc\x1b[2Jape`, `bidi\u202etxt`, nasty[4]} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not show %q", want)
		}
	}
	dataOf(t, out)
}

// TestWriteFile: the page takes the place of the one before, whole; what is no regular file stays; nothing is left
// when it fails.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	r := run(t)
	path := filepath.Join(dir, "x.html")
	for _, before := range []string{"", "old"} {
		if before != "" {
			if err := os.WriteFile(path, []byte(before), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if err := WriteFile(path, r, "1.2.3"); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(path); err != nil || !bytes.HasPrefix(b, []byte("<!DOCTYPE html>")) || !bytes.HasSuffix(b, []byte("</html>\n")) {
			t.Errorf("%.40q, %v", b, err)
		}
	}
	for _, bad := range []string{dir, filepath.Join(dir, "no", "such"), "/dev/null"} {
		if err := WriteFile(bad, r, "1.2.3"); err == nil || !strings.Contains(err.Error(), bad+": not written") {
			t.Errorf("%s: %v", bad, err)
		}
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("the folder has %v", list)
	}
}

// TestWarningsTogether: one code with one advice is one note, which names its points and counts the rest.
func TestWarningsTogether(t *testing.T) {
	d := docOf(1, 1, 1, 1, 1, 1, 1, 1, 1)
	for i, p := range d.Points {
		p.Warnings = []verdict.Warning{{Code: "steal", Message: "seen " + strings.Repeat("x", i), Advice: "move"}}
	}
	d.Warnings = []verdict.Warning{{Code: "clock", Message: "slow", Advice: "tsc"}}
	list := warnings(d)
	if len(list) != 2 || list[0].Where != "the whole run" || list[0].More != nil || !strings.HasSuffix(list[1].Where, "[6] p5 and 2 more") || len(list[1].More) != 8 {
		t.Errorf("%+v, %+v", list[0], list[1])
	}
}

// TestMachines: a merged result has a row for each machine, with what is wrong with its part, and says what its
// figures cover and what was left out.
func TestMachines(t *testing.T) {
	d := docOf(2, 10)
	p99 := int64(2e6)
	d.Merge = &result.Merge{Members: []result.MergeMember{{Name: "vm<1>"}, {Name: "vm2"}}, LeftOut: []result.MergeLeftOut{{Path: "/x", Reason: "torn"}},
		Points: []result.MergePoint{{Window: result.MergeCommon, LossS: 2, LossPct: 20, SkewS: 5, Rows: []result.MergeRow{
			{Member: 0, IOs: 10, IOPS: 1000, MeanNS: 1e6, P99NS: &p99, MaxNS: 3e6}, {Member: 1, Missing: "did not run", SkewS: 5, Notes: []string{"late"}}}}}}
	out := pageOf(t, &load.Result{Doc: d, Kind: load.Document})
	for _, want := range []string{"Merged from the results of 2 machines", "Left out: 1 result", "/x: torn", ">vm&lt;1&gt;<", ">did not run; late<", "2s (20 %) of the longest window", "<section id=\"machines\">"} {
		if !strings.Contains(out, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// TestEmptyResult: a run that was cut off before its first point ended has a page, too.
func TestEmptyResult(t *testing.T) {
	dir := t.TempDir()
	file, err := os.Create(filepath.Join(dir, "result.json"))
	if err == nil {
		err = result.WriteJSON(file, &result.Doc{Schema: result.Schema, Version: "1"})
	}
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
	path, err := WriteFolder(dir, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(b, []byte("No point has ended")) {
		t.Errorf("%v", err)
	}
}

// TestReportOfFio: fio's output has no machine, no CPUs and no plan, and its page makes none up; nor does it say that
// blkstorm measured it.
func TestReportOfFio(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fio.json")
	text := `{"fio version": "fio-3.36", "jobs": [{"jobname": "` + strings.Repeat("a_long_name,", 6) + `", "read": {"io_bytes": 409600000, "total_ios": 100000,
		"runtime": 10000, "iops": 10000.0, "bw_bytes": 40960000, "clat_ns": {"min": 60000, "max": 900000, "mean": 99000.0,
		"stddev": 9000.0, "N": 100000, "percentile": {"50.000000": 98000, "99.000000": 150000}}}}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out := pageOf(t, openFolder(t, path))
	for _, want := range []string{`<th scope="row">Measured by</th><td>fio-3.36</td>`, "Made by blkstorm 1.2.3.", `<td class="w">a_long_name`} {
		if !strings.Contains(out, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, wrong := range []string{"blkstorm fio-3.36", "itself used", "at most 0", "<h3>Machine</h3>", "0 B", `id="plan-json"`} {
		if strings.Contains(out, wrong) {
			t.Errorf("the page has %q", wrong)
		}
	}
}

// TestMergedNotWhole: a point that one of many machines did not end was not interrupted as a whole.
func TestMergedNotWhole(t *testing.T) {
	d := docOf(1, 8)
	d.Points[0].Completed, d.Points[0].Interrupted = false, true
	for merged, want := range map[bool]string{false: "p0 was interrupted: its figures cover the 8s before that.", true: "p0 did not run to its end on every machine: its figures cover 8s."} {
		if d.Merge = nil; merged {
			d.Merge = &result.Merge{}
		}
		if list := notes(d); list[len(list)-1].Text != want {
			t.Errorf("%+v, want %q", list, want)
		}
	}
}

// TestLongListsStayOffPaper: which of hundreds of points have a warning fills no pages when the page is printed.
func TestLongListsStayOffPaper(t *testing.T) {
	for n, class := range map[int]string{12: "", 13: ` class="noprint"`} {
		r := run(t)
		r.Doc.Warnings = nil
		for range n {
			r.Doc.Warnings = append(r.Doc.Warnings, verdict.Warning{Code: "c", Message: "m", Advice: "a"})
		}
		if want := "<details" + class + `><summary class="dim">All `; !strings.Contains(pageOf(t, r), want) {
			t.Errorf("with %d places, the page lacks %q", n, want)
		}
	}
}
