package profile

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"blkstorm/plan"
	"blkstorm/steady"
	"blkstorm/sweep"
	"blkstorm/unit"
	"blkstorm/workload"
)

// Setting is what can be set in a profile: an option of the commands that show and run it.
type Setting struct {
	Name    string // of the option, without its dashes
	Default string // as people write it; empty: nothing is set
	Quick   string // the default of the quick form, where that is another
	Is      string // what it is in this profile
	// list lets it take several values, which are swept.
	list bool
}

// IsList says whether the setting takes a list of values.
func (s *Setting) IsList() bool { return s.list }

// Names that a setting can have, each with how its value is read.
var readers = map[string]func(text string) (any, error){
	"threads":           func(text string) (any, error) { return count(text, 1, plan.MaxThreads) },
	"iodepth":           func(text string) (any, error) { return count(text, 1, plan.MaxIODepth) },
	"fill":              func(text string) (any, error) { return count(text, 0, plan.MaxPasses) },
	"steady-max-rounds": func(text string) (any, error) { return count(text, steady.Default().Window, steady.MaxRounds) },
	"compress-pct":      func(text string) (any, error) { return count(text, 0, 100) },
	"dedupe-pct":        func(text string) (any, error) { return count(text, 0, 100) },
	"ramp":              func(text string) (any, error) { return span(text, 0) },
	"runtime":           func(text string) (any, error) { return span(text, time.Nanosecond) },
	"steady-round":      func(text string) (any, error) { return span(text, steady.MinRound) },
	"precondition":      readPrecondition,
	"size":              readShare,
	"working-set":       readShare,
	"purge":             readFlag,
	"data":              readContent,
}

// OptionNames are the names that settings can have, sorted.
func OptionNames() []string {
	var list []string
	for name := range readers {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// values are what the settings come to, by their names with _ for -.
func (p *Profile) values(o *Options) (map[string]any, error) {
	for _, name := range sortedKeys(o.Set) {
		if p.Setting(name) == nil {
			return nil, p.noSetting(name)
		}
	}
	values := map[string]any{}
	for i := range p.Settings {
		s := &p.Settings[i]
		text := s.Default
		if o.Quick && s.Quick != "" {
			text = s.Quick
		}
		given, isGiven := o.Set[s.Name]
		if isGiven {
			text = given
		}
		v, err := s.read(text, isGiven)
		if err != nil {
			return nil, fmt.Errorf("--%s %s: %w", s.Name, text, err)
		}
		values[strings.ReplaceAll(s.Name, "-", "_")] = v
	}
	if until, ok := values["precondition"]; ok && until != untilSteady {
		for _, name := range sortedKeys(o.Set) {
			if strings.HasPrefix(name, "steady-") {
				return nil, fmt.Errorf("--%s: goes with --precondition %s", name, untilSteady)
			}
		}
	}
	return values, nil
}

// Setting is the setting of that name, nil if the profile has none.
func (p *Profile) Setting(name string) *Setting {
	i := slices.IndexFunc(p.Settings, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	return &p.Settings[i]
}

func (p *Profile) noSetting(name string) error {
	var has []string
	for _, s := range p.Settings {
		has = append(has, "--"+s.Name)
	}
	return fmt.Errorf("--%s: %s has no such setting; it has %s", name, p.Name, strings.Join(has, ", "))
}

// read reads a value; "" only where nothing was given.
func (s *Setting) read(text string, given bool) (any, error) {
	switch {
	case text == "" && given:
		return nil, errors.New("is empty")
	case s.list:
		axis, err := sweep.ParseAxis(s.Name, text)
		if err != nil {
			return nil, errors.New(strings.TrimPrefix(err.Error(), "--"+s.Name+": "))
		}
		for _, v := range axis.Values {
			if _, err := readers[s.Name](v); err != nil {
				return nil, err
			}
		}
		return list(axis.Values), nil
	case text == "":
		return "", nil
	}
	return readers[s.Name](text)
}

// list is several values, which print as YAML.
type list []string

func (l list) String() string { return "[" + strings.Join(l, ", ") + "]" }

// most is the largest of a list of counts.
func (l list) most() (n int) {
	for _, v := range l {
		i, _ := strconv.Atoi(v) // they have been read before
		n = max(n, i)
	}
	return n
}

// duration prints as people write it: 30m rather than 30m0s.
type duration time.Duration

func (d duration) String() string {
	text := time.Duration(d).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func count(text string, least, most int) (any, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < least || n > most {
		return nil, fmt.Errorf("must be a whole number from %d to %d", least, most)
	}
	return n, nil
}

func span(text string, least time.Duration) (any, error) {
	d, err := unit.Duration(text)
	switch {
	case err != nil:
		return nil, err
	case d < least && least > time.Nanosecond:
		return nil, fmt.Errorf("must be at least %v", least)
	case d < least:
		return nil, errors.New("must be over 0")
	case d > plan.MaxTime:
		return nil, fmt.Errorf("must be at most %v", plan.MaxTime)
	}
	return duration(d), nil
}

// Words that a preconditioning can be, beside a time.
const (
	untilSteady = "steady"
	leftOut     = "none"
)

// readPrecondition reads steady, none or a time.
func readPrecondition(text string) (any, error) {
	switch text = strings.TrimSpace(text); text {
	case untilSteady, leftOut:
		return text, nil
	}
	d, err := span(text, time.Nanosecond)
	if err != nil {
		return nil, fmt.Errorf("must be %s, %s or a time such as 30m: %w", untilSteady, leftOut, err)
	}
	return d, nil
}

func readShare(text string) (any, error) {
	s, err := unit.ParseShare(text)
	if err == nil && s.IsZero() {
		err = errors.New("must be over 0")
	}
	return s, err
}

func readFlag(text string) (any, error) {
	on, err := strconv.ParseBool(text)
	if err != nil {
		return nil, errors.New("must be true or false")
	}
	return on, nil
}

func readContent(text string) (any, error) {
	var c workload.Content
	if err := c.UnmarshalText([]byte(text)); err != nil {
		return nil, err
	}
	return c.String(), nil
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
