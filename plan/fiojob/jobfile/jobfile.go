// Package jobfile reads the form of fio's job files and command lines: sections of settings, each with
// the place where it stands.
//
// Package fiojob calls it and gives the settings their meaning; here a name is a name and a value a text.
// What the form allows was found by asking fio 3.42 itself (--showcmd and --parse-only); what it takes in
// spite of an obvious slip is read as it reads it, with a note of the slip. It opens no file by itself.
package jobfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Global is the name of sections that hold defaults for the jobs after them.
const Global = "global"

// MaxLine is the longest line, in bytes; MaxSettings is how many settings all sections may have together,
// with what they include.
const (
	MaxLine     = 1 << 20
	MaxSettings = 1 << 20
	maxIncludes = 16 // deep, as a file may include itself
)

// Pos is where something stands.
type Pos struct {
	File string // as the user wrote it; empty for the command line
	Line int    // from 1; 0 for the command line
}

func (p Pos) String() string {
	if p.Line == 0 {
		return "command line"
	}
	return fmt.Sprintf("%s:%d", p.File, p.Line)
}

// Setting is one option with its value.
type Setting struct {
	Name  string
	Value string // empty where there is none
	Given bool   // false for a bare name, without '='
	Pos   Pos
}

// Section is a job, or a section of defaults.
type Section struct {
	Name     string
	Settings []Setting
	Pos      Pos
	// Slip says what is wrong with the line that begins it, which fio takes for something that nobody means;
	// empty if nothing is.
	Slip string
}

// Options are what a reader needs from outside.
type Options struct {
	// Include opens a file that another one includes; from is the one that does. Without it, includes are
	// errors.
	Include func(from, name string) (file string, r io.ReadCloser, err error)
	// Getenv gives the value for ${NAME}; empty where there is none, as fio has it.
	Getenv func(name string) string
	// Keywords are worked out in values.
	Keywords Keywords
}

// Error is what is wrong with a file.
type Error struct {
	Pos Pos
	Err error
}

func (e *Error) Error() string { return e.Pos.String() + ": " + e.Err.Error() }

// Unwrap gives the error without its place.
func (e *Error) Unwrap() error { return e.Err }

type reader struct {
	opts     Options
	sections []Section
	settings int
}

// Read reads a job file, whose name serves messages and includes. Its errors are *Error, but for those of r.
func Read(r io.Reader, name string, o Options) ([]Section, error) {
	f := &reader{opts: o}
	if err := f.read(r, name, 0); err != nil {
		return nil, err
	}
	return f.sections, nil
}

func (f *reader) read(r io.Reader, name string, depth int) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, MaxLine)
	pos := Pos{File: name}
	for lines.Scan() {
		pos.Line++
		if err := f.line(lines.Text(), pos, depth); err != nil {
			var placed *Error
			if errors.As(err, &placed) {
				return err // in an included file
			}
			return &Error{pos, err}
		}
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return &Error{Pos{name, pos.Line + 1}, fmt.Errorf("the line is over %d bytes", MaxLine)}
	} else if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (f *reader) line(line string, pos Pos, depth int) error {
	if i := strings.IndexAny(line, ";#"); i >= 0 {
		line = line[:i] // also within a value: fio knows no quoting here
	}
	line = strings.TrimSpace(line)
	switch {
	case line == "":
		return nil
	case strings.ContainsRune(line, 0):
		return errors.New("has a NUL byte: this is no job file")
	case line[0] == '[':
		if depth > 0 {
			return fmt.Errorf("section %q in an included file: those hold settings only", line)
		}
		return f.section(line, pos)
	}
	if name, ok := include(line); ok {
		return f.include(name, pos, depth)
	}
	if len(f.sections) == 0 {
		return fmt.Errorf("option %q stands before the first [section]", line)
	}
	if f.settings++; f.settings > MaxSettings {
		return fmt.Errorf("over %d settings", MaxSettings)
	}
	name, value, given := strings.Cut(line, "=")
	value, err := f.opts.Keywords.Calculate(Expand(strings.TrimSpace(value), f.opts.Getenv))
	if err != nil {
		return fmt.Errorf("%s: %w", line, err)
	}
	s := Setting{Name: strings.TrimSpace(name), Value: value, Given: given, Pos: pos}
	if s.Name == "" {
		return fmt.Errorf("%q has no option before the =", line)
	}
	last := &f.sections[len(f.sections)-1]
	last.Settings = append(last.Settings, s)
	return nil
}

// section begins one.
func (f *reader) section(line string, pos Pos) error {
	if f.settings++; f.settings > MaxSettings {
		return fmt.Errorf("over %d sections and settings", MaxSettings)
	}
	s := Section{Pos: pos}
	name, rest, closed := strings.Cut(line[1:], "]")
	s.Name = name
	switch {
	case !closed:
		s.Slip = fmt.Sprintf("section %q has no closing ]", line)
	case strings.TrimSpace(rest) != "":
		s.Slip = fmt.Sprintf("%q follows section [%s]: an option stands on a line of its own", strings.TrimSpace(rest), name)
	case strings.TrimSpace(name) == "":
		s.Slip = "section [] has no name"
	}
	f.sections = append(f.sections, s)
	return nil
}

// include says whether a line includes a file, and which.
func include(line string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(line, "include")
	if !ok || strings.TrimLeft(rest, " \t") == rest {
		return "", false
	}
	return strings.TrimSpace(rest), true
}

func (f *reader) include(name string, pos Pos, depth int) error {
	switch {
	case depth == maxIncludes:
		return fmt.Errorf("include %s: files include one another over %d deep", name, maxIncludes)
	case f.opts.Include == nil:
		return fmt.Errorf("include %s: no file can be included here", name)
	case len(f.sections) == 0:
		return fmt.Errorf("include %s: stands before the first [section]", name)
	}
	file, r, err := f.opts.Include(pos.File, name)
	if err != nil {
		return fmt.Errorf("include %s: %w", name, err)
	}
	err = f.read(r, file, depth+1)
	return errors.Join(err, r.Close())
}

// Expand puts what getenv says in the place of each ${NAME} in a value, once: what comes from outside is
// not looked at again. Without getenv nothing is changed.
func Expand(value string, getenv func(string) string) string {
	if getenv == nil || !strings.Contains(value, "${") {
		return value
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(value, "${")
		name, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			b.WriteString(value)
			return b.String()
		}
		b.WriteString(before)
		b.WriteString(getenv(name))
		value = after
	}
}
