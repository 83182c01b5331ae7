package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"blkstorm/histogram"
	"blkstorm/lab"
	"blkstorm/plan"
)

func TestCreateFolder(t *testing.T) {
	base := t.TempDir()
	put := func(names ...string) string {
		dir, err := os.MkdirTemp(base, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	file := filepath.Join(put("file"), "file")
	for name, c := range map[string]struct {
		dir   string
		is    error
		words string
	}{
		"new":            {filepath.Join(base, "new"), nil, ""},
		"new below new":  {filepath.Join(base, "a/b/c"), nil, ""},
		"empty":          {put(), nil, ""},
		"stale":          {put(".result.json.tmp"), nil, ""},
		"result":         {put("a", "result.json"), ErrHoldsResult, "result.json in " + base},
		"intervals":      {put("intervals.ndjson"), ErrHoldsResult, "intervals.ndjson"},
		"histograms":     {put("latency.hlog"), ErrHoldsResult, "latency.hlog"},
		"other files":    {put("b", "a"), ErrNotEmpty, `it has "a"`},
		"a file":         {file, nil, "a file of that name is in the way"},
		"below a file":   {file + "/x", syscall.ENOTDIR, file},
		"no path":        {"", nil, "path is empty"},
		"read-only root": {"/proc/blkstorm", fs.ErrNotExist, "/proc/blkstorm"},
	} {
		f, err := CreateFolder(c.dir)
		if c.words == "" {
			if err != nil || f.Close() != nil {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.words) || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// Going on is advised only where there is something to go on with.
func TestWayOn(t *testing.T) {
	for text, words := range map[string]string{
		`{"schema":"blkstorm.result/1","points":[]}`:               "or go on with that run: --resume ",
		`{"schema":"blkstorm.result/1","points":[],"merge":{}}`:    "or remove what is in it",
		`{"schema":"blkstorm.result/1","points":[],"find_max":{}}`: "or remove what is in it",
		`{"schema":"blkstorm.result/9","points":[]}`:               "or remove what is in it",
		`{"schema":"blkstorm.result/1","points":[`:                 "or remove what is in it",
		"": "or remove what is in it",
	} {
		dir := t.TempDir()
		name := resultFile
		if text == "" {
			name = intervalsFile
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := CreateFolder(dir); !errors.Is(err, ErrHoldsResult) || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v, want %q", text, err, words)
		}
	}
}

// What was discarded is gone, and the folder can be used again.
func TestDiscard(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	d := fillFolder(t, dir)
	for _, name := range []string{resultFile, intervalsFile, latencyFile} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := CreateFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Interval(&Interval{}), f.openLog(time.Now()), f.Result(d)); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 {
		t.Fatalf("%v, %v", entries, err)
	}
	if err := f.Discard(); err != nil {
		t.Fatal(err)
	}
	if f, err = CreateFolder(dir); err != nil {
		t.Fatal(err)
	}
	if err := f.Discard(); err != nil { // of nothing
		t.Error(err)
	}
}

func TestCreateFolderWritesNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "r")
	for range 2 { // a run refused after the first call leaves a folder for the next
		f, err := CreateFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCreateFolderWithoutPermission asks as nobody, since root may write everywhere.
func TestCreateFolderWithoutPermission(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 {
		readOnly := filepath.Join(t.TempDir(), "ro")
		if err := os.Mkdir(readOnly, 0o755); err != nil {
			t.Fatal(err)
		}
		lab.Run(t, "mount", "-t", "tmpfs", "-o", "ro,size=64k", "blkstorm-test", readOnly)
		t.Cleanup(func() { lab.Run(t, "umount", readOnly) })
		dir = readOnly
	}
	if _, err := CreateFolder(dir); err == nil || !strings.Contains(err.Error(), dir+": cannot write to it") {
		t.Errorf("an existing folder: error %v", err)
	}
	if _, err := CreateFolder(dir + "/below"); err == nil || !strings.Contains(err.Error(), dir+"/below") {
		t.Errorf("a folder to be made: error %v", err)
	}
}

// fillFolder writes a whole run into a folder and returns its document, which kept its rows.
func fillFolder(t *testing.T, dir string) *Doc {
	t.Helper()
	f, err := CreateFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := manyDoc(t)
	d.Points = nil
	point := &d.Plan.Phases[0].Points[0]
	s := newSource(point)
	for i := -1; i < 2; i++ {
		s.row(i, time.Second, point, 2, []load{{n: 100, bytes: 8192, middle: 90_000}}, []load{}, []load{{op: 1, n: 5, bytes: 65536, middle: 1e6}})
	}
	b := d.NewBuilder(plan.Measure, point, DefaultPercentiles, true)
	for _, row := range s.rows {
		if err := errors.Join(f.Interval(b.Row(row)), f.Histograms(b, row)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.Finish(s.result(point, 8), 42); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Result(d), f.Close()); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	d := fillFolder(t, dir)
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 3 {
		t.Errorf("folder holds %v, %v", entries, err)
	}

	doc := decoded(t, read(t, dir, "result.json"))
	point := doc["points"].([]any)[0].(map[string]any)
	if _, has := point["intervals"]; has || d.Points[0].Intervals == nil {
		t.Error("result.json has interval rows, or writing it took them from the document")
	}

	rows := wholeLines(t, read(t, dir, "intervals.ndjson"))
	if len(rows) != 3 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range rows {
		holds(t, "interval", row)
		if row["type"] != "interval" || row["label"] != "oltp+log" || row["point"] != json.Number("0") || (row["ramp"] == true) != (i == 0) {
			t.Errorf("row %d: %v", i, row)
		}
	}
	if _, err := CreateFolder(dir); !errors.Is(err, ErrHoldsResult) {
		t.Errorf("a second run in the folder: error %v", err)
	}
}

func TestHistogramLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	d := fillFolder(t, dir)
	log := hdr.NewHistogramLogReader(bytes.NewReader(read(t, dir, "latency.hlog")))
	counts := map[string]int64{}
	lines := 0
	for {
		h, err := log.NextIntervalHistogram()
		if err != nil {
			t.Fatal(err)
		}
		if h == nil {
			break
		}
		parts, err := histogram.SplitLogTag(h.Tag())
		if err != nil || len(parts) != 4 {
			t.Fatalf("tag %q: %v", h.Tag(), err)
		}
		counts[strings.Join(parts, " ")] += h.TotalCount()
		lines++
		if h.StartTimeMs() < epoch.UnixMilli() {
			t.Error("a row of the ramp is in the log")
		}
	}
	want := map[string]int64{"0 oltp /dev/sdx read": 200, "0 log " + d.Targets[1].Path + " write": 10}
	for tag, n := range want {
		if counts[tag] != n {
			t.Errorf("%s: %d values, want %d", tag, counts[tag], n)
		}
	}
	if len(counts) != len(want) || lines != 4 {
		t.Errorf("%d lines: %v", lines, counts)
	}
}

// TestHistogramLogWhenClockIsSetBack: the rows go on; the log gets a new header.
func TestHistogramLogWhenClockIsSetBack(t *testing.T) {
	dir := t.TempDir()
	f, err := CreateFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	d := singleDoc(t)
	point := &d.Plan.Phases[0].Points[0]
	point.Streams[0].Label = ""
	s := newSource(point)
	s.row(0, time.Second, point, 1, []load{{n: 10, middle: 90_000}})
	s.row(1, time.Second, point, 1, []load{{n: 10, middle: 90_000}})
	s.rows[1].Wall = epoch.Add(-time.Hour)
	b := d.NewBuilder(plan.Measure, point, nil, false)
	for _, row := range s.rows {
		if err := f.Histograms(b, row); err != nil {
			t.Fatal(err)
		}
	}
	log := hdr.NewHistogramLogReader(bytes.NewReader(read(t, dir, "latency.hlog")))
	for i, want := range []time.Time{epoch, epoch.Add(-time.Hour)} {
		h, err := log.NextIntervalHistogram()
		if err != nil || h == nil || h.StartTimeMs() != want.UnixMilli() || h.Tag() != "1/0/%2Fdev%2Fsdx/read" {
			t.Fatalf("row %d: %v, %v", i, h, err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// wholeLines decodes the lines that have their newline.
func wholeLines(t *testing.T, b []byte) []map[string]any {
	t.Helper()
	var out []map[string]any
	for line := range bytes.Lines(b) {
		if bytes.HasSuffix(line, []byte("\n")) {
			out = append(out, decoded(t, line))
		}
	}
	return out
}
