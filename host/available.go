package host

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// AvailableMemory is how many bytes this process could still take without driving the machine, or its
// container, into swap or the kernel's killer: MemAvailable (proc_meminfo(5)), and for each control
// group that bounds it the limit less what is used. 0 means not known.
func (r Roots) AvailableMemory() int64 {
	available := kilobytes(field(text(r.proc("meminfo")), "MemAvailable"))
	tighten := func(limit, used string) {
		l, err1 := strconv.ParseInt(limit, 10, 64)
		u, err2 := strconv.ParseInt(used, 10, 64)
		if err1 != nil || err2 != nil || l <= 0 {
			return // no limit, "max"
		}
		if left := max(l-u, 1); available == 0 || left < available {
			available = left
		}
	}
	for line := range strings.Lines(text(r.proc("self/cgroup"))) {
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		for dir := filepath.Clean("/" + part[2]); ; dir = filepath.Dir(dir) {
			switch {
			case part[0] == "0" && part[1] == "":
				g := r.sys("fs/cgroup", dir)
				tighten(text(filepath.Join(g, "memory.max")), text(filepath.Join(g, "memory.current")))
			case slices.Contains(strings.Split(part[1], ","), "memory"):
				g := r.sys("fs/cgroup", part[1], dir)
				tighten(text(filepath.Join(g, "memory.limit_in_bytes")), text(filepath.Join(g, "memory.usage_in_bytes")))
			}
			if dir == "/" {
				break
			}
		}
	}
	return available
}

// kilobytes reads a size as meminfo writes it, "123 kB", into bytes; 0 when it is none.
func kilobytes(s string) int64 {
	number, _, _ := strings.Cut(s, " ")
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}
