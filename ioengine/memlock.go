package ioengine

import (
	"strconv"

	"golang.org/x/sys/unix"
)

// RaiseMemlock lifts the soft limit on pinned memory as far as needed and allowed: to the hard limit,
// which root may lift too. It cannot fail: whoever pins more than allowed is told so by the kernel.
func RaiseMemlock(need int64) {
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &lim) != nil || lim.Cur >= uint64(need) {
		return
	}
	// Twice the need leaves room for what else is pinned.
	wanted := unix.Rlimit{Cur: uint64(2 * need), Max: max(lim.Max, uint64(2*need))}
	if unix.Setrlimit(unix.RLIMIT_MEMLOCK, &wanted) != nil {
		wanted = unix.Rlimit{Cur: lim.Max, Max: lim.Max}
		_ = unix.Setrlimit(unix.RLIMIT_MEMLOCK, &wanted)
	}
}

// Memlock is the soft limit on pinned memory, for messages.
func Memlock() string {
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_MEMLOCK, &lim) != nil {
		return "unknown"
	}
	if lim.Cur == unix.RLIM_INFINITY {
		return "unlimited"
	}
	return strconv.FormatUint(lim.Cur, 10) + " bytes"
}
