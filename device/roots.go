// Package device knows what a target is and whether it may be destroyed: it turns what a user
// names into one node or file, reads its size, limits, queue and identity from sysfs, opens it,
// and is the guard that says why a write must not go there.
//
// The command line calls it before a plan runs (facts, guard), the runner while it runs (open,
// hold). It never writes to a target, never makes a file, never starts another program, and never
// changes a setting: what it finds it says. Reading facts needs no privilege; the guard reads the
// target itself and needs the rights to open it.
//
// A device is always looked up by its number (major:minor), never by its name: names move between
// boots and hot-plugs, and a path may be a symlink, a bind mount or a node made by hand.
package device

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Roots says where the kernel's views are. Tests point it at fake trees; everything else uses
// System.
//
// Only root can make device nodes, so under a Dev other than "/dev" a regular file whose name sysfs
// lists as a block device stands for that node, and "/dev/..." in the fake proc files means Dev.
type Roots struct {
	Sys  string // sysfs, "/sys"
	Proc string // procfs, "/proc"
	Dev  string // the device directory, "/dev"
}

// System is the running system's Roots.
func System() Roots { return Roots{Sys: "/sys", Proc: "/proc", Dev: "/dev"} }

func (r Roots) fake() bool { return r.Dev != "/dev" }

// local turns a path that the kernel printed (in swaps, mountinfo or a loop's backing_file) into
// one that this process can open; it differs only under a fake Dev.
func (r Roots) local(path string) string {
	if rest, ok := strings.CutPrefix(path, "/dev/"); ok && r.fake() {
		return filepath.Join(r.Dev, rest)
	}
	return path
}

// nodePath is where the node of a kernel name lies. The kernel writes '/' in device names as '!'
// in sysfs ("cciss!c0d0" is /dev/cciss/c0d0).
func (r Roots) nodePath(name string) string {
	return filepath.Join(r.Dev, strings.ReplaceAll(name, "!", "/"))
}

// underDev reports the part of path below the device directory. What lies in Dev/shm is a tmpfs for
// files, not for devices, and does not count.
func (r Roots) underDev(path string) (rest string, ok bool) {
	for _, dev := range []string{r.Dev, realPath(r.Dev)} {
		if rest, ok = strings.CutPrefix(path, dev+"/"); ok {
			return rest, !strings.HasPrefix(rest, "shm/")
		}
	}
	return "", false
}

// fileID is what makes two paths the same file: the file system's device number and the inode.
type fileID struct{ dev, ino uint64 }

// node is what stat says of a path, symlinks followed.
type node struct {
	mode   uint32 // S_IFMT bits
	number string // "major:minor" when it is a block device
	id     fileID
	size   int64
	fsDev  string // "major:minor" of the file system it lies on
}

func (n node) block() bool   { return n.number != "" }
func (n node) regular() bool { return n.mode == unix.S_IFREG && n.number == "" }

func (r Roots) stat(path string) (node, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return node{}, &fs.PathError{Op: "stat", Path: path, Err: err}
	}
	n := node{
		mode:  st.Mode & unix.S_IFMT,
		id:    fileID{uint64(st.Dev), st.Ino},
		size:  st.Size,
		fsDev: numberOf(uint64(st.Dev)),
	}
	switch {
	case n.mode == unix.S_IFBLK:
		n.number = numberOf(uint64(st.Rdev))
	case n.mode == unix.S_IFREG && r.fake():
		if rest, ok := r.underDev(realPath(path)); ok {
			n.number = readText(r.classDir(strings.ReplaceAll(rest, "/", "!")), "dev")
		}
	}
	return n, nil
}

func numberOf(dev uint64) string {
	return fmt.Sprintf("%d:%d", unix.Major(dev), unix.Minor(dev))
}

func (r Roots) classDir(name string) string { return filepath.Join(r.Sys, "class/block", name) }

// block is one block device's place in sysfs.
type block struct {
	name   string // kernel name, as in sysfs
	number string // "major:minor"
	dir    string // its own directory, symlinks resolved
	disk   string // kernel name of the whole disk; its own name when it is one
	// diskDir is the whole disk's directory: queue, device and mq exist only there.
	diskDir string
}

func (b block) partition() bool { return b.disk != b.name }

// byName finds a block device by its kernel name.
func (r Roots) byName(name string) (block, error) {
	return blockAt(r.classDir(name))
}

// byNumber finds a block device by "major:minor".
func (r Roots) byNumber(number string) (block, error) {
	return blockAt(filepath.Join(r.Sys, "dev/block", number))
}

func blockAt(link string) (block, error) {
	dir, err := filepath.EvalSymlinks(link)
	if err != nil {
		return block{}, err
	}
	b := block{name: filepath.Base(dir), dir: dir, number: readText(dir, "dev")}
	b.disk, b.diskDir = b.name, dir
	if exists(filepath.Join(dir, "partition")) {
		b.diskDir = filepath.Dir(dir)
		b.disk = filepath.Base(b.diskDir)
	}
	return b, nil
}

// partitions lists the partitions of a whole disk, by their directories inside the disk's own.
func (b block) partitions() []block {
	if b.partition() {
		return nil
	}
	var out []block
	for _, name := range entries(b.dir) {
		if p, err := blockAt(filepath.Join(b.dir, name)); err == nil && p.disk == b.name && p.partition() {
			out = append(out, p)
		}
	}
	return out
}

func realPath(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// entries are the names in a directory, sorted; none when it cannot be read.
func entries(dir string) []string {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(list))
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// readText is a sysfs attribute without the blanks around it. Empty when it is not there or cannot
// be read: sysfs differs between kernels and drivers, so every single attribute is optional.
func readText(dir, attr string) string {
	b, err := os.ReadFile(filepath.Join(dir, attr))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(strings.TrimRight(string(b), "\x00\n "))
}

func readInt(dir, attr string) int64 {
	s := readText(dir, attr)
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// readFlag is a 0/1 attribute; nil when the kernel does not have it.
func readFlag(dir, attr string) *bool {
	switch readText(dir, attr) {
	case "0":
		return new(false)
	case "1":
		return new(true)
	}
	return nil
}
