package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"blkstorm/merge"
	"blkstorm/result"
)

// mergeFormats are those of merge; a stream of events has no place, since nothing happens.
var mergeFormats = []string{"text", "json", "csv"}

func (a *app) mergeCommand() *cobra.Command {
	var dir, format string
	var o merge.Options
	cmd := &cobra.Command{
		Use:   "merge [options] RESULT...",
		Short: "Make one result of many machines' ones",
		Long: `merge makes one result of those of many machines that ran the same plan at the same time: result
folders, documents of --format json ("-" is standard input), or JSON and json+ output of fio.

Histograms are added, never averaged. From result folders the time that all machines measured is cut
out, in whole intervals by wall clock; what that costs is stated, and who began late, ended early or is
broken is named. Without folders each machine's whole window is used.

Exit status 3 says that a member was left out, is damaged, had I/O errors or a device that hung.`,
		Example: `  blkstorm merge vm*/
  blkstorm merge --dir all vm01 vm02 vm03
  blkstorm merge --format json vm*/result.json >all.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("merge: name the results to merge, folders or files")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, paths []string) error {
			a.signals.endAtOnce()
			w := &writer{out: a.stdout, format: format}
			if err := checkMergeFormat(format); err != nil {
				return err
			}
			return a.merge(paths, dir, o, w)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&dir, "dir", "", "write a result folder `DIR`, with the rows of the time in common; it must be empty or not exist yet")
	f.StringVar(&format, "format", "text", "`NAME`: text, json or csv on standard output")
	f.BoolVar(&o.AllowDifferentPlans, "allow-different-plans", false, "merge results whose plans differ in more than targets and seed")
	return cmd
}

func checkMergeFormat(format string) error {
	for _, name := range mergeFormats {
		if format == name {
			return nil
		}
	}
	return fmt.Errorf("--format: %q is none of text, json, csv", format)
}

func (a *app) merge(paths []string, dir string, o merge.Options, w *writer) (err error) {
	o.Version = version
	if dir != "" {
		if o.Folder, err = result.CreateFolder(dir); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, o.Folder.Close()) }()
	}
	r, err := merge.Merge(paths, o)
	if err != nil && o.Folder != nil {
		err = errors.Join(err, o.Folder.Discard()) // nobody can go on with a part of a merge
	}
	if err != nil {
		return err
	}
	if r.Broken {
		a.exit = exitFaults
	}
	if err := w.finish(r.Doc); err != nil {
		return err
	}
	if err := a.reportOf(dir, r.Doc, false); err != nil {
		a.complain(err)
		a.exit = max(a.exit, exitUsage)
	}
	return nil
}
