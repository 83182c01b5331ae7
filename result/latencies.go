package result

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"

	"blkstorm/histogram"
)

// IntervalLatency is what a line of latency.hlog says: the latencies of one direction of a stream on a target in one
// interval of a window.
type IntervalLatency struct {
	Point       int      `json:"point"` // index into Doc.Points
	Label       string   `json:"label"` // of the point
	Phase       string   `json:"phase"`
	Stream      string   `json:"stream"` // its label; its index where it has none
	Target      string   `json:"target"` // path
	Direction   string   `json:"direction"`
	StartUnixNS int64    `json:"start_unix_ns"`
	LengthS     float64  `json:"length_s"`
	Latency     *Latency `json:"latency_ns"`
}

// NewIntervalLatency fills in what a document knows of the point, and the figures of h. Those that were asked for
// when d was measured are its percentiles.
func (d *Doc) NewIntervalLatency(point int, start time.Time, length time.Duration, h *histogram.Histogram) (*IntervalLatency, error) {
	l := &IntervalLatency{Point: point, StartUnixNS: start.UnixNano(), LengthS: seconds(length)}
	if point < len(d.Points) {
		l.Label, l.Phase = d.Points[point].Label, d.Points[point].Phase
	}
	m := maker{percentiles: d.Percentiles}
	if len(m.percentiles) == 0 {
		m.percentiles = DefaultPercentiles
	}
	l.Latency = m.latency(h)
	return l, m.err
}

// WriteNDJSONLatency writes the line of an interval's latencies.
func WriteNDJSONLatency(w io.Writer, l *IntervalLatency) error {
	return writeLine(w, struct {
		Type string `json:"type"`
		*IntervalLatency
	}{"latency", l})
}

// LatencyCSV writes latencies of intervals as CSV, in the form of WriteCSV.
type LatencyCSV struct {
	doc   *Doc
	keys  []string // of the percentiles
	out   *bufio.Writer
	csv   *csv.Writer
	begun bool
}

// NewLatencyCSV makes a writer for intervals of d. Close it, or the end is missing.
func NewLatencyCSV(w io.Writer, d *Doc) *LatencyCSV {
	c := &LatencyCSV{doc: d, out: bufio.NewWriterSize(w, 1<<16)}
	c.csv = csv.NewWriter(c.out)
	percentiles := d.Percentiles
	if len(percentiles) == 0 {
		percentiles = DefaultPercentiles
	}
	for _, p := range percentiles {
		c.keys = append(c.keys, PercentileKey(p))
	}
	c.keys = ascending(c.keys)
	return c
}

// Row writes one line.
func (c *LatencyCSV) Row(l *IntervalLatency) error {
	if !c.begun {
		c.begun = true
		head := []string{
			"run_id", "point", "label", "phase", "stream", "target", "direction", "start", "start_unix_ns", "length_s", "ios", "iops",
			"lat_mean_ns", "lat_stddev_ns", "lat_min_ns",
		}
		if err := c.csv.Write(append(append(head, percentileColumns(c.keys)...), "lat_max_ns")); err != nil {
			return fmt.Errorf("latencies as CSV: %w", err)
		}
	}
	row := []string{
		csvText(c.doc.ID), strconv.Itoa(l.Point), csvText(l.Label), csvText(l.Phase), csvText(l.Stream), csvText(l.Target), csvText(l.Direction),
		time.Unix(0, l.StartUnixNS).UTC().Format(time.RFC3339Nano), strconv.FormatInt(l.StartUnixNS, 10), plain(l.LengthS),
		count(l.Latency.Count), rate(l.Latency.Count, l.LengthS),
	}
	if err := c.csv.Write(append(row, csvLatency(l.Latency, c.keys)...)); err != nil {
		return fmt.Errorf("latencies as CSV: %w", err)
	}
	return nil
}

// Close writes what is left.
func (c *LatencyCSV) Close() error { return flush(c.csv, c.out) }
