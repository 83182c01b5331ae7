package uring

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// waiter is what a wait with a limit needs. The kernel reads it during a call only; it lies in the
// ring, which never moves, so that the call allocates nothing.
type waiter struct {
	how   waitHow
	arg   enterArg
	limit timespec
	poll  unix.PollFd
}

// waitHow is the way in which a wait is bounded.
type waitHow uint8

const (
	waitPoll   waitHow = iota // ppoll on the ring
	waitExtArg                // by io_uring_enter itself
	waitNot                   // not at all: it looks once
)

// prepareWaits chooses the way. The limit that io_uring_enter takes since 5.11 is counted in jiffies at
// first, so up to 8 ms late; 5.18 made it precise (and some 5.15 later). A second call that is precise
// is the better one until then. A polled ring spins inside the kernel with no regard to a limit.
func (r *ring) prepareWaits() {
	switch {
	case r.flags&setupIOPoll != 0:
		r.how = waitNot
	case r.feats&featExtArg != 0 && r.feats&featLinkedFile != 0:
		r.how = waitExtArg
	}
	r.arg.ts = uint64(uintptr(unsafe.Pointer(&r.limit)))
	r.poll = unix.PollFd{Fd: int32(r.fd), Events: unix.POLLIN}
}

// callWithin is call with a bounded wait. What it returns is how many were submitted; that the limit has
// passed is no error.
func (r *ring) callWithin(submit, wait int, flags uintptr, limit time.Duration) (int, syscall.Errno) {
	switch r.how {
	case waitPoll:
		return r.callThenPoll(submit, wait, flags, limit)
	case waitNot:
		return r.call(submit, 0, flags, 0) // the caller goes round, and so does the spinning
	}
	r.setLimit(limit)
	n, _, errno := syscall.RawSyscall6(sysEnter, r.enterFD, uintptr(submit), uintptr(wait), flags|r.enter|enterExtArg,
		uintptr(unsafe.Pointer(&r.arg)), unsafe.Sizeof(r.arg))
	if errno == syscall.ETIME {
		// Only a call that has submitted nothing says so: else its answer is the number submitted.
		return 0, 0
	}
	return int(n), errno
}

// callThenPoll submits, and waits in ppoll. It returns at the first completion, also if more are waited
// for: the ring stays readable as long as that one is in it.
func (r *ring) callThenPoll(submit, wait int, flags uintptr, limit time.Duration) (int, syscall.Errno) {
	n, errno := r.call(submit, 0, flags, 0)
	if errno != 0 || n < submit || atomic.LoadUint32(r.cqTail)-r.head >= uint32(wait) {
		return n, errno
	}
	r.setLimit(limit)
	_, _, errno = syscall.RawSyscall6(unix.SYS_PPOLL, uintptr(unsafe.Pointer(&r.poll)), 1, uintptr(unsafe.Pointer(&r.limit)), 0, 0, 0)
	if errno == syscall.EINTR {
		errno = 0 // n counts all the same
	}
	return n, errno
}

func (r *ring) setLimit(limit time.Duration) {
	r.limit = timespec{sec: int64(limit / time.Second), nsec: int64(limit % time.Second)}
}
