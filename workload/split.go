package workload

import (
	"fmt"
	"strings"

	"blkstorm/unit"
)

// MaxParts is the most sizes of a split and the most zones of a distribution; fio's limit for sizes
// is the same.
const MaxParts = 64

// SizeShare is one size of a split, and the share of the I/Os that have it.
type SizeShare struct {
	Bytes int64
	Share unit.Percent
}

// Split is a mix of sizes in one direction; the shares sum to 100 %. It is exact in each 100
// consecutive I/Os that share it, or in each 10 000 when a share has a fraction of a percent.
type Split []SizeShare

// Splits are the sizes of all directions. Without Write and Trim, one split holds for all together;
// with Write, each direction has its own, exact in its own 100 I/Os. Without Trim, trims have the
// split of writes.
type Splits struct{ Read, Write, Trim Split }

// Fixed is the split of a single size.
func Fixed(size int64) Split { return Split{{size, unit.Whole}} }

// ParseSplits reads fio's bssplit: "4k/60:64k/40", or READ,WRITE,TRIM. A size without a share gets its
// part of what the others leave. bs are the sizes of directions that are left empty, as in ",64k/100":
// of reads, writes and trims, 0 where that must not be.
func ParseSplits(text string, bs [3]int64) (s Splits, err error) {
	list, err := perDirection(text, "split")
	if err != nil {
		return s, err
	}
	for i, to := range []*Split{&s.Read, &s.Write, &s.Trim}[:len(list)] {
		if *to, err = parseSplit(list[i], len(list) > 1, bs[i]); err != nil {
			return s, err
		}
	}
	return s, nil
}

func parseSplit(text string, optional bool, bs int64) (Split, error) {
	if strings.TrimSpace(text) == "" && optional && bs > 0 {
		return Fixed(bs), nil
	}
	parts := strings.Split(text, ":")
	if len(parts) > MaxParts {
		return nil, fmt.Errorf("has %d sizes; at most %d are possible", len(parts), MaxParts)
	}
	split := make(Split, len(parts))
	shares := make([]string, len(parts))
	for i, part := range parts {
		var size string
		var err error
		size, shares[i], _ = strings.Cut(part, "/")
		if split[i].Bytes, err = unit.Bytes(size); err != nil {
			return nil, err
		}
	}
	percents, err := parseShares(shares)
	if err != nil {
		return nil, err
	}
	used := split[:0]
	for i := range split {
		if split[i].Share = percents[i]; percents[i] > 0 {
			used = append(used, split[i])
		}
	}
	return used, nil
}

// parseShares reads percentages that must sum to 100. Those that are empty share the rest: equally, to
// the hundredth of a percent, of which the first ones get what cannot be divided.
func parseShares(list []string) ([]unit.Percent, error) {
	shares := make([]unit.Percent, len(list))
	var sum, open unit.Percent
	for i, text := range list {
		if strings.TrimSpace(text) == "" {
			open++
			shares[i] = -1
			continue
		}
		var err error
		if shares[i], err = unit.ParsePercent(text); err != nil {
			return nil, err
		}
		sum += shares[i]
	}
	if sum > unit.Whole || sum < unit.Whole && open == 0 {
		return nil, sumError(sum)
	}
	rest := unit.Whole - sum
	for i := range shares {
		if shares[i] < 0 {
			shares[i] = (rest + open - 1) / open
			rest -= shares[i]
			open--
		}
	}
	return shares, nil
}

func sumError(sum unit.Percent) error {
	return fmt.Errorf("the shares sum to %s %%, not to 100", sum)
}

// String writes the split as fio's bssplit has it.
func (s Split) String() string {
	parts := make([]string, len(s))
	for i, p := range s {
		parts[i] = unit.Size(p.Bytes) + "/" + p.Share.String()
	}
	return strings.Join(parts, ":")
}

// check says what is wrong with a split that a program made.
func (s Split) check() error {
	if len(s) > MaxParts {
		return fmt.Errorf("has %d sizes; at most %d are possible", len(s), MaxParts)
	}
	var sum unit.Percent
	for _, p := range s {
		if p.Bytes <= 0 || p.Bytes > MaxTrimSize {
			return fmt.Errorf("size %s must be from %s", unit.Size(p.Bytes), sizeLimits())
		}
		if p.Share <= 0 || p.Share > unit.Whole {
			return fmt.Errorf("the share of %s, %s %%, must be over 0 and up to 100", unit.Size(p.Bytes), p.Share)
		}
		sum += p.Share
	}
	if sum != unit.Whole {
		return sumError(sum)
	}
	return nil
}

// IsZero says that no split is given.
func (s Splits) IsZero() bool { return len(s.list()) == 1 && len(s.Read) == 0 }

// list has the splits of reads, writes and trims as far as they differ.
func (s Splits) list() []Split {
	list := []Split{s.Read, s.Write, s.Trim}
	if len(s.Write) == 0 {
		list[1] = s.Read
	}
	if len(s.Trim) > 0 {
		return list
	}
	if len(s.Write) > 0 {
		return list[:2]
	}
	return list[:1]
}

func (s Splits) check() error {
	for _, split := range s.list() {
		if err := split.check(); err != nil {
			return err
		}
	}
	return nil
}

// String writes the splits as ParseSplits reads them.
func (s Splits) String() string {
	var parts []string
	for _, split := range s.list() {
		parts = append(parts, split.String())
	}
	return strings.Join(parts, ",")
}

// MarshalText writes the splits as plans hold them.
func (s Splits) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what ParseSplits reads; no direction may be empty.
func (s *Splits) UnmarshalText(text []byte) (err error) {
	*s, err = ParseSplits(string(text), [3]int64{})
	return err
}

// Bytes lists the sizes of all directions.
func (s Splits) Bytes() (list []int64) {
	for _, split := range s.list() {
		for _, p := range split {
			list = append(list, p.Bytes)
		}
	}
	return list
}
