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

// String is the direction's name in results: "read", "write", "trim" or "sync".
func (o Op) String() string { return names[o] }
