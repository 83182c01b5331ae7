package device

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// ErrNoDirect is wrapped by Open's error when the file system has no direct I/O.
var ErrNoDirect = errors.New("no direct I/O here")

// OpenOptions say what an open is for.
type OpenOptions struct {
	Write  bool // O_RDWR, else O_RDONLY
	Direct bool // O_DIRECT: past the page cache
}

// Open opens an existing target; it never makes or truncates one. Errors keep the errno for
// errors.Is, and say what to do.
func Open(path string, o OpenOptions) (*os.File, error) {
	flags := os.O_RDONLY
	if o.Write {
		flags = os.O_RDWR
	}
	if o.Direct {
		flags |= unix.O_DIRECT
	}
	// Without O_NOATIME every read looks whether the node's access time is due, some 4 % of a cheap
	// device's I/O. Only the owner and root may ask for it (EPERM, open(2)).
	f, err := os.OpenFile(path, flags|unix.O_NOATIME, 0)
	if errors.Is(err, unix.EPERM) {
		f, err = os.OpenFile(path, flags, 0)
	}
	if err == nil {
		return f, nil
	}
	return nil, openError(path, o, err)
}

func openError(path string, o OpenOptions, err error) error {
	var errno unix.Errno
	if !errors.As(err, &errno) {
		return fmt.Errorf("open %s: %w", path, err)
	}
	say := func(text string) error { return fmt.Errorf("open %s: %s: %w", path, text, errno) }
	switch errno {
	case unix.EINVAL:
		// open(2): the one EINVAL that these flags can give is a file system without direct I/O.
		if o.Direct {
			return fmt.Errorf("open %s: %w: its file system does not offer it; use --direct=false and measure the page cache, or another target: %w", path, ErrNoDirect, errno)
		}
	case unix.EACCES:
		return say("needs root, or for a device membership of its group (disk)")
	case unix.EPERM:
		return say("not permitted: the file is immutable or append-only (lsattr), or a container forbids the device")
	case unix.EROFS:
		return say("read-only device or file system; only reads are possible")
	case unix.ENOENT:
		return say("it does not exist (any more)")
	case unix.ENOMEDIUM:
		return say("there is no medium in the drive")
	case unix.ENXIO, unix.ENODEV:
		return say("the node is there, but no device behind it")
	case unix.EBUSY:
		return say("held by another program")
	case unix.ETXTBSY:
		return say("a running program cannot be written")
	}
	return say("cannot be opened")
}

// LockFile keeps a regular file to this run while it is written: a second run, in this process or
// another, is refused with code "in-use". The lock is advisory (flock(2)): a program that does not ask
// is not kept out, as O_EXCL keeps all out of a device.
func LockFile(path string) (io.Closer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, openError(path, OpenOptions{}, err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return f, nil
	}
	_ = f.Close() // nothing was done with it
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, &RefusedError{Path: path, Refusals: []Refusal{inUseFile(path)}}
	}
	return nil, fmt.Errorf("lock %s: %w", path, err)
}

// Hold keeps one O_EXCL descriptor on a block device, so that nobody can mount it, add it to an
// array or swap on it until it is closed. The device's other openers are not hindered: they open
// without O_EXCL. Guard must have been asked before, for it claims the device for a moment itself.
//
// A device that is taken gives a *RefusedError with code "in-use". Anything but a block device is an
// error: open(2) leaves O_EXCL on a file undefined.
func Hold(path string) (io.Closer, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return nil, openError(path, OpenOptions{}, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFBLK {
		return nil, fmt.Errorf("hold %s: not a block device", path)
	}
	// Read-only is enough to claim it, and closing a writable descriptor would make udev probe the
	// device again.
	f, err := os.OpenFile(path, os.O_RDONLY|os.O_EXCL, 0)
	if errors.Is(err, unix.EBUSY) {
		return nil, &RefusedError{Path: path, Refusals: []Refusal{inUse(path)}}
	}
	if err != nil {
		return nil, openError(path, OpenOptions{}, err)
	}
	return f, nil
}
