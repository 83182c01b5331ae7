package device

// KindFile is the kind of a regular file; every other kind is a block device.
const KindFile = "file"

// Facts is what can be known of a target without touching its data. Zero, empty or nil means that
// the kernel does not say.
type Facts struct {
	Path string `json:"path"`           // the node or file, symlinks resolved
	Spec string `json:"spec,omitempty"` // what the user wrote, when it differs; the caller sets it
	// Kind is disk, partition, loop, zram, ram, dm, md, bcache, cdrom or file.
	Kind   string `json:"kind"`
	Name   string `json:"name,omitempty"`   // kernel name; empty for a file
	Device string `json:"device,omitempty"` // "major:minor"; empty for a file
	// Disk is the whole disk's kernel name: a partition's, or of the device that a file's file
	// system lies on.
	Disk string `json:"disk,omitempty"`

	SizeBytes          int64 `json:"size_bytes"`
	LogicalBlockBytes  int   `json:"logical_block_bytes,omitempty"`
	PhysicalBlockBytes int   `json:"physical_block_bytes,omitempty"`
	// DIOMemAlign and DIOOffsetAlign are what O_DIRECT asks of buffers, and of offsets and
	// lengths, in bytes: statx STATX_DIOALIGN (Linux 6.1), else the logical block of the device.
	DIOMemAlign    int `json:"dio_mem_align,omitempty"`
	DIOOffsetAlign int `json:"dio_offset_align,omitempty"`
	// DirectIO is false when the kernel says that this file takes no O_DIRECT; nil when it says
	// nothing, and then only an open can tell.
	DirectIO *bool `json:"direct_io,omitempty"`
	ReadOnly bool  `json:"read_only,omitempty"`

	// Rotational, Scheduler, Queue and Controller are the whole disk's; for a file, those of the
	// disk beneath its file system.
	Rotational *bool  `json:"rotational,omitempty"`
	Scheduler  string `json:"scheduler,omitempty"`
	Queue      Queue  `json:"queue,omitzero"`

	Model    string `json:"model,omitempty"`
	Vendor   string `json:"vendor,omitempty"`
	Serial   string `json:"serial,omitempty"`
	WWN      string `json:"wwn,omitempty"` // as the kernel writes it: naa.…, eui.…, uuid.…
	Firmware string `json:"firmware,omitempty"`
	// Transport is nvme, nvme-tcp, nvme-rdma, nvme-fc, virtio, pvscsi, spi, sas, sata, fc, iscsi,
	// usb, scsi, hyperv, xen, mmc, nbd, loop, zram, ram, dm, md or bcache.
	Transport  string     `json:"transport,omitempty"`
	HCTL       string     `json:"hctl,omitempty"` // SCSI host:channel:target:lun
	Controller Controller `json:"controller,omitzero"`

	FileSystem       string `json:"file_system,omitempty"`        // type, for a file
	FileSystemSource string `json:"file_system_source,omitempty"` // what is mounted there
	MountPoint       string `json:"mount_point,omitempty"`        // where the file's file system is
	BackingFile      string `json:"backing_file,omitempty"`       // of a loop
	MapperName       string `json:"mapper_name,omitempty"`        // of a dm device
	MapperUUID       string `json:"mapper_uuid,omitempty"`        // its prefix says who made it
}

// Queue is the block layer's request queue. Sizes are in the unit of the name.
type Queue struct {
	NrRequests     int `json:"nr_requests,omitempty"` // per hardware queue
	MaxSectorsKB   int `json:"max_sectors_kb,omitempty"`
	MaxHWSectorsKB int `json:"max_hw_sectors_kb,omitempty"`
	MaxSegments    int `json:"max_segments,omitempty"`
	HWQueues       int `json:"hw_queues,omitempty"`
	DMAAlignment   int `json:"dma_alignment,omitempty"` // a mask: 511 is 512-byte alignment
	MinIO          int `json:"min_io,omitempty"`        // bytes
	OptIO          int `json:"opt_io,omitempty"`        // bytes

	DiscardMaxBytes     int64  `json:"discard_max_bytes,omitempty"` // 0: no discard
	DiscardGranularity  int64  `json:"discard_granularity,omitempty"`
	WriteZeroesMaxBytes int64  `json:"write_zeroes_max_bytes,omitempty"`
	WriteCache          string `json:"write_cache,omitempty"` // "write back" or "write through"
	FUA                 *bool  `json:"fua,omitempty"`
	IOPoll              *bool  `json:"io_poll,omitempty"`
	Zoned               string `json:"zoned,omitempty"` // none, host-aware, host-managed
}

// Controller is what the guest's or server's driver says of the adapter.
type Controller struct {
	Driver  string `json:"driver,omitempty"`  // vmw_pvscsi, mptsas, nvme, virtio_blk, ahci, …
	Name    string `json:"name,omitempty"`    // host2, nvme0, virtio1, …
	Address string `json:"address,omitempty"` // of the PCI function
	PCIID   string `json:"pci_id,omitempty"`  // "15ad:07c0"
	Model   string `json:"model,omitempty"`   // where the virtual ones are known by name
	// QueueDepth is how many commands the device takes at once: for SCSI per device, for others
	// per hardware queue.
	QueueDepth int `json:"queue_depth,omitempty"`
	// QueueDepthSource is the sysfs file that it came from, below the disk's directory.
	QueueDepthSource string `json:"queue_depth_source,omitempty"`
	// HostQueueDepth is the SCSI host's limit, shared by all its devices (can_queue).
	HostQueueDepth int `json:"host_queue_depth,omitempty"`
}
