package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"blkstorm/execute"
	"blkstorm/result"
)

// besideResume are the options that a run which is gone on with may have: its plan has the others.
var besideResume = []string{"resume", "re-precondition", "format", "quiet", "dry-run"}

// addResume adds the options that go on with a run.
func (out *outputFlags) addResume(f *pflag.FlagSet) {
	f.StringVar(&out.resume, "resume", "", "go on with the run whose result folder is `DIR`: finished points stay, the others run")
	f.BoolVar(&out.rePrecondition, "re-precondition", false, "with --resume: repeat the last preconditioning first")
}

// checkResume says what of a command line does not go with --resume.
func (out *outputFlags) checkResume(f *pflag.FlagSet, targets []string) error {
	if out.resume == "" {
		return errors.New("--resume: the name is empty")
	}
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
func (out *outputFlags) checkDir(f *pflag.FlagSet) error {
	switch {
	case out.rePrecondition:
		return errors.New("--re-precondition: goes with --resume only")
	case f.Changed("dir") && out.dir == "":
		return errors.New("--dir: the name is empty")
	}
	return nil
}

// finished prints the document of a run that has nothing left to do, with the status that it ended with.
func (a *app) finished(done *execute.FinishedError, w *writer) error {
	w.show.Note(done.Error())
	w.show.Close()
	if w.format == "ndjson" {
		if err := result.WriteNDJSONRun(w.out, done.Doc); err != nil {
			return err
		}
	}
	a.exit = a.status(done.Doc)
	return errors.Join(w.finish(done.Doc), a.missingReport(done.Dir, done.Doc))
}
