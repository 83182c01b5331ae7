package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"blkstorm/host"
	"blkstorm/lab/guest/cell"
	"blkstorm/result"
)

// vm runs while the host does to this guest what hypervisors do. Time is the host's here, and the host
// may be busy: bounds are wide.
func (a *agent) vm() {
	rows := map[string]deviceRow{}
	for end := time.Now().Add(20 * time.Second); len(rows) < 4+len(cell.Buses)*len(cell.Engines) && time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		list, err := devices()
		if err != nil {
			note("%v", err)
		}
		for _, d := range list {
			rows[d.Serial] = d
		}
	}
	a.stun(rows[cell.StunDisk], cell.AskFreeze, "stunned 3 s, clocks go on", a.frozen)
	a.stun(rows[cell.StunDisk], cell.AskPause, "paused 3 s, clocks stop", a.paused)
	a.hot(rows[cell.HotDisk])
	for _, bus := range cell.Buses {
		a.unplugged(bus, rows)
	}
	a.full()
	a.stunned()
}

// stunSlack is what a busy host may add to a latency.
const stunSlack = 2 * time.Second

// when makes the host do something a second after a disk is under load: on a busy host a run may take
// its time to begin. Without a load it asks for nothing, and the cell fails.
func (a *agent) when(loaded func() bool, ask string) {
	go func() {
		for range 600 {
			if loaded() {
				time.Sleep(time.Second)
				a.send(cell.Line{Ask: ask})
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	}()
}

// stunRuntime leaves room for a stun behind the start of the slowest of three runs.
const stunRuntime = 10

// stun has all three engines at work when it comes: 4, 4 and 1 in flight.
func (a *agent) stun(dev deviceRow, ask, row string, check func(*result.Point) (string, error)) {
	a.when(func() bool {
		var reads, writes int
		_, err := fmt.Sscan(read("/sys/block/"+dev.Name+"/inflight"), &reads, &writes)
		return err == nil && reads == 9
	}, ask)
	a.engines(row, func(engine string) (string, error) {
		p, err := reading(engine, "serial="+cell.StunDisk, "--runtime", fmt.Sprintf("%ds", stunRuntime)).point(0)
		if err != nil {
			return "FAIL", err
		}
		if !p.Completed || p.Faults > 0 || p.WindowS < stunRuntime || p.WindowS > stunRuntime+0.5 {
			return "FAIL", fmt.Errorf("completed %v, %d faults, a window of %.3f s; want a whole run of %d s", p.Completed, p.Faults, p.WindowS, stunRuntime)
		}
		return check(p)
	})
}

// engines runs something by all engines at once and reports each, in their order.
func (a *agent) engines(row string, run func(engine string) (string, error)) {
	var wg sync.WaitGroup
	texts, errs := make([]string, len(cell.Engines)), make([]error, len(cell.Engines))
	for i, engine := range cell.Engines {
		wg.Go(func() { texts[i], errs[i] = run(engine) })
	}
	wg.Wait()
	for i, engine := range cell.Engines {
		a.cell("vm", row, engine, texts[i], errs[i])
	}
}

// frozen: the guest did not run and its clock did, so the stun is in the maximum, and blkstorm says that
// this machine is to blame.
func (a *agent) frozen(p *result.Point) (string, error) {
	worst := time.Duration(p.Total.Latency.Max)
	text := fmt.Sprintf("max %.2f s, %s", worst.Seconds(), codes(p))
	if worst < cell.StunSeconds*time.Second || worst > cell.StunSeconds*time.Second+stunSlack {
		return text, fmt.Errorf("the longest latency is %v, want %d s", worst, cell.StunSeconds)
	}
	if !warned(p, "descheduled") {
		return text, fmt.Errorf("no warning that the whole process stood still; warnings: %s", codes(p))
	}
	return text, nil
}

// paused: no clock of the guest can tell, and nothing must look broken.
func (a *agent) paused(p *result.Point) (string, error) {
	worst := time.Duration(p.Total.Latency.Max)
	text := fmt.Sprintf("max %.0f ms", ms(worst))
	if worst >= stunSlack {
		return text, fmt.Errorf("the longest latency is %v, although the guest's clocks stood still too", worst)
	}
	return text, nil
}

// hot has an NVMe drive say in its health log that it became hot, while it is read.
func (a *agent) hot(dev deviceRow) {
	a.when(func() bool { return readsOf(dev.Name).reads > 20 }, cell.AskHeat+" "+cell.HotDisk)
	p, err := reading("io_uring", "serial="+cell.HotDisk, "--runtime", "5s").point(0)
	text := "FAIL"
	if err == nil {
		text, err = healthOf(p)
	}
	a.cell("vm", "NVMe drive becomes hot", "io_uring", text, err)
}

// healthOf checks the two logs of the drive, and that the run warns of what they say.
func healthOf(p *result.Point) (string, error) {
	h := p.Targets[0].NVMe
	if h == nil {
		return "no log", errors.New("the result has no health log of the NVMe drive")
	}
	text := fmt.Sprintf("%.0f °C, %s", h.End.TemperatureC, codes(p))
	switch {
	case h.Begin.CriticalWarning != 0 || h.End.CriticalWarning != host.CriticalTemperature || h.Begin.TemperatureC != 50 || h.End.TemperatureC != 50:
		return text, fmt.Errorf("the log was %+v and is %+v; want 50 °C in both, and the warning of temperature in the second", *h.Begin, *h.End)
	case !warned(p, "throttled") || !warned(p, "drive_warning"):
		return text, fmt.Errorf("no warning of the drive's temperature; warnings: %s", codes(p))
	}
	return text, nil
}

// unplugged takes the disks of a bus away while all three engines load them.
func (a *agent) unplugged(bus string, rows map[string]deviceRow) {
	a.engines("unplugged, "+bus, func(engine string) (string, error) {
		serial := cell.UnplugDisk(bus, engine)
		row, ok := rows[serial]
		if !ok {
			return "missing", fmt.Errorf("the guest has no disk of serial number %s", serial)
		}
		a.when(func() bool { return readsOf(row.Name).reads > 20 }, cell.AskUnplug+" "+serial)
		p, err := reading(engine, row.Path, "--runtime", "5s", "--continue-on-error", "--grace", "20s").point(3)
		if err != nil {
			return "FAIL", err
		}
		return vanished(p, row.Path)
	})
}

// vanished checks the result of a disk that went while it was read: the good I/Os are those that it can
// have answered, and the others are errors of this disk with all that is known of them.
func vanished(p *result.Point, path string) (string, error) {
	names := map[string]bool{}
	var list []string
	for _, e := range p.Errors {
		if e.Target != path || e.Op != "read" || e.Length != 4096 || e.Offset%4096 != 0 || e.Name == "" || (e.Errno == 0) != (e.Name == "zero" || e.Name == "short") {
			return "FAIL", fmt.Errorf("an error is %+v; want one of a read of 4096 bytes on %s, with its number and name", e, path)
		}
		if !names[e.Name] {
			names[e.Name], list = true, append(list, e.Name)
		}
	}
	text := strings.Join(list, " ")
	if !p.Completed {
		return text, errors.New("the run ended early, although --continue-on-error was given")
	}
	return text, gone(p, 5000) // 4 in flight, 4 ms each, 5 s
}

// full writes to a disk whose datastore has not the room for it: writes fail by ENOSPC. SCSI has a word
// for that; behind virtio-blk it would be EIO.
func (a *agent) full() {
	text := "FAIL"
	p, err := filling(cell.FullDisk, "--continue-on-error").point(3)
	if err == nil {
		text = "ENOSPC"
		for _, e := range p.Errors {
			if e.Name != "ENOSPC" || e.Errno != 28 || e.Op != "write" || !strings.HasPrefix(e.Target, "/dev/sd") || e.Offset >= cell.FullBytes {
				err = fmt.Errorf("an error is %+v; want ENOSPC of a write", e)
			}
		}
		if len(p.Errors) == 0 || p.Total.IOs == 0 {
			err = fmt.Errorf("%d errors, %d good; want both", len(p.Errors), p.Total.IOs)
		}
	}
	a.cell("vm", "datastore full, reported", "io_uring", text, err)
}

// stunned does the same where the hypervisor pauses the guest instead, until somebody makes space. The
// host ends this guest if it was never paused.
func (a *agent) stunned() {
	text := "FAIL"
	a.send(cell.Line{Ask: cell.AskSpace + " " + cell.StunnedDisk})
	p, err := filling(cell.StunnedDisk).point(0)
	if err == nil {
		text, err = a.paused(p)
	}
	if err == nil && (!p.Completed || p.Faults > 0 || p.Issued.Write < cell.FullBytes/fillBlock) {
		err = fmt.Errorf("completed %v, %d faults, %d writes; want the whole disk and no fault", p.Completed, p.Faults, p.Issued.Write)
	}
	a.cell("vm", "datastore full, paused", "io_uring", text, err)
}

const fillBlock = 64 << 10

// filling writes through a disk from its start.
func filling(serial string, extra ...string) *ran {
	return load(append(append([]string{"--engine", "io_uring", "--iodepth", "4", "--rw", "write", "--bs", fmt.Sprint(fillBlock), "--runtime", "6s", "--destroy"}, extra...), "serial="+serial)...)
}
