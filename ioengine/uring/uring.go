// Package uring is the io_uring engine: one ring per thread, and one system call per turn that
// submits all free slots and waits for completions.
//
// It speaks to the kernel by raw system calls, asks what the kernel can instead of looking at its
// version, and uses registered buffers, files and ring where it may; what is in use is in its Info.
// What it does for each operation:
//
//	read, write    IORING_OP_READ_FIXED, IORING_OP_WRITE_FIXED; READ and WRITE without registered buffers
//	durable write  the same with RWF_DSYNC
//	trim           of a block device: IORING_OP_URING_CMD with BLOCK_URING_CMD_DISCARD (6.12); before that
//	               by package blocking. Of a file: IORING_OP_FALLOCATE, which punches a hole
//	zeroing trim   IORING_OP_FALLOCATE with FALLOC_FL_ZERO_RANGE, for devices and files
//	sync           IORING_OP_FSYNC
//
// FALLOCATE and FSYNC are always carried out by the kernel's worker threads (io-wq): asynchronous, but
// no more at once than a thread has workers (4 per CPU), and the FALLOCATEs of one file of most file
// systems one after the other. A polled ring (IOPOLL) takes reads and writes only: all else goes to package blocking.
package uring

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"unsafe"

	"blkstorm/ioengine"
	"blkstorm/ioengine/blocking"
)

// Name is the engine's name in flags and results.
const Name = "io_uring"

// Options are what an io_uring can be asked for beyond the plain case.
type Options struct {
	// SQPoll has a kernel thread submit; it needs a CPU of its own.
	SQPoll bool
	// IOPoll polls the device for completions; it needs polling queues.
	IOPoll bool

	// bare is for tests: the ring of a kernel that has nothing beyond 5.6.
	bare bool
}

// Driver makes the driver with these options.
func Driver(o Options) ioengine.Driver {
	return ioengine.Driver{
		Name:  Name,
		Probe: func() error { return tryOut(o) },
		Open:  func(c ioengine.Config) (ioengine.Engine, error) { return open(c, o) },
	}
}

type engine struct {
	ring     *ring
	slots    []ioengine.IO
	targets  []blocking.Target
	sqpoll   bool
	inflight int
	info     ioengine.Info

	fixedFiles bool
	// Registered buffers: the region begins at base and is cut into registered buffers of chunk
	// bytes; chunk 0 means that there are none.
	base, chunk uintptr

	offload
	mixed bool // there was an I/O other than a read or write: completions are looked at
}

func open(c ioengine.Config, o Options) (ioengine.Engine, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	targets, err := blocking.Targets(c.Files)
	if err != nil {
		return nil, err
	}
	r, err := newRing(len(c.Slots), o)
	if err != nil {
		return nil, err
	}
	e := &engine{ring: r, slots: c.Slots, targets: targets, sqpoll: o.SQPoll, info: ioengine.Info{Name: Name}}
	for _, f := range flagNames {
		if r.flags&f.flag != 0 {
			e.info.Features = append(e.info.Features, f.name)
		}
	}
	if err := r.supports(opRead, opWrite, opReadFixed, opWriteFixed); err != nil {
		return nil, errors.Join(err, r.close())
	}
	e.optional("registered buffers", e.registerBuffers(&c))
	e.optional("registered files", e.registerFiles(c.Files))
	e.optional("registered ring", r.registerSelf())
	if err := e.arrange(&c); err != nil {
		return nil, errors.Join(err, r.close())
	}
	return e, nil
}

// optional notes whether something that only makes I/O cheaper is in use. Each degrades alone.
func (e *engine) optional(name string, err error) {
	if err != nil {
		e.info.Notes = append(e.info.Notes, fmt.Sprintf("without %s: %v", name, err))
		return
	}
	e.info.Features = append(e.info.Features, name)
}

// registerBuffers has the kernel pin the buffers once instead of at each I/O.
func (e *engine) registerBuffers(c *ioengine.Config) error {
	if len(c.Region) == 0 {
		return errors.New("no buffer region")
	}
	stride := max(c.Stride, 1)
	chunk := maxFixedBuffer / stride * stride // no buffer lies across a border
	if chunk == 0 {
		return fmt.Errorf("a buffer of %d bytes is over the kernel's limit of %d", stride, maxFixedBuffer)
	}
	base := uintptr(unsafe.Pointer(unsafe.SliceData(c.Region)))
	var list []iovec
	for at := 0; at < len(c.Region); at += chunk {
		list = append(list, iovec{base: base + uintptr(at), len: uintptr(min(chunk, len(c.Region)-at))})
	}
	ioengine.RaiseMemlock(c.TotalBytes)
	_, err := e.ring.register(registerBuffers, uintptr(unsafe.Pointer(&list[0])), len(list))
	runtime.KeepAlive(list)
	if errors.Is(err, syscall.ENOMEM) {
		return fmt.Errorf("%d bytes cannot be pinned: %w (RLIMIT_MEMLOCK is %s: raise ulimit -l)", c.TotalBytes, err, ioengine.Memlock())
	}
	if err != nil {
		return err
	}
	e.chunk, e.base = uintptr(chunk), base
	return nil
}

func (e *engine) registerFiles(files []int) error {
	fds := make([]int32, len(files))
	for i, fd := range files {
		fds[i] = int32(fd)
	}
	if _, err := e.ring.register(registerFiles, uintptr(unsafe.Pointer(&fds[0])), len(fds)); err != nil {
		return err
	}
	e.fixedFiles = true
	return nil
}

func (e *engine) Info() ioengine.Info { return e.info }

// Close lets go of the files at once; the kernel takes the ring apart a moment later.
func (e *engine) Close() error {
	var err error
	if e.fixedFiles {
		_, err = e.ring.register(unregisterFiles, 0, 0)
	}
	return errors.Join(err, e.ring.close())
}

// tryOut proves that a ring can be set up and used here: a container may forbid either call.
func tryOut(o Options) error {
	// The ring belongs to the thread that made it (single issuer).
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	r, err := newRing(1, o)
	if err != nil {
		return err
	}
	defer func() { _ = r.close() }() // nothing was done with it
	if err := r.supports(opRead, opWrite, opReadFixed, opWriteFixed); err != nil {
		return err
	}
	if o.IOPoll {
		return nil // a NOP cannot be polled for
	}
	_, err = r.try(sqe{opcode: opNop})
	return err
}
