package host

import (
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// Facts describes the machine or guest. Empty and 0 mean "not known".
type Facts struct {
	Hostname   string `json:"hostname"`
	OS         string `json:"os"`     // PRETTY_NAME of os-release
	Kernel     string `json:"kernel"` // release, as uname -r
	Arch       string `json:"arch"`   // GOARCH of this binary
	Hypervisor string `json:"hypervisor"`
	Product    string `json:"product,omitempty"`   // DMI vendor and product
	Container  string `json:"container,omitempty"` // runtime, when in a container

	CPUModel       string  `json:"cpu_model"`
	CPUs           int     `json:"cpus"`                       // online in the machine or guest
	AllowedCPUs    int     `json:"allowed_cpus"`               // by this process's affinity
	CgroupCPULimit float64 `json:"cgroup_cpu_limit,omitempty"` // CPUs' worth of time; 0 is unlimited
	SMT            bool    `json:"smt"`                        // CPUs are hyper-threads that share cores
	Governor       string  `json:"governor,omitempty"`         // frequency governors in use
	NUMANodes      int     `json:"numa_nodes"`

	MemoryBytes  int64  `json:"memory_bytes"`
	MemlockBytes int64  `json:"memlock_bytes"` // soft RLIMIT_MEMLOCK, -1 is unlimited: bounds io_uring's registered buffers
	THP          string `json:"thp,omitempty"` // transparent huge pages: always, madvise or never
}

// Read collects the facts. AllowedCPUs is the main thread's affinity, so read before pinning.
func (r Roots) Read() Facts {
	cpuinfo := text(r.proc("cpuinfo"))
	f := Facts{
		Hostname:       text(r.proc("sys/kernel/hostname")),
		OS:             r.osName(),
		Kernel:         text(r.proc("sys/kernel/osrelease")),
		Arch:           runtime.GOARCH,
		Hypervisor:     r.hypervisor(cpuinfo),
		Product:        r.product(),
		Container:      r.container(),
		CPUModel:       cpuModel(cpuinfo),
		CPUs:           cpuListLen(text(r.sys("devices/system/cpu/online"))),
		AllowedCPUs:    cpuListLen(field(text(r.proc("self/status")), "Cpus_allowed_list")),
		CgroupCPULimit: r.cgroupCPULimit(),
		SMT:            text(r.sys("devices/system/cpu/smt/active")) == "1",
		Governor:       r.governor(),
		NUMANodes:      cpuListLen(text(r.sys("devices/system/node/online"))),
		MemoryBytes:    r.memory(),
		MemlockBytes:   r.memlock(),
		THP:            bracketed(text(r.sys("kernel/mm/transparent_hugepage/enabled"))),
	}
	if f.CPUs == 0 {
		f.CPUs = countFields(cpuinfo, "processor")
	}
	if f.AllowedCPUs == 0 {
		f.AllowedCPUs = f.CPUs
	}
	return f
}

// field returns the value of the first "key: value" line; "" when there is none.
func field(lines, key string) string {
	for line := range strings.Lines(lines) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

func countFields(lines, key string) int {
	n := 0
	for line := range strings.Lines(lines) {
		if k, _, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
			n++
		}
	}
	return n
}

// bracketed returns the chosen word of a sysfs choice such as "always [madvise] never".
func bracketed(s string) string {
	_, s, _ = strings.Cut(s, "[")
	s, _, ok := strings.Cut(s, "]")
	if !ok {
		return ""
	}
	return s
}

func (r Roots) osName() string {
	// os-release(5): /etc first, then /usr/lib.
	for _, path := range []string{"etc/os-release", "usr/lib/os-release"} {
		for line := range strings.Lines(text(r.root(path))) {
			if v, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok {
				return strings.Trim(v, `"'`)
			}
		}
	}
	return ""
}

func cpuModel(cpuinfo string) string {
	for _, key := range []string{"model name", "Hardware", "cpu model", "cpu"} {
		if v := field(cpuinfo, key); v != "" {
			return v
		}
	}
	// arm64 kernels name no model, only the numbers of the MIDR register.
	if impl := field(cpuinfo, "CPU implementer"); impl != "" {
		return "implementer " + impl + " part " + field(cpuinfo, "CPU part")
	}
	return ""
}

// governor returns the cpufreq governors of all CPUs, sorted and without repeats: usually one.
func (r Roots) governor() string {
	paths, _ := filepath.Glob(r.sys("devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"))
	var names []string
	for _, p := range paths {
		if g := text(p); g != "" {
			names = append(names, g)
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ",")
}

func (r Roots) memory() int64 {
	kib, _ := strconv.ParseInt(strings.TrimSuffix(field(text(r.proc("meminfo")), "MemTotal"), " kB"), 10, 64)
	if kib < 0 || kib > 1<<50 {
		return 0
	}
	return kib << 10
}

// memlock reads the soft limit from the table that /proc/self/limits is:
// "Max locked memory         8388608              8388608              bytes".
func (r Roots) memlock() int64 {
	for line := range strings.Lines(text(r.proc("self/limits"))) {
		rest, ok := strings.CutPrefix(line, "Max locked memory")
		if !ok {
			continue
		}
		f := strings.Fields(rest)
		if len(f) == 0 {
			return 0
		}
		if f[0] == "unlimited" {
			return -1
		}
		n, _ := strconv.ParseInt(f[0], 10, 64)
		return max(n, 0)
	}
	return 0
}
