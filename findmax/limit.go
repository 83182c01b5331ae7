package findmax

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"blkstorm/unit"
)

// Metric is the figure of the response times that a limit is about.
type Metric string

// The metrics.
const (
	Percentile Metric = "p"
	Mean       Metric = "mean"
	Max        Metric = "max"
)

// Limit is what response times must stay within: "p99=1ms", "mean=500us", "max=10ms".
type Limit struct {
	Metric     Metric
	Percentile float64       // over 0 and up to 99.99999, with Percentile only
	Under      time.Duration // over 0; a value that equals it is within
}

// maxUnder is the longest time that a limit can have: longer waits are no storage's.
const maxUnder = time.Hour

// maxPercentile needs a hundred million I/Os to be judged by.
const maxPercentile = 99.99999

// ParseLimit reads METRIC=TIME, METRIC<TIME or METRIC<=TIME, where METRIC is pN, mean or max.
func ParseLimit(s string) (Limit, error) {
	name, value, found := strings.Cut(strings.ReplaceAll(s, "<", "="), "=")
	value = strings.TrimPrefix(value, "=") // of <=
	if !found || strings.Contains(value, "=") || strings.Contains(s, "=<") || strings.Contains(s, "==") || strings.Contains(s, "<<") {
		return Limit{}, fmt.Errorf("%q: want METRIC=TIME, such as p99=1ms, mean=500us or max=10ms", s)
	}
	l := Limit{Metric: Metric(strings.TrimSpace(name))}
	if p, ok := strings.CutPrefix(string(l.Metric), string(Percentile)); ok {
		v, err := strconv.ParseFloat(p, 64)
		if err != nil || strings.Trim(p, "0123456789.") != "" || !(v > 0 && v <= maxPercentile) {
			return Limit{}, fmt.Errorf("%q: %q is no percentile over 0 and up to %v, such as p99.9; the longest of all is max", s, l.Metric, maxPercentile)
		}
		l.Metric, l.Percentile = Percentile, v
	} else if l.Metric != Mean && l.Metric != Max {
		return Limit{}, fmt.Errorf("%q: %q is no figure to limit; known are pN (such as p99), mean and max", s, l.Metric)
	}
	value = strings.TrimSpace(value)
	if strings.TrimLeft(value, "0123456789.") == "" {
		return Limit{}, fmt.Errorf("%q: the time %q has no unit, such as 1ms or 500us", s, value)
	}
	under, err := unit.Duration(value)
	if err != nil {
		return Limit{}, fmt.Errorf("%q: %w", s, err)
	}
	if under <= 0 || under > maxUnder {
		return Limit{}, fmt.Errorf("%q: the time must be over 0 and at most %v", s, maxUnder)
	}
	l.Under = under
	return l, nil
}

// Name is the metric as people write it: "p99.9", "mean", "max".
func (l Limit) Name() string {
	if l.Metric != Percentile {
		return string(l.Metric)
	}
	return string(Percentile) + strconv.FormatFloat(l.Percentile, 'f', -1, 64)
}

func (l Limit) String() string {
	if l.IsZero() {
		return ""
	}
	return l.Name() + "=" + l.Under.String()
}

// IsZero says whether this is no limit.
func (l Limit) IsZero() bool { return l == Limit{} }

// MarshalText writes the limit as ParseLimit reads it.
func (l Limit) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads what ParseLimit reads.
func (l *Limit) UnmarshalText(text []byte) error {
	v, err := ParseLimit(string(text))
	if err == nil {
		*l = v
	}
	return err
}

// A figure is trusted when it rests on this many I/Os, and a percentile when this many lie beyond it.
const (
	minIOs    = 1000
	minBeyond = 10
)

// MinIOs is how many I/Os the metric needs to be judged by: 1000, and for a percentile so many that
// 10 of them lie beyond it. It is a float because some percentiles need more than any run has.
func (l Limit) MinIOs() float64 {
	if l.Metric != Percentile {
		return minIOs
	}
	return max(minIOs, math.Ceil(minBeyond/(1-l.Percentile/100)-1e-6))
}
