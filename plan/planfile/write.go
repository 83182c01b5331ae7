package planfile

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"

	"go.yaml.in/yaml/v3"

	"blkstorm/plan"
	"blkstorm/unit"
	"blkstorm/workload"
)

// writtenHead is the comment above a plan.
const writtenHead = "# blkstorm plan run FILE runs this\n"

// Write writes a plan that Read reads as just this plan. It is YAML, with the keys of its JSON and sizes as
// people write them; JSON, where the plan is too long for a YAML file.
func Write(p *plan.Plan) ([]byte, error) {
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	root, err := parseJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	out := bytes.NewBufferString(writtenHead)
	e := yaml.NewEncoder(out)
	e.SetIndent(2)
	if err := e.Encode(yamlOf(root, false)); err != nil {
		return nil, err
	}
	if err := e.Close(); err != nil {
		return nil, err
	}
	if out.Len() > MaxYAML {
		return append(text, '\n'), nil
	}
	return out.Bytes(), nil
}

// sizeKeys are the keys whose values are bytes.
var sizeKeys = sizesOf(map[string]bool{}, plan.Target{}, workload.Spec{}, workload.DataSpec{}, unit.Share{})

func sizesOf(keys map[string]bool, structs ...any) map[string]bool {
	for _, v := range structs {
		t := reflect.TypeOf(v)
		for _, f := range fieldsOf(t) {
			if t.FieldByIndex(f.index).Type.Kind() == reflect.Int64 {
				keys[f.key] = true
			}
		}
	}
	return keys
}

func yamlOf(n *node, size bool) *yaml.Node {
	switch n.kind {
	case mapping:
		y := &yaml.Node{Kind: yaml.MappingNode}
		for _, k := range n.keys {
			y.Content = append(y.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: k.name}, yamlOf(k.value, sizeKeys[k.name]))
		}
		return y
	case list:
		y := &yaml.Node{Kind: yaml.SequenceNode}
		for _, item := range n.items {
			if item.kind == scalar && item.number {
				y.Style = yaml.FlowStyle
			}
			y.Content = append(y.Content, yamlOf(item, size))
		}
		return y
	}
	y := &yaml.Node{Kind: yaml.ScalarNode, Value: n.text, Tag: "!!str"}
	if n.number || n.text == "true" || n.text == "false" {
		y.Tag = "" // as it reads
	}
	if bytes, err := strconv.ParseInt(n.text, 10, 64); size && n.number && err == nil {
		y.Value = unit.Size(bytes)
	}
	return y
}
