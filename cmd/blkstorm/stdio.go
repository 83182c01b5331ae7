package main

import (
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// Go opens /dev/null for each of the descriptors 0 to 2 that is closed when a program starts (runtime,
// checkfds): no device that is opened later can get such a number and be printed to. But what is written to
// a closed standard output is lost without an error.

// resultLost is said of such an output. It is no error: what Python's DEVNULL and daemon(3) open looks the same.
const resultLost = "standard output is closed, or /dev/null opened for reading and writing, which looks the same: the result will be lost; --dir DIR would keep it"

var errOutputReadOnly = errors.New("standard output is open for reading only: the result would be lost; give --dir DIR, or send it to a file or a pipe")

// checkOutput says, before a run of hours, why its document could not be written to w; and whether it will be
// lost, which may be what is wanted.
func checkOutput(w io.Writer) (nowhere bool, err error) {
	file, ok := w.(*os.File)
	if !ok {
		return false, nil
	}
	flags, err := unix.FcntlInt(file.Fd(), unix.F_GETFL, 0)
	if err != nil {
		return false, nil // the write will tell
	}
	switch flags & unix.O_ACCMODE {
	case unix.O_RDONLY:
		return false, errOutputReadOnly
	case unix.O_RDWR:
		var s unix.Stat_t
		if unix.Fstat(int(file.Fd()), &s) == nil && s.Mode&unix.S_IFMT == unix.S_IFCHR && s.Rdev == unix.Mkdev(1, 3) {
			return true, nil
		}
	}
	return false, nil
}
