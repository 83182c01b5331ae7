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
	metrics                  string // address of the Prometheus page
	quiet, dryRun            bool
	resume                   string // folder of the run to go on with
	rePrecondition           bool
}

func (a *app) runCommand() *cobra.Command {
	var load loadFlags
	var phases phaseFlags
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
			if err == nil && p != nil {
				err = phases.apply(cmd.Flags(), &load, p, p.Phases[0].Points[0].Streams)
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
	phases.add(f)
	out.add(f)
	return cmd
}

// add adds the options.
func (out *outputFlags) add(f *pflag.FlagSet) {
	f.StringVar(&out.format, "format", "text", "what goes to standard output, `NAME` is "+strings.Join(formats, "|")+"; with --dry-run also yaml, a plan file")
	f.StringVar(&out.dir, "dir", "", "write a result folder: `DIR` must be empty or not exist yet")
	out.addResume(f)
	f.StringVar(&out.percentiles, "percentiles", "", "latency percentiles of the result, a `LIST` (default 50,90,95,99,99.9,99.99,99.999)")
	out.addMetrics(f)
	f.BoolVar(&out.quiet, "quiet", false, "no progress on standard error")
	f.BoolVar(&out.dryRun, "dry-run", false, "print the plan, the guard's answers, bytes and time; touch nothing")
}

// check says which formats do not go together with the rest. A search has no plan that repeats it.
func (out *outputFlags) check(search bool) error {
	switch {
	case out.dryRun && slices.Contains(formats[2:], out.format):
		return fmt.Errorf("--format %s: a dry run has text, json and yaml", out.format)
	case out.format == "yaml" && !out.dryRun:
		return errors.New("--format yaml: is the plan as a file, which --dry-run writes")
	case out.format == "yaml" && search:
		return errors.New("--format yaml: a search has no plan file; use text or json")
	case out.format != "yaml" && !slices.Contains(formats, out.format):
		return fmt.Errorf("--format %q: known are %s", out.format, strings.Join(formats, ", "))
	}
	return out.checkMetrics()
}

// planOf makes the plan of one point from a command line; nil with --resume, whose folder has the plan.
func (a *app) planOf(f *pflag.FlagSet, load *loadFlags, out *outputFlags, targets []string) (*plan.Plan, error) {
	p, err := a.frameOf(f, load, out, targets)
	if err != nil || p == nil {
		return nil, err
	}
	streams, err := load.allStreams(f, p.Targets)
	if err != nil {
		return nil, err
	}
	p.Phases = []plan.Phase{{Kind: plan.Measure, Points: []plan.Point{load.point(streams)}}}
	return p, nil
}

// frameOf makes a plan that has targets and no phases from a command line; nil with --resume.
func (a *app) frameOf(f *pflag.FlagSet, load *loadFlags, out *outputFlags, targets []string) (*plan.Plan, error) {
	if f.Changed("resume") {
		return nil, out.checkResume(f, targets)
	}
	if err := out.checkDir(); err != nil {
		return nil, err
	}
	if f.Changed("grace") && load.grace <= 0 {
		return nil, errors.New("--grace: must be over 0")
	}
	if slices.Contains(targets, "") {
		return nil, errors.New("a TARGET is empty")
	}
	p := load.frame(f, targets)
	return p, a.allowSignatures(p, load.destroySignature)
}

// runPlan is what all commands that run I/O end in. The plan is nil when a run is gone on with. With a finder, the plan is the first step of a
// search, which decides on the others.
func (a *app) runPlan(ctx context.Context, p *plan.Plan, out *outputFlags, find *finder) error {
	if err := out.check(find != nil); err != nil {
		return err
	}
	percentiles, err := parsePercentiles(out.percentiles)
	if err != nil {
		return err
	}
	opts := execute.Options{
		Version: version, Percentiles: percentiles, Dir: out.dir, KeepRows: out.format == "json", Roots: a.roots,
	}
	if p == nil {
		opts.Dir, opts.Resume, opts.RePrecondition = out.resume, true, out.rePrecondition
	}
	var done *execute.FinishedError
	if out.dryRun {
		err := a.dryRun(p, opts, out.format)
		if errors.As(err, &done) {
			_, err = fmt.Fprintln(a.stdout, done)
		}
		if find != nil && out.format == "text" && err == nil {
			_, err = fmt.Fprintln(a.stdout, find.outlook())
		}
		return err
	}
	if opts.Dir == "" {
		nowhere, err := checkOutput(a.stdout)
		if err != nil {
			return err
		}
		if nowhere && !out.quiet {
			fmt.Fprintln(a.stderr, "blkstorm:", resultLost)
		}
	}
	page, err := out.listen()
	if err != nil {
		return err
	}
	defer page.Close()
	run := (*execute.Session).Run
	show := live.New(a.stderr, live.Options{Quiet: out.quiet, Plain: out.format == "ndjson" && isTerminal(a.stdout)})
	defer show.Close()
	w := writer{out: a.stdout, format: out.format, show: show, folder: opts.Dir != ""}
	w.attach(&opts)
	if find != nil {
		find.attach(&opts)
		run = func(s *execute.Session, ctx context.Context) (*result.Doc, error) { return s.RunPoints(ctx, find.next) }
	}
	serve(page, &opts)
	session, err := execute.Prepare(p, opts)
	if errors.As(err, &done) {
		return a.finished(done, &w, out.quiet)
	}
	if err != nil {
		return err
	}
	ctx, cancel := a.signals.context(ctx)
	defer cancel()
	doc, err := run(session, ctx)
	show.Close() // nothing else is printed while the view is there
	err, gone := withoutPipe(err)
	if doc == nil {
		if gone {
			a.readerGone("nothing was run")
		}
		return err
	}
	if !gone && (len(doc.Points) > 0 || out.format != "text") { // people need no table of nothing
		var failed error
		failed, gone = withoutPipe(w.finish(doc))
		err = errors.Join(err, failed)
	}
	err = errors.Join(err, a.reportOf(opts.Dir, doc, out.quiet))
	if a.exit = a.status(doc); gone {
		a.readerGone(w.left(opts.Dir))
	}
	if a.exit == exitMissed {
		a.sayMissed(doc)
	}
	a.conclude(doc, err)
	return nil
}

// conclude ends a run whose figures are out: what could not be written is said, and the status tells of it.
func (a *app) conclude(doc *result.Doc, err error) {
	if hung(doc) {
		a.leave(err)
	}
	if err != nil {
		a.complain(err)
		a.exit = max(a.exit, exitUsage)
	}
}

// status is the exit status that a document calls for.
func (a *app) status(doc *result.Doc) int {
	if s := a.signals.status(); s != 0 {
		return s
	}
	if execute.Faulted(doc) {
		return exitFaults
	}
	if execute.Missed(doc) {
		return exitMissed
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
