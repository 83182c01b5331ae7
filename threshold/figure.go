package threshold

import "strings"

// ParseFigure reads the name of a figure, as it stands before the comparison of an assert: "iops",
// "read.mean", "response.p99". It gives the direction and the name that Source knows.
func ParseFigure(text string) (direction, figure string, err error) {
	return parseFigure(strings.ToLower(strings.TrimSpace(text)))
}
