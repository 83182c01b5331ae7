package main

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/lab/guest/cell"
	"blkstorm/result"
)

// hours is what takes long or needs a clock that can be moved: guest time is exact here, idle time
// costs nothing, and the wall clock belongs to nobody else.
func (a *agent) hours() {
	a.stepped()
	a.hour()
	a.limited()
}

// stepped moves the wall clock in the middle of a run: nothing of the result may notice.
func (a *agent) stepped() {
	const latency = time.Millisecond
	dev, err := makeTimed("null_blk", latency)
	for _, step := range []time.Duration{time.Hour, -time.Hour} {
		for _, engine := range cell.Engines {
			e := err
			if e == nil {
				e = stepClock(dev, &timed{"null_blk", latency, engine, 1, 1, "3s", false}, step)
			}
			text := "unmoved"
			if e != nil {
				text = "FAIL"
			}
			a.cell("hours", fmt.Sprintf("wall clock %+.0f h", step.Hours()), engine, text, e)
		}
	}
}

func stepClock(dev string, c *timed, step time.Duration) error {
	began, before := time.Now(), time.Now().UnixNano()
	moved := make(chan error, 1)
	time.AfterFunc(1500*time.Millisecond, func() { moved <- moveClock(step) })
	p, err := c.run(dev)
	if err = errors.Join(err, <-moved); err != nil {
		return err
	}
	after := time.Now().UnixNano()
	if err := moveClock(-step); err != nil {
		return err
	}
	// The test itself must have worked: the wall clock went by other than the monotonic one.
	if passed := time.Duration(after - before); math.Abs(float64(passed-time.Since(began)-step)) > float64(time.Second) {
		return fmt.Errorf("the guest's wall clock went on by %v in %v, although it was moved by %v", passed, time.Since(began), step)
	}
	if err := wholeRows(p, 3, time.Second); err != nil {
		return err
	}
	// As the clock stood when the run began, and on from there.
	if first := p.Intervals[0].StartUnixNS; first < before || first > before+int64(5*time.Second) {
		return fmt.Errorf("the first row starts at %d, the run began at %d", first, before)
	}
	if err := c.heldTo(p); err != nil {
		return err
	}
	if warned(p, "clock") || warned(p, "descheduled") || warned(p, "not_completed") {
		return fmt.Errorf("warnings: %s", codes(p))
	}
	return nil
}

func moveClock(step time.Duration) error {
	t := unix.NsecToTimespec(time.Now().Add(step).UnixNano())
	return os.NewSyscallError("clock_settime", unix.ClockSettime(unix.CLOCK_REALTIME, &t))
}

// wholeRows wants that many rows of exactly that length, one after the other, also by the wall clock.
func wholeRows(p *result.Point, rows int, length time.Duration) error {
	if len(p.Intervals) != rows || !p.Completed || math.Abs(p.WindowS-float64(rows)*length.Seconds()) > 1e-6 {
		return fmt.Errorf("%d rows in a window of %.6f s, completed %v; want %d of %v", len(p.Intervals), p.WindowS, p.Completed, rows, length)
	}
	for i, row := range p.Intervals {
		at := float64(i) * length.Seconds()
		if math.Abs(row.LengthS-length.Seconds()) > 1e-6 || math.Abs(row.TS-at) > 1e-6 {
			return fmt.Errorf("row %d starts at %.6f s and has %.6f s; want %.6f and %.6f", i, row.TS, row.LengthS, at, length.Seconds())
		}
		if i > 0 && row.StartUnixNS-p.Intervals[i-1].StartUnixNS != int64(length) {
			return fmt.Errorf("row %d starts %d ns after the one before it, want %d", i, row.StartUnixNS-p.Intervals[i-1].StartUnixNS, int64(length))
		}
	}
	return nil
}

// heldTo holds mean, median and maximum to the truth.
func (c *timed) heldTo(p *result.Point) error {
	lat := p.Total.Latency
	_, mean := c.truth().compare(lat.Mean, c.middle())
	_, p50 := c.truth().compare(lat.Percentiles["50"], c.middle())
	_, worst := c.truth().compare(lat.Max, c.worst())
	return errors.Join(mean, p50, worst)
}

// hour is a plan of an hour, with a row per minute.
func (a *agent) hour() {
	const latency = 100 * time.Millisecond
	dev, err := makeTimed("null_blk", latency)
	for _, engine := range []string{"io_uring"} {
		text, e := "FAIL", err
		if e == nil {
			text, e = oneHour(dev, &timed{"null_blk", latency, engine, 1, 1, "1h", false})
		}
		a.cell("hours", "1 h of 1 min rows", engine, text, e)
	}
}

func oneHour(dev string, c *timed) (string, error) {
	before := readsOf(dev)
	p, err := c.run(dev, "--interval", "1m")
	if err != nil {
		return "FAIL", err
	}
	if err := errors.Join(wholeRows(p, 60, time.Minute), c.heldTo(p), counted(before, readsOf(dev), p)); err != nil {
		return "FAIL", err
	}
	perRow := float64(time.Minute) / float64(c.truth().low)
	for i, row := range p.Intervals {
		if off := float64(row.Read.IOs)/perRow - 1; math.Abs(off) > latencySlack {
			return "FAIL", fmt.Errorf("row %d has %d I/Os, %+.2f %% off the %.1f that go into it", i, row.Read.IOs, 100*off, perRow)
		}
	}
	return fmt.Sprintf("%d I/Os", p.Total.IOs), nil
}

const controlGroups = "/sys/fs/cgroup"

// limited lets the kernel hold a fast device to a known rate, by a control group.
func (a *agent) limited() {
	dev, err := makeTimed("null_blk", 200*time.Microsecond)
	if err == nil {
		err = sh("mount -t cgroup2 cgroup %s && echo +io > %s/cgroup.subtree_control && mkdir %s/lab", controlGroups, controlGroups, controlGroups)
	}
	defer func() { a.decays(dev, err) }()
	for _, limit := range []int{100, 500, 2000} {
		e := err
		if e == nil {
			e = write(controlGroups+"/lab/io.max", fmt.Sprintf("%s riops=%d", read("/sys/block/"+dev+"/dev"), limit))
		}
		for _, engine := range cell.Engines {
			text, e := "FAIL", e
			if e == nil {
				text, e = underLimit(dev, engine, limit)
			}
			a.cell("hours", fmt.Sprintf("io.max riops=%d", limit), engine, text, e)
		}
	}
}

// underLimit runs far more than the limit lets through; the burst that the kernel grants at first goes
// by in the ramp.
func underLimit(dev, engine string, limit int) (string, error) {
	threads, depth := 1, 16
	if engine == "psync" {
		threads, depth = 16, 1
	}
	group, err := os.Open(filepath.Join(controlGroups, "lab"))
	if err != nil {
		return "FAIL", err
	}
	defer group.Close()
	p, err := loadIn(&syscall.SysProcAttr{UseCgroupFD: true, CgroupFD: int(group.Fd())}, "--engine", engine, "--threads", strconv.Itoa(threads), "--iodepth", strconv.Itoa(depth),
		"--rw", "randread", "--bs", "4k", "--ramp", "2s", "--runtime", "10s", "/dev/"+dev).point(0)
	if err != nil {
		return "FAIL", err
	}
	text := fmt.Sprintf("%.1f IOPS", p.Total.IOPS)
	slots := float64(threads * depth)
	// The kernel lets them through in bunches, of which one may lie on either side of the window's end.
	if most := limitSlack*float64(limit) + slots/p.WindowS; math.Abs(p.Total.IOPS-float64(limit)) > most {
		return text, fmt.Errorf("%.1f IOPS under a limit of %d; allowed is %.1f more or less", p.Total.IOPS, limit, most)
	}
	// Little's law, with the I/Os that lie across the ends of the window.
	inFlight := p.Total.IOPS * float64(p.Total.Latency.Mean) / 1e9
	if edge := littleSlack*slots + slots*float64(p.Total.Latency.Mean)/1e9/p.WindowS; math.Abs(inFlight-slots) > edge {
		return text, fmt.Errorf("%.1f IOPS of %.3f ms make %.2f in flight, not %.0f; allowed is %.2f more or less", p.Total.IOPS, float64(p.Total.Latency.Mean)/1e6, inFlight, slots, edge)
	}
	return text, nil
}

const (
	limitSlack  = 0.005
	littleSlack = 0.005
)
