package workload

import (
	"fmt"

	"blkstorm/op"
)

// shape is what a name after --rw means.
type shape struct {
	random bool
	mixed  bool  // reads and writes, in the shares that ReadPct says
	pairs  bool  // each block is trimmed and then written
	only   op.Op // the direction of the other shapes
}

var shapes = map[string]shape{
	"read":          {only: op.Read},
	"write":         {only: op.Write},
	"rw":            {mixed: true},
	"randread":      {random: true, only: op.Read},
	"randwrite":     {random: true, only: op.Write},
	"randrw":        {random: true, mixed: true},
	"trim":          {only: op.Trim},
	"randtrim":      {random: true, only: op.Trim},
	"trimwrite":     {pairs: true},
	"randtrimwrite": {random: true, pairs: true},
}

// Shapes lists what RW can be.
var Shapes = []string{"read", "write", "rw", "randread", "randwrite", "randrw", "trim", "randtrim", "trimwrite", "randtrimwrite"}

// How trims are done.
const (
	Discard     = "discard"      // the blocks are given back; what they read as then is the device's affair
	WriteZeroes = "write-zeroes" // they read as zeros, and may be given back
)

// Issues says whether the workload issues any I/O of a direction.
func (s *Spec) Issues(o op.Op) bool {
	sh := shapes[s.RW]
	switch {
	case o == op.Sync:
		return s.Fsync > 0 || s.Fdatasync > 0
	case sh.mixed:
		return o == op.Read && s.ReadPct > 0 || o == op.Write && s.ReadPct < 100
	case sh.pairs:
		return o == op.Write || o == op.Trim
	}
	return o == sh.only
}

// Mixed says whether the shape is one of reads and writes in shares.
func (s *Spec) Mixed() bool { return shapes[s.RW].mixed }

// Pairs says whether the shape is one that trims each block and then writes it.
func (s *Spec) Pairs() bool { return shapes[s.RW].pairs }

// Reads says whether the workload issues any read.
func (s *Spec) Reads() bool { return s.Issues(op.Read) }

// Writes says whether the workload issues any write.
func (s *Spec) Writes() bool { return s.Issues(op.Write) }

// Trims says whether the workload issues any trim.
func (s *Spec) Trims() bool { return s.Issues(op.Trim) }

// Syncs says whether the workload issues any sync.
func (s *Spec) Syncs() bool { return s.Issues(op.Sync) }

// Changes says whether the workload destroys what is on its target: it writes or trims.
func (s *Spec) Changes() bool { return s.Writes() || s.Trims() }

// drawing lists the directions that draw sizes and offsets of their own: those that the workload
// issues, without syncs; of pairs the trims alone, since the write goes where its trim was.
func (s *Spec) drawing() (list []op.Op) {
	for _, o := range []op.Op{op.Read, op.Write, op.Trim} {
		if s.Issues(o) && !(s.Pairs() && o == op.Write) {
			list = append(list, o)
		}
	}
	return list
}

// flags are those of all I/Os of a direction.
func (s *Spec) flags(o op.Op) op.Flags {
	switch {
	case o == op.Write && s.Durable:
		return op.Durable
	case o == op.Trim && s.TrimWith == WriteZeroes:
		return op.Zeroes
	case o == op.Sync && s.Fdatasync > 0:
		return op.DataOnly
	}
	return 0
}

// Flags are those of all I/Os that the workload issues, together.
func (s *Spec) Flags() (all op.Flags) {
	for _, o := range op.All {
		if s.Issues(o) {
			all |= s.flags(o)
		}
	}
	return all
}

// checkKinds says what is wrong with the kinds of trims, writes and syncs that are asked for.
func (s *Spec) checkKinds() error {
	option, every := "--fsync", s.Fsync
	if s.Fdatasync != 0 {
		option, every = "--fdatasync", s.Fdatasync
	}
	switch {
	case s.TrimWith != "" && s.TrimWith != Discard && s.TrimWith != WriteZeroes:
		return fmt.Errorf("--trim-with %q: known are %s, %s", s.TrimWith, Discard, WriteZeroes)
	case s.TrimWith != "" && !s.Trims():
		return fmt.Errorf("--trim-with %s: goes with shapes that trim; --rw %s issues no trims", s.TrimWith, s.RW)
	case s.Fsync != 0 && s.Fdatasync != 0:
		return fmt.Errorf("--fsync %d: goes without --fdatasync %d; give one of them", s.Fsync, s.Fdatasync)
	case every < 0:
		return fmt.Errorf("%s %d: must be a number of writes, or 0 for none", option, every)
	case every > 0 && !s.Writes():
		return fmt.Errorf("%s %d: goes with shapes that write; --rw %s issues no writes", option, every, s.RW)
	case s.Durable && !s.Writes():
		return fmt.Errorf("--dsync: goes with shapes that write; --rw %s issues no writes", s.RW)
	}
	return nil
}

// kinds names what checkKinds checks, for labels.
func (s *Spec) kinds() (parts []string) {
	if s.TrimWith == WriteZeroes {
		parts = append(parts, "zeroes")
	}
	if s.Durable {
		parts = append(parts, "dsync")
	}
	if s.Fsync > 0 {
		parts = append(parts, fmt.Sprintf("fsync %d", s.Fsync))
	}
	if s.Fdatasync > 0 {
		parts = append(parts, fmt.Sprintf("fdatasync %d", s.Fdatasync))
	}
	return parts
}
