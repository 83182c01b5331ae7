package result

import "strings"

// Numbers prints the values of a column, or of a row, as the tables of the text have them: all with
// the same number of decimals, thousands apart; a dash for NaN.
func Numbers(values []float64) []string {
	c := column{values: values}
	return c.cells()[2:]
}

// WriteGrid appends cells in columns to b, each line indented: the first left columns are names, the
// others numbers. What must not be printed is escaped.
func WriteGrid(b *strings.Builder, indent string, left int, rows [][]string) {
	t := table{left: left}
	for _, row := range rows {
		t.add(append([]string(nil), row...)...)
	}
	t.write(b, indent)
}

// WriteWrapped appends a sentence to b, broken into lines of at most width columns: the first after head, the
// others after rest. What must not be printed is escaped.
func WriteWrapped(b *strings.Builder, head, rest, text string, width int) {
	wrap(b, head, rest, text, width)
}
