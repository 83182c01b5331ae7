package cell

import "fmt"

// ProfileBuses are the controllers behind which a published procedure of virtual disks runs, on ProfileDisks
// VMDKs each.
var ProfileBuses = []string{"pvscsi", "mptsas"}

// ProfileDisks is how many disks are behind each, and ProfileBytes the size of one.
const (
	ProfileDisks = 4
	ProfileBytes = 64 << 20
)

// ProfileDisk is the serial number of one of them.
func ProfileDisk(bus string, unit int) string { return fmt.Sprintf("%s-hci%d", bus, unit) }
