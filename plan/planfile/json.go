package planfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
)

// errNoJSON is wrapped where a text is no JSON at all; it may be YAML.
var errNoJSON = errors.New("is not JSON")

// lineReader notes where the lines of what is read end, up to a limit of bytes.
type lineReader struct {
	in   io.Reader
	read int64
	ends []int64
}

var errTooLong = fmt.Errorf("its plan ends beyond the limit of %d MiB", MaxJSON>>20)

func (l *lineReader) Read(p []byte) (int, error) {
	if l.read >= MaxJSON {
		return 0, errTooLong
	}
	n, err := l.in.Read(p[:min(len(p), int(MaxJSON-l.read))])
	for i, b := range p[:n] {
		if b == '\n' {
			l.ends = append(l.ends, l.read+int64(i))
		}
	}
	l.read += int64(n)
	return n, err
}

// jsonParser makes nodes from the tokens of a document. Tokens lie on one line each, so that the line on which
// one ends is its own.
type jsonParser struct {
	d     *json.Decoder
	lines *lineReader
}

// parseJSON reads a document up to the end of its key "plan", or to its own end where it has none.
func parseJSON(in io.Reader) (*node, error) {
	l := &lineReader{in: in}
	p := jsonParser{json.NewDecoder(l), l}
	p.d.UseNumber()
	n, err := p.value(0)
	if err != nil || p.done(n) {
		return n, err
	}
	if t, err := p.d.Token(); err == nil || !errors.Is(err, io.EOF) {
		return nil, &lineError{p.line(), fmt.Errorf("%w: something follows after its end (%v)", errNoJSON, t)}
	}
	return n, nil
}

// done says whether a top-level mapping has its plan, after which nothing is read.
func (p *jsonParser) done(top *node) bool { return top.kind == mapping && top.get("plan") != nil }

// line is that of the last token.
func (p *jsonParser) line() int {
	i, _ := slices.BinarySearch(p.lines.ends, p.d.InputOffset())
	return i + 1
}

func (p *jsonParser) token() (json.Token, error) {
	t, err := p.d.Token()
	switch {
	case errors.Is(err, errTooLong):
		return nil, err
	case err != nil:
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, &lineError{p.line(), fmt.Errorf("%w: %w", errNoJSON, err)}
	}
	return t, nil
}

func (p *jsonParser) value(depth int) (*node, error) {
	t, err := p.token()
	if err != nil {
		return nil, err
	}
	n := &node{line: p.line()}
	if depth > maxDepth {
		return nil, &lineError{n.line, fmt.Errorf("objects and lists are over %d deep", maxDepth)}
	}
	switch v := t.(type) {
	case json.Delim:
		if v == '{' {
			n.kind = mapping
			return n, p.members(n, depth)
		}
		n.kind = list
		for p.d.More() {
			item, err := p.value(depth + 1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
		_, err := p.token()
		return n, err
	case nil:
		n.kind = null
	case string:
		n.text = v
	case json.Number:
		n.text, n.number = v.String(), true
	case bool:
		n.text = fmt.Sprint(v)
	}
	return n, nil
}

func (p *jsonParser) members(n *node, depth int) error {
	seen := map[string]int{}
	for p.d.More() {
		t, err := p.token()
		if err != nil {
			return err
		}
		k := key{name: t.(string), line: p.line()} // the decoder takes nothing else as a key
		if k.value, err = p.value(depth + 1); err != nil {
			return err
		}
		if err := n.add(k, seen); err != nil {
			return err
		}
		if depth == 0 && p.done(n) {
			return nil
		}
	}
	_, err := p.token()
	return err
}
