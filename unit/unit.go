// Package unit reads the sizes and times that people write and prints the ones they read.
//
// Sizes on the way in are 1024-based, as fio users mean them: 4k is 4096 bytes, and so are 4K, 4kb
// and 4KiB. (go-humanize's ParseBytes reads "4k" as 4000, so it is used for output only.) The front
// ends and the flags call it; it knows nothing of devices or workloads.
package unit

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"time"
)

// sizeShift maps the letter of a size suffix to its power of two.
var sizeShift = map[byte]uint{'k': 10, 'm': 20, 'g': 30, 't': 40, 'p': 50}

// splitNumber cuts s after its leading decimal number.
func splitNumber(s string) (number, suffix string) {
	end := 0
	for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.') {
		end++
	}
	return s[:end], s[end:]
}

// Bytes reads a size: a decimal number, with or without a fraction, and an optional suffix k, m, g,
// t or p, each also as kb or kib, in any case; no suffix or "b" means bytes. The result is at least
// 0 and fits an int64. "1.5k" is 1536; a fraction that gives no whole number of bytes is an error.
func Bytes(s string) (int64, error) {
	text := strings.TrimSpace(s)
	number, suffix := splitNumber(text)
	if number == "" {
		return 0, fmt.Errorf("size %q does not begin with a number; write for example 4k, 128k, 1g", s)
	}
	value, ok := new(big.Rat).SetString(number)
	if !ok {
		return 0, fmt.Errorf("size %q: %q is not a number; write for example 4k, 128k, 1g", s, number)
	}
	shift, ok := suffixShift(strings.ToLower(suffix))
	if !ok {
		return 0, fmt.Errorf("size %q: unknown suffix %q; known are k, m, g, t and p (1024-based), also as kb or kib", s, suffix)
	}
	value.Mul(value, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), shift)))
	if !value.IsInt() {
		return 0, fmt.Errorf("size %q is not a whole number of bytes", s)
	}
	if !value.Num().IsInt64() {
		return 0, fmt.Errorf("size %q is over the limit of %d bytes", s, int64(math.MaxInt64))
	}
	return value.Num().Int64(), nil
}

func suffixShift(suffix string) (uint, bool) {
	if suffix == "" || suffix == "b" {
		return 0, true
	}
	shift, ok := sizeShift[suffix[0]]
	if !ok {
		return 0, false
	}
	switch suffix[1:] {
	case "", "b", "ib":
		return shift, true
	}
	return 0, false
}

// Share is a size that may be given as a share of a whole: "20%" or "10g". The zero value means
// "not given".
type Share struct {
	Bytes   int64   `json:"bytes,omitempty"`
	Percent float64 `json:"percent,omitempty"`
}

// ParseShare reads a size or a percentage over 0 and up to 100.
func ParseShare(s string) (Share, error) {
	text := strings.TrimSpace(s)
	if number, found := strings.CutSuffix(text, "%"); found {
		value, ok := new(big.Rat).SetString(strings.TrimSpace(number))
		if !ok {
			return Share{}, fmt.Errorf("percentage %q: %q is not a number", s, number)
		}
		percent, _ := value.Float64()
		if percent < 0 || percent > 100 {
			return Share{}, fmt.Errorf("percentage %q is outside 0%% to 100%%", s)
		}
		return Share{Percent: percent}, nil
	}
	bytes, err := Bytes(text)
	return Share{Bytes: bytes}, err
}

// Of is the share in bytes of a whole of size bytes, rounded down.
func (s Share) Of(size int64) int64 {
	if s.Percent == 0 {
		return s.Bytes
	}
	// Whole percents are exact; a float64 alone would be off by bytes on petabyte devices.
	r := new(big.Rat).SetFloat64(s.Percent)
	r.Mul(r, new(big.Rat).SetFrac(big.NewInt(size), big.NewInt(100)))
	return new(big.Int).Quo(r.Num(), r.Denom()).Int64()
}

// IsZero says whether no share was given.
func (s Share) IsZero() bool { return s == Share{} }

// String writes the share as ParseShare reads it.
func (s Share) String() string {
	if s.Percent != 0 {
		return fmt.Sprintf("%g%%", s.Percent)
	}
	return Size(s.Bytes)
}

// Duration reads a time: Go's form ("1m30s", "500ms"), days ("2d"), or a bare number of seconds, as
// fio's runtime= is written. The result is at least 0.
func Duration(s string) (time.Duration, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	number, suffix := splitNumber(text)
	if days, rest, found := strings.Cut(suffix, "d"); number != "" && found && days == "" {
		whole, err := scaled(s, number, 24*time.Hour)
		if err != nil || rest == "" {
			return whole, err
		}
		more, err := Duration(rest) // "1d12h"
		if err != nil || more > math.MaxInt64-whole {
			return 0, fmt.Errorf("time %q: write for example 30s, 5m, 1h30m, 2d, 1d12h", s)
		}
		return whole + more, nil
	}
	if number != "" {
		switch suffix {
		case "":
			text += "s"
		case "min":
			return scaled(s, number, time.Minute)
		case "sec":
			return scaled(s, number, time.Second)
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("time %q: write for example 30s, 5m, 1h30m, 2d; a bare number is seconds", s)
	}
	if d < 0 {
		return 0, fmt.Errorf("time %q is below 0", s)
	}
	return d, nil
}

func scaled(s, number string, unit time.Duration) (time.Duration, error) {
	value, ok := new(big.Rat).SetString(number)
	if !ok {
		return 0, fmt.Errorf("time %q: %q is not a number", s, number)
	}
	value.Mul(value, new(big.Rat).SetInt64(int64(unit)))
	whole := new(big.Int).Quo(value.Num(), value.Denom())
	if !whole.IsInt64() {
		return 0, fmt.Errorf("time %q is over the limit of 292 years", s)
	}
	return time.Duration(whole.Int64()), nil
}

// Size prints bytes the way job files write them: the largest 1024-based suffix that leaves a whole
// number, so that Bytes reads the same value back. 4096 is "4k", 512 is "512".
func Size(n int64) string {
	const letters = "kmgtp"
	shift := 0
	for shift < len(letters) && n != 0 && n%1024 == 0 {
		n /= 1024
		shift++
	}
	if shift == 0 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%d%c", n, letters[shift-1])
}

// Nanos prints a time in ns with a unit that suits its size and four significant digits: "97.31 µs".
func Nanos(ns float64) string {
	switch {
	case ns < 1e3:
		return fmt.Sprintf("%s ns", digits(ns))
	case ns < 1e6:
		return fmt.Sprintf("%s µs", digits(ns/1e3))
	case ns < 1e9:
		return fmt.Sprintf("%s ms", digits(ns/1e6))
	default:
		return fmt.Sprintf("%s s", digits(ns/1e9))
	}
}

// digits keeps four significant digits of a value below 1000, and whole numbers above.
func digits(v float64) string {
	switch {
	case v >= 1000:
		return fmt.Sprintf("%.0f", v)
	case v >= 100:
		return fmt.Sprintf("%.1f", v)
	case v >= 10:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.3f", v)
	}
}
