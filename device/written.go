package device

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// maxSegments bounds the walk over a fragmented file; what lies behind is judged by what was seen.
const maxSegments = 200_000

// Unwritten is the share, 0 to 1, of a range of a target that was never written, or was discarded:
// reads there move no data, and come back faster than any device. Files and loop devices can tell
// (SEEK_HOLE, Linux 3.1: holes, and with most file systems also preallocated blocks); of all others
// nothing is known, and known is false.
func (r Roots) Unwritten(f *Facts, start, length int64) (share float64, known bool) {
	path := f.Path
	if f.Kind != KindFile {
		if f.BackingFile == "" || f.Name == "" {
			return 0, false
		}
		offset, err := os.ReadFile(filepath.Join(r.Sys, "class/block", f.Name, "loop/offset"))
		if err != nil {
			return 0, false
		}
		base, err := strconv.ParseInt(strings.TrimSpace(string(offset)), 10, 64)
		if err != nil {
			return 0, false
		}
		path, start = f.BackingFile, start+base
	}
	file, err := os.Open(path)
	if err != nil {
		return 0, false
	}
	defer file.Close()
	var st unix.Stat_t
	if unix.Fstat(int(file.Fd()), &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return 0, false // a loop on a device
	}
	return holes(int(file.Fd()), start, start+length)
}

// holes walks the data segments of [start, end).
func holes(fd int, start, end int64) (share float64, known bool) {
	var hole int64
	at := start
	for range maxSegments {
		data, err := unix.Seek(fd, at, unix.SEEK_DATA)
		if errors.Is(err, unix.ENXIO) {
			data = end // no data from here on
		} else if err != nil {
			return 0, false
		}
		data = min(data, end)
		hole += data - at
		if at = data; at >= end {
			break
		}
		next, err := unix.Seek(fd, at, unix.SEEK_HOLE)
		if err != nil {
			return 0, false
		}
		if at = min(next, end); at >= end {
			break
		}
	}
	if at == start {
		return 0, true
	}
	return float64(hole) / float64(at-start), true
}
