// Package registry lists the engines and finds the ones that work here.
//
// Plans are checked against it, and execute asks it for candidates; the engines do not know of it.
// There is no registration at start-up: the table is the list of what this binary can do.
package registry

import (
	"errors"
	"fmt"
	"strings"

	"blkstorm/ioengine"
	"blkstorm/ioengine/aio"
	"blkstorm/ioengine/null"
	"blkstorm/ioengine/psync"
	"blkstorm/ioengine/uring"
)

// Auto is the name under which the best engine that works here is chosen.
const Auto = "auto"

// Options are what engines can be asked for beyond the plain case.
type Options = uring.Options

// Fallback is an engine that auto would have preferred, and why it was passed over.
type Fallback struct {
	Engine string `json:"engine"`
	Reason string `json:"reason"`
}

// drivers is in the order in which auto prefers them; null is never chosen.
func drivers(o Options) []ioengine.Driver {
	return []ioengine.Driver{uring.Driver(o), aio.Driver, psync.Driver, null.Driver}
}

// Names lists what --engine takes.
func Names() []string {
	names := []string{Auto}
	for _, d := range drivers(Options{}) {
		names = append(names, d.Name)
	}
	return names
}

// Check says whether name is an engine that these options go with.
func Check(name string, o Options) error {
	_, err := find(name, o)
	return err
}

// Dry says whether name is an engine that never touches the target.
func Dry(name string) bool {
	d, err := find(name, Options{})
	return err == nil && d != nil && d.Dry
}

func find(name string, o Options) (*ioengine.Driver, error) {
	if (o.SQPoll || o.IOPoll) && name != uring.Name {
		return nil, fmt.Errorf("engine %q cannot poll: --sqthread-poll and --hipri go with --engine %s", name, uring.Name)
	}
	if name == Auto {
		return nil, nil
	}
	for _, d := range drivers(o) {
		if d.Name == name {
			return &d, nil
		}
	}
	return nil, fmt.Errorf("%w %q; known are %s", ioengine.ErrUnknown, name, strings.Join(Names(), ", "))
}

// Candidates lists the drivers to try, best first, and those that were passed over. For an engine that
// was asked for by name it is that one, or an error that says why it cannot be had. For auto, any
// reason to fail is reason enough to take the next; psync works everywhere.
func Candidates(name string, o Options) ([]ioengine.Driver, []Fallback, error) {
	d, err := find(name, o)
	if err != nil {
		return nil, nil, err
	}
	if d != nil {
		if err := probe(d); err != nil {
			return nil, nil, fmt.Errorf("engine %s cannot be used here: %w; --engine %s takes the best that can", name, err, Auto)
		}
		return []ioengine.Driver{*d}, nil, nil
	}
	var usable []ioengine.Driver
	var passed []Fallback
	for _, d := range drivers(o) {
		if d.Dry {
			continue
		}
		if err := probe(&d); err != nil {
			passed = append(passed, Fallback{Engine: d.Name, Reason: err.Error()})
			continue
		}
		usable = append(usable, d)
	}
	if len(usable) == 0 {
		return nil, nil, errors.New("no engine can be used here")
	}
	return usable, passed, nil
}

func probe(d *ioengine.Driver) error {
	if d.Probe == nil {
		return nil
	}
	return d.Probe()
}
