// Package host tells what machine a result was made on: hardware and guest facts, what reading
// the clock costs, and the counters (CPU, disk, network, own process) whose differences go
// beside every interval.
//
// The commands read the facts once for the result document; the runner samples the counters
// between intervals; the verdict's warnings about CPU, steal time and clock build on both. The
// package never changes a setting, never opens a disk (of NVMe drives it asks the controller for its
// health), and never fails a run: a fact that cannot be read is left at its zero value. Targets and their queues are package device's.
package host

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Roots says where the pseudo file systems are. The zero value is the running machine; tests
// point it at a tree of their own.
type Roots struct {
	Sys  string // default /sys
	Proc string // default /proc
	Root string // default /: for etc/os-release, the marks that container runtimes leave, and dev/nvme*
	// NVMeLog reads the health log of the NVMe controller at a path; nil asks the drive.
	NVMeLog func(path string, log []byte) error
}

func (r Roots) sys(path ...string) string  { return under(r.Sys, "/sys", path) }
func (r Roots) proc(path ...string) string { return under(r.Proc, "/proc", path) }
func (r Roots) root(path ...string) string { return under(r.Root, "/", path) }

func under(base, fallback string, path []string) string {
	if base == "" {
		base = fallback
	}
	return filepath.Join(append([]string{base}, path...)...)
}

// text returns a file's content without surrounding white space (and the NUL that device-tree
// files end with); "" when it cannot be read.
func text(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.Trim(string(b), " \t\r\n\x00")
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// cpuListLen returns how many CPUs a kernel list such as "0-3,8,10-11" names; 0 when it is
// malformed, so that a caller can fall back.
func cpuListLen(list string) int {
	n := 0
	for part := range strings.SplitSeq(strings.TrimSpace(list), ",") {
		first, last, isRange := strings.Cut(part, "-")
		a, err := strconv.ParseUint(first, 10, 16)
		if err != nil {
			return 0
		}
		b := a
		if isRange {
			if b, err = strconv.ParseUint(last, 10, 16); err != nil || b < a {
				return 0
			}
		}
		n += int(b-a) + 1
	}
	return n
}
