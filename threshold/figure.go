package threshold

import "strings"

// ParseFigure reads a figure as an assert has it before its comparison, [DIRECTION.][latency.|response.]NAME,
// into what Source knows; the direction is "total" where none is given, and empty for figures of the machine.
func ParseFigure(text string) (direction, figure string, err error) {
	return parseFigure(strings.ToLower(strings.TrimSpace(text)))
}
