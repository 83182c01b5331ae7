package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
)

// WriteJSON writes the document of `--format json`: indented, with a newline at the end, in one
// Write. A number that is not finite is an error that names its key; nothing is written then.
func WriteJSON(w io.Writer, d *Doc) error {
	b, err := encode(d.whole(true), "  ")
	if err != nil {
		return err
	}
	return write(w, b)
}

// write hands b to w at once.
func write(w io.Writer, b []byte) error {
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// encode is v as JSON with a newline at the end. Labels and paths keep their < and &: the document
// is read by scripts and people, not by browsers.
func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	err := e.Encode(v)
	if err == nil {
		return b.Bytes(), nil
	}
	// The library's error has the value, but not where it stands.
	if unsupported := new(json.UnsupportedValueError); errors.As(err, &unsupported) {
		if key := nonFinite(reflect.ValueOf(v), ""); key != "" {
			return nil, fmt.Errorf("result: %s is %s, not a finite number", key, unsupported.Str)
		}
	}
	return nil, fmt.Errorf("result: %w", err)
}

// nonFinite is the key of the first number in v that JSON has no form for; empty if there is none.
func nonFinite(v reflect.Value, key string) string {
	switch v.Kind() {
	case reflect.Float64, reflect.Float32:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return key
		}
	case reflect.Pointer, reflect.Interface:
		return nonFinite(v.Elem(), key)
	case reflect.Struct:
		for i := range v.NumField() {
			field := v.Type().Field(i)
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if !field.IsExported() || name == "-" {
				continue
			}
			inner := key
			if !field.Anonymous {
				inner = strings.TrimPrefix(key+"."+name, ".")
			}
			if bad := nonFinite(v.Field(i), inner); bad != "" {
				return bad
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if bad := nonFinite(v.Index(i), fmt.Sprintf("%s[%d]", key, i)); bad != "" {
				return bad
			}
		}
	}
	return ""
}

// whole is a copy of d in which no list is null, so that scripts can walk every one without asking;
// without rows, the points leave their intervals out.
func (d *Doc) whole(rows bool) *Doc {
	out := *d
	out.Targets = list(d.Targets)
	out.Warnings = list(d.Warnings)
	out.Points = make([]*Point, 0, len(d.Points))
	for _, p := range d.Points {
		out.Points = append(out.Points, p.whole(rows))
	}
	if d.FindMax != nil {
		find := *d.FindMax
		find.Steps = list(find.Steps)
		out.FindMax = &find
	}
	return &out
}

func (p *Point) whole(rows bool) *Point {
	out := *p
	out.Streams, out.Targets, out.PerThread = list(p.Streams), list(p.Targets), list(p.PerThread)
	out.Errors, out.Stuck, out.Warnings = list(p.Errors), list(p.Stuck), list(p.Warnings)
	if !rows {
		out.Intervals, out.RampIntervals = nil, nil
	}
	return &out
}

func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}

// targetsOf lists the targets that the point's streams use, in the order of the document.
func (d *Doc) targetsOf(p *Point) []int {
	var used []int
	for i := range d.Targets {
		if slices.ContainsFunc(p.Streams, func(s *Stream) bool { return slices.Contains(s.Targets, i) }) {
			used = append(used, i)
		}
	}
	return used
}

// directions lists those of the point's directions that something happened in, without the total.
func (p *Point) directions() []figure {
	var out []figure
	for _, d := range []figure{{"read", p.Read}, {"write", p.Write}, {"trim", p.Trim}, {"sync", p.Sync}} {
		if d.stat != nil && d.stat.IOs+d.stat.Errors+d.stat.Short+d.stat.Zero > 0 {
			out = append(out, d)
		}
	}
	return out
}
