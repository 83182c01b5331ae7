package cell

// What the guest asks the host to do to it, in Line.Ask; a space and an argument may follow.
const (
	AskFreeze = "freeze" // stop the whole QEMU process for StunSeconds: the guest's clocks go on
	AskPause  = "pause"  // stop the guest by its monitor for StunSeconds: its clocks stop too
	AskUnplug = "unplug" // the device of that serial number
	AskHeat   = "heat"   // have the NVMe drive of that serial number say that it passed a threshold of temperature
	AskSpace  = "space"  // the datastore of that disk is about to get full: when QEMU has paused the guest, make space and let it go on
)

// StunSeconds is how long a stun lasts.
const StunSeconds = 3

// StunDisk has a latency of 10 ms; what the host does to the guest shows in it.
const StunDisk = "stun"

// HotDisk is an NVMe drive that becomes hot. QEMU's drives have 50 °C, and say so in their health log.
const HotDisk = "hot"

// Buses are those whose disks are unplugged under load, one disk per engine.
var Buses = []string{"virtio-blk", "virtio-scsi", "pvscsi", "nvme"}

// UnplugDisk is the serial number of one of them. They take 4 ms to answer.
func UnplugDisk(bus, engine string) string { return bus + "-" + engine }

// Two disks lie on datastores that are too small for them. FullDisk reports the error to the guest;
// with StunnedDisk, QEMU's default, the guest is paused instead.
const (
	FullDisk    = "full"
	StunnedDisk = "stunned"
)

// FullBytes is the size of such a disk, several times that of its datastore.
const FullBytes = 48 << 20
