package planfile

import (
	"io"
	"reflect"

	"blkstorm/plan"
)

// claim reads a claim. Its value is a number with its unit, as data sheets have it, or the form of results: a
// number in I/Os per second, bytes per second or nanoseconds, beside a key unit.
func (r *reader) claim(c *plan.Claim, n *node, at spot) error {
	fields := fieldsOf(reflect.TypeFor[plan.Claim]())
	if n.kind != mapping || n.get("unit") != nil {
		return r.fields(reflect.ValueOf(c).Elem(), fields, n, at, nil)
	}
	own := &node{kind: mapping, line: n.line}
	for _, k := range n.keys {
		if k.name != "value" {
			own.keys = append(own.keys, k)
			continue
		}
		here := at.below(k.name, k.line)
		if k.value.kind != scalar {
			return r.fail(here, "is %s; it takes a number with its unit", k.value.what())
		}
		var err error
		if c.Value, c.Unit, err = plan.ParseClaimed(k.value.text); err != nil {
			return r.fail(here, "%w", err)
		}
	}
	return r.fields(reflect.ValueOf(c).Elem(), fields, own, at, nil)
}

// ReadClaims reads a file of claims: the keys drive, source and values, as the key claims of a plan has them.
// name stands for the file in errors.
func ReadClaims(name string, in io.Reader) (*plan.Claims, error) {
	r := &reader{file: name}
	root, err := r.parse(in)
	if err != nil {
		return nil, err
	}
	var c plan.Claims
	if err := r.set(reflect.ValueOf(&c).Elem(), root, spot{}); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, r.errorAt(0, err)
	}
	return &c, nil
}
