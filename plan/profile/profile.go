// Package profile has the published procedures by name, each as a plan file.
//
// A profile is a plan file with blanks, and the settings that fill them. Commands list, show and run them:
// what is shown is what is run, read by package planfile like any other plan file. It touches no target and
// measures nothing, and has no number that its source does not state without saying so in the file.
package profile

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"

	"blkstorm/plan"
	"blkstorm/plan/planfile"
)

//go:embed procedures/*.yaml
var procedures embed.FS

// Profile is a published procedure.
type Profile struct {
	Name    string
	Summary string // what it is, in a line
	// Settings are what can be set, in the order in which people read them.
	Settings []Setting
	// TakesClaims says that the procedure can hold a drive against what is claimed of it.
	TakesClaims bool
	// parted says that its streams have parts of the target each, so that a size is shared out among them.
	parted bool
}

// Options say what of a profile is other than its defaults.
type Options struct {
	// Set has values of settings as people write them, by the setting's name.
	Set map[string]string
	// Quick takes the short times; the plan is marked so.
	Quick bool
	// Targets are the plan's; without any it has a scratch file of its own.
	Targets []plan.Target
	Destroy bool    // the plan has the consent to overwrite them
	Engine  string  // empty: the plan's default
	Seed    *uint64 // nil: a new one each time that the plan is run
	Claims  *plan.Claims
}

// All lists the profiles, in the order in which people read them.
func All() []*Profile {
	list := make([]*Profile, len(catalogue))
	for i := range catalogue {
		list[i] = &catalogue[i]
	}
	return list
}

// Names are those of All.
func Names() (list []string) {
	for i := range catalogue {
		list = append(list, catalogue[i].Name)
	}
	return list
}

// Get finds a profile.
func Get(name string) (*Profile, error) {
	i := slices.IndexFunc(catalogue, func(p Profile) bool { return p.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("profile %q: is not known; there are %s", name, strings.Join(Names(), ", "))
	}
	return &catalogue[i], nil
}

// File is the plan file.
func (p *Profile) File(o Options) ([]byte, error) {
	values, err := p.values(&o)
	if err != nil {
		return nil, err
	}
	if o.Claims != nil && !p.TakesClaims {
		return nil, fmt.Errorf("--claims: %s has no use for claims", p.Name)
	}
	text, err := procedures.ReadFile("procedures/" + p.Name + ".yaml")
	if err != nil {
		return nil, err
	}
	w := &writer{profile: p, options: &o, values: values}
	out, err := fillBlanks(string(text), w.blank)
	if err != nil {
		return nil, err
	}
	return []byte(out), nil
}

// Plan is the plan that File holds; seed is for a file without one.
func (p *Profile) Plan(o Options, seed uint64) (*plan.Plan, error) {
	text, err := p.File(o)
	if err != nil {
		return nil, err
	}
	return planfile.Read("profile "+p.Name, bytes.NewReader(text), planfile.Options{Seed: seed})
}
