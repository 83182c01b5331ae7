package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"blkstorm/execute"
	"blkstorm/plan"
	"blkstorm/result"
)

// besideResume are the options that a run which is gone on with may have: its plan has the others.
var besideResume = []string{"resume", "re-precondition", "format", "metrics", "quiet", "dry-run"}

// addResume adds the options that go on with a run.
func (out *outputFlags) addResume(f *pflag.FlagSet) {
	f.StringVar(&out.resume, "resume", "", "go on with the run whose result folder is `DIR`: finished points stay, the others run")
	f.BoolVar(&out.rePrecondition, "re-precondition", false, "with --resume: repeat the last preconditioning first")
}

// checkResume says what of a command line does not go with --resume.
func (out *outputFlags) checkResume(f *pflag.FlagSet, targets []string) error {
	var wrong []string
	f.Visit(func(flag *pflag.Flag) {
		if !slices.Contains(besideResume, flag.Name) {
			wrong = append(wrong, "--"+flag.Name)
		}
	})
	wrong = append(wrong, targets...)
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("--resume %s: the folder has the whole plan, so leave out %s; beside it go --%s",
		out.resume, strings.Join(wrong, ", "), strings.Join(besideResume[1:], ", --"))
}

// checkDir says what is wrong with the options of folders in a run that is not gone on with.
func (out *outputFlags) checkDir() error {
	if out.rePrecondition {
		return errors.New("--re-precondition: goes with --resume only")
	}
	return nil
}

// unlessResumed checks arguments, except where a folder has the whole plan.
func unlessResumed(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("resume") {
			return nil
		}
		return check(cmd, args)
	}
}

// runOrResume runs the plan that makePlan makes, or goes on with that of a folder.
func (a *app) runOrResume(cmd *cobra.Command, args []string, out *outputFlags, makePlan func() (*plan.Plan, error)) error {
	f := cmd.Flags()
	if f.Changed("resume") {
		if err := out.checkResume(f, args); err != nil {
			return err
		}
		return a.runPlan(cmd.Context(), nil, out, nil)
	}
	p, err := makePlan()
	if err == nil {
		err = out.checkDir()
	}
	if err != nil {
		return err
	}
	return a.runPlan(cmd.Context(), p, out, nil)
}

// finished prints the document of a run that has nothing left to do, with the status that it ended with.
func (a *app) finished(done *execute.FinishedError, w *writer, quiet bool) error {
	w.show.Note(done.Error())
	w.show.Close()
	if w.format == "ndjson" {
		if err := result.WriteNDJSONRun(w.out, done.Doc); err != nil {
			return err
		}
	}
	a.exit = a.status(done.Doc)
	return errors.Join(w.finish(done.Doc), a.missingReport(done.Dir, done.Doc, quiet))
}
