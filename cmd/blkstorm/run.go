package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"blkstorm/execute"
	"blkstorm/live"
	"blkstorm/plan"
	"blkstorm/result"
)

// formats are what --format takes.
var formats = []string{"text", "json", "csv", "ndjson"}

// outputFlags are the options that say what comes out.
type outputFlags struct {
	format, dir, percentiles string
	quiet, dryRun            bool
}

func (a *app) runCommand() *cobra.Command {
	var load loadFlags
	var out outputFlags
	cmd := &cobra.Command{
		Use:   "run [flags] [TARGET...]",
		Short: "Run one point: a workload at T threads x Q depth per target",
		Long: `Run one workload on every TARGET at once and print what it gave.

A TARGET is a block device or a file: a path, serial=..., wwn=..., or a SCSI address H:C:T:L. With
no TARGET, a scratch file of 1 GiB (or --size) is made in the current folder, written once, used
and removed. A missing file is made when --size is given.

Reads are always allowed. Writing to anything that exists, or trimming it, needs --destroy, and is
refused when the target is mounted, held, in use, read-only or carries a signature.`,
		Example: `  blkstorm run
  blkstorm run --rw randread --bs 4k --threads 4 --iodepth 16 --runtime 1m /dev/sdb
  blkstorm run --rw randrw --read-pct 70 --bs 8k --threads 16 --iodepth 16 --ramp 30s --runtime 5m --destroy /dev/sdb`,
		RunE: func(cmd *cobra.Command, targets []string) error {
			p, err := a.planOf(cmd.Flags(), &load, &out, targets)
			if err != nil {
				return err
			}
			return a.runPlan(cmd.Context(), p, &out, nil)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	load.add(f)
	out.add(f)
	return cmd
}

// add adds the options.
func (out *outputFlags) add(f *pflag.FlagSet) {
	f.StringVar(&out.format, "format", "text", "what goes to standard output, `NAME` is "+strings.Join(formats, "|"))
	f.StringVar(&out.dir, "dir", "", "write a result folder: `DIR` must be empty or not exist yet")
	f.StringVar(&out.percentiles, "percentiles", "", "latency percentiles of the result, a `LIST` (default 50,90,95,99,99.9,99.99,99.999)")
	f.BoolVar(&out.quiet, "quiet", false, "no progress on standard error")
	f.BoolVar(&out.dryRun, "dry-run", false, "print the plan, the guard's answers, bytes and time; touch nothing")
}

// planOf makes the plan of one point from a command line.
func (a *app) planOf(f *pflag.FlagSet, load *loadFlags, out *outputFlags, targets []string) (*plan.Plan, error) {
	if f.Changed("dir") && out.dir == "" {
		return nil, errors.New("--dir: the name is empty")
	}
	if f.Changed("grace") && load.grace <= 0 {
		return nil, errors.New("--grace: must be over 0")
	}
	if slices.Contains(targets, "") {
		return nil, errors.New("a TARGET is empty")
	}
	p, err := load.plan(f, targets)
	if err != nil {
		return nil, err
	}
	return p, a.allowSignatures(p, load.destroySignature)
}

// runPlan is what all commands that run I/O end in. With a finder, the plan is the first step of a
// search, which decides on the others.
func (a *app) runPlan(ctx context.Context, p *plan.Plan, out *outputFlags, find *finder) error {
	if !slices.Contains(formats, out.format) {
		return fmt.Errorf("--format %q: known are %s", out.format, strings.Join(formats, ", "))
	}
	if out.dryRun && out.format != "text" && out.format != "json" {
		return fmt.Errorf("--format %s: a dry run has text and json", out.format)
	}
	percentiles, err := parsePercentiles(out.percentiles)
	if err != nil {
		return err
	}
	opts := execute.Options{
		Version: version, Percentiles: percentiles, Dir: out.dir, KeepRows: out.format == "json", Roots: a.roots,
	}
	if out.dryRun {
		err := a.dryRun(p, opts, out.format)
		if find != nil && out.format == "text" && err == nil {
			_, err = fmt.Fprintln(a.stdout, find.outlook())
		}
		return err
	}
	run := (*execute.Session).Run
	show := live.New(a.stderr, live.Options{Quiet: out.quiet, Plain: out.format == "ndjson" && isTerminal(a.stdout)})
	defer show.Close()
	w := writer{out: a.stdout, format: out.format, show: show}
	w.attach(&opts)
	if find != nil {
		find.attach(&opts)
		run = func(s *execute.Session, ctx context.Context) (*result.Doc, error) { return s.RunPoints(ctx, find.next) }
	}
	session, err := execute.Prepare(p, opts)
	if err != nil {
		return err
	}
	ctx, cancel := a.signals.context(ctx)
	defer cancel()
	doc, err := run(session, ctx)
	show.Close() // nothing else is printed while the view is there
	if doc == nil {
		return err
	}
	if len(doc.Points) > 0 || out.format != "text" { // people need no table of nothing
		err = errors.Join(err, w.finish(doc))
	}
	a.exit = a.status(doc)
	if hung(doc) {
		a.leave(err)
	}
	if err != nil {
		// The figures are out; what could not be written is said, and the status tells of it.
		a.complain(err)
		a.exit = max(a.exit, exitUsage)
	}
	return nil
}

// status is the exit status that a document calls for.
func (a *app) status(doc *result.Doc) int {
	if s := a.signals.status(); s != 0 {
		return s
	}
	if execute.Faulted(doc) {
		return exitFaults
	}
	if doc.FindMax != nil && doc.FindMax.FoundIOPS == nil {
		return exitMissed
	}
	return exitGood
}

func hung(doc *result.Doc) bool {
	for _, p := range doc.Points {
		if p.StuckIOs > 0 {
			return true
		}
	}
	return false
}

// leave ends the process while threads hang in the kernel. Whoever reads standard output gets its end
// now; with synchronous engines the process itself can go only when the kernel lets go of its I/Os.
func (a *app) leave(err error) {
	if err != nil {
		a.complain(err)
	}
	a.silentDevice()
	os.Exit(a.exit)
}

// silentDevice says why the process may stay for a while, and gives whoever reads standard output its
// end now.
func (a *app) silentDevice() {
	fmt.Fprintln(a.stderr, "blkstorm: the device does not answer; with libaio and psync this process can end only when the kernel gives its I/Os back")
	_ = os.Stdout.Close() // what there was to say is out; there is nothing left that could fail
}
