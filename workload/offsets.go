package workload

import (
	"fmt"
	"strconv"
	"strings"

	"blkstorm/op"
	"blkstorm/unit"
)

// MaxStreams is the most sequential streams on a target.
const MaxStreams = 1 << 16

// MaxJumpEvery is the most I/Os between two random offsets.
const MaxJumpEvery = 1 << 30

// Percents is a share of all directions, or those of reads, of writes and of trims; without a third,
// trims have that of writes.
type Percents []int

// ParsePercents reads "25", or READ,WRITE,TRIM as in "0,25".
func ParsePercents(text string) (p Percents, err error) {
	parts, err := perDirection(text, "percentage")
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil || n < 0 || n > 100 {
			return nil, fmt.Errorf("%q must be a whole number from 0 to 100", part)
		}
		p = append(p, n)
	}
	return p, nil
}

// IsZero says that no percentage is given.
func (p Percents) IsZero() bool { return len(p) == 0 }

// String writes the percentages as ParsePercents reads them.
func (p Percents) String() string {
	parts := make([]string, len(p))
	for i, n := range p {
		parts[i] = strconv.Itoa(n)
	}
	return strings.Join(parts, ",")
}

// MarshalText writes the percentages as plans hold them.
func (p Percents) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// UnmarshalText reads what ParsePercents reads.
func (p *Percents) UnmarshalText(text []byte) (err error) {
	*p, err = ParsePercents(string(text))
	return err
}

// randomPct is the share of random offsets in a direction.
func (s *Spec) randomPct(o op.Op) int {
	switch {
	case len(s.RandomPct) > 0:
		return pick(o, s.RandomPct)
	case s.JumpEvery > 1:
		return max(100/s.JumpEvery, 1)
	case shapes[s.RW].random:
		return 100
	}
	return 0
}

// Random says whether all offsets are random.
func (s *Spec) Random() bool { return s.allRandom(100) }

// Sequential says whether no offset is random.
func (s *Spec) Sequential() bool { return s.allRandom(0) }

func (s *Spec) allRandom(pct int) bool {
	for _, o := range s.drawing() {
		if s.randomPct(o) != pct {
			return false
		}
	}
	return true
}

// Passes says whether there is such a thing as one pass: each block of the range once.
func (s *Spec) Passes() bool {
	return s.Coverage || s.Sequential() && s.OneSize() && s.Stride == 0 && s.SeqStreams == 0
}

// checkOffsets says what is wrong with where I/O shall go.
func (s *Spec) checkOffsets() error {
	if len(s.RandomPct) > 3 {
		return fmt.Errorf("--random-pct %s: takes one percentage, or READ,WRITE,TRIM", s.RandomPct)
	}
	for _, n := range s.RandomPct {
		if n < 0 || n > 100 {
			return fmt.Errorf("--random-pct %s: must be from 0 to 100", s.RandomPct)
		}
	}
	if err := s.Distribution.check(); err != nil {
		return fmt.Errorf("--random-distribution %s: %w", &s.Distribution, err)
	}
	if s.Coverage {
		if err := s.checkCoverage(); err != nil {
			return err
		}
	}
	switch {
	case s.JumpEvery < 0 || s.JumpEvery > MaxJumpEvery:
		return fmt.Errorf("jump_every %d: must be from 0 to %d", s.JumpEvery, MaxJumpEvery)
	case s.JumpEvery > 1 && (!shapes[s.RW].random || len(s.RandomPct) > 0 || s.Coverage):
		return fmt.Errorf("jump_every %d: goes with a random shape, without --random-pct and --coverage", s.JumpEvery)
	}
	switch random, sequential := s.Random(), s.Sequential(); {
	case s.BlockAlign < 0:
		return fmt.Errorf("--blockalign %d: must be over 0", s.BlockAlign)
	case s.BlockAlign > 0 && sequential:
		return fmt.Errorf("--blockalign %s: goes with random offsets; --rw %s has none", unit.Size(s.BlockAlign), s.RW)
	case !s.Distribution.IsZero() && sequential:
		return fmt.Errorf("--random-distribution %s: goes with random offsets; --rw %s has none", &s.Distribution, s.RW)
	case s.Stride < 0:
		return fmt.Errorf("--stride %d: must be over 0", s.Stride)
	case s.Stride > 0 && random:
		return fmt.Errorf("--stride %s: goes with sequential offsets; --rw %s has none", unit.Size(s.Stride), s.RW)
	case s.Backward && random:
		return fmt.Errorf("--backward: goes with sequential offsets; --rw %s has none", s.RW)
	case s.SeqStreams < 0 || s.SeqStreams > MaxStreams:
		return fmt.Errorf("--seq-streams %d: must be from 1 to %d", s.SeqStreams, MaxStreams)
	case s.SeqStreams > 0 && random:
		return fmt.Errorf("--seq-streams %d: goes with sequential offsets; --rw %s has none", s.SeqStreams, s.RW)
	}
	return nil
}

func (s *Spec) checkCoverage() error {
	switch {
	case !shapes[s.RW].random:
		return fmt.Errorf("--coverage: goes with random shapes; --rw %s meets every block by itself", s.RW)
	case !s.OneSize():
		return fmt.Errorf("--coverage: every block once a pass needs one block size, not %s", s.SizeText())
	case !s.Distribution.IsZero():
		return fmt.Errorf("--coverage: every block once a pass leaves no room for --random-distribution %s", &s.Distribution)
	case len(s.RandomPct) > 0:
		return fmt.Errorf("--coverage: every block once a pass leaves no room for --random-pct %s", s.RandomPct)
	case s.BlockAlign != 0 && s.BlockAlign != s.BlockSize:
		return fmt.Errorf("--coverage: every block once a pass needs --blockalign to be the block's size, %s, not %s",
			unit.Size(s.BlockSize), unit.Size(s.BlockAlign))
	}
	return nil
}

// Length is a number of bytes that a device must be able to do, with the option that gave it.
type Length struct {
	Option string
	Bytes  int64
}

// Lengths lists the sizes of I/Os and the distances between them.
func (s *Spec) Lengths() []Length {
	option := "--bs"
	switch {
	case !s.BlockSizeRange.IsZero():
		option = "--bsrange"
	case !s.OneSize():
		option = "--bssplit"
	}
	var list []Length
	s.eachSize(func(n int64) { list = append(list, Length{option, n}) })
	for _, l := range []Length{{"--bs-align", s.BlockSizeAlign}, {"--blockalign", s.BlockAlign}, {"--stride", s.Stride}} {
		if l.Bytes > 0 {
			list = append(list, l)
		}
	}
	return list
}

// Label names what is issued, in short: "randrw 70% read 4k/60:64k/40 zipf:1.2".
func (s *Spec) Label() string {
	parts := []string{s.RW}
	if s.Mixed() {
		parts = append(parts, fmt.Sprintf("%d%% read", s.ReadPct))
	}
	parts = append(parts, s.SizeText())
	if len(s.RandomPct) > 0 {
		parts = append(parts, s.RandomPct.String()+"% random")
	}
	if !s.Distribution.IsZero() {
		parts = append(parts, s.Distribution.String())
	}
	if s.Coverage {
		parts = append(parts, "coverage")
	}
	if s.JumpEvery > 1 {
		parts = append(parts, fmt.Sprintf("jump every %d", s.JumpEvery))
	}
	if s.Stride > 0 {
		parts = append(parts, "stride "+unit.Size(s.Stride))
	}
	if s.Backward {
		parts = append(parts, "backward")
	}
	if s.SeqStreams > 0 {
		parts = append(parts, fmt.Sprintf("%d streams", s.SeqStreams))
	}
	parts = append(parts, s.kinds()...)
	for _, part := range []struct {
		name  string
		share unit.Share
	}{{"offset", s.Offset}, {"size", s.Size}, {"working set", s.WorkingSet}} {
		if !part.share.IsZero() {
			parts = append(parts, part.name+" "+part.share.String())
		}
	}
	return strings.Join(parts, " ")
}
