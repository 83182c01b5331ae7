package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"blkstorm/histogram"
	"blkstorm/printable"
	"blkstorm/result"
	"blkstorm/result/load"
)

// What export takes.
var (
	exportKinds   = []string{"intervals", "latencies", "points"}
	exportFormats = []string{"csv", "ndjson"}
)

func (a *app) exportCommand() *cobra.Command {
	var what, format string
	cmd := &cobra.Command{
		Use:   "export [flags] RESULT",
		Short: "Write a result's intervals, latencies or points as CSV or NDJSON",
		Long: `Write what a RESULT holds in a form that spreadsheets and scripts read: a folder of --dir, a document
of --format json, or - for one on standard input. Nothing in RESULT is changed; the folder of a run
that goes on can be read, too.

Intervals are all figures of each interval; latencies are those of a folder's latency.hlog, which has
each interval's whole histogram per stream, target and direction, and so all percentiles; points are
what --format csv of a run prints.`,
		Example: `  blkstorm export result > intervals.csv
  blkstorm export --what latencies result > p999.csv
  blkstorm export --what points result.json > points.csv`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return fmt.Errorf("one RESULT is needed, a folder or a file; %d are given", len(args))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			a.signals.endAtOnce()
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
			switch what {
			case "points":
				return exportPoints(a.stdout, r, format)
			case "latencies":
				return a.exportLatencies(r, format)
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
type rowWriter[T any] interface {
	Row(T) error
	Close() error
}

// lineWriter writes each row as a line of NDJSON.
type lineWriter[T any] struct {
	w     io.Writer
	write func(io.Writer, T) error
}

func (l lineWriter[T]) Row(row T) error { return l.write(l.w, row) }
func (l lineWriter[T]) Close() error    { return nil }

func (a *app) exportIntervals(r *load.Result, format string) (err error) {
	switch {
	case r.Gaps.NoRows && r.Kind == load.Fio:
		return fmt.Errorf("%s: fio's JSON has no intervals; --what points is what it has", r.Name())
	case r.Gaps.NoRows:
		return fmt.Errorf("%s: has no interval rows; the folder of --dir has them, and the document of --format json", r.Name())
	}
	var w rowWriter[*result.Interval] = lineWriter[*result.Interval]{a.stdout, result.WriteNDJSON}
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
		a.sayCut(r, "interval row")
	}
	return nil
}

// sayCut tells of a last line that is not whole.
func (a *app) sayCut(r *load.Result, what string) {
	_, _ = fmt.Fprintln(a.stderr, "blkstorm:", printable.Text(fmt.Sprintf("%s: the last %s is cut short, and left out", r.Name(), what)))
}

func (a *app) exportLatencies(r *load.Result, format string) (err error) {
	if r.Gaps.NoLog {
		return fmt.Errorf("%s: has no latency.hlog; the folder of --dir has it", r.Name())
	}
	var w rowWriter[*result.IntervalLatency] = lineWriter[*result.IntervalLatency]{a.stdout, result.WriteNDJSONLatency}
	if format == "csv" {
		w = result.NewLatencyCSV(a.stdout, r.Doc)
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	h := histogram.New()
	for line, err := range r.Log() {
		if err == nil {
			err = line.Decode(h)
		}
		var one *result.IntervalLatency
		if err == nil {
			one, err = r.Doc.NewIntervalLatency(line.Point, line.Start, line.Length, h)
		}
		if err == nil {
			one.Stream, one.Target, one.Direction = line.Stream, line.Target, line.Direction
			err = w.Row(one)
		}
		if err != nil {
			return err
		}
	}
	if r.Gaps.LogCut {
		a.sayCut(r, "line of latency.hlog")
	}
	return nil
}
