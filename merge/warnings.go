package merge

import (
	"fmt"
	"slices"
	"strings"

	"blkstorm/verdict"
)

// maxNamed is how many members a message names.
const maxNamed = 8

// some lists names, the first ones and how many more.
func some(names []string) string {
	if len(names) <= maxNamed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), len(names)-maxNamed)
}

// warnings are the members' own, one entry for each code.
type warnings struct {
	all []*warningOf
}

type warningOf struct {
	code    string
	members []*member
	first   *member
	warning verdict.Warning // of the first member
}

func (w *warnings) add(mem *member, v verdict.Warning) {
	i := slices.IndexFunc(w.all, func(o *warningOf) bool { return o.code == v.Code })
	if i < 0 {
		w.all = append(w.all, &warningOf{code: v.Code, members: []*member{mem}, first: mem, warning: v})
		return
	}
	o := w.all[i]
	if !slices.Contains(o.members, mem) {
		o.members = append(o.members, mem)
	}
	if mem.compare(o.first) < 0 {
		o.first, o.warning = mem, v
	}
}

// list is one warning for each code, which says whom it concerns.
func (w *warnings) list(of int) []verdict.Warning {
	slices.SortFunc(w.all, func(a, b *warningOf) int { return strings.Compare(a.code, b.code) })
	out := []verdict.Warning{}
	for _, o := range w.all {
		v := o.warning
		if of > 1 {
			slices.SortFunc(o.members, (*member).compare)
			names := make([]string, 0, len(o.members))
			for _, mem := range o.members {
				names = append(names, mem.name())
			}
			v.Message = fmt.Sprintf("in %d of %d members (%s); in %s: %s", len(names), of, some(names), o.first.name(), v.Message)
		}
		out = append(out, v)
	}
	return out
}

// name is how a member is called in messages.
func (mem *member) name() string { return mem.called }

// nameMembers gives each a name that no other has: its host's, with its run's where two have the same.
func (m *merger) nameMembers() {
	hosts := map[string]int{}
	for i, mem := range m.members {
		mem.index = i
		hosts[mem.host]++
	}
	for _, mem := range m.members {
		mem.called = mem.host
		if hosts[mem.host] > 1 {
			id := mem.id
			if len(id) > 8 {
				id = id[:8]
			}
			mem.called = fmt.Sprintf("%s (%s)", mem.host, id)
		}
		if !mem.merged {
			mem.rows[0].Name = mem.called
		}
	}
}
