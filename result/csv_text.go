package result

import (
	"strings"

	"blkstorm/printable"
)

// formula are the characters with which a spreadsheet takes a cell for a formula, those of full width
// included; the control characters that do so, too, are escaped anyway.
const formula = "=+-@＝＋－＠"

// csvText is a cell with text that others chose, such as a path or a label. What cannot be printed is escaped
// as everywhere (see printable), so that a row is one line. A cell that a spreadsheet would carry out, as
// "=cmd|..." in a label, gets an apostrophe before it, which makes it text there. Numbers never pass here.
func csvText(s string) string {
	s = printable.Text(s)
	if first := strings.TrimLeft(s, " "); first != "" && strings.ContainsRune(formula, []rune(first)[0]) {
		return "'" + s
	}
	return s
}
