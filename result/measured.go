package result

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"blkstorm/histogram"
)

// Figure is one measured figure of the point by its name; it is how thresholds ask. The direction is
// total, read, write, trim or sync, and names are iops, bw (bytes per second), errors, short (transfers that moved
// less than asked, or nothing), and latency.mean, latency.min, latency.max, latency.stddev, latency.p99.9 for any
// percentile (nanoseconds), and the same after "response.", of paced runs; without a direction cpu and steal (percent
// of the machine). The error says why there is no such figure: no I/O completed in that direction, or it is not
// measured.
func (p *Point) Figure(direction, name string) (float64, error) {
	switch name {
	case "cpu":
		return p.CPU.UserPct + p.CPU.SystemPct, nil
	case "steal":
		return p.CPU.StealPct, nil
	}
	s := map[string]*Stat{"total": p.Total, "read": p.Read, "write": p.Write, "trim": p.Trim, "sync": p.Sync}[direction]
	if s == nil {
		return 0, fmt.Errorf("the point has no direction %q", direction)
	}
	switch name {
	case "errors":
		return float64(s.Errors), nil
	case "short":
		return float64(s.Short + s.Zero), nil
	}
	of := " of direction " + direction
	if direction == "total" {
		of = ""
	}
	if s.IOs == 0 {
		return 0, errors.New("no I/O" + of + " completed in the window")
	}
	switch name {
	case "iops":
		return s.IOPS, nil
	case "bw":
		return s.BytesPerS, nil
	}
	if figure, found := strings.CutPrefix(name, "latency."); found && s.Latency != nil {
		return s.Latency.figure(figure)
	}
	if figure, found := strings.CutPrefix(name, "response."); found {
		if s.OpenLoop == nil || s.Response == nil || s.Response.Count == 0 {
			return 0, fmt.Errorf("%s%s was not measured: only I/Os with a planned time have a response time (--rate-iops)", name, of)
		}
		return s.Response.figure(figure)
	}
	return 0, fmt.Errorf("%s%s was not measured", name, of)
}

// figure is one figure of a latency of which there were any.
func (l *Latency) figure(name string) (float64, error) {
	switch name {
	case "mean":
		return float64(l.Mean), nil
	case "min":
		return float64(l.Min), nil
	case "max":
		return float64(l.Max), nil
	case "stddev":
		return float64(l.StdDev), nil
	}
	key, found := strings.CutPrefix(name, "p")
	p, err := strconv.ParseFloat(key, 64)
	if !found || err != nil || !(p > 0 && p <= 100) {
		return 0, fmt.Errorf("latency has no figure %q", name)
	}
	if v, ok := l.Percentiles[PercentileKey(p)]; ok {
		return float64(v), nil
	}
	// The document shows the percentiles that were asked for; the histogram has them all.
	h, err := l.histogram()
	if err != nil {
		return 0, fmt.Errorf("percentile %s is not in the result: %w", key, err)
	}
	return float64(h.Percentile(p)), nil
}

// histogram is what the document has of the latency, with its exact figures.
func (l *Latency) histogram() (*histogram.Histogram, error) {
	h, err := histogram.Decode(l.HDR)
	if err == nil {
		err = h.Restore(l.Min, l.Max, float64(l.Mean), float64(l.StdDev))
	}
	return h, err
}

// KnowsCPU says whether the point has what the CPUs did: fio's results have not.
func (p *Point) KnowsCPU() bool { return p.CPU != CPU{} || p.Process.CPUs > 0 }
