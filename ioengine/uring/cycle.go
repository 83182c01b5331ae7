package uring

import (
	"fmt"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"blkstorm/ioengine"
	"blkstorm/op"
)

// Cycle is one io_uring_enter: submit all, wait, and take what is there.
func (e *engine) Cycle(submit []uint32, wait int, limit time.Duration, done []ioengine.Completion) (submitted, completed int, err error) {
	n := 0
	for n < len(submit) && e.fill(submit[n]) {
		n++
	}
	if n < len(submit) {
		return e.cycleAround(submit, n, wait, limit, done)
	}
	if n > 0 {
		e.ring.publish()
	}
	submitted, err = e.enter(n, wait, limit)
	e.inflight += submitted
	completed = e.collect(done)
	return submitted, completed, err
}

// fill writes a slot's I/O into the next sqe. Entries are reused in any order, so every field that is
// ever set is set each time. It says no to what this ring cannot do.
func (e *engine) fill(slot uint32) bool {
	io := &e.slots[slot]
	if io.Op > op.Write {
		return e.fillOther(slot)
	}
	s := e.ring.next()
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
	s.rwFlags = 0
	if write && io.Flags&ioengine.Durable != 0 {
		s.rwFlags = unix.RWF_DSYNC
	}
	e.aim(s, io)
	s.off = uint64(io.Offset)
	s.addr = uint64(addr)
	s.length = uint32(len(io.Buf))
	s.addr3 = 0
	s.userData = uint64(slot)
	return true
}

// aim names the file.
func (e *engine) aim(s *sqe, io *ioengine.IO) {
	if e.fixedFiles {
		s.flags, s.fd = sqeFixedFile, io.File
	} else {
		s.flags, s.fd = 0, int32(e.targets[io.File].FD)
	}
}

// enter submits n published sqes and waits. The answer is how many the kernel has taken; a signal may
// end the wait early, also after a successful submit (Go's preemption signals do): the caller looks
// at the completions that are there, and comes again.
func (e *engine) enter(n, wait int, limit time.Duration) (int, error) {
	if e.sqpoll {
		return e.enterPolled(n, wait, limit)
	}
	taken, errno := e.ring.call(n, wait, enterGetEvents, limit)
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
			if _, errno = e.ring.call(0, 1, enterGetEvents, limit); errno != 0 && !transient(errno) {
				return 0, enterError(errno)
			}
		}
		return 0, nil
	}
	return 0, enterError(errno)
}

// enterPolled waits only: the kernel's thread has seen the published entries, or is woken to.
func (e *engine) enterPolled(n, wait int, limit time.Duration) (int, error) {
	flags := uintptr(enterGetEvents)
	// The store of the tail and this load must not change places (both are sequentially consistent
	// in Go), or a thread that goes to sleep just now is missed.
	if atomic.LoadUint32(e.ring.sqFlags)&sqNeedWakeup != 0 {
		flags |= enterSQWakeup
	}
	if _, errno := e.ring.call(n, wait, flags, limit); errno != 0 && !transient(errno) {
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

// collect takes the completions that are there.
func (e *engine) collect(done []ioengine.Completion) int {
	n := e.take(done)
	e.inflight -= n
	if e.mixed {
		e.settle(done[:n])
	}
	return n
}

// take copies the completions that are there.
func (e *engine) take(done []ioengine.Completion) int {
	r := e.ring
	tail := atomic.LoadUint32(r.cqTail)
	n := 0
	for ; r.head != tail && n < len(done); n++ {
		c := &r.cqes[r.head&r.cqMask]
		done[n] = ioengine.Completion{Slot: uint32(c.userData), Res: int64(c.res)}
		r.head++
	}
	if n > 0 {
		atomic.StoreUint32(r.cqHead, r.head)
	}
	return n
}
