package fiojob

import (
	"strings"

	"blkstorm/plan/fiojob/jobfile"
)

// ShowCommand is the command line that does what job files say: the options of [global] sections, then each
// job's own after its name, its file last, as fio prints them. Values stand as they are.
func ShowCommand(c *Command, files [][]jobfile.Section) string {
	var b strings.Builder
	b.WriteString("fio ")
	show := func(s jobfile.Setting) {
		name := s.Name
		if o := Lookup(name); o != nil {
			name = o.Name
		}
		b.WriteString("--" + name)
		if s.Given {
			b.WriteString("=" + s.Value)
		}
		b.WriteString(" ")
	}
	job := func(s *jobfile.Section) {
		if s.Name != jobfile.Global {
			b.WriteString("--name=" + s.Name + " ")
		}
		var last []jobfile.Setting
		for i, set := range s.Settings {
			if i == 0 && set.Name == "name" && set.Value == s.Name && set.Pos.Line == 0 {
				continue // a job of the command line
			}
			if o := Lookup(set.Name); o != nil && o.Name == "filename" && s.Name != jobfile.Global {
				last = append(last, set)
				continue
			}
			show(set)
		}
		for _, set := range last {
			show(set)
		}
	}
	for _, set := range c.Defaults {
		show(set)
	}
	for _, sections := range files {
		for i := range sections {
			job(&sections[i])
		}
	}
	for i := range c.Jobs {
		job(&c.Jobs[i])
	}
	return b.String()
}
