// Package printable makes text that others chose, such as paths, labels and names of devices, safe to
// show: nothing in it can move the cursor, change colours, or fake a line of output.
//
// Whatever prints for people calls it: the text result, the live view, lists and messages. Files that
// programs read (JSON, CSV) have their own quoting.
package printable

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean says that s has no control character, no invisible one that reorders text, and no byte that
// is no UTF-8, which some terminals take for a control character.
func clean(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Name is a name as it is, or quoted as in Go when it holds what must not be printed.
func Name(s string) string {
	if clean(s) {
		return s
	}
	return strconv.Quote(s)
}

// Text is a sentence on one line, with what must not be printed escaped as in Go: "\x1b", "\n".
func Text(s string) string { return escape(s, "") }

// Lines is Text that keeps line ends, for what has more than one line.
func Lines(s string) string { return escape(s, "\n") }

// escape leaves the characters of keep.
func escape(s, keep string) string {
	if clean(s) {
		return s
	}
	var b strings.Builder
	for i, n := 0, 0; i < len(s); i += n {
		var r rune
		r, n = utf8.DecodeRuneInString(s[i:])
		switch part := s[i : i+n]; {
		case r == utf8.RuneError && n == 1, !unicode.IsPrint(r) && !strings.ContainsRune(keep, r):
			quoted := strconv.Quote(part)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteString(part)
		}
	}
	return b.String()
}
