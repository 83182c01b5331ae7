// Package op names the kinds of I/O that blkstorm issues and counts apart: the four directions of
// every result. All rooms share it, so that an index into a per-direction array means the same
// everywhere.
package op

// Op is one kind of I/O; its value indexes per-direction arrays of length Count.
type Op uint8

// The four directions, in the order in which results list them.
const (
	Read Op = iota
	Write
	Trim
	Sync
	Count = 4
)

// All lists the directions in the order of results.
var All = [Count]Op{Read, Write, Trim, Sync}

var names = [Count]string{"read", "write", "trim", "sync"}

// Flags say what kind of write, trim or sync an I/O is.
type Flags uint8

const (
	// Durable is a write that completes when it is on stable storage (RWF_DSYNC; force unit access
	// where the device has it).
	Durable Flags = 1 << iota
	// Zeroes is a trim that must read back as zeros (write zeroes), not only a discard.
	Zeroes
	// DataOnly is a sync that leaves out metadata that is not needed to read the data (fdatasync).
	DataOnly
)

// String is the direction's name in results: "read", "write", "trim" or "sync".
func (o Op) String() string { return names[o] }
