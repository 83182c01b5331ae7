// Package threshold holds results to stated limits: `p99<2ms`, `write.iops>=50000`.
//
// Flags and plans carry an Assert each; whoever ends a run checks them against its points. It knows the
// words of the grammar and their units, not the document: figures come through Source.
package threshold

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"blkstorm/unit"
)

// Op is a comparison.
type Op string

// The comparisons.
const (
	Less           Op = "<"
	LessOrEqual    Op = "<="
	Greater        Op = ">"
	GreaterOrEqual Op = ">="
	Equal          Op = "=="
	NotEqual       Op = "!="
)

// holds says whether a compared with b is as the operator says.
func (o Op) holds(a, b float64) bool {
	switch o {
	case Less:
		return a < b
	case LessOrEqual:
		return a <= b
	case Greater:
		return a > b
	case GreaterOrEqual:
		return a >= b
	case Equal:
		return a == b
	default:
		return a != b
	}
}

// Assert is one limit: a figure, a comparison, a value. The zero value is not valid; Parse makes them.
type Assert struct {
	Direction string // total, read, write, trim or sync; empty for figures of the machine
	// Figure is a name that Source knows: "iops", "bw", "errors", "short", "cpu", "steal",
	// "latency.mean", "latency.p99.9", "response.max", …
	Figure string
	Op     Op
	// Value is in nanoseconds, bytes per second, I/Os per second, a count, or percent.
	Value float64
}

// Source has the figures of one point. An error says why there is no such figure, as when no I/O
// completed in that direction: then no assert about it is met. Latencies are nanoseconds, bandwidths
// bytes per second, cpu and steal percent of all CPUs.
type Source interface {
	Figure(direction, name string) (float64, error)
}

// Result is an assert that was checked.
type Result struct {
	Assert Assert `json:"assert"`
	// Value is in the unit of Assert.Value; nil when there was none, and Reason says why.
	Value  *float64 `json:"value"`
	OK     bool     `json:"ok"`
	Reason string   `json:"reason,omitempty"`
}

// Check compares the figure of src with the limit.
func (a Assert) Check(src Source) Result {
	v, err := src.Figure(a.Direction, a.Figure)
	if err == nil && (math.IsNaN(v) || math.IsInf(v, 0)) {
		err = fmt.Errorf("%s is %v", a.name(), v)
	}
	if err != nil {
		return Result{Assert: a, Reason: err.Error()}
	}
	return Result{Assert: a, Value: &v, OK: a.Op.holds(v, a.Value)}
}

// CheckAll checks each assert, in order, and says whether all are met.
func CheckAll(list []Assert, src Source) (results []Result, ok bool) {
	results, ok = []Result{}, true
	for _, a := range list {
		r := a.Check(src)
		results = append(results, r)
		ok = ok && r.OK
	}
	return results, ok
}

// String is a line for people: "p99<2ms: not met, it is 3.100 ms".
func (r Result) String() string {
	verdict := "not met"
	if r.OK {
		verdict = "met"
	}
	if r.Value == nil {
		return fmt.Sprintf("%v: %s, %s", r.Assert, verdict, r.Reason)
	}
	return fmt.Sprintf("%v: %s, it is %s", r.Assert, verdict, kindOf(r.Assert.Figure).show(*r.Value))
}

// name is the figure as people write it: "read.p99".
func (a Assert) name() string {
	name := strings.TrimPrefix(a.Figure, "latency.")
	if a.Direction != "total" && a.Direction != "" {
		return a.Direction + "." + name
	}
	return name
}

// String writes the assert as Parse reads it.
func (a Assert) String() string {
	return a.name() + string(a.Op) + kindOf(a.Figure).write(a.Value)
}

// MarshalText writes the assert as UnmarshalText reads it.
func (a Assert) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what Parse reads.
func (a *Assert) UnmarshalText(text []byte) error {
	v, err := Parse(string(text))
	if err != nil {
		return err
	}
	*a = v
	return nil
}

// kind is how the values of a figure are written.
type kind int

const (
	rate     kind = iota // I/Os per second
	bytes                // bytes per second
	duration             // nanoseconds
	count
	percent
)

// kindOf tells a figure's kind by its name.
func kindOf(figure string) kind {
	switch figure {
	case "iops":
		return rate
	case "bw":
		return bytes
	case "errors", "short":
		return count
	case "cpu", "steal":
		return percent
	}
	return duration
}

// maxNumber is the largest rate or count that is exact as a float64.
const maxNumber = 1 << 53

// read reads a value with its unit.
func (k kind) read(text string) (float64, error) {
	switch k {
	case bytes:
		n, err := unit.Bytes(strings.TrimSuffix(strings.ToLower(text), "/s"))
		if err != nil {
			return 0, err
		}
		if n > maxNumber {
			return 0, fmt.Errorf("%q is over the limit of %s per second", text, unit.Size(maxNumber))
		}
		return float64(n), nil
	case duration:
		if text == "" || strings.Trim(text, "0123456789.") == "" {
			return 0, fmt.Errorf("%q has no unit; write for example 250us, 2ms, 1.5s", text)
		}
		d, err := unit.Duration(text)
		if err != nil {
			return 0, err
		}
		if d > maxNumber {
			return 0, fmt.Errorf("%q is over the limit of %v", text, time.Duration(maxNumber))
		}
		return float64(d), nil
	case percent:
		text = strings.TrimSpace(strings.TrimSuffix(text, "%"))
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.Trim(text, "0123456789.") != "" || v > maxNumber {
		return 0, fmt.Errorf("%q is not a number from 0 to 2^53, written out as in 50000 or 0.5", text)
	}
	if k == count && v != math.Trunc(v) {
		return 0, fmt.Errorf("%q is not a whole number", text)
	}
	return v, nil
}

// write writes a value as read reads it.
func (k kind) write(v float64) string {
	switch k {
	case bytes:
		return unit.Size(int64(v))
	case duration:
		return time.Duration(v).String()
	case percent:
		return strconv.FormatFloat(v, 'f', -1, 64) + "%"
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// show writes a measured value for people.
func (k kind) show(v float64) string {
	switch k {
	case bytes:
		return fmt.Sprintf("%.1f MiB/s (%.1f MB/s)", v/(1<<20), v/1e6)
	case duration:
		return unit.Nanos(v)
	case percent:
		return fmt.Sprintf("%.1f%%", v)
	case rate:
		return fmt.Sprintf("%.1f", v)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}
