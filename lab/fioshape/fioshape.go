// Package fioshape compares the shape of two of fio's JSON documents: which keys they have, and of what
// types their values are. What the values are, it does not look at.
//
// Tests call it with what fio has printed and what blkstorm has for the same jobs; lab/fioshape/show is
// the same as a command.
package fioshape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Difference is one place where two documents are not alike.
type Difference struct {
	Path string // /jobs/0/read/iops
	// Theirs and Ours are the types there: object, list, string, integer, float, boolean, null; empty where
	// there is nothing.
	Theirs, Ours string
}

func (d Difference) String() string {
	switch {
	case d.Ours == "":
		return d.Path + ": missing, " + d.Theirs
	case d.Theirs == "":
		return d.Path + ": additional, " + d.Ours
	}
	return fmt.Sprintf("%s: %s, and is to be %s", d.Path, d.Ours, d.Theirs)
}

// Missing says whether something that they have is not there.
func (d Difference) Missing() bool { return d.Ours == "" }

// Additional says whether something is there that they do not have.
func (d Difference) Additional() bool { return d.Theirs == "" }

// Diff lists the differences of two documents, in the order of their paths. Text around a document, as
// fio puts it before its own, is left out. An error says which of them is no document.
func Diff(theirs, ours []byte) ([]Difference, error) {
	a, err := decode(theirs)
	if err != nil {
		return nil, fmt.Errorf("theirs: %w", err)
	}
	b, err := decode(ours)
	if err != nil {
		return nil, fmt.Errorf("ours: %w", err)
	}
	var list []Difference
	diff(&list, "", a, b)
	slices.SortFunc(list, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

func decode(text []byte) (doc any, err error) {
	d := json.NewDecoder(bytes.NewReader(text[max(bytes.IndexByte(text, '{'), 0):]))
	d.UseNumber()
	err = d.Decode(&doc)
	return doc, err
}

func diff(list *[]Difference, path string, a, b any) {
	if kind(a) != kind(b) {
		*list = append(*list, Difference{path, kind(a), kind(b)})
		return
	}
	switch a := a.(type) {
	case map[string]any:
		b := b.(map[string]any)
		if byValue(path) {
			return
		}
		for key, v := range a {
			if other, ok := b[key]; ok {
				diff(list, path+"/"+key, v, other)
			} else {
				*list = append(*list, Difference{Path: path + "/" + key, Theirs: kind(v)})
			}
		}
		for key, v := range b {
			if _, ok := a[key]; !ok {
				*list = append(*list, Difference{Path: path + "/" + key, Ours: kind(v)})
			}
		}
	case []any:
		b := b.([]any)
		for i := range max(len(a), len(b)) {
			switch at := fmt.Sprintf("%s/%d", path, i); {
			case i >= len(b):
				*list = append(*list, Difference{Path: at, Theirs: kind(a[i])})
			case i >= len(a):
				*list = append(*list, Difference{Path: at, Ours: kind(b[i])})
			default:
				diff(list, at, a[i], b[i])
			}
		}
	}
}

// byValue says whether the keys of an object are what was measured: the bins of a histogram.
func byValue(path string) bool { return strings.HasSuffix(path, "/bins") }

func kind(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "list"
	case string:
		return "string"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "float"
		}
		return "integer"
	case bool:
		return "boolean"
	}
	return "null"
}
