package result

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"blkstorm/printable"
)

// table lays out cells in columns: names to the left, numbers to the right.
type table struct {
	rows [][]string
	left int // this many columns, the first ones, are names
}

func (t *table) add(cells ...string) {
	for i, cell := range cells {
		cells[i] = printable.Text(cell)
	}
	t.rows = append(t.rows, cells)
}

// write appends the table to b, each line indented.
func (t *table) write(b *strings.Builder, indent string) {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range t.rows {
		line := indent
		for i, cell := range row {
			if i > 0 {
				line += "  "
			}
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i < t.left {
				line += cell + pad
			} else {
				line += pad + cell
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// column is a column of numbers, printed with the same number of decimals, so that the points stand
// in a line and the eye compares lengths. NaN is a value that is not there.
type column struct {
	head, unit string
	values     []float64
}

// cells prints the column: its head, its unit, its values. All have as many decimals as the smallest
// but zero needs for three digits, and not much more than the largest needs.
func (c *column) cells() []string {
	smallest, largest := math.Inf(1), 0.0
	for _, v := range c.values {
		if v > 0 {
			smallest, largest = min(smallest, v), max(largest, v)
		}
	}
	places := 0
	if largest > 0 {
		places = min(decimals(smallest), decimals(largest)+1)
	}
	out := []string{c.head, c.unit}
	for _, v := range c.values {
		out = append(out, number(v, places))
	}
	return out
}

// decimals is how many a value needs to have at least three digits.
func decimals(v float64) int {
	switch {
	case v >= 1000:
		return 0
	case v >= 10:
		return 1
	case v >= 1:
		return 2
	}
	return 3
}

// number prints v with thousands separators and a fixed number of decimals; a dash for NaN.
func number(v float64, decimals int) string {
	if math.IsNaN(v) {
		return "-"
	}
	whole, fraction, found := strings.Cut(strconv.FormatFloat(v, 'f', decimals, 64), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil { // no counter and no rate gets beyond 2^63; print such a thing as it is
		return whole
	}
	if found {
		return humanize.Comma(n) + "." + fraction
	}
	return humanize.Comma(n)
}

// commas prints a count.
func commas(n uint64) string { return number(float64(n), 0) }

// wrap breaks text between words into lines of at most width columns, the first after head and the
// others indented as far as rest.
func wrap(b *strings.Builder, head, rest, text string, width int) {
	line, empty := head, true
	for _, word := range strings.Fields(text) {
		word = printable.Text(word)
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			b.WriteString(line + "\n")
			line, empty = rest, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	b.WriteString(strings.TrimRight(line, " ") + "\n")
}
