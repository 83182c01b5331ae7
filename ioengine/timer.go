package ioengine

import (
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// PreciseTimers has the kernel end the calling thread's timed waits as soon as it can, instead of up to
// 50 µs later to save wake-ups (the timer slack of an ordinary thread, prctl(2)). The caller is locked
// to its OS thread. Without it waits are late, not wrong.
func PreciseTimers() error {
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0); err != nil { // ns; 0 would be the default
		return fmt.Errorf("prctl(PR_SET_TIMERSLACK): %w", err)
	}
	return nil
}

// Sleep stops the calling thread for d, or until a signal comes (the Go scheduler sends them): the
// caller looks at its clock and sleeps again. It is for a thread that has nothing in flight; others
// wait in Cycle. A d of 0 or less returns at once.
//
// Like Cycle it is a raw system call that the Go scheduler does not know of, so that a wake-up does not
// queue for a processor; the same rules hold: the thread keeps its processor while it sleeps, so
// GOMAXPROCS leaves at least one for everybody else; the caller passes a preemption point (a call with
// a stack check) each time; and asynchronous preemption stays on, or the sleep would hold up a stop of
// the world for all of d.
func Sleep(d time.Duration) {
	if d <= 0 {
		return
	}
	ts := unix.NsecToTimespec(int64(d))
	// The only errors are EINTR, and EFAULT and EINVAL, which a good timespec cannot give.
	_, _, _ = syscall.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&ts)), 0, 0)
}
