// Package workload says what to issue: which direction, how long, where and with what data.
//
// Everything here is pure: a generator gives the same I/Os for the same seed, knows neither threads
// nor clocks nor devices, and allocates nothing once made. The plan holds a Spec, the runner makes a
// Generator from it for each of its threads.
package workload

import (
	"fmt"
	"strings"

	"blkstorm/unit"
)

// Spec is one workload as a plan holds it.
type Spec struct {
	RW        string `json:"rw"` // one of Shapes
	BlockSize int64  `json:"bs"` // bytes per I/O; of several sizes the largest, see MaxBlock

	BlockSizeSplit Splits     `json:"bssplit,omitzero"`  // sizes with shares
	BlockSizeRange SizeRanges `json:"bsrange,omitzero"`  // or a range of sizes,
	BlockSizeAlign int64      `json:"bs_align,omitzero"` // of which multiples of this are used

	ReadPct    int        `json:"read_pct"`             // reads in each block of 100 I/Os, 0 to 100
	Offset     unit.Share `json:"offset,omitzero"`      // start of the range, from the target's start
	Size       unit.Share `json:"size,omitzero"`        // length of the range; not given: to the target's end
	WorkingSet unit.Share `json:"working_set,omitzero"` // the part of the range that is used, from its start

	// Random offsets.
	BlockAlign   int64        `json:"blockalign,omitzero"` // they are multiples of this; 0: of the I/O's own size
	Distribution Distribution `json:"random_distribution,omitzero"`
	Coverage     bool         `json:"coverage,omitzero"`   // every block once a pass
	JumpEvery    int          `json:"jump_every,omitzero"` // I/Os after which a random offset follows, in each direction; between, they touch. 0: every one is random

	// Sequential offsets.
	RandomPct  Percents `json:"random_pct,omitempty"` // random I/Os in each 100; empty: what RW says
	Stride     int64    `json:"stride,omitzero"`      // from the start of one I/O to that of the next; 0: they touch
	Backward   bool     `json:"backward,omitzero"`
	SeqStreams int      `json:"seq_streams,omitzero"` // sequential streams per target; 0: one per thread
	// Whole has the last I/O of the range shorter than the others where the range is no multiple of
	// them, so that a pass leaves nothing out.
	Whole bool `json:"whole,omitzero"`

	Data DataSpec `json:"data,omitzero"` // what writes hold

	// What kind of trims, writes and syncs.
	TrimWith  string `json:"trim_with,omitzero"` // Discard or WriteZeroes; empty is Discard
	Durable   bool   `json:"dsync,omitzero"`     // a write completes when it is on stable storage
	Fsync     int    `json:"fsync,omitzero"`     // a sync after so many writes of a thread; 0: none
	Fdatasync int    `json:"fdatasync,omitzero"` // the same, of the data only
}

// MaxBlockSize is the longest read or write: the kernel moves at most 0x7ffff000 bytes a call (read(2)), and
// nothing is measured with blocks near that.
const MaxBlockSize = 1 << 30

// MaxTrimSize is the longest trim. It moves no data, and the kernel takes any 64-bit length; files that are
// gigabytes long are deleted by discards of their length.
const MaxTrimSize = 1 << 40

// Validate says what is wrong with a specification that no target could mend.
func (s *Spec) Validate() error {
	if _, ok := shapes[s.RW]; !ok {
		return fmt.Errorf("--rw %q: known are %s", s.RW, strings.Join(Shapes, ", "))
	}
	if s.ReadPct < 0 || s.ReadPct > 100 {
		return fmt.Errorf("--read-pct %d: must be from 0 to 100", s.ReadPct)
	}
	if err := s.checkKinds(); err != nil {
		return err
	}
	if err := s.checkSizes(); err != nil {
		return err
	}
	grain, what := s.grain(), "--bs"
	if !s.OneSize() {
		what = "what divides all block sizes,"
	}
	if n := s.Size.Bytes; n%grain != 0 {
		return fmt.Errorf("--size %s is not a multiple of %s %s", unit.Size(n), what, unit.Size(grain))
	}
	if n := s.WorkingSet.Bytes; n%grain != 0 {
		return fmt.Errorf("--working-set %s is not a multiple of %s %s", unit.Size(n), what, unit.Size(grain))
	}
	if s.Whole && (s.Mixed() || !s.Sequential() || !s.Passes()) {
		return fmt.Errorf("whole: goes with a sequential shape of one direction and one size, not with --rw %s", s.RW)
	}
	if err := s.Data.validate(); err != nil {
		return err
	}
	return s.checkOffsets()
}
