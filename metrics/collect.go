package metrics

import (
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// The labels of what is counted by row.
var (
	streamLabels    = []string{"phase", "ramp", "stream", "target", "direction"}
	histogramLabels = []string{"phase", "ramp", "target", "direction"}
)

func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("blkstorm_"+name, help, labels, nil)
}

// What is on the page. docs/metrics.md tells of each.
var (
	iosDesc     = describe("ios_total", "I/Os completed in rows, without those that failed or fell short.", streamLabels...)
	bytesDesc   = describe("bytes_total", "Bytes that these I/Os moved or trimmed.", streamLabels...)
	errorsDesc  = describe("errors_total", "I/Os that failed.", streamLabels...)
	shortDesc   = describe("short_total", "I/Os that moved less than asked.", streamLabels...)
	zeroDesc    = describe("zero_total", "I/Os that moved nothing, without an error.", streamLabels...)
	offeredDesc = describe("offered_total", "Of the I/Os planned in windows, those submitted in them; counted when a point ends.", streamLabels...)
	lateDesc    = describe("late_total", "Of the offered I/Os, those submitted over 1 ms after their time; counted when a point ends.", streamLabels...)
	missedDesc  = describe("missed_total", "I/Os planned in windows and not submitted when they ended; counted when a point ends.", streamLabels...)

	latencyDesc  = describe("latency_seconds", "Service time: from before the submission to the completion.", histogramLabels...)
	responseDesc = describe("response_seconds", "Response time: from the planned time to the completion.", histogramLabels...)

	buildDesc    = describe("build_info", "This program.", "version", "go_version")
	runDesc      = describe("run_info", "This run.", "id", "host")
	startDesc    = describe("start_time_seconds", "When the run began, since the epoch.")
	targetDesc   = describe("target_info", "A target and its drive.", "target", "kind", "model", "serial", "firmware", "transport")
	sizeDesc     = describe("target_size_bytes", "Size of a target.", "target")
	heatDesc     = describe("target_temperature_celsius", "Temperature of a target's drive.", "target")
	pointDesc    = describe("point_info", "The running point; none between points.", "phase", "label")
	indexDesc    = describe("point_index", "Index of the running or last point in the document, from 0.")
	pointsDesc   = describe("points", "How many points the plan has; not there in a search.")
	leftDesc     = describe("point_remaining_seconds", "How long the running point still takes, at most; not there when nobody knows.")
	planLeftDesc = describe("plan_remaining_seconds", "How long the plan still takes, at most; not there when nobody knows.")
	inflightDesc = describe("inflight_ios", "I/Os in flight: the sum over the threads of the most that each had in the last row.")
	askedDesc    = describe("inflight_asked_ios", "I/Os to keep in flight: threads x depth of all streams and targets of the running point.")
	rowDesc      = describe("row_end_timestamp_seconds", "When the last row ended, since the epoch.")
	cpuDesc      = describe("host_cpu_ratio", "Part of the machine's CPU time in the last row.", "mode")
	warningsDesc = describe("warnings_total", "Warnings of the run and of points that have ended.", "code")
)

var cpuModes = [4]string{"user", "system", "iowait", "steal"}

// descs lists all of the page.
var descs = []*prometheus.Desc{
	iosDesc, bytesDesc, errorsDesc, shortDesc, zeroDesc, offeredDesc, lateDesc, missedDesc, latencyDesc, responseDesc,
	buildDesc, runDesc, startDesc, targetDesc, sizeDesc, heatDesc, pointDesc, indexDesc, pointsDesc, leftDesc, planLeftDesc,
	inflightDesc, askedDesc, rowDesc, cpuDesc, warningsDesc,
}

// Describe lists the metrics, for a registry.
func (e *Exporter) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range descs {
		ch <- d
	}
}

// Collect makes the metrics of a page from a copy of the figures.
func (e *Exporter) Collect(ch chan<- prometheus.Metric) {
	f := e.snapshot()
	p := page{ch: ch, created: e.started}
	p.gauge(buildDesc, 1, e.version, runtime.Version())
	p.gauge(startDesc, seconds(e.started))
	if f.id != "" {
		p.gauge(runDesc, 1, f.id, f.host)
	}
	p.targets(&f)
	p.progress(&f, e.now())
	for key, c := range f.streams {
		labels := []string{key.phase, key.ramp, key.stream, key.target, key.direction}
		if key.direction != undrawn {
			p.counter(iosDesc, c.ios, labels...)
			p.counter(bytesDesc, c.bytes, labels...)
			p.counter(errorsDesc, c.errors, labels...)
			p.counter(shortDesc, c.short, labels...)
			p.counter(zeroDesc, c.zero, labels...)
		}
		if c.open && key.direction != undrawn {
			p.counter(offeredDesc, c.offered, labels...)
			p.counter(lateDesc, c.late, labels...)
		}
		if c.open {
			p.counter(missedDesc, c.missed, labels...)
		}
	}
	for key, h := range f.histograms {
		labels := []string{key.phase, key.ramp, key.target, key.direction}
		p.histogram(latencyDesc, &h.latency, labels)
		if h.response != nil {
			p.histogram(responseDesc, h.response, labels)
		}
	}
	for code, n := range f.warnings {
		p.counter(warningsDesc, n, code)
	}
}

// snapshot is a copy that does not change. What the other slices hold is never changed.
func (e *Exporter) snapshot() figures {
	e.mu.Lock()
	defer e.mu.Unlock()
	f := e.figures
	f.heat = append([]*float64(nil), f.heat...)
	f.streams = make(map[streamKey]*counts, len(e.figures.streams))
	for key, c := range e.figures.streams {
		one := *c
		f.streams[key] = &one
	}
	f.histograms = make(map[histogramKey]*pair, len(e.figures.histograms))
	for key, h := range e.figures.histograms {
		one := pair{latency: h.latency.clone()}
		if h.response != nil {
			response := h.response.clone()
			one.response = &response
		}
		f.histograms[key] = &one
	}
	f.warnings = make(map[string]uint64, len(e.figures.warnings))
	for code, n := range e.figures.warnings {
		f.warnings[code] = n
	}
	return f
}

// page hands metrics on as they are made. All label values come from label, so that none is refused.
type page struct {
	ch      chan<- prometheus.Metric
	created time.Time
}

func (p *page) gauge(d *prometheus.Desc, v float64, labels ...string) {
	p.ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

func (p *page) counter(d *prometheus.Desc, n uint64, labels ...string) {
	p.ch <- prometheus.MustNewConstMetricWithCreatedTimestamp(d, prometheus.CounterValue, float64(n), p.created, labels...)
}

// histogram hands on a distribution in both forms, of which the server takes the one that it knows.
func (p *page) histogram(d *prometheus.Desc, h *distribution, labels []string) {
	native := prometheus.MustNewConstNativeHistogram(d, h.count, h.sum, h.buckets(), nil, h.zero, schema, 0, p.created, labels...)
	p.ch <- both{native, prometheus.MustNewConstHistogram(d, h.count, h.sum, h.cumulative(), labels...)}
}

// both is a histogram with native and classic buckets.
type both struct {
	prometheus.Metric // native
	classic           prometheus.Metric
}

// Write adds the classic buckets to the native ones.
func (b both) Write(out *dto.Metric) error {
	var classic dto.Metric
	if err := b.classic.Write(&classic); err != nil {
		return err
	}
	if err := b.Metric.Write(out); err != nil {
		return err
	}
	out.Histogram.Bucket = classic.Histogram.Bucket
	return nil
}

// targets are a series each; the same target twice is one.
func (p *page) targets(f *figures) {
	seen := map[string]bool{}
	for i, t := range f.targets {
		if seen[t.name] {
			continue
		}
		seen[t.name] = true
		p.gauge(targetDesc, 1, t.name, t.kind, t.model, t.serial, t.firmware, t.transport)
		p.gauge(sizeDesc, float64(t.size), t.name)
		if f.heat[i] != nil {
			p.gauge(heatDesc, *f.heat[i], t.name)
		}
	}
}

// progress says where the run is.
func (p *page) progress(f *figures, now time.Time) {
	if f.phase == "" {
		return // nothing has begun
	}
	p.gauge(indexDesc, float64(f.index))
	if f.of >= 0 {
		p.gauge(pointsDesc, float64(f.of))
	}
	if f.running {
		p.gauge(pointDesc, 1, f.phase, f.label)
	}
	point, known, whole, wholeKnown := f.left(now)
	if known {
		p.gauge(leftDesc, point.Seconds())
	}
	if known && wholeKnown {
		p.gauge(planLeftDesc, whole.Seconds())
	}
	p.gauge(inflightDesc, float64(f.inflight))
	p.gauge(askedDesc, float64(f.asked))
	if f.rowEnd.IsZero() {
		return
	}
	p.gauge(rowDesc, seconds(f.rowEnd))
	for i, mode := range cpuModes {
		p.gauge(cpuDesc, f.cpu[i], mode)
	}
}

// seconds are those since the epoch.
func seconds(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }
