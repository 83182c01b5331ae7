package merge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"blkstorm/histogram"
	"blkstorm/op"
	"blkstorm/result"
	"blkstorm/result/load"
	"blkstorm/result/load/loadtest"
)

// The folder of a merge has the rows of the time in common, which sum to the point, and is a result itself.
func TestFolder(t *testing.T) {
	write := loadtest.Load{Op: op.Write, N: 10, NS: 5_000_000, Bytes: 4096, Errors: 1}
	var paths []string
	for i := range 3 {
		run := vm(fmt.Sprint("vm", i), epoch.Add(time.Duration(i)*400*time.Millisecond), 6+i, eachRead, write)
		// A second point that is the same in all machines, and so has all its rows, and a third that is cut again.
		run.Points = append(run.Points, loadtest.Point{Label: "same", Start: epoch.Add(time.Minute), Rows: loadtest.Steady(2, eachRead)})
		third := run.Points[0]
		third.Label, third.Start = "third", third.Start.Add(2*time.Minute)
		run.Points = append(run.Points, third)
		paths = append(paths, run.Folder(t))
	}
	dir := filepath.Join(t.TempDir(), "all")
	folder, err := result.CreateFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	doc := must(t, Options{Folder: folder}, paths...).Doc
	if err := folder.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := load.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	var ios, moved, failed [3]uint64
	rows := 0
	for row, err := range r.Rows() {
		if err != nil {
			t.Fatal(err)
		}
		rows++
		ios[row.Point] += row.Read.IOs + row.Write.IOs
		moved[row.Point] += row.Read.Bytes + row.Write.Bytes
		failed[row.Point] += row.Write.Errors
		if row.Read.IOs != 300 || row.Read.Mean != 200_000 || row.Write.Max != map[bool]int64{true: 0, false: 5_000_000}[row.Point == 1] || row.LengthS != 1 || row.InFlight != 12 || row.StartUnixNS != doc.Points[row.Point].Started.UnixNano()+int64(row.TS*1e9) {
			t.Errorf("%+v", row)
		}
	}
	// From 0.8 s to 6 s: five whole intervals of two machines, and four of the one that began at 0.4 s.
	for _, i := range []int{0, 2} {
		if s := doc.Points[i].Total; s.IOs != ios[i] || s.Bytes != moved[i] || s.Errors != failed[i] || s.IOs != 4*330 || doc.Points[i].WindowS != 4 {
			t.Errorf("point %d has %+v, its rows %d I/Os, %d bytes, %d errors", i, s, ios[i], moved[i], failed[i])
		}
	}
	if rows != 10 || ios[1] != 600 || doc.Points[1].Total.IOs != 600 {
		t.Errorf("%d rows, %v I/Os", rows, ios)
	}
	logged := map[string]uint64{}
	h := histogram.New()
	for line, err := range r.Log() {
		if err == nil {
			err = line.Decode(h)
		}
		if err != nil {
			t.Fatal(err)
		}
		logged[fmt.Sprint(line.Point, line.Stream, line.Target, line.Direction)] += h.Count()
	}
	if len(logged) != 5 || logged["1loadallread"] != 600 || logged["0loadallread"] != 1200 || logged["2loadallwrite"] != 120 {
		t.Errorf("%v", logged)
	}
	if r.Doc.Merge == nil || len(r.Doc.Points) != 3 {
		t.Errorf("%+v", r.Doc)
	}
}

// Equal windows have rows where all members' files have the same intervals, and sound ones: else the figures
// are those of the documents, and there are no rows.
func TestRowsOfEqualWindows(t *testing.T) {
	for name, c := range map[string]struct {
		b    *loadtest.Run
		harm func(dir string)
		rows int
	}{
		"alike": {vm("b", epoch, 3, eachRead), func(string) {}, 3},
		"coarser": {func() *loadtest.Run {
			r := vm("b", epoch, 1, eachRead)
			r.Points[0].Interval = 3 * time.Second
			return r
		}(), func(string) {}, 0},
		"damaged": {vm("b", epoch, 3, eachRead), func(dir string) { spoilLog(t, dir, 1) }, 0},
	} {
		a, b := vm("a", epoch, 3, eachRead).Folder(t), c.b.Folder(t)
		c.harm(b)
		dir := filepath.Join(t.TempDir(), "all")
		folder, err := result.CreateFolder(dir)
		if err != nil {
			t.Fatal(err)
		}
		r := must(t, Options{Folder: folder, AllowDifferentPlans: true}, a, b)
		if err := folder.Close(); err != nil {
			t.Fatal(err)
		}
		if how := r.Doc.Merge.Points[0]; how.Window != result.MergeEqual || r.Broken != (name == "damaged") {
			t.Errorf("%s: %+v, broken %v", name, how, r.Broken)
		}
		made, err := load.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		rows, ios := 0, uint64(0)
		for row, err := range made.Rows() {
			if err != nil {
				t.Fatal(err)
			}
			rows++
			ios += row.Read.IOs
		}
		if rows != c.rows || rows > 0 && ios != r.Doc.Points[0].Total.IOs {
			t.Errorf("%s: %d rows with %d I/Os of %d", name, rows, ios, r.Doc.Points[0].Total.IOs)
		}
	}
}

// Memory does not grow with the number of machines, but for the figures that the document has of each.
func TestMemoryIsFlat(t *testing.T) {
	use := func(n int) uint64 {
		paths := fleet(t, n, 4)
		r := must(t, Options{}, paths...)
		runtime.GC()
		runtime.GC() // what a sync.Pool holds survives the first
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		runtime.KeepAlive(r)
		return m.HeapAlloc
	}
	few, many := use(3), use(23)
	// 4 points of one target; a member's histograms would be 4 x 264 KiB.
	if each := float64(many-min(few, many)) / 20; each > 20<<10 {
		t.Errorf("each member takes %.0f bytes", each)
	}
}

// A document does not grow beyond measure with the targets of all machines.
func TestManyTargets(t *testing.T) {
	many := func(host string) string {
		run := vm(host, epoch, 1, eachRead)
		for i := range 150 {
			run.Targets = append(run.Targets, fmt.Sprint("/dev/disk", i))
		}
		for range 69 {
			run.Points = append(run.Points, run.Points[0])
		}
		return run.File(t)
	}
	a, b := many("a"), many("b")
	d := must(t, Options{}, a).Doc
	if len(d.Points[69].Targets) != 150 || len(d.Points[69].Streams[0].Targets) != 150 || len(d.Warnings) != 0 {
		t.Errorf("one machine: %d targets, %+v", len(d.Points[69].Targets), d.Warnings)
	}
	d = must(t, Options{}, a, b).Doc
	if p := d.Points[0]; len(p.Targets) != 0 || len(p.Streams[0].Targets) != 0 || len(d.Targets) != 300 || d.Warnings[0].Code != "merged_targets_left_out" || p.Total.IOs != 200 {
		t.Errorf("two: %d targets of %d, %+v", len(p.Targets), len(d.Targets), d.Warnings)
	}
	var out bytes.Buffer
	if err := result.WriteText(&out, d); err != nil || !strings.Contains(out.String(), "300 on 2 machines") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// fioOutput is a file of fio's JSON with one job.
func fioOutput(t *testing.T, host string, ios int, latency string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), host+".json")
	text := fmt.Sprintf(`fio: noise
{"fio version":"fio-3.38","timestamp_ms":1752000383123,"global options":{"bs":"4k"},"client_stats":[{"jobname":"job","hostname":%q,"groupid":0,"error":0,"elapsed":10,
"job options":{"filename":"/dev/%s"},"read":{"io_bytes":%d,"io_kbytes":4,"iops":%d,"bw_bytes":4096,"runtime":10000,"total_ios":%d,%s}}]}`, host, host, ios*4096, ios/10, ios, latency)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// fio's bins are added; where there are none, rates are added and means weighted, and percentiles are gone.
func TestFio(t *testing.T) {
	fast := `"lat_ns":{"min":1000000,"max":1000000,"mean":1000000,"stddev":0,"N":1000,"bins":{"1000000":1000}}`
	slow := `"lat_ns":{"min":9000000,"max":9000000,"mean":9000000,"stddev":0,"N":100,"bins":{"9000000":100}}`
	bare := `"lat_ns":{"min":9000000,"max":9000000,"mean":9000000,"stddev":0,"N":100,"percentile":{"99.000000":9000000}}`
	r := must(t, Options{}, fioOutput(t, "a", 1000, fast), fioOutput(t, "b", 100, slow))
	s := r.Doc.Points[0].Total
	if s.IOs != 1100 || s.IOPS != 110 || s.BytesPerS != 8192 || s.Latency.Mean != 1_727_273 || s.Latency.Percentiles["90"] > 1_001_000 || s.Latency.Percentiles["95"] < 9e6 || s.Latency.HDR == "" {
		t.Errorf("%+v, %+v", s, s.Latency)
	}
	if r.Doc.Merge.Members[1].Name != "b" || r.Broken {
		t.Errorf("%+v", r.Doc.Merge)
	}
	r = must(t, Options{}, fioOutput(t, "a", 1000, fast), fioOutput(t, "b", 100, bare))
	p := r.Doc.Points[0]
	l := p.Total.Latency
	if p.Total.IOPS != 110 || l.Count != 1100 || l.Mean != 1_727_273 || l.Min != 1e6 || l.Max != 9e6 || l.HDR != "" || l.Percentiles != nil {
		t.Errorf("%+v", l)
	}
	if got := message(p, "merged_percentiles_absent"); !strings.Contains(got, "percentiles cannot be made of percentiles") {
		t.Errorf("%v", codes(p))
	}
	if how := r.Doc.Merge.Points[0]; how.Rows[1].P99NS == nil || *how.Rows[1].P99NS != 9e6 {
		t.Errorf("%+v", how.Rows)
	}
	if _, err := Merge([]string{fioOutput(t, "a", 1000, fast), vm("x", epoch, 2, eachRead).File(t)}, Options{}); err == nil || !strings.Contains(err.Error(), "plans differ") {
		t.Errorf("fio's output beside a result: %v", err)
	}
}

// rename changes the host's name in a folder's document.
func rename(t *testing.T, dir, from, to string) {
	t.Helper()
	path := filepath.Join(dir, "result.json")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	name, err := json.Marshal(to)
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte(`"hostname": "`+from+`"`), append([]byte(`"hostname": `), name...), 1)
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}
