package compare

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"blkstorm/threshold"
	"blkstorm/unit"
)

// DefaultMetrics are compared when none are named.
var DefaultMetrics = []string{"iops", "bw", "mean", "p50", "p99", "p99.9", "max"}

// directions are those a point may have, in the order of tables.
var directions = []string{"total", "read", "write", "trim", "sync"}

// Metric is something to compare: a figure by the name that result.Point.Figure knows.
type Metric struct {
	Direction string // empty is each in which I/Os completed
	Figure    string
}

// ParseMetric reads [DIRECTION.][response.]NAME, in the words of thresholds.
func ParseMetric(text string) (Metric, error) {
	direction, figure, err := threshold.ParseFigure(text)
	if err != nil {
		return Metric{}, fmt.Errorf("%q: %w", text, err)
	}
	switch figure {
	case "errors", "short", "cpu", "steal":
		return Metric{}, fmt.Errorf("%q: is not compared; an --assert holds it to a limit", text)
	}
	m := Metric{Direction: direction, Figure: figure}
	if direction == "total" && !strings.HasPrefix(strings.ToLower(strings.TrimSpace(text)), "total.") {
		m.Direction = ""
	}
	return m, nil
}

// ParseMetrics reads a list of them, with commas between.
func ParseMetrics(list string) (out []Metric, err error) {
	for text := range strings.SplitSeq(list, ",") {
		m, err := ParseMetric(text)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// name is the figure as people write it.
func (m Metric) name() string { return strings.TrimPrefix(m.Figure, "latency.") }

// String is the metric as ParseMetric reads it.
func (m Metric) String() string {
	if m.Direction == "" {
		return m.name()
	}
	return m.Direction + "." + m.name()
}

// percentile is that of a percentile of the latency or of the response time.
func (m Metric) percentile() (p float64, ok bool) {
	_, name, _ := strings.Cut(m.Figure, ".")
	number, ok := strings.CutPrefix(name, "p")
	if !ok {
		return 0, false
	}
	p, err := strconv.ParseFloat(number, 64)
	return p, err == nil
}

// rate says that more is better.
func (m Metric) rate() bool { return m.Figure == "iops" || m.Figure == "bw" }

func (m Metric) unit() string {
	switch m.Figure {
	case "iops":
		return "1/s"
	case "bw":
		return "bytes/s"
	}
	return "ns"
}

// show writes a value of the figure for people.
func (f *Figure) show(v *float64) string {
	switch {
	case v == nil:
		return "-"
	case f.Unit == "ns":
		return unit.Nanos(*v)
	case f.Unit == "bytes/s":
		return figure(*v/1e6) + " MB/s"
	}
	return figure(*v)
}

// figure writes a number of at least 0 with three digits that mean something, and whole from 1000 on.
func figure(v float64) string {
	switch {
	case v >= 1e15:
		return strconv.FormatFloat(v, 'g', 6, 64)
	case v >= 1000:
		return humanize.Comma(int64(math.Round(v)))
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}

// percent writes a change with its sign, as exact as its size asks for.
func percent(v *float64) string {
	if v == nil {
		return "?"
	}
	places := 2
	switch a := math.Abs(*v); {
	case a >= 1e6:
		return strconv.FormatFloat(*v, 'e', 1, 64) + " %"
	case a >= 100:
		places = 0
	case a >= 10:
		places = 1
	}
	text := strconv.FormatFloat(*v, 'f', places, 64)
	if strings.Trim(text, "-0.") == "" {
		return "0 %"
	}
	if *v > 0 {
		text = "+" + text
	}
	return text + " %"
}
