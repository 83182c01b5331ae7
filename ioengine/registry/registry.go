// Package registry lists the engines and finds one by name.
//
// The runner asks it; the engines do not know of it. There is no registration at start-up: the table
// is the list of what this binary can do.
package registry

import (
	"fmt"
	"strings"

	"blkstorm/ioengine"
	"blkstorm/ioengine/null"
	"blkstorm/ioengine/psync"
)

// Auto is the name under which the best engine that works here is chosen.
const Auto = "auto"

// drivers is in the order in which auto prefers them; null is never chosen.
var drivers = []ioengine.Driver{psync.Driver, null.Driver}

// Names lists what --engine takes.
func Names() []string {
	names := []string{Auto}
	for _, d := range drivers {
		names = append(names, d.Name)
	}
	return names
}

// Lookup finds a driver by name; auto is the first in the order of preference.
func Lookup(name string) (ioengine.Driver, error) {
	if name == Auto {
		return drivers[0], nil
	}
	for _, d := range drivers {
		if d.Name == name {
			return d, nil
		}
	}
	return ioengine.Driver{}, fmt.Errorf("%w %q; known are %s", ioengine.ErrUnknown, name, strings.Join(Names(), ", "))
}
