package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"blkstorm/printable"
	"blkstorm/result"
	"blkstorm/result/load"
)

// What export takes.
var (
	exportKinds   = []string{"intervals", "points"}
	exportFormats = []string{"csv", "ndjson"}
)

func (a *app) exportCommand() *cobra.Command {
	var what, format string
	cmd := &cobra.Command{
		Use:   "export [flags] RESULT",
		Short: "Write a result's intervals or points as CSV or NDJSON",
		Long: `Write what a RESULT holds in a form that spreadsheets and scripts read: a folder of --dir, a document
of --format json, or - for one on standard input. Nothing in RESULT is changed; the folder of a run
that goes on can be read, too.

The latencies of each interval as whole histograms are in the folder already: latency.hlog is what
HdrHistogram's tools read.`,
		Example: `  blkstorm export result > intervals.csv
  blkstorm export --what points result.json > points.csv`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("one RESULT is needed, a folder or a file; %d are given", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(exportKinds, what) {
				return fmt.Errorf("--what %q: known are %s", what, strings.Join(exportKinds, ", "))
			}
			if !slices.Contains(exportFormats, format) {
				return fmt.Errorf("--format %q: known are %s", format, strings.Join(exportFormats, ", "))
			}
			r, err := load.Open(args[0])
			if err != nil {
				return err
			}
			if what == "points" {
				return exportPoints(a.stdout, r, format)
			}
			return a.exportIntervals(r, format)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	f.StringVar(&what, "what", exportKinds[0], "what goes to standard output, `NAME` is "+strings.Join(exportKinds, "|"))
	f.StringVar(&format, "format", exportFormats[0], "in which form, `NAME` is "+strings.Join(exportFormats, "|"))
	return cmd
}

func exportPoints(w io.Writer, r *load.Result, format string) error {
	if format == "csv" {
		return result.WriteCSV(w, r.Doc)
	}
	for i, p := range r.Doc.Points {
		if err := result.WriteNDJSONPoint(w, i, p); err != nil {
			return err
		}
	}
	return nil
}

// rowWriter takes rows one after the other.
type rowWriter interface {
	Row(*result.Interval) error
	Close() error
}

// rowLines writes rows as NDJSON.
type rowLines struct{ w io.Writer }

func (l rowLines) Row(in *result.Interval) error { return result.WriteNDJSON(l.w, in) }
func (l rowLines) Close() error                  { return nil }

func (a *app) exportIntervals(r *load.Result, format string) (err error) {
	switch {
	case r.Gaps.NoRows && r.Kind == load.Fio:
		return fmt.Errorf("%s: fio's JSON has no intervals; --what points is what it has", r.Name())
	case r.Gaps.NoRows:
		return fmt.Errorf("%s: has no interval rows; the folder of --dir has them, and the document of --format json", r.Name())
	}
	var w rowWriter = rowLines{a.stdout}
	if format == "csv" {
		w = result.NewIntervalCSV(a.stdout, r.Doc)
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for in, err := range r.Rows() {
		if err == nil {
			err = w.Row(in)
		}
		if err != nil {
			return err
		}
	}
	if r.Gaps.RowsCut {
		_, _ = fmt.Fprintln(a.stderr, "blkstorm:", printable.Text(r.Name()+": the last interval row is cut short, and left out"))
	}
	return nil
}
