package main

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"blkstorm/result"
)

// faults makes devices fail in the ways that only a real SCSI or device-mapper stack has. Guest time is
// exact here too, so that a stall of 3 s is one of 3 s on any host.
func (a *agent) faults() {
	a.mediumError()
	a.lostCommand()
	a.unplug()
	a.offline()
	a.suspended()
	a.dies()
	a.badRange()
}

// fault reports how a run on a failing device went, on every engine.
func (a *agent) fault(name, text string, check func(engine string) error) {
	for _, engine := range []string{"io_uring", "libaio", "psync"} {
		err := check(engine)
		shown := text
		if err != nil {
			shown = "FAIL"
		}
		a.cell("faults", name, engine, shown, err)
	}
}

// scsi loads scsi_debug anew and returns its disk.
func scsi(parameters string) (string, error) {
	if err := sh("grep -q '^scsi_debug ' /proc/modules && rmmod scsi_debug; modprobe scsi_debug dev_size_mb=64 %s", parameters); err != nil {
		return "", err
	}
	for range 100 {
		list, err := devices()
		if err != nil {
			return "", err
		}
		for _, d := range list {
			if d.Model == "scsi_debug" {
				return d.Path, nil
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return "", errors.New("scsi_debug is loaded, but blkstorm devices lists no disk of it")
}

// reading runs random reads that fail somewhere; extra comes behind the usual options.
func reading(engine, dev string, extra ...string) *ran {
	depth := "4"
	if engine == "psync" {
		depth = "1"
	}
	return load(append(append([]string{"--engine", engine, "--iodepth", depth, "--rw", "randread", "--bs", "4k", "--interval", "500ms"}, extra...), dev)...)
}

// mediumError: bad sectors, as SCSI reports them: ENODATA, not EIO.
func (a *agent) mediumError() {
	dev, err := scsi("ndelay=4000000 opts=2 medium_error_start=2048 medium_error_count=8")
	a.fault("bad sectors", "ENODATA, exit 3", func(engine string) error {
		if err != nil {
			return err
		}
		p, err := reading(engine, dev, "--runtime", "2s", "--offset", "960k", "--size", "128k", "--continue-on-error").point(3)
		if err != nil {
			return err
		}
		if p.Total.Errors == 0 || len(p.Errors) == 0 || p.Total.IOs == 0 {
			return fmt.Errorf("%d errors counted, %d shown, %d good", p.Total.Errors, len(p.Errors), p.Total.IOs)
		}
		for _, e := range p.Errors {
			if e.Errno != 61 || e.Name != "ENODATA" || e.Target != dev || e.Op != "read" || e.Offset != 1<<20 || e.Length != 4096 {
				return fmt.Errorf("an error is %+v; want ENODATA of the read at %d", e, 1<<20)
			}
		}
		return nil
	})
}

// lostCommand: the disk never answers a command and the kernel tries again after its timeout: no error,
// but a latency of seconds.
func (a *agent) lostCommand() {
	dev, err := scsi("ndelay=4000000 opts=4 every_nth=500")
	if err == nil {
		err = sh("echo 2 > /sys/block/%s/device/timeout", strings.TrimPrefix(dev, "/dev/"))
	}
	a.fault("lost commands", "seconds, exit 0", func(engine string) error {
		if err != nil {
			return err
		}
		p, err := reading(engine, dev, "--runtime", "8s", "--grace", "30s").point(0)
		if err != nil {
			return err
		}
		worst := time.Duration(max(p.Total.Latency.Max, p.DrainedMaxNS))
		if p.Faults != 0 || worst < 2*time.Second || worst > 8*time.Second {
			return fmt.Errorf("%d faults, the longest latency %v; want none, and 2 to 8 s", p.Faults, worst)
		}
		return nil
	})
}

// gone checks that a device that vanished gave errors, whole figures and no invented I/Os: reads of a
// vanished disk "succeed" with no byte, in microseconds.
func gone(p *result.Point, good uint64) error {
	if p.Faults == 0 || len(p.Errors) == 0 {
		return errors.New("no error, although the disk is gone")
	}
	if p.Total.IOs > good {
		return fmt.Errorf("%d good I/Os, while the disk can have answered %d before it went", p.Total.IOs, good)
	}
	if p.Total.Bytes != p.Total.IOs*4096 {
		return fmt.Errorf("%d I/Os of 4096 have %d bytes", p.Total.IOs, p.Total.Bytes)
	}
	return nil
}

// unplug deletes the SCSI disk while I/O is in flight.
func (a *agent) unplug() {
	a.fault("unplugged", "exit 3", func(engine string) error {
		dev, err := scsi("ndelay=4000000")
		if err != nil {
			return err
		}
		time.AfterFunc(1500*time.Millisecond, func() { _ = write("/sys/block/"+strings.TrimPrefix(dev, "/dev/")+"/device/delete", "1") })
		p, err := reading(engine, dev, "--runtime", "4s", "--continue-on-error").point(3)
		if err != nil {
			return err
		}
		return gone(p, 2500)
	})
}

// offline is a disk that the kernel has given up: every I/O is refused from then on.
func (a *agent) offline() {
	a.fault("set offline", "exit 3", func(engine string) error {
		dev, err := scsi("ndelay=4000000")
		if err != nil {
			return err
		}
		state := "/sys/block/" + strings.TrimPrefix(dev, "/dev/") + "/device/state"
		failed := make(chan error, 1)
		time.AfterFunc(1500*time.Millisecond, func() { failed <- write(state, "offline\n") })
		p, err := reading(engine, dev, "--runtime", "4s").point(3)
		if err = errors.Join(err, <-failed); err != nil {
			return fmt.Errorf("%w (state is %s)", err, read(state))
		}
		if p.Completed {
			return errors.New("the run went on to its end, although --continue-on-error was not given")
		}
		return gone(p, 2500)
	})
}

// mapped makes a device-mapper disk "lab" on a SCSI disk of 4 ms.
func mapped(table func(dev string) string) (string, error) {
	_ = sh("dmsetup remove --force lab")
	dev, err := scsi("ndelay=4000000")
	if err != nil {
		return "", err
	}
	return "/dev/mapper/lab", sh("printf '%s' | dmsetup create lab", table(dev))
}

const mappedSectors = 65536

func linear(dev string) string { return fmt.Sprintf(`0 %d linear %s 0\n`, mappedSectors, dev) }

// suspended stalls the device for 3 s: no error, one latency of 3 s, and rows of nothing.
func (a *agent) suspended() {
	a.fault("suspended 3 s", "max 3 s, exit 0", func(engine string) error {
		dev, err := mapped(linear)
		if err != nil {
			return err
		}
		go func() {
			time.Sleep(1500 * time.Millisecond)
			_ = sh("dmsetup suspend --noflush lab; sleep 3; dmsetup resume lab")
		}()
		p, err := reading(engine, dev, "--runtime", "7s").point(0)
		if err != nil {
			return err
		}
		worst := time.Duration(p.Total.Latency.Max)
		if worst < 2800*time.Millisecond || worst > 3400*time.Millisecond {
			return fmt.Errorf("the longest latency is %v, want 3 s", worst)
		}
		empty := 0
		for _, i := range p.Intervals {
			if i.Read.IOs == 0 {
				empty++
			}
		}
		if empty < 4 || empty > 6 {
			return fmt.Errorf("%d of %d rows of 500 ms are empty, want 5", empty, len(p.Intervals))
		}
		return nil
	})
	_ = sh("dmsetup remove --force lab")
}

// dies replaces the device by one that fails everything, in the middle of the run.
func (a *agent) dies() {
	a.fault("dies half-way", "EIO, exit 3", func(engine string) error {
		dev, err := mapped(linear)
		if err != nil {
			return err
		}
		go func() {
			time.Sleep(1500 * time.Millisecond)
			_ = sh("dmsetup suspend lab; echo '0 %d error' | dmsetup load lab; dmsetup resume lab", mappedSectors)
		}()
		p, err := reading(engine, dev, "--runtime", "5s").point(3)
		if err != nil {
			return err
		}
		if len(p.Errors) == 0 || p.Errors[0].Name != "EIO" || p.Completed {
			return fmt.Errorf("completed %v, errors %+v; want an early end and EIO", p.Completed, p.Errors)
		}
		return gone(p, 2500)
	})
	_ = sh("dmsetup remove --force lab")
}

// badRange is a disk with one bad block: only what touches it fails, and its neighbours do not.
func (a *agent) badRange() {
	dev, err := mapped(func(dev string) string {
		return fmt.Sprintf(`0 2048 linear %s 0\n2048 8 error\n2056 %d linear %s 2056\n`, dev, mappedSectors-2056, dev)
	})
	a.fault("one bad block", "EIO, exit 3", func(engine string) error {
		if err != nil {
			return err
		}
		p, err := reading(engine, dev, "--runtime", "2s", "--offset", "960k", "--size", "128k", "--continue-on-error").point(3)
		if err != nil {
			return err
		}
		for _, e := range p.Errors {
			if e.Name != "EIO" || e.Offset != 1<<20 {
				return fmt.Errorf("an error is %+v; want EIO at %d only", e, 1<<20)
			}
		}
		if len(p.Errors) == 0 || p.Total.IOs == 0 {
			return fmt.Errorf("%d errors, %d good", len(p.Errors), p.Total.IOs)
		}
		return nil
	})
	_ = sh("dmsetup remove --force lab")
}
