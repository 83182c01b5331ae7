package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"blkstorm/verdict"
)

// warnings are those of single sides, and of the comparison as a whole.
func (c *comparer) warnings(d *Doc) []verdict.Warning {
	out := []verdict.Warning{}
	add := func(code, message, advice string) {
		out = append(out, verdict.Warning{Code: code, Message: message, Advice: advice})
	}
	methods := map[string]bool{}
	for _, o := range c.open {
		methods[o.figure.Method] = true
	}
	if methods[FromRows] || methods[FromRowShares] || methods[FromRounds] {
		add("one_pair", "with one run on a side, its rows or rounds tell what varies within a run; what varies from run to run is not in the intervals",
			"repeat both, in turn (A B A B), and give the repeats with commas between: A1,A2,A3 B1,B2,B3")
	}
	for _, s := range c.sides {
		s.distrust(add)
	}
	return out
}

// maxLacking is how many points that not all repeats have are named.
const maxLacking = 5

// lacking tells of points that not all repeats have.
func (s *side) lacking(add func(code, message, advice string)) {
	var names []string
	for _, k := range s.order {
		if n := len(byRun(s.points[k])); n < len(s.runs) {
			names = append(names, fmt.Sprintf("%v is in %d", k, n))
		}
	}
	if len(names) == 0 {
		return
	}
	more := ""
	if n := len(names) - maxLacking; n > 0 {
		names, more = names[:maxLacking], fmt.Sprintf(", and %d more points are not in all", n)
	}
	add("missing_repeats", fmt.Sprintf("%s: of the %d runs, %s%s", s.name, len(s.runs), strings.Join(names, ", "), more), "give repeats of the same plan")
}

// distrust says what speaks against the figures of a side.
func (s *side) distrust(add func(code, message, advice string)) {
	s.lacking(add)
	points, partial, faulty := 0, 0, 0
	quick, unsteady := false, false
	codes := map[string]verdict.Warning{} // the first of each
	note := func(list []verdict.Warning) {
		for _, w := range list {
			if _, has := codes[w.Code]; !has {
				codes[w.Code] = w
			}
		}
	}
	has := func(code string) bool { _, ok := codes[code]; return ok }
	for _, r := range s.runs {
		quick = quick || r.Doc.Plan != nil && r.Doc.Plan.Quick
		note(r.Doc.Warnings)
		for _, p := range r.Doc.Points {
			note(p.Warnings)
			unsteady = unsteady || p.Steady != nil && !p.Steady.State.Steady
			if p.Skipped != "" || prepares(p.Phase) {
				continue
			}
			points++
			if !p.Completed || p.Interrupted {
				partial++
			}
			if t := p.Total; p.Faults+t.Errors+t.Short+t.Zero+p.StuckIOs > 0 || len(p.Errors) > 0 || p.Failure != "" {
				faulty++
			}
		}
	}
	if partial > 0 {
		add("side_partial", fmt.Sprintf("%s: %d of %d measured points did not run to the planned end", s.name, partial, points),
			"compare whole runs; --resume goes on with one that was cut off")
	}
	if faulty > 0 {
		add("side_errors", fmt.Sprintf("%s: %d of %d measured points had I/O errors, short transfers or I/Os without an answer", s.name, faulty, points),
			"a device that fails has no figures to compare: find the cause first")
	}
	if quick {
		add("side_quick", s.name+": ran with --quick: nothing held it to steady state", "leave --quick out for results that are kept")
	}
	if unsteady || has("not_steady") || has("steady_state_lost") {
		add("side_not_steady", s.name+": steady state was not reached, or was lost", "precondition longer (docs/steady.md): a device that drifts has other figures at another time")
	}
	if has("buffered") {
		add("side_buffered", s.name+": I/O went through the page cache", "leave --direct=false out: the page cache is measured, not the device")
	}
	for _, code := range []string{"not_steady", "steady_state_lost", "buffered", "not_completed", "io_errors", "short_io"} {
		delete(codes, code) // said above
	}
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		add("side_warned", fmt.Sprintf("%s: [%s] %s", s.name, code, codes[code].Message), codes[code].Advice)
	}
	s.alike(add)
}

// alike says where repeats of a side are no repeats.
func (s *side) alike(add func(code, message, advice string)) {
	first := s.runs[0]
	ids := map[string]bool{}
	for _, r := range s.runs {
		if id := r.id(); id != "" && ids[id] {
			add("same_result", s.name+": the result "+id+" is given twice", "give each repeat once: the same one again looks like certainty")
		}
		ids[r.id()] = true
		list := differs(hostFacts(first.Doc), hostFacts(r.Doc))
		list = append(list, deviceDifferences(first.Doc, r.Doc)...)
		list = append(list, planDifferences(first.Doc.Plan, r.Doc.Plan)...)
		if len(list) > 0 {
			add("repeats_differ", some(fmt.Sprintf("%s: %s is no repeat of %s: they differ in", s.name, r.Name(), first.Name()), list),
				"repeats are runs of the same plan on the same target and machine")
		}
	}
}
