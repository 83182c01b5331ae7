package device

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sort"
	"strings"

	"golang.org/x/sys/unix"
)

// Inspect reads the facts of one block device or regular file. Symlinks are followed. Anything else
// is an error that names what it is: a directory, a FIFO, a character device. A missing path wraps
// fs.ErrNotExist, one that may not be looked at fs.ErrPermission.
func (r Roots) Inspect(path string) (*Facts, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if err == nil {
		resolved, err = filepath.Abs(resolved)
	}
	if err != nil {
		return nil, lookupError(path, err)
	}
	n, err := r.stat(resolved)
	if err != nil {
		return nil, lookupError(path, err)
	}
	switch {
	case n.block():
		b, err := r.byNumber(n.number)
		if err != nil {
			return nil, fmt.Errorf("%s: sysfs at %s has no block device %s: mount sysfs there, or remove a node left of a device that is gone: %w",
				path, r.Sys, n.number, err)
		}
		return r.blockFacts(b, resolved), nil
	case n.regular():
		if rest, ok := r.underDev(resolved); ok {
			return nil, fmt.Errorf("%s: a regular file in the device directory, not a device: most likely left by a program that wrote to a missing %s; remove it", path, rest)
		}
		return r.fileFacts(resolved, n), nil
	}
	return nil, notATarget(path, n.mode)
}

func lookupError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: no such device or file: %w", path, fs.ErrNotExist)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: a directory on the way may not be searched by this user; run as root: %w", path, fs.ErrPermission)
	}
	return fmt.Errorf("%s: %w", path, err)
}

func notATarget(path string, mode uint32) error {
	switch mode {
	case unix.S_IFDIR:
		return fmt.Errorf("%s: a directory is not a target; name a block device, or a file in it", path)
	case unix.S_IFCHR:
		// An NVMe controller's own node is one letter group away from its namespaces'.
		if base := filepath.Base(path); strings.HasPrefix(base, "nvme") {
			return fmt.Errorf("%s: the controller's character device is not a target; name a namespace of it, such as %sn1", path, path)
		}
		return fmt.Errorf("%s: a character device is not a target; name a block device or a file", path)
	case unix.S_IFIFO:
		return fmt.Errorf("%s: a FIFO is not a target; name a block device or a file", path)
	case unix.S_IFSOCK:
		return fmt.Errorf("%s: a socket is not a target; name a block device or a file", path)
	}
	return fmt.Errorf("%s: neither a block device nor a regular file", path)
}

// List is every block device under Sys/class/block that could be a target, partitions included, in
// natural order (sda2 before sda10). What has no size is left out: unattached loops, empty zram and
// drives without a medium cannot be tested. So are hidden devices (the paths below an NVMe
// multipath head), which have no node.
func (r Roots) List() ([]*Facts, error) {
	dir := filepath.Join(r.Sys, "class/block")
	var out []*Facts
	for _, name := range entries(dir) {
		b, err := r.byName(name)
		if err != nil || readInt(b.dir, "size") == 0 || readInt(b.diskDir, "hidden") == 1 {
			continue
		}
		out = append(out, r.blockFacts(b, r.nodePath(name)))
	}
	if out == nil && !exists(dir) {
		return nil, fmt.Errorf("%s: no block devices to list; is sysfs mounted?: %w", dir, fs.ErrNotExist)
	}
	sort.SliceStable(out, func(i, j int) bool { return naturalLess(out[i].Name, out[j].Name) })
	return out, nil
}

// naturalLess orders names with their runs of digits as numbers.
func naturalLess(a, b string) bool {
	digits := func(s string) (n int) {
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		return n
	}
	for a != "" && b != "" {
		i, j := digits(a), digits(b)
		if i > 0 && j > 0 {
			x, y := strings.TrimLeft(a[:i], "0"), strings.TrimLeft(b[:j], "0")
			if len(x) != len(y) {
				return len(x) < len(y)
			}
			if x != y {
				return x < y
			}
			a, b = a[i:], b[j:]
			continue
		}
		if a[0] != b[0] {
			return a[0] < b[0]
		}
		a, b = a[1:], b[1:]
	}
	return len(a) < len(b)
}

func (r Roots) blockFacts(b block, path string) *Facts {
	f := &Facts{
		Path:   path,
		Kind:   kindOf(b),
		Name:   b.name,
		Device: b.number,
		// The kernel counts a device in units of 512 bytes whatever its logical block is
		// (Documentation/ABI/stable/sysfs-block, "size").
		SizeBytes:   readInt(b.dir, "size") * 512,
		ReadOnly:    readInt(b.dir, "ro") == 1,
		BackingFile: readText(b.dir, "loop/backing_file"),
		MapperName:  readText(b.dir, "dm/name"),
		MapperUUID:  readText(b.dir, "dm/uuid"),
	}
	if b.partition() {
		f.Disk = b.disk
	}
	f.readQueue(b.diskDir)
	r.identify(f, b)
	r.readController(f, b)
	f.readDirectIO(path, unix.S_IFBLK)
	return f
}

func kindOf(b block) string {
	switch {
	case b.partition():
		return "partition"
	case strings.HasPrefix(b.name, "loop"):
		return "loop"
	case strings.HasPrefix(b.name, "zram"):
		return "zram"
	case strings.HasPrefix(b.name, "ram"):
		return "ram"
	case exists(filepath.Join(b.dir, "dm")):
		return "dm"
	case exists(filepath.Join(b.dir, "md")):
		return "md"
	case strings.HasPrefix(b.name, "bcache"):
		return "bcache"
	case readText(b.dir, "device/type") == "5": // SCSI peripheral type: CD or DVD
		return "cdrom"
	}
	return "disk"
}

// readQueue takes the limits from a whole disk's directory.
func (f *Facts) readQueue(diskDir string) {
	q := filepath.Join(diskDir, "queue")
	number := func(attr string) int { return int(readInt(q, attr)) }
	f.LogicalBlockBytes = number("logical_block_size")
	f.PhysicalBlockBytes = number("physical_block_size")
	f.Rotational = readFlag(q, "rotational")
	f.Scheduler = readText(q, "scheduler")
	// "none [mq-deadline] kyber": the one in brackets is active. Stacked devices have only "none".
	if _, after, ok := strings.Cut(f.Scheduler, "["); ok {
		f.Scheduler, _, _ = strings.Cut(after, "]")
	}
	f.Queue = Queue{
		NrRequests:          number("nr_requests"),
		MaxSectorsKB:        number("max_sectors_kb"),
		MaxHWSectorsKB:      number("max_hw_sectors_kb"),
		MaxSegments:         number("max_segments"),
		HWQueues:            len(entries(filepath.Join(diskDir, "mq"))),
		DMAAlignment:        number("dma_alignment"),
		MinIO:               number("minimum_io_size"),
		OptIO:               number("optimal_io_size"),
		DiscardMaxBytes:     readInt(q, "discard_max_bytes"),
		DiscardGranularity:  readInt(q, "discard_granularity"),
		WriteZeroesMaxBytes: readInt(q, "write_zeroes_max_bytes"),
		WriteCache:          readText(q, "write_cache"),
		FUA:                 readFlag(q, "fua"),
		IOPoll:              readFlag(q, "io_poll"),
		Zoned:               readText(q, "zoned"),
	}
}

// readDirectIO asks statx for the O_DIRECT alignments, and falls back on the logical block, which is
// what every kernel before 6.0 asked of both memory and offset. kind is the file type that the path
// must have: a stand-in node of a fake tree answers for itself, not for the device.
func (f *Facts) readDirectIO(path string, kind uint32) {
	f.DIOMemAlign, f.DIOOffsetAlign = f.LogicalBlockBytes, f.LogicalBlockBytes
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_TYPE|unix.STATX_DIOALIGN, &st); err != nil ||
		uint32(st.Mode)&unix.S_IFMT != kind || st.Mask&unix.STATX_DIOALIGN == 0 {
		return
	}
	f.DirectIO = new(st.Dio_offset_align != 0)
	if *f.DirectIO {
		f.DIOMemAlign, f.DIOOffsetAlign = int(st.Dio_mem_align), int(st.Dio_offset_align)
	}
}
