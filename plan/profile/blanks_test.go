package profile

import (
	"strings"
	"testing"
)

// What stands in a blank stays as it is, also where it looks like a blank itself.
func TestFillBlanks(t *testing.T) {
	fill := func(name, argument string) (string, error) { return "<" + name + "|" + argument + "|{{x}}>", nil }
	for text, want := range map[string]string{
		"":                            "",
		"a {b} }} c":                  "a {b} }} c",
		"{{a}}":                       "<a||{{x}}>",
		"x: {y: {{.a}}}\n{{b c d}} e": "x: {y: <.a||{{x}}>}\n<b|c d|{{x}}> e",
	} {
		if got, err := fillBlanks(text, fill); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", text, got, err, want)
		}
	}
}

// A slip in a procedure is an error, not a hole in the plan.
func TestWrongBlanks(t *testing.T) {
	for text, want := range map[string]string{
		"{{head":                  "{{head: has no end",
		"{{}}":                    "{{}}: is no blank",
		"{{if .purge}}":           "{{if .purge}}: is no blank",
		"{{head 1}}":              "{{head 1}}: is no blank",
		"{{.runtime 1}}":          "{{.runtime 1}}: is no blank",
		"{{precondition}}":        "{{precondition}}: is no blank",
		"{{.nothing}}":            "{{.nothing}}: four-corners has no such setting",
		"{{most .nothing}}":       "{{.nothing}}: four-corners has no such setting",
		"{{quarter .nothing}}":    "{{.nothing}}: four-corners has no such setting",
		"{{most .threads}}":       "{{most .threads}}: is no list",
		"{{quarter .runtime}}":    "{{quarter .runtime}}: is no number",
		"{{preconditionMost 4K}}": "{{most .threads}}: is no list",
		"{{area 10}}":             "{{area 10}}: must be two percentages",
		"{{area 90 10}}":          "{{area 90 10}}: must be two percentages",
		"{{load soon}}":           `"soon"`,
	} {
		p, err := Get("four-corners")
		if err != nil {
			t.Fatal(err)
		}
		values, err := p.values(&Options{})
		if err != nil {
			t.Fatal(err)
		}
		w := &writer{profile: p, options: &Options{}, values: values}
		if got, err := fillBlanks(text, w.blank); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q, %v\nwant %s", text, got, err, want)
		}
	}
}
