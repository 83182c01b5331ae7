package device

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// fileFacts are a regular file's: its own size, the file system it lies on, and the limits of the
// disk beneath. Serial and model stay empty: they are the disk's, and two files would seem one
// target.
func (r Roots) fileFacts(path string, n node) *Facts {
	f := &Facts{Path: path, Kind: KindFile, SizeBytes: n.size}
	m, ok := r.mountOf(path)
	number := n.fsDev
	if ok {
		f.FileSystem, f.FileSystemSource, f.MountPoint = m.fsType, m.source, m.point
		// btrfs gives its subvolumes anonymous numbers (major 0); the source names the device.
		if strings.HasPrefix(number, "0:") && strings.HasPrefix(m.source, "/") {
			if src, err := r.stat(r.local(m.source)); err == nil && src.block() {
				number = src.number
			}
		}
	}
	if b, err := r.byNumber(number); err == nil {
		f.Disk = b.disk
		f.readQueue(b.diskDir)
		r.readController(f, b)
	}
	f.readDirectIO(path, unix.S_IFREG)
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err == nil {
		f.ReadOnly = st.Flags&unix.ST_RDONLY != 0
	}
	return f
}

// mountOf finds the mount that path lies on: the deepest mount point that is a prefix of it, and of
// several on one point the last, which covers the others. The device number is no help: btrfs gives
// stat another one than mountinfo.
func (r Roots) mountOf(path string) (best mount, ok bool) {
	list, err := r.ownMounts()
	if err != nil {
		return mount{}, false
	}
	path = filepath.Clean(path)
	for _, m := range list {
		inside := m.point == "/" || path == m.point || strings.HasPrefix(path, m.point+"/")
		if inside && len(m.point) >= len(best.point) {
			best, ok = m, true
		}
	}
	return best, ok
}
