package main

import (
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"blkstorm/execute"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/steady"
	"blkstorm/sweep"
)

// jsonKeys collects the keys of everything that a type can put into JSON.
func jsonKeys(t reflect.Type, keys map[string]bool, seen map[reflect.Type]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
		jsonKeys(t.Elem(), keys, seen)
	case reflect.Struct:
		if seen[t] || t.PkgPath() == "time" {
			return
		}
		seen[t] = true
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if !f.IsExported() || name == "-" {
				continue
			}
			if name != "" {
				keys[name] = true
			}
			jsonKeys(f.Type, keys, seen)
		}
	}
}

// docs reads pages of the user guide.
func docs(t *testing.T, names ...string) string {
	t.Helper()
	var all strings.Builder
	for _, name := range names {
		text, err := repoFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(text)
	}
	return all.String()
}

// Every key of the documents is in the guide.
func TestGuideHasEveryKey(t *testing.T) {
	pages := []string{"docs/run.md", "docs/devices.md", "docs/find-max.md", "docs/plan.md", "docs/sweep.md", "docs/steady.md", "docs/thresholds.md", "docs/resume.md", "docs/merge.md"}
	guide := docs(t, pages...)
	keys := map[string]bool{}
	for _, v := range []any{result.Doc{}, execute.Preview{}, deviceList{}} {
		jsonKeys(reflect.TypeOf(v), keys, map[reflect.Type]bool{})
	}
	for key := range keys {
		if !strings.Contains(guide, "`"+key+"`") {
			t.Errorf("none of %s has the key `%s`", strings.Join(pages, ", "), key)
		}
	}
}

// Every warning that the code can give is in the guide.
func TestGuideHasEveryWarning(t *testing.T) {
	guide := docs(t, "docs/warnings.md")
	code := regexp.MustCompile(`(?m)(?:Code:|code :?=) +"([a-z_]+)"`)
	found := 0
	for _, name := range []string{"verdict/judge.go", "verdict/trust.go", "verdict/open.go", "verdict/long.go", "execute/targets.go"} {
		for _, m := range code.FindAllStringSubmatch(docs(t, name), -1) {
			found++
			if !strings.Contains(guide, "`"+m[1]+"`") {
				t.Errorf("docs/warnings.md has no %s, which %s can give", m[1], name)
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d warnings found in the code", found)
	}
}

// Every option of find-max that is not one of run, or has another default there, is in its page.
func TestFindMaxPageHasItsOptions(t *testing.T) {
	a := &app{}
	text := docs(t, "docs/find-max.md")
	run := a.runCommand().Flags()
	hidden := 0
	a.findMaxCommand().Flags().VisitAll(func(f *pflag.Flag) {
		other := run.Lookup(f.Name)
		row := regexp.MustCompile("(?m)^\\| `--" + f.Name + "[ `].*$").FindString(text)
		switch {
		case f.Hidden:
			if hidden++; !strings.Contains(text, "`--"+f.Name+"`") {
				t.Errorf("the page does not say that --%s has no place", f.Name)
			}
		case other != nil && other.DefValue == f.DefValue:
		case row == "" || f.DefValue != "" && f.DefValue != "0" && !strings.Contains(row, "`"+f.DefValue+"`"):
			t.Errorf("no row for --%s with its default %s: %q", f.Name, f.DefValue, row)
		}
	})
	if hidden != len(ownRate)+2 { // and those that go on with a run
		t.Errorf("%d options are hidden, want %v and two more", hidden, ownRate)
	}
}

// Every key of a plan has a row, or a part of one, in the page about plan files, and every option of the
// commands is there.
func TestPlanPageIsComplete(t *testing.T) {
	page := docs(t, "docs/plan.md")
	keys := map[string]bool{}
	jsonKeys(reflect.TypeOf(plan.Plan{}), keys, map[reflect.Type]bool{})
	rule := map[string]any{}
	for _, r := range []steady.Rule{steady.Default(), {Kind: steady.FioSlope}} {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &rule); err != nil {
			t.Fatal(err)
		}
	}
	for key := range rule {
		keys[key] = true
	}
	if len(keys) < 60 {
		t.Fatalf("only %d keys found", len(keys))
	}
	for key := range keys {
		if !regexp.MustCompile("(?m)^\\| [^|]*`" + key + "`[^|]*\\|[^|]+\\|[^|]+\\|").MatchString(page) {
			t.Errorf("docs/plan.md has no row for the key `%s`", key)
		}
	}
	a := &app{}
	for _, cmd := range a.planCommand().Commands() {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(page, "`--"+f.Name) {
				t.Errorf("docs/plan.md has no --%s of plan %s", f.Name, cmd.Name())
			}
		})
	}
}

// Every option of sweep that is not one of run is in its page, with those that take lists.
func TestSweepPageHasItsOptions(t *testing.T) {
	a := &app{}
	text := docs(t, "docs/sweep.md")
	run := a.runCommand().Flags()
	lists := 0
	a.sweepCommand().Flags().VisitAll(func(f *pflag.Flag) {
		if _, list := f.Value.(*axisFlag); list {
			lists++
			if !strings.Contains(text, "`--"+f.Name+"`") {
				t.Errorf("the page does not say that --%s takes a list", f.Name)
			}
		}
		if run.Lookup(f.Name) == nil && !strings.Contains(text, "\n| `--"+f.Name+" ") {
			t.Errorf("no row for --%s", f.Name)
		}
	})
	if lists != len(sweep.Names) {
		t.Errorf("%d options take lists, want %v", lists, sweep.Names)
	}
}

// Every option is in the README and in the guide, with its default.
func TestGuideHasEveryOption(t *testing.T) {
	a := &app{}
	for _, page := range []string{"README.md", "docs/run.md"} {
		text := docs(t, page)
		a.runCommand().Flags().VisitAll(func(f *pflag.Flag) {
			row := ""
			for line := range strings.Lines(text) {
				if strings.HasPrefix(line, "| `--"+f.Name+"`") || strings.HasPrefix(line, "| `--"+f.Name+" ") {
					row = line
				}
			}
			if row == "" {
				t.Errorf("%s has no row for --%s", page, f.Name)
			}
			// Options that are off, empty or new each time have no default to show.
			if d := f.DefValue; d != "" && d != "false" && d != "[]" && f.Name != "seed" && !strings.Contains(row, "`"+d+"`") {
				t.Errorf("%s: the row of --%s lacks its default, %s: %s", page, f.Name, d, row)
			}
		})
	}
}
