package main

import (
	"strings"

	"github.com/spf13/pflag"

	"blkstorm/ioengine/registry"
	"blkstorm/plan"
	"blkstorm/plan/profile"
)

// profileFlags are the options that say what of a profile is other than its defaults.
type profileFlags struct {
	change         planFlags
	values         map[string]*string // of settings, by name
	quick          bool
	engine, claims string
}

// settingUsages are the settings that profiles have, as options.
var settingUsages = []struct{ name, usage string }{
	{"threads", "threads per target, `T`, or a list where the profile sweeps them"},
	{"iodepth", "I/Os that each thread keeps in flight, `Q`, or a list where the profile sweeps them"},
	{"ramp", "warm-up of each point, a `TIME`"},
	{"runtime", "measured time of each point, or of a cell or a round of SNIA's tests, a `TIME`"},
	{"precondition", "how long preconditioning goes on: `steady|TIME|none`"},
	{"steady-round", "length of a round of preconditioning, a `TIME`"},
	{"steady-max-rounds", "give up after `N` rounds"},
	{"purge", "discard the targets first, or before each workload: `BOOL`"},
	{"fill", "write everything `N` times first; 0 leaves it out"},
	{"size", "length of the range on each target, `SIZE|PCT`; in bytes it makes a missing file"},
	{"working-set", "part of the range that is used, `SIZE|PCT`"},
	{"compress-pct", "data of which a compressor saves `N` percent"},
	{"dedupe-pct", "`N` percent of the written blocks have the content of another one"},
	{"data", "what is written, `CONTENT` as for run"},
}

func (s *profileFlags) add(f *pflag.FlagSet) {
	s.values = map[string]*string{}
	for _, u := range settingUsages {
		s.values[u.name] = f.String(u.name, "", u.usage+" (default: the profile's)")
	}
	f.Lookup("purge").NoOptDefVal = "true"
	f.StringVar(&s.claims, "claims", "", "what a data sheet says of the drive, to be held against what is measured: `DRIVE` is "+strings.Join(profile.ClaimNames(), "|")+", or a file")
	f.BoolVar(&s.quick, "quick", false, "scale all times down: minutes on a small device, and no comparison with published results")
	f.StringVar(&s.engine, "engine", registry.Auto, "how I/O is issued, `NAME` is "+strings.Join(registry.Names(), "|"))
	s.change.add(f)
	f.Lookup("destroy").Usage = "allow to overwrite the targets"
	f.Lookup("seed").Usage = "repeat a run's offsets, mix and data with its seed `N` (default: a new one for each run)"
}

// profileOf is the profile that is the first argument, with its options; the other arguments are its targets.
func (a *app) profileOf(f *pflag.FlagSet, set *profileFlags, args []string) (*profile.Profile, *profile.Options, error) {
	p, err := profile.Get(args[0])
	if err != nil {
		return nil, nil, err
	}
	o := &profile.Options{Set: map[string]string{}, Quick: set.quick, Destroy: set.change.destroy}
	for name, value := range set.values {
		if f.Changed(name) {
			o.Set[name] = *value
		}
	}
	if f.Changed("seed") {
		o.Seed = &set.change.seed
	}
	if f.Changed("engine") {
		o.Engine = set.engine
	}
	if f.Changed("claims") {
		if o.Claims, err = profile.Claims(set.claims); err != nil {
			return nil, nil, err
		}
	}
	var named plan.Plan
	for _, spec := range args[1:] {
		named.Targets = append(named.Targets, plan.Target{Spec: spec})
	}
	err = a.allowSignatures(&named, set.change.destroySignature)
	o.Targets = named.Targets
	return p, o, err
}
