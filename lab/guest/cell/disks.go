package cell

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// Controller is a disk adapter that QEMU emulates, and what Linux says of it.
type Controller struct {
	Name   string
	Driver string // of the adapter, as sysfs has it
	// Depth is the queue depth that a disk on it has. For SCSI it is the device's own limit, for the
	// others the tags of a hardware queue.
	Depth  int
	Source string // the sysfs file that the depth must come from
	// Extra are disks of other block sizes that it can carry, beside one of every VMDK kind.
	Extra []string
}

// Controllers are those under test. The depths are the drivers' own, seen on Debian's 6.1 and 6.12.
var Controllers = []Controller{
	{"pvscsi", "vmw_pvscsi", 254, "device/queue_depth", []string{Native4K, Emulated512}},
	{"mptsas", "mptsas", 64, "device/queue_depth", []string{Native4K, Emulated512}},
	{"nvme", "nvme", 1023, "mq/0/nr_tags", []string{Native4K}},
	{"virtio-blk", "virtio_blk", 256, "mq/0/nr_tags", []string{Native4K, Emulated512}},
	{"virtio-scsi", "virtio_scsi", 128, "device/queue_depth", []string{Native4K}},
	{"ahci", "ahci", 32, "device/queue_depth", []string{Emulated512}}, // ATA disks of 4096-byte blocks: QEMU has none
}

// The kinds of VMDK, and the two disks of other block sizes.
const (
	StreamOptimized = "streamOptimized"
	Native4K        = "4Kn"
	Emulated512     = "512e"
)

// Formats are VMDK's subformats, as qemu-img names them.
var Formats = []string{"monolithicSparse", "monolithicFlat", "twoGbMaxExtentSparse", "twoGbMaxExtentFlat", StreamOptimized}

// Disk is one virtual disk of the matrix.
type Disk struct {
	Controller *Controller
	Kind       string // a subformat, or 4Kn or 512e
	Serial     string // how it is found again: names such as sda move between boots
	Unit       int    // its number on the controller
}

// Disks lists the whole matrix, controller by controller.
func Disks() []Disk {
	var list []Disk
	for i := range Controllers {
		c := &Controllers[i]
		for unit, kind := range append(append([]string{}, Formats...), c.Extra...) {
			list = append(list, Disk{c, kind, fmt.Sprintf("lab%d-%d", i, unit), unit})
		}
	}
	return list
}

// Row names the disk in the table.
func (d Disk) Row() string { return d.Controller.Name + " " + d.Kind }

// Format is the VMDK subformat of its image.
func (d Disk) Format() string {
	if d.Kind == Native4K || d.Kind == Emulated512 {
		return "monolithicSparse"
	}
	return d.Kind
}

// LogicalBlock and PhysicalBlock are what the disk says of itself, in bytes.
func (d Disk) LogicalBlock() int {
	if d.Kind == Native4K {
		return 4096
	}
	return 512
}

// PhysicalBlock is the larger unit that a 512e disk has below.
func (d Disk) PhysicalBlock() int {
	if d.Kind == Native4K || d.Kind == Emulated512 {
		return 4096
	}
	return 512
}

// AttachReadOnly says whether QEMU opens the image for reading only: streamOptimized images cannot be
// rewritten. An ATA disk cannot be attached so; there the image refuses what it cannot do.
func (d Disk) AttachReadOnly() bool { return d.Kind == StreamOptimized && d.Controller.Name != "ahci" }

// ReadOnly says whether the guest is told of it. QEMU's NVMe tells nothing: its writes just fail.
func (d Disk) ReadOnly() bool { return d.AttachReadOnly() && d.Controller.Name != "nvme" }

// Writable says whether writes are expected to succeed.
func (d Disk) Writable() bool { return d.Kind != StreamOptimized }

// Engines are those that every disk is driven by. Each writes a zone of its own.
var Engines = []string{"io_uring", "libaio", "psync"}

// The disks are 5 GiB, so that split images have three extents, and all hole but for a zone per engine:
// one in the middle of an extent and two across the borders between extents. In each zone the middle
// part is written, and the margins, which hold the same old data, must stay as they are.
const (
	DiskBytes  = 5 << 30
	ZoneBytes  = 4 << 20
	WriteStart = 1 << 20 // from the start of the zone
	WriteBytes = 2 << 20
)

// ZoneStart is where the zone of the engine of that number begins.
func ZoneStart(engine int) int64 {
	return []int64{1 << 30, 2<<30 - ZoneBytes/2, 4<<30 - ZoneBytes/2}[engine]
}

// OldData is what a zone holds before the guest starts.
func OldData(engine int) []byte {
	buf := make([]byte, ZoneBytes)
	r := rand.New(rand.NewPCG(uint64(engine), 0x6c6162))
	for i := 0; i < len(buf); i += 8 {
		binary.LittleEndian.PutUint64(buf[i:], r.Uint64())
	}
	return buf
}

// Sum is a hash that is cheap under emulation, where cryptographic ones take minutes.
func Sum(buf []byte) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i+8 <= len(buf); i += 8 {
		h = (h ^ binary.LittleEndian.Uint64(buf[i:])) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return h
}

// SumKey names the hash of a zone of a disk.
func SumKey(serial string, engine int) string { return fmt.Sprintf("%s/%d", serial, engine) }
