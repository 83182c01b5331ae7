package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"blkstorm/findmax"
	"blkstorm/plan"
	"blkstorm/sweep"
	"blkstorm/workload"
)

// axisFlag is an option of a load that takes a list: it is set to one value of it at a time.
type axisFlag struct {
	pflag.Value // the option itself
	axis        sweep.Axis
}

func (a *axisFlag) Type() string { return "LIST" }
func (a *axisFlag) Set(s string) error {
	axis, err := sweep.ParseAxis(a.axis.Name, s)
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "--"+a.axis.Name+": "))
	}
	a.axis = axis
	return a.Value.Set(axis.Values[0])
}

// sweepFlags are the options of the sweep itself.
type sweepFlags struct {
	knee findmax.Limit
	axes map[string]*axisFlag
	mix  bool // --read-pct was given
}

// add turns the options that can be swept, which are there already, into lists.
func (s *sweepFlags) add(f *pflag.FlagSet) {
	s.axes = map[string]*axisFlag{}
	usages := map[string]string{
		"threads": "threads per target", "iodepth": "I/Os that each thread keeps in flight", "bs": "bytes per I/O; 4k is 4096",
		"read-pct": "reads in each 100 I/Os of rw and randrw, exact: 0 to 100", "rw": "what to issue, as for run",
	}
	for _, name := range sweep.Names {
		o := f.Lookup(name)
		s.axes[name] = &axisFlag{Value: o.Value, axis: sweep.Axis{Name: name}}
		o.Value, o.Usage = s.axes[name], usages[name]+", a `LIST`"
	}
	f.Var(textFlag{&s.knee, "METRIC=TIME"}, "knee", "name the point with the most IOPS whose latency is within this limit, as in p99=2ms, mean=500us")
}

// spec is the sweep: the options that have several values, in the order in which they were written.
func (s *sweepFlags) spec(f *pflag.FlagSet) *sweep.Spec {
	spec := &sweep.Spec{Axes: []sweep.Axis{}}
	f.Visit(func(o *pflag.Flag) { // in the order of the command line, since the set is not sorted
		if a := s.axes[o.Name]; a != nil && len(a.axis.Values) > 1 {
			spec.Axes = append(spec.Axes, a.axis)
		}
	})
	s.mix = f.Changed("read-pct")
	return spec
}

// streams are those of one combination. The options are set to it; what making streams of them settles is
// kept apart, so that the next combination begins anew.
func (s *sweepFlags) streams(f *pflag.FlagSet, l *loadFlags, at sweep.Combination, targets []plan.Target) ([]plan.Stream, error) {
	for _, set := range at {
		if err := s.axes[set.Name].Value.Set(set.Value); err != nil {
			return nil, fmt.Errorf("--%s %s: %w", set.Name, set.Value, err)
		}
	}
	one := *l
	// A single share of reads beside several shapes is that of those that mix.
	mix := f.Lookup("read-pct")
	mix.Changed = s.mix
	if several := len(s.axes["rw"].axis.Values) > 1; several && len(s.axes["read-pct"].axis.Values) == 1 && !one.workload.Mixed() {
		mix.Changed = false
	}
	streams, err := one.allStreams(f, targets)
	if err != nil && len(at) > 0 {
		err = fmt.Errorf("%v: %w", at, err)
	}
	return streams, err
}

// checkMix wants a shape that mixes for a share of reads beside several shapes, of which the others pay no
// heed to it. Beside streams, each of them says what it makes of it.
func (s *sweepFlags) checkMix(l *loadFlags) error {
	shapes := s.axes["rw"].axis.Values
	if !s.mix || len(shapes) < 2 || len(l.streams) > 0 || slices.ContainsFunc(shapes, func(rw string) bool { return (&workload.Spec{RW: rw}).Mixed() }) {
		return nil
	}
	return fmt.Errorf("--read-pct %s: goes with --rw rw or randrw; none of --rw %s is a mix of reads and writes",
		s.axes["read-pct"].Value, strings.Join(shapes, ","))
}

// hardest is the combination that preconditioning is done with: the most threads and the largest
// depth, and of other lists the first value.
func hardest(spec *sweep.Spec) sweep.Combination {
	at := slices.Clone(spec.At(0))
	for i := range spec.Len() {
		c := spec.At(i)
		for k, set := range c {
			if set.Name != "threads" && set.Name != "iodepth" {
				continue
			}
			best, _ := at.Number(set.Name)
			if n, _ := c.Number(set.Name); n > best {
				at[k] = set
			}
		}
	}
	return at
}

// fill gives the plan its points, and the phases before them.
func (s *sweepFlags) fill(f *pflag.FlagSet, l *loadFlags, ph *phaseFlags, p *plan.Plan) error {
	spec := s.spec(f)
	if err := spec.Validate(); err != nil {
		return err
	}
	if err := s.checkMix(l); err != nil {
		return err
	}
	measure := plan.Phase{Kind: plan.Measure, Sweep: &plan.Sweep{Axes: spec.Axes, Knee: s.knee}}
	for _, at := range spec.All() {
		streams, err := s.streams(f, l, at, p.Targets)
		if err != nil {
			return err
		}
		measure.Points = append(measure.Points, l.point(streams))
	}
	p.Phases = []plan.Phase{measure}
	streams, err := s.streams(f, l, hardest(spec), p.Targets)
	if err != nil {
		return err
	}
	return ph.apply(f, l, p, streams)
}

func (a *app) sweepCommand() *cobra.Command {
	var load loadFlags
	var phases phaseFlags
	var sw sweepFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use:   "sweep [flags] [TARGET...]",
		Short: "Run every combination of threads, iodepths, block sizes, mixes and shapes",
		Long: `Run one point for every combination of the values of --threads, --iodepth, --bs, --read-pct and --rw,
each with its own ramp, and print what they gave as matrices.

Lists are as in 2,4,8,16 or 1-16*2. The points run in the order of nested loops, in which the option
that is written last varies fastest. A point that cannot run on the targets (512-byte I/Os on a disk
with blocks of 4096, say) is listed as skipped, with the reason, and the others run.`,
		Example: `  blkstorm sweep --rw randread --bs 4k --threads 1,4,16 --iodepth 1-64*4 --runtime 1m /dev/sdb
  blkstorm sweep --purge --fill 2 --precondition steady --rw randrw --read-pct 70 --bs 8k --threads 2,4,8,16 --iodepth 2,4,8,16 --ramp 10s --runtime 1m --knee p99=2ms --destroy /dev/sdb`,
		RunE: func(cmd *cobra.Command, targets []string) error {
			f := cmd.Flags()
			p, err := a.frameOf(f, &load, &out, targets)
			if err == nil && p != nil {
				err = sw.fill(f, &load, &phases, p)
			}
			if err != nil {
				return err
			}
			return a.runPlan(cmd.Context(), p, &out, nil)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	load.add(f)
	sw.add(f)
	phases.add(f)
	out.add(f)
	return cmd
}
