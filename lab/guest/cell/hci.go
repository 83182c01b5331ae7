package cell

import "fmt"

// HCIControllers are those whose disks go through hcibench-storagereview: VMware's own adapter, and the LSI
// Logic SAS one that the reviews had.
var HCIControllers = []*Controller{&Controllers[0], &Controllers[1]}

// Each has as many disks, all of this size: small, since under emulation the initialisation is what takes time.
const (
	HCIDisks = 4
	HCIBytes = 32 << 20
)

// HCIDisk is a disk of a controller; the disks are of all kinds that can be written.
func HCIDisk(controller, disk int) Disk {
	return Disk{Controller: HCIControllers[controller], Kind: Formats[disk], Serial: fmt.Sprintf("hci%d-%d", controller, disk), Unit: disk}
}

// HCIOldData is what every block of those disks holds before the guest starts.
func HCIOldData() []byte { return OldData(0)[:1<<20] }
