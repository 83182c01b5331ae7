package report

import (
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// number prints v with the given decimals and commas between thousands.
func number(v float64, decimals int) string {
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	whole, rest, _ := strings.Cut(text, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if rest != "" {
		rest = "." + rest
	}
	return sign + whole + rest
}

// figure prints v with about four digits that mean something, and whole from 1000 on.
func figure(v float64) string {
	switch a := math.Abs(v); {
	case v == 0:
		return "0"
	case a < 10:
		return number(v, 2)
	case a < 1000:
		return number(v, 1)
	}
	return number(v, 0)
}

// whole prints a count with commas.
func whole[T int | int64 | uint64](n T) string { return humanize.Comma(int64(n)) }

// scale is a unit of latencies and how many nanoseconds it has.
type scale struct {
	Unit string
	NS   float64
}

// scaleFor is the unit for a table whose smallest mean latency is ns: µs up to 10 ms, then ms.
func scaleFor(ns int64) scale {
	if ns >= 10e6 {
		return scale{"ms", 1e6}
	}
	return scale{"µs", 1e3}
}

func (s scale) text(ns int64) string { return figure(float64(ns) / s.NS) }

// nanos splits a latency into a number and the unit that suits it alone.
func nanos(ns float64) (value, unit string) {
	switch {
	case ns < 1e3:
		return number(ns, 0), "ns"
	case ns < 1e6:
		return figure(ns / 1e3), "µs"
	case ns < 1e9:
		return figure(ns / 1e6), "ms"
	}
	return figure(ns / 1e9), "s"
}

func nanosText(ns float64) string {
	v, unit := nanos(ns)
	return v + " " + unit
}

// bytesText is a size in both kinds of units.
func bytesText(n int64) string {
	if n <= 0 {
		return "0 B"
	}
	return humanize.Bytes(uint64(n)) + " (" + humanize.IBytes(uint64(n)) + ")"
}

// secondsText is a time for people: milliseconds for short ones, whole seconds for long ones.
func secondsText(s float64) string {
	d := time.Duration(s * 1e9)
	switch {
	case d >= time.Minute:
		d = d.Round(time.Second)
	case d >= time.Second:
		d = d.Round(10 * time.Millisecond)
	default:
		d = d.Round(time.Millisecond)
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// sentence begins with a capital letter, unless its first word is a name such as io_uring.
func sentence(s string) string {
	word, _, _ := strings.Cut(s, " ")
	if word == "" || strings.ContainsAny(word, "_-./0123456789") {
		return s
	}
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[n:]
}

func plural[T int | int64 | uint64](n T, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return whole(n) + " " + noun + "s"
}

// column is numbers of the page's data: not a number becomes null, whole numbers keep every digit, and others
// five, which is more than a screen shows.
type column []float64

func (c column) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 8*len(c)+2)
	b = append(b, '[')
	for i, v := range c {
		if i > 0 {
			b = append(b, ',')
		}
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			b = append(b, "null"...)
		case v == math.Trunc(v) && math.Abs(v) < 1<<53:
			b = strconv.AppendInt(b, int64(v), 10)
		default:
			b = strconv.AppendFloat(b, v, 'g', 5, 64)
		}
	}
	return append(b, ']'), nil
}
