package planfile

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"blkstorm/plan"
	"blkstorm/steady"
	"blkstorm/unit"
	"blkstorm/workload"
)

// spot is where something stands: its path through the keys of the file, and its line.
type spot struct {
	path string
	line int
}

func (s spot) below(key string, line int) spot {
	if s.path != "" {
		key = s.path + "." + key
	}
	return spot{key, line}
}

func (s spot) item(i, line int) spot { return spot{fmt.Sprintf("%s[%d]", s.path, i), line} }

// fail is an error at a spot.
func (r *reader) fail(at spot, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if at.path != "" {
		err = fmt.Errorf("%s: %w", at.path, err)
	}
	return r.errorAt(at.line, err)
}

// bad is an error about a value that the file has.
func (r *reader) bad(at spot, n *node, err error) error {
	if shown := quoted(n.text); n.kind == scalar && !strings.HasPrefix(err.Error(), "--") && !strings.Contains(err.Error(), shown) {
		at.path += " " + shown
	}
	return r.errorAt(at.line, spoken(at.path, err))
}

// option is the name of an option at the start of an error; in files it is the key at path.
var option = regexp.MustCompile(`^--[a-z0-9-]+`)

// words are options that the text of an error may have elsewhere.
var words = regexp.MustCompile(`--[a-z]+(-[a-z0-9]+)*`)

// spoken says an error of the plan, which speaks of options, in the words of a file.
func spoken(path string, err error) error {
	text := err.Error()
	if found := option.FindString(text); found != "" {
		text = path + text[len(found):]
	} else if path != "" {
		text = path + ": " + text
	}
	known := slices.Concat(pointKeys, topKeys)
	text = words.ReplaceAllStringFunc(text, func(word string) string {
		if k := keyOf(word); slices.Contains(known, k) {
			return k
		}
		return word
	})
	return &spokenError{text, err}
}

// keyOf is the key that sets what an option sets.
func keyOf(option string) string {
	name := strings.ReplaceAll(strings.TrimPrefix(option, "--"), "-", "_")
	if k, of := strings.CutPrefix(name, "steady_"); of {
		switch k {
		case "range", "fitted":
			k += "_pct"
		}
		return "steady." + k
	}
	if name == "assert" {
		return "asserts"
	}
	return name
}

// spokenError is an error in other words.
type spokenError struct {
	text string
	err  error
}

func (e *spokenError) Error() string { return e.text }
func (e *spokenError) Unwrap() error { return e.err }

// fields fills a struct from a mapping. places, when not nil, gets where the keys stand.
func (r *reader) fields(v reflect.Value, list []field, n *node, at spot, places map[string]spot) error {
	if n.kind != mapping {
		return r.fail(at, "is %s; it takes a mapping of %s", n.what(), strings.Join(names(list), ", "))
	}
	for _, k := range n.keys {
		i := slices.IndexFunc(list, func(f field) bool { return f.key == k.name })
		here := at.below(quoted(k.name), k.line)
		if i < 0 {
			return r.fail(here, "%w", unknownKey(k.name, names(list)))
		}
		if places != nil {
			places[k.name] = here
		}
		if err := r.set(v.FieldByIndex(list[i].index), k.value, here); err != nil {
			return err
		}
	}
	return nil
}

// set gives v the value of n. Whole numbers of 64 bits with a sign are sizes wherever a plan has them, and may
// have a suffix.
func (r *reader) set(v reflect.Value, n *node, at spot) error {
	switch v.Type() {
	case reflect.TypeFor[unit.Share]():
		return r.share(v.Addr().Interface().(*unit.Share), n, at)
	case reflect.TypeFor[steady.Rule]():
		return r.rule(v.Addr().Interface().(*steady.Rule), n, at, nil)
	case reflect.TypeFor[plan.Claim]():
		return r.claim(v.Addr().Interface().(*plan.Claim), n, at)
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return r.set(v.Elem(), n, at)
	case reflect.Struct, reflect.Slice:
		if _, text := v.Addr().Interface().(encoding.TextUnmarshaler); text {
			break
		}
		if v.Kind() == reflect.Struct {
			return r.fields(v, fieldsOf(v.Type()), n, at, nil)
		}
		return r.slice(v, n, at)
	}
	if n.kind != scalar {
		return r.fail(at, "is %s; it takes a single value", n.what())
	}
	err := setScalar(v, n.text)
	if rates, ok := v.Addr().Interface().(*workload.Rates); ok {
		// The type is that of both keys, and its own text may be either: 1k is a rate of bytes, and none of I/Os.
		read := workload.ParseByteRates
		if strings.HasSuffix(at.path, "rate_iops") {
			read = workload.ParseIOPS
		}
		*rates, err = read(n.text)
	}
	if err != nil {
		return r.bad(at, n, err)
	}
	return nil
}

func (r *reader) slice(v reflect.Value, n *node, at spot) error {
	if n.kind != list {
		return r.fail(at, "is %s; it takes a list", n.what())
	}
	v.Set(reflect.MakeSlice(v.Type(), len(n.items), len(n.items)))
	for i, item := range n.items {
		if err := r.set(v.Index(i), item, at.item(i, item.line)); err != nil {
			return err
		}
	}
	return nil
}

// setScalar reads a single value into v.
func setScalar(v reflect.Value, text string) (err error) {
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		return u.UnmarshalText([]byte(text))
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		if text != "true" && text != "false" {
			return errors.New("must be true or false")
		}
		v.SetBool(text == "true")
	case reflect.Int64:
		var size int64
		if size, err = unit.Bytes(text); err == nil {
			v.SetInt(size)
		}
	case reflect.Int:
		var i int64
		if i, err = strconv.ParseInt(text, 10, 32); err != nil {
			return errors.New("must be a whole number")
		}
		v.SetInt(i)
	case reflect.Uint64:
		var u uint64
		if u, err = strconv.ParseUint(text, 10, 64); err != nil {
			return errors.New("must be a whole number of at least 0")
		}
		v.SetUint(u)
	case reflect.Float64:
		f, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
		if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			return errors.New("must be a number")
		}
		v.SetFloat(f)
	default:
		return fmt.Errorf("values of %v cannot be read", v.Type())
	}
	return err
}

// share reads "20%", "10g", or a mapping with percent or bytes.
func (r *reader) share(s *unit.Share, n *node, at spot) (err error) {
	if n.kind == scalar {
		if *s, err = unit.ParseShare(n.text); err != nil {
			return r.bad(at, n, err)
		}
		return nil
	}
	if err := r.fields(reflect.ValueOf(s).Elem(), fieldsOf(reflect.TypeFor[unit.Share]()), n, at, nil); err != nil {
		return err
	}
	switch {
	case !(s.Percent >= 0 && s.Percent <= 100):
		return r.fail(at.below("percent", at.line), "%g: must be from 0 to 100", s.Percent)
	case s.Percent != 0 && s.Bytes != 0:
		return r.fail(at, "has bytes and percent; give one of them")
	}
	return nil
}

// ruleForm has the keys of steady.Rule, those not given being nil: its defaults depend on the others.
type ruleForm struct {
	Metric    *steady.Metric `json:"metric,omitempty"`
	Kind      *steady.Kind   `json:"rule,omitempty"`
	Window    *int           `json:"window,omitempty"`
	RangePct  *float64       `json:"range_pct,omitempty"`
	FittedPct *float64       `json:"fitted_pct,omitempty"`
	Limit     *steady.Limit  `json:"limit,omitempty"`
	MaxRounds *int           `json:"max_rounds,omitempty"`
	Round     *plan.Duration `json:"round,omitempty"`
}

func (r *reader) rule(to *steady.Rule, n *node, at spot, places map[string]spot) error {
	var form ruleForm
	keys := map[string]spot{}
	if err := r.fields(reflect.ValueOf(&form).Elem(), fieldsOf(reflect.TypeFor[ruleForm]()), n, at, keys); err != nil {
		return err
	}
	for k, s := range keys {
		if places != nil {
			places["steady."+k] = s
		}
	}
	text, err := json.Marshal(form)
	if err == nil {
		err = to.UnmarshalJSON(text)
	}
	if err != nil {
		return r.fail(at, "%w", err)
	}
	return nil
}
