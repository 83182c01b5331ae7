package fiojob

import (
	"slices"
	"strings"

	"blkstorm/plan/fiojob/jobfile"
)

// ShowCommand is the command line that does what job files say, a line for each of them: the options of [global]
// sections, then each job's own after its name, its file last, as fio prints them. Values stand as they are.
func ShowCommand(c *Command, files [][]jobfile.Section) string {
	var b strings.Builder
	show := func(s jobfile.Setting) {
		name := s.Name
		if o := Lookup(name); o != nil {
			name = o.Name
		}
		b.WriteString("--" + name)
		switch {
		case name == "description":
			b.WriteString(`="` + s.Value + `"`)
		case s.Given:
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
	line := func(sections []jobfile.Section) {
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString("fio ")
		for _, set := range c.Defaults {
			show(set)
		}
		for i := range sections {
			if s := &sections[i]; s.Name == jobfile.Global || len(c.Sections) == 0 || slices.Contains(c.Sections, s.Name) || s.Pos.Line == 0 {
				job(s)
			}
		}
	}
	if len(c.Jobs) > 0 || len(files) == 0 {
		line(c.Jobs)
	}
	for _, sections := range files {
		line(sections)
	}
	return b.String()
}
