package steady

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"blkstorm/unit"
)

// Metric is the tracked figure of a round.
type Metric uint8

// The metrics that can be tracked.
const (
	IOPS      Metric = iota // I/Os per second
	Bandwidth               // bytes per second
	Mean                    // mean latency, nanoseconds
	P99                     // 99th percentile of the latency, nanoseconds
	metrics
)

var metricNames = [...]string{"iops", "bandwidth", "mean", "p99"}

func (m Metric) String() string {
	if m >= metrics {
		return fmt.Sprintf("metric(%d)", m)
	}
	return metricNames[m]
}

// MarshalText writes the metric as UnmarshalText reads it.
func (m Metric) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads iops, bandwidth (or bw), mean (or lat) and p99.
func (m *Metric) UnmarshalText(text []byte) error {
	name := strings.ToLower(strings.TrimSpace(string(text)))
	switch name {
	case "bw":
		name = "bandwidth"
	case "lat":
		name = "mean"
	}
	for i, known := range metricNames {
		if name == known {
			*m = Metric(i)
			return nil
		}
	}
	return fmt.Errorf("--steady-metric %q: unknown; known are %s", text, strings.Join(metricNames[:], ", "))
}

// Kind is a way to judge a window.
type Kind uint8

// The kinds of rules.
const (
	SNIA         Kind = iota // range and fitted range, both within their limits; equality is steady
	FioDeviation             // fio's iops, bw, lat: all rounds nearer to the mean than Limit
	FioSlope                 // fio's iops_slope, bw_slope, lat_slope: |slope per round| below Limit
)

var kindNames = [...]string{"snia", "fio-deviation", "fio-slope"}

func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		return fmt.Sprintf("rule(%d)", k)
	}
	return kindNames[k]
}

// MarshalText writes the kind as UnmarshalText reads it.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads snia, fio-deviation and fio-slope.
func (k *Kind) UnmarshalText(text []byte) error {
	for i, known := range kindNames {
		if string(text) == known {
			*k = Kind(i)
			return nil
		}
	}
	return fmt.Errorf("--steady-rule %q: unknown; known are %s", text, strings.Join(kindNames[:], ", "))
}

// Limit is fio's limit: a value in the metric's unit, or in percent of the window's mean.
type Limit struct {
	Value   float64
	Percent bool
}

func (l Limit) String() string {
	s := strconv.FormatFloat(l.Value, 'f', -1, 64)
	if l.Percent {
		s += "%"
	}
	return s
}

// MarshalText writes the limit as UnmarshalText reads it.
func (l Limit) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText reads a number of at least 0, in decimals, with a % after it for a share of the mean.
func (l *Limit) UnmarshalText(text []byte) error {
	number, percent := strings.CutSuffix(strings.TrimSpace(string(text)), "%")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || strings.Trim(number, "0123456789.") != "" {
		return fmt.Errorf("steadystate limit %q: must be a number of at least 0, or a percentage such as 0.3%%", text)
	}
	*l = Limit{Value: v, Percent: percent}
	return nil
}

// broken says that a figure is not below the limit: fio's rules do not count equality as steady.
func (l Limit) broken(what string, value, pct float64) string {
	if l.Percent {
		if pct < l.Value {
			return ""
		}
		return fmt.Sprintf("%s %.3g %% of the mean, must be below %v", what, pct, l)
	}
	if value < l.Value {
		return ""
	}
	return fmt.Sprintf("%s %.6g, must be below %v", what, value, l)
}

// ParseFio reads fio's steadystate=CRITERION:LIMIT, as in "iops:20%" or "bw_slope:1000"; duration and
// interval are its steadystate_duration and steadystate_check_interval (1 s, if it is not given). The window is
// duration / interval rounds, and MaxRounds is 0: the job's own end is the limit. fio divides
// by a mean that is rounded down for percentages of slopes; here it is exact. Limits of lat are in nanoseconds.
func ParseFio(text string, duration, interval time.Duration) (Rule, error) {
	criterion, limit, found := strings.Cut(strings.TrimSpace(text), ":")
	if !found {
		return Rule{}, fmt.Errorf("steadystate=%s: must be a criterion and a limit, as in iops_slope:0.3%%", text)
	}
	r := Rule{Kind: FioDeviation, Round: interval}
	metric, slope := strings.CutSuffix(criterion, "_slope")
	if slope {
		r.Kind = FioSlope
	}
	switch metric {
	case "iops":
		r.Metric = IOPS
	case "bw":
		r.Metric = Bandwidth
	case "lat":
		r.Metric = Mean
	default:
		return Rule{}, fmt.Errorf("steadystate=%s: unknown criterion %q; known are iops, bw, lat, iops_slope, bw_slope, lat_slope", text, criterion)
	}
	if err := r.Limit.UnmarshalText([]byte(limit)); err != nil {
		return Rule{}, fmt.Errorf("steadystate=%s: %w", text, err)
	}
	if interval < MinRound || duration/interval < MinWindow || duration/interval > MaxWindow {
		return Rule{}, fmt.Errorf("steadystate_duration %v, steadystate_check_interval %v: the duration must hold from %d to %d intervals, of at least %v",
			duration, interval, MinWindow, MaxWindow, MinRound)
	}
	r.Window = int(duration / interval)
	return r, r.Validate()
}

// String says the rule in words.
func (r *Rule) String() string {
	s := fmt.Sprintf("%v over %d rounds", r.Metric, r.Window)
	if r.Round > 0 {
		s += fmt.Sprintf(" of %v", r.Round)
	}
	s += ": "
	switch r.Kind {
	case FioDeviation:
		s += fmt.Sprintf("all within less than %v of the mean", r.Limit)
	case FioSlope:
		s += fmt.Sprintf("slope per round below %v", r.Limit)
	default:
		s += fmt.Sprintf("range within %g %%, fitted range within %g %% of the mean", r.RangePct, r.FittedPct)
	}
	if r.MaxRounds > 0 {
		s += fmt.Sprintf("; at most %d rounds", r.MaxRounds)
	}
	return s
}

// form is a Rule in files: times as people write them.
type form struct {
	Metric    Metric  `json:"metric" yaml:"metric"`
	Kind      Kind    `json:"rule" yaml:"rule"`
	Window    int     `json:"window" yaml:"window"`
	RangePct  float64 `json:"range_pct,omitempty" yaml:"range_pct,omitempty"`
	FittedPct float64 `json:"fitted_pct,omitempty" yaml:"fitted_pct,omitempty"`
	Limit     *Limit  `json:"limit,omitempty" yaml:"limit,omitempty"`
	MaxRounds int     `json:"max_rounds" yaml:"max_rounds"`
	Round     length  `json:"round" yaml:"round"`
}

type length time.Duration

func (l length) MarshalText() ([]byte, error) { return []byte(time.Duration(l).String()), nil }

func (l *length) UnmarshalText(text []byte) error {
	d, err := unit.Duration(string(text))
	*l = length(d)
	if err != nil {
		return fmt.Errorf("--steady-round: %w", err)
	}
	return nil
}

func (r Rule) form() form {
	f := form{r.Metric, r.Kind, r.Window, r.RangePct, r.FittedPct, nil, r.MaxRounds, length(r.Round)}
	if r.Kind != SNIA {
		f.Limit = &r.Limit
	}
	return f
}

// decode fills the rule from a file that may leave out what has a default.
func (r *Rule) decode(into func(any) error) error {
	var keys map[string]any // not form: its defaults depend on the rule
	d := Default()
	if err := into(&keys); err == nil && keys["rule"] != nil && keys["rule"] != SNIA.String() {
		d.RangePct, d.FittedPct, d.MaxRounds, d.Round = 0, 0, 0, time.Second
	}
	f := d.form()
	if err := into(&f); err != nil {
		return err
	}
	*r = Rule{Metric: f.Metric, Kind: f.Kind, Window: f.Window, RangePct: f.RangePct, FittedPct: f.FittedPct,
		MaxRounds: f.MaxRounds, Round: time.Duration(f.Round)}
	if f.Limit != nil {
		r.Limit = *f.Limit
	}
	return nil
}

// MarshalJSON writes an object with the keys metric, rule, window, range_pct, fitted_pct, limit, max_rounds, round.
func (r Rule) MarshalJSON() ([]byte, error) { return json.Marshal(r.form()) }

// UnmarshalJSON reads what MarshalJSON writes. Keys left out have their default, an unknown one is an
// error. It does not validate.
func (r *Rule) UnmarshalJSON(b []byte) error {
	return r.decode(func(v any) error {
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		return d.Decode(v)
	})
}

// MarshalYAML gives an encoder of YAML the same keys.
func (r Rule) MarshalYAML() (any, error) { return r.form(), nil }

// UnmarshalYAML reads the same keys, in the form that the YAML packages in use have in common.
func (r *Rule) UnmarshalYAML(unmarshal func(any) error) error { return r.decode(unmarshal) }
