package main

import (
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"blkstorm/plan/profile"
)

// The page has a section for each profile, with a row for each of its settings, and all options of the commands.
func TestProfilePageIsComplete(t *testing.T) {
	page := docs(t, "docs/profiles.md")
	sections := map[string]string{}
	for _, part := range strings.Split(page, "\n## ")[1:] {
		name, text, _ := strings.Cut(part, "\n")
		sections[name] = text
	}
	code := func(text string) string {
		if text == "" {
			return ""
		}
		return "`" + text + "`"
	}
	for _, p := range profile.All() {
		text := sections[p.Name]
		for _, part := range []string{"\nSource: ", "Left out: "} {
			if !strings.Contains(strings.ReplaceAll(text, "\n", " "), strings.TrimPrefix(part, "\n")) {
				t.Errorf("section %s lacks %q", p.Name, part)
			}
		}
		for _, s := range p.Settings {
			row := "\n| `--" + s.Name + "` | " + code(s.Default) + " | " + code(s.Quick) + " | " + s.Is + " |\n"
			if !strings.Contains(text, row) {
				t.Errorf("section %s lacks%s", p.Name, row)
			}
		}
		if rows := strings.Count(text, "\n| `--"); rows != len(p.Settings) {
			t.Errorf("section %s has %d rows for %d settings", p.Name, rows, len(p.Settings))
		}
	}
	for _, name := range profile.ClaimNames() {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("the page does not name the drive %s", name)
		}
	}
	a := &app{}
	for _, cmd := range a.profileCommand().Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(page, "`--"+f.Name) && !strings.Contains(page, " --"+f.Name) {
				t.Errorf("the page has no --%s of profile %s", f.Name, cmd.Name())
			}
		})
	}
	keys := map[string]bool{}
	jsonKeys(reflect.TypeFor[profileList](), keys, map[reflect.Type]bool{})
	for key := range keys {
		if !strings.Contains(sections["The list as JSON"], "`"+key+"`") {
			t.Errorf("the page has no key `%s`", key)
		}
	}
}
