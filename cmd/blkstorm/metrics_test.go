package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"blkstorm/lab"
	"blkstorm/printable"
	"blkstorm/result"
)

// page is what a scrape gave: the value of each counter, and count and sum of each histogram, by name and
// labels.
type page map[series]float64

type series struct{ name, phase, ramp, stream, target, direction, code string }

// sum adds up those that keep wants.
func (p page) sum(keep func(series) bool) (v float64) {
	for s, one := range p {
		if keep(s) {
			v += one
		}
	}
	return v
}

// pageOf starts a command with a page of metrics and returns its address.
func pageOf(t *testing.T, p *process) string {
	t.Helper()
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stdout = &p.stdout
	p.begin()
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		if m := regexp.MustCompile(`metrics at (http://\S+)`).FindStringSubmatch(lines.Text()); m != nil {
			go func() { _, _ = io.Copy(io.Discard, stderr) }()
			return m[1]
		}
	}
	t.Fatal("the command does not say where its page is")
	return ""
}

// scrape reads the page, has the client library's linter look at it, and takes counters and counts out.
func scrape(t *testing.T, url string) page {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %v\n%s", resp.Status, err, text)
	}
	problems, err := promlint.New(strings.NewReader(string(text))).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("the linter says %v %v", problems, err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	all := page{}
	for name, f := range families {
		for _, m := range f.GetMetric() {
			s := series{name: strings.TrimPrefix(name, "blkstorm_")}
			for _, l := range m.GetLabel() {
				if field := map[string]*string{
					"phase": &s.phase, "ramp": &s.ramp, "stream": &s.stream, "target": &s.target, "direction": &s.direction, "code": &s.code,
				}[l.GetName()]; field != nil {
					*field = l.GetValue()
				}
			}
			switch f.GetType() {
			case dto.MetricType_COUNTER:
				all[s] = m.GetCounter().GetValue()
			case dto.MetricType_HISTOGRAM:
				base := s.name
				s.name = base + "_count"
				all[s] = float64(m.GetHistogram().GetSampleCount())
				s.name = base + "_sum"
				all[s] = m.GetHistogram().GetSampleSum()
			}
		}
	}
	return all
}

// Scraped during a run, the counters only grow, the page has no fault, and at the end it says what the
// document says.
func TestMetricsOfARun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	targets := []string{filepath.Join(dir, "a \"b\",\n\xff{}.img"), filepath.Join(dir, "second.img")}
	for _, path := range targets {
		if err := os.WriteFile(path, make([]byte, 16*mib), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "plan.yaml")
	if err := os.WriteFile(file, []byte(`schema: blkstorm.plan/1
targets: [{spec: /nowhere/a}, {spec: /nowhere/b}] # the command line has others: no YAML has a byte that is no UTF-8
phases:
  - kind: measure
    points:
      - ramp: 300ms
        runtime: 1s
        interval: 100ms
        streams:
          - {label: paced, targets: [0, 1], workload: {rw: randrw, bs: 4k}, iodepth: 2, pacing: {rate_iops: "500"}}
          - {label: free, targets: [1], workload: {rw: randwrite, bs: 8k, fsync: 16}}
      - runtime: 500ms
        interval: 100ms
        streams:
          - {label: paced, targets: [0], workload: {rw: randread, bs: 4k}}
  - {kind: idle, time: 3s}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(dir, "result")
	p := &process{t: t, cmd: command(t, "plan", "run", "--destroy", "--metrics", ":0", "--format", "json", "--dir", folder, file, targets[0], targets[1])}
	url := pageOf(t, p)
	var last page
	for range 30 {
		now := scrape(t, url)
		for key, v := range last {
			if n, there := now[key]; !there || n < v {
				t.Errorf("%+v was %v and is %v", key, v, n)
			}
		}
		last = now
		if idle(t, folder) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond)
	last = scrape(t, url) // the points are over
	out := p.waitFor(30 * time.Second)
	if out.status != exitGood {
		t.Fatalf("exit status %d", out.status)
	}
	if _, err := http.Get(url); err == nil {
		t.Error("the page is there after the run")
	}
	var doc result.Doc
	if err := json.Unmarshal([]byte(out.stdout), &doc); err != nil {
		t.Fatal(err)
	}
	comparePage(t, &doc, targets, last)
}

// idle says whether the result's points are all there.
func idle(t *testing.T, folder string) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "result.json"))
	if os.IsNotExist(err) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(text), `"window_s"`) == 2
}

// comparePage holds the sums of a page to those of a document. JSON has no bytes that are no UTF-8: the paths
// are the command line's.
func comparePage(t *testing.T, d *result.Doc, targets []string, all page) {
	t.Helper()
	for i, path := range targets {
		target := printable.Text(path)
		for _, dir := range []string{"read", "write", "sync"} {
			want := map[string]float64{}
			for _, p := range d.Points {
				s := map[string]*result.Stat{"read": p.Targets[i].Read, "write": p.Targets[i].Write, "sync": p.Targets[i].Sync}[dir]
				want["ios_total"] += float64(s.IOs)
				want["bytes_total"] += float64(s.Bytes)
				want["errors_total"] += float64(s.Errors)
				want["latency_seconds_count"] += float64(s.IOs)
				if s.OpenLoop != nil {
					want["offered_total"] += float64(s.Offered)
					want["late_total"] += float64(s.Late)
					want["missed_total"] += float64(s.Missed)
					want["response_seconds_count"] += float64(s.Response.Count)
				}
			}
			if dir != "sync" || i == 1 {
				if want["ios_total"] == 0 {
					t.Errorf("target %d: no %s was done", i, dir)
				}
			}
			for name, want := range want {
				got := all.sum(func(s series) bool {
					return s.name == name && s.target == target && s.direction == dir && s.ramp == "false" && s.phase == "measure"
				})
				if got != want {
					t.Errorf("target %d %s: %s is %v, the document has %v", i, dir, name, got, want)
				}
			}
		}
	}
	ramp := all.sum(func(s series) bool { return s.name == "ios_total" && s.ramp == "true" })
	if want := float64(d.Points[0].RampIOs); ramp != want || want == 0 {
		t.Errorf("%v I/Os in the ramp, the document has %v", ramp, want)
	}
	// The mean is rounded to a nanosecond in the document.
	writes, got := d.Points[0].Targets[1].Write, all.sum(func(s series) bool {
		return s.name == "latency_seconds_sum" && s.target == d.Targets[1].Path && s.direction == "write" && s.ramp == "false"
	})
	if want := float64(writes.Latency.Mean) * float64(writes.IOs); math.Abs(got*1e9-want) > float64(writes.IOs) {
		t.Errorf("%v s of latency, the document has %v ns", got, want)
	}
	// Each point's warnings are counted, and the run's.
	warnings := len(d.Warnings)
	for _, p := range d.Points {
		warnings += len(p.Warnings)
	}
	if got := all.sum(func(s series) bool { return s.name == "warnings_total" }); got != float64(warnings) {
		t.Errorf("%v warnings, the document has %d", got, warnings)
	}
}

// Before any I/O, and before a file is made, a bad address or a port that is taken ends it.
func TestMetricsAddress(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for address, want := range map[string]string{
		taken.Addr().String():                                "another program has that port",
		fmt.Sprintf(":%d", taken.Addr().(*net.TCPAddr).Port): "another program has that port",
		"9100": `--metrics: "9100" is no address`, "192.0.2.1:0": "this machine has no such address",
	} {
		p := start(t, "", "run", "--size", "1m", "--runtime", "100ms", "--metrics", address, "new.img")
		out := p.wait().want(t, exitUsage, want)
		if files, err := os.ReadDir(p.cmd.Dir); err != nil || len(files) > 0 || out.stdout != "" {
			t.Errorf("%s: left %v, %v, and printed %q", address, files, err, out.stdout)
		}
	}
	blkstorm(t, "run", "--dry-run", "--size", "1m", "--metrics", "x", "new.img").want(t, exitUsage, "--metrics")
}

// A device that does not answer: the page does, and says that nothing completes.
func TestMetricsOfAHungDevice(t *testing.T) {
	t.Parallel()
	disk := lab.NewProgrammable(t, 16*mib)
	for _, engine := range []string{"psync", "io_uring"} {
		p := &process{t: t, cmd: command(t, "run", "--engine", engine, "--runtime", "4s", "--interval", "200ms", "--grace", "1s", "--metrics", ":0", "--format", "json", disk.Dev)}
		url := pageOf(t, p)
		done := func(s series) bool { return s.name == "ios_total" }
		for range 30 { // until a row with I/Os has ended
			if scrape(t, url).sum(done) > 0 {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		disk.Hang(lab.Reads)
		time.Sleep(600 * time.Millisecond) // rows that have begun before are over
		first := scrape(t, url)
		time.Sleep(500 * time.Millisecond)
		if before, after := first.sum(done), scrape(t, url).sum(done); before == 0 || before != after {
			t.Errorf("%s: %v I/Os, then %v", engine, before, after)
		}
		time.Sleep(time.Until(p.since.Add(9 * time.Second))) // runtime, grace, and time for a busy machine
		disk.Release()
		p.waitFor(30*time.Second).want(t, exitFaults)
	}
}
