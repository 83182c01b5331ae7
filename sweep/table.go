package sweep

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Matrix lays out the points of a sweep that differ in two axes only.
type Matrix struct {
	Others   Combination // what its points have in common
	Row, Col string      // the names of the two axes; empty for one that the sweep does not have
	Rows     []string    // values of the row axis; a single empty one without it
	Cols     []string
	Points   [][]int // per row and column the index of the combination
}

// Matrices lays out the whole sweep, usually with rows of threads and columns of iodepth: one matrix per
// combination of the other axes, in their order.
func (s *Spec) Matrices(row, col string) []Matrix {
	var out []Matrix
	index := map[string]int{}
	for i, c := range s.All() {
		var others Combination
		for _, set := range c {
			if set.Name != row && set.Name != col {
				others = append(others, set)
			}
		}
		at, found := index[others.String()]
		if !found {
			at = len(out)
			index[others.String()] = at
			m := Matrix{Others: others}
			m.Row, m.Rows = s.values(row)
			m.Col, m.Cols = s.values(col)
			for range m.Rows {
				m.Points = append(m.Points, make([]int, len(m.Cols)))
			}
			out = append(out, m)
		}
		m := &out[at]
		r, _ := c.Get(row)
		k, _ := c.Get(col)
		m.Points[slices.Index(m.Rows, r)][slices.Index(m.Cols, k)] = i
	}
	return out
}

// values are the values of an axis; one that the sweep does not have has a single empty one.
func (s *Spec) values(name string) (string, []string) {
	for _, a := range s.Axes {
		if a.Name == name {
			return name, a.Values
		}
	}
	return "", []string{""}
}

// Text writes the matrix as lines, each with a newline: what the points have in common, a line with the
// figure's name and the column axis, the columns' values, and a line per row. cell gives the text of a
// point by its index.
func (m *Matrix) Text(figure string, cell func(int) string) string {
	head := append([]string{m.Row}, m.Cols...)
	grid := [][]string{head}
	for r, name := range m.Rows {
		line := []string{name}
		for _, i := range m.Points[r] {
			line = append(line, cell(i))
		}
		grid = append(grid, line)
	}
	widths := make([]int, len(head))
	for _, line := range grid {
		for i, text := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	var b strings.Builder
	write := func(line string) {
		if line = strings.TrimRight(line, " "); line != "" { // the head of a matrix without axes
			b.WriteString(line + "\n")
		}
	}
	if len(m.Others) > 0 {
		write(m.Others.String())
	}
	title := figure
	if m.Col != "" {
		title += " by " + m.Col
	}
	write(title)
	for _, line := range grid {
		text := ""
		for i, c := range line {
			text += strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)+2*min(i, 1)) + c
		}
		write(text)
	}
	return b.String()
}

// Figure is what the knee is found by: rate and latency of one point. Points that were skipped or did not
// complete have OK false.
type Figure struct {
	OK        bool
	IOPS      float64
	LatencyNS int64
}

// Knee is the index of the point with the most IOPS of those with a latency of at most limitNS; of equal ones
// that with the lower latency, then the first. It is false when no point keeps the limit.
func Knee(points []Figure, limitNS int64) (int, bool) {
	best := -1
	for i, p := range points {
		switch {
		case !p.OK || !(p.IOPS > 0) || p.LatencyNS > limitNS:
		case best < 0 || p.IOPS > points[best].IOPS,
			p.IOPS == points[best].IOPS && p.LatencyNS < points[best].LatencyNS:
			best = i
		}
	}
	return best, best >= 0
}
