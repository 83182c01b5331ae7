package workload

import (
	"fmt"

	"blkstorm/unit"
)

// Range is the part of a target that a workload may touch, from Start on.
type Range struct {
	Start  int64 `json:"start"`  // byte offset on the target
	Blocks int64 `json:"blocks"` // number of whole blocks of Spec.BlockSize, the largest size
	Length int64 `json:"length"` // in bytes: these, and with several sizes a rest for the smaller ones
}

// End is the byte offset after the range.
func (r Range) End() int64 { return r.Start + r.Length }

// sector divides the logical block of every disk, and so their sizes.
const sector = 512

// RangeOn lays the specification on a target of size bytes. A percentage is rounded down to whole
// blocks, and so is the target's end: a rest shorter than a block is not used (with several sizes: than what divides all of them). A range that does
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
		if start+length > size && s.Size.Percent == 100 {
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
	if s.Whole {
		length -= length % sector
		if length > 0 {
			return Range{Start: start, Blocks: blocks, Length: length}, nil
		}
	}
	if blocks == 0 {
		if s.OneSize() {
			return Range{}, fmt.Errorf("range of %s is smaller than one block of --bs %s", bytesText(length), unit.Size(s.BlockSize))
		}
		return Range{}, fmt.Errorf("range of %s is smaller than the largest block, %s", bytesText(length), unit.Size(s.BlockSize))
	}
	return Range{Start: start, Blocks: blocks, Length: length - length%s.grain()}, nil
}

func bytesText(n int64) string {
	if n%1024 == 0 {
		return unit.Size(n)
	}
	return fmt.Sprintf("%d bytes", n)
}

// Slice is the part of the range that stream number i of n walks through when the workload is
// sequential: together the slices cover the range, none overlaps another, and they differ by at most
// one block; the last one has what is left beyond whole blocks. Random workloads use the whole range
// in every thread.
func (r Range) Slice(blockSize int64, i, n int) Range {
	// i*Blocks may pass 2^63 only beyond 2^47 blocks with 2^16 streams; plans allow neither.
	first := int64(i) * r.Blocks / int64(n)
	next := int64(i+1) * r.Blocks / int64(n)
	s := Range{Start: r.Start + first*blockSize, Blocks: next - first, Length: (next - first) * blockSize}
	if i == n-1 {
		s.Length += r.Length - r.Blocks*blockSize
	}
	return s
}
