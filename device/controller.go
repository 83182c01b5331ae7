package device

import (
	"path/filepath"
	"strings"
)

// virtualControllers names the adapters that hypervisors show to guests: in a report "15ad:07c0"
// says little to the reader, and which of them a disk hangs on decides its queue depth. Physical
// ones keep their ids.
var virtualControllers = map[string]string{
	"15ad:07c0": "VMware PVSCSI",
	"15ad:07f0": "VMware NVMe",
	"15ad:07e0": "VMware SATA AHCI",
	"1000:0030": "LSI Logic Parallel (53c1030)",
	"1000:0054": "LSI Logic SAS (SAS1068)",
	"104b:1040": "BusLogic BT-958",
	"8086:2922": "Intel ICH9 AHCI (QEMU)",
	"8086:7010": "Intel PIIX3 IDE",
	"8086:7111": "Intel PIIX4 IDE",
	"1b36:0010": "QEMU NVMe",
	"1af4:1001": "virtio-blk (transitional)",
	"1af4:1042": "virtio-blk",
	"1af4:1004": "virtio-scsi (transitional)",
	"1af4:1048": "virtio-scsi",
	"1d0f:8061": "Amazon EBS NVMe",
	"1d0f:cd01": "Amazon instance store NVMe",
}

// virtualDrivers names those without a PCI function.
var virtualDrivers = map[string]string{
	"virtio_blk":  "virtio-blk",
	"virtio_scsi": "virtio-scsi",
	"hv_storvsc":  "Hyper-V storvsc",
	"vbd":         "Xen blkfront",
	"iscsi_tcp":   "iSCSI over TCP",
	"scsi_debug":  "scsi_debug (test device)",
}

// readController finds the adapter of a disk by walking up the device tree, and the depth of the
// disk's queue on it.
func (r Roots) readController(f *Facts, b block) {
	link := filepath.Join(b.diskDir, "device")
	if !exists(link) {
		r.readDepth(f, b.diskDir, "")
		return
	}
	dev := realPath(link)
	c := &f.Controller
	start := dev
	if host := scsiHost(dev); host != "" {
		c.Name = filepath.Base(host)
		class := filepath.Join(r.Sys, "class/scsi_host", c.Name)
		c.HostQueueDepth = int(readInt(class, "can_queue"))
		// Below the host the drivers are sd or sr; the adapter's own is above it.
		start = filepath.Dir(host)
		c.Driver, c.Address, c.PCIID = r.adapter(start)
		// An adapter without a device of its own (iSCSI over TCP) has only the host's word for it.
		if proc := readText(class, "proc_name"); c.Driver == "" && proc != "(null)" && proc != "<NULL>" {
			c.Driver = proc
		}
	} else {
		if list := nvmeControllers(dev); len(list) > 0 {
			start = list[0]
		}
		c.Name = filepath.Base(start)
		c.Driver, c.Address, c.PCIID = r.adapter(start)
	}
	c.Model = virtualControllers[c.PCIID]
	if c.Model == "" {
		c.Model = virtualDrivers[c.Driver]
	}
	r.readDepth(f, b.diskDir, start)
}

// adapter walks from dir up to the root of the device tree: the first driver met is the adapter's,
// the first PCI function its address and id. They differ where a bus lies between (virtio).
func (r Roots) adapter(dir string) (driver, address, id string) {
	top := realPath(filepath.Join(r.Sys, "devices"))
	for d := dir; strings.HasPrefix(d, top+"/"); d = filepath.Dir(d) {
		if driver == "" && exists(filepath.Join(d, "driver")) {
			driver = filepath.Base(realPath(filepath.Join(d, "driver")))
		}
		if filepath.Base(realPath(filepath.Join(d, "subsystem"))) == "pci" {
			vendor := strings.TrimPrefix(readText(d, "vendor"), "0x")
			device := strings.TrimPrefix(readText(d, "device"), "0x")
			return driver, filepath.Base(d), vendor + ":" + device
		}
	}
	return driver, "", ""
}

// readDepth takes the first of these that the kernel has. A SCSI device has a limit of its own, well
// below the host's. For the others the driver's tags are the limit: queue/nr_requests may be larger
// under a scheduler, which then only queues in front of the driver. NVMe's multipath head has no
// tags of its own, so its first controller's queue size is taken.
func (r Roots) readDepth(f *Facts, diskDir, controller string) {
	c := &f.Controller
	for _, src := range []struct{ dir, attr, name string }{
		{diskDir, "device/queue_depth", "device/queue_depth"},
		{diskDir, "mq/0/nr_tags", "mq/0/nr_tags"},
		{controller, "sqsize", "device/sqsize"},
		{diskDir, "queue/nr_requests", "queue/nr_requests"},
	} {
		if src.dir == "" {
			continue
		}
		if n := readInt(src.dir, src.attr); n > 0 {
			c.QueueDepth, c.QueueDepthSource = int(n), src.name
			return
		}
	}
}
