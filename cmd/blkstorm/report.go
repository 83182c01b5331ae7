package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"blkstorm/printable"
	"blkstorm/report"
	"blkstorm/result"
	"blkstorm/result/load"
)

func (a *app) reportCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "report [flags] DIR|FILE...",
		Short: "Make the HTML page of a result",
		Long: `Make one HTML file of a result: verdict, what was tested, charts over time, sweeps, distributions of
latency, all numbers. It opens from disk and asks no network for anything.

A result is the folder of --dir, or a document of --format json, or fio's JSON; - is standard input. The page of
a folder is the report.html in it, that of a FILE stands beside it with the ending .html; their paths
are printed. Every run with --dir makes the page of its folder by itself.`,
		Example: `  blkstorm report result
  blkstorm report -o - result.json | gzip > result.html.gz`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 0:
				return fmt.Errorf("no result is named; write %s DIR", cmd.CommandPath())
			case len(args) > 1 && output != "":
				return fmt.Errorf("--output %s: is for one result, and %d are named", output, len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			a.signals.endAtOnce()
			var bad []error // one that cannot be read does not cost the others their pages
			for _, from := range args {
				bad = append(bad, a.report(from, output))
			}
			return errors.Join(bad...)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to `FILE`; - is standard output")
	return cmd
}

// report makes the page of one result.
func (a *app) report(from, to string) error {
	r, err := load.Open(from)
	if err != nil {
		return err
	}
	switch {
	case to == load.Standard:
		return report.Write(a.stdout, r, version)
	case to != "":
	case from == load.Standard:
		return errors.New("a result from standard input has no place of its own; name the page with --output FILE")
	case r.Kind == load.Folder:
		dir := from
		if info, err := os.Stat(from); err == nil && !info.IsDir() {
			dir = filepath.Dir(from) // its result.json was named
		}
		to = filepath.Join(dir, result.ReportFile)
	default:
		to = strings.TrimSuffix(from, filepath.Ext(from)) + ".html"
	}
	for _, file := range r.Files() {
		if sameFile(file, to) {
			return fmt.Errorf("--output %s: is the result itself; name another file", to)
		}
	}
	stop := a.announce(patience, to)
	err = report.WriteFile(to, r, version)
	if stop(); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, printable.Name(to))
	return err
}

func sameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// patience is how long nobody asks what is going on.
const patience = 2 * time.Second

// announce says what is being made when that takes longer than after: a page of a day's rows takes a minute. Once
// stop has returned, nothing is said any more.
func (a *app) announce(after time.Duration, path string) (stop func()) {
	said := make(chan struct{})
	timer := time.AfterFunc(after, func() {
		defer close(said)
		fmt.Fprintf(a.stderr, "blkstorm: making %s of all intervals, which takes a while\n", printable.Name(path))
	})
	return func() {
		if !timer.Stop() {
			<-said
		}
	}
}

// reportOf makes the page of the folder of a run that has ended. A run that began no point has none.
func (a *app) reportOf(dir string, doc *result.Doc, quiet bool) error {
	if dir == "" || len(doc.Points) == 0 {
		return nil
	}
	if !quiet {
		defer a.announce(patience, filepath.Join(dir, result.ReportFile))()
	}
	_, err := report.WriteFolder(dir, version)
	return err
}

// missingReport makes the page of a folder whose run was killed between its last point and the page.
func (a *app) missingReport(dir string, doc *result.Doc, quiet bool) error {
	if _, err := os.Lstat(filepath.Join(dir, result.ReportFile)); !errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return a.reportOf(dir, doc, quiet)
}
