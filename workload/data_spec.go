package workload

import (
	"errors"
	"fmt"
	"strings"

	"blkstorm/unit"
)

// Kinds of content.
const (
	DataRandom  = "random"  // fresh random bytes
	DataZero    = "zero"    // nothing but zeros
	DataPattern = "pattern" // the same bytes over and over
	DataFile    = "file"    // a file over and over
)

// DedupeUnit is the size of the blocks that are duplicates of each other, unless told otherwise.
const DedupeUnit = 4096

// Content is what buffers are filled with.
type Content struct {
	Kind    string // one of the above; empty is random
	Pattern []byte // DataPattern: 1 to MaxPattern bytes
	File    string // DataFile: path of a regular file, of which at most MaxFile bytes are used
}

// DataSpec is what written blocks hold. With both percentages, the duplicates are compressible, too:
// 50 and 50 leave a quarter.
type DataSpec struct {
	Content     Content `json:"content,omitzero"`
	CompressPct int     `json:"compress_pct,omitzero"` // how much a compressor saves, 0 to 100
	DedupePct   int     `json:"dedupe_pct,omitzero"`   // units that are like another one, 0 to 100
	DedupeUnit  int64   `json:"dedupe_unit,omitzero"`  // bytes, a multiple of 512; 0: 4096
}

// ParseContent reads "random", "zero", "pattern:0xdeadbeef" (see ParsePattern) or "file:PATH".
func ParseContent(text string) (Content, error) {
	kind, rest, given := strings.Cut(text, ":")
	c := Content{Kind: kind}
	var err error
	switch kind {
	case DataRandom, DataZero:
		if given {
			return Content{}, fmt.Errorf("%s takes nothing after it", kind)
		}
		if kind == DataRandom {
			c.Kind = ""
		}
	case DataPattern:
		c.Pattern, err = ParsePattern(rest)
	case DataFile:
		if c.File = rest; rest == "" {
			err = errors.New("no path follows; write for example file:image.bin")
		}
	default:
		err = c.unknown()
	}
	if err != nil {
		return Content{}, err
	}
	return c, nil
}

func (c *Content) unknown() error {
	return fmt.Errorf("unknown content %q; known are %s, %s, %s:BYTES and %s:PATH", c.Kind, DataRandom, DataZero, DataPattern, DataFile)
}

// IsZero says that nothing but random bytes is asked for.
func (c Content) IsZero() bool { return c.Kind == "" || c.Kind == DataRandom }

// String writes the content as ParseContent reads it.
func (c Content) String() string {
	switch c.Kind {
	case "":
		return DataRandom
	case DataPattern:
		return c.Kind + ":" + patternText(c.Pattern)
	case DataFile:
		return c.Kind + ":" + c.File
	}
	return c.Kind
}

// MarshalText writes the content as plans hold it.
func (c Content) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// UnmarshalText reads what ParseContent reads.
func (c *Content) UnmarshalText(text []byte) (err error) {
	*c, err = ParseContent(string(text))
	return err
}

func (c *Content) check() error {
	switch c.Kind {
	case "", DataRandom, DataZero:
		return nil
	case DataPattern:
		if n := len(c.Pattern); n == 0 || n > MaxPattern {
			return fmt.Errorf("the pattern has %d bytes; 1 to %d are possible", n, MaxPattern)
		}
		return nil
	case DataFile:
		return checkFile(c.File)
	}
	return c.unknown()
}

// Asked is the option that asks for other data than random bytes, with its value; empty when none does.
func (s *DataSpec) Asked() string {
	switch {
	case !s.Content.IsZero():
		return "--data " + s.Content.String()
	case s.CompressPct != 0:
		return fmt.Sprintf("--compress-pct %d", s.CompressPct)
	case s.DedupePct != 0:
		return fmt.Sprintf("--dedupe-pct %d", s.DedupePct)
	}
	return ""
}

func (s *DataSpec) reduces() bool { return s.CompressPct > 0 || s.DedupePct > 0 }

// validate says what is wrong with the data, also with a file that cannot be read.
func (s *DataSpec) validate() error {
	for _, pct := range []struct {
		option string
		value  int
	}{{"--compress-pct", s.CompressPct}, {"--dedupe-pct", s.DedupePct}} {
		if pct.value < 0 || pct.value > 100 {
			return fmt.Errorf("%s %d: must be from 0 to 100", pct.option, pct.value)
		}
		if pct.value > 0 && !s.Content.IsZero() {
			return fmt.Errorf("%s %d: goes with random data; leave out --data %s, which has a content of its own", pct.option, pct.value, s.Content.Kind)
		}
	}
	if u := s.DedupeUnit; u < 0 || u > MaxBlockSize || u%chunk != 0 {
		return fmt.Errorf("--dedupe-unit %s: must be a multiple of %d, up to %s", unit.Size(u), chunk, unit.Size(MaxBlockSize))
	}
	if s.DedupeUnit > 0 && s.DedupePct == 0 {
		return fmt.Errorf("--dedupe-unit %s: goes with --dedupe-pct", unit.Size(s.DedupeUnit))
	}
	if err := s.Content.check(); err != nil {
		return fmt.Errorf("--data %s: %w", s.Content.Kind, err)
	}
	return nil
}
