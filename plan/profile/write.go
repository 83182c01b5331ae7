package profile

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"blkstorm/plan"
	"blkstorm/unit"
	"blkstorm/workload"
)

// writer fills the blanks of a profile. What it gives begins with a line break of its own, so that what is
// not there leaves no line behind.
type writer struct {
	profile *Profile
	options *Options
	values  map[string]any
}

// plain is a text that YAML takes as it is, but for null.
var plain = regexp.MustCompile(`^[A-Za-z0-9/]([A-Za-z0-9/. '_-]*[A-Za-z0-9/.])?$`)

// quoted is a text as YAML. Digits alone would be a number. Go's escapes are YAML's, too.
func quoted(text string) (string, error) {
	switch {
	case !utf8.ValidString(text):
		return "", fmt.Errorf("%q: is no UTF-8, which a plan file must be", text)
	case plain.MatchString(text) && !strings.EqualFold(text, "null") && strings.ContainsFunc(text, unicode.IsLetter):
		return text, nil
	}
	return strconv.Quote(text), nil
}

// head is the plan's own keys.
func (w *writer) head() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "profile: %s\n", w.profile.Name)
	if w.options.Quick {
		b.WriteString("quick: true   # times are scaled down: not comparable with the published procedure\n")
	}
	if e := w.options.Engine; e != "" {
		text, err := quoted(e)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "engine: %s\n", text)
	}
	if w.options.Seed != nil {
		fmt.Fprintf(&b, "seed: %d\n", *w.options.Seed)
	}
	if err := w.targets(&b); err != nil {
		return "", err
	}
	switch {
	case w.options.Destroy:
		b.WriteString("destroy: true   # all data on the targets is lost\n")
	case w.profile.writes():
		b.WriteString("# destroy: true   # would be the consent to overwrite the targets: all data on them is lost\n")
	}
	if err := w.claims(&b); err != nil {
		return "", err
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// writes says whether the procedure writes, whatever its settings: all but reads of the published ones do.
func (p *Profile) writes() bool { return p.Setting("fill") != nil || p.Setting("purge") != nil }

// targets are the plan's targets. With a size, files that are missing are made.
func (w *writer) targets(b *strings.Builder) error {
	create := ""
	if s, ok := w.values["size"].(unit.Share); ok && s.Bytes > 0 {
		create = "create_bytes: " + s.String()
	}
	if len(w.options.Targets) == 0 {
		fmt.Fprintf(b, "targets: [{%s}]   # a scratch file; TARGETs after the file's name take its place\n", create)
		return nil
	}
	b.WriteString("targets:\n")
	for _, t := range w.options.Targets {
		spec, err := quoted(t.Spec)
		if err != nil {
			return err
		}
		if create == "" && !t.DestroySignature {
			fmt.Fprintf(b, "  - %s\n", spec)
			continue
		}
		keys := []string{"spec: " + spec}
		if t.DestroySignature {
			keys = append(keys, "destroy_signature: true")
		}
		if create != "" {
			keys = append(keys, create)
		}
		fmt.Fprintf(b, "  - {%s}\n", strings.Join(keys, ", "))
	}
	return nil
}

// load is the end of the defaults: the range and the data of all points, and rows of the length that is
// given, or shorter ones where times are.
func (w *writer) load(row string) (string, error) {
	longest, err := time.ParseDuration(row)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if d := w.row(longest); d != time.Second {
		fmt.Fprintf(&b, "\n  interval: %v", duration(d))
	}
	for _, key := range []string{"size", "working_set"} {
		if s, ok := w.values[key].(unit.Share); ok && !(w.profile.parted && key == "size") {
			fmt.Fprintf(&b, "\n  %s: %s", key, s)
		}
	}
	data, err := w.data()
	for _, pair := range data {
		fmt.Fprintf(&b, "\n  %s", pair)
	}
	return b.String(), err
}

// row is the length of a row: at most longest, and such that all times that must be whole numbers of rows are.
func (w *writer) row(longest time.Duration) time.Duration {
	for _, d := range []time.Duration{longest, time.Second, 100 * time.Millisecond} {
		fits := d <= longest
		for _, key := range []string{"steady_round", "runtime"} {
			if t, ok := w.values[key].(duration); ok {
				fits = fits && d <= time.Duration(t) && time.Duration(t)%d == 0
			}
		}
		if fits {
			return d
		}
	}
	return plan.MinInterval
}

// data says what writes hold, as keys with their values.
func (w *writer) data() (pairs []string, err error) {
	if text, ok := w.values["data"].(string); ok && text != "" && text != workload.DataRandom {
		if text, err = quoted(text); err != nil {
			return nil, err
		}
		pairs = append(pairs, "data: "+text)
	}
	for _, key := range []string{"compress_pct", "dedupe_pct"} {
		if n, ok := w.values[key].(int); ok && n > 0 {
			pairs = append(pairs, fmt.Sprintf("%s: %d", key, n))
		}
	}
	return pairs, nil
}

func (w *writer) purge() (string, error) {
	if !w.purges() {
		return "", nil
	}
	if s, ok := w.values["size"].(unit.Share); ok {
		return fmt.Sprintf("\n  - purge: {size: %s}", s), nil
	}
	return "\n  - purge", nil
}

// purges says whether the targets are discarded.
func (w *writer) purges() bool {
	on, ok := w.values["purge"].(bool)
	return ok && on
}

func (w *writer) fill() (string, error) {
	passes, ok := w.values["fill"].(int)
	if !ok || passes == 0 {
		return "", nil
	}
	keys := []string{fmt.Sprintf("passes: %d", passes)}
	if s, ok := w.values["size"].(unit.Share); ok {
		keys = append(keys, "size: "+s.String())
	}
	data, err := w.data()
	if keys = append(keys, data...); len(keys) == 1 {
		return fmt.Sprintf("\n  - fill: %d", passes), nil
	}
	return fmt.Sprintf("\n  - fill: {%s}", strings.Join(keys, ", ")), err
}

// refill fills again, after a purge that reads follow.
func (w *writer) refill() (string, error) {
	if !w.purges() {
		return "", nil
	}
	return w.fill()
}

// precondition is a phase with a label and a load, given as keys with their values, for the time that is set.
func (w *writer) precondition(load string) (string, error) {
	end := ""
	switch until := w.values["precondition"].(type) {
	case duration:
		end = "runtime: " + until.String()
	case string:
		if until == leftOut {
			return "", nil
		}
		end = fmt.Sprintf("steady: {round: %v, max_rounds: %v}", w.values["steady_round"], w.values["steady_max_rounds"])
	}
	return fmt.Sprintf("\n  - precondition: {%s, %s}", load, end), nil
}

// preconditionMost is precondition with the most of the threads, whose number ends the label.
func (w *writer) preconditionMost(label string) (string, error) {
	n, err := w.most(".threads")
	if err != nil {
		return "", err
	}
	return w.precondition(fmt.Sprintf("label: %s %sT, threads: %s", label, n, n))
}

// ramp is the warm-up, 0 for none.
func (w *writer) ramp() duration {
	d, _ := w.values["ramp"].(duration)
	return d
}

// rampLine is the warm-up of a point that has a line for each key.
func (w *writer) rampLine() (string, error) {
	if w.ramp() <= 0 {
		return "", nil
	}
	return fmt.Sprintf("\n      ramp: %v", w.ramp()), nil
}

// times are those of a measured point, as keys with their values.
func (w *writer) times() (string, error) {
	ramp := ""
	if w.ramp() > 0 {
		ramp = fmt.Sprintf("ramp: %v, ", w.ramp())
	}
	return fmt.Sprintf("%sruntime: %v", ramp, w.values["runtime"]), nil
}

// area is a part of the range, "from to" in percent of it, as keys with their values.
func (w *writer) area(ends string) (string, error) {
	var from, to int
	if _, err := fmt.Sscanf(ends, "%d %d", &from, &to); err != nil || from < 0 || to <= from || to > 100 {
		return "", fmt.Errorf("{{area %s}}: must be two percentages, the smaller one first", ends)
	}
	size, given := w.values["size"].(unit.Share)
	if !given {
		size.Percent = 100
	}
	const least, align = 100 << 20, 1 << 20
	part := func(pct int) string {
		if size.Percent > 0 {
			return unit.Share{Percent: size.Percent * float64(pct) / 100}.String()
		}
		return unit.Size(size.Bytes / 100 * int64(pct) / align * align)
	}
	switch {
	case given && size.Percent == 0 && size.Bytes < least:
		return "", fmt.Errorf("--size %s: the streams have parts of it; it must be at least %s", size, unit.Size(least))
	case from == 0:
		return "size: " + part(to), nil
	}
	return fmt.Sprintf("offset: %s, size: %s", part(from), part(to-from)), nil
}
