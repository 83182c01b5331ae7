package hosttest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"blkstorm/lab"
)

// cell is one measurement of a device of known rate.
type cell struct {
	engine         string
	threads, depth int
	fio            bool
	rate           int // I/Os per second that the device gives

	iops, meanNS float64
	err          error
	attempts     int
	starved      bool // below the rate for want of CPU in all of its attempts, and blkstorm has said so
}

func (c *cell) String() string {
	program := "blkstorm"
	if c.fio {
		program = "fio"
	}
	return fmt.Sprintf("%s %s %dT/%dQ at %d IOPS", program, c.engine, c.threads, c.depth, c.rate)
}

// ramp is long enough for the burst that a throttle lets through at first.
const ramp = time.Second

// TestRateAndLittlesLaw: a device that the kernel's throttle gives a known rate measures that rate, on
// every engine, alone and 16 deep, and T x Q / IOPS is the mean latency; fio beside us on an equal
// device sees the same. Cells of a rate run side by side, each with a loop and a group of its own.
func TestRateAndLittlesLaw(t *testing.T) {
	lab.Root(t)
	for _, rate := range []int{100, 500, 2000} {
		cells := []*cell{
			{engine: "io_uring", threads: 1, depth: 1}, {engine: "io_uring", threads: 1, depth: 16},
			{engine: "libaio", threads: 1, depth: 1}, {engine: "libaio", threads: 1, depth: 16},
			{engine: "psync", threads: 1, depth: 1}, {engine: "psync", threads: 16, depth: 1},
		}
		if _, err := exec.LookPath("fio"); err == nil {
			cells = append(cells, &cell{engine: "io_uring", threads: 1, depth: 16, fio: true}, &cell{engine: "psync", threads: 1, depth: 1, fio: true})
		}
		// A device of 2000 IOPS takes some CPU, so fewer at once.
		side := map[int]int{100: 8, 500: 8, 2000: 4}[rate]
		for batch := range slices.Chunk(cells, side) {
			tries(t, func() error { return measureAll(t, batch, rate) })
		}
		tries(t, func() error {
			return errors.Join(measureAll(t, cells, rate), compareWithFio(cells)) // those that are to be measured again
		})
	}
	if _, err := exec.LookPath("fio"); err != nil {
		lab.Missing(t, "all but the comparison was tested: fio is not installed")
	}
}

// measureAll runs cells side by side, all that did not come out right so far. They go before what else
// this machine does: a process without a CPU leaves its device idle, and so below its rate.
func measureAll(t *testing.T, cells []*cell, rate int) error {
	t.Helper()
	running := map[*cell]*process{}
	for _, c := range cells {
		if c.rate == 0 || c.err != nil {
			c.rate = rate
			running[c] = c.start(t)
		}
	}
	var errs []error
	for _, c := range cells {
		if p := running[c]; p != nil {
			c.err = c.read(t, p.wait(exitGood))
			t.Logf("%v: %.1f IOPS, mean %.2f ms", c, c.iops, c.meanNS/1e6)
		}
		errs = append(errs, c.err)
	}
	return errors.Join(errs...)
}

// start makes the cell's device and starts to measure.
func (c *cell) start(t *testing.T) *process {
	t.Helper()
	dev := lab.Loop(t, 64*mib, lab.LoopOptions{})
	group := lab.Throttle(t, dev, c.rate, c.rate)
	window := 3 * time.Second
	if c.rate <= 100 {
		window = 5 * time.Second // 16 in flight are a thirtieth of 500
	}
	if c.fio {
		cmd := group.Command("nice", "-n", "-10", "fio", "--name=x", "--filename="+dev, "--direct=1", "--rw=randread", "--bs=4k", "--ioengine="+c.engine,
			fmt.Sprintf("--iodepth=%d", c.depth), "--time_based", fmt.Sprintf("--ramp_time=%d", int(ramp.Seconds())), fmt.Sprintf("--runtime=%d", int(window.Seconds())), "--output-format=json")
		cmd.Dir = t.TempDir()
		return startCommand(t, cmd)
	}
	args := fmt.Sprintf("--rw randread --engine %s --threads %d --iodepth %d --ramp %v --runtime %v", c.engine, c.threads, c.depth, ramp, window)
	return startCommand(t, group.Command("nice", append([]string{"-n", "-10", binary(t)}, runArgs(args, dev)...)...))
}

// read takes the figures of a finished process and compares them with what the device is.
func (c *cell) read(t *testing.T, p *process) error {
	t.Helper()
	if c.fio {
		return c.readFio(p.stdout.String())
	}
	point := p.point()
	c.iops, c.meanNS = point.Read.IOPS, float64(point.Read.Latency.Mean)
	c.attempts++
	short := hasWarning(point, "generator_cpu_bound") || hasWarning(point, "descheduled") || hasWarning(point, "steal")
	if c.starved = c.attempts >= 3 && short && c.iops < float64(c.rate); c.starved {
		t.Logf("%v: the machine has no CPU to spare: %v", c, codes(point))
		return nil
	}
	return errors.Join(
		near(c.String()+": the rate", c.iops, float64(c.rate), 0.10),
		near(c.String()+": the mean latency in ns, which is T x Q / IOPS", c.meanNS, float64(c.threads*c.depth)*1e9/c.iops, 0.05),
	)
}

func (c *cell) readFio(text string) error {
	var doc struct {
		Jobs []struct {
			Read struct {
				IOPS float64 `json:"iops"`
				Lat  struct {
					Mean float64 `json:"mean"`
				} `json:"lat_ns"`
			} `json:"read"`
		} `json:"jobs"`
	}
	if err := json.Unmarshal([]byte(text[max(strings.IndexByte(text, '{'), 0):]), &doc); err != nil || len(doc.Jobs) != 1 {
		return fmt.Errorf("fio's answer: %w\n%s", err, text)
	}
	c.iops, c.meanNS = doc.Jobs[0].Read.IOPS, doc.Jobs[0].Read.Lat.Mean
	return nil
}

// compareWithFio holds our rate beside fio's of the same engine and depth; pairs that differ are to be
// measured again.
func compareWithFio(cells []*cell) error {
	var errs []error
	for _, theirs := range cells {
		for _, ours := range cells {
			if !theirs.fio || ours.fio || ours.starved || ours.engine != theirs.engine || ours.depth != theirs.depth || ours.threads != theirs.threads {
				continue
			}
			if err := near(fmt.Sprintf("%v: the rate, beside fio's,", ours), ours.iops, theirs.iops, 0.10); err != nil {
				ours.err, theirs.err = err, err
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}
