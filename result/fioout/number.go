package fioout

import "fmt"

var (
	plainUnits  = []string{"", "k", "M", "G", "T", "P"}
	binaryUnits = []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	metricUnits = []string{"B", "kB", "MB", "GB", "TB", "PB"}
)

// count writes a number in four digits: 9999, 11.5k, 1290k.
func count(v float64) string { return short(v, 1000, 4, plainUnits) }

// long writes a number in six digits: 111196, 1234.6k.
func long(v float64) string { return short(v, 1000, 6, plainUnits) }

// binary writes bytes: 9.77KiB, 38.4MiB.
func binary(v float64) string { return short(v, 1024, 4, binaryUnits) }

// metric writes bytes: 10.0kB, 40.3MB.
func metric(v float64) string { return short(v, 1000, 4, metricUnits) }

// short writes the whole part of a number in the smallest unit that leaves it at most so many digits, with
// decimals where those do not use them up. The last digit is rounded as fio's is: a half upwards where there
// are no decimals, and the fraction by itself, to the nearest, where there are.
func short(v float64, base uint64, digits int, units []string) string {
	limit := uint64(1)
	for range digits {
		limit *= 10
	}
	n, rest, unit := uint64(max(v, 0)), uint64(0), 0
	for n >= limit && unit < len(units)-1 {
		n, rest, unit = n/base, n%base, unit+1
	}
	decimals := digits - 1
	for left := n; left > 0; left /= 10 {
		decimals--
	}
	if unit == 0 || decimals <= 0 {
		if 2*rest >= base {
			n++
		}
		return fmt.Sprintf("%d%s", n, units[unit])
	}
	fraction := fmt.Sprintf("%.*f", decimals, float64(rest)/float64(base)) // 0.95, or 1.00
	if fraction[0] == '1' {
		n++
	}
	return fmt.Sprintf("%d%s%s", n, fraction[1:], units[unit])
}
