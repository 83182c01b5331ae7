package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"blkstorm/compare"
	"blkstorm/result/load"
)

// compareFormats are what a comparison is written as.
var compareFormats = []string{"text", "json", "html"}

// compareOptions are those of the command line.
type compareOptions struct {
	metric, falseRate, format string
	failIf                    []string
}

func (a *app) compareCommand() *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare [flags] A B [...]",
		Short: "Compare results with a baseline: what changed, and whether that is more than chance",
		Long: `Compare results with the first of them, the baseline. A result is the folder of --dir, a result.json or
other document of --format json, or fio's JSON; - is standard input. Repeats of a run stand with commas
between, or as a pattern in quotes:

  blkstorm compare old new
  blkstorm compare old1,old2,old3 new1,new2,new3
  blkstorm compare 'old*' 'new*' --fail-if 'p99 worse 10%' --fail-if 'iops worse 5%'

Exit status: 0 compared, 1 something could not be read or compared, 4 a --fail-if is broken.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) < 2 {
				return errors.New("name a baseline and at least one result to compare with it; repeats of a run stand with commas between")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			a.signals.endAtOnce()
			return a.compare(args, &o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.metric, "metric", strings.Join(compare.DefaultMetrics, ","), "figures to compare, a `LIST` such as iops,read.p99,response.max")
	f.StringVar(&o.falseRate, "false-rate", "5%", "of the differences shown, how many may be chance at most, in `PERCENT`")
	f.StringArrayVar(&o.failIf, "fail-if", nil, "exit with 4 when a figure is worse: a `LIMIT` such as 'p99 worse 10%'; repeatable")
	f.StringVar(&o.format, "format", "text", "what goes to standard output, `NAME` is "+strings.Join(compareFormats, "|"))
	return cmd
}

func (a *app) compare(args []string, o *compareOptions) error {
	if !slices.Contains(compareFormats, o.format) {
		return fmt.Errorf("--format %q: known are %s", o.format, strings.Join(compareFormats, ", "))
	}
	options, err := o.parse()
	if err != nil {
		return err
	}
	sides, err := openSides(args)
	if err != nil {
		return err
	}
	doc, err := compare.New(sides, options)
	if err != nil {
		return err
	}
	switch o.format {
	case "json":
		err = compare.WriteJSON(a.stdout, doc)
	case "html":
		err = compare.WriteHTML(a.stdout, doc)
	default:
		err = compare.WriteText(a.stdout, doc)
	}
	if n := doc.Broken(); n > 0 && err == nil {
		a.sayBroken(doc)
		a.exit = exitMissed
	}
	return err
}

// openSides opens the results that the arguments name.
func openSides(args []string) (sides [][]*load.Result, err error) {
	var paths [][]string
	standard := 0
	for _, arg := range args {
		side := repeats(arg)
		for _, path := range side {
			if path == load.Standard {
				standard++
			}
		}
		paths = append(paths, side)
	}
	if standard > 1 {
		return nil, errors.New("standard input (-) can be one result only")
	}
	for _, side := range paths {
		var results []*load.Result
		for _, path := range side {
			r, err := load.Open(path)
			if err != nil {
				return nil, err
			}
			results = append(results, r)
		}
		sides = append(sides, results)
	}
	return sides, nil
}

func (o *compareOptions) parse() (compare.Options, error) {
	out := compare.Options{Version: version}
	var err error
	if out.Metrics, err = compare.ParseMetrics(o.metric); err != nil {
		return out, fmt.Errorf("--metric %w", err)
	}
	number := strings.TrimSuffix(strings.TrimSpace(o.falseRate), "%")
	rate, err := strconv.ParseFloat(number, 64)
	if err != nil || !(rate > 0 && rate <= 50) {
		return out, fmt.Errorf("--false-rate %q: must be a percentage over 0 and at most 50", o.falseRate)
	}
	out.FalseRate = rate / 100
	for _, text := range o.failIf {
		limit, err := compare.ParseLimit(text)
		if err != nil {
			return out, err
		}
		out.FailIf = append(out.FailIf, limit)
	}
	return out, nil
}

// repeats takes an argument apart: a path as it stands when there is such a file, else a list with commas,
// each entry a path or a pattern. What is nowhere stays as it is, for the error that names it.
func repeats(arg string) []string {
	if _, err := os.Lstat(arg); err == nil || arg == load.Standard {
		return []string{arg}
	}
	var out []string
	for part := range strings.SplitSeq(arg, ",") {
		if _, err := os.Lstat(part); err != nil {
			if found, err := filepath.Glob(part); err == nil && len(found) > 0 {
				out = append(out, found...)
				continue
			}
		}
		out = append(out, part)
	}
	return out
}

// sayBroken says on standard error why the exit status is 4, one line per limit.
func (a *app) sayBroken(doc *compare.Doc) {
	for _, r := range doc.FailIf {
		if n := len(r.Broken); n > 0 {
			more := ""
			if n > 1 {
				more = fmt.Sprintf(" (and %d more)", n-1)
			}
			a.complain(fmt.Errorf("fail-if %s: %v%s", r.Limit, r.Broken[0], more))
		}
	}
}
