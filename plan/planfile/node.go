package planfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// node is a value of a file, of YAML or of JSON, with aliases expanded.
type node struct {
	kind   kind
	line   int
	text   string // of a scalar, as written
	number bool   // a scalar that is a whole number, rather than a text of digits
	keys   []key  // of a mapping, in written order
	items  []*node
}

type key struct {
	name  string
	line  int
	value *node
}

type kind uint8

const (
	scalar kind = iota
	mapping
	list
	null
)

// what names the kind of value for people.
func (n *node) what() string {
	return [...]string{"a single value", "a mapping", "a list", "nothing"}[n.kind]
}

// get is the value of a key, nil if there is none.
func (n *node) get(name string) *node {
	for i := range n.keys {
		if n.keys[i].name == name {
			return n.keys[i].value
		}
	}
	return nil
}

// add adds a key that must be new.
func (n *node) add(k key, seen map[string]int) error {
	if first, twice := seen[k.name]; twice {
		return &lineError{k.line, fmt.Errorf("key %s: given twice, first on line %d", quoted(k.name), first)}
	}
	seen[k.name] = k.line
	n.keys = append(n.keys, k)
	return nil
}

// lineError is an error with its line; 0 where there is none.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return e.err.Error() }
func (e *lineError) Unwrap() error { return e.err }

// converter turns YAML's own tree into nodes.
type converter struct {
	count int
	open  map[*yaml.Node]bool // anchors that are being expanded
}

// parseYAML reads one YAML document.
func parseYAML(text []byte) (*node, error) {
	if !utf8.Valid(text) || bytes.ContainsRune(text, 0) {
		return nil, errors.New("is no text: a plan file is YAML or JSON, in UTF-8")
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	if err := d.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, errors.New("holds nothing but comments; docs/plan.md shows what a plan looks like")
	} else if err != nil {
		return nil, yamlError(text, err)
	}
	var more yaml.Node
	if err := d.Decode(&more); err == nil {
		return nil, &lineError{more.Line, errors.New("a second document begins; a plan file has one")}
	} else if !errors.Is(err, io.EOF) {
		return nil, yamlError(text, err)
	}
	c := converter{open: map[*yaml.Node]bool{}}
	if len(doc.Content) != 1 {
		return nil, errors.New("holds no value")
	}
	return c.node(doc.Content[0], 0)
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// yamlError takes the line out of an error of the YAML package. Tabs are what most often is behind them.
func yamlError(text []byte, err error) error {
	m := yamlLine.FindStringSubmatch(err.Error())
	line := 0
	what := err.Error()
	if m != nil {
		line, _ = strconv.Atoi(m[1]) // without a line it stays 0
		what = what[len(m[0]):]
	}
	n := 0
	for l := range bytes.Lines(text) {
		n++
		if indent := l[:len(l)-len(bytes.TrimLeft(l, " \t"))]; bytes.ContainsRune(indent, '\t') {
			return &lineError{n, fmt.Errorf("a tab in the indentation; YAML takes blanks only (%s)", what)}
		}
	}
	return &lineError{line, fmt.Errorf("is not YAML: %s", what)}
}

func (c *converter) node(y *yaml.Node, depth int) (*node, error) {
	fail := func(format string, args ...any) (*node, error) {
		return nil, &lineError{y.Line, fmt.Errorf(format, args...)}
	}
	if c.count++; c.count > maxNodes {
		return fail("over %d values, aliases expanded", maxNodes)
	}
	if depth > maxDepth {
		return fail("mappings and lists are over %d deep", maxDepth)
	}
	n := &node{line: y.Line}
	switch y.Kind {
	case yaml.AliasNode:
		if c.open[y.Alias] {
			return fail("alias *%s: is inside of what it stands for", y.Value)
		}
		c.open[y.Alias] = true
		defer delete(c.open, y.Alias)
		return c.node(y.Alias, depth+1)
	case yaml.ScalarNode:
		switch tag := y.ShortTag(); tag {
		case "!!null":
			n.kind = null
		case "!!str", "!!int", "!!float", "!!bool", "!!timestamp", "!!merge":
			n.text, n.number = y.Value, tag == "!!int"
		default:
			return fail("tag %s: is not known", quoted(tag))
		}
	case yaml.SequenceNode:
		n.kind = list
		for _, item := range y.Content {
			v, err := c.node(item, depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, v)
		}
	case yaml.MappingNode:
		n.kind = mapping
		return n, c.pairs(n, y, depth)
	}
	return n, nil
}

// pairs fills a mapping. What << merges counts for keys that the mapping does not have itself.
func (c *converter) pairs(n *node, y *yaml.Node, depth int) error {
	seen := map[string]int{}
	var merged []*node
	for i := 0; i+1 < len(y.Content); i += 2 {
		name := y.Content[i]
		if name.Kind != yaml.ScalarNode {
			return &lineError{name.Line, errors.New("a key must be a word")}
		}
		v, err := c.node(y.Content[i+1], depth+1)
		if err != nil {
			return err
		}
		if name.ShortTag() == "!!merge" {
			merged = append(merged, v)
			continue
		}
		if err := n.add(key{name.Value, name.Line, v}, seen); err != nil {
			return err
		}
	}
	for _, m := range merged {
		if err := n.merge(m, seen); err != nil {
			return err
		}
	}
	return nil
}

// merge adds the keys of from, or of each in a list, that the mapping does not have.
func (n *node) merge(from *node, seen map[string]int) error {
	switch from.kind {
	case list:
		for _, m := range from.items {
			if m.kind != mapping {
				return &lineError{m.line, errors.New("<<: takes mappings")}
			}
			if err := n.merge(m, seen); err != nil {
				return err
			}
		}
	case mapping:
		for _, k := range from.keys {
			if _, has := seen[k.name]; !has {
				seen[k.name] = k.line
				n.keys = append(n.keys, k)
			}
		}
	default:
		return &lineError{from.line, fmt.Errorf("<<: is %s; it takes a mapping", from.what())}
	}
	return nil
}

// quoted shows a text of the file, shortened, in quotes where it has more than plain characters.
func quoted(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		s = string(r[:most]) + "…"
	}
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) || strings.ContainsRune(" \"`", r) }) {
		return strconv.Quote(s)
	}
	return s
}
