package host

import (
	"slices"
	"strings"
)

// vendors maps what firmware says to the hypervisor behind it. Both strings must be contained
// in the DMI vendor and product. The order matters only where one row is the special case of
// the next.
var vendors = []struct{ vendor, product, hypervisor string }{
	{"VMware", "", "vmware"},
	{"", "VMware", "vmware"},
	{"Microsoft Corporation", "Virtual Machine", "hyperv"}, // Surface machines have the vendor, too
	{"innotek GmbH", "", "virtualbox"},
	{"", "VirtualBox", "virtualbox"},
	{"Xen", "", "xen"},
	{"Parallels", "", "parallels"},
	{"Nutanix", "AHV", "kvm"},
	{"", "KVM", "kvm"}, // RHEV, oVirt and QEMU's arm64 board say so themselves
	{"", "OpenStack", "kvm"},
	{"", "RHEV Hypervisor", "kvm"},
	{"", "Google Compute Engine", "kvm"},
}

// hypervisor returns "none" on bare metal, the name of the hypervisor in a guest, or "unknown"
// in a guest that gives no more away.
func (r Roots) hypervisor(cpuinfo string) string {
	vendor, product := text(r.sys("class/dmi/id/sys_vendor")), text(r.sys("class/dmi/id/product_name"))
	// On x86 the hypervisor bit of CPUID leaf 1. Bare-metal instances of cloud providers carry the
	// DMI names of their virtual sisters, so a machine that has flags and not this one is real.
	flags := strings.Fields(field(cpuinfo, "flags"))
	flagged := slices.Contains(flags, "hypervisor")

	if t := text(r.sys("hypervisor/type")); t == "xen" {
		return "xen" // dom0 is a guest of Xen as well: its I/O goes to the device, its CPUs are virtual
	}
	if len(flags) > 0 && !flagged {
		return "none"
	}
	for _, v := range vendors {
		if strings.Contains(vendor, v.vendor) && strings.Contains(product, v.product) {
			return v.hypervisor
		}
	}
	// No name in the firmware (Firecracker has no DMI, many clouds put their own): each hypervisor
	// offers its guests a clock of its own.
	clocks := r.clockSources()
	has := func(prefix string) bool {
		return slices.ContainsFunc(clocks, func(c string) bool { return strings.HasPrefix(c, prefix) })
	}
	tree := text(r.proc("device-tree/hypervisor/compatible")) // arm64 without ACPI
	switch {
	case has("kvm-clock"), strings.Contains(tree, "linux,kvm"):
		return "kvm"
	case has("hyperv"):
		return "hyperv"
	case has("xen"), strings.Contains(tree, "xen,xen"):
		return "xen"
	case strings.Contains(vendor, "QEMU"):
		return "qemu" // no KVM clock: QEMU's own CPU emulation
	case flagged:
		return "unknown"
	}
	return "none"
}

// product returns DMI vendor and product as one string, without saying the vendor twice.
func (r Roots) product() string {
	vendor, product := text(r.sys("class/dmi/id/sys_vendor")), text(r.sys("class/dmi/id/product_name"))
	if strings.HasPrefix(product, vendor) {
		return product
	}
	return strings.TrimSpace(vendor + " " + product)
}

// container returns the name of the container runtime this process runs under; "" on the bare
// operating system.
func (r Roots) container() string {
	switch {
	case exists(r.root(".dockerenv")):
		return "docker"
	case exists(r.root("run/.containerenv")):
		return "podman"
	}
	// systemd's convention for every container manager; readable only as root.
	for v := range strings.SplitSeq(text(r.proc("1/environ")), "\x00") {
		if name, ok := strings.CutPrefix(v, "container="); ok && name != "" {
			return name
		}
	}
	cgroups := text(r.proc("1/cgroup"))
	for _, c := range []struct{ mark, name string }{
		{"kubepods", "kubernetes"}, {"docker", "docker"}, {"libpod", "podman"},
		{"containerd", "containerd"}, {"/lxc", "lxc"},
	} {
		if strings.Contains(cgroups, c.mark) {
			return c.name
		}
	}
	return ""
}
