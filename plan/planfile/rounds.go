package planfile

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"blkstorm/plan"
	"blkstorm/steady"
	"blkstorm/sweep"
)

// roundsForm has the keys of plan.Rounds beside track.
type roundsForm struct {
	Window    int     `json:"window"`
	RangePct  float64 `json:"range_pct"`
	FittedPct float64 `json:"fitted_pct"`
	MaxRounds int     `json:"max_rounds"`
}

var roundsFields = fieldsOf(reflect.TypeFor[roundsForm]())

// rounds reads the rounds of a phase, whose points and sweep have been read.
func (r *reader) rounds(ph *plan.Phase, o *origin, n *node, at spot) error {
	known := append([]string{"track"}, names(roundsFields)...)
	if n.kind != mapping {
		return r.fail(at, "is %s; it takes a mapping of %s", n.what(), strings.Join(known, ", "))
	}
	if ph.Sweep != nil { // the form of results has it apart from its points
		spec := ph.Sweep.Spec()
		if err := spec.Validate(); err != nil {
			return r.fail(o.keys["sweep"], "%w", err)
		}
		if len(spec.Axes) == 0 || spec.Len() != len(ph.Points) {
			return r.fail(o.keys["sweep"], "its axes have %d combinations, and the phase %d points", spec.Len(), len(ph.Points))
		}
	}
	rule := steady.Default()
	form := roundsForm{rule.Window, rule.RangePct, rule.FittedPct, rule.MaxRounds}
	var track *node
	numbers := &node{kind: mapping, line: n.line}
	for _, k := range n.keys {
		switch {
		case k.name == "track":
			track = k.value
		case !slices.Contains(known, k.name):
			return r.fail(at.below(quoted(k.name), k.line), "%w", unknownKey(k.name, known))
		default:
			numbers.keys = append(numbers.keys, k)
		}
	}
	if track == nil || track.kind == list && len(track.items) == 0 {
		return r.fail(at, "has no track: name the points that must be steady")
	}
	places := map[string]spot{}
	if err := r.fields(reflect.ValueOf(&form).Elem(), roundsFields, numbers, at, places); err != nil {
		return err
	}
	for _, f := range roundsFields { // the rule's errors name its options
		here, given := places[f.key]
		if !given {
			here = at.below(f.key, at.line)
		}
		o.keys["steady."+f.key] = here
	}
	rule.Window, rule.RangePct, rule.FittedPct, rule.MaxRounds = form.Window, form.RangePct, form.FittedPct, form.MaxRounds
	ph.Rounds = &plan.Rounds{Rule: rule}
	return r.track(ph, track, at.below("track", track.line))
}

// track reads the list of what must be steady.
func (r *reader) track(ph *plan.Phase, n *node, at spot) error {
	if n.kind != list {
		return r.fail(at, "is %s; it takes a list of points", n.what())
	}
	first := map[plan.Track]int{}
	for i, item := range n.items {
		here := at.item(i, item.line)
		t, err := r.tracked(ph, item, here)
		if err != nil {
			return err
		}
		if k, twice := first[t]; twice {
			return r.fail(here, "names the %v of %q, as item %d does", t.Metric, ph.Points[t.Point].Label, k)
		}
		first[t] = i
		ph.Rounds.Track = append(ph.Rounds.Track, t)
	}
	return nil
}

// tracked reads one of them: a point's label; a mapping with point, which is its label or its number, or with
// values of the sweep's axes, which only one point has; and metric.
func (r *reader) tracked(ph *plan.Phase, n *node, at spot) (t plan.Track, err error) {
	if n.kind == scalar {
		t.Point, err = r.labelled(ph, n, at)
		return t, err
	}
	known := []string{"point", "metric"}
	if ph.Sweep != nil {
		for _, a := range ph.Sweep.Axes {
			known = append(known, fileKey(a.Name))
		}
	}
	if n.kind != mapping {
		return t, r.fail(at, "is %s; it takes a point's label, or keys: %s", n.what(), strings.Join(known, ", "))
	}
	point := -1
	var values []key
	for _, k := range n.keys {
		here := at.below(quoted(k.name), k.line)
		switch {
		case !slices.Contains(known, k.name):
			return t, r.fail(here, "%w", unknownKey(k.name, known))
		case k.name == "metric":
			err = r.set(reflect.ValueOf(&t.Metric).Elem(), k.value, here)
		case k.value.kind != scalar:
			err = r.fail(here, "is %s; it takes a single value", k.value.what())
		case k.name == "point":
			point, err = r.labelled(ph, k.value, here)
		default:
			values = append(values, k)
		}
		if err != nil {
			return t, err
		}
	}
	switch {
	case point >= 0 && len(values) > 0:
		return t, r.fail(at, "has point and %s; give one of them", values[0].name)
	case len(values) > 0:
		point, err = r.combined(ph, values, at)
	case point < 0:
		return t, r.fail(at, "names no point; it takes keys: %s", strings.Join(known, ", "))
	}
	t.Point = point
	return t, err
}

// shownLabels is how many labels an error lists.
const shownLabels = 10

// labelled is the point with a label or a number.
func (r *reader) labelled(ph *plan.Phase, n *node, at spot) (int, error) {
	if n.number {
		i, err := strconv.ParseUint(n.text, 10, 31)
		if err != nil || int(i) >= len(ph.Points) {
			return 0, r.fail(at, "%s: the phase has %d points, with numbers from 0", quoted(n.text), len(ph.Points))
		}
		return int(i), nil
	}
	var labels []string
	for i := range ph.Points {
		if labels = append(labels, ph.Points[i].Label); labels[i] == n.text {
			return i, nil
		}
	}
	text := strings.Join(labels[:min(len(labels), shownLabels)], ", ")
	if more := len(labels) - shownLabels; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	if ph.Sweep != nil {
		text += "; points of a sweep can be named by their values, too, as in " + exampleOf(ph)
	}
	return 0, r.fail(at, "%s: is the label of none of the points; known are %s", quoted(n.text), text)
}

// exampleOf names the last point of a sweep by its values.
func exampleOf(ph *plan.Phase) string {
	var parts []string
	for _, set := range ph.Sweep.Spec().At(len(ph.Points) - 1) {
		parts = append(parts, fileKey(set.Name)+": "+set.Value)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// combined is the only point of a sweep that has these values.
func (r *reader) combined(ph *plan.Phase, values []key, at spot) (int, error) {
	want := map[string]string{}
	for _, k := range values {
		name := strings.ReplaceAll(k.name, "_", "-")
		here := at.below(k.name, k.line)
		axis := ph.Sweep.Axes[slices.IndexFunc(ph.Sweep.Axes, func(a sweep.Axis) bool { return a.Name == name })]
		one, err := sweep.ParseAxis(name, k.value.text)
		if err != nil {
			return 0, r.errorAt(here.line, spoken(here.path, err))
		}
		known, err := sweep.ParseAxis(name, strings.Join(axis.Values, ","))
		if err != nil {
			return 0, r.errorAt(here.line, spoken(here.path, err))
		}
		if len(one.Values) != 1 || !slices.Contains(known.Values, one.Values[0]) {
			return 0, r.fail(here, "%s: is none of the sweep's values; known are %s", quoted(k.value.text), strings.Join(known.Values, ", "))
		}
		want[name] = axis.Values[slices.Index(known.Values, one.Values[0])]
	}
	var found []int
	for i, c := range ph.Sweep.Spec().All() {
		match := true
		for _, set := range c {
			value, given := want[set.Name]
			match = match && (!given || value == set.Value)
		}
		if match && i < len(ph.Points) {
			found = append(found, i)
		}
	}
	if len(found) != 1 {
		return 0, r.fail(at, "these values are those of %d points; give one of each axis, as in %s", len(found), exampleOf(ph))
	}
	return found[0], nil
}
