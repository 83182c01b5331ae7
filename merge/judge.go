package merge

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"blkstorm/result"
	"blkstorm/verdict"
)

// lossWarned is the share of the longest window, in percent, from which on its loss is warned of.
const lossWarned = 5

// docWarnings is what a reader must know of all points together.
func (m *merger) docWarnings() []verdict.Warning {
	var out []verdict.Warning
	warn := func(code, message, advice string) {
		out = append(out, verdict.Warning{Code: code, Message: message, Advice: advice})
	}
	if n := len(m.leftOut); n > 0 {
		var reasons []string
		for _, l := range m.leftOut {
			reasons = append(reasons, l.Path+": "+l.Reason)
		}
		warn("merged_left_out", fmt.Sprintf("%d of %d inputs could not be used, and are in no figure: %s", n, n+len(m.members), some(reasons)),
			"copy them again from their machines and merge anew, or leave them out and speak of fewer machines")
	}
	if !m.keepsTargets() {
		warn("merged_targets_left_out", fmt.Sprintf("figures of %d targets, all points together, are more than a document keeps (%d): it has those of machines only", m.targetRows.Load(), maxTargetRows),
			"merge fewer machines at once to see their targets, or look at their own results")
	}
	out = append(out, m.plans.warn()...)
	if keys := m.machinesDiffer(); len(keys) > 0 {
		warn("merged_machines_differ", "the machines are not alike: they differ in "+strings.Join(keys, ", "),
			"look at the figures of each beside the sums")
	}
	versions := map[string]bool{}
	for _, mem := range m.members {
		versions[mem.version] = true
	}
	if len(versions) > 1 {
		warn("merged_versions_differ", "the members were measured by different versions: "+some(slices.Sorted(maps.Keys(versions))),
			"use one version on all machines")
	}
	var damaged []string
	for _, mem := range m.members {
		for _, note := range mem.notes {
			damaged = append(damaged, mem.name()+": "+note)
		}
	}
	if len(damaged) > 0 {
		warn("member_damaged", "files of members are not whole: "+some(damaged), "they are used as far as they are sound; copy them again if the machine has more")
	}
	var own warnings
	for _, mem := range m.members {
		for _, w := range mem.warnings {
			own.add(mem, w)
		}
	}
	return append(out, own.list(len(m.members))...)
}

// machinesDiffer are the facts of the machines that differ, but for names.
func (m *merger) machinesDiffer() (keys []string) {
	first := reflect.ValueOf(m.members[0].facts)
	for i := range first.NumField() {
		field := first.Type().Field(i)
		if field.Name == "Hostname" {
			continue
		}
		for _, mem := range m.members[1:] {
			if !first.Field(i).Equal(reflect.ValueOf(mem.facts).Field(i)) {
				name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				keys = append(keys, name)
				break
			}
		}
	}
	return keys
}

// pointWarnings is what a reader must know of a point's sums.
func (m *merger) pointWarnings(p *point, how *result.MergePoint, gave []*part) (out []verdict.Warning) {
	warn := func(code, message, advice string) {
		out = append(out, verdict.Warning{Code: code, Message: message, Advice: advice})
	}
	names := func(list []string, code, message, advice string) {
		if len(list) > 0 {
			warn(code, message+some(list), advice)
		}
	}
	late, early := p.stragglers()
	names(late, "member_late", "began later than the others: ", "start all machines at the same time, and check that their clocks agree")
	names(early, "member_ended_early", "ended earlier than the others: ", "find out why; their load was missing for the others from then on")
	var missing, broken []string
	for i := range how.Rows {
		r := &how.Rows[i]
		name := m.memberName(r.Member)
		if r.Missing != "" {
			missing = append(missing, name+" ("+r.Missing+")")
		}
		if len(r.Notes) > 0 {
			broken = append(broken, name+" ("+strings.Join(r.Notes, "; ")+")")
		}
	}
	names(missing, "member_missing", fmt.Sprintf("%d of %d members are in no figure of this point: ", len(missing), len(how.Rows)), "the sums are those of fewer machines")
	names(broken, "member_broken", "not as planned: ", "look at what each of them gave, and at its own result")
	if how.Window == result.MergeCommon && how.LossPct >= lossWarned {
		warn("merged_window_cut", fmt.Sprintf("%.1f s of %.1f s (%.1f %%) are not used: not all members measured then, by their own clocks", how.LossS, p.longest(gave), how.LossPct)+p.whose(gave),
			"measure longer, or merge without the members that cost most")
	}
	if how.Window == result.MergeWhole && len(gave) > 1 {
		out = append(out, p.wholeWindows(how, gave))
	}
	if p.anyAbsent() {
		warn("merged_percentiles_absent", "members have no histograms, and percentiles cannot be made of percentiles: there are none; means are weighted",
			"run fio with --output-format=json+")
	}
	if how.Window == result.MergeCommon && p.total.open {
		warn(result.ResponseWhole, "response times, and what was planned, are those of the members' whole windows: the logs have service times only", "let the machines start together")
	}
	if len(p.engines) > 1 {
		warn("merged_engines_differ", "the members used different engines: "+strings.Join(slices.Sorted(maps.Keys(p.engines)), ", "), "name one with --engine on all machines")
	}
	return out
}

// memberName is the name of a row's member, of a merge within as well.
func (m *merger) memberName(row int) string {
	for _, mem := range m.members {
		if row < mem.firstAt+len(mem.rows) {
			return cmp.Or(mem.rows[row-mem.firstAt].Name, mem.name())
		}
	}
	return ""
}

// stragglers are the parts that began late, or measured for a shorter time, by what half of the parts did.
func (p *point) stragglers() (late, early []string) {
	parts := p.giving()
	if len(parts) < 2 {
		return nil, nil
	}
	var starts, lengths []int64
	for _, part := range parts {
		from, until := part.span()
		starts, lengths = append(starts, from), append(lengths, until-from)
	}
	slices.Sort(starts)
	slices.Sort(lengths)
	start, length := starts[(len(starts)-1)/2], lengths[len(lengths)/2]
	limit := max(int64(1e9), int64(p.longest(parts)*1e9/50))
	for _, part := range parts {
		from, until := part.span()
		if from > start+limit {
			late = append(late, fmt.Sprintf("%s by %.1f s", part.member.name(), float64(from-start)/1e9))
		}
		if until-from < length-limit {
			early = append(early, fmt.Sprintf("%s by %.1f s", part.member.name(), float64(length-until+from)/1e9))
		}
	}
	return late, early
}

func (p *point) longest(parts []*part) (s float64) {
	for _, part := range parts {
		s = max(s, part.window)
	}
	return s
}

// whose names the members without which the time in common would begin earlier or end later.
func (p *point) whose(gave []*part) string {
	last := slices.MaxFunc(gave, func(a, b *part) int { x, _ := a.span(); y, _ := b.span(); return cmp.Compare(x, y) })
	first := slices.MinFunc(gave, func(a, b *part) int { _, x := a.span(); _, y := b.span(); return cmp.Compare(x, y) })
	return fmt.Sprintf("; %s began last, %s ended first", last.member.name(), first.member.name())
}

// wholeWindows says why whole windows are used that are not the same.
func (p *point) wholeWindows(how *result.MergePoint, gave []*part) verdict.Warning {
	var unable []string
	for _, part := range gave {
		if part.series.empty() {
			unable = append(unable, part.member.name())
		}
	}
	w := verdict.Warning{Code: "merged_whole_windows", Advice: "merge result folders (--dir), which have what it takes to cut out the time in common"}
	common := "there is no time that all measured, by their own clocks"
	if how.CommonS > 0 {
		common = fmt.Sprintf("all measured together for %.1f s only", how.CommonS)
	}
	if len(unable) > 0 {
		w.Message = fmt.Sprintf("the members' whole windows are used, which differ: %s. %d of %d have no histogram log to cut: %s", common, len(unable), len(gave), some(unable))
		return w
	}
	w.Code, w.Message = "merged_no_common_window", "the members' whole windows are used: "+common+", not even for an interval"
	w.Advice = "a sum of loads that did not run at the same time is no throughput of anything; check the machines' clocks, and start them together"
	return w
}

// anyAbsent says whether some histogram is missing.
func (p *point) anyAbsent() bool {
	for d := range p.dirs {
		if p.dirs[d].latency.absent {
			return true
		}
	}
	return false
}
