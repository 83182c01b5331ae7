// Command guest runs blkstorm inside a real Linux guest, under QEMU's software emulation, against
// devices of known behaviour: VMDK disks behind six kinds of controller, devices with an exact latency,
// devices that fail. make lab calls it; docs/lab.md tells more.
//
//	go run ./lab/guest                 everything
//	go run ./lab/guest -run truth      one scenario, or several: -run disks,guard
//	go run ./lab/guest -seed 2         another course of events where time is exact
//	go run ./lab/guest -accept         take the new cost of an I/O for the baseline
//
// A scenario of which a cell fails is booted once more, with the next seed, and that is told: a maximum is
// a single I/O, and some guests live in the host's time. The exit status is 0 only when every cell of every
// table passed, of such a scenario all those of its second boot.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"blkstorm/lab/guest/cell"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "lab:", err)
		stop()
		os.Exit(1)
	}
}

// options are the command line.
type options struct {
	only     []string
	accept   bool
	keep     bool
	baseline string
	binary   string
	seed     int
}

func parseOptions() (*options, error) {
	var o options
	only := flag.String("run", "", "comma-separated scenarios: "+strings.Join(scenarioNames(), ", ")+"; all by default")
	flag.BoolVar(&o.accept, "accept", false, "write the measured cost of an I/O into the baseline file")
	flag.BoolVar(&o.keep, "keep", false, "keep the work folder (consoles, reports, disks) and say where it is")
	flag.StringVar(&o.baseline, "baseline", "lab/guest/cost.json", "the file of known costs")
	flag.StringVar(&o.binary, "blkstorm", "", "a static binary to test; by default one is built of this tree")
	flag.IntVar(&o.seed, "seed", 1, "of all random numbers in guests with exact time: with the same programs the same seed gives the same figures")
	flag.Parse()
	if *only != "" {
		o.only = strings.Split(*only, ",")
	}
	for _, name := range o.only {
		if !slices.Contains(scenarioNames(), name) {
			return nil, fmt.Errorf("-run %s: known are %s", name, strings.Join(scenarioNames(), ", "))
		}
	}
	return &o, nil
}

// lab is one call of this command.
type lab struct {
	*options
	work    string
	kernel  *kernel  // Debian's standard one
	second  *kernel  // a newer one; nil when it is not to be had
	payload *archive // programs under test

	mu    sync.Mutex
	again []string // what failed at first, of scenarios that were booted once more
}

func run(ctx context.Context) error {
	began := time.Now()
	o, err := parseOptions()
	if err != nil {
		return err
	}
	if err := checkTools(); err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "blkstorm-lab-")
	if err != nil {
		return err
	}
	if o.keep {
		fmt.Println("work folder:", work)
	} else {
		defer os.RemoveAll(work)
	}
	l := &lab{options: o, work: work}
	if err := l.prepare(); err != nil {
		return err
	}
	fmt.Printf("prepared in %.1f s: %s\n", time.Since(began).Seconds(), l.kernel.pkg)
	if l.second != nil {
		fmt.Println("second kernel:", l.second.pkg)
	}
	cells, walls, err := l.boots(ctx)
	printTables(os.Stdout, cells)
	fmt.Println()
	for _, text := range l.again {
		fmt.Println(text)
	}
	for _, w := range walls {
		fmt.Println(w)
	}
	failed := len(failures(cells))
	fmt.Printf("%d cells, %d failed; %.0f s in all\n", len(cells), failed, time.Since(began).Seconds())
	if failed > 0 {
		err = errors.Join(err, fmt.Errorf("%d cells failed", failed))
	}
	return err
}

// prepare gets the kernels and builds what goes into the guests.
func (l *lab) prepare() error {
	var err error
	if l.kernel, err = getKernel("6.1"); err != nil {
		return fmt.Errorf("kernel 6.1: %w", err)
	}
	if err := l.kernel.makeBase(); err != nil {
		return err
	}
	if l.wanted("kernel2") {
		l.second, err = getKernel("6.12")
		if errors.Is(err, errNoKernel) {
			fmt.Println("no second kernel: 6.12 is", err)
		} else if err == nil {
			err = l.second.makeBase()
		}
		if err != nil && !errors.Is(err, errNoKernel) {
			return fmt.Errorf("kernel 6.12: %w", err)
		}
	}
	l.payload, err = buildPayload(l.work, l.binary)
	return err
}

func (l *lab) wanted(scenario string) bool {
	return len(l.only) == 0 || slices.Contains(l.only, scenario)
}

// boots runs the guests, two at a time: those that emulate a single CPU leave the other one idle. Exact
// time in the icount guest does not depend on how busy the host is.
func (l *lab) boots(ctx context.Context) (cells []cell.Cell, walls []string, err error) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	for _, s := range scenarios {
		if !l.wanted(s.name) {
			continue
		}
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			got, wall, e := l.boot(ctx, s)
			l.mu.Lock()
			defer l.mu.Unlock()
			cells = append(cells, got...)
			if wall > 0 {
				walls = append(walls, fmt.Sprintf("%-8s %5.1f s", s.name, wall.Seconds()))
			}
			if e != nil {
				err = errors.Join(err, fmt.Errorf("scenario %s: %w", s.name, e))
			}
		})
	}
	wg.Wait()
	slices.SortStableFunc(cells, func(a, b cell.Cell) int { return strings.Compare(a.Table, b.Table) })
	slices.Sort(walls)
	return cells, walls, err
}

// boot runs a scenario, and once more when something of it failed.
func (l *lab) boot(ctx context.Context, s scenario) ([]cell.Cell, time.Duration, error) {
	cells, wall, err := s.run(ctx, l)
	failed := failures(cells)
	if err != nil {
		failed = append(failed, err.Error())
	}
	if len(failed) == 0 || l.accept || ctx.Err() != nil {
		return cells, wall, err
	}
	o := *l.options
	o.seed++
	second := &lab{options: &o, work: filepath.Join(l.work, s.name+"-again"), kernel: l.kernel, second: l.second, payload: l.payload}
	if err := os.Mkdir(second.work, 0o755); err != nil {
		return cells, wall, err
	}
	l.mu.Lock()
	for _, text := range failed {
		l.again = append(l.again, fmt.Sprintf("again: %s was booted twice, since at first: %s", s.name, text))
	}
	l.mu.Unlock()
	cells, more, err := s.run(ctx, second)
	return cells, wall + more, err
}

// failures are the cells that failed, and why, each in a line.
func failures(cells []cell.Cell) (list []string) {
	for _, c := range cells {
		if !c.OK {
			list = append(list, fmt.Sprintf("%s, %s, %s: %s", c.Table, c.Row, c.Column, strings.ReplaceAll(c.Detail, "\n", "; ")))
		}
	}
	return list
}

// scenarioNames lists them in the order of their start.
func scenarioNames() []string {
	var list []string
	for _, s := range scenarios {
		list = append(list, s.name)
	}
	return list
}
