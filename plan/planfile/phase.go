package planfile

import (
	"reflect"
	"slices"
	"strings"

	"blkstorm/plan"
	"blkstorm/steady"
)

// phase reads a phase: its kind alone, its kind as the only key, or the form of results with a key kind.
func (r *reader) phase(n *node, at spot) error {
	o := &origin{spot: at, keys: map[string]spot{}}
	r.phases = append(r.phases, o)
	switch {
	case n.kind == scalar:
		return r.shortPhase(o, n.text, &node{kind: null, line: n.line}, at.below(quoted(n.text), n.line))
	case n.kind != mapping:
		return r.fail(at, "is %s; a phase is one of %s", n.what(), strings.Join(plan.Kinds, ", "))
	case n.get("kind") != nil:
		return r.longPhase(o, n, at)
	case len(n.keys) != 1:
		return r.fail(at, "has %d keys; it takes one of %s, with what belongs to it indented below, or the key kind", len(n.keys), strings.Join(plan.Kinds, ", "))
	}
	k := n.keys[0]
	return r.shortPhase(o, k.name, k.value, at.below(quoted(k.name), k.line))
}

// longPhase reads what results have.
func (r *reader) longPhase(o *origin, n *node, at spot) error {
	ph := plan.Phase{}
	var points, rounds *node
	var pointsAt, roundsAt spot
	list := fieldsOf(reflect.TypeFor[plan.Phase](), "points", "steady", "rounds")
	for _, k := range n.keys {
		here := at.below(quoted(k.name), k.line)
		o.keys[k.name] = here
		var err error
		switch i := slices.IndexFunc(list, func(f field) bool { return f.key == k.name }); {
		case k.name == "points":
			points, pointsAt = k.value, here
		case k.name == "rounds":
			rounds, roundsAt = k.value, here
		case k.name == "steady":
			ph.Steady = &steady.Rule{}
			err = r.rule(ph.Steady, k.value, here, o.keys)
		case i < 0:
			err = r.fail(here, "%w", unknownKey(k.name, append(names(list), "points", "steady", "rounds")))
		default:
			err = r.set(reflect.ValueOf(&ph).Elem().FieldByIndex(list[i].index), k.value, here)
		}
		if err != nil {
			return err
		}
	}
	if !slices.Contains(plan.Kinds, ph.Kind) {
		return r.fail(o.keys["kind"], "%s: known are %s", quoted(ph.Kind), strings.Join(plan.Kinds, ", "))
	}
	if points != nil {
		if err := r.points(&ph, o, points, pointsAt); err != nil {
			return err
		}
	}
	if rounds != nil {
		if err := r.rounds(&ph, o, rounds, roundsAt); err != nil {
			return err
		}
	}
	r.plan.Phases = append(r.plan.Phases, ph)
	return nil
}

// shortPhase reads a phase that is written as "kind: what".
func (r *reader) shortPhase(o *origin, kind string, n *node, at spot) error {
	o.spot = at
	ph := plan.Phase{Kind: kind}
	var err error
	switch kind {
	case plan.Purge:
		err = r.purge(&ph, o, n, at)
	case plan.Fill:
		err = r.fill(&ph, o, n, at)
	case plan.Idle:
		if n.kind != scalar {
			return r.fail(at, "is %s; it takes a time, such as 5m", n.what())
		}
		o.keys["time"] = at
		err = r.set(reflect.ValueOf(&ph.Time).Elem(), n, at)
	case plan.Precondition, plan.Measure:
		err = r.loadPhase(&ph, o, n, at)
	default:
		what := "known are " + strings.Join(plan.Kinds, ", ")
		if near := nearest(kind, plan.Kinds); near != "" {
			what = "did you mean " + near + "?"
		}
		return r.fail(at, "is no phase; %s", what)
	}
	if err != nil {
		return err
	}
	r.plan.Phases = append(r.plan.Phases, ph)
	return nil
}

// whole has the parts of a phase that plan makes: one point of one stream.
func (o *origin) whole() {
	stream := &origin{spot: o.spot, keys: o.keys}
	o.parts = []*origin{{spot: o.spot, keys: o.keys, parts: []*origin{stream}}}
}

func (r *reader) purge(ph *plan.Phase, o *origin, n *node, at spot) error {
	var s plan.Stream
	targets := r.all
	if n.kind != null {
		if n.kind != mapping {
			return r.fail(at, "is %s; it takes nothing, or the keys %s", n.what(), strings.Join(purgeKeys, ", "))
		}
		l, err := r.layer(n, at, purgeKeys)
		if err != nil {
			return err
		}
		if err := r.apply(reflect.ValueOf(&s).Elem(), streamFields, l, o.keys); err != nil {
			return err
		}
		if targets, err = r.streamTargets(l); err != nil {
			return err
		}
	}
	o.whole()
	*ph = plan.PurgePhase(targets)
	within(ph, &s)
	return nil
}

// within gives a phase that plan makes the range of s.
func within(ph *plan.Phase, s *plan.Stream) {
	w := &ph.Points[0].Streams[0].Workload
	w.Offset, w.Size = s.Workload.Offset, s.Workload.Size
}

func (r *reader) fill(ph *plan.Phase, o *origin, n *node, at spot) error {
	s := plan.Stream{Passes: 1}
	targets := r.all
	switch n.kind {
	case null:
	case scalar:
		o.keys["passes"] = at
		if err := r.set(reflect.ValueOf(&s.Passes).Elem(), n, at); err != nil {
			return err
		}
	case mapping:
		l, err := r.layer(n, at, fillKeys)
		if err != nil {
			return err
		}
		if err := r.apply(reflect.ValueOf(&s).Elem(), streamFields, l, o.keys); err != nil {
			return err
		}
		if targets, err = r.streamTargets(l); err != nil {
			return err
		}
	default:
		return r.fail(at, "is %s; it takes a number of passes, or keys: %s", n.what(), strings.Join(fillKeys, ", "))
	}
	if s.Passes < 1 || s.Passes > plan.MaxPasses {
		if here, ok := o.keys["passes"]; ok {
			at = here
		}
		return r.fail(at, "%d: must be from 1 to %d passes", s.Passes, plan.MaxPasses)
	}
	o.whole()
	*ph = plan.FillPhase(targets, s.Passes, s.Workload.Data)
	within(ph, &s)
	return nil
}

// loadPhase reads "measure" and "precondition": one point, or several in a list.
func (r *reader) loadPhase(ph *plan.Phase, o *origin, n *node, at spot) error {
	switch n.kind {
	case list:
		return r.points(ph, o, n, at)
	case mapping:
		own := &node{kind: mapping, line: n.line}
		var rounds *key
		for i, k := range n.keys {
			if k.name == "rounds" && ph.Kind == plan.Measure {
				rounds = &n.keys[i]
				continue
			}
			if k.name == "most_passes" && ph.Kind == plan.Precondition {
				here := at.below(k.name, k.line)
				o.keys[k.name] = here
				if err := r.set(reflect.ValueOf(&ph.MostPasses).Elem(), k.value, here); err != nil {
					return err
				}
				continue
			}
			if k.name != "steady" || ph.Kind != plan.Precondition {
				own.keys = append(own.keys, k)
				continue
			}
			ph.Steady = &steady.Rule{}
			here := at.below(k.name, k.line)
			o.keys["steady"] = here
			if err := r.rule(ph.Steady, k.value, here, o.keys); err != nil {
				return err
			}
		}
		if err := r.point(ph, o, own, at); err != nil {
			return err
		}
		if err := r.laidOut(ph, own, rounds != nil); err != nil || rounds == nil {
			return err
		}
		here := at.below(rounds.name, rounds.line)
		o.keys[rounds.name] = here
		return r.rounds(ph, o, rounds.value, here)
	}
	return r.fail(at, "is %s; it takes the keys of a point, or a list of points", n.what())
}

// laidOut notes the axes of a phase whose points are one sweep, for the tables of the result; without
// rounds, of the first such phase, since a result has the tables of one.
func (r *reader) laidOut(ph *plan.Phase, own *node, rounds bool) error {
	if ph.Kind != plan.Measure || own.get("sweep") == nil {
		return nil
	}
	for i := range r.plan.Phases {
		if !rounds && r.plan.Phases[i].Sweep != nil && r.plan.Phases[i].Rounds == nil {
			return nil
		}
	}
	l, err := r.layer(own, spot{}, pointKeys)
	if err != nil {
		return err
	}
	spec, _, err := r.sweep(l)
	if err == nil {
		ph.Sweep = &plan.Sweep{Axes: spec.Axes}
	}
	return err
}

func (r *reader) points(ph *plan.Phase, o *origin, n *node, at spot) error {
	if n.kind != list {
		return r.fail(at, "is %s; it takes a list of points", n.what())
	}
	for i, item := range n.items {
		here := at.item(i, item.line)
		if item.kind != mapping {
			return r.fail(here, "is %s; a point has keys", item.what())
		}
		if err := r.point(ph, o, item, here); err != nil {
			return err
		}
	}
	return nil
}

// streamTargets are the targets that a layer names, else all.
func (r *reader) streamTargets(l layer) ([]int, error) {
	if s, ok := l["targets"]; ok {
		return r.targetsOf(s)
	}
	return r.all, nil
}
