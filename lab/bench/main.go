// Command bench compares blkstorm with fio, side by side: what one CPU-second of each is worth.
//
// make bench calls it, as root. It makes its own devices (a zram, a loop over tmpfs) and removes them.
// Rounds are interleaved (A B C A B C ...), since a machine's speed drifts; what counts is the median
// of the per-round ratios. Two baselines are always shown: fio as people run it, and fio tuned as well
// as its manual allows. t/io_uring, fio's own ceiling for an engine, joins where -t-io-uring names it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	var o options
	flag.IntVar(&o.rounds, "rounds", 9, "rounds per row")
	flag.DurationVar(&o.runtime, "runtime", 2*time.Second, "length of one run")
	flag.StringVar(&o.blkstorm, "blkstorm", "bin/blkstorm", "our binary")
	flag.StringVar(&o.fio, "fio", "fio", "the installed fio")
	flag.StringVar(&o.tioUring, "t-io-uring", os.Getenv("T_IO_URING"), "path of fio's t/io_uring, if there is one")
	flag.StringVar(&o.only, "only", "", "rows whose name contains this")
	flag.BoolVar(&o.strict, "assert", true, "exit 1 when a ratio is below its goal")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer cancel()
	if err := run(ctx, &o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	rounds                        int
	runtime                       time.Duration
	blkstorm, fio, tioUring, only string
	strict                        bool
}

func run(ctx context.Context, o *options) (err error) {
	for _, tool := range []*string{&o.blkstorm, &o.fio} {
		if *tool, err = exec.LookPath(*tool); err != nil {
			return err
		}
	}
	printVersions(o)
	bench, remove, err := makeDevices()
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, remove())
	}()
	missed := 0
	for _, r := range rows(bench) {
		if o.only != "" && !strings.Contains(r.name, o.only) {
			continue
		}
		n, err := r.measure(ctx, o)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		missed += n
	}
	if missed > 0 && o.strict {
		return fmt.Errorf("%d goals were missed", missed)
	}
	return nil
}

func printVersions(o *options) {
	for _, args := range [][]string{{o.blkstorm, "version"}, {o.fio, "--version"}, {"uname", "-r"}} {
		out, err := exec.Command(args[0], args[1:]...).Output()
		if err != nil {
			out = []byte(err.Error())
		}
		fmt.Println(strings.TrimSpace(string(out)))
	}
	if o.tioUring == "" {
		fmt.Println("t/io_uring: not given (-t-io-uring PATH or T_IO_URING)")
	}
	fmt.Printf("%d rounds of %v, interleaved; kIOPS/cpu is I/Os per millisecond of CPU time, start-up taken off\n", o.rounds, o.runtime)
}
