package execute

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/dustin/go-humanize"
	"golang.org/x/sys/unix"

	"blkstorm/device"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/runner"
)

// The checks in this file find out before anything is touched what the runner or the folder would
// find out later, when a new file may have been written for minutes.

// checkPin compares --pin with the CPUs that this process may use.
func checkPin(pin string) error {
	if pin == runner.PinAuto || pin == runner.PinNone || pin == "" {
		return nil
	}
	cpus, err := runner.ParseCPUs(pin)
	if err != nil {
		return err
	}
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return fmt.Errorf("reading the allowed CPUs: %w", err)
	}
	for _, cpu := range cpus {
		if !allowed.IsSet(cpu) {
			return fmt.Errorf("--pin %s: CPU %d is not among the %d that this process may use (see taskset -p, nproc)", pin, cpu, allowed.Count())
		}
	}
	return nil
}

// maxTotalThreads bounds the threads of a point over all targets: far beyond any device, and well
// below the 10 000 at which Go ends a program.
const maxTotalThreads = 4096

// checkNeeds compares what a point needs at once with what this machine has: better an error now than
// the kernel's killer in the middle of a run.
func (s *Session) checkNeeds(p *plan.Point) error {
	threads, buffers := 0, int64(0)
	for i := range p.Streams {
		st := &p.Streams[i]
		n := st.Workers()
		threads += n
		slots := s.depthOf(st)
		buffers += int64(n) * int64(slots*st.BuffersPerSlot()) * st.Workload.MaxDataBlock()
	}
	if threads > maxTotalThreads {
		return fmt.Errorf("--threads: %d threads over all targets are above the limit of %d; lower --threads or give fewer targets", threads, maxTotalThreads)
	}
	available := s.opts.Roots.Host.AvailableMemory()
	if available > 0 && buffers > available/10*9 {
		return fmt.Errorf("threads x iodepth x bs x targets need %s of buffers (twice in a mixed workload), and only %s of memory are available; lower one of them",
			humanize.IBytes(uint64(buffers)), humanize.IBytes(uint64(available)))
	}
	return nil
}

// checkFolder says why dir cannot become a result folder, without making it.
func (s *Session) checkFolder(dir string) error {
	if dir == "" || s.resumed != nil {
		return nil
	}
	if s.opts.Roots.Device.InDevFolder(dir) {
		return fmt.Errorf("result folder %s: nothing is made in the device directory; name another folder", dir)
	}
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return checkParent(dir)
	}
	folder, err := result.CreateFolder(dir) // makes nothing, since something is there: it only looks
	if err != nil {
		return err
	}
	return folder.Close()
}

// checkParent says whether dir could be made: where its nearest existing parent can be written.
func checkParent(dir string) error {
	parent, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("result folder %s: %w", dir, err)
	}
	for {
		parent = filepath.Dir(parent)
		info, err := os.Stat(parent)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil && !info.IsDir() {
			err = unix.ENOTDIR
		}
		if err == nil {
			err = unix.Access(parent, unix.W_OK|unix.X_OK)
		}
		if err != nil {
			return fmt.Errorf("result folder %s: cannot be made in %s: %w", dir, parent, err)
		}
		return nil
	}
}

// probe opens every target that exists as its threads will, but for reading only: closing a
// descriptor that could write would make udev look at the device. Whether it may be written is what
// the guard has found out.
func (s *Session) probe() error {
	for _, t := range s.targets {
		if t.create {
			continue
		}
		file, err := device.Open(t.openPath, device.OpenOptions{Direct: s.plan.Direct})
		if err != nil {
			return err
		}
		if err := file.Close(); err != nil {
			return wrapTarget(t.facts.Path, err)
		}
	}
	return nil
}
