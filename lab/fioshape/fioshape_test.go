package fioshape

import (
	"fmt"
	"slices"
	"testing"
)

func TestDiff(t *testing.T) {
	for _, c := range []struct {
		name, theirs, ours string
		want               []string
	}{
		{"alike", `{"a":1,"b":[{"c":"x"}]}`, `{"a":2,"b":[{"c":"y"}]}`, nil},
		{"text before it", "note: something\n{\"a\":1}", `{"a":2}`, nil},
		{"missing", `{"a":{"b":1.5}}`, `{"a":{}}`, []string{"/a/b: missing, float"}},
		{"additional", `{"a":1}`, `{"a":1,"b":"x"}`, []string{"/b: additional, string"}},
		{"a float for an integer", `{"a":1}`, `{"a":1.0}`, []string{"/a: float, and is to be integer"}},
		{"an integer for a float", `{"a":0.000000}`, `{"a":0}`, []string{"/a: integer, and is to be float"}},
		{"a string for a number", `{"a":1}`, `{"a":"1"}`, []string{"/a: string, and is to be integer"}},
		{"a shorter list", `{"a":[1,{}]}`, `{"a":[1]}`, []string{"/a/1: missing, object"}},
		{"a longer list", `{"a":[1]}`, `{"a":[1,true]}`, []string{"/a/1: additional, boolean"}},
		{"bins are values", `{"a":{"bins":{"1":2}}}`, `{"a":{"bins":{"3":4}}}`, nil},
		{"in the order of paths", `{"b":1,"a":1}`, `{}`, []string{"/a: missing, integer", "/b: missing, integer"}},
	} {
		list, err := Diff([]byte(c.theirs), []byte(c.ours))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		var got []string
		for _, d := range list {
			got = append(got, fmt.Sprint(d))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, broken := range [][2]string{{`{"a":`, `{}`}, {`{}`, ``}} {
		if _, err := Diff([]byte(broken[0]), []byte(broken[1])); err == nil {
			t.Errorf("%q beside %q: no error", broken[0], broken[1])
		}
	}
}
