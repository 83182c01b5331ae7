package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"blkstorm/histogram"
)

// decoded is the document as a script sees it; numbers keep their text.
func decoded(t *testing.T, b []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func asJSON(t *testing.T, d *Doc) map[string]any {
	t.Helper()
	var b bytes.Buffer
	if err := WriteJSON(&b, d); err != nil {
		t.Fatal(err)
	}
	if !bytes.HasSuffix(b.Bytes(), []byte("}\n")) {
		t.Error("no newline at the end")
	}
	return decoded(t, b.Bytes())
}

// The keys of section 9 of the design and what their values are.
var contract = map[string]map[string]string{
	"document": {
		"schema": "string", "version": "string", "id": "string", "started": "string", "host": "object", "clock": "object",
		"plan": "object", "targets": "array", "warnings": "array", "points": "array",
	},
	"point": {
		"label": "string", "phase": "string", "threads": "integer", "iodepth": "integer", "iodepth_effective": "integer",
		"engine": "string", "started": "string", "window_s": "number", "completed": "bool", "seed": "integer",
		"issued": "object", "total": "object", "read": "object", "write": "object", "trim": "object", "sync": "object",
		"streams": "array", "targets": "array", "intervals": "array", "ramp_intervals": "array", "cpu": "object", "warnings": "array",
	},
	"issued": {"read": "integer", "write": "integer", "trim": "integer"},
	"stream": {
		"label": "string", "workload": "string", "threads": "integer", "iodepth": "integer", "targets": "array",
		"total": "object", "read": "object", "write": "object", "trim": "object", "sync": "object",
	},
	"target": {"path": "string", "total": "object", "read": "object", "write": "object", "trim": "object", "sync": "object"},
	"stat": {
		"ios": "integer", "bytes": "integer", "errors": "integer", "short": "integer", "iops": "number", "bytes_per_s": "number",
		"latency_ns": "object",
	},
	"latency": {"count": "integer", "min": "integer", "mean": "integer", "stddev": "integer", "max": "integer"},
	"cpu":     {"user_pct": "number", "system_pct": "number", "iowait_pct": "number", "steal_pct": "number"},
	"warning": {"code": "string", "message": "string", "advice": "string"},
	"interval": {
		"t_s": "number", "start_unix_ns": "integer", "length_s": "number", "read": "object", "write": "object", "trim": "object",
		"inflight": "integer", "cpu": "object", "steal_pct": "number", "diskstats": "array", "net": "object",
	},
	"intervalStat": {
		"ios": "integer", "bytes": "integer", "errors": "integer", "mean": "integer", "stddev": "integer", "min": "integer",
		"p50": "integer", "p95": "integer", "p99": "integer", "max": "integer",
	},
}

func kind(v any) string {
	switch v := v.(type) {
	case string:
		return "string"
	case bool:
		return "bool"
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case json.Number:
		if _, err := v.Int64(); err == nil {
			return "integer"
		}
		return "number"
	}
	return "null"
}

func holds(t *testing.T, what string, v any) map[string]any {
	t.Helper()
	object, ok := v.(map[string]any)
	if !ok {
		t.Fatalf("%s is no object: %v", what, v)
	}
	for key, want := range contract[what] {
		got, there := object[key]
		if !there {
			t.Errorf("%s: key %q is missing", what, key)
			continue
		}
		if k := kind(got); k != want && !(want == "number" && k == "integer") {
			t.Errorf("%s: %q is %s, want %s", what, key, k, want)
		}
	}
	return object
}

func TestContract(t *testing.T) {
	for name, make := range documents {
		t.Run(name, func(t *testing.T) {
			d := make(t)
			doc := holds(t, "document", asJSON(t, d))
			if doc["schema"] != "blkstorm.result/1" {
				t.Errorf("schema %v", doc["schema"])
			}
			for _, w := range doc["warnings"].([]any) {
				holds(t, "warning", w)
			}
			for _, v := range doc["points"].([]any) {
				checkPoint(t, v, name != "sweep")
			}
		})
	}
}

func checkPoint(t *testing.T, v any, rows bool) {
	t.Helper()
	object, ok := v.(map[string]any)
	if ok && !rows {
		if object["intervals"] != nil || object["ramp_intervals"] != nil {
			t.Error("rows that were not kept are in the document")
		}
		object["intervals"], object["ramp_intervals"] = []any{}, []any{}
	}
	p := holds(t, "point", v)
	holds(t, "issued", p["issued"])
	holds(t, "cpu", p["cpu"])
	checkStats(t, p)
	for _, s := range p["streams"].([]any) {
		checkStats(t, holds(t, "stream", s))
	}
	for _, s := range p["targets"].([]any) {
		checkStats(t, holds(t, "target", s))
	}
	for _, w := range p["warnings"].([]any) {
		holds(t, "warning", w)
	}
	for _, in := range slices.Concat(p["intervals"].([]any), p["ramp_intervals"].([]any)) {
		row := holds(t, "interval", in)
		holds(t, "cpu", row["cpu"])
		for _, key := range []string{"read", "write", "trim"} {
			holds(t, "intervalStat", row[key])
		}
	}
}

// checkStats also decodes the histograms with the reference library.
func checkStats(t *testing.T, of map[string]any) {
	t.Helper()
	for _, key := range []string{"total", "read", "write", "trim", "sync"} {
		s := holds(t, "stat", of[key])
		l := holds(t, "latency", s["latency_ns"])
		if l["count"] != s["ios"] {
			t.Errorf("%s: %v latencies of %v I/Os", key, l["count"], s["ios"])
		}
		blob, measured := l["hdr"].(string)
		if _, has := l["percentiles"]; has != measured || measured != (l["count"] != json.Number("0")) {
			t.Errorf("%s: %v I/Os: hdr %v, percentiles %v", key, l["count"], measured, has)
		}
		if !measured {
			continue
		}
		for _, p := range []string{"50", "90", "95", "99", "99.9", "99.99", "99.999"} {
			if k := kind(l["percentiles"].(map[string]any)[p]); k != "integer" {
				t.Errorf("%s: percentile %s is %s", key, p, k)
			}
		}
		h, err := hdr.Decode([]byte(blob))
		if err != nil {
			t.Fatal(err)
		}
		if got := json.Number(count(uint64(h.TotalCount()))); got != l["count"] {
			t.Errorf("%s: histogram holds %v values, count is %v", key, got, l["count"])
		}
		restore(t, key, blob, l)
	}
}

// restore checks that merging documents later is possible with the figures as they are rounded here.
func restore(t *testing.T, key, blob string, l map[string]any) {
	t.Helper()
	h, err := histogram.Decode(blob)
	if err != nil {
		t.Fatal(err)
	}
	n := func(k string) int64 {
		v, err := l[k].(json.Number).Int64()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if err := h.Restore(n("min"), n("max"), float64(n("mean")), float64(n("stddev"))); err != nil {
		t.Errorf("%s: %v", key, err)
	}
}

func TestJSONHasNoNull(t *testing.T) {
	var b bytes.Buffer
	d := &Doc{Schema: Schema, Points: []*Point{{Total: &Stat{Latency: &Latency{}}}}}
	if err := WriteJSON(&b, d); err != nil {
		t.Fatal(err)
	}
	doc := decoded(t, b.Bytes())
	point := doc["points"].([]any)[0].(map[string]any)
	for _, key := range []string{"streams", "targets", "per_thread", "errors", "stuck", "warnings"} {
		if kind(point[key]) != "array" {
			t.Errorf("points[0].%s is %v", key, point[key])
		}
	}
	for _, key := range []string{"targets", "warnings"} {
		if kind(doc[key]) != "array" {
			t.Errorf("%s is %v", key, doc[key])
		}
	}
	if d.Points[0].Errors != nil {
		t.Error("writing changed the document")
	}
}

func TestJSONRefusesWhatIsNotFinite(t *testing.T) {
	for _, c := range []struct {
		spoil func(*Doc)
		want  string
	}{
		{func(d *Doc) { d.Points[0].Total.IOPS = math.NaN() }, "points[0].total.iops is NaN"},
		{func(d *Doc) { d.Points[0].Intervals[1].CPU.UserPct = math.Inf(1) }, "points[0].intervals[1].cpu.user_pct is +Inf"},
		{func(d *Doc) { d.Clock.CostNS = math.Inf(-1) }, "clock.cost_ns is -Inf"},
	} {
		d := singleDoc(t)
		c.spoil(d)
		var b bytes.Buffer
		if err := WriteJSON(&b, d); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q in it", err, c.want)
		}
		if b.Len() > 0 {
			t.Error("something was written")
		}
	}
	in := &Interval{LengthS: math.NaN()}
	if err := WriteNDJSON(io.Discard, in); err == nil || !strings.Contains(err.Error(), "length_s is NaN") {
		t.Errorf("interval: error %v", err)
	}
}

// once fails if it is written to twice, and always if full.
type once struct {
	writes int
	full   bool
	last   []byte
}

func (o *once) Write(p []byte) (int, error) {
	if o.writes++; o.full {
		return 0, io.ErrShortWrite
	}
	o.last = p
	return len(p), nil
}

func TestWritersWriteOnceAndReportErrors(t *testing.T) {
	d := mixedDoc(t)
	for name, f := range map[string]func(io.Writer) error{
		"text":     func(w io.Writer) error { return WriteText(w, d) },
		"json":     func(w io.Writer) error { return WriteJSON(w, d) },
		"csv":      func(w io.Writer) error { return WriteCSV(w, d) },
		"run":      func(w io.Writer) error { return WriteNDJSONRun(w, d) },
		"interval": func(w io.Writer) error { return WriteNDJSON(w, d.Points[0].Intervals[0]) },
		"point":    func(w io.Writer) error { return WriteNDJSONPoint(w, 0, d.Points[0]) },
		"end":      func(w io.Writer) error { return WriteNDJSONEnd(w, d) },
	} {
		good := &once{}
		if err := f(good); err != nil || good.writes != 1 || good.last[len(good.last)-1] != '\n' {
			t.Errorf("%s: error %v, %d writes", name, err, good.writes)
		}
		if n := bytes.Count(good.last, []byte("\n")); n != 1 && (name == "run" || name == "interval" || name == "point" || name == "end") {
			t.Errorf("%s: %d lines", name, n)
		}
		if err := f(&once{full: true}); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s to a full disk: %v", name, err)
		}
	}
}
