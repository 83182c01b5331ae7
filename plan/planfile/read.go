package planfile

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"blkstorm/plan"
)

// reader makes a plan from a file's values.
type reader struct {
	file    string
	opts    Options
	plan    *plan.Plan
	targets []string // the file's own, whatever the command line says
	all     []int    // the numbers of all the plan's targets; streams share it

	defaults       layer
	streams, pairs int

	// Where the parts of the plan stand in the file.
	keys   map[string]spot // of the plan itself
	phases []*origin
}

// origin is where a part of the plan comes from: its place, its keys', and its own parts'.
type origin struct {
	spot
	keys  map[string]spot
	parts []*origin
}

// top reads the whole plan.
func (r *reader) top(root *node) error {
	r.keys = map[string]spot{}
	for _, k := range root.keys {
		here := spot{quoted(k.name), k.line}
		r.keys[k.name] = here
		i := slices.IndexFunc(planFields, func(f field) bool { return f.key == k.name })
		switch {
		case k.name == "schema":
			if k.value.text != plan.Schema {
				return r.fail(here, "%s: this version reads %s", quoted(k.value.text), plan.Schema)
			}
		case slices.Contains(topKeys, k.name) && i < 0: // targets, defaults and phases come in this order
		case i < 0:
			return r.fail(here, "%w", unknownKey(k.name, topKeys))
		default:
			if err := r.set(reflect.ValueOf(r.plan).Elem().FieldByIndex(planFields[i].index), k.value, here); err != nil {
				return err
			}
		}
	}
	if name, known := r.plan.Profile, r.opts.Profiles; name != "" && known != nil && !slices.Contains(known, name) {
		return r.errorAt(r.keys["profile"].line, fmt.Errorf("profile %s: is no procedure that this version has; leave it out, or name one of %s", quoted(name), strings.Join(known, ", ")))
	}
	if err := r.readTargets(root.get("targets")); err != nil {
		return err
	}
	if n := root.get("defaults"); n != nil {
		var err error
		if r.defaults, err = r.layer(n, r.keys["defaults"], defaultKeys); err != nil {
			return err
		}
	}
	phases := root.get("phases")
	if phases == nil {
		return fmt.Errorf("%s: has no key phases, which says what to do", r.file)
	}
	at := r.keys["phases"]
	if phases.kind != list {
		return r.fail(at, "is %s; it takes a list", phases.what())
	}
	for i, n := range phases.items {
		if err := r.phase(n, at.item(i, n.line)); err != nil {
			return err
		}
	}
	return nil
}

// readTargets reads the targets, each a text or a mapping. Those of the command line take their place.
func (r *reader) readTargets(n *node) error {
	at := r.keys["targets"]
	if n == nil && len(r.opts.Targets) == 0 {
		return fmt.Errorf("%s: has no key targets; name them there, or as TARGET on the command line", r.file)
	}
	var own []plan.Target
	if n != nil {
		if n.kind != list {
			return r.fail(at, "is %s; it takes a list", n.what())
		}
		if len(n.items) > maxTargets {
			return r.fail(at, "%d of them; at most %d are possible", len(n.items), maxTargets)
		}
		for i, item := range n.items {
			var t plan.Target
			here := at.item(i, item.line)
			if item.kind == scalar {
				if t.Spec = item.text; t.Spec == "" {
					return r.fail(here, "is empty")
				}
			} else if err := r.fields(reflect.ValueOf(&t).Elem(), fieldsOf(reflect.TypeFor[plan.Target]()), item, here, nil); err != nil {
				return err
			}
			own = append(own, t)
			r.targets = append(r.targets, t.Spec)
		}
	}
	r.plan.Targets = own
	if len(r.opts.Targets) > 0 {
		// What the file allows, it allows for its own targets.
		r.plan.Targets, r.plan.Destroy = nil, false
		for _, spec := range r.opts.Targets {
			r.plan.Targets = append(r.plan.Targets, plan.Target{Spec: spec})
		}
	}
	for i := range r.plan.Targets {
		r.all = append(r.all, i)
	}
	return nil
}

// targetsOf reads the targets of a stream: numbers, from 0, or texts as they stand in the file's targets. All
// that the file has stay all when the command line has others.
func (r *reader) targetsOf(s setting) ([]int, error) {
	if s.n.kind != list {
		return nil, r.fail(s.spot, "is %s; it takes a list of targets or of their numbers", s.n.what())
	}
	var numbers []int
	seen := map[int]bool{}
	for i, item := range s.n.items {
		here := s.item(i, item.line)
		at := -1
		switch {
		case item.kind != scalar:
			return nil, r.fail(here, "is %s; it takes a target or its number", item.what())
		case item.number:
			n, err := strconv.ParseUint(item.text, 10, 31)
			if err != nil || int(n) >= max(len(r.targets), len(r.plan.Targets)) {
				return nil, r.fail(here, "%s: there are %d targets, with numbers from 0", quoted(item.text), len(r.plan.Targets))
			}
			at = int(n)
		default:
			if at = slices.Index(r.targets, item.text); at < 0 || item.text == "" {
				return nil, r.fail(here, "%s: is none of the file's targets", quoted(item.text))
			}
		}
		if seen[at] {
			return nil, r.fail(here, "%s: is there twice", quoted(item.text))
		}
		seen[at] = true
		numbers = append(numbers, at)
	}
	if len(numbers) == 0 {
		return nil, r.fail(s.spot, "is empty; leave it out for all targets")
	}
	if len(r.opts.Targets) == 0 {
		return numbers, nil
	}
	if len(numbers) == len(r.targets) {
		return r.all, nil
	}
	if most := slices.Max(numbers); most >= len(r.plan.Targets) {
		return nil, r.fail(s.spot, "names number %d of the file's targets; the command line has only %d in their place", most, len(r.plan.Targets))
	}
	return numbers, nil
}

// locate says an error of the whole plan with the place in the file that it is about.
func (r *reader) locate(err error) error {
	name := option.FindString(err.Error())
	var part *plan.PartError
	if !errors.As(err, &part) {
		at, ok := r.keys[keyOf(name)]
		if !ok {
			at = spot{path: keyOf(name)}
		}
		return r.errorAt(at.line, spoken(at.path, err))
	}
	at := r.phases[part.Phase]
	for _, i := range []int{part.Point, part.Stream} {
		if i >= 0 {
			at = at.parts[i]
		}
	}
	if name == "" {
		return r.errorAt(at.line, spoken(at.path, err))
	}
	if here, ok := at.keys[keyOf(name)]; ok {
		return r.errorAt(here.line, spoken(here.path, err))
	}
	if here, ok := r.keys[keyOf(name)]; ok { // --complete-min goes with each stream's depth
		return r.errorAt(here.line, spoken(here.path, err))
	}
	return r.errorAt(at.line, spoken(at.below(keyOf(name), 0).path, err))
}
