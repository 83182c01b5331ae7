package sweep

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// MaxValues is the most values of one axis.
const MaxValues = 1000

// ParseAxis reads the list of an option: "2,4,8,16", and ranges such as "1-16*2" (1,2,4,8,16: doubled
// each time) and "0-100+25" (0,25,50,75,100: a step). A range whose first number is the larger goes
// down by the same steps: "64k-4k*2". It ends where the next step would pass its last number. Without a step a
// range of counts goes by 1, and one of sizes or percentages is an error.
func ParseAxis(name, list string) (Axis, error) {
	k, known := kinds[name]
	if !known {
		return Axis{}, fmt.Errorf("--%s cannot be swept; %s can", name, strings.Join(Names, ", "))
	}
	a := Axis{Name: name}
	for _, item := range strings.Split(list, ",") {
		item = strings.TrimSpace(item)
		values, err := k.values(item)
		if err != nil {
			return Axis{}, fmt.Errorf("--%s: %w", name, err)
		}
		if a.Values = append(a.Values, values...); len(a.Values) > MaxValues {
			return Axis{}, fmt.Errorf("--%s: over %d values", name, MaxValues)
		}
	}
	return a, a.validate()
}

// validate checks values that may come from a file.
func (a *Axis) validate() error {
	k, known := kinds[a.Name]
	switch {
	case !known:
		return fmt.Errorf("--%s cannot be swept; %s can", a.Name, strings.Join(Names, ", "))
	case len(a.Values) == 0:
		return fmt.Errorf("--%s: no value to sweep", a.Name)
	case len(a.Values) > MaxValues:
		return fmt.Errorf("--%s: %d values; at most %d are possible", a.Name, len(a.Values), MaxValues)
	}
	seen := map[string]bool{}
	for _, v := range a.Values {
		key := v
		if k != word {
			n, err := k.parse(v)
			if err != nil {
				return fmt.Errorf("--%s: %w", a.Name, err)
			}
			key = k.format(n)
		} else if v == "" {
			return fmt.Errorf("--%s: an empty value in the list", a.Name)
		}
		if seen[key] {
			return fmt.Errorf("--%s: %s is there twice", a.Name, v)
		}
		seen[key] = true
	}
	return nil
}

// values reads one item of a list.
func (k kind) values(item string) ([]string, error) {
	if item == "" {
		return nil, errors.New("an empty value in the list")
	}
	if k == word {
		return []string{item}, nil
	}
	low, rest, isRange := strings.Cut(item, "-")
	if !isRange {
		n, err := k.parse(item)
		return []string{k.format(n)}, err
	}
	first, err := k.parse(strings.TrimSpace(low))
	if err != nil {
		return nil, fmt.Errorf("range %q: %w", item, err)
	}
	end, step := rest, ""
	if i := strings.IndexAny(rest, "*+"); i >= 0 {
		end, step = rest[:i], rest[i:]
	}
	last, err := k.parse(strings.TrimSpace(end))
	if err != nil {
		return nil, fmt.Errorf("range %q: %w", item, err)
	}
	next, err := k.stepper(step, first > last)
	if err != nil {
		return nil, fmt.Errorf("range %q: %w", item, err)
	}
	var out []string
	for v := first; min(first, last) <= v && v <= max(first, last); {
		if out = append(out, k.format(v)); len(out) > MaxValues {
			return nil, fmt.Errorf("range %q: over %d values", item, MaxValues)
		}
		if v == last {
			break
		}
		var ok bool
		if v, ok = next(v); !ok {
			return nil, fmt.Errorf("range %q: %s cannot be divided by %s", item, out[len(out)-1], step[1:])
		}
	}
	return out, nil
}

// stepper reads "*2" or "+10" and gives the function from a value to the next, which is false when
// there is none that is whole.
func (k kind) stepper(step string, down bool) (func(int64) (int64, bool), error) {
	if step == "" {
		if k != count {
			return nil, errors.New("needs a step: *2 doubles, +N adds")
		}
		step = "+1"
	}
	number := strings.TrimSpace(step[1:])
	if step[0] == '*' {
		by, err := count.parse(number)
		if err != nil || by < 2 {
			return nil, fmt.Errorf("step *%s: must be a whole number from 2 to %d", number, maxCount)
		}
		if down {
			return func(v int64) (int64, bool) { return v / by, v%by == 0 }, nil
		}
		return func(v int64) (int64, bool) {
			if v > math.MaxInt64/by { // over the end of every range
				return math.MaxInt64, true
			}
			return v * by, true
		}, nil
	}
	by, err := k.parse(number)
	if err != nil || by == 0 {
		return nil, fmt.Errorf("step +%s: must be over 0, in the form of the values", number)
	}
	if down {
		by = -by
	}
	return func(v int64) (int64, bool) { return v + by, true }, nil
}
