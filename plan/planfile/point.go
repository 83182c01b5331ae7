package planfile

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"blkstorm/plan"
	"blkstorm/sweep"
	"blkstorm/workload"
)

// setting is a key of a point or stream with its value.
type setting struct {
	n *node
	spot
	form  bool // stands in the form of results, inside of workload or pacing
	layer int  // 0 is nearest to the stream
}

// layer has the settings of one mapping, those of the mappings inside of it included.
type layer map[string]setting

// layer reads a mapping whose keys are of known; workload, pacing and data may also be mappings.
func (r *reader) layer(n *node, at spot, known []string) (layer, error) {
	if n.kind != mapping {
		return nil, r.fail(at, "is %s; it takes keys: %s", n.what(), strings.Join(known, ", "))
	}
	l := layer{}
	return l, r.flatten(l, n, at, known, false)
}

func (r *reader) flatten(l layer, n *node, at spot, known []string, form bool) error {
	for _, k := range n.keys {
		here := at.below(quoted(k.name), k.line)
		if !slices.Contains(known, k.name) {
			return r.fail(here, "%w", unknownKey(k.name, known))
		}
		within, name := []string(nil), k.name
		switch {
		case k.name == "workload":
			within = workloadKeys
		case k.name == "pacing":
			within = paceKeys
		case k.name == "data" && k.value.kind == mapping:
			within = dataKeys
		case k.name == "content":
			name = "data"
		}
		if within != nil {
			if k.value.kind != mapping {
				return r.fail(here, "is %s; it takes keys: %s", k.value.what(), strings.Join(within, ", "))
			}
			if err := r.flatten(l, k.value, here, within, true); err != nil {
				return err
			}
			continue
		}
		if k.value.kind == null {
			return r.fail(here, "has no value")
		}
		if first, twice := l[name]; twice {
			return r.fail(here, "given twice, first on line %d as %s", first.line, first.path)
		}
		l[name] = setting{n: k.value, spot: here, form: form}
	}
	return nil
}

// merge puts layers together, the nearest to the stream first.
func merge(layers ...layer) layer {
	out := layer{}
	for i, l := range layers {
		// What stands in the same mapping is told as wrong rather than put aside.
		pure, fixed := out["rw"].n != nil && !mixes(out["rw"]), perDirection(out)
		before := make(map[string]bool, len(out))
		for k := range out {
			before[k] = true
		}
		for k, s := range l {
			inGroup := func(other string) bool { return before[other] }
			switch {
			case before[k], slices.ContainsFunc(groupOf(k), inGroup):
			case k == "read_pct" && (pure || fixed):
			default:
				s.layer = i
				out[k] = s
			}
		}
	}
	return out
}

func mixes(rw setting) bool {
	w := workload.Spec{RW: rw.n.text}
	return w.Mixed()
}

// perDirection says whether rates fix the mix.
func perDirection(l layer) bool {
	for _, k := range []string{"rate_iops", "rate_bytes"} {
		if s, ok := l[k]; ok && strings.Contains(s.n.text, ",") {
			return true
		}
	}
	return false
}

// apply sets the fields that a layer has, in the order of the list, and notes where they stand.
func (r *reader) apply(v reflect.Value, list []field, l layer, places map[string]spot) error {
	for _, f := range list {
		s, ok := l[f.key]
		if !ok {
			continue
		}
		places[f.key] = s.spot
		if err := r.set(v.FieldByIndex(f.index), s.n, s.spot); err != nil {
			return err
		}
	}
	return nil
}

// point reads a point, or the points of a sweep, into ph.
func (r *reader) point(ph *plan.Phase, o *origin, n *node, at spot) error {
	own, err := r.layer(n, at, pointKeys)
	if err != nil {
		return err
	}
	spec, axes, err := r.sweep(own)
	if err != nil {
		return err
	}
	var streams []layer // of the key streams
	var places []spot
	if s, ok := own["streams"]; ok {
		if s.n.kind != list {
			return r.fail(s.spot, "is %s; it takes a list of streams", s.n.what())
		}
		for i, item := range s.n.items {
			here := s.item(i, item.line)
			l, err := r.layer(item, here, streamKeys)
			if err != nil {
				return err
			}
			streams, places = append(streams, l), append(places, here)
		}
	}
	for _, a := range spec.Axes {
		for _, l := range append(streams, own) {
			if s, both := l[fileKey(a.Name)]; both {
				return r.fail(s.spot, "is swept on line %d; leave it out here", axes[a.Name].line)
			}
		}
	}
	for _, c := range spec.All() {
		over := layer{}
		for _, set := range c {
			over[fileKey(set.Name)] = setting{n: &node{text: set.Value, line: axes[set.Name].line}, spot: axes[set.Name]}
		}
		p := &origin{spot: at, keys: map[string]spot{}}
		if err := r.onePoint(ph, p, own, streams, places, over); err != nil {
			return err
		}
		o.parts = append(o.parts, p)
	}
	return nil
}

// fileKey is the key of an axis.
func fileKey(axis string) string { return strings.ReplaceAll(axis, "-", "_") }

// sweep reads the axes of a sweep, in written order; without one there is a single combination.
func (r *reader) sweep(own layer) (spec sweep.Spec, places map[string]spot, err error) {
	s, ok := own["sweep"]
	if !ok {
		return spec, nil, nil
	}
	if s.n.kind != mapping {
		return spec, nil, r.fail(s.spot, "is %s; it takes lists of values, by keys: %s", s.n.what(), strings.Join(sweepKeys, ", "))
	}
	places = map[string]spot{}
	for _, k := range s.n.keys {
		here := s.below(quoted(k.name), k.line)
		if !slices.Contains(sweepKeys, k.name) {
			return spec, nil, r.fail(here, "%w", unknownKey(k.name, sweepKeys))
		}
		values := []string{k.value.text}
		if k.value.kind == list {
			values = nil
			for i, item := range k.value.items {
				if item.kind != scalar {
					return spec, nil, r.fail(here.item(i, item.line), "is %s; it takes a value or a range", item.what())
				}
				values = append(values, item.text)
			}
		} else if k.value.kind != scalar {
			return spec, nil, r.fail(here, "is %s; it takes a list of values", k.value.what())
		}
		name := strings.ReplaceAll(k.name, "_", "-")
		places[name] = here
		axis, err := sweep.ParseAxis(name, strings.Join(values, ","))
		if err != nil {
			return spec, nil, r.errorAt(here.line, spoken(here.path, err))
		}
		spec.Axes = append(spec.Axes, axis)
	}
	if err := spec.Validate(); err != nil {
		return spec, nil, r.fail(s.spot, "%w", err)
	}
	return spec, places, nil
}

// onePoint makes a point of the plan from its settings, those of its streams and the values of a sweep.
func (r *reader) onePoint(ph *plan.Phase, o *origin, own layer, streams []layer, places []spot, over layer) error {
	pt := plan.Point{Runtime: plan.Duration(30 * time.Second), Interval: plan.Duration(time.Second)}
	load := r.defaults
	if ph.Kind == plan.Purge || ph.Kind == plan.Fill {
		load = nil
	}
	times := merge(own, load)
	if ph.Steady != nil {
		if most := plan.SteadyTime(ph.Steady); most > 0 {
			pt.Runtime = plan.Duration(most)
			if times["runtime"].layer > 0 { // the rule says when to give up
				delete(times, "runtime")
			}
		}
	}
	if err := r.apply(reflect.ValueOf(&pt).Elem(), pointFields, times, o.keys); err != nil {
		return err
	}
	whole := merge(over, own, load) // of the only stream
	delete(whole, "label")
	if _, several := own["streams"]; !several {
		if err := r.stream(&pt, o, o.spot, whole); err != nil {
			return err
		}
	}
	for i, l := range streams {
		beside := own
		if _, has := own["label"]; has { // the point's
			beside = merge(own)
			delete(beside, "label")
		}
		if err := r.stream(&pt, o, places[i], merge(over, l, beside, load)); err != nil {
			return err
		}
	}
	if s, said := times["runtime"]; (!said || s.layer > 0) && ph.Steady == nil && pt.Ends() {
		pt.Runtime = 0
	}
	pt.Label = plan.AutoLabel(pt.Streams)
	if s, ok := own["label"]; ok {
		if err := r.set(reflect.ValueOf(&pt.Label).Elem(), s.n, s.spot); err != nil {
			return err
		}
		pt.Label = swept(pt.Label, over)
	}
	ph.Points = append(ph.Points, pt)
	return nil
}

// swept puts the values of a point of a sweep in the place of their keys in a label.
func swept(label string, values layer) string {
	var pairs []string
	for key, s := range values {
		pairs = append(pairs, "{"+key+"}", s.n.text)
		if pct, err := strconv.Atoi(s.n.text); key == "read_pct" && err == nil {
			pairs = append(pairs, "{write_pct}", strconv.Itoa(100-pct))
		}
	}
	return strings.NewReplacer(pairs...).Replace(label)
}

// stream makes a stream of a point.
func (r *reader) stream(pt *plan.Point, point *origin, at spot, l layer) (err error) {
	o := &origin{spot: at, keys: map[string]spot{}}
	point.parts = append(point.parts, o)
	s := plan.Stream{Threads: 1, IODepth: 1, Workload: workload.Spec{RW: "randread"}}
	if err := r.apply(reflect.ValueOf(&s).Elem(), streamFields, l, o.keys); err != nil {
		return err
	}
	if err := r.settle(&s, l); err != nil {
		return err
	}
	if s.Targets, err = r.streamTargets(l); err != nil {
		return err
	}
	r.streams++
	if r.pairs += len(s.Targets); r.streams > maxStreams || r.pairs > maxPairs {
		return r.fail(at, "the plan has over %d streams, or %d of stream and target; use fewer points", maxStreams, maxPairs)
	}
	if label, ok := l["label"]; ok {
		if err := r.set(reflect.ValueOf(&s.Label).Elem(), label.n, label.spot); err != nil {
			return err
		}
	} else {
		s.Label = s.Workload.RW
		if slices.ContainsFunc(pt.Streams, func(o plan.Stream) bool { return o.Label == s.Label }) {
			s.Label = fmt.Sprintf("%s %d", s.Label, len(pt.Streams)+1)
		}
	}
	pt.Streams = append(pt.Streams, s)
	return nil
}

// settle gives what follows from other settings, as run does: the block size, the share of reads, and the
// part of a common rate.
func (r *reader) settle(s *plan.Stream, l layer) error {
	w := &s.Workload
	if _, given := l["bs"]; !given {
		w.BlockSize = 4096
		if !w.BlockSizeSplit.IsZero() || !w.BlockSizeRange.IsZero() {
			w.BlockSize = max(w.MaxBlock(), 1)
		}
	}
	if err := r.reads(s, l); err != nil {
		return err
	}
	share := l["share"]
	for _, k := range []string{"rate_iops", "rate_bytes"} {
		if rate, ok := l[k]; ok && s.Share > 0 && rate.layer > share.layer { // the rate of all streams together
			s.Pacing.IOPS, s.Pacing.Bytes = s.Pacing.IOPS.Times(s.Share/100), s.Pacing.Bytes.Times(s.Share/100)
			s.Share = 0
		}
	}
	return nil
}

// reads settles the share of reads.
func (r *reader) reads(s *plan.Stream, l layer) error {
	w := &s.Workload
	rates := s.Pacing.Rates()
	pct, given := l["read_pct"]
	switch {
	case given && pct.form: // as it is in results, also where it means nothing
	case given && w.ReadPct >= 0 && w.ReadPct <= 100 && !w.Mixed() && slices.Contains(workload.Shapes, w.RW):
		return r.fail(pct.spot, "%d: goes with rw and randrw; %s is no mix of reads and writes", w.ReadPct, w.RW)
	case given && w.Mixed() && rates.PerDirection():
		return r.fail(pct.spot, "%d: the rates %s fix the mix already", w.ReadPct, rates)
	case given:
	case w.Mixed() && rates.PerDirection():
		w.ReadPct = rates.ReadPct()
	case w.Mixed():
		w.ReadPct = 50
	default:
		w.ReadPct = 0
		if w.Reads() {
			w.ReadPct = 100
		}
	}
	return nil
}
