package metrics

import (
	"strconv"

	"blkstorm/printable"
)

// label makes a value for a label of what others chose: paths, labels, serial numbers. The format holds
// any UTF-8, and refuses a whole page for a byte that is none; and what is shown from there on must not
// carry control characters.
func label(s string) string { return printable.Text(s) }

func yes(b bool) string { return strconv.FormatBool(b) }
