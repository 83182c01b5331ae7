package host

import (
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree makes roots of a directory with the given files, whose names begin with sys/, proc/ or
// root/.
func tree(t testing.TB, files ...map[string]string) Roots {
	t.Helper()
	dir := t.TempDir()
	for _, m := range files {
		for name, content := range m {
			path := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return Roots{Sys: filepath.Join(dir, "sys"), Proc: filepath.Join(dir, "proc"), Root: filepath.Join(dir, "root")}
}

func cpuinfo(model, flags string) string {
	return "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: " + model + "\nflags\t\t: fpu vme " + flags + " sse\n\n" +
		"processor\t: 1\nvendor_id\t: GenuineIntel\nmodel name\t: " + model + "\nflags\t\t: fpu vme " + flags + " sse\n\n"
}

func dmi(vendor, product string) map[string]string {
	return map[string]string{"sys/class/dmi/id/sys_vendor": vendor + "\n", "sys/class/dmi/id/product_name": product + "\n"}
}

const clocks = "sys/devices/system/clocksource/clocksource0/available_clocksource"

func TestHypervisor(t *testing.T) {
	guest := map[string]string{"proc/cpuinfo": cpuinfo("X", "hypervisor")}
	metal := map[string]string{"proc/cpuinfo": cpuinfo("X", "vmx")}
	arm := map[string]string{"proc/cpuinfo": "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"}
	for _, c := range []struct {
		name, hypervisor, product string
		files                     []map[string]string
	}{
		{"vmware", "vmware", "VMware, Inc. VMware7,1", []map[string]string{guest, dmi("VMware, Inc.", "VMware7,1")}},
		{"vmware, old name", "vmware", "VMware, Inc. VMware Virtual Platform", []map[string]string{guest, dmi("VMware, Inc.", "VMware Virtual Platform")}},
		{"kvm by qemu", "kvm", "QEMU Standard PC (Q35 + ICH9, 2009)", []map[string]string{guest, dmi("QEMU", "Standard PC (Q35 + ICH9, 2009)"), {clocks: "kvm-clock tsc acpi_pm \n"}}},
		{"qemu without kvm", "qemu", "QEMU Standard PC (Q35 + ICH9, 2009)", []map[string]string{guest, dmi("QEMU", "Standard PC (Q35 + ICH9, 2009)"), {clocks: "hpet acpi_pm \n"}}},
		{"nutanix", "kvm", "Nutanix AHV", []map[string]string{guest, dmi("Nutanix", "AHV")}},
		{"red hat", "kvm", "Red Hat KVM", []map[string]string{guest, dmi("Red Hat", "KVM")}},
		{"ec2 nitro", "kvm", "Amazon EC2 m5.large", []map[string]string{guest, dmi("Amazon EC2", "m5.large"), {clocks: "tsc kvm-clock acpi_pm\n"}}},
		{"ec2 metal", "none", "Amazon EC2 c5.metal", []map[string]string{metal, dmi("Amazon EC2", "c5.metal"), {clocks: "tsc hpet acpi_pm\n"}}},
		{"google", "kvm", "Google Compute Engine", []map[string]string{guest, dmi("Google", "Google Compute Engine")}},
		{"firecracker", "kvm", "", []map[string]string{guest, {clocks: "tsc kvm-clock\n"}}},
		{"hyperv", "hyperv", "Microsoft Corporation Virtual Machine", []map[string]string{guest, dmi("Microsoft Corporation", "Virtual Machine")}},
		{"hyperv by clock", "hyperv", "", []map[string]string{guest, {clocks: "hyperv_clocksource_tsc_page\n"}}},
		{"surface with wsl's flag missing", "none", "Microsoft Corporation Surface Pro", []map[string]string{metal, dmi("Microsoft Corporation", "Surface Pro")}},
		{"xen hvm", "xen", "Xen HVM domU", []map[string]string{guest, dmi("Xen", "HVM domU")}},
		{"xen dom0", "xen", "Dell Inc. PowerEdge R740", []map[string]string{metal, dmi("Dell Inc.", "PowerEdge R740"), {"sys/hypervisor/type": "xen\n"}}},
		{"virtualbox", "virtualbox", "innotek GmbH VirtualBox", []map[string]string{guest, dmi("innotek GmbH", "VirtualBox")}},
		{"unnamed", "unknown", "", []map[string]string{guest}},
		{"bare metal", "none", "Dell Inc. PowerEdge R750", []map[string]string{metal, dmi("Dell Inc.", "PowerEdge R750"), {clocks: "tsc hpet acpi_pm \n"}}},
		{"arm bare metal", "none", "Ampere Altra", []map[string]string{arm, dmi("Ampere", "Altra")}},
		{"arm kvm by acpi", "kvm", "QEMU KVM Virtual Machine", []map[string]string{arm, dmi("QEMU", "KVM Virtual Machine")}},
		{"arm kvm by tree", "kvm", "", []map[string]string{arm, {"proc/device-tree/hypervisor/compatible": "linux,kvm\x00"}}},
		{"nothing readable", "none", "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := tree(t, c.files...).Read()
			if f.Hypervisor != c.hypervisor || f.Product != c.product {
				t.Errorf("hypervisor %q product %q, want %q and %q", f.Hypervisor, f.Product, c.hypervisor, c.product)
			}
		})
	}
}

var guestFiles = map[string]string{
	"proc/cpuinfo":                   cpuinfo("Intel(R) Xeon(R) Gold 6338", "hypervisor"),
	"proc/sys/kernel/hostname":       "bench-01\n",
	"proc/sys/kernel/osrelease":      "6.1.0-28-amd64\n",
	"proc/meminfo":                   "MemTotal:        4030172 kB\nMemFree:          100 kB\n",
	"proc/self/status":               "Name:\tx\nCpus_allowed:\t7\nCpus_allowed_list:\t0-2\n",
	"proc/self/cgroup":               "0::/\n",
	"proc/self/limits":               "Limit                     Soft Limit           Hard Limit           Units     \nMax locked memory         8388608              unlimited            bytes     \n",
	"proc/1/cgroup":                  "0::/init.scope\n",
	"root/etc/os-release":            "NAME=\"Debian\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n",
	"sys/devices/system/cpu/online":  "0-3\n",
	"sys/devices/system/node/online": "0\n",
	"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor":  "performance\n",
	"sys/devices/system/cpu/cpu1/cpufreq/scaling_governor":  "performance\n",
	"sys/devices/system/cpu/cpu10/cpufreq/scaling_governor": "powersave\n",
	"sys/devices/system/cpu/smt/active":                     "1\n",
	"sys/kernel/mm/transparent_hugepage/enabled":            "always [madvise] never\n",
	"sys/class/dmi/id/sys_vendor":                           "VMware, Inc.\n",
	"sys/class/dmi/id/product_name":                         "VMware20,1\n",
}

func TestReadAll(t *testing.T) {
	want := Facts{
		Hostname: "bench-01", OS: "Debian GNU/Linux 12 (bookworm)", Kernel: "6.1.0-28-amd64", Arch: runtime.GOARCH,
		Hypervisor: "vmware", Product: "VMware, Inc. VMware20,1",
		CPUModel: "Intel(R) Xeon(R) Gold 6338", CPUs: 4, AllowedCPUs: 3, SMT: true, Governor: "performance,powersave", NUMANodes: 1,
		MemoryBytes: 4030172 << 10, MemlockBytes: 8388608, THP: "madvise",
	}
	if d := cmp.Diff(want, tree(t, guestFiles).Read()); d != "" {
		t.Error(d)
	}
}

func TestReadNothing(t *testing.T) {
	if d := cmp.Diff(Facts{Arch: runtime.GOARCH, Hypervisor: "none"}, tree(t).Read()); d != "" {
		t.Error(d)
	}
}

// TestReadGarbage puts each of several kinds of rubbish into every file at once.
func TestReadGarbage(t *testing.T) {
	for _, junk := range []string{"", "\n", ":", "\x00", "-1", "99999999999999999999", "MemTotal: -5 kB", "[", "a:b:c", "cpu", "0-", "3-1"} {
		files := maps.Clone(guestFiles)
		for name := range files {
			files[name] = junk
		}
		files["sys/fs/cgroup/cpu.max"] = junk
		f := tree(t, files).Read()
		if f.MemoryBytes < 0 || f.CgroupCPULimit < 0 || f.CPUs < 0 || f.MemlockBytes < -1 {
			t.Errorf("junk %q: %+v", junk, f)
		}
	}
}

func TestReadThisMachine(t *testing.T) {
	f := Roots{}.Read()
	if f.Hostname == "" || f.Kernel == "" || f.MemoryBytes == 0 || f.CPUs == 0 || f.AllowedCPUs == 0 || f.Hypervisor == "" {
		t.Errorf("facts missing: %+v", f)
	}
	if f.AllowedCPUs > f.CPUs {
		t.Errorf("%d CPUs allowed of %d", f.AllowedCPUs, f.CPUs)
	}
	t.Logf("%+v", f)
}

func TestFallbacks(t *testing.T) {
	f := tree(t, map[string]string{
		"proc/cpuinfo":            cpuinfo("X", ""),
		"root/usr/lib/os-release": "PRETTY_NAME='Alpine'\n",
		"proc/self/limits":        "Max locked memory         unlimited            unlimited            bytes\n",
	}).Read()
	if f.CPUs != 2 || f.AllowedCPUs != 2 || f.OS != "Alpine" || f.MemlockBytes != -1 {
		t.Errorf("%+v", f)
	}
	arm := tree(t, map[string]string{"proc/cpuinfo": "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n"}).Read()
	if arm.CPUModel != "implementer 0x41 part 0xd0c" || arm.CPUs != 1 {
		t.Errorf("%+v", arm)
	}
}

func TestCgroupCPULimit(t *testing.T) {
	const v1 = "4:memory:/pod\n3:cpu,cpuacct:/pod/app\n1:name=systemd:/pod\n0::/\n"
	for _, c := range []struct {
		name  string
		want  float64
		files map[string]string
	}{
		{"none", 0, nil},
		{"v2 own group", 1.5, map[string]string{"proc/self/cgroup": "0::/a/b\n", "sys/fs/cgroup/a/b/cpu.max": "150000 100000\n"}},
		{"v2 tighter parent", 0.5, map[string]string{"proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/cpu.max": "150000 100000\n", "sys/fs/cgroup/a/cpu.max": "50000 100000\n"}},
		{"v2 unlimited", 0, map[string]string{"proc/self/cgroup": "0::/a\n", "sys/fs/cgroup/a/cpu.max": "max 100000\n"}},
		{"v2 container with own namespace", 2, map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "200000 100000\n"}},
		{"v2 container with the host's path", 2, map[string]string{"proc/self/cgroup": "0::/system.slice/docker-1.scope\n", "sys/fs/cgroup/cpu.max": "200000 100000\n"}},
		{"v2 path above the namespace", 2, map[string]string{"proc/self/cgroup": "0::/../../x\n", "sys/fs/cgroup/cpu.max": "200000 100000\n"}},
		{"v1 quota", 0.25, map[string]string{"proc/self/cgroup": v1,
			"sys/fs/cgroup/cpu,cpuacct/pod/app/cpu.cfs_quota_us": "25000\n", "sys/fs/cgroup/cpu,cpuacct/pod/app/cpu.cfs_period_us": "100000\n"}},
		{"v1 through the link", 4, map[string]string{"proc/self/cgroup": v1,
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "400000\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}},
		{"v1 unlimited", 0, map[string]string{"proc/self/cgroup": v1,
			"sys/fs/cgroup/cpu/pod/cpu.cfs_quota_us": "-1\n", "sys/fs/cgroup/cpu/pod/cpu.cfs_period_us": "100000\n"}},
		{"cpuset is not cpu", 0, map[string]string{"proc/self/cgroup": "3:cpuset:/\n",
			"sys/fs/cgroup/cpu/cpu.cfs_quota_us": "400000\n", "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n"}},
		{"period 0", 0, map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "200000 0\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := tree(t, c.files).Read().CgroupCPULimit; got != c.want {
				t.Errorf("limit %g, want %g", got, c.want)
			}
		})
	}
}

func TestContainer(t *testing.T) {
	for _, c := range []struct {
		want  string
		files map[string]string
	}{
		{"", map[string]string{"proc/1/cgroup": "0::/init.scope\n", "proc/1/environ": "HOME=/\x00TERM=linux\x00"}},
		{"docker", map[string]string{"root/.dockerenv": ""}},
		{"podman", map[string]string{"root/run/.containerenv": "engine=\"podman\"\n"}},
		{"lxc", map[string]string{"proc/1/environ": "HOME=/\x00container=lxc\x00"}},
		{"systemd-nspawn", map[string]string{"proc/1/environ": "container=systemd-nspawn\x00"}},
		{"kubernetes", map[string]string{"proc/1/cgroup": "5:cpu:/kubepods/besteffort/pod1/2\n"}},
		{"docker", map[string]string{"proc/1/cgroup": "5:cpu:/docker/0123\n"}},
	} {
		if got := tree(t, c.files).Read().Container; got != c.want {
			t.Errorf("container %q, want %q from %q", got, c.want, c.files)
		}
	}
}

func TestCPUListLen(t *testing.T) {
	for list, want := range map[string]int{
		"0": 1, "0-3": 4, "0-3,8,10-11\n": 7, "": 0, "a": 0, "3-1": 0, "0-": 0, "1,": 0, "-1": 0, "0-99999999": 0,
	} {
		if got := cpuListLen(list); got != want {
			t.Errorf("%q names %d CPUs, want %d", list, got, want)
		}
	}
}
