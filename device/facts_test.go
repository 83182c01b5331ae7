package device

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const mib = 1 << 20

// The attribute values are those that guests with these controllers show.
func TestInspectControllers(t *testing.T) {
	tests := map[string]struct {
		build func(*fakeTree) string // returns the node's name
		want  Facts
	}{
		"pvscsi": {
			build: func(f *fakeTree) string {
				pci := f.pci("0000:03:00.0", "15ad:07c0", "vmw_pvscsi")
				p := f.scsi(pci, "host2", "", "2:0:1:0", "vmw_pvscsi", "vendor=VMware  ", "model=Virtual disk    ", "rev=2.0 ",
					"queue_depth=254", "wwid=naa.6000c29a0b1c2d3e4f5061728394a5b6")
				f.pg80(p, "6000c29a")
				f.block(p, "sda", "8:0", 64*mib, "queue/nr_requests=256", "queue/max_sectors_kb=1280", "queue/max_hw_sectors_kb=4096",
					"queue/max_segments=128", "queue/scheduler=none [mq-deadline] kyber", "queue/rotational=1", "queue/fua=0",
					"queue/write_cache=write back", "queue/dma_alignment=3", "queue/discard_max_bytes=1048576", "queue/zoned=none",
					"queue/io_poll=0", "mq/0/nr_tags=1024")
				return "sda"
			},
			want: Facts{Kind: "disk", Name: "sda", Device: "8:0", SizeBytes: 64 * mib, LogicalBlockBytes: 512, PhysicalBlockBytes: 512,
				DIOMemAlign: 512, DIOOffsetAlign: 512, Rotational: new(true), Scheduler: "mq-deadline",
				Queue: Queue{NrRequests: 256, MaxSectorsKB: 1280, MaxHWSectorsKB: 4096, MaxSegments: 128, HWQueues: 1, DMAAlignment: 3,
					DiscardMaxBytes: mib, WriteCache: "write back", FUA: new(false), IOPoll: new(false), Zoned: "none"},
				Model: "Virtual disk", Vendor: "VMware", Serial: "6000c29a", WWN: "naa.6000c29a0b1c2d3e4f5061728394a5b6",
				Firmware: "2.0", Transport: "pvscsi", HCTL: "2:0:1:0",
				Controller: Controller{Driver: "vmw_pvscsi", Name: "host2", Address: "0000:03:00.0", PCIID: "15ad:07c0",
					Model: "VMware PVSCSI", QueueDepth: 254, QueueDepthSource: "device/queue_depth", HostQueueDepth: 1024}},
		},
		"mptsas": {
			build: func(f *fakeTree) string {
				pci := f.pci("0000:04:00.0", "1000:0054", "mptsas")
				p := f.scsi(pci, "host3", "port-3:0/end_device-3:0", "3:0:0:0", "mptsas", "queue_depth=64", "wwid=naa.5000c50012345678")
				f.block(p, "sdb", "8:16", mib, "queue/nr_requests=236")
				return "sdb"
			},
			want: Facts{Kind: "disk", Name: "sdb", Device: "8:16", SizeBytes: mib, LogicalBlockBytes: 512, PhysicalBlockBytes: 512,
				DIOMemAlign: 512, DIOOffsetAlign: 512, Queue: Queue{NrRequests: 236}, WWN: "naa.5000c50012345678",
				Transport: "sas", HCTL: "3:0:0:0",
				Controller: Controller{Driver: "mptsas", Name: "host3", Address: "0000:04:00.0", PCIID: "1000:0054",
					Model: "LSI Logic SAS (SAS1068)", QueueDepth: 64, QueueDepthSource: "device/queue_depth", HostQueueDepth: 1024}},
		},
		"mptspi": {
			build: func(f *fakeTree) string {
				pci := f.pci("0000:00:10.0", "1000:0030", "mptspi")
				p := f.scsi(pci, "host0", "", "0:0:0:0", "mptspi", "queue_depth=64")
				f.dir("sys/class/spi_host/host0")
				f.block(p, "sda", "8:0", mib)
				return "sda"
			},
			want: Facts{Kind: "disk", Name: "sda", Device: "8:0", SizeBytes: mib, LogicalBlockBytes: 512, PhysicalBlockBytes: 512,
				DIOMemAlign: 512, DIOOffsetAlign: 512, Transport: "spi", HCTL: "0:0:0:0",
				Controller: Controller{Driver: "mptspi", Name: "host0", Address: "0000:00:10.0", PCIID: "1000:0030",
					Model: "LSI Logic Parallel (53c1030)", QueueDepth: 64, QueueDepthSource: "device/queue_depth", HostQueueDepth: 1024}},
		},
		"ahci": {
			build: func(f *fakeTree) string {
				pci := f.pci("0000:02:00.0", "15ad:07e0", "ahci")
				p := f.scsi(pci+"/ata1", "host4", "", "4:0:0:0", "ahci", "queue_depth=32", "vendor=ATA     ",
					"wwid=t10.ATA     VMware Virtual SATA Hard Drive  00000000000000000001")
				f.block(p, "sdc", "8:32", mib, "queue/max_sectors_kb=128")
				return "sdc"
			},
			want: Facts{Kind: "disk", Name: "sdc", Device: "8:32", SizeBytes: mib, LogicalBlockBytes: 512, PhysicalBlockBytes: 512,
				DIOMemAlign: 512, DIOOffsetAlign: 512, Queue: Queue{MaxSectorsKB: 128}, Vendor: "ATA", Transport: "sata", HCTL: "4:0:0:0",
				Controller: Controller{Driver: "ahci", Name: "host4", Address: "0000:02:00.0", PCIID: "15ad:07e0",
					Model: "VMware SATA AHCI", QueueDepth: 32, QueueDepthSource: "device/queue_depth", HostQueueDepth: 1024}},
		},
		"virtio-blk, 4Kn, scheduler deeper than the ring": {
			build: func(f *fakeTree) string {
				p := f.virtio(f.pci("0000:00:02.0", "1af4:1042", "virtio-pci"), "virtio1", "virtio_blk")
				f.block(p, "vda", "254:0", mib, "serial=disk-7", "queue/logical_block_size=4096", "queue/physical_block_size=4096",
					"queue/nr_requests=256", "queue/scheduler=none", "mq/0/nr_tags=128", "mq/1/nr_tags=128")
				return "vda"
			},
			want: Facts{Kind: "disk", Name: "vda", Device: "254:0", SizeBytes: mib, LogicalBlockBytes: 4096, PhysicalBlockBytes: 4096,
				DIOMemAlign: 4096, DIOOffsetAlign: 4096, Scheduler: "none", Queue: Queue{NrRequests: 256, HWQueues: 2},
				Serial: "disk-7", Transport: "virtio",
				Controller: Controller{Driver: "virtio_blk", Name: "virtio1", Address: "0000:00:02.0", PCIID: "1af4:1042",
					Model: "virtio-blk", QueueDepth: 128, QueueDepthSource: "mq/0/nr_tags"}},
		},
		"virtio-scsi": {
			build: func(f *fakeTree) string {
				v := f.virtio(f.pci("0000:00:03.0", "1af4:1004", "virtio-pci"), "virtio2", "virtio_scsi")
				f.block(f.scsi(v, "host1", "", "1:0:0:2", "virtio_scsi", "queue_depth=128"), "sda", "8:0", mib)
				return "sda"
			},
			want: Facts{Kind: "disk", Name: "sda", Device: "8:0", SizeBytes: mib, LogicalBlockBytes: 512, PhysicalBlockBytes: 512,
				DIOMemAlign: 512, DIOOffsetAlign: 512, Transport: "virtio", HCTL: "1:0:0:2",
				Controller: Controller{Driver: "virtio_scsi", Name: "host1", Address: "0000:00:03.0", PCIID: "1af4:1004",
					Model: "virtio-scsi (transitional)", QueueDepth: 128, QueueDepthSource: "device/queue_depth", HostQueueDepth: 1024}},
		},
		"nvme namespace": {
			build: func(f *fakeTree) string {
				c := f.pci("0000:0b:00.0", "15ad:07f0", "nvme") + "/nvme/nvme0"
				f.attrs("sys/devices/"+c, "model=VMware Virtual NVMe Disk", "serial=VMWare NVME_0000 ", "firmware_rev=1.0", "transport=pcie", "sqsize=1023")
				// A namespace lies directly in its controller, not below "block".
				dir := "sys/devices/" + c + "/nvme0n1"
				f.blockDir(dir, "nvme0n1", "259:0", mib)
				f.link(dir+"/device", "sys/devices/"+c)
				f.attrs(dir, "wwid=eui.0025385b71b00001", "queue/logical_block_size=512", "queue/physical_block_size=512", "queue/fua=1")
				return "nvme0n1"
			},
			want: Facts{Kind: "disk", Name: "nvme0n1", Device: "259:0", SizeBytes: mib, LogicalBlockBytes: 512, PhysicalBlockBytes: 512,
				DIOMemAlign: 512, DIOOffsetAlign: 512, Queue: Queue{FUA: new(true)}, Model: "VMware Virtual NVMe Disk",
				Serial: "VMWare NVME_0000", WWN: "eui.0025385b71b00001", Firmware: "1.0", Transport: "nvme",
				Controller: Controller{Driver: "nvme", Name: "nvme0", Address: "0000:0b:00.0", PCIID: "15ad:07f0",
					Model: "VMware NVMe", QueueDepth: 1023, QueueDepthSource: "device/sqsize"}},
		},
		"iscsi without an adapter": {
			build: func(f *fakeTree) string {
				p := f.scsi("platform", "host5", "session1", "5:0:0:1", "iscsi_tcp", "queue_depth=32")
				f.block(p, "sdd", "8:48", mib)
				return "sdd"
			},
			want: Facts{Kind: "disk", Name: "sdd", Device: "8:48", SizeBytes: mib, LogicalBlockBytes: 512, PhysicalBlockBytes: 512,
				DIOMemAlign: 512, DIOOffsetAlign: 512, Transport: "iscsi", HCTL: "5:0:0:1",
				Controller: Controller{Driver: "iscsi_tcp", Name: "host5", Model: "iSCSI over TCP",
					QueueDepth: 32, QueueDepthSource: "device/queue_depth", HostQueueDepth: 1024}},
		},
		"partition of a disk with a slash in its name": {
			build: func(f *fakeTree) string {
				f.block("virtual", "cciss!c0d0", "104:0", 2*mib, "queue/nr_requests=64", "queue/rotational=0")
				f.partition("cciss!c0d0", "cciss!c0d0p1", "104:1", 1, mib)
				return "cciss/c0d0p1"
			},
			want: Facts{Kind: "partition", Name: "cciss!c0d0p1", Device: "104:1", Disk: "cciss!c0d0", SizeBytes: mib,
				LogicalBlockBytes: 512, PhysicalBlockBytes: 512, DIOMemAlign: 512, DIOOffsetAlign: 512, Rotational: new(false),
				Queue: Queue{NrRequests: 64}, Controller: Controller{QueueDepth: 64, QueueDepthSource: "queue/nr_requests"}},
		},
		"dm": {
			build: func(f *fakeTree) string {
				f.dm("dm-0", "253:0", "vg0-root", "LVM-abc")
				return "mapper/vg0-root"
			},
			want: Facts{Kind: "dm", Name: "dm-0", Device: "253:0", SizeBytes: mib, LogicalBlockBytes: 512, PhysicalBlockBytes: 512,
				DIOMemAlign: 512, DIOOffsetAlign: 512, Transport: "dm", MapperName: "vg0-root", MapperUUID: "LVM-abc"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			f := newFakeTree(t)
			node := tt.build(f)
			tt.want.Path = realPath(f.dev(node))
			if diff := cmp.Diff(&tt.want, f.inspect(node)); diff != "" {
				t.Errorf("facts of %s (-want +got):\n%s", node, diff)
			}
		})
	}
}

func TestNVMeOverFabricsThroughASubsystem(t *testing.T) {
	f := newFakeTree(t)
	f.attrs("sys/devices/virtual/nvme-fabrics/ctl/nvme3", "transport=tcp", "sqsize=127")
	sub := "virtual/nvme-subsystem/nvme-subsys3"
	f.attrs("sys/devices/"+sub, "model=Linux", "serial=feed", "firmware_rev=6.1")
	f.link("sys/devices/"+sub+"/nvme3", "sys/devices/virtual/nvme-fabrics/ctl/nvme3")
	dir := "sys/devices/" + sub + "/nvme3n1"
	f.blockDir(dir, "nvme3n1", "259:3", mib)
	f.link(dir+"/device", "sys/devices/"+sub)
	// The path below the head is hidden and has no node.
	hidden := "sys/devices/virtual/nvme-fabrics/ctl/nvme3/nvme3c3n1"
	f.blockDir(hidden, "nvme3c3n1", "259:4", mib)
	f.attrs(hidden, "hidden=1")

	got := f.inspect("nvme3n1")
	if got.Transport != "nvme-tcp" || got.Serial != "feed" || got.Controller.QueueDepth != 127 || got.Controller.Name != "nvme3" {
		t.Errorf("facts = %+v", got)
	}
	list, err := f.r.List()
	if err != nil || len(list) != 1 {
		t.Errorf("list = %v, %v; want the head alone", list, err)
	}
}

func TestList(t *testing.T) {
	f := newFakeTree(t)
	f.block("virtual", "sdb", "8:16", mib)
	f.block("virtual", "sda", "8:0", 4*mib)
	f.partition("sda", "sda10", "8:10", 10, mib)
	f.partition("sda", "sda2", "8:2", 2, mib)
	f.block("virtual", "loop0", "7:0", 0) // nothing attached
	list, err := f.r.List()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, x := range list {
		names = append(names, x.Name)
	}
	if diff := cmp.Diff([]string{"sda", "sda2", "sda10", "sdb"}, names); diff != "" {
		t.Error(diff)
	}
	if _, err := (Roots{Sys: t.TempDir(), Dev: "/dev"}).List(); err == nil {
		t.Error("a missing sysfs gave no error")
	}
}

func TestNaturalLess(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"sda2", "sda10", true}, {"sda10", "sda2", false}, {"sda", "sda1", true}, {"sda", "sda", false},
		{"nvme0n1p2", "nvme0n10", true}, {"nvme10n1", "nvme9n1", false}, {"dm-1", "loop0", true},
		{"x01", "x1", false}, {"x1", "x01", false},
	} {
		if got := naturalLess(tt.a, tt.b); got != tt.want {
			t.Errorf("naturalLess(%q, %q) = %v", tt.a, tt.b, got)
		}
	}
}
