// Package aio is the Linux AIO engine, named libaio as in fio: raw io_submit for a batch, and reaping
// from the ring that the kernel maps into the process, with io_getevents only to block.
//
// It is asynchronous for direct I/O only; on a buffered file io_submit does the I/O itself. What it does
// for each operation:
//
//	read, write    IOCB_CMD_PREAD, IOCB_CMD_PWRITE
//	durable write  IOCB_CMD_PWRITE with RWF_DSYNC (4.13)
//	sync           IOCB_CMD_FSYNC, IOCB_CMD_FDSYNC (4.18), which a kernel worker carries out
//	trim           by package blocking, in the thread: Linux AIO has none
//
// A sync or durable write that an older kernel refuses goes to package blocking too.
package aio

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"blkstorm/ioengine"
	"blkstorm/ioengine/blocking"
	"blkstorm/op"
)

// Name is the engine's name in flags and results.
const Name = "libaio"

// Driver opens libaio engines.
var Driver = ioengine.Driver{Name: Name, Probe: tryOut, Fits: fits, Open: open}

type engine struct {
	ctx      uintptr
	slots    []ioengine.IO
	targets  []blocking.Target
	iocbs    []iocb
	pointers []*iocb // what io_submit takes
	events   []event
	ring     *ringHeader // nil when it must not be read
	ringLog  []event
	inflight int
	timeout  unix.Timespec // of io_getevents
	info     ioengine.Info
	// What this kernel has refused and package blocking has carried out instead.
	noSync, noDurable bool
}

func open(c ioengine.Config) (ioengine.Engine, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	targets, err := blocking.Targets(c.Files)
	if err != nil {
		return nil, err
	}
	ctx, err := setup(len(c.Slots), c.TotalDepth)
	if err != nil {
		return nil, err
	}
	depth := len(c.Slots)
	e := &engine{
		ctx: ctx, slots: c.Slots, targets: targets, info: ioengine.Info{Name: Name},
		iocbs: make([]iocb, depth), pointers: make([]*iocb, depth), events: make([]event, depth),
	}
	e.mapRing()
	if c.Ops[op.Trim] {
		e.info.Notes = append(e.info.Notes, "trims one at a time in the calling thread, whose other I/Os are not reaped meanwhile: Linux AIO has none")
	}
	if c.Ops[op.Sync] {
		e.info.Features = append(e.info.Features, "syncs in kernel workers")
	}
	return e, nil
}

// setup makes a context for depth I/Os.
func setup(depth, total int) (uintptr, error) {
	var ctx uintptr
	_, _, errno := syscall.Syscall(unix.SYS_IO_SETUP, uintptr(depth), uintptr(unsafe.Pointer(&ctx)), 0)
	switch errno {
	case 0:
		return ctx, nil
	case syscall.EAGAIN:
		return 0, fmt.Errorf("io_setup: %w: %w", errno, tooMany(max(total, depth)))
	case syscall.ENOSYS:
		return 0, fmt.Errorf("io_setup: %w (this kernel has no Linux AIO, or a container's seccomp profile hides it)", errno)
	}
	return 0, fmt.Errorf("io_setup: %w", errno)
}

// fits compares the need of all threads with what the system has left.
func fits(slots int) error {
	limit, err1 := strconv.Atoi(sysctl("aio-max-nr"))
	used, err2 := strconv.Atoi(sysctl("aio-nr"))
	if err1 == nil && err2 == nil && used+slots > limit {
		return tooMany(slots)
	}
	return nil // or not to be told: io_setup will
}

func tooMany(slots int) error {
	return fmt.Errorf("sysctl fs.aio-max-nr is %s, of which %s are in use, and this point needs %d; raise it with sysctl -w fs.aio-max-nr=N, or lower --threads or --iodepth",
		sysctl("aio-max-nr"), sysctl("aio-nr"), slots)
}

func sysctl(name string) string {
	text, err := os.ReadFile("/proc/sys/fs/" + name)
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(text))
}

// mapRing finds the completion ring in our own memory, if it is what we think it is.
func (e *engine) mapRing() {
	// The handle is an address that the kernel has mapped; vet cannot know that it is no Go pointer.
	h := *(**ringHeader)(unsafe.Pointer(&e.ctx))
	if h == nil || h.magic != ringMagic || h.incompatFeatures != 0 || h.len < uint32(unsafe.Sizeof(*h)) || h.nr == 0 {
		e.info.Notes = append(e.info.Notes, "without reaping in user space: the kernel's ring has an unknown form")
		return
	}
	e.ring = h
	e.ringLog = unsafe.Slice((*event)(unsafe.Add(unsafe.Pointer(h), h.len)), h.nr)
	e.info.Features = append(e.info.Features, "reaping in user space")
}

func (e *engine) Close() error { return destroy(e.ctx) }

func destroy(ctx uintptr) error {
	if _, _, errno := syscall.Syscall(unix.SYS_IO_DESTROY, ctx, 0, 0); errno != 0 {
		return fmt.Errorf("io_destroy: %w", errno)
	}
	return nil
}

// tryOut proves that all the calls can be made here: a container may forbid any of them.
func tryOut() error {
	ctx, err := setup(1, 1)
	if err != nil {
		return err
	}
	var errs []error
	var none *iocb
	if _, _, errno := syscall.Syscall(unix.SYS_IO_SUBMIT, ctx, 0, uintptr(unsafe.Pointer(&none))); errno != 0 {
		errs = append(errs, fmt.Errorf("io_submit: %w", errno))
	}
	var ev event
	if _, _, errno := syscall.Syscall6(unix.SYS_IO_GETEVENTS, ctx, 0, 1, uintptr(unsafe.Pointer(&ev)), 0, 0); errno != 0 {
		errs = append(errs, fmt.Errorf("io_getevents: %w", errno))
	}
	return errors.Join(append(errs, destroy(ctx))...)
}
