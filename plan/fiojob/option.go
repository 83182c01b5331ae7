// Package fiojob is the front end for fio's language: it makes plans of job files and command lines.
//
// The command fio calls it. Its table says of every option of fio 3.42 what becomes of it here: none that
// changes what is measured is dropped in silence. It runs nothing, and opens no file but those that job
// files name. The language is defined by fio's own manual (HOWTO) and, where that is silent or differs,
// by what fio 3.42 answers.
package fiojob

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"blkstorm/spelling"
)

// Effect is what becomes of an option.
type Effect int

// Effects.
const (
	Honoured Effect = iota // it means what it means to fio
	Differs                // it is honoured, but for what Note says
	NoEffect               // it is accepted, and changes nothing that is measured, for the reason in Note
	Refused                // a job that has it is not run; Note says what to use instead
)

// String is the effect as --options prints it.
func (e Effect) String() string {
	return [...]string{"honoured", "honoured with a difference", "no effect", "refused"}[e]
}

// Kind is how an option's value is written.
type Kind int

// Kinds of values.
const (
	Text    Kind = iota // checked by what it means
	Int                 // a whole number from Min to Max
	Number              // a number or size without an upper limit
	Bool                // 0 or 1
	Flag                // nothing, or 0 or 1
	Seconds             // a time, in seconds if it has no unit
	Micro               // a time, in µs
	Share               // a size, a percentage, or a number of zones
	Triple              // one to three Ints: for reads, writes and trims
	Range               // a size, or two with - or : between
	Ranges              // one to three ranges
	Floats              // numbers with : between
	Choice              // one of Choices
	Name                // a text, or nothing
)

// Option is one option of the language.
type Option struct {
	Name     string // the canonical name
	Aliases  []string
	Kind     Kind
	Min, Max int64    // of Int, Triple and Floats; Max 0: none
	Choices  []string // of Choice
	Engines  []string // those that have it; nil: all
	Effect   Effect
	Note     string
	// Quiet is a difference that is no news in a run: whoever asks is told of it, and the jobs where it matters are
	// found out otherwise.
	Quiet bool
}

// Options lists all options, group by group.
var Options = slices.Concat(ofJobs, ofFiles, ofIO, ofEngines, ofEngineOptions, ofVerification, ofLogs, ofReplay, ofZones, ofTheRest)

var byName = func() map[string]*Option {
	m := map[string]*Option{}
	for i := range Options {
		o := &Options[i]
		for _, name := range append([]string{o.Name}, o.Aliases...) {
			m[name] = o
		}
	}
	return m
}()

// Lookup finds an option by its name or an alias; nil if there is none. Names are matched whole.
func Lookup(name string) *Option { return byName[name] }

// goesWith says whether an engine has the option.
func (o *Option) goesWith(engine string) bool {
	return o.Engines == nil || slices.Contains(o.Engines, engine)
}

// check says what is wrong with a value's form. given is false where the option stands without one.
func (o *Option) check(value string, given bool, kbBase int64) error {
	if !given && o.Kind != Flag && o.Kind != Name {
		return errors.New("needs a value")
	}
	switch o.Kind {
	case Flag, Bool:
		_, err := flag(value, given)
		return err
	case Int:
		return o.checkInt(value, kbBase)
	case Number:
		_, err := number(value, kbBase)
		return err
	case Seconds:
		return checkTimes(value, time.Second)
	case Micro:
		return checkTimes(value, time.Microsecond)
	case Share:
		return checkShare(value, kbBase)
	case Triple:
		parts, n, err := triple(value)
		for i := 0; i < n && err == nil; i++ {
			if parts[i] != "" {
				err = o.checkRange(parts[i], kbBase)
			}
		}
		if err == nil && strings.Trim(value, ", ") == "" {
			err = errNumber
		}
		return err
	case Range:
		return o.checkRange(value, kbBase)
	case Ranges:
		for _, part := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == '/' }) {
			if err := o.checkRange(part, kbBase); err != nil {
				return err
			}
		}
	case Floats:
		for _, part := range strings.Split(value, ":") {
			v, err := float(strings.TrimSpace(part))
			switch {
			case err != nil:
				return err
			case o.Max > 0 && (v < float64(o.Min) || v > float64(o.Max)):
				return fmt.Errorf("must be from %d to %d", o.Min, o.Max)
			}
		}
	case Choice:
		if !slices.Contains(o.Choices, value) {
			return fmt.Errorf("known are %s", strings.Join(o.Choices, ", "))
		}
	}
	return nil
}

func (o *Option) checkInt(value string, kbBase int64) error {
	text, negative := strings.CutPrefix(value, "-")
	n, err := number(text, kbBase)
	if err != nil {
		return err
	}
	if negative {
		n = -n
	}
	switch {
	case n < o.Min:
		return fmt.Errorf("must be at least %d", o.Min)
	case o.Max > 0 && n > o.Max:
		return fmt.Errorf("must be at most %d", o.Max)
	}
	return nil
}

// checkRange takes one number, or two with - or : between.
func (o *Option) checkRange(value string, kbBase int64) error {
	low, high, two := cutRange(value)
	if err := o.checkInt(low, kbBase); err != nil || !two {
		return err
	}
	return o.checkInt(high, kbBase)
}

// cutRange splits "4k-8k" or "4k:8k".
func cutRange(value string) (low, high string, two bool) {
	if i := strings.IndexAny(value, "-:"); i > 0 {
		return strings.TrimSpace(value[:i]), strings.TrimSpace(value[i+1:]), true
	}
	return strings.TrimSpace(value), "", false
}

// checkTimes takes a time, or two with - or : between, as startdelay does.
func checkTimes(value string, unit time.Duration) error {
	low, high, two := cutRange(value)
	if _, err := duration(low, unit); err != nil || !two {
		return err
	}
	_, err := duration(high, unit)
	return err
}

func checkShare(value string, kbBase int64) error {
	text := strings.TrimSpace(value)
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		if p, err := float(strings.TrimRight(percent, "%")); err != nil || p < 0 || p > 100 {
			return errors.New("must be from 0% to 100%")
		}
		return nil // fio takes any text after the %, as in 100%%
	}
	if zones, ok := strings.CutSuffix(text, "z"); ok {
		_, err := number(zones, kbBase)
		return err
	}
	_, err := number(text, kbBase)
	return err
}

// nearest is the known name that a slip of the finger turns into name; empty if none is near.
func nearest(name string) string { return spelling.Nearest(name, allNames) }

// allNames are those of Options with their aliases, sorted.
var allNames = slices.Sorted(maps.Keys(byName))
