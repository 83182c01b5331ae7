package main

import (
	"fmt"
	"time"

	"blkstorm/unit"
	"blkstorm/workload"
)

// sizeFlag, shareFlag and timeFlag let pflag read what unit reads, so that a wrong value is reported
// with the option's name.
type (
	sizeFlag  struct{ bytes *int64 }
	shareFlag struct{ share *unit.Share }
	timeFlag  struct{ d *time.Duration }
)

func (f sizeFlag) String() string {
	if f.bytes == nil || *f.bytes == 0 {
		return ""
	}
	return unit.Size(*f.bytes)
}
func (f sizeFlag) Type() string { return "SIZE" }
func (f sizeFlag) Set(s string) (err error) {
	*f.bytes, err = unit.Bytes(s)
	return err
}

func (f shareFlag) String() string {
	if f.share == nil || f.share.IsZero() {
		return ""
	}
	return f.share.String()
}
func (f shareFlag) Type() string { return "SIZE|PCT" }
func (f shareFlag) Set(s string) (err error) {
	*f.share, err = unit.ParseShare(s)
	return err
}

func (f timeFlag) String() string {
	if f.d == nil {
		return ""
	}
	return f.d.String()
}
func (f timeFlag) Type() string { return "TIME" }
func (f timeFlag) Set(s string) (err error) {
	*f.d, err = unit.Duration(s)
	return err
}

// textFlag is an option that the workload room reads.
type textFlag struct {
	value interface {
		fmt.Stringer
		IsZero() bool
		UnmarshalText([]byte) error
	}
	kind string
}

func (f textFlag) String() string {
	if f.value == nil || f.value.IsZero() {
		return ""
	}
	return f.value.String()
}
func (f textFlag) Type() string       { return f.kind }
func (f textFlag) Set(s string) error { return f.value.UnmarshalText([]byte(s)) }

// ratesFlag is a rate, or one per direction, in I/Os or in bytes per second.
type ratesFlag struct {
	rates *workload.Rates
	read  func(string) (workload.Rates, error)
	kind  string
}

func (f ratesFlag) String() string {
	if f.rates == nil || f.rates.IsZero() {
		return ""
	}
	return f.rates.String()
}
func (f ratesFlag) Type() string { return f.kind }
func (f ratesFlag) Set(s string) (err error) {
	*f.rates, err = f.read(s)
	return err
}
