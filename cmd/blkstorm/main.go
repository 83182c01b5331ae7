// Command blkstorm is a block I/O load generator for benchmark VMs and for servers with a bare SSD.
//
// This package turns command lines into plans and results into output; one file per subcommand. What
// a run is and does lives in the rooms below.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"blkstorm/device"
	"blkstorm/execute"
	"blkstorm/printable"
)

// Exit statuses; scripts rely on them.
const (
	exitGood    = 0
	exitUsage   = 1 // usage or plan error: nothing was touched
	exitRefused = 2 // the guard refused
	exitFaults  = 3 // I/O errors or a hung device
	exitMissed  = 4 // what was asked for was not reached: a threshold, steady state, a rate under the limit
)

// app is what every subcommand needs of the outside.
type app struct {
	stdout, stderr io.Writer
	roots          execute.Roots
	signals        *signals
	exit           int // status of a command that ended without an error of its own
}

func main() {
	args := os.Args[1:]
	if filepath.Base(os.Args[0]) == "fio" { // a link of that name in the way of scripts
		args = append([]string{"fio"}, args...)
	}
	asFio := len(args) > 0 && args[0] == "fio"
	a := &app{stdout: os.Stdout, stderr: os.Stderr, roots: execute.SystemRoots(), signals: catchSignals(asFio)}
	os.Exit(a.run(context.Background(), args))
}

// run carries out one command line and returns the exit status.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.command()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return a.exit
	}
	var refused *device.RefusedError
	var fault *execute.FaultError
	var other *execute.OtherTargetError
	switch {
	case errors.As(err, &refused):
		a.refused(refused)
		return exitRefused
	case errors.As(err, &other):
		fmt.Fprintln(a.stderr, "blkstorm:", other)
		return exitRefused
	case errors.As(err, &fault):
		a.complain(err)
		if fault.Hung {
			a.silentDevice()
		}
		return exitFaults
	case errors.Is(err, unix.EPIPE):
		return exitPipe // whoever read the output wants no more: no word about it
	default:
		a.complain(err)
		return exitUsage
	}
}

func (a *app) refused(e *device.RefusedError) {
	fmt.Fprintf(a.stderr, "blkstorm: refused to write to %s\n", printable.Name(e.Path))
	for _, r := range e.Refusals {
		fmt.Fprintf(a.stderr, "  [%s] %s\n      %s\n", r.Code, printable.Text(r.Reason), printable.Text(r.Advice))
	}
}

// complain says what went wrong; several errors stand on a line each.
func (a *app) complain(err error) { fmt.Fprintln(a.stderr, "blkstorm:", printable.Lines(err.Error())) }

func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "blkstorm",
		Short: "Block I/O load generator for benchmark VMs and bare SSDs",
		Long: `blkstorm opens block devices (or files) past the page cache, keeps an exact number of I/Os in
flight, measures every one of them, and says what the numbers are worth.

Exit status: 0 good, 1 usage or plan error (nothing was touched), 2 refused by the guard,
3 I/O errors or a hung device, 4 a threshold not kept, or steady state or a rate under the limit not
reached, 130 or 143 interrupted (with a valid partial result), 141 whoever read the output is gone.
blkstorm fio ends with fio's own.`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return fmt.Errorf("unknown command %q; blkstorm --help lists them", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(
		a.runCommand(),
		a.sweepCommand(),
		a.planCommand(),
		a.profileCommand(),
		a.findMaxCommand(),
		a.fioCommand(),
		a.reportCommand(),
		a.compareCommand(),
		a.mergeCommand(),
		a.exportCommand(),
		a.devicesCommand(),
		a.versionCommand(),
	)
	refuseEmpty(root)
	return root
}
