package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DiskStats are the kernel's own counters of a block device: the second opinion on what we
// count ourselves. I/Os are requests after merging, bytes come from 512-byte sectors, times are
// milliseconds.
type DiskStats struct {
	ReadIOs       uint64 `json:"read_ios"`
	ReadMerges    uint64 `json:"read_merges"`
	ReadBytes     uint64 `json:"read_bytes"`
	ReadTimeMS    uint64 `json:"read_time_ms"` // summed over the I/Os
	WriteIOs      uint64 `json:"write_ios"`
	WriteMerges   uint64 `json:"write_merges"`
	WriteBytes    uint64 `json:"write_bytes"`
	WriteTimeMS   uint64 `json:"write_time_ms"`
	DiscardIOs    uint64 `json:"discard_ios"`
	DiscardBytes  uint64 `json:"discard_bytes"`
	FlushIOs      uint64 `json:"flush_ios"`
	InFlight      uint64 `json:"in_flight"`        // at the moment of reading, also in a difference
	IOTicksMS     uint64 `json:"io_ticks_ms"`      // with at least one I/O in flight
	TimeInQueueMS uint64 `json:"time_in_queue_ms"` // in flight × time
}

// DiskStats reads the counters of a disk or a partition by its kernel name ("sda", "nvme0n1p1",
// or with a slash, "cciss/c0d0").
func (r Roots) DiskStats(name string) (DiskStats, error) {
	paths, err := r.diskPaths(name)
	if err != nil {
		return DiskStats{}, err
	}
	path := paths[0]
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		path = paths[1]
		b, err = os.ReadFile(path)
	}
	if err != nil {
		return DiskStats{}, err
	}
	d, err := parseDiskStats(b)
	if err != nil {
		return DiskStats{}, fmt.Errorf("%s: %w", path, err)
	}
	return d, nil
}

// Slaves are the kernel names of the disks that one is made of (dm, md), in order; a partition among them
// stands for its whole disk. Empty: it is made of none, or the kernel does not say.
func (r Roots) Slaves(name string) (list []string) {
	name = strings.ReplaceAll(name, "/", "!")
	entries, err := os.ReadDir(r.sys("class/block", name, "slaves"))
	if err != nil || name == "" || name == "." || name == ".." {
		return nil
	}
	for _, e := range entries {
		below := e.Name()
		if _, err := os.Stat(r.sys("class/block", below, "partition")); err == nil {
			if whole, err := filepath.EvalSymlinks(r.sys("class/block", below)); err == nil {
				below = filepath.Base(filepath.Dir(whole))
			}
		}
		if below = strings.ReplaceAll(below, "!", "/"); !slices.Contains(list, below) {
			list = append(list, below)
		}
	}
	return list
}

// wholeDisks are the directories of a disk in sysfs, or of that which a partition is of.
func (r Roots) wholeDisks(name string) (list []string) {
	paths, err := r.diskPaths(name)
	if err != nil {
		return nil
	}
	for _, stat := range paths {
		disk, err := filepath.EvalSymlinks(filepath.Dir(stat))
		if err != nil {
			continue
		}
		if exists(filepath.Join(disk, "partition")) {
			disk = filepath.Dir(disk)
		}
		list = append(list, disk)
	}
	return list
}

// diskPaths are where a disk's counters may be, the likelier place first.
func (r Roots) diskPaths(name string) ([]string, error) {
	name = strings.ReplaceAll(name, "/", "!") // as sysfs spells it
	if name == "" || name == "." || name == ".." {
		return nil, fmt.Errorf("disk name %q: %w", name, fs.ErrInvalid)
	}
	// class/block has partitions too; block alone is all that some containers show.
	return []string{r.sys("class/block", name, "stat"), r.sys("block", name, "stat")}, nil
}

// parseDiskStats reads a stat file, Documentation/block/stat.rst: 11 columns, 15 with discards
// (Linux 4.18), 17 with flushes (5.5).
func parseDiskStats(b []byte) (DiskStats, error) {
	var v [17]uint64
	n := 0
	for ; n < len(v); n++ {
		var w []byte
		if w, b = word(b); len(w) == 0 {
			break
		}
		// Linux 4.x could show an in-flight count of -1 for a moment.
		if n == 8 && w[0] == '-' {
			continue
		}
		var err error
		if v[n], err = number(w); err != nil {
			return DiskStats{}, err
		}
	}
	if n < 11 {
		return DiskStats{}, fmt.Errorf("%w: %d columns", ErrFormat, n)
	}
	const sector = 512 // whatever the device's block size
	return DiskStats{
		ReadIOs: v[0], ReadMerges: v[1], ReadBytes: v[2] * sector, ReadTimeMS: v[3],
		WriteIOs: v[4], WriteMerges: v[5], WriteBytes: v[6] * sector, WriteTimeMS: v[7],
		InFlight: v[8], IOTicksMS: v[9], TimeInQueueMS: v[10],
		DiscardIOs: v[11], DiscardBytes: v[13] * sector, FlushIOs: v[15],
	}, nil
}

// Since returns what happened between b and the later a. If a counter of I/Os went back, the
// device was replaced in between, and all differences are 0.
func (a DiskStats) Since(b DiskStats) DiskStats {
	if a.ReadIOs < b.ReadIOs || a.WriteIOs < b.WriteIOs || a.DiscardIOs < b.DiscardIOs || a.FlushIOs < b.FlushIOs {
		return DiskStats{InFlight: a.InFlight}
	}
	return DiskStats{
		ReadIOs: a.ReadIOs - b.ReadIOs, ReadMerges: sub(a.ReadMerges, b.ReadMerges),
		ReadBytes: sub(a.ReadBytes, b.ReadBytes), ReadTimeMS: ticks(a.ReadTimeMS, b.ReadTimeMS),
		WriteIOs: a.WriteIOs - b.WriteIOs, WriteMerges: sub(a.WriteMerges, b.WriteMerges),
		WriteBytes: sub(a.WriteBytes, b.WriteBytes), WriteTimeMS: ticks(a.WriteTimeMS, b.WriteTimeMS),
		DiscardIOs: a.DiscardIOs - b.DiscardIOs, DiscardBytes: sub(a.DiscardBytes, b.DiscardBytes),
		FlushIOs: a.FlushIOs - b.FlushIOs, InFlight: a.InFlight,
		IOTicksMS: ticks(a.IOTicksMS, b.IOTicksMS), TimeInQueueMS: ticks(a.TimeInQueueMS, b.TimeInQueueMS),
	}
}

// ticks returns a-b for the columns that the kernel prints as 32-bit milliseconds and that wrap
// after 49.7 days of busy time, which at queue depth 256 is under five hours: over a long span,
// add up the differences of short ones.
func ticks(a, b uint64) uint64 {
	if a < b && b <= 1<<32-1 {
		return a + 1<<32 - b
	}
	return sub(a, b)
}
