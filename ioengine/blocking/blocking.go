// Package blocking carries out one I/O in the calling thread, by plain system calls that return when
// it is done. It is the whole of the psync engine, and what the other engines do with operations that
// their interface of the kernel lacks.
//
// It never waits for anything else, keeps no state, and never looks at a clock.
//
//	read           pread
//	write          pwrite
//	durable write  pwritev2 with RWF_DSYNC (4.7), before that pwrite and fdatasync
//	trim           BLKDISCARD on a block device, else fallocate: a hole is punched
//	zeroing trim   BLKZEROOUT on a block device, else fallocate: FALLOC_FL_ZERO_RANGE
//	sync           fsync, or fdatasync
//
// BLKDISCARD reports success when the device, asked, refuses (blk-lib.c takes a discard for a hint);
// EOPNOTSUPP comes only from a device that says beforehand that it cannot.
package blocking

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"blkstorm/ioengine"
	"blkstorm/op"
)

// Requests of ioctl, from include/uapi/linux/fs.h; the argument is an offset and a length in bytes.
const (
	blkDiscard = 0x1277
	blkZeroOut = 0x127f
)

// Modes of fallocate for a trim of a regular file. Neither changes its size.
const (
	PunchHole = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	ZeroRange = unix.FALLOC_FL_ZERO_RANGE | unix.FALLOC_FL_KEEP_SIZE
)

// Target is an open target.
type Target struct {
	FD    int
	Block bool // a block device; else a regular file
}

// Targets looks at what the descriptors are.
func Targets(fds []int) ([]Target, error) {
	targets := make([]Target, len(fds))
	for i, fd := range fds {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			return nil, fmt.Errorf("fstat: %w", err)
		}
		targets[i] = Target{FD: fd, Block: st.Mode&unix.S_IFMT == unix.S_IFBLK}
	}
	return targets, nil
}

// Do carries out an I/O, and returns what its Completion has for Res.
//
// Its calls are raw ones, without telling the Go scheduler: on a blocking device that saves a fifth to
// a quarter of the CPU per I/O. The runner keeps the rules that this asks for (a processor to spare per
// thread, a preemption point per turn, no garbage collection meanwhile). Where a signal ends a call,
// nothing was done, or it can be done again: the call is repeated.
func Do(t *Target, io *ioengine.IO) int64 {
	for {
		var n uintptr
		var errno syscall.Errno
		switch {
		case io.Op == op.Read:
			n, _, errno = syscall.RawSyscall6(unix.SYS_PREAD64, uintptr(t.FD),
				uintptr(unsafe.Pointer(unsafe.SliceData(io.Buf))), uintptr(len(io.Buf)), uintptr(io.Offset), 0, 0)
		case io.Op == op.Write && io.Flags&ioengine.Durable == 0:
			n, errno = write(t, io)
		case io.Op == op.Write:
			n, errno = writeDurable(t, io)
		case io.Op == op.Trim:
			n, errno = uintptr(io.Length), trim(t, io)
		case io.Flags&ioengine.DataOnly != 0:
			errno = dataSync(t)
		default:
			_, _, errno = syscall.RawSyscall(unix.SYS_FSYNC, uintptr(t.FD), 0, 0)
		}
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			return -int64(errno)
		}
		return int64(n)
	}
}

func write(t *Target, io *ioengine.IO) (uintptr, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_PWRITE64, uintptr(t.FD),
		uintptr(unsafe.Pointer(unsafe.SliceData(io.Buf))), uintptr(len(io.Buf)), uintptr(io.Offset), 0, 0)
	return n, errno
}

// writeDurable asks for one call that writes and makes it stable, which lets the device use forced unit
// access. Kernels that lack the call (4.6) or the flag (4.7) answer in three ways, one of which (EINVAL)
// a bad I/O gets too: the plain write tells which.
func writeDurable(t *Target, io *ioengine.IO) (uintptr, syscall.Errno) {
	v := unix.Iovec{Base: unsafe.SliceData(io.Buf)}
	v.SetLen(len(io.Buf))
	n, _, errno := syscall.RawSyscall6(unix.SYS_PWRITEV2, uintptr(t.FD), uintptr(unsafe.Pointer(&v)), 1, uintptr(io.Offset), 0, unix.RWF_DSYNC)
	switch errno {
	case syscall.ENOSYS, syscall.EOPNOTSUPP, syscall.EINVAL:
		if n, errno = write(t, io); errno == 0 {
			errno = dataSync(t)
		}
	}
	return n, errno
}

func dataSync(t *Target) syscall.Errno {
	_, _, errno := syscall.RawSyscall(unix.SYS_FDATASYNC, uintptr(t.FD), 0, 0)
	return errno
}

func trim(t *Target, io *ioengine.IO) syscall.Errno {
	zeroes := io.Flags&ioengine.Zeroes != 0
	if !t.Block {
		mode := PunchHole
		if zeroes {
			mode = ZeroRange
		}
		_, _, errno := syscall.RawSyscall6(unix.SYS_FALLOCATE, uintptr(t.FD), uintptr(mode), uintptr(io.Offset), uintptr(io.Length), 0, 0)
		return errno
	}
	request := uintptr(blkDiscard)
	if zeroes {
		request = blkZeroOut
	}
	where := [2]uint64{uint64(io.Offset), uint64(io.Length)}
	_, _, errno := syscall.RawSyscall(unix.SYS_IOCTL, uintptr(t.FD), request, uintptr(unsafe.Pointer(&where)))
	return errno
}
