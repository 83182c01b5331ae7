package fiojob

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"blkstorm/plan/fiojob/jobfile"
)

// Command is what a command line asks for.
type Command struct {
	Files    []string          // job files, in order; "-" is standard input
	Defaults []jobfile.Setting // options before the first --name
	Jobs     []jobfile.Section // those of --name

	ParseOnly, ShowCmd, ReadOnly bool
	Version, Help, ListOptions   bool
	Strict                       bool     // --strict, and fio's --warnings-fatal
	Sections                     []string // --section: only these
	Output                       string
	Formats                      []string // of Formats, in the order asked for
	TerseVersion                 int
	StatusInterval               time.Duration
	ETA                          string // auto, always, never
	DestroySignature             []string
	Dir                          string
}

// Formats are the values of --output-format.
var Formats = []string{"normal", "terse", "json", "json+"}

// argument says whether an option of the command line takes one.
type argument int

const (
	none argument = iota
	required
	optional
)

// commandOption is one option of the command line itself, rather than of a job.
type commandOption struct {
	name string
	arg  argument
	set  func(c *Command, value string) error
}

var errNoDistribution = errors.New("is not to be had: start one program per machine, and add their results up with blkstorm merge")

// refuse is a setter for what is not to be had.
func refuse(err error) func(*Command, string) error {
	return func(*Command, string) error { return err }
}

// ignore is a setter for what changes nothing here.
func ignore(*Command, string) error { return nil }

func set(to func(*Command) *bool) func(*Command, string) error {
	return func(c *Command, _ string) error { *to(c) = true; return nil }
}

var commandOptions = []commandOption{
	{"parse-only", none, set(func(c *Command) *bool { return &c.ParseOnly })},
	{"showcmd", none, set(func(c *Command) *bool { return &c.ShowCmd })},
	{"readonly", none, set(func(c *Command) *bool { return &c.ReadOnly })},
	{"version", none, set(func(c *Command) *bool { return &c.Version })},
	{"help", none, set(func(c *Command) *bool { return &c.Help })},
	{"options", none, set(func(c *Command) *bool { return &c.ListOptions })},
	{"strict", none, set(func(c *Command) *bool { return &c.Strict })},
	{"warnings-fatal", none, set(func(c *Command) *bool { return &c.Strict })},
	{"output", required, func(c *Command, v string) error { c.Output = v; return nil }},
	{"output-format", required, func(c *Command, v string) error { return c.formats(v) }},
	{"minimal", none, func(c *Command, _ string) error { return c.formats("terse") }},
	{"append-terse", none, func(c *Command, _ string) error { return c.formats("normal,terse") }},
	{"terse-version", required, func(c *Command, v string) error { return c.terse(v) }},
	{"status-interval", required, func(c *Command, v string) (err error) {
		c.StatusInterval, err = duration(v, time.Second)
		return err
	}},
	{"eta", required, func(c *Command, v string) error { return c.eta(v) }},
	{"eta-newline", required, ignore},
	{"eta-interval", required, ignore},
	{"section", required, func(c *Command, v string) error { c.Sections = append(c.Sections, v); return nil }},
	{"max-jobs", required, ignore},
	{"alloc-size", required, ignore},
	{"debug", required, ignore},
	{"aux-path", required, ignore},
	{"idle-prof", required, ignore},
	{"destroy-signature", required, func(c *Command, v string) error {
		c.DestroySignature = append(c.DestroySignature, strings.Split(v, ",")...)
		return nil
	}},
	{"dir", required, func(c *Command, v string) error { c.Dir = v; return nil }},
	{"client", optional, refuse(errNoDistribution)},
	{"server", optional, refuse(errNoDistribution)},
	{"daemonize", required, refuse(errNoDistribution)},
	{"remote-config", required, refuse(errNoDistribution)},
	{"bandwidth-log", none, refuse(errors.New("is not to be had; --dir has every interval"))},
	{"merge-blktrace-only", none, refuse(errors.New("is not to be had: I/O logs are not replayed"))},
	{"inflate-log", required, refuse(errors.New("is not to be had: logs are not compressed"))},
	{"cpuclock-test", none, refuse(errors.New("is not to be had; the result says what the clock is worth"))},
	{"crctest", optional, refuse(errors.New("is not to be had"))},
	{"cmdhelp", optional, refuse(errors.New("is not to be had; --options lists what becomes of every option"))},
	{"enghelp", optional, refuse(errors.New("is not to be had; --options lists what becomes of every option"))},
	{"trigger", required, refuse(errNoTrigger)},
	{"trigger-file", required, refuse(errNoTrigger)},
	{"trigger-timeout", required, refuse(errNoTrigger)},
	{"trigger-remote", required, refuse(errNoTrigger)},
}

var errNoTrigger = errors.New("is not to be had: no program is run")

// short are the command line's short options; -f FILE is --append-terse, and FILE a plain argument.
var short = map[string]string{"o": "output", "b": "bandwidth-log", "m": "minimal", "f": "append-terse", "v": "version", "h": "help", "c": "cmdhelp", "i": "enghelp", "P": "parse-only", "s": "showcmd", "r": "readonly"}

func (c *Command) formats(text string) error {
	c.Formats = nil
	for _, f := range strings.Split(text, ",") {
		if !slices.Contains(Formats, f) {
			return fmt.Errorf("known are %s", strings.Join(Formats, ", "))
		}
		if !slices.Contains(c.Formats, f) {
			c.Formats = append(c.Formats, f)
		}
	}
	return nil
}

func (c *Command) terse(text string) error {
	n, err := number(text, kbDefault)
	if err != nil || n < 2 || n > 5 {
		return errors.New("must be 2, 3, 4 or 5")
	}
	c.TerseVersion = int(n)
	return nil
}

func (c *Command) eta(text string) error {
	if !slices.Contains([]string{"always", "never", "auto"}, text) {
		return errors.New("must be always, never or auto")
	}
	c.ETA = text
	return nil
}

// ParseCommand reads a command line, without the program's name. Options may stand after the files, and
// with one dash or two.
func ParseCommand(args []string, getenv func(string) string) (*Command, error) {
	c := &Command{ETA: "auto", TerseVersion: 3}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			c.Files = append(c.Files, args...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			c.Files = append(c.Files, arg)
			continue
		}
		name, value, given := strings.Cut(strings.TrimPrefix(arg[1:], "-"), "=")
		if long, ok := short[name]; ok && arg[1] != '-' {
			name = long
		}
		next := func() (string, bool) {
			if given {
				return value, true
			}
			if len(args) == 0 {
				return "", false
			}
			v := args[0]
			args = args[1:]
			return v, true
		}
		name = whole(name)
		if err := c.option(name, value, given, next, getenv); err != nil {
			return nil, fmt.Errorf("--%s: %w", name, err)
		}
	}
	return c, nil
}

// whole is the option that a name is the beginning of, if it is of one only: fio takes it for that.
func whole(name string) string {
	var long []string
	for i := range commandOptions {
		long = append(long, commandOptions[i].name)
	}
	for known := range byName {
		long = append(long, known)
	}
	if slices.Contains(long, name) {
		return name
	}
	long = slices.DeleteFunc(long, func(known string) bool { return !strings.HasPrefix(known, name) })
	if len(long) != 1 {
		return name
	}
	return long[0]
}

func (c *Command) option(name, value string, given bool, next func() (string, bool), getenv func(string) string) error {
	for i := range commandOptions {
		o := &commandOptions[i]
		if o.name != name {
			continue
		}
		ok := true
		switch {
		case o.arg == required:
			value, ok = next()
		case o.arg == none && given:
			return errors.New("takes no value")
		}
		if !ok {
			return errors.New("needs a value")
		}
		if err := o.set(c, value); err != nil && value != "" {
			return fmt.Errorf("%q: %w", value, err)
		} else if err != nil {
			return err
		}
		return nil
	}
	return c.jobOption(name, value, given, next, getenv)
}

func (c *Command) jobOption(name, value string, given bool, next func() (string, bool), getenv func(string) string) error {
	o := Lookup(name)
	if o == nil {
		if near := nearest(name); near != "" {
			return fmt.Errorf("is no option; did you mean --%s?", near)
		}
		return errors.New("is no option")
	}
	if o.Kind != Flag && !given {
		if value, given = next(); !given {
			return errors.New("needs a value")
		}
	}
	value = jobfile.Expand(strings.TrimSpace(value), getenv)
	if o.Name == "name" {
		c.Jobs = append(c.Jobs, jobfile.Section{Name: value, Settings: []jobfile.Setting{{Name: "name", Value: value, Given: true}}})
		return nil
	}
	s := jobfile.Setting{Name: name, Value: value, Given: given}
	if n := len(c.Jobs); n > 0 {
		c.Jobs[n-1].Settings = append(c.Jobs[n-1].Settings, s)
	} else {
		c.Defaults = append(c.Defaults, s)
	}
	return nil
}
