package published

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"blkstorm/printable"
	"blkstorm/result"
)

// maxWidth is where a wide table is continued below.
const maxWidth = 118

// WriteText writes the tables for people; nothing where there are none.
func WriteText(w io.Writer, d *result.Doc) error {
	tables := Tables(d)
	if len(tables) == 0 {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", printable.Text("the tables of "+d.Plan.Profile))
	if d.Plan.Quick {
		result.WriteWrapped(&b, "  ", "  ", "quick: the times are scaled down, so these figures show that the procedure works, and are not to be compared with published ones", result.TextWidth)
	}
	for i := range tables {
		tables[i].write(&b)
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("writing the tables of %s: %w", d.Plan.Profile, err)
	}
	return nil
}

func (t *Table) write(b *strings.Builder) {
	b.WriteString("\n" + strings.TrimRight("  "+printable.Text(t.Title), " ") + "\n")
	heads, rows := t.Grid()
	names := len(heads[0]) - len(t.Columns)
	grid := append(heads, rows...)
	for i := range grid {
		for j := range grid[i] {
			grid[i][j] = printable.Text(grid[i][j])
		}
	}
	alignMarks(grid, names)
	for i, part := range fold(grid, names, maxWidth-4) {
		if i > 0 {
			b.WriteString("\n")
		}
		result.WriteGrid(b, "    ", names, part)
	}
	for _, n := range t.Notes {
		result.WriteWrapped(b, "    ", "    ", n, result.TextWidth)
	}
}

// alignMarks has what carries no mark end where the figures of its column end that do.
func alignMarks(grid [][]string, names int) {
	for j := names; j < len(grid[0]); j++ {
		if !slices.ContainsFunc(grid, func(line []string) bool { return strings.HasSuffix(line[j], partialMark) }) {
			continue
		}
		for _, line := range grid {
			if !strings.HasSuffix(line[j], partialMark) {
				line[j] += strings.Repeat(" ", len(partialMark))
			}
		}
	}
}

// fold cuts a grid into as few grids as are no wider than width, each with the first names columns of all,
// and about as many of the others.
func fold(grid [][]string, names, width int) (parts [][][]string) {
	cuts := cut(grid, names, width, len(grid[0]))
	if even := cut(grid, names, width, (len(grid[0])-names+len(cuts)-1)/max(1, len(cuts))); len(even) == len(cuts) {
		cuts = even
	}
	from := names
	for _, to := range cuts {
		var part [][]string
		for _, line := range grid {
			part = append(part, append(append([]string(nil), line[:names]...), line[from:to]...))
		}
		parts, from = append(parts, part), to
	}
	return parts
}

// cut says behind which columns a grid is to be cut, if each part may have most columns beside its names.
func cut(grid [][]string, names, width, most int) (ends []int) {
	widths := make([]int, len(grid[0]))
	for _, line := range grid {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	base := 0
	for _, w := range widths[:names] {
		base += w + 2
	}
	for from := names; from < len(widths); from = ends[len(ends)-1] {
		to, used := from, base
		for to < len(widths) && to-from < most && (to == from || used+widths[to] <= width) {
			used += widths[to] + 2
			to++
		}
		ends = append(ends, to)
	}
	return ends
}
