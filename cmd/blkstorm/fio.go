package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"blkstorm/device"
	"blkstorm/execute"
	"blkstorm/plan/fiojob"
	"blkstorm/plan/fiojob/jobfile"
	"blkstorm/printable"
	"blkstorm/result/fioout"
)

func (a *app) fioCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "fio [options] [JOBFILE...]",
		Short: "Run fio's job files and command lines",
		Long: `Run job files and command lines as fio does, also when the binary is called as fio. --options lists what
becomes of each of fio's options, --parse-only what of a file would be refused. --output-format takes
normal, terse, json and json+, or several with commas between.`,
		Example: `  blkstorm fio --parse-only jobs.fio
  blkstorm fio --output-format=json --output=result.json jobs.fio
  blkstorm fio --name=a --filename=/dev/sdb --rw=randread --direct=1 --iodepth=16 --ioengine=libaio --runtime=60 --time_based`,
		DisableFlagParsing: true, // fio's command line is its own
		RunE: func(cmd *cobra.Command, args []string) error {
			err := a.fio(cmd.Context(), args, cmd.Help)
			var fault *execute.FaultError
			if !errors.As(err, &fault) {
				return err
			}
			a.complain(err)
			if fault.Hung {
				a.silentDevice()
			}
			a.exit = 1 // of fio, whatever failed
			return nil
		},
	}
}

// fio carries out a command line of fio; help prints what there is to say of the command.
func (a *app) fio(ctx context.Context, args []string, help func() error) error {
	c, err := fiojob.ParseCommand(args, os.Getenv)
	if err != nil {
		return err
	}
	switch {
	case c.Version:
		_, err := fmt.Fprintln(a.stdout, fioout.Version) // nothing else: programs take all of it for the version
		return err
	case c.Help:
		return help()
	case c.ListOptions:
		return listFioOptions(a.stdout)
	}
	files, err := readJobFiles(c.Files)
	if err != nil {
		return err
	}
	if c.ShowCmd {
		_, err := fmt.Fprintln(a.stdout, fiojob.ShowCommand(c, files))
		return err
	}
	set := fiojob.ReadJobs(c, files)
	if len(set.Errors) > 0 {
		return problems(set.Errors)
	}
	work := set.Translate(fiojob.Env{Look: lookAt, Seed: newSeed()})
	if c.ParseOnly {
		for _, p := range set.Refusals {
			fmt.Fprintln(a.stdout, "a run refuses:", printable.Text(p.Error()))
		}
		return nil
	}
	if c.Strict {
		set.Refusals = append(set.Refusals, set.Notes...)
	}
	if len(set.Refusals) > 0 {
		return a.refuseFio(c, set, work, problems(set.Refusals))
	}
	return a.runFio(ctx, c, set, work)
}

// problems is one error of many lines.
func problems(list []*fiojob.Problem) error {
	var errs []error
	for _, p := range list {
		errs = append(errs, p)
	}
	return errors.Join(errs...)
}

// readJobFiles reads all job files of a command line.
func readJobFiles(names []string) (files [][]jobfile.Section, err error) {
	o := jobfile.Options{Getenv: os.Getenv, Keywords: keywords(), Include: include}
	for _, name := range names {
		in := io.ReadCloser(os.Stdin)
		if name != "-" {
			if in, err = os.Open(name); err != nil {
				return nil, err
			}
		}
		sections, err := jobfile.Read(in, name, o)
		if err = errors.Join(err, in.Close()); err != nil {
			return nil, err
		}
		files = append(files, sections)
	}
	return files, nil
}

// include opens a file that another one names: beside that, or in the current folder.
func include(from, name string) (string, io.ReadCloser, error) {
	beside := name
	if !filepath.IsAbs(name) {
		beside = filepath.Join(filepath.Dir(from), name)
	}
	f, err := os.Open(beside)
	if errors.Is(err, fs.ErrNotExist) {
		beside = name
		f, err = os.Open(name)
	}
	return beside, f, err
}

// keywords are fio's: they are replaced in values.
func keywords() jobfile.Keywords {
	k := jobfile.Keywords{"ncpus": int64(runtime.NumCPU()), "pagesize": int64(os.Getpagesize())}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		k["mb_memory"] = int64(info.Totalram) * int64(info.Unit) >> 20
	}
	return k
}

// lookAt tells a translation of a file.
func lookAt(path string) (fiojob.Facts, error) {
	facts, err := device.System().Inspect(path)
	if errors.Is(err, fs.ErrNotExist) {
		if strings.HasPrefix(filepath.Clean(path), "/dev/") {
			return fiojob.Facts{}, err
		}
		return fiojob.Facts{}, nil
	}
	if err != nil {
		return fiojob.Facts{}, err
	}
	return fiojob.Facts{Exists: true, Block: facts.Kind != device.KindFile, Bytes: facts.SizeBytes}, nil
}

// listFioOptions prints the table of options.
func listFioOptions(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i := range fiojob.Options {
		o := &fiojob.Options[i]
		fmt.Fprintf(t, "%s\t%s\t%s\n", strings.Join(append([]string{o.Name}, o.Aliases...), ", "), o.Effect, o.Note)
	}
	return t.Flush()
}
