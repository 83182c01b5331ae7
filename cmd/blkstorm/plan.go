package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"blkstorm/device"
	"blkstorm/execute"
	"blkstorm/plan"
	"blkstorm/plan/planfile"
	"blkstorm/plan/profile"
	"blkstorm/printable"
)

// planFormats are what plan check writes.
var planFormats = []string{"text", "yaml", "json"}

// planFlags are the options that change a plan from a file.
type planFlags struct {
	seed             uint64
	destroy          bool
	destroySignature []string
}

func (a *app) planCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Run or check a plan: a file with targets, phases and points",
		Long: `A plan file is YAML with everything that a run of many steps needs: targets, and phases that purge,
fill, precondition, measure or wait. Every result embeds its plan, so that it serves as a plan file, too.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %q; blkstorm plan --help lists them", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.planRunCommand(), a.planCheckCommand())
	return cmd
}

func (a *app) planRunCommand() *cobra.Command {
	var change planFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use:   "run [flags] FILE [TARGET...]",
		Short: "Run the plan in a file",
		Long: `Run the plan in FILE: YAML, a result document or the folder of one, or - for standard input.

TARGETs take the place of those in the file. What the file allows (destroy: true) it allows for its own
targets; for others, and where it allows nothing, --destroy is needed before anything is overwritten.`,
		Example: `  blkstorm plan run --dry-run ssd-review.yaml
  blkstorm plan run --dir result ssd-review.yaml /dev/sdb --destroy
  blkstorm plan run result.json`,
		Args: unlessResumed(needFile),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.runOrResume(cmd, args, &out, func() (*plan.Plan, error) { return a.planFrom(cmd.Flags(), &change, args) })
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	change.add(f)
	out.add(f)
	return cmd
}

func (a *app) planCheckCommand() *cobra.Command {
	var change planFlags
	var format string
	cmd := &cobra.Command{
		Use:   "check [flags] FILE [TARGET...]",
		Short: "Check the plan in a file, without its targets",
		Long: `Check all of a plan that can be seen without its targets, and show its phases; or, with --format yaml
or json, the plan that its short forms stand for. plan run --dry-run checks the targets, too.`,
		Args: needFile,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(planFormats, format) {
				return fmt.Errorf("--format %q: known are %s", format, strings.Join(planFormats, ", "))
			}
			p, err := a.planFrom(cmd.Flags(), &change, args)
			if err != nil {
				return err
			}
			switch format {
			case "yaml":
				return writeYAML(a.stdout, p)
			case "json":
				return writeJSON(a.stdout, p)
			}
			return checkText(a.stdout, args[0], p)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	change.add(f)
	f.StringVar(&format, "format", "text", "what goes to standard output, `NAME` is "+strings.Join(planFormats, "|"))
	return cmd
}

func needFile(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return fmt.Errorf("no plan file is named; write %s FILE", cmd.CommandPath())
	case slices.Contains(args[1:], ""):
		return errors.New("a TARGET is empty")
	}
	return nil
}

func (c *planFlags) add(f *pflag.FlagSet) {
	f.BoolVar(&c.destroy, "destroy", false, "allow to overwrite the targets (default: what the file says of its own targets)")
	f.StringArrayVar(&c.destroySignature, "destroy-signature", nil, "overwrite `TARGET` although it carries a file system or other signature; repeatable")
	f.Uint64Var(&c.seed, "seed", 0, "use this seed `N` (default: the file's, else a new one)")
}

// planFrom reads the plan file that is the first argument, and changes what the options say.
func (a *app) planFrom(f *pflag.FlagSet, change *planFlags, args []string) (*plan.Plan, error) {
	p, err := planfile.Load(args[0], os.Stdin, planfile.Options{Targets: args[1:], Seed: newSeed(), Profiles: profile.Names()})
	if err != nil {
		return nil, err
	}
	if f.Changed("seed") {
		p.Seed = change.seed
	}
	if f.Changed("destroy") {
		p.Destroy = change.destroy
	}
	if err := p.Check(); err != nil { // the seed
		return nil, err
	}
	return p, a.allowSignatures(p, change.destroySignature)
}

func writeYAML(w io.Writer, p *plan.Plan) error {
	text, err := planfile.Write(p)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// previewYAML writes the plan of a dry run; what the guard says of it goes where other refusals go.
func (a *app) previewYAML(v *execute.Preview) error {
	for _, t := range v.Targets {
		if len(t.Refusals) > 0 {
			a.refused(&device.RefusedError{Path: t.Path, Refusals: t.Refusals})
		}
	}
	return writeYAML(a.stdout, v.Plan)
}

// checkText says that a plan is right, and what it does.
func checkText(w io.Writer, file string, p *plan.Plan) error {
	_, err := fmt.Fprintf(w, "%s: nothing is wrong with it\n%s\ntakes %s\n", printable.Name(file), strings.Join(phaseLines(p), "\n"), timeText(p))
	return err
}

// phaseLines is what a plan does, a line per point.
func phaseLines(p *plan.Plan) (list []string) {
	if text := p.ProfileText(); text != "" {
		list = append(list, text)
	}
	for i := range p.Phases {
		ph := &p.Phases[i]
		if ph.Kind == plan.Idle {
			list = append(list, fmt.Sprintf("%s: %v", ph.Kind, ph.Time.D()))
		}
		for j := range ph.Points {
			list = append(list, ph.Kind+": "+pointLine(&ph.Points[j]))
		}
		if ph.Steady != nil {
			list = append(list, "  until steady: "+steadyText(ph))
		}
		if ph.Rounds != nil {
			list = append(list, roundLines(ph, ph.Rounds.Rule.MaxRounds)...)
		}
	}
	for _, a := range p.Asserts {
		list = append(list, "must keep "+a.String())
	}
	if p.Destroy {
		list = append(list, "allowed to overwrite the targets (destroy): all data in their ranges is lost")
	}
	return list
}

// steadyText is the rule of a phase, and what else ends it.
func steadyText(ph *plan.Phase) string {
	text := ph.Steady.String()
	if ph.MostPasses > 0 {
		text += fmt.Sprintf("; or until its range has been written %d times", ph.MostPasses)
	}
	return text
}

// roundLines is what the points of a phase are repeated for.
func roundLines(ph *plan.Phase, most int) []string {
	r := &ph.Rounds.Rule
	list := []string{
		fmt.Sprintf("  these %d points a round, at most %d rounds of %v", len(ph.Points), most, ph.RoundTime()),
		fmt.Sprintf("  until all these are steady over the same %d rounds (range within %g %%, fitted range within %g %% of the mean):", r.Window, r.RangePct, r.FittedPct),
	}
	for _, t := range ph.Rounds.Track {
		list = append(list, fmt.Sprintf("    %v of %s", t.Metric, ph.Points[t.Point].Label))
	}
	return list
}

func pointLine(pt *plan.Point) string { return pt.Label + ", " + pt.EndText() }

// timeText is how long a plan takes: nobody knows that of what ends with its work.
func timeText(p *plan.Plan) string {
	work := ""
	for i := range p.Phases {
		for j := range p.Phases[i].Points {
			switch pt := &p.Phases[i].Points[j]; {
			case work != "":
			case pt.Passes() > 0:
				work = "as long as the passes take"
			case pt.Work():
				work = "as long as the streams take"
			}
		}
	}
	switch known := p.Time(); {
	case work == "":
		return known.String() + " at most"
	case known == 0:
		return work
	default:
		return known.String() + " at most, and " + work
	}
}
