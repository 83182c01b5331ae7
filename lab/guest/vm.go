package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"blkstorm/lab/guest/cell"
)

// runVM boots a guest to which the hypervisor does what hypervisors do: stuns, pauses, takes disks away,
// and runs out of space. The guest says when (cell.Line.Ask). Its disks live in host time, so its
// clock does too.
func runVM(ctx context.Context, l *lab) ([]cell.Cell, time.Duration, error) {
	stores := filepath.Join(l.work, "stores")
	for _, disk := range []string{cell.FullDisk, cell.StunnedDisk} {
		if err := os.MkdirAll(filepath.Join(stores, disk), 0o755); err != nil {
			return nil, 0, err
		}
	}
	m := &machine{scenario: "vm", kernel: l.kernel, modules: []string{"virtio_pci", "virtio_blk", "sd_mod", "virtio_scsi", "vmw_pvscsi", "nvme"},
		memory: "512M", append: "tsc=reliable", qemu: vmDisks(stores), payload: l.payload.bytes(), timeout: 5 * time.Minute,
		stores: stores, serve: serveVM}
	return m.cells(ctx, l)
}

func vmDisks(stores string) []string {
	args := []string{"-device", "virtio-scsi-pci,id=virtio-scsi", "-device", "pvscsi,id=pvscsi"}
	null := func(serial string, milliseconds int) string {
		args = append(args, "-blockdev", fmt.Sprintf("driver=null-co,node-name=%s,size=1073741824,latency-ns=%d,read-zeroes=on", serial, milliseconds*1e6))
		return fmt.Sprintf("drive=%s,serial=%s,id=%s", serial, serial, serial)
	}
	args = append(args, "-device", "virtio-blk-pci,"+null(cell.StunDisk, 10))
	args = append(args, "-device", "nvme,"+null(cell.HotDisk, 4))
	for _, bus := range cell.Buses {
		for unit, engine := range cell.Engines {
			disk := null(cell.UnplugDisk(bus, engine), 4)
			switch bus {
			case "virtio-blk":
				args = append(args, "-device", "virtio-blk-pci,"+disk)
			case "nvme":
				args = append(args, "-device", "nvme,"+disk)
			default:
				args = append(args, "-device", fmt.Sprintf("scsi-hd,bus=%s.0,scsi-id=%d,%s", bus, unit, disk))
			}
		}
	}
	for _, disk := range []string{cell.FullDisk, cell.StunnedDisk} {
		dev := "virtio-blk-pci"
		if disk == cell.FullDisk {
			dev = fmt.Sprintf("scsi-hd,bus=pvscsi.0,scsi-id=%d,werror=report", len(cell.Engines))
		}
		dev += fmt.Sprintf(",drive=%s,serial=%s", disk, disk)
		args = append(args, "-drive", fmt.Sprintf("if=none,id=%s,format=vmdk,file=%s/disk.vmdk", disk, filepath.Join(stores, disk)), "-device", dev)
	}
	return args
}

// inStores makes QEMU run where each datastore is a memory file system of its own that is too small for
// the disk on it. They are mounted in a mount namespace, and as an ordinary user in one of users too,
// so that nothing of the host changes and nothing is left.
func inStores(cmd *exec.Cmd, stores string) {
	script := fmt.Sprintf(`set -e
for d in %s %s; do
	mount -t tmpfs -o size=8m lab "$0/$d"
	qemu-img create -q -f vmdk "$0/$d/disk.vmdk" %d
done
exec "$@"`, cell.FullDisk, cell.StunnedDisk, cell.FullBytes)
	cmd.Args = append([]string{"sh", "-c", script, stores, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
}

// hypervisor is the hand of the host on a running guest.
type hypervisor struct {
	m       *machine
	process *os.Process
	monitor *monitor
}

// serveVM does what the guest asks for until it is off.
func serveVM(ctx context.Context, m *machine, process *os.Process, dir string) error {
	mon, err := openMonitor(ctx, filepath.Join(dir, "qmp"))
	if err != nil {
		return err
	}
	defer mon.conn.Close()
	h := &hypervisor{m, process, mon}
	return follow(ctx, filepath.Join(dir, "report"), func(l cell.Line) error {
		if l.Ask == "" {
			return nil
		}
		what, argument, _ := strings.Cut(l.Ask, " ")
		if err := h.answer(what, argument); err != nil {
			return fmt.Errorf("the guest asked for %q: %w", l.Ask, err)
		}
		return nil
	})
}

func (h *hypervisor) answer(what, argument string) error {
	switch what {
	case cell.AskFreeze:
		if err := h.process.Signal(syscall.SIGSTOP); err != nil {
			return err
		}
		time.Sleep(cell.StunSeconds * time.Second)
		return h.process.Signal(syscall.SIGCONT)
	case cell.AskPause:
		if err := h.monitor.do("stop", nil); err != nil {
			return err
		}
		time.Sleep(cell.StunSeconds * time.Second)
		return h.monitor.do("cont", nil)
	case cell.AskUnplug:
		return h.monitor.do("device_del", map[string]any{"id": argument})
	case cell.AskHeat:
		const temperature = 2 // the bit of the critical warning
		return h.monitor.do("qom-set", map[string]any{"path": "/machine/peripheral/" + argument, "property": "smart_critical_warning", "value": temperature})
	case cell.AskSpace:
		return h.space(argument)
	}
	return errors.New("no such wish")
}

// space waits until QEMU has paused the guest for want of space, makes space, and lets it go on.
func (h *hypervisor) space(disk string) error {
	for {
		e, err := h.monitor.await("BLOCK_IO_ERROR", time.Minute)
		if err != nil {
			return err
		}
		if e.Data["action"] == "stop" && e.Data["nospace"] == true {
			break
		}
	}
	if _, err := h.monitor.await("STOP", qmpPatience); err != nil {
		return err
	}
	time.Sleep(cell.StunSeconds * time.Second)
	args := []string{"--target", fmt.Sprint(h.process.Pid), "--mount", "--preserve-credentials"}
	if os.Geteuid() != 0 {
		args = append(args, "--user")
	}
	if _, err := output("", "nsenter", append(args, "mount", "-o", "remount,size=128m", filepath.Join(h.m.stores, disk))...); err != nil {
		return err
	}
	return h.monitor.do("cont", nil)
}

// follow reads a growing report, line by line, until the guest is off.
func follow(ctx context.Context, path string, each func(cell.Line) error) error {
	var f *os.File
	var in *bufio.Reader
	var text string
	for ctx.Err() == nil {
		if f == nil {
			if file, err := os.Open(path); err == nil {
				f, in = file, bufio.NewReader(file)
				defer f.Close()
			}
		}
		if f != nil {
			part, err := in.ReadString('\n')
			text += part
			if err == nil {
				var l cell.Line
				if json.Unmarshal([]byte(text), &l) == nil { // what is not JSON, readReport complains of
					if err := each(l); err != nil {
						return err
					}
				}
				text = ""
				continue
			} else if err != io.EOF {
				return err
			}
		}
		select {
		case <-ctx.Done():
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}
