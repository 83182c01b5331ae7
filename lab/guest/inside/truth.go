package main

import (
	"errors"
	"fmt"
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
	if err == nil && !c.dense && c.worst().excludes(p.Total.Latency.Max) {
		a.cell("truth", c.row(), "first max", fmt.Sprintf("%.4f", float64(p.Total.Latency.Max)/1e6), nil)
		before = readsOf(dev)
		p, err = c.run(dev)
	}
	a.figures(dev, c, before, p, err)
}

func (c *timed) run(dev string, extra ...string) (*result.Point, error) {
	return load(append([]string{"--engine", c.engine, "--threads", strconv.Itoa(c.threads), "--iodepth", strconv.Itoa(c.depth), "--rw", "randread", "--bs", "4k",
		"--ramp", "200ms", "--runtime", c.runtime, "/dev/" + dev}, extra...)...).point(0)
}

func (a *agent) figures(dev string, c *timed, before ioCount, p *result.Point, err error) {
	if err != nil {
		a.cell("truth", c.row(), "run", "FAIL", err)
		return
	}
	a.cell("truth", c.row(), "true ms", c.truth().String(), nil)
	lat := p.Total.Latency
	for _, f := range []struct {
		column string
		got    int64
		held   held
	}{
		{"mean", lat.Mean, c.middle()},
		{"p50", lat.Percentiles["50"], c.middle()},
		{"p99", lat.Percentiles["99"], c.late()},
		{"max", lat.Max, c.worst()},
	} {
		text, err := c.truth().compare(f.got, f.held)
		if c.dense {
			err = nil // latency is the CPU's then
		}
		a.cell("truth", c.row(), f.column, text, err)
	}
	a.rate(c, p)
	a.cell("truth", c.row(), "kernel's count", fmt.Sprint(p.Issued.Read), counted(before, readsOf(dev), p))
	a.bound(c, p)
	a.fio(dev, c)
}

// rate holds IOPS to depth / latency, our own mean: that is held to the truth already. By Little's law
// they differ by no more than what no latency has, and by an I/O per slot at the ends of the window.
func (a *agent) rate(c *timed, p *result.Point) {
	slots, mean := float64(c.threads*c.depth), float64(p.Total.Latency.Mean)
	most := slots / mean * 1e9
	least := slots / (mean + float64(c.turnaround())) * 1e9
	low, high := least*(1-rateSlack)-slots/p.WindowS, most*(1+rateSlack)+slots/p.WindowS
	var err error
	if got := p.Total.IOPS; (got < low || got > high) && !c.dense {
		err = fmt.Errorf("%.1f IOPS; depth / latency is %.1f, or %.1f with %v between two I/Os; allowed is %.1f to %.1f", got, most, least, c.turnaround(), low, high)
	}
	a.cell("truth", c.row(), "IOPS", fmt.Sprintf("%.1f %+.2f%%", p.Total.IOPS, 100*(p.Total.IOPS/most-1)), err)
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
		// What lies outside the stamps is in no latency: it must be no more than the next I/O's preparation.
		outside := time.Duration(1e9/p.Total.IOPS) - time.Duration(p.Total.Latency.Mean)
		if outside < 0 || outside > loneTurn {
			err = fmt.Errorf("of the %.0f ns between two I/Os %v are in no latency; allowed are 0 to %v", 1e9/p.Total.IOPS, outside, loneTurn)
		}
		a.cell("cost", engine+" 1T/1Q per I/O", "outside the stamps", fmt.Sprint(outside.Nanoseconds()), err)
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
