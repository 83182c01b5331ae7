// Package aio is the Linux AIO engine, named libaio as in fio: raw io_submit for a batch, and reaping
// from the ring that the kernel maps into the process, with io_getevents only to block.
//
// It is asynchronous for direct I/O only; on a buffered file io_submit does the I/O itself.
package aio

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"blkstorm/ioengine"
	"blkstorm/op"
)

// Name is the engine's name in flags and results.
const Name = "libaio"

// Driver opens libaio engines.
var Driver = ioengine.Driver{Name: Name, Probe: tryOut, Fits: fits, Open: open}

type engine struct {
	ctx      uintptr
	slots    []ioengine.IO
	files    []int
	iocbs    []iocb
	pointers []*iocb // what io_submit takes
	events   []event
	ring     *ringHeader // nil when it must not be read
	ringLog  []event
	inflight int
	info     ioengine.Info
}

func open(c ioengine.Config) (ioengine.Engine, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	ctx, err := setup(len(c.Slots), c.TotalDepth)
	if err != nil {
		return nil, err
	}
	depth := len(c.Slots)
	e := &engine{
		ctx: ctx, slots: c.Slots, files: c.Files, info: ioengine.Info{Name: Name},
		iocbs: make([]iocb, depth), pointers: make([]*iocb, depth), events: make([]event, depth),
	}
	e.mapRing()
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

func (e *engine) Info() ioengine.Info { return e.info }

// Cycle submits a batch, takes what is in the ring, and blocks only if that is less than wait.
func (e *engine) Cycle(submit []uint32, wait int, _ time.Duration, done []ioengine.Completion) (submitted, completed int, err error) {
	if len(submit) > 0 {
		if submitted, completed, err = e.submit(submit, done); err != nil {
			return submitted, completed, err
		}
	}
	e.inflight += submitted - completed
	n := 0
	if e.ring != nil {
		n = e.take(done[completed:])
	}
	if need := min(wait-completed, e.inflight) - n; need > 0 {
		var more int
		more, err = e.block(need, done[completed+n:])
		n += more
	}
	e.inflight -= n
	return submitted, completed + n, err
}

// submit hands over a batch. The kernel may take only a part of it, the rest comes again; an I/O that
// it will not have at all (EINVAL, EBADF) is that I/O's failure, not the engine's.
func (e *engine) submit(batch []uint32, done []ioengine.Completion) (taken, failed int, err error) {
	for i, slot := range batch {
		io := &e.slots[slot]
		cb := &e.iocbs[slot]
		cb.opcode = cmdPread
		if io.Op == op.Write {
			cb.opcode = cmdPwrite
		}
		cb.data = uint64(slot)
		cb.fd = uint32(e.files[io.File])
		cb.buf = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(io.Buf))))
		cb.nbytes = uint64(len(io.Buf))
		cb.offset = io.Offset
		e.pointers[i] = cb
	}
	n, _, errno := syscall.RawSyscall(unix.SYS_IO_SUBMIT, e.ctx, uintptr(len(batch)), uintptr(unsafe.Pointer(&e.pointers[0])))
	switch errno {
	case 0:
		return int(n), 0, nil
	case syscall.EINTR, syscall.EAGAIN:
		return 0, 0, nil
	case syscall.EINVAL, syscall.EBADF:
		done[0] = ioengine.Completion{Slot: batch[0], Res: -int32(errno)}
		return 1, 1, nil
	}
	return 0, 0, fmt.Errorf("io_submit: %w", errno)
}

// take copies the events that are in the ring. The kernel only ever moves the tail, and we the head
// (io_getevents in this same thread aside).
func (e *engine) take(done []ioengine.Completion) int {
	r := e.ring
	head, tail := r.head, atomic.LoadUint32(&r.tail)
	n := 0
	for ; head != tail && n < len(done); n++ {
		ev := &e.ringLog[head]
		done[n] = ioengine.Completion{Slot: uint32(ev.data), Res: int32(ev.res)}
		if head++; head == r.nr {
			head = 0
		}
	}
	if n > 0 {
		atomic.StoreUint32(&r.head, head)
	}
	return n
}

// block waits in io_getevents for need events; a signal may end it earlier.
func (e *engine) block(need int, done []ioengine.Completion) (int, error) {
	room := min(len(done), len(e.events))
	n, _, errno := syscall.RawSyscall6(unix.SYS_IO_GETEVENTS, e.ctx, uintptr(need), uintptr(room), uintptr(unsafe.Pointer(&e.events[0])), 0, 0)
	if errno != 0 {
		if errno == syscall.EINTR || errno == syscall.EAGAIN {
			return 0, nil
		}
		return 0, fmt.Errorf("io_getevents: %w", errno)
	}
	for i := range int(n) {
		done[i] = ioengine.Completion{Slot: uint32(e.events[i].data), Res: int32(e.events[i].res)}
	}
	return int(n), nil
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
