// Package uring is the io_uring engine: one ring per thread, and one system call per turn that
// submits all free slots and waits for completions.
//
// It speaks to the kernel by raw system calls, asks what the kernel can instead of looking at its
// version, and uses registered buffers, files and ring where it may; what is in use is in its Info.
package uring

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"blkstorm/ioengine"
	"blkstorm/op"
)

// Name is the engine's name in flags and results.
const Name = "io_uring"

// Options are what an io_uring can be asked for beyond the plain case.
type Options struct {
	// SQPoll has a kernel thread submit; it needs a CPU of its own.
	SQPoll bool
	// IOPoll polls the device for completions; it needs polling queues.
	IOPoll bool
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
	files    []int
	sqpoll   bool
	inflight int
	info     ioengine.Info

	fixedFiles bool
	// Registered buffers: the region begins at base and is cut into registered buffers of chunk
	// bytes; chunk 0 means that there are none.
	base, chunk uintptr
}

func open(c ioengine.Config, o Options) (ioengine.Engine, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	r, err := newRing(len(c.Slots), o)
	if err != nil {
		return nil, err
	}
	e := &engine{ring: r, slots: c.Slots, files: c.Files, sqpoll: o.SQPoll, info: ioengine.Info{Name: Name}}
	for _, f := range flagNames {
		if r.flags&f.flag != 0 {
			e.info.Features = append(e.info.Features, f.name)
		}
	}
	if err := r.supports(opRead, opWrite, opReadFixed, opWriteFixed); err != nil {
		return nil, errors.Join(err, r.close())
	}
	e.optional("registered buffers", e.registerBuffers(&c))
	e.optional("registered files", e.registerFiles())
	e.optional("registered ring", r.registerSelf())
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

func (e *engine) registerFiles() error {
	fds := make([]int32, len(e.files))
	for i, fd := range e.files {
		fds[i] = int32(fd)
	}
	if _, err := e.ring.register(registerFiles, uintptr(unsafe.Pointer(&fds[0])), len(fds)); err != nil {
		return err
	}
	e.fixedFiles = true
	return nil
}

func (e *engine) Info() ioengine.Info { return e.info }

// Cycle is one io_uring_enter: submit all, wait, and take what is there.
func (e *engine) Cycle(submit []uint32, wait int, _ time.Duration, done []ioengine.Completion) (submitted, completed int, err error) {
	for _, slot := range submit {
		e.fill(e.ring.next(), slot)
	}
	if len(submit) > 0 {
		e.ring.publish()
	}
	submitted, err = e.enter(len(submit), wait)
	e.inflight += submitted
	completed = e.take(done)
	e.inflight -= completed
	return submitted, completed, err
}

// fill writes a slot's I/O into an sqe. Entries are reused in any order, so every field that is ever
// set is set each time.
func (e *engine) fill(s *sqe, slot uint32) {
	io := &e.slots[slot]
	addr := uintptr(unsafe.Pointer(unsafe.SliceData(io.Buf)))
	write := io.Op == op.Write
	s.opcode, s.bufIndex = opRead, 0
	if write {
		s.opcode = opWrite
	}
	if e.chunk != 0 {
		s.opcode = opReadFixed
		if write {
			s.opcode = opWriteFixed
		}
		if n := addr - e.base; n >= e.chunk {
			s.bufIndex = uint16(n / e.chunk)
		}
	}
	if e.fixedFiles {
		s.flags, s.fd = sqeFixedFile, io.File
	} else {
		s.flags, s.fd = 0, int32(e.files[io.File])
	}
	s.off = uint64(io.Offset)
	s.addr = uint64(addr)
	s.length = uint32(len(io.Buf))
	s.userData = uint64(slot)
}

// enter submits n published sqes and waits. The answer is how many the kernel has taken; a signal may
// end the wait early, also after a successful submit (Go's preemption signals do): the caller looks
// at the completions that are there, and comes again.
func (e *engine) enter(n, wait int) (int, error) {
	if e.sqpoll {
		return e.enterPolled(n, wait)
	}
	taken, errno := e.ring.call(n, wait, enterGetEvents)
	if errno == 0 {
		if taken < n {
			e.ring.withdraw() // no memory for more requests just now
		}
		return taken, nil
	}
	if n > 0 {
		e.ring.withdraw()
	}
	switch errno {
	case syscall.EINTR:
		return 0, nil
	case syscall.EAGAIN, syscall.EBUSY:
		// The kernel is out of requests, or its completion queue is full: let some complete first.
		if e.inflight > 0 {
			if _, errno = e.ring.call(0, 1, enterGetEvents); errno != 0 && !transient(errno) {
				return 0, enterError(errno)
			}
		}
		return 0, nil
	}
	return 0, enterError(errno)
}

// enterPolled waits only: the kernel's thread has seen the published entries, or is woken to.
func (e *engine) enterPolled(n, wait int) (int, error) {
	flags := uintptr(enterGetEvents)
	// The store of the tail and this load must not change places (both are sequentially consistent
	// in Go), or a thread that goes to sleep just now is missed.
	if atomic.LoadUint32(e.ring.sqFlags)&sqNeedWakeup != 0 {
		flags |= enterSQWakeup
	}
	if _, errno := e.ring.call(n, wait, flags); errno != 0 && !transient(errno) {
		return n, enterError(errno)
	}
	return n, nil
}

func transient(errno syscall.Errno) bool {
	return errno == syscall.EINTR || errno == syscall.EAGAIN || errno == syscall.EBUSY
}

func enterError(errno syscall.Errno) error {
	return fmt.Errorf("io_uring_enter: %w%s", errno, setupAdvice(errno))
}

// take copies the completions that are there.
func (e *engine) take(done []ioengine.Completion) int {
	r := e.ring
	tail := atomic.LoadUint32(r.cqTail)
	n := 0
	for ; r.head != tail && n < len(done); n++ {
		c := &r.cqes[r.head&r.cqMask]
		done[n] = ioengine.Completion{Slot: uint32(c.userData), Res: c.res}
		r.head++
	}
	if n > 0 {
		atomic.StoreUint32(r.cqHead, r.head)
	}
	return n
}

func (e *engine) Close() error { return e.ring.close() }

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
	*r.next() = sqe{opcode: opNop}
	r.publish()
	for range 1000 {
		_, errno := r.call(1, 1, enterGetEvents|enterSQWakeup)
		if errno != 0 && !transient(errno) {
			return enterError(errno)
		}
		if atomic.LoadUint32(r.cqTail) != 0 {
			return nil
		}
	}
	return errors.New("io_uring_enter: a NOP did not complete")
}
