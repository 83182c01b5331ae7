package workload

import (
	"errors"
	"fmt"
	"strings"

	"blkstorm/op"
	"blkstorm/unit"
)

// SizeRange is a range of sizes; Spec.BlockSizeAlign says which of them are used.
type SizeRange struct{ Min, Max int64 }

// SizeRanges are those of all directions. Without Write, one range holds for reads and writes; without
// Trim, trims have that of writes.
type SizeRanges struct{ Read, Write, Trim SizeRange }

// ParseSizeRanges reads fio's bsrange: "4k-64k", or READ,WRITE,TRIM.
func ParseSizeRanges(text string) (r SizeRanges, err error) {
	list, err := perDirection(text, "range")
	if err != nil {
		return r, err
	}
	for i, to := range []*SizeRange{&r.Read, &r.Write, &r.Trim}[:len(list)] {
		if *to, err = parseSizeRange(list[i]); err != nil {
			return r, err
		}
	}
	return r, nil
}

func parseSizeRange(text string) (r SizeRange, err error) {
	low, high, found := strings.Cut(text, "-")
	if !found {
		low, high, found = strings.Cut(text, ":") // fio takes both
	}
	if !found {
		return r, fmt.Errorf("%q is no range; write for example 4k-64k, or READ,WRITE,TRIM", text)
	}
	if r.Min, err = unit.Bytes(low); err != nil {
		return r, err
	}
	if r.Max, err = unit.Bytes(high); err != nil {
		return r, err
	}
	return r, r.check()
}

func (r SizeRange) check() error {
	if r.Min <= 0 || r.Max < r.Min || r.Max > MaxTrimSize {
		return fmt.Errorf("%s must lie within %s; the smaller size first", r, sizeLimits())
	}
	return nil
}

// String writes the range as parseSizeRange reads it.
func (r SizeRange) String() string { return unit.Size(r.Min) + "-" + unit.Size(r.Max) }

// IsZero says that no range is given.
func (r SizeRanges) IsZero() bool { return r == SizeRanges{} }

// list has the ranges of reads, writes and trims as far as they differ.
func (r SizeRanges) list() []SizeRange {
	list := []SizeRange{r.Read, r.Write, r.Trim}
	if r.Write == (SizeRange{}) {
		list[1] = r.Read
	}
	if r.Trim != (SizeRange{}) {
		return list
	}
	if r.Write != (SizeRange{}) {
		return list[:2]
	}
	return list[:1]
}

// String writes the ranges as ParseSizeRanges reads them.
func (r SizeRanges) String() string {
	var parts []string
	for _, one := range r.list() {
		parts = append(parts, one.String())
	}
	return strings.Join(parts, ",")
}

// MarshalText writes the ranges as plans hold them.
func (r SizeRanges) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads what ParseSizeRanges reads.
func (r *SizeRanges) UnmarshalText(text []byte) (err error) {
	*r, err = ParseSizeRanges(string(text))
	return err
}

// Bytes lists the least and the largest size of each direction.
func (r SizeRanges) Bytes() (list []int64) {
	for _, one := range r.list() {
		list = append(list, one.Min, one.Max)
	}
	return list
}

// BlockSizes are the least and the largest size of reads, of writes and of trims.
func (s *Spec) BlockSizes() (list [3]SizeRange) {
	for i, o := range []op.Op{op.Read, op.Write, op.Trim} {
		z := s.sizes(o)
		list[i] = SizeRange{z.low, z.low + z.step*int64(max(z.steps, 1)-1)}
		for _, p := range z.split {
			if list[i].Min == 0 || p.Bytes < list[i].Min {
				list[i].Min = p.Bytes
			}
			list[i].Max = max(list[i].Max, p.Bytes)
		}
	}
	return list
}

// sizes are the lengths of one direction: those of a split, or steps sizes from low on, step apart.
type sizes struct {
	split     Split
	low, step int64
	steps     uint64
}

// sizes of a direction. Those that a range yields are its multiples of the alignment; without one, of
// its smallest size, as fio rounds them. Of an impossible range there are none.
func (s *Spec) sizes(o op.Op) sizes {
	switch {
	case !s.BlockSizeRange.IsZero():
		r := pick(o, s.BlockSizeRange.list())
		step := s.BlockSizeAlign
		if step <= 0 {
			step = max(r.Min, 1)
		}
		low := (r.Min-1)/step*step + step
		if step > MaxTrimSize || low > r.Max {
			return sizes{}
		}
		return sizes{low: low, step: step, steps: uint64((r.Max-low)/step) + 1}
	case s.BlockSizeSplit.IsZero():
		return sizes{split: Fixed(s.BlockSize)}
	}
	return sizes{split: pick(o, s.BlockSizeSplit.list())}
}

// apart says whether directions have sizes of their own, rather than share one deck.
func (s *Spec) apart() bool {
	return len(s.BlockSizeSplit.list()) > 1 || len(s.BlockSizeRange.list()) > 1
}

// all calls f with the sizes of a split, or with the first and the last one of a range.
func (z *sizes) all(f func(int64)) {
	for _, p := range z.split {
		f(p.Bytes)
	}
	if z.steps > 0 {
		f(z.low)
		f(z.low + int64(z.steps-1)*z.step)
	}
}

// eachSize calls f with the sizes that the workload's directions have.
func (s *Spec) eachSize(f func(int64)) {
	for _, o := range s.drawing() {
		z := s.sizes(o)
		z.all(f)
	}
}

// MaxBlock is the largest size that the workload issues. Whoever gives a spec a split or a range sets
// BlockSize to it: whole blocks of a range and labels go by BlockSize.
func (s *Spec) MaxBlock() (largest int64) {
	s.eachSize(func(n int64) { largest = max(largest, n) })
	return largest
}

// MaxDataBlock is the largest size of its reads and writes, for which there must be buffers; 0 where it only trims.
func (s *Spec) MaxDataBlock() (largest int64) {
	for _, o := range s.drawing() {
		if o == op.Trim && !s.Pairs() { // of pairs the write is as long as its trim
			continue
		}
		z := s.sizes(o)
		z.all(func(n int64) { largest = max(largest, n) })
	}
	return largest
}

// sizeLimits says how long an I/O may be.
func sizeLimits() string {
	return fmt.Sprintf("1 byte to %s, trims to %s", unit.Size(MaxBlockSize), unit.Size(MaxTrimSize))
}

// MinBlock is the smallest size that the workload issues.
func (s *Spec) MinBlock() int64 {
	smallest := s.BlockSize
	s.eachSize(func(n int64) { smallest = min(smallest, n) })
	return smallest
}

// OneSize says whether all I/Os have the same size.
func (s *Spec) OneSize() bool { return s.MinBlock() == s.MaxBlock() }

// oneSizeEach says whether every direction has just one block size, its own or that of all.
func (s *Spec) oneSizeEach() bool {
	for _, o := range s.drawing() {
		if z := s.sizes(o); z.steps > 1 || len(z.split) > 1 {
			return false
		}
	}
	return true
}

// Grain is what the length of a range must be a multiple of: what divides all sizes, in bytes.
func (s *Spec) Grain() int64 { return s.grain() }

// grain is what all sizes, and so the lengths of ranges, are multiples of.
func (s *Spec) grain() int64 {
	if s.Whole {
		return sector // the last I/O may be shorter
	}
	var grain int64
	s.eachSize(func(n int64) { grain = gcd(grain, n) })
	for _, o := range s.drawing() {
		if z := s.sizes(o); z.steps > 1 {
			grain = gcd(grain, z.step)
		}
	}
	return max(grain, 1)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// SizeText is how labels name the sizes: "4k", "4k/60:64k/40", "4k-64k".
func (s *Spec) SizeText() string {
	switch {
	case !s.BlockSizeRange.IsZero():
		return s.BlockSizeRange.String()
	case s.OneSize():
		return unit.Size(s.BlockSize)
	}
	return s.BlockSizeSplit.String()
}

// checkSizes says what is wrong with the sizes.
func (s *Spec) checkSizes() error {
	if s.BlockSize <= 0 || s.BlockSize > MaxTrimSize {
		return fmt.Errorf("--bs %s: must be from %s", unit.Size(s.BlockSize), sizeLimits())
	}
	split, ranged := !s.BlockSizeSplit.IsZero(), !s.BlockSizeRange.IsZero()
	if split && ranged {
		return errors.New("--bsrange: goes without --bssplit and without sizes per direction in --bs")
	}
	if split {
		if err := s.BlockSizeSplit.check(); err != nil {
			return fmt.Errorf("--bssplit %s: %w", s.BlockSizeSplit, err)
		}
	}
	if s.BlockSizeAlign != 0 && !ranged {
		return fmt.Errorf("--bs-align %s: goes with --bsrange only", unit.Size(s.BlockSizeAlign))
	}
	if ranged {
		if err := s.checkRanges(); err != nil {
			return err
		}
	}
	largest := s.MaxBlock()
	if largest > MaxBlockSize {
		if data := s.MaxDataBlock(); data > MaxBlockSize {
			option := "--bs " + unit.Size(data)
			if ranged {
				option = "--bsrange " + s.BlockSizeRange.String()
			}
			return fmt.Errorf("%s: must be from %s", option, sizeLimits())
		}
	}
	if s.BlockSize < largest {
		return fmt.Errorf("--bs %s: must be the largest of the sizes, %s", unit.Size(s.BlockSize), unit.Size(largest))
	}
	return nil
}

func (s *Spec) checkRanges() error {
	if s.BlockSizeAlign < 0 || s.BlockSizeAlign > MaxTrimSize {
		return fmt.Errorf("--bs-align %s: must be from 1 byte to %s", unit.Size(s.BlockSizeAlign), unit.Size(MaxTrimSize))
	}
	for _, r := range s.BlockSizeRange.list() {
		if err := r.check(); err != nil {
			return fmt.Errorf("--bsrange %s: %w", s.BlockSizeRange, err)
		}
	}
	for _, o := range []op.Op{op.Read, op.Write, op.Trim} {
		if z := s.sizes(o); z.steps == 0 {
			return fmt.Errorf("--bs-align %s: --bsrange %s holds no multiple of it", unit.Size(s.BlockSizeAlign), s.BlockSizeRange)
		}
	}
	return nil
}
