package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"blkstorm/lab/guest/cell"
	"blkstorm/result"
)

// In the guest of these tests an instruction takes exactly a nanosecond and idle time costs nothing, so
// that a device with a timer of 1 ms answers after 1 ms and the instructions of the code path, whatever
// the host is doing. This is the absolute reference: what blkstorm says is held to it.

// timed is one run against a device whose latency is known.
type timed struct {
	device  string // null_blk or scsi_debug
	latency time.Duration
	engine  string
	threads int
	depth   int
	runtime string
	// dense marks a load for which the one CPU is too slow: latency is then the CPU's, and blkstorm
	// must say so.
	dense bool
}

func (c *timed) row() string {
	return fmt.Sprintf("%s %v %s %dT/%dQ", c.device, c.latency, c.engine, c.threads, c.depth)
}

// codePath is what the kernel's and blkstorm's instructions add to a device's latency: from the stamp
// before the submit call into the driver that starts the timer, and from the timer's interrupt to the
// stamp after the reaping. Measured on Debian's 6.1 kernel; an instruction is a nanosecond.
//
// Above depth 1 a batch is stamped once, before the call that submits all of it, and reaped by one
// call: an I/O also bears the submission of those before it and the completion of those behind it in
// the batch. libaio's calls are dearer in this than io_uring's, threads of psync have no batch.
func (c *timed) codePath() time.Duration {
	if c.device == "scsi_debug" { // its completions come one by one, so that no batches form
		return 22 * time.Microsecond
	}
	cost := 9 * time.Microsecond
	if c.depth > 1 {
		cost += map[string]time.Duration{"io_uring": 27 * time.Microsecond, "libaio": 54 * time.Microsecond}[c.engine]
	}
	return cost
}

// tail is what one I/O in a hundred bears more: it completes while Go's own threads have the only CPU,
// or, with many threads, while those before it do.
func (c *timed) tail() time.Duration {
	if c.threads > 1 {
		return 100 * time.Microsecond
	}
	return 27 * time.Microsecond
}

// spread is how far batches differ from run to run: whether they stay whole or fall apart is decided in
// the first moments.
func (c *timed) spread() time.Duration {
	if c.depth > 1 {
		return 10 * time.Microsecond
	}
	return 0
}

// turnaround is from the reaping of an I/O to the stamp of the next one, or of a whole batch: no latency
// has it, but at a fixed depth the rate does.
func (c *timed) turnaround() time.Duration {
	if c.depth > 1 {
		return 2500 * time.Nanosecond
	}
	return 600 * time.Nanosecond
}

const (
	latencyTolerance = 0.015
	maxTolerance     = 0.05
	// controlWork is what control does per thread at the end of a row, once a second: it has the only CPU
	// then, and an I/O that completes meanwhile waits for it.
	controlWork   = 500 * time.Microsecond
	rateTolerance = 0.01
)

// truth runs every cell, device by device: a driver's parameters act when it is loaded.
func (a *agent) truth() {
	const ms = time.Millisecond
	for _, d := range []struct {
		name    string
		latency time.Duration
		loads   [][2]int // threads, depth
		dense   [][2]int
	}{
		{"null_blk", 200 * time.Microsecond, [][2]int{{1, 1}}, [][2]int{{1, 64}}},
		{"null_blk", 1 * ms, [][2]int{{1, 1}, {1, 16}, {16, 1}}, nil},
		{"null_blk", 10 * ms, [][2]int{{1, 1}, {1, 16}, {16, 1}, {1, 128}}, nil},
		{"scsi_debug", 1 * ms, [][2]int{{1, 1}}, [][2]int{{1, 64}}},
		{"scsi_debug", 10 * ms, [][2]int{{1, 1}, {1, 16}}, nil},
	} {
		dev, err := makeTimed(d.name, d.latency)
		if err != nil {
			a.cell("truth", fmt.Sprintf("%s %v", d.name, d.latency), "device", "FAIL", err)
			continue
		}
		for _, engine := range cell.Engines {
			for _, l := range d.loads {
				if engine == "psync" && l[1] > 1 || engine != "psync" && l[0] > 1 {
					continue // psync gets its depth by threads, the others theirs by depth
				}
				a.timed(dev, &timed{d.name, d.latency, engine, l[0], l[1], runtimeFor(d.latency), false})
			}
			for _, l := range d.dense {
				if engine != "psync" {
					a.timed(dev, &timed{d.name, d.latency, engine, l[0], l[1], "1s", true})
				}
			}
		}
	}
	a.cost()
}

// runtimeFor gives some hundred I/Os at depth 1.
func runtimeFor(latency time.Duration) string {
	if latency >= 10*time.Millisecond {
		return "3s"
	}
	return "1s"
}

// makeTimed loads the driver anew with that latency and returns the device's name.
func makeTimed(driver string, latency time.Duration) (string, error) {
	if err := sh("grep -q '^%s ' /proc/modules && rmmod %s; true", driver, driver); err != nil {
		return "", err
	}
	if driver == "null_blk" {
		// A depth of 64, the default, would hold back a load of 128.
		return "nullb0", sh("modprobe null_blk queue_mode=2 irqmode=2 completion_nsec=%d hw_queue_depth=256 gb=1 nr_devices=1", latency.Nanoseconds())
	}
	if err := sh("modprobe scsi_debug dev_size_mb=64 ndelay=%d", latency.Nanoseconds()); err != nil {
		return "", err
	}
	for range 100 {
		list, err := devices()
		if err != nil {
			return "", err
		}
		for _, d := range list {
			if d.Controller.Driver == "scsi_debug" || d.Model == "scsi_debug" {
				return d.Name, nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return "", errors.New("scsi_debug is loaded, but blkstorm devices lists no disk of it")
}

// timed runs one cell and reports its figures, each with its deviation. The maximum is a single I/O: when
// it is off, the cell is run once more, and it has to be off again to count.
func (a *agent) timed(dev string, c *timed) {
	before := readsOf(dev)
	p, err := c.run(dev)
	if err == nil && float64(p.Total.Latency.Max) > c.highest() && !c.dense {
		a.cell("truth", c.row(), "first max", fmt.Sprintf("%.4f", float64(p.Total.Latency.Max)/1e6), nil)
		before = readsOf(dev)
		p, err = c.run(dev)
	}
	a.figures(dev, c, before, p, err)
}

// highest is the maximum that passes.
func (c *timed) highest() float64 {
	return float64(c.latency+c.codePath())*(1+maxTolerance) + float64(c.threads)*float64(controlWork)
}

func (c *timed) run(dev string) (*result.Point, error) {
	return load("--engine", c.engine, "--threads", strconv.Itoa(c.threads), "--iodepth", strconv.Itoa(c.depth), "--rw", "randread", "--bs", "4k",
		"--ramp", "200ms", "--runtime", c.runtime, "/dev/"+dev).point(0)
}

func (a *agent) figures(dev string, c *timed, before ioCount, p *result.Point, err error) {
	if err != nil {
		a.cell("truth", c.row(), "run", "FAIL", err)
		return
	}
	cost := c.codePath()
	want := float64(c.latency + cost)
	figures := func(column string, got int64, tolerance float64, extra time.Duration) {
		off := float64(got)/want - 1
		var err error
		if low, high := want*(1-tolerance)-float64(c.spread()), want*(1+tolerance)+float64(c.spread()+extra); !c.dense && (float64(got) < low || float64(got) > high) {
			err = fmt.Errorf("%.4f ms; %v and %v of code make %.4f ms; off by %+.2f %%, allowed are %.4f to %.4f ms", float64(got)/1e6, c.latency, cost, want/1e6, 100*off, low/1e6, high/1e6)
		}
		a.cell("truth", c.row(), column, fmt.Sprintf("%.4f %+.2f%%", float64(got)/1e6, 100*off), err)
	}
	a.cell("truth", c.row(), "true ms", fmt.Sprintf("%.4f", want/1e6), nil)
	lat := p.Total.Latency
	figures("mean", lat.Mean, latencyTolerance, 0)
	figures("p50", lat.Percentiles["50"], latencyTolerance, 0)
	figures("p99", lat.Percentiles["99"], latencyTolerance, c.tail())
	figures("max", lat.Max, maxTolerance, time.Duration(c.threads)*controlWork)
	a.rate(c, p)
	a.cell("truth", c.row(), "kernel's count", fmt.Sprint(p.Issued.Read), counted(before, readsOf(dev), p))
	a.bound(c, p)
	a.fio(dev, c)
}

// rate holds IOPS to depth / latency, our own mean: that is held to the truth already.
func (a *agent) rate(c *timed, p *result.Point) {
	want := float64(c.threads*c.depth) / (float64(p.Total.Latency.Mean+c.turnaround().Nanoseconds()) / 1e9)
	off := p.Total.IOPS/want - 1
	var err error
	if math.Abs(off) > rateTolerance && !c.dense {
		err = fmt.Errorf("%.1f IOPS; depth / latency is %.1f; off by %+.2f %%, allowed is %.0f %%", p.Total.IOPS, want, 100*off, 100*rateTolerance)
	}
	a.cell("truth", c.row(), "IOPS", fmt.Sprintf("%.1f %+.2f%%", p.Total.IOPS, 100*off), err)
}

// bound wants the warning of a busy CPU in dense cells, and in the others none at all that concerns
// the truth of the figures.
func (a *agent) bound(c *timed, p *result.Point) {
	var err error
	switch bound := warned(p, "generator_cpu_bound"); {
	case c.dense && !bound:
		err = fmt.Errorf("the CPU was %.1f %% user and %.1f %% system, and no generator_cpu_bound came; warnings: %s", p.CPU.UserPct, p.CPU.SystemPct, codes(p))
	case !c.dense && bound:
		err = fmt.Errorf("generator_cpu_bound, with %.1f %% user and %.1f %% system", p.CPU.UserPct, p.CPU.SystemPct)
	}
	a.cell("truth", c.row(), "CPU", fmt.Sprintf("%.0f%%", p.CPU.UserPct+p.CPU.SystemPct), err)
	a.cell("truth", c.row(), "warnings", codes(p), nil)
}

// ioCount is the kernel's own count for a device.
type ioCount struct{ reads, sectors uint64 }

func readsOf(dev string) ioCount {
	f := strings.Fields(read("/sys/block/" + dev + "/stat"))
	if len(f) < 3 {
		return ioCount{}
	}
	reads, _ := strconv.ParseUint(f[0], 10, 64)
	merged, _ := strconv.ParseUint(f[1], 10, 64) // random offsets happen to be neighbours now and then
	sectors, _ := strconv.ParseUint(f[2], 10, 64)
	return ioCount{reads + merged, sectors}
}

// counted compares the result with what the kernel has counted on a device that nobody else uses.
func counted(before, after ioCount, p *result.Point) error {
	reads, sectors := after.reads-before.reads, after.sectors-before.sectors
	if reads != p.Issued.Read || sectors != p.Issued.Read*8 {
		return fmt.Errorf("the kernel has counted %d reads of %d sectors, blkstorm %d of %d", reads, sectors, p.Issued.Read, p.Issued.Read*8)
	}
	return nil
}

// fio runs the same load by fio, where the guest has it: for comparison, nothing is held to it.
func (a *agent) fio(dev string, c *timed) {
	f, err := fio("/dev/"+dev, c.engine, c.threads, c.depth, c.runtime)
	if err != nil {
		a.cell("truth", c.row(), "fio", "FAIL", err)
		return
	}
	a.cell("truth", c.row(), "fio mean, p50, p99, max", fmt.Sprintf("%.4f %.4f %.4f %.4f", f.Mean/1e6, f.Percentile["50.000000"]/1e6, f.Percentile["99.000000"]/1e6, f.Max/1e6), nil)
	a.cell("truth", c.row(), "fio IOPS", fmt.Sprintf("%.1f", f.iops), nil)
}

// cost is the price of one I/O in instructions, on a device that answers at once. Percentiles come from
// a histogram of 1 % steps, so the mean over the run is taken: the time between two I/Os at depth 1.
func (a *agent) cost() {
	if err := sh("grep -q '^null_blk ' /proc/modules && rmmod null_blk; modprobe null_blk queue_mode=2 irqmode=0 gb=1 nr_devices=1"); err != nil {
		a.cell("cost", "null_blk", "device", "FAIL", err)
		return
	}
	costs := map[string]float64{}
	for _, engine := range cell.Engines {
		p, err := load("--engine", engine, "--rw", "randread", "--bs", "4k", "--seed", "1", "--ramp", "50ms", "--runtime", "250ms", "/dev/nullb0").point(0)
		if err != nil {
			a.cell("cost", engine+" 1T/1Q", "run", "FAIL", err)
			continue
		}
		costs[engine+" 1T/1Q per I/O"] = 1e9 / p.Total.IOPS
		costs[engine+" 1T/1Q latency p50"] = float64(p.Total.Latency.Percentiles["50"])
		f, err := fio("/dev/nullb0", engine, 1, 1, "250ms")
		if err != nil {
			a.cell("cost", engine+" 1T/1Q", "fio", "FAIL", err)
			continue
		}
		costs["fio "+engine+" 1T/1Q per I/O"] = 1e9 / f.iops
	}
	a.send(cell.Line{Cost: costs})
}
