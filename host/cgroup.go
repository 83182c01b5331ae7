package host

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// cgroupCPULimit returns the tightest CPU limit of the groups this process is in, as a number of
// CPUs (1.5 is one and a half), or 0 for none.
func (r Roots) cgroupCPULimit() float64 {
	limit := 0.0
	tighten := func(cpus float64) {
		if cpus > 0 && (limit == 0 || cpus < limit) {
			limit = cpus
		}
	}
	r.eachCgroup("cpu", func(group string, v2 bool) {
		if v2 {
			tighten(cpuMax(text(filepath.Join(group, "cpu.max"))))
			return
		}
		tighten(ratio(text(filepath.Join(group, "cpu.cfs_quota_us")), text(filepath.Join(group, "cpu.cfs_period_us"))))
	})
	return limit
}

// eachCgroup visits the folders of the control groups that bound this process's use of a controller, of
// the unified hierarchy (v2) and of the controller's own (v1). A group is bound by all its parents, so
// every level up to the root counts. In a container the path of /proc/self/cgroup may be the host's
// and not exist under the mount; walking up then ends at the mount itself, the container's own.
func (r Roots) eachCgroup(controller string, visit func(group string, v2 bool)) {
	for line := range strings.Lines(text(r.proc("self/cgroup"))) {
		// hierarchy:controllers:path, cgroups(7)
		part := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(part) != 3 {
			continue
		}
		for dir := filepath.Clean("/" + part[2]); ; dir = filepath.Dir(dir) {
			switch {
			case part[0] == "0" && part[1] == "":
				visit(r.sys("fs/cgroup", dir), true)
			case slices.Contains(strings.Split(part[1], ","), controller):
				for _, mount := range []string{part[1], controller} { // "cpu,cpuacct", with a link "cpu"
					visit(r.sys("fs/cgroup", mount, dir), false)
				}
			}
			if dir == "/" {
				break
			}
		}
	}
}

// cpuMax reads a v2 limit: "150000 100000" is 1.5, "max 100000" is none.
func cpuMax(s string) float64 {
	quota, period, _ := strings.Cut(s, " ")
	return ratio(quota, period)
}

// ratio returns quota ÷ period, both in microseconds; 0 when either is no positive number, as a
// quota of -1 or "max" is.
func ratio(quota, period string) float64 {
	q, err1 := strconv.ParseInt(quota, 10, 64)
	p, err2 := strconv.ParseInt(period, 10, 64)
	if err1 != nil || err2 != nil || q <= 0 || p <= 0 {
		return 0
	}
	return float64(q) / float64(p)
}
