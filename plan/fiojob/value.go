package fiojob

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"blkstorm/plan/fiojob/jobfile"
)

// How values are read was found by asking fio 3.42, since its manual says otherwise in places: with
// kb_base=1024, 4k, 4kb and 4ki are 4096 bytes and only 4kib is 4000; with kb_base=1000 just these two
// change places. Decimals are no numbers to it: 1.5m is 1.

// kbDefault and kbSI are the values of kb_base.
const kbDefault, kbSI = 1024, 1000

var errNumber = errors.New("must be a whole number, which may have a suffix k, m, g, t or p")

// number reads a count or a size of at least 0: decimal, or hexadecimal with 0x.
func number(text string, kbBase int64) (int64, error) {
	digits, suffix := leading(text)
	if digits == "" {
		return 0, errNumber
	}
	value, ok := new(big.Int).SetString(digits, 0)
	if !ok {
		if value, ok = new(big.Int).SetString(strings.TrimLeft(digits, "0"), 10); !ok { // 010 is ten, and 00 nothing
			value = new(big.Int)
		}
	}
	factor, ok := multiplier(strings.ToLower(strings.TrimRight(suffix, " ")), kbBase)
	if !ok {
		return 0, fmt.Errorf("%w; %q is none", errNumber, suffix)
	}
	value.Mul(value, factor)
	if !value.IsInt64() {
		return 0, fmt.Errorf("must be at most %d", int64(math.MaxInt64))
	}
	return value.Int64(), nil
}

// leading cuts text after its number.
func leading(text string) (digits, rest string) {
	hex := strings.HasPrefix(text, "0x") || strings.HasPrefix(text, "0X")
	end := 0
	if hex {
		end = 2
	}
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || hex && isHex(text[end])) {
		end++
	}
	if hex && end == 2 {
		return "", text
	}
	if !hex && end > 1 && text[0] == '0' {
		return strings.TrimLeft(text[:end-1], "0") + text[end-1:end], text[end:] // never octal
	}
	return text[:end], text[end:]
}

func isHex(c byte) bool { return c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

// multiplier is what a suffix, in lower case, stands for.
func multiplier(suffix string, kbBase int64) (*big.Int, bool) {
	if suffix == "" || suffix == "b" {
		return big.NewInt(1), true
	}
	power := strings.IndexByte("kmgtp", suffix[0]) + 1
	if power == 0 {
		return nil, false
	}
	base := kbBase
	switch suffix[1:] {
	case "", "b", "i":
	case "ib":
		base = kbDefault + kbSI - kbBase
	default:
		return nil, false
	}
	return new(big.Int).Exp(big.NewInt(base), big.NewInt(int64(power)), nil), true
}

// worked is a value in parentheses, worked out where the option is a number or a time; others are left alone. Times
// in parentheses are µs unless they have a unit (fio's manual, job file parameters).
func (o *Option) worked(value string, kbBase int64) (string, error) {
	if !jobfile.Parenthesised(value) {
		return value, nil
	}
	switch o.Kind {
	case Int, Number, Share, Triple, Range, Ranges:
		n, err := jobfile.Evaluate(value, func(suffix string) (*big.Int, bool) { return multiplier(suffix, kbBase) })
		if err != nil {
			return "", err
		}
		return n.String(), nil
	case Seconds, Micro:
		n, err := jobfile.Evaluate(value, microseconds)
		if err != nil {
			return "", err
		}
		return n.String() + "us", nil
	}
	return value, nil
}

// microseconds is how many a unit of time has, in lower case.
func microseconds(unit string) (*big.Int, bool) {
	if unit == "" {
		unit = "us"
	}
	d, err := duration("1"+unit, time.Microsecond)
	return big.NewInt(d.Microseconds()), err == nil && d >= time.Microsecond
}

// duration reads a time whose bare number is in unit.
func duration(text string, unit time.Duration) (time.Duration, error) {
	digits, suffix := leading(text)
	value, ok := new(big.Int).SetString(digits, 0)
	if digits == "" || !ok {
		return 0, errors.New("must be a time: a whole number, which may have a suffix d, h, m, s, ms or us")
	}
	switch strings.ToLower(strings.TrimSpace(suffix)) {
	case "":
	case "d":
		unit = 24 * time.Hour
	case "h":
		unit = time.Hour
	case "m":
		unit = time.Minute
	case "s":
		unit = time.Second
	case "ms", "msec":
		unit = time.Millisecond
	case "us", "usec":
		unit = time.Microsecond
	case "ns", "nsec":
		unit = time.Nanosecond
	default:
		return 0, fmt.Errorf("%q is no unit of time; known are d, h, m, s, ms and us", suffix)
	}
	value.Mul(value, big.NewInt(int64(unit)))
	if !value.IsInt64() {
		return 0, errors.New("must be at most 292 years")
	}
	return time.Duration(value.Int64()), nil
}

// flag reads 0 or 1; an option without a value is set.
func flag(text string, given bool) (bool, error) {
	if !given {
		return true, nil
	}
	n, err := number(text, kbDefault)
	if err != nil || n > 1 {
		return false, errors.New("must be 0 or 1")
	}
	return n == 1, nil
}

// float reads a decimal number.
func float(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, errors.New("must be a number")
	}
	return f, nil
}

// triple splits a value for reads, for writes and for trims: "4k,8k,4k". What is empty or left out is
// that of the one before, or, where unset is true, not given.
func triple(text string) (parts [3]string, n int, err error) {
	list := strings.Split(text, ",")
	if len(list) > 3 {
		return parts, 0, errors.New("has more than three parts: those of reads, writes and trims")
	}
	for i, part := range list {
		parts[i] = strings.TrimSpace(part)
	}
	return parts, len(list), nil
}
