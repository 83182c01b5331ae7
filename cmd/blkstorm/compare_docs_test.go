package main

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"blkstorm/compare"
)

// The page about comparisons has every key, option and warning code.
func TestComparePageIsComplete(t *testing.T) {
	page := docs(t, "docs/compare.md")
	keys := map[string]bool{}
	jsonKeys(reflect.TypeOf(compare.Doc{}), keys, map[reflect.Type]bool{})
	if len(keys) < 40 {
		t.Fatalf("only %d keys", len(keys))
	}
	for key := range keys {
		if !strings.Contains(page, "`"+key+"`") {
			t.Errorf("docs/compare.md has no key `%s`", key)
		}
	}
	a := &app{}
	a.compareCommand().Flags().VisitAll(func(f *pflag.Flag) {
		row := regexp.MustCompile("(?m)^\\| `--" + f.Name + "[ `].*$").FindString(page)
		if row == "" || f.DefValue != "[]" && !strings.Contains(row, "`"+f.DefValue+"`") {
			t.Errorf("no row for --%s with its default %s: %q", f.Name, f.DefValue, row)
		}
	})
	code := regexp.MustCompile(`\badd\("([a-z_]+)"`)
	found := 0
	for _, name := range []string{"compare/differ.go", "compare/trust.go"} {
		for _, m := range code.FindAllStringSubmatch(docs(t, name), -1) {
			found++
			if !strings.Contains(page, "`"+m[1]+"`") {
				t.Errorf("docs/compare.md has no %s", m[1])
			}
		}
	}
	if found < 15 {
		t.Errorf("only %d warnings found", found)
	}
}
