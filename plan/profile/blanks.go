package profile

import (
	"fmt"
	"strconv"
	"strings"
)

// fillBlanks is text with every {{name argument}} replaced by what fill has for it. What fill gives is not looked
// through again: names of targets may have braces.
//
// This is not text/template, which looks up methods by names that are data. A program that can reach such a lookup
// keeps every exported method of all its types, here 2 MB of them.
func fillBlanks(text string, fill func(name, argument string) (string, error)) (string, error) {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{")
		b.WriteString(before)
		if !found {
			return b.String(), nil
		}
		blank, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return "", fmt.Errorf("{{%.40s: has no end", rest)
		}
		name, argument, _ := strings.Cut(blank, " ")
		value, err := fill(name, argument)
		if err != nil {
			return "", err
		}
		b.WriteString(value)
		text = after
	}
}

// blank fills one blank: .name is the value of a setting, every other name what the writer makes of several.
func (w *writer) blank(name, argument string) (string, error) {
	if f := w.plainBlanks()[name]; f != nil && argument == "" {
		return f()
	}
	if f := w.argumentBlanks()[name]; f != nil && argument != "" {
		return f(argument)
	}
	if strings.HasPrefix(name, ".") && argument == "" {
		v, err := w.value(name)
		return fmt.Sprint(v), err
	}
	return "", fmt.Errorf("{{%s}}: is no blank that profiles have", strings.TrimSuffix(name+" "+argument, " "))
}

// plainBlanks are those without an argument.
func (w *writer) plainBlanks() map[string]func() (string, error) {
	return map[string]func() (string, error){
		"head": w.head, "purge": w.purge, "fill": w.fill, "refill": w.refill, "ramp": w.rampLine, "times": w.times,
	}
}

// argumentBlanks are those with one.
func (w *writer) argumentBlanks() map[string]func(string) (string, error) {
	return map[string]func(string) (string, error){
		"load": w.load, "area": w.area, "most": w.most, "quarter": w.quarter,
		"precondition": w.precondition, "preconditionMost": w.preconditionMost,
	}
}

// value is the value of a setting, by its name with a dot before it.
func (w *writer) value(name string) (any, error) {
	v, ok := w.values[strings.TrimPrefix(name, ".")]
	if !ok {
		return nil, fmt.Errorf("{{%s}}: %s has no such setting", name, w.profile.Name)
	}
	return v, nil
}

// most is the largest value of a setting that takes a list.
func (w *writer) most(setting string) (string, error) {
	v, err := w.value(setting)
	if err != nil {
		return "", err
	}
	l, ok := v.(list)
	if !ok {
		return "", fmt.Errorf("{{most %s}}: is no list", setting)
	}
	return strconv.Itoa(l.most()), nil
}

// quarter is a quarter of a number that is set, at least 1.
func (w *writer) quarter(setting string) (string, error) {
	v, err := w.value(setting)
	if err != nil {
		return "", err
	}
	n, ok := v.(int)
	if !ok {
		return "", fmt.Errorf("{{quarter %s}}: is no number", setting)
	}
	return strconv.Itoa(max(1, n/4)), nil
}
