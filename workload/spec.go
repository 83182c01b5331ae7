// Package workload says what to issue: which direction, how long, where and with what data.
//
// Everything here is pure: a generator gives the same I/Os for the same seed, knows neither threads
// nor clocks nor devices, and allocates nothing once made. The plan holds a Spec, the runner makes a
// Generator from it for each of its threads.
package workload

import (
	"fmt"
	"slices"
	"strings"

	"blkstorm/op"
	"blkstorm/unit"
)

// Spec is one workload as a plan holds it.
type Spec struct {
	RW         string     `json:"rw"`                   // one of Shapes
	BlockSize  int64      `json:"bs"`                   // bytes per I/O
	ReadPct    int        `json:"read_pct"`             // reads in each block of 100 I/Os, 0 to 100
	Offset     unit.Share `json:"offset,omitzero"`      // start of the range, from the target's start
	Size       unit.Share `json:"size,omitzero"`        // length of the range; not given: to the target's end
	WorkingSet unit.Share `json:"working_set,omitzero"` // the part of the range that is used, from its start
}

// shape is what a name after --rw means.
type shape struct {
	random, mixed bool
	only          op.Op // the direction of a shape that is not mixed
}

var shapes = map[string]shape{
	"read":      {only: op.Read},
	"write":     {only: op.Write},
	"rw":        {mixed: true},
	"randread":  {random: true, only: op.Read},
	"randwrite": {random: true, only: op.Write},
	"randrw":    {random: true, mixed: true},
}

// Shapes lists what RW can be.
var Shapes = []string{"read", "write", "rw", "randread", "randwrite", "randrw"}

// MaxBlockSize is the longest I/O: the kernel moves at most 0x7ffff000 bytes a call (read(2)), and
// nothing is measured with blocks near that.
const MaxBlockSize = 1 << 30

// Validate says what is wrong with a specification that no target could mend.
func (s *Spec) Validate() error {
	if _, ok := shapes[s.RW]; !ok {
		return fmt.Errorf("--rw %q: known are %s", s.RW, strings.Join(Shapes, ", "))
	}
	if s.BlockSize <= 0 || s.BlockSize > MaxBlockSize {
		return fmt.Errorf("--bs %s: must be from 1 byte to %s", unit.Size(s.BlockSize), unit.Size(MaxBlockSize))
	}
	if s.ReadPct < 0 || s.ReadPct > 100 {
		return fmt.Errorf("--read-pct %d: must be from 0 to 100", s.ReadPct)
	}
	if n := s.Size.Bytes; n%s.BlockSize != 0 {
		return fmt.Errorf("--size %s is not a multiple of --bs %s", unit.Size(n), unit.Size(s.BlockSize))
	}
	if n := s.WorkingSet.Bytes; n%s.BlockSize != 0 {
		return fmt.Errorf("--working-set %s is not a multiple of --bs %s", unit.Size(n), unit.Size(s.BlockSize))
	}
	return nil
}

// Random says whether offsets are random rather than sequential.
func (s *Spec) Random() bool { return shapes[s.RW].random }

// Mixed says whether the workload reads and writes.
func (s *Spec) Mixed() bool { return shapes[s.RW].mixed }

// readPct is the exact share of reads: all or nothing for a shape with one direction.
func (s *Spec) readPct() int {
	switch sh := shapes[s.RW]; {
	case sh.mixed:
		return s.ReadPct
	case sh.only == op.Read:
		return 100
	default:
		return 0
	}
}

// Reads says whether the workload issues any read.
func (s *Spec) Reads() bool { return s.readPct() > 0 }

// Writes says whether the workload issues any write.
func (s *Spec) Writes() bool { return s.readPct() < 100 }

// Range is the part of a target that a workload may touch: whole blocks from Start on.
type Range struct {
	Start  int64 `json:"start"`  // byte offset on the target
	Blocks int64 `json:"blocks"` // number of blocks of Spec.BlockSize
}

// End is the byte offset after the last block.
func (r Range) End(blockSize int64) int64 { return r.Start + r.Blocks*blockSize }

// RangeOn lays the specification on a target of size bytes. A percentage is rounded down to whole
// blocks, and so is the target's end: a rest shorter than a block is not used. A range that does
// not fit the target, or holds no block, is an error.
func (s *Spec) RangeOn(size int64) (Range, error) {
	start := s.Offset.Of(size)
	if s.Offset.Percent != 0 {
		start -= start % s.BlockSize
	}
	if start >= size {
		return Range{}, fmt.Errorf("--offset %s: the target ends at %s", s.Offset, unit.Size(size))
	}
	length := size - start
	if !s.Size.IsZero() {
		length = s.Size.Of(size)
		if start+length > size && s.Size.Percent != 0 {
			length = size - start // 100% from an offset on means "to the end", as in fio
		}
	}
	if length > size-start {
		return Range{}, fmt.Errorf("--size %s at offset %s: the target ends at %s", s.Size, unit.Size(start), unit.Size(size))
	}
	if !s.WorkingSet.IsZero() {
		used := s.WorkingSet.Of(length)
		if used > length {
			return Range{}, fmt.Errorf("--working-set %s: the range has only %s", s.WorkingSet, unit.Size(length))
		}
		length = used
	}
	blocks := length / s.BlockSize
	if blocks == 0 {
		return Range{}, fmt.Errorf("range of %s is smaller than one block of --bs %s", bytesText(length), unit.Size(s.BlockSize))
	}
	return Range{Start: start, Blocks: blocks}, nil
}

func bytesText(n int64) string {
	if n%1024 == 0 {
		return unit.Size(n)
	}
	return fmt.Sprintf("%d bytes", n)
}

// Slice is the part of the range that thread number i of n walks through when the workload is
// sequential: together the slices cover the range, none overlaps another, and they differ by at most
// one block. Random workloads use the whole range in every thread.
func (r Range) Slice(blockSize int64, i, n int) Range {
	// i*Blocks may pass 2^63 only beyond 2^48 blocks with 2^15 threads; plans allow neither.
	first := int64(i) * r.Blocks / int64(n)
	next := int64(i+1) * r.Blocks / int64(n)
	return Range{Start: r.Start + first*blockSize, Blocks: next - first}
}

// Known says whether name is one of Shapes.
func Known(name string) bool { return slices.Contains(Shapes, name) }
