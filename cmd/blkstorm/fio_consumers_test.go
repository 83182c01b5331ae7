package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// Programs that read fio's JSON find every field that they look for, of the type that they decode it as: the
// lists of testdata/fio/consumers say which, and how each calls fio. A * in a path stands for any key, and ~ for
// a blank.
func TestFioConsumers(t *testing.T) {
	lists, err := filepath.Glob("testdata/fio/consumers/*.txt")
	if err != nil || len(lists) < 8 {
		t.Fatalf("%d lists, %v", len(lists), err)
	}
	for _, list := range lists {
		t.Run(strings.TrimSuffix(filepath.Base(list), ".txt"), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(list)
			if err != nil {
				t.Fatal(err)
			}
			var doc any
			found := 0
			for line := range strings.Lines(string(text)) {
				line = strings.TrimSpace(line)
				if args, ok := strings.CutPrefix(line, "args "); ok {
					file := filepath.Join(t.TempDir(), "x")
					out := blkstorm(t, append([]string{"fio"}, strings.Fields(strings.ReplaceAll(args, "FILE", file))...)...).want(t, 0)
					if out.stderr != "" {
						t.Errorf("standard error: %s", out.stderr)
					}
					doc = decodeFio(t, out.stdout)
				}
				path, kind, ok := strings.Cut(line, " ")
				if !ok || !strings.HasPrefix(path, "/") {
					continue
				}
				found++
				if err := lookUp(doc, strings.Split(path[1:], "/"), kind); err != nil {
					t.Errorf("%s: %v", path, err)
				}
			}
			if found < 10 {
				t.Errorf("only %d fields are looked for", found)
			}
		})
	}
}

// decodeFio decodes the last document of an output, as programs find it that do not trust what stands before: from
// the last line on that begins with a brace.
func decodeFio(t *testing.T, text string) any {
	t.Helper()
	at := max(strings.LastIndex(text, "\n{")+1, 0)
	d := json.NewDecoder(strings.NewReader(text[at:]))
	d.UseNumber()
	var doc any
	if err := d.Decode(&doc); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return doc
}

// lookUp says what is wrong with what is at a path.
func lookUp(v any, path []string, kind string) error {
	if len(path) == 0 {
		if got := kindOf(v); got != kind {
			return fmt.Errorf("is %s (%v), not %s", got, v, kind)
		}
		return nil
	}
	key := strings.ReplaceAll(path[0], "~", " ")
	switch v := v.(type) {
	case map[string]any:
		if key == "*" {
			for _, one := range v {
				if err := lookUp(one, path[1:], kind); err != nil {
					return err
				}
			}
			return nil
		}
		one, ok := v[key]
		if !ok {
			return fmt.Errorf("there is no %q", key)
		}
		return lookUp(one, path[1:], kind)
	case []any:
		i, err := strconv.Atoi(key)
		if err != nil || i >= len(v) {
			return fmt.Errorf("no element %s of %d", key, len(v))
		}
		return lookUp(v[i], path[1:], kind)
	}
	return fmt.Errorf("%q is in nothing", key)
}

func kindOf(v any) string {
	switch v := v.(type) {
	case json.Number:
		if _, err := v.Int64(); err != nil {
			return "float"
		}
		return "int"
	case string:
		return "string"
	case map[string]any:
		return "object"
	case []any:
		return "list"
	}
	return fmt.Sprintf("%T", v)
}

// typed is fio's JSON as Go programs such as kubestr decode it: what is an integer there must have no decimal
// point, or the whole document fails.
type typed struct {
	Version     string            `json:"fio version"`
	Timestamp   int64             `json:"timestamp"`
	TimestampMS int64             `json:"timestamp_ms"`
	Time        string            `json:"time"`
	Global      map[string]string `json:"global options"`
	Jobs        []struct {
		Name              string             `json:"jobname"`
		Group             int                `json:"groupid"`
		Start             int64              `json:"job_start"`
		Error             int                `json:"error"`
		ETA               int32              `json:"eta"`
		Elapsed           int                `json:"elapsed"`
		Options           map[string]string  `json:"job options"`
		Read              typedDirection     `json:"read"`
		Write             typedDirection     `json:"write"`
		Trim              typedDirection     `json:"trim"`
		Sync              typedDirection     `json:"sync"`
		Runtime           int32              `json:"job_runtime"`
		User              float32            `json:"usr_cpu"`
		System            float32            `json:"sys_cpu"`
		Switches          int32              `json:"ctx"`
		MajorFaults       int32              `json:"majf"`
		MinorFaults       int32              `json:"minf"`
		Depth             map[string]float32 `json:"iodepth_level"`
		Submit            map[string]float32 `json:"iodepth_submit"`
		Complete          map[string]float32 `json:"iodepth_complete"`
		NS                map[string]float32 `json:"latency_ns"`
		US                map[string]float32 `json:"latency_us"`
		MS                map[string]float32 `json:"latency_ms"`
		LatencyDepth      int32              `json:"latency_depth"`
		LatencyTarget     int32              `json:"latency_target"`
		LatencyPercentile float32            `json:"latency_percentile"`
		LatencyWindow     int32              `json:"latency_window"`
	} `json:"jobs"`
	Disks []struct {
		Name        string  `json:"name"`
		ReadIOs     int64   `json:"read_ios"`
		WriteIOs    int64   `json:"write_ios"`
		ReadMerges  int64   `json:"read_merges"`
		WriteMerges int64   `json:"write_merges"`
		ReadTicks   int64   `json:"read_ticks"`
		WriteTicks  int64   `json:"write_ticks"`
		InQueue     int64   `json:"in_queue"`
		Util        float32 `json:"util"`
	} `json:"disk_util"`
}

type typedDirection struct {
	Bytes      int64        `json:"io_bytes"`
	KBytes     int64        `json:"io_kbytes"`
	BWBytes    int64        `json:"bw_bytes"`
	BW         int64        `json:"bw"`
	IOPS       float32      `json:"iops"`
	Runtime    int64        `json:"runtime"`
	IOs        int64        `json:"total_ios"`
	Short      int64        `json:"short_ios"`
	Dropped    int64        `json:"drop_ios"`
	Slat       typedLatency `json:"slat_ns"`
	Clat       typedLatency `json:"clat_ns"`
	Lat        typedLatency `json:"lat_ns"`
	BWMin      int64        `json:"bw_min"`
	BWMax      int64        `json:"bw_max"`
	BWAgg      float32      `json:"bw_agg"`
	BWMean     float32      `json:"bw_mean"`
	BWDev      float32      `json:"bw_dev"`
	BWSamples  int32        `json:"bw_samples"`
	IOPSMin    int32        `json:"iops_min"`
	IOPSMax    int32        `json:"iops_max"`
	IOPSMean   float32      `json:"iops_mean"`
	IOPSStdDev float32      `json:"iops_stddev"`
	Samples    int32        `json:"iops_samples"`
}

type typedLatency struct {
	Min    int64   `json:"min"`
	Max    int64   `json:"max"`
	Mean   float32 `json:"mean"`
	StdDev float32 `json:"stddev"`
	N      int64   `json:"N"`
}

func decodeTyped(t *testing.T, text string) (list []*typed) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(text)); d.More(); {
		doc := &typed{}
		if err := d.Decode(doc); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		list = append(list, doc)
	}
	return list
}

// Each document of a run is one of Go's, and says how far the run is: the time left is a whole number, and 0 in the
// last.
func TestFioTyped(t *testing.T) {
	out := blkstorm(t, "fio", "--output-format=json", "--status-interval=1", "--ioengine=psync", "--gtod_reduce=1", "--filename=x", "--size=1m",
		"--name=a", "--rw=randrw", "--runtime=2500ms", "--time_based", "--rate_iops=200,100", "--name=b", "--stonewall", "--rw=write").want(t, 0)
	list := decodeTyped(t, out.stdout)
	if len(list) < 3 || out.stderr != "" {
		t.Fatalf("%d documents, %q", len(list), out.stderr)
	}
	var ios int64
	for i, d := range list {
		if len(d.Jobs) != 2 {
			t.Fatalf("document %d has %d jobs, also those to come count", i, len(d.Jobs))
		}
		a := &d.Jobs[0]
		if a.Read.IOs+a.Write.IOs < ios {
			t.Errorf("document %d has fewer I/Os than the one before", i)
		}
		ios = a.Read.IOs + a.Write.IOs
		if a.ETA < 0 || i == len(list)-1 && a.ETA != 0 || i == 0 && a.ETA == 0 {
			t.Errorf("document %d: %d s left", i, a.ETA)
		}
		if i == 0 && (d.Jobs[1].Write.IOs != 0 || d.Jobs[1].Start != 0) {
			t.Errorf("the second job has begun: %+v", d.Jobs[1])
		}
	}
	last := list[len(list)-1]
	a, b := &last.Jobs[0], &last.Jobs[1]
	if a.Name != "a" || a.Options["rw"] != "randrw" || last.Global["gtod_reduce"] != "1" || a.Read.Lat.N != a.Read.IOs || a.Read.Clat != a.Read.Lat || a.Read.Slat.N != 0 {
		t.Errorf("%+v", a)
	}
	if b.Write.Bytes != mib || b.Start < last.TimestampMS-60_000 || b.Group != 1 || b.Error != 0 {
		t.Errorf("%+v", b)
	}
}
