package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/result/load"
	"blkstorm/verdict"
)

// shownDifferences is how many of a list are written out.
const shownDifferences = 5

// differences says in what else than their figures two sides differ, and what speaks against them.
func differences(a, b *side, keys []key) []verdict.Warning {
	out := []verdict.Warning{}
	add := func(code, message, advice string) {
		out = append(out, verdict.Warning{Code: code, Message: message, Advice: advice})
	}
	// The first runs stand for their sides; that repeats are alike is said of each side.
	ra, rb := a.runs[0], b.runs[0]
	if list := differs(hostFacts(ra.Doc), hostFacts(rb.Doc)); len(list) > 0 {
		add("host_differs", some("the machines differ in", list), "compare runs of the same machine, or take the machine for part of what is compared")
	}
	if x, y := ra.Doc.Host.Kernel, rb.Doc.Host.Kernel; x != "" && y != "" && x != y {
		add("kernel_differs", "the kernels differ: "+x+", "+y, "a kernel's block layer is part of what is measured")
	}
	if list := deviceDifferences(ra.Doc, rb.Doc); len(list) > 0 {
		add("device_differs", some("the targets differ in", list), "two devices of one model may differ; measure the same one to compare anything else")
	}
	if list := planDifferences(ra.Doc.Plan, rb.Doc.Plan); len(list) > 0 {
		add("plan_differs", some("the plans differ in", list), "blkstorm plan run RESULT repeats the plan of a result")
	}
	if list := pointDifferences(a, b, keys, func(p *result.Point) string { return p.EngineName }); len(list) > 0 {
		add("engine_differs", some("the engines differ:", list), "name the engine with --engine")
	}
	if list := pointDifferences(a, b, keys, depth); len(list) > 0 {
		add("depth_differs", some("threads x iodepth differ:", list), "latency grows with what is in flight: compare points of the same depth")
	}
	if x, y := ra.Doc.Version, rb.Doc.Version; x != y {
		add("version_differs", fmt.Sprintf("measured by different versions: %q, %q", x, y), "measure both with the same program")
	}
	if id := ra.id(); id != "" && slices.ContainsFunc(b.runs, func(r *run) bool { return r.id() == id }) {
		add("same_result", "both sides have the result "+id, "give two different results")
	}
	return out
}

// id is what a result has for itself; fio's have nothing of the kind.
func (r *run) id() string {
	if r.Kind == load.Fio {
		return ""
	}
	return r.Doc.ID
}

// some is the beginning of a list.
func some(what string, list []string) string {
	more := ""
	if n := len(list) - shownDifferences; n > 0 {
		list, more = list[:shownDifferences], fmt.Sprintf(", and %d more", n)
	}
	return what + " " + strings.Join(list, ", ") + more
}

// differs lists the keys of both whose values differ, where both are known.
func differs(a, b map[string]string) []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if x, y := a[k], b[k]; x != "" && y != "" && x != y {
			out = append(out, fmt.Sprintf("%s (%s, %s)", k, x, y))
		}
	}
	return out
}

// known is a number as text; empty when it is 0, which stands for not known.
func known[T int | int64](v T) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprint(v)
}

func hostFacts(d *result.Doc) map[string]string {
	h := &d.Host
	return map[string]string{
		"hostname": h.Hostname, "cpu_model": h.CPUModel, "cpus": known(h.CPUs), "memory_bytes": known(h.MemoryBytes),
		"hypervisor": h.Hypervisor, "governor": h.Governor, "arch": h.Arch,
	}
}

func deviceDifferences(a, b *result.Doc) []string {
	if len(a.Targets) == 0 || len(b.Targets) == 0 {
		return nil // not known
	}
	if len(a.Targets) != len(b.Targets) {
		return []string{fmt.Sprintf("number (%d, %d)", len(a.Targets), len(b.Targets))}
	}
	var out []string
	for i := range a.Targets {
		facts := func(d *result.Doc) map[string]string {
			t := d.Targets[i]
			return map[string]string{
				"kind": t.Kind, "model": t.Model, "vendor": t.Vendor, "serial": t.Serial, "wwn": t.WWN, "firmware": t.Firmware,
				"size_bytes": known(t.SizeBytes), "scheduler": t.Scheduler, "write_cache": t.Queue.WriteCache,
			}
		}
		for _, text := range differs(facts(a), facts(b)) {
			if len(a.Targets) > 1 {
				text = fmt.Sprintf("%s of target %d", text, i+1)
			}
			out = append(out, text)
		}
	}
	return out
}

func depth(p *result.Point) string {
	if p.Threads*p.IODepth == 0 {
		return ""
	}
	return fmt.Sprintf("%dT/%dQ", p.Threads, p.IODepth)
}

// pointDifferences lists what differs in the points, each pair of values once.
func pointDifferences(a, b *side, keys []key, of func(*result.Point) string) []string {
	var out []string
	seen := map[[2]string]bool{}
	for _, k := range keys {
		x, y := of(a.points[k][0].point()), of(b.points[k][0].point())
		if pair := [2]string{x, y}; x != "" && y != "" && x != y && !seen[pair] {
			seen[pair] = true
			out = append(out, fmt.Sprintf("%v (%s, %s)", k, x, y))
		}
	}
	return out
}

// ownKeys are those of a plan in which runs of the same thing differ: chance, consent, names, judgement.
var ownKeys = []string{"seed", "spec", "destroy", "destroy_signature", "asserts", "profile", "claims", "quick", "grace", "create_bytes"}

// planDifferences lists the keys in which plans differ, with both values.
func planDifferences(a, b *plan.Plan) []string {
	if a == nil || b == nil || a.Schema == "" || b.Schema == "" {
		return nil // not known
	}
	var out []string
	walk("", tree(a), tree(b), &out)
	return out
}

// tree is a plan as its JSON has it.
func tree(p *plan.Plan) (v any) {
	text, err := json.Marshal(p)
	if err != nil || json.Unmarshal(text, &v) != nil {
		return nil
	}
	return v
}

func walk(path string, a, b any, out *[]string) {
	switch x := a.(type) {
	case map[string]any:
		if y, ok := b.(map[string]any); ok {
			keys := slices.Sorted(maps.Keys(x))
			for k := range y {
				if _, has := x[k]; !has {
					keys = append(keys, k)
				}
			}
			slices.Sort(keys)
			for _, k := range keys {
				if !slices.Contains(ownKeys, k) {
					walk(strings.TrimPrefix(path+"."+k, "."), x[k], y[k], out)
				}
			}
			return
		}
	case []any:
		if y, ok := b.([]any); ok && len(x) == len(y) {
			for i := range x {
				walk(fmt.Sprintf("%s[%d]", path, i), x[i], y[i], out)
			}
			return
		}
	}
	if x, y := brief(a), brief(b); x != y {
		*out = append(*out, fmt.Sprintf("%s (%s, %s)", path, x, y))
	}
}

// brief is a value of a plan; of a list or an object, what is in it.
func brief(v any) string {
	switch v := v.(type) {
	case nil:
		return "none"
	case []any:
		return fmt.Sprintf("%d entries", len(v))
	case map[string]any:
		return fmt.Sprintf("%d keys", len(v))
	case string:
		return v
	}
	text, err := json.Marshal(v)
	if err != nil {
		return "?"
	}
	return string(text)
}
