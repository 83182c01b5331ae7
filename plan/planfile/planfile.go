// Package planfile reads and writes plans as files: YAML that people write, and JSON that results embed.
//
// There is one form, that of plan.Plan's JSON, and shorthands for people (docs/plan.md has both), which
// reading expands: what comes out is always the plain plan. Commands call it. It touches no target, runs
// nothing, and changes nothing about what a plan means. Every error names the file, the line, the key, the
// value and the limit.
package planfile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"blkstorm/plan"
)

// Limits of files. A plan that people write has some kilobytes; results may embed sweeps of 100,000 points.
const (
	MaxYAML    = 1 << 20
	MaxJSON    = 64 << 20 // of a document up to the end of its plan; what comes after it is not read
	maxDepth   = 32       // of mappings and lists within each other
	maxTargets = 4096
	maxPairs   = 1_000_000 // of a stream and a target
)

// Limits of what short texts stand for; variables, since the fuzzer has no time for large plans.
var (
	maxNodes   = 500_000 // values in a YAML file, aliases expanded
	maxStreams = 100_000 // over all points, sweeps expanded
)

// ResultFile is what stands for a folder of --dir: the document in it.
const ResultFile = "result.json"

// Options are what the command line says beside a file.
type Options struct {
	// Targets take the place of the file's, without their consents, if there are any.
	Targets []string
	// Seed is for files that have none.
	Seed uint64
	// Profiles are the procedures that a plan can have been made from; nil: whoever calls makes it from one.
	Profiles []string
}

// Load reads the plan file at path, or the result of a run: its document, or its folder. "-" is stdin.
func Load(path string, stdin io.Reader, o Options) (*plan.Plan, error) {
	if path == "-" {
		return Read("standard input", stdin, o)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("plan file: %w", err)
	}
	if info.IsDir() {
		path = filepath.Join(path, ResultFile)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("plan file: %w", err)
	}
	defer f.Close()
	return Read(path, f, o)
}

// Read reads a plan and checks all that can be seen without its targets. name stands for the file in
// errors.
func Read(name string, in io.Reader, o Options) (*plan.Plan, error) {
	r := &reader{file: name, opts: o, plan: &plan.Plan{Schema: plan.Schema, Engine: "auto", Direct: true, CompleteMin: 1, Pin: "auto", Seed: o.Seed}}
	root, err := r.parse(in)
	if err != nil {
		return nil, err
	}
	if err := r.top(root); err != nil {
		return nil, err
	}
	if err := r.plan.Check(); err != nil {
		return nil, r.locate(err)
	}
	return r.plan, nil
}

// parse makes values of the file's text: those of the plan in it, where it is a whole document.
func (r *reader) parse(in io.Reader) (*node, error) {
	// One byte over the limit tells a file that is too long.
	whole := bufio.NewReaderSize(in, MaxYAML+1)
	head, err := whole.Peek(MaxYAML + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", r.file, err)
	}
	var root *node
	switch first := bytes.TrimLeft(head, " \t\r\n"); {
	case len(first) == 0:
		return nil, fmt.Errorf("%s: is empty; %s", r.file, r.kind().empty)
	case first[0] == '{' && len(head) > MaxYAML:
		root, err = parseJSON(whole)
	case first[0] == '{':
		if root, err = parseJSON(bytes.NewReader(head)); errors.Is(err, errNoJSON) {
			root, err = parseYAML(head) // {threads: 4} is a mapping, too
		}
	case len(head) > MaxYAML:
		return nil, fmt.Errorf("%s: is over the limit of %d bytes for a plan file", r.file, MaxYAML)
	default:
		root, err = parseYAML(head)
	}
	var at *lineError
	switch {
	case errors.As(err, &at):
		return nil, r.errorAt(at.line, at.err)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", r.file, err)
	case root.kind != mapping:
		return nil, r.errorAt(root.line, fmt.Errorf("is %s where %s", root.what(), r.kind().keys))
	}
	if inside := root.get("plan"); inside != nil { // a result, or a dry run's document
		if inside.kind != mapping {
			return nil, r.errorAt(inside.line, fmt.Errorf("plan: is %s, not a plan", inside.what()))
		}
		return inside, nil
	}
	return root, nil
}

// kind is what errors say of a file that is nothing of what it should be.
func (r *reader) kind() struct{ empty, keys string } {
	if r.plan == nil { // claims by themselves
		return struct{ empty, keys string }{"it takes the keys drive, source and values", "claims have keys, such as drive and values"}
	}
	return struct{ empty, keys string }{"docs/plan.md shows what a plan looks like", "a plan has keys, such as targets and phases"}
}

// errorAt names file and line.
func (r *reader) errorAt(line int, err error) error {
	if line == 0 {
		return fmt.Errorf("%s: %w", r.file, err)
	}
	return fmt.Errorf("%s:%d: %w", r.file, line, err)
}
