package host

import (
	"path/filepath"
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
	r.eachCgroup("memory", func(group string, v2 bool) {
		limit, used := "memory.limit_in_bytes", "memory.usage_in_bytes"
		if v2 {
			limit, used = "memory.max", "memory.current"
		}
		tighten(text(filepath.Join(group, limit)), text(filepath.Join(group, used)))
	})
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
