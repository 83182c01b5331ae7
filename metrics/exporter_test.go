package metrics

import (
	"bytes"
	"io"
	"math"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"blkstorm/device"
	"blkstorm/histogram"
	"blkstorm/host"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/runner"
	"blkstorm/verdict"
	"blkstorm/workload"
)

// hostile is a path that nobody should have.
const hostile = "/dev/\xff \"x\\y\"\n{},=<&>\x1b[2J"

func testPlan() *plan.Plan {
	point := plan.Point{Label: "mixed \xfe", Ramp: plan.Duration(time.Second), Runtime: plan.Duration(10 * time.Second), Streams: []plan.Stream{
		{Label: "oltp", Workload: workload.Spec{RW: "randrw", BlockSize: 4096, ReadPct: 70}, Targets: []int{0, 1}, Threads: 2, IODepth: 4,
			Pacing: workload.Pacing{IOPS: workload.Rates{Total: 100}}},
		{Workload: workload.Spec{RW: "write", BlockSize: 4096, Fsync: 8}, Targets: []int{1}, Threads: 1, IODepth: 1},
	}}
	fill := plan.Point{Label: "fill", Streams: []plan.Stream{{Label: "fill", Workload: workload.Spec{RW: "write", BlockSize: 4096}, Targets: []int{0}, Threads: 1, IODepth: 4, Passes: 1}}}
	return &plan.Plan{Phases: []plan.Phase{
		{Kind: plan.Fill, Points: []plan.Point{fill}},
		{Kind: plan.Measure, Points: []plan.Point{point}},
		{Kind: plan.Idle, Time: plan.Duration(time.Minute)},
	}}
}

func testDoc(p *plan.Plan) *result.Doc {
	return &result.Doc{
		ID: "0123", Host: host.Facts{Hostname: "bench\x80"}, Plan: p,
		Targets:  []*device.Facts{{Path: "/dev/sdx", Kind: "disk", Model: "M", Serial: "S", SizeBytes: 1 << 40}, {Path: hostile, Kind: "file", SizeBytes: 4096}},
		Warnings: []verdict.Warning{{Code: "clock_slow"}},
	}
}

func stat(bytes uint64, ns ...int64) (s runner.Stat) {
	r := histogram.NewRecorder()
	for _, v := range ns {
		r.Record(v)
	}
	s.Latency.AddRecorder(r)
	s.Bytes = bytes
	return s
}

// measured is an Exporter in the second second of a window, after a ramp.
func measured(t testing.TB) (*Exporter, *plan.Plan) {
	t.Helper()
	p := testPlan()
	e := New("1.2.3")
	now := time.Unix(1_000_000, 0)
	e.started, e.now = now, func() time.Time { return now }
	e.Begin(testDoc(p))
	point := &p.Phases[1].Points[0]
	e.PointBegin(1, 2, plan.Measure, point)
	for second := -1; second < 1; second++ {
		now = now.Add(time.Second)
		row := &runner.Row{
			Ramp: second < 0, Start: time.Duration(second) * time.Second, Length: time.Second, Wall: now.Add(-time.Second), InFlight: 17,
			Cells: []runner.Cell{{Stream: 0, Target: 0}, {Stream: 0, Target: 1}, {Stream: 1, Target: 1}},
			Host:  runner.Sample{CPU: host.CPUShare{UserPct: 12.5, SystemPct: 25, IOWaitPct: 50, StealPct: 1}},
		}
		read := &row.Cells[0].Ops[op.Read]
		*read = stat(8192, 80_000, 120_000)
		response := stat(0, 2_000_000, 3_000_000)
		read.Response.Merge(&response.Latency)
		row.Cells[1].Ops[op.Write] = stat(4096, 1_000_000)
		row.Cells[1].Ops[op.Write].Errors, row.Cells[1].Ops[op.Write].Short, row.Cells[1].Ops[op.Write].Zero = 3, 2, 1
		row.Cells[2].Ops[op.Write] = stat(4096, 3_000_000_000)
		row.Cells[2].Ops[op.Sync] = stat(0, 5_000_000)
		heat := 41.5
		e.Row(point, row, &result.Interval{TemperatureC: []*float64{&heat, nil}})
	}
	return e, p
}

// families is the page, read back from protobuf: with a Prometheus server's own words.
func families(t testing.TB, e *Exporter) map[string]*dto.MetricFamily {
	t.Helper()
	r := prometheus.NewPedanticRegistry()
	r.MustRegister(e)
	list, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*dto.MetricFamily{}
	for _, f := range list {
		all[f.GetName()] = f
	}
	return all
}

// find is the metric of a family whose labels have the values.
func find(f *dto.MetricFamily, labels ...string) *dto.Metric {
	for _, m := range f.GetMetric() {
		have := map[string]string{}
		for _, l := range m.GetLabel() {
			have[l.GetName()] = l.GetValue()
		}
		same := true
		for i := 0; i < len(labels); i += 2 {
			same = same && have[labels[i]] == labels[i+1]
		}
		if same {
			return m
		}
	}
	return nil
}

func TestPage(t *testing.T) {
	e, p := measured(t)
	all := families(t, e)
	value := func(name string, labels ...string) float64 {
		t.Helper()
		m := find(all["blkstorm_"+name], labels...)
		switch {
		case m == nil:
			t.Errorf("no %s %q", name, labels)
			return math.NaN()
		case m.Gauge != nil:
			return m.Gauge.GetValue()
		}
		return m.Counter.GetValue()
	}
	bad := label(hostile)
	for _, c := range []struct {
		want   float64
		name   string
		labels []string
	}{
		{2, "ios_total", []string{"phase", "measure", "ramp", "false", "stream", "oltp", "target", "/dev/sdx", "direction", "read"}},
		{2, "ios_total", []string{"ramp", "true", "stream", "oltp", "target", "/dev/sdx", "direction", "read"}},
		{0, "ios_total", []string{"ramp", "false", "stream", "oltp", "target", "/dev/sdx", "direction", "write"}},
		{8192, "bytes_total", []string{"ramp", "false", "target", "/dev/sdx", "direction", "read"}},
		{1, "ios_total", []string{"ramp", "false", "stream", "1", "target", bad, "direction", "sync"}},
		{3, "errors_total", []string{"ramp", "false", "stream", "oltp", "target", bad, "direction", "write"}},
		{2, "short_total", []string{"ramp", "false", "stream", "oltp", "target", bad, "direction", "write"}},
		{1, "zero_total", []string{"ramp", "false", "stream", "oltp", "target", bad, "direction", "write"}},
		{0, "missed_total", []string{"ramp", "false", "stream", "oltp", "target", "/dev/sdx", "direction", "read"}},
		{1, "build_info", []string{"version", "1.2.3"}},
		{1, "run_info", []string{"id", "0123", "host", `bench\x80`}},
		{1, "target_info", []string{"target", "/dev/sdx", "model", "M", "serial", "S", "kind", "disk"}},
		{1 << 40, "target_size_bytes", []string{"target", "/dev/sdx"}},
		{41.5, "target_temperature_celsius", []string{"target", "/dev/sdx"}},
		{1, "point_info", []string{"phase", "measure", "label", `mixed \xfe`}},
		{1, "point_index", nil}, {2, "points", nil}, {9, "point_remaining_seconds", nil}, {69, "plan_remaining_seconds", nil},
		{17, "inflight_ios", nil}, {17, "inflight_asked_ios", nil}, {1_000_002, "row_end_timestamp_seconds", nil}, {1_000_000, "start_time_seconds", nil},
		{0.125, "host_cpu_ratio", []string{"mode", "user"}}, {0.01, "host_cpu_ratio", []string{"mode", "steal"}},
		{1, "warnings_total", []string{"code", "clock_slow"}},
	} {
		if got := value(c.name, c.labels...); got != c.want {
			t.Errorf("%s %q is %v, want %v", c.name, c.labels, got, c.want)
		}
	}
	// What has no drive's temperature has none here; what is not paced offers nothing.
	if m := find(all["blkstorm_target_temperature_celsius"], "target", bad); m != nil {
		t.Errorf("%v", m)
	}
	if m := find(all["blkstorm_offered_total"], "stream", "1"); m != nil {
		t.Errorf("%v", m)
	}

	// Both streams write to the second target: 1 ms and 3 s. Both forms say so.
	h := find(all["blkstorm_latency_seconds"], "ramp", "false", "target", bad, "direction", "write").GetHistogram()
	if h.GetSampleCount() != 2 || math.Abs(h.GetSampleSum()-3.001) > 1e-12 || h.GetSchema() != schema {
		t.Errorf("latency %v", h)
	}
	spans := 0
	for _, s := range h.GetPositiveSpan() {
		spans += int(s.GetLength())
	}
	if n := len(h.GetPositiveDelta()); n < 2 || n != spans {
		t.Errorf("%d buckets in spans of %d", n, spans)
	}
	for _, b := range h.GetBucket() {
		want := uint64(0)
		if b.GetUpperBound() >= 0.002 { // a bucket at 1 ms goes where its middle is
			want = 1
		}
		if b.GetUpperBound() >= 5 {
			want = 2
		}
		if b.GetCumulativeCount() != want && b.GetUpperBound() != 0.001 {
			t.Errorf("up to %v: %d, want %d", b.GetUpperBound(), b.GetCumulativeCount(), want)
		}
	}
	response := find(all["blkstorm_response_seconds"], "ramp", "false", "target", "/dev/sdx", "direction", "read").GetHistogram()
	if response.GetSampleCount() != 2 || math.Abs(response.GetSampleSum()-0.005) > 1e-15 {
		t.Errorf("response %v", response)
	}

	// The end of a point brings what was planned, and its warnings.
	res := &runner.Result{Cells: []runner.Cell{{Stream: 0, Target: 0, Undrawn: 7}, {Stream: 1, Target: 1}}}
	read := &res.Cells[0].Ops[op.Read]
	read.Offered, read.Late, read.Missed = 100, 5, 2
	e.Measured(&p.Phases[1].Points[0], res)
	e.PointEnd(&result.Point{Warnings: []verdict.Warning{{Code: "rate_missed"}, {Code: "clock_slow"}}})
	all = families(t, e)
	planned := []string{"phase", "measure", "ramp", "false", "stream", "oltp", "target", "/dev/sdx", "direction"}
	if value("offered_total", append(planned, "read")...) != 100 || value("late_total", append(planned, "read")...) != 5 ||
		value("missed_total", append(planned, "read")...) != 2 || value("missed_total", append(planned, undrawn)...) != 7 {
		t.Error("what was planned is not on the page")
	}
	if value("warnings_total", "code", "clock_slow") != 2 || value("warnings_total", "code", "rate_missed") != 1 || value("inflight_ios") != 0 {
		t.Error("the end of the point is not on the page")
	}
	for _, gone := range []string{"point_info", "point_remaining_seconds", "plan_remaining_seconds"} {
		if all["blkstorm_"+gone] != nil {
			t.Errorf("between points there is %v", all["blkstorm_"+gone])
		}
	}
}

// How long it takes is there when it is known, and not otherwise.
func TestRemaining(t *testing.T) {
	p := testPlan()
	e := New("")
	now := time.Unix(1000, 0)
	e.now = func() time.Time { return now }
	e.Begin(testDoc(p))
	for _, c := range []struct {
		name        string
		of          int
		point       *plan.Point
		after       time.Duration
		left, whole float64 // below 0: not known
	}{
		{"a pass over a target", 2, &p.Phases[0].Points[0], 0, -1, -1},
		{"a window and its ramp", 2, &p.Phases[1].Points[0], 3 * time.Second, 8, 68},
		{"an idle time", 2, nil, 20 * time.Second, 40, 40},
		{"over its time", 2, nil, 2 * time.Hour, -1, -1}, // the plan has no second idle time
		{"a search", -1, &p.Phases[1].Points[0], 0, 11, -1},
	} {
		e.PointBegin(0, c.of, plan.Measure, c.point)
		now = now.Add(c.after)
		all := families(t, e)
		for name, want := range map[string]float64{"point_remaining_seconds": c.left, "plan_remaining_seconds": c.whole} {
			f := all["blkstorm_"+name]
			if (f == nil) != (want < 0) || f != nil && f.Metric[0].Gauge.GetValue() != want {
				t.Errorf("%s: %s is %v, want %v", c.name, name, f, want)
			}
		}
	}
	if f := families(t, e)["blkstorm_points"]; f != nil {
		t.Errorf("a search has %v", f)
	}
}

// The library's linter has nothing to say, from the first moment on; every form of the page can be read
// back; and every metric is in the guide.
func TestPageIsGood(t *testing.T) {
	guide, err := os.ReadFile("../docs/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	e, _ := measured(t)
	for _, e := range []*Exporter{New("x\xff"), e} {
		problems, err := testutil.CollectAndLint(e)
		if err != nil || len(problems) > 0 {
			t.Errorf("%v %v", problems, err)
		}
	}
	all := families(t, e)
	for _, d := range descs {
		if name := strings.Split(d.String(), `"`)[1]; all[name] == nil {
			t.Errorf("this test lacks %s", name)
		}
	}
	for _, d := range descs {
		if name := strings.Split(d.String(), `"`)[1]; !bytes.Contains(guide, []byte("| `"+name+"` |")) {
			t.Errorf("docs/metrics.md has no row for %s", name)
		}
	}
	for _, accept := range []string{
		"", "text/plain;version=0.0.4", "application/openmetrics-text;version=1.0.0",
		"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited",
	} {
		req := httptest.NewRequest("GET", "/metrics", nil)
		req.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		Handler(e).ServeHTTP(w, req)
		if w.Code != 200 {
			t.Fatalf("%s: %d %s", accept, w.Code, w.Body)
		}
		if strings.Contains(accept, "openmetrics") {
			if !strings.HasSuffix(w.Body.String(), "# EOF\n") { // the library has no reader of this form
				t.Error("no end of OpenMetrics")
			}
			continue
		}
		d := expfmt.NewDecoder(w.Body, expfmt.ResponseFormat(w.Header()))
		seen := map[string]*dto.MetricFamily{}
		for {
			f := &dto.MetricFamily{}
			if err := d.Decode(f); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%q: %v", accept, err)
			}
			seen[f.GetName()] = f
		}
		if len(seen) != len(all) {
			t.Errorf("%q: %d families, want %d", accept, len(seen), len(all))
		}
		m := find(seen["blkstorm_ios_total"], "target", label(hostile), "direction", "sync", "ramp", "false")
		if m.GetCounter().GetValue() != 1 {
			t.Errorf("%q: the target with the bad name has %v", accept, m)
		}
		h := seen["blkstorm_latency_seconds"].Metric[0].GetHistogram()
		if native := strings.Contains(accept, "protobuf"); len(h.GetBucket()) < len(bounds) || native != (h.Schema != nil) {
			t.Errorf("%q: %d classic buckets, native %v", accept, len(h.GetBucket()), h.Schema != nil)
		}
	}
}

// Rows come in while pages are made.
func TestConcurrent(t *testing.T) {
	e, p := measured(t)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for range 20 {
				families(t, e)
			}
		})
	}
	point := &p.Phases[1].Points[0]
	for i := range 200 {
		row := &runner.Row{Length: time.Second, Cells: []runner.Cell{{}}}
		row.Cells[0].Ops[op.Read] = stat(4096, int64(1000*i))
		e.Row(point, row, &result.Interval{})
		if i%50 == 0 {
			e.PointEnd(&result.Point{Warnings: []verdict.Warning{{Code: "few_samples"}}})
			e.PointBegin(0, 1, plan.Measure, point)
		}
	}
	wg.Wait()
	if m := find(families(t, e)["blkstorm_ios_total"], "target", "/dev/sdx", "direction", "read", "ramp", "false"); m.GetCounter().GetValue() != 202 {
		t.Errorf("%v", m)
	}
}
