package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blkstorm/histogram"
	"blkstorm/op"
	"blkstorm/result"
	"blkstorm/result/load/loadtest"
)

var epoch = time.Date(2026, 3, 1, 12, 0, 0, 123_456_789, time.UTC)

// twoPoints is a run of two points on two targets: 3 s of reads and writes, then 2 s of reads.
func twoPoints() *loadtest.Run {
	read := loadtest.Load{Op: op.Read, N: 1000, NS: 150_000, Bytes: 4096}
	write := loadtest.Load{Op: op.Write, Target: 1, N: 10, NS: 3_000_000, Bytes: 8192, Errors: 1}
	return &loadtest.Run{ID: "one", Host: "vm1", Targets: []string{"/dev/sdb", "/dev/sd c"}, Points: []loadtest.Point{
		{Label: "mixed", Start: epoch, Rows: loadtest.Steady(3, read, write)},
		{Label: "reads", Start: epoch.Add(10 * time.Second), Rows: loadtest.Steady(2, read)},
	}}
}

func mustOpen(t *testing.T, path string) *Result {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A folder, its result.json, a document and standard input are the same result.
func TestOpen(t *testing.T) {
	run := twoPoints()
	dir, file := run.Folder(t), run.File(t)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	alone := filepath.Join(t.TempDir(), "result.json")
	if err := os.WriteFile(alone, text, 0o600); err != nil {
		t.Fatal(err)
	}
	input, err := open(Standard, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		r    *Result
		kind Kind
		log  bool
	}{
		"folder":                    {mustOpen(t, dir), Folder, true},
		"result.json of the folder": {mustOpen(t, filepath.Join(dir, "result.json")), Folder, true},
		"document":                  {mustOpen(t, file), Document, false},
		"result.json alone":         {mustOpen(t, alone), Document, false},
		"standard input":            {input, Document, false},
	} {
		if want := (Gaps{NoLog: !c.log}); c.r.Kind != c.kind || c.r.Gaps != want || c.r.Doc.ID != "one" || len(c.r.Doc.Points) != 2 {
			t.Errorf("%s: kind %s, gaps %+v, %d points", name, c.r.Kind, c.r.Gaps, len(c.r.Doc.Points))
		}
		var labels []string
		ios := [2]uint64{}
		for row, err := range c.r.Rows() {
			if err != nil {
				t.Fatal(err)
			}
			labels = append(labels, row.Label)
			ios[row.Point] += row.Read.IOs + row.Write.IOs
		}
		if strings.Join(labels, " ") != "mixed mixed mixed reads reads" || ios != [2]uint64{3030, 2000} {
			t.Errorf("%s: rows of %v, %v I/Os", name, labels, ios)
		}
		h, err := Histogram(c.r.Doc.Points[0].Total.Latency)
		if err != nil || h.Count() != 3030 || h.Max() != 3_000_000 || h.Min() != 150_000 {
			t.Errorf("%s: %d values up to %d, %v", name, h.Count(), h.Max(), err)
		}
		sums := map[string]uint64{}
		decoded := histogram.New()
		for line, err := range c.r.Log() {
			if err == nil {
				err = line.Decode(decoded)
			}
			if err != nil {
				t.Fatal(err)
			}
			if line.Length != time.Second || line.Start.Nanosecond() != epoch.Nanosecond() || line.Stream != "load" {
				t.Errorf("%s: line %+v", name, line)
			}
			sums[line.Target+" "+line.Direction] += decoded.Count()
		}
		if c.log && (sums["/dev/sdb read"] != 5000 || sums["/dev/sd c write"] != 30 || len(sums) != 2) || !c.log && len(sums) > 0 {
			t.Errorf("%s: histogram log: %v", name, sums)
		}
	}
}

// JSON of fio comes in the same form, whatever stands before it.
func TestOpenFio(t *testing.T) {
	job := `{"jobname":"a","job options":{"bs":"4k","filename":"/dev/sdb:/dev/sdc"},"read":{"io_kbytes":4,"io_bytes":4096,"iops":100,"runtime":1000,"total_ios":1,`
	for name, c := range map[string]struct {
		latency string
		bins    bool
	}{
		"json":  {`"lat_ns":{"min":5,"max":5,"mean":5,"stddev":0,"N":1}`, false},
		"json+": {`"lat_ns":{"min":5,"max":5,"mean":5,"stddev":0,"N":1,"bins":{"5":1}}`, true},
	} {
		r, err := open(Standard, strings.NewReader("fio: a warning\n{\"fio version\":\"fio-3.38\",\"jobs\":["+job+c.latency+"}}]}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if r.Kind != Fio || r.Gaps.NoHistograms == c.bins || r.Options[0]["bs"] != "4k" || len(r.Doc.Targets) != 2 {
			t.Errorf("%s: %+v", name, r)
		}
		if err := result.WriteText(&bytes.Buffer{}, r.Doc); err != nil {
			t.Error(err)
		}
	}
	if _, err := open(Standard, strings.NewReader("{\"fio version\":\"fio-3.38\",\"jobs\":[")); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "cut short") {
		t.Errorf("cut: %v", err)
	}
}

// edited is the document of twoPoints with its JSON changed.
func edited(t *testing.T, edit func(doc map[string]any)) []byte {
	t.Helper()
	var text bytes.Buffer
	if err := result.WriteJSON(&text, twoPoints().Document(t)); err != nil {
		t.Fatal(err)
	}
	doc := map[string]any{}
	if err := json.Unmarshal(text.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	edit(doc)
	out, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// at follows keys and indexes into a document.
func at(v any, path ...any) any {
	for _, step := range path {
		switch key := step.(type) {
		case string:
			v = v.(map[string]any)[key]
		case int:
			v = v.([]any)[key]
		}
	}
	return v
}

// set replaces what is at the end of the path.
func set(value any, path ...any) func(map[string]any) {
	return func(doc map[string]any) {
		last := len(path) - 1
		switch parent := at(doc, path[:last]...).(type) {
		case map[string]any:
			parent[path[last].(string)] = value
		case []any:
			parent[path[last].(int)] = value
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	good := edited(t, func(map[string]any) {})
	for name, c := range map[string]struct {
		text  []byte
		is    error
		words string
	}{
		"nothing":         {nil, ErrNoResult, "it is empty"},
		"text":            {[]byte("blkstorm 1.0, run"), ErrNoResult, "no JSON document"},
		"cut":             {good[:len(good)/2], ErrDamaged, "it was cut short"},
		"syntax":          {[]byte("{\n\"schema\" 1}"), ErrDamaged, "line 2"},
		"other JSON":      {[]byte(`{"a":1}`), ErrNoResult, `schema is ""`},
		"later schema":    {edited(t, set("blkstorm.result/9", "schema")), ErrNoResult, `"blkstorm.result/9"`},
		"stream":          {[]byte("{\"type\":\"run\"}\n{\"type\":\"end\"}\n"), ErrNoResult, "--format ndjson"},
		"kind of value":   {edited(t, set("many", "points", 0, "threads")), ErrDamaged, `"points.threads" cannot be a string`},
		"infinite":        {bytes.Replace(good, []byte(`"window_s":3`), []byte(`"window_s":3e999`), 1), ErrDamaged, "window_s"},
		"point null":      {edited(t, set(nil, "points", 1)), ErrDamaged, "points[1] is null"},
		"no total":        {edited(t, set(nil, "points", 1, "total")), ErrDamaged, "points[1].total has no figures"},
		"target null":     {edited(t, set(nil, "targets", 1)), ErrDamaged, "targets[1] is null"},
		"stream null":     {edited(t, set(nil, "points", 0, "streams", 0)), ErrDamaged, "streams[0] is null"},
		"stream's target": {edited(t, set([]int{7}, "points", 0, "streams", 0, "targets")), ErrDamaged, "streams[0].targets is 7"},
		"point's target":  {edited(t, set(nil, "points", 0, "targets", 1)), ErrDamaged, "points[0].targets[1] is null"},
		"few targets":     {edited(t, set([]any{map[string]any{}}, "points", 0, "targets")), ErrDamaged, "1 entries"},
		"thread's stream": {edited(t, set(3, "points", 0, "per_thread", 0, "stream")), ErrDamaged, "per_thread[0].stream is 3"},
		"row null":        {edited(t, set(nil, "points", 0, "intervals", 1)), ErrDamaged, "intervals[1] is null"},
		"row's length":    {edited(t, set(-1, "points", 0, "intervals", 1, "length_s")), ErrDamaged, "intervals[1] lasts -1 s"},
		"row's count":     {edited(t, set(1e17, "points", 0, "intervals", 1, "read", "ios")), ErrDamaged, "beyond what a run can measure"},
		"window":          {edited(t, set(-3, "points", 0, "window_s")), ErrDamaged, "window_s is -3"},
		"time":            {edited(t, set("9999-01-01T00:00:00Z", "points", 0, "started")), ErrDamaged, "no time of a run"},
		"count":           {edited(t, set(1e17, "points", 0, "read", "ios")), ErrDamaged, "points[0].read: there are more I/Os"},
		"bytes":           {edited(t, set(uint64(1)<<63, "points", 0, "read", "bytes")), ErrDamaged, "bytes are more"},
		"rate":            {edited(t, set(1e300, "points", 0, "read", "iops")), ErrDamaged, "cannot be"},
		"latency":         {edited(t, set(5e13, "points", 0, "read", "latency_ns", "max")), ErrDamaged, "contradict"},
		"percentile":      {edited(t, set(1e12, "points", 0, "read", "latency_ns", "percentiles", "50")), ErrDamaged, `percentile "50"`},
		"sweep":           {edited(t, set(map[string]any{"points": []int{0, 5}}, "sweep")), ErrDamaged, "sweep.points is 5"},
		"knee":            {edited(t, set(map[string]any{"knee": map[string]any{"point": -1}}, "sweep")), ErrDamaged, "sweep.knee.point is -1"},
		"search":          {edited(t, set(map[string]any{"found_point": 9}, "find_max")), ErrDamaged, "find_max.found_point is 9"},
		"search's steps":  {edited(t, set(map[string]any{"steps": []any{map[string]any{"point": 9}}}, "find_max")), ErrDamaged, "find_max.steps.point is 9"},
		"resumed":         {edited(t, set([]any{map[string]any{"after_point": 9}}, "resumed")), ErrDamaged, "resumed.after_point is 9"},
		"repeated":        {edited(t, set([]any{map[string]any{"repeated": []int{9}}}, "resumed")), ErrDamaged, "resumed.repeated is 9"},
		"rounds":          {edited(t, set([]any{map[string]any{"phase": 9}}, "rounds")), ErrDamaged, "rounds[0].phase is 9"},
		"rounds, no plan": {edited(t, func(d map[string]any) { d["plan"] = nil; d["rounds"] = []any{map[string]any{}} }), ErrDamaged, "no plan"},
		"merge, empty":    {edited(t, set(map[string]any{}, "merge")), ErrDamaged, "0 members, and 0 of 2 points"},
		"merge, target":   {edited(t, set(map[string]any{"members": []any{map[string]any{"targets": []int{9}}}, "points": []any{map[string]any{}, map[string]any{}}}, "merge")), ErrDamaged, "merge.members[0].targets is 9"},
		"merge, row":      {edited(t, set(map[string]any{"members": []any{map[string]any{}}, "points": []any{map[string]any{"rows": []any{map[string]any{"member": 1}}}, map[string]any{}}}, "merge")), ErrDamaged, "merge.points[0].rows[0].member is 1"},
		"merge, rate":     {edited(t, set(map[string]any{"members": []any{map[string]any{}}, "points": []any{map[string]any{"rows": []any{map[string]any{"iops": -1}}}, map[string]any{}}}, "merge")), ErrDamaged, "the figure -1"},
		"CPU":             {edited(t, set(1e300, "points", 0, "cpu", "user_pct")), ErrDamaged, "cpu or process"},
		"rounds null":     {edited(t, set([]any{nil}, "rounds")), ErrDamaged, "rounds[0] is null"},
		"two documents":   {append(good, good...), ErrDamaged, "line 1"},
		"deeply nested":   {[]byte(`{"points":` + strings.Repeat("[", 100_000)), ErrDamaged, ""},
		"planned":         {edited(t, set(map[string]any{"count": 1, "max": -1}, "points", 0, "read", "response_ns")), ErrDamaged, "response_ns"},
		"planned too many": {edited(t, func(d map[string]any) {
			r := at(d, "points", 0, "read").(map[string]any)
			r["response_ns"] = nil
			r["late"] = uint64(1) << 60
		}), ErrDamaged, "planned"},
	} {
		path := filepath.Join(t.TempDir(), "a.json")
		if err := os.WriteFile(path, c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); !errors.Is(err, c.is) || !strings.HasPrefix(err.Error(), path+": ") || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: error %v, want %q", name, err, c.words)
		}
	}
	empty := t.TempDir()
	for path, words := range map[string]string{
		"":                                  "the path is empty",
		empty:                               "no result.json in the folder",
		filepath.Join(empty, "x"):           "no such file or directory",
		"/dev/null":                         "device",
		filepath.Join(empty, "x", "y.json"): "no such file",
	} {
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%q: %v", path, err)
		}
	}
	if _, err := Open(filepath.Join(empty, "x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	if _, err := open(Standard, strings.NewReader("")); err == nil || !strings.HasPrefix(err.Error(), "standard input: ") {
		t.Errorf("empty standard input: %v", err)
	}
}

// What another version leaves out of a point becomes figures of nothing.
func TestMissingFigures(t *testing.T) {
	text := edited(t, func(d map[string]any) {
		delete(at(d, "points", 0).(map[string]any), "sync")
		delete(at(d, "points", 0, "trim").(map[string]any), "latency_ns")
		delete(at(d, "points", 0).(map[string]any), "targets")
	})
	r, err := open(Standard, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Doc.Points[0]; p.Sync == nil || p.Sync.Latency == nil || p.Trim.Latency == nil || len(p.Targets) != 2 || p.Targets[1].Total == nil {
		t.Errorf("sync %+v, trim %+v, targets %v", p.Sync, p.Trim, p.Targets)
	}
}

func TestHistogramRefuses(t *testing.T) {
	good := *twoPoints().Document(t).Points[0].Read.Latency
	if h, err := Histogram(nil); err != nil || h.Count() != 0 {
		t.Errorf("of nothing: %v", err)
	}
	for name, edit := range map[string]func(*result.Latency){
		"none":        func(l *result.Latency) { l.HDR = "" },
		"damaged":     func(l *result.Latency) { l.HDR = l.HDR[:20] },
		"other count": func(l *result.Latency) { l.Count++ },
		"other max":   func(l *result.Latency) { l.Max *= 2 },
	} {
		l := good
		edit(&l)
		h, err := Histogram(&l)
		if err == nil || h.Count() != 0 || (name == "none") != errors.Is(err, ErrNoHistogram) {
			t.Errorf("%s: %d values, error %v", name, h.Count(), err)
		}
	}
}

// A pipe, as from a shell's <(...), is read like a file.
func TestOpenPipe(t *testing.T) {
	text := edited(t, func(map[string]any) {})
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		_, _ = w.Write(text) // an error shows in what is read
		_ = w.Close()
	}()
	got := mustOpen(t, fmt.Sprintf("/proc/self/fd/%d", r.Fd()))
	if got.Doc.ID != "one" {
		t.Errorf("run %q", got.Doc.ID)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}
