package merge

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"blkstorm/plan"
	"blkstorm/result/load"
	"blkstorm/verdict"
)

// plans is what the members ran, and how that differs, in words, when it is allowed.
type plans struct {
	keys    []string // the first key in which each differs, and what the first member has there
	members map[string][]string
	texts   map[string]string // each canonical plan, once
	of      *member           // the first member
	first   *plan.Plan        // and its plan
}

// ignored are options of fio that say where, not what.
var ignored = map[string]bool{
	"filename": true, "directory": true, "name": true, "randseed": true, "client": true, "hostname": true, "output": true,
	"write_bw_log": true, "write_lat_log": true, "write_iops_log": true, "write_hist_log": true, "description": true,
}

// checkPlans holds all plans to the first one's.
func (m *merger) checkPlans() error {
	first := m.members[0]
	want := tree(first.canonical)
	for _, mem := range m.members[1:] {
		if mem.canonical == first.canonical {
			continue
		}
		key, a, b := difference("", want, tree(mem.canonical))
		if key == "" {
			continue
		}
		if !m.options.AllowDifferentPlans {
			return fmt.Errorf("%w: %s is %s in %s, and %s in %s (%s and %s); merge what ran the same, or give --allow-different-plans",
				ErrDiffer, key, a, first.name(), b, mem.name(), first.path, mem.path)
		}
		m.plans.add(fmt.Sprintf("%s is %s in %s", key, a, first.name()), fmt.Sprintf("%s in %s", b, mem.name()))
	}
	return nil
}

// canonical is what a document ran, as JSON: its plan without targets, seed and what may differ from machine
// to machine, or the options of fio's jobs.
func canonical(r *load.Result) string {
	if r.Doc.Plan == nil {
		jobs := map[string]any{}
		for i, o := range r.Options {
			job := map[string]any{}
			for key, value := range o {
				if !ignored[key] {
					job[key] = value
				}
			}
			jobs[fmt.Sprint("job ", i+1)] = job
		}
		return marshal(map[string]any{"fio": jobs})
	}
	p := *r.Doc.Plan
	p.Targets, p.Seed, p.Destroy, p.Claims = nil, 0, false, nil
	p.Phases = slices.Clone(p.Phases)
	for i := range p.Phases {
		p.Phases[i].Points = slices.Clone(p.Phases[i].Points)
		for j := range p.Phases[i].Points {
			point := &p.Phases[i].Points[j]
			point.Streams = slices.Clone(point.Streams)
			for k := range point.Streams {
				point.Streams[k].Targets = nil
			}
		}
	}
	return marshal(&p)
}

func marshal(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "" // of what was read from JSON there is none
	}
	return string(text)
}

func tree(text string) (v any) {
	_ = json.Unmarshal([]byte(text), &v) // as above
	return v
}

// keepPlan remembers what the member ran, once for all that ran the same, and the plan of the first member.
func (m *merger) keepPlan(mem *member, text string, p *plan.Plan) {
	if m.plans.texts == nil {
		m.plans.texts = map[string]string{}
	}
	if same, has := m.plans.texts[text]; has {
		text = same
	} else {
		m.plans.texts[text] = text
	}
	mem.canonical = text
	if m.plans.of == nil || mem.compare(m.plans.of) < 0 {
		m.plans.of, m.plans.first = mem, p
	}
}

// difference is the first key under which two values of JSON differ, with both; empty: there is none.
func difference(key string, a, b any) (where, inA, inB string) {
	switch x := a.(type) {
	case map[string]any:
		y, same := b.(map[string]any)
		if !same {
			break
		}
		all := maps.Clone(x)
		maps.Copy(all, y)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			if where, inA, inB = difference(strings.TrimPrefix(key+"."+name, "."), x[name], y[name]); where != "" {
				return where, inA, inB
			}
		}
		return "", "", ""
	case []any:
		y, same := b.([]any)
		if !same {
			break
		}
		if len(x) != len(y) {
			return "the number of " + key, fmt.Sprint(len(x)), fmt.Sprint(len(y))
		}
		for i := range x {
			if where, inA, inB = difference(fmt.Sprintf("%s[%d]", key, i), x[i], y[i]); where != "" {
				return where, inA, inB
			}
		}
		return "", "", ""
	default:
		if a == b {
			return "", "", ""
		}
	}
	return key, short(a), short(b)
}

// short is a value for a message.
func short(v any) string {
	if v == nil {
		return "nothing"
	}
	text, err := json.Marshal(v)
	if err != nil || len(text) > 60 {
		return "another value"
	}
	return string(text)
}

func (p *plans) add(key, other string) {
	if p.members == nil {
		p.members = map[string][]string{}
	}
	if p.members[key] == nil {
		p.keys = append(p.keys, key)
	}
	p.members[key] = append(p.members[key], other)
}

// warn tells of plans that differ.
func (p *plans) warn() []verdict.Warning {
	if len(p.keys) == 0 {
		return nil
	}
	var list []string
	for _, key := range p.keys {
		list = append(list, key+", and "+some(p.members[key]))
	}
	return []verdict.Warning{{
		Code: "merged_plans_differ", Message: "the members ran different plans: " + strings.Join(list[:min(len(list), maxNamed)], "; "),
		Advice: "read the sums as those of the loads together, not of one load on many machines",
	}}
}
