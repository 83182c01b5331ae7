package ioengine

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sleep suspends the calling OS thread for d, or until a signal comes, without telling the Go
// scheduler: for threads of the runner, which keep its rules for raw system calls (see package runner).
func Sleep(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	// The error is EINTR, which is an early end, or EINVAL for a negative time, which is none at all.
	_, _, _ = syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, 0, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
}

// PreciseTimers has the calling OS thread woken from timed waits when their time has come. By default
// the kernel adds up to 50 µs, to wake for several timers at once (prctl(2), PR_SET_TIMERSLACK).
func PreciseTimers() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // if not, wakes are late, which late I/Os show
}
