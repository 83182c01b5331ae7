package threshold

import "strings"

// ParseFigure reads the part of an assert before its comparison, [DIRECTION.][SCOPE.]NAME, for others who
// name figures: the comparison of results. The direction is "total" where none is written, and empty for
// figures of the machine; the figure is a name that Source knows.
func ParseFigure(text string) (direction, figure string, err error) {
	return parseFigure(strings.ToLower(strings.TrimSpace(text)))
}
