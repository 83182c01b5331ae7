package device

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// overlap is everything whose data a write to the target can change: the target, its partitions or
// the whole disk around it, and what lies beneath a loop device. Sibling partitions are not in it.
type overlap struct {
	path   string
	blocks []part
	files  []filePart
	loops  []string // loop devices passed on the way down: that they have a backing is no news
}

type part struct {
	block
	how string // relation to the target, for sentences; empty for the target itself
}

type filePart struct {
	id   fileID
	path string
	how  string
}

const (
	isPartition = "a partition of"
	isWhole     = "the whole disk of"
	isBeneath   = "which lies beneath"
)

// say names a part in a sentence about the target.
func (o *overlap) say(name, how string) string {
	if how == "" {
		return o.path
	}
	return fmt.Sprintf("%s, %s %s,", name, how, o.path)
}

func (r Roots) overlapOf(f *Facts, loops []loop) (*overlap, error) {
	o := &overlap{path: f.Path}
	if f.Kind == KindFile {
		n, err := r.stat(f.Path)
		if err != nil {
			return nil, fmt.Errorf("guard: %w", err)
		}
		o.files = append(o.files, filePart{id: n.id, path: f.Path})
		return o, nil
	}
	b, err := r.byNumber(f.Device)
	if err != nil {
		return nil, fmt.Errorf("guard: %s: sysfs has no block device %s (any more): %w", f.Path, f.Device, err)
	}
	o.addBlock(b, "", loops)
	return o, nil
}

// addBlock adds a device with its relatives, and goes down through loop devices.
func (o *overlap) addBlock(b block, how string, loops []loop) {
	if !o.add(b, how) {
		return
	}
	relation := func(near string) string {
		if how != "" {
			return how
		}
		return near
	}
	for _, p := range b.partitions() {
		o.add(p, relation(isPartition))
	}
	whole := b
	if b.partition() {
		if w, err := blockAt(b.diskDir); err == nil {
			whole = w
			o.add(w, relation(isWhole))
		}
	}
	for _, l := range loops {
		if l.name != whole.name {
			continue
		}
		o.loops = append(o.loops, l.name)
		if l.block != nil {
			o.addBlock(*l.block, isBeneath, loops)
		} else {
			o.files = append(o.files, filePart{id: l.id, path: l.path, how: isBeneath})
		}
	}
}

// add is false when the device is there already.
func (o *overlap) add(b block, how string) bool {
	if slices.ContainsFunc(o.blocks, func(p part) bool { return p.number == b.number }) {
		return false
	}
	o.blocks = append(o.blocks, part{b, how})
	return true
}

// loop is an attached loop device and what it stands on.
type loop struct {
	name  string
	path  string // as the kernel prints it
	id    fileID // of a backing file; zero when it cannot be told
	block *block // of a backing device
}

// loops lists the attached loop devices. The kernel's own word on the backing file (LOOP_GET_STATUS64)
// goes before the path in sysfs: the path may be of another mount namespace, or the file deleted
// ("… (deleted)") and another one made in its place. It needs the right to open the loop device.
func (r Roots) loops() []loop {
	list, _ := filepath.Glob(filepath.Join(r.Sys, "class/block/loop*/loop/backing_file"))
	var out []loop
	for _, attr := range list {
		// Only the newline goes: a file name may end in blanks.
		text, err := os.ReadFile(attr)
		if err != nil || len(text) == 0 {
			continue
		}
		l := loop{
			name: filepath.Base(filepath.Dir(filepath.Dir(attr))),
			path: strings.TrimSuffix(string(text), "\n"),
		}
		number, known := "", false
		l.id, number, known = loopStatus(r.nodePath(l.name))
		if !known {
			if n, err := r.stat(r.local(l.path)); err == nil {
				l.id, number = n.id, n.number
			}
		}
		if number != "" {
			if b, err := r.byNumber(number); err == nil {
				l.block = &b
			}
		}
		out = append(out, l)
	}
	return out
}

// loopStatus asks a loop device for the file system, inode and, for a device, number of its backing.
func loopStatus(path string) (id fileID, number string, ok bool) {
	f, err := os.Open(path)
	if err != nil {
		return fileID{}, "", false
	}
	defer f.Close()
	info, err := unix.IoctlLoopGetStatus64(int(f.Fd()))
	if err != nil {
		return fileID{}, "", false
	}
	if info.Rdevice != 0 {
		number = numberOf(info.Rdevice)
	}
	return fileID{info.Device, info.Inode}, number, true
}
