// Package sweep enumerates the points of a sweep: every combination of lists of values.
//
// Front ends parse their lists with it and make a plan's points from the combinations; results lay out
// their matrix by it. It knows how values are written, not what a workload or a device can do with them.
package sweep

import (
	"fmt"
	"iter"
	"strconv"
	"strings"

	"blkstorm/unit"
)

// MaxPoints is the most combinations of a sweep. At a second each they take over a day.
const MaxPoints = 100_000

// Axis is an option with the values that it takes.
type Axis struct {
	Name   string   `json:"name"`   // one of Names
	Values []string `json:"values"` // in written order, no two the same, each as the option itself reads it
}

// Spec is a sweep: its axes in written order, of which the last varies fastest.
type Spec struct {
	Axes []Axis `json:"axes"`
}

// Setting is one value of one axis.
type Setting struct{ Name, Value string }

// Combination is one point of a sweep: a setting per axis, in the order of the axes.
type Combination []Setting

// Validate says what is wrong with the axes: names unknown or given twice, values that their option does not
// read or that are there twice, more than MaxPoints combinations.
func (s *Spec) Validate() error {
	names := map[string]bool{}
	points := 1
	for _, a := range s.Axes {
		if names[a.Name] {
			return fmt.Errorf("--%s: given twice", a.Name)
		}
		names[a.Name] = true
		if err := a.validate(); err != nil {
			return err
		}
		if points *= len(a.Values); points > MaxPoints {
			return fmt.Errorf("the sweep has over %d points; shorten the list of --%s", MaxPoints, a.Name)
		}
	}
	return nil
}

// Len is how many combinations there are: 1 without axes.
func (s *Spec) Len() int {
	n := 1
	for _, a := range s.Axes {
		n *= len(a.Values)
	}
	return n
}

// At is combination i, from 0 to Len - 1.
func (s *Spec) At(i int) Combination {
	c := make(Combination, len(s.Axes))
	for k := len(s.Axes) - 1; k >= 0; k-- {
		a := &s.Axes[k]
		c[k] = Setting{a.Name, a.Values[i%len(a.Values)]}
		i /= len(a.Values)
	}
	return c
}

// All walks through the combinations in order.
func (s *Spec) All() iter.Seq2[int, Combination] {
	return func(yield func(int, Combination) bool) {
		for i := range s.Len() {
			if !yield(i, s.At(i)) {
				return
			}
		}
	}
}

// Get is the value of an axis, and whether the sweep has it.
func (c Combination) Get(name string) (string, bool) {
	for _, s := range c {
		if s.Name == name {
			return s.Value, true
		}
	}
	return "", false
}

// Number is the value of an axis as a number: bytes for bs, percent for read-pct. It is false where the
// sweep has no such axis, or the axis has names.
func (c Combination) Number(name string) (int64, bool) {
	text, ok := c.Get(name)
	k, known := kinds[name]
	if !ok || !known || k == word {
		return 0, false
	}
	n, err := k.parse(text)
	return n, err == nil
}

// String is "threads 2, iodepth 16".
func (c Combination) String() string {
	parts := make([]string, len(c))
	for i, s := range c {
		parts[i] = s.Name + " " + s.Value
	}
	return strings.Join(parts, ", ")
}

// kind is how the values of an axis are written.
type kind int

const (
	count   kind = iota // a whole number from 1
	size                // bytes, as unit.Bytes reads them
	percent             // a whole number from 0 to 100
	word                // a name; no ranges
)

// Names are the options that can be axes.
var Names = []string{"threads", "iodepth", "bs", "read-pct", "rw"}

var kinds = map[string]kind{"threads": count, "iodepth": count, "bs": size, "read-pct": percent, "rw": word}

// maxCount and maxSize are over what every option takes; each has a limit of its own, which the plan
// checks.
const (
	maxCount = 1_000_000
	maxSize  = 1 << 50
)

// parse reads one number.
func (k kind) parse(text string) (int64, error) {
	if k == size {
		n, err := unit.Bytes(text)
		if err == nil && (n == 0 || n > maxSize) {
			err = fmt.Errorf("size %q: must be over 0 and at most %s", text, unit.Size(maxSize))
		}
		return n, err
	}
	n, err := strconv.ParseUint(text, 10, 32)
	switch {
	case k == percent && (err != nil || n > 100):
		return 0, fmt.Errorf("%q: must be a whole number from 0 to 100", text)
	case k == count && (err != nil || n < 1 || n > maxCount):
		return 0, fmt.Errorf("%q: must be a whole number from 1 to %d", text, maxCount)
	}
	return int64(n), nil
}

// format writes a number as parse reads it.
func (k kind) format(n int64) string {
	if k == size {
		return unit.Size(n)
	}
	return strconv.FormatInt(n, 10)
}
