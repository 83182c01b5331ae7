// Package published makes the tables of the published procedures: what a run of a profile has measured,
// under the names that the articles and reports use which made the procedure known.
//
// The text output and the HTML report call it with a document whose plan names its profile. It knows a
// point by what its plan says that it does (workload, threads, iodepth, phase), never by its label. It
// measures nothing and computes no figure that the document does not have, except sums over time.
package published

import (
	"fmt"
	"math"
	"slices"

	"blkstorm/result"
)

// Table is a table of figures.
type Table struct {
	Title   string
	Corner  string // what the names of the rows are
	Columns []Head
	Rows    []Row
	Same    bool     // all cells are the same figure
	Notes   []string // sentences below it: what its figures are, and where they differ from what was published
}

// Head names a column or a row. Units are those of the columns, or, where the figures of a column
// differ, of the rows.
type Head struct{ Name, Unit string }

// Row has a cell for each column of its table.
type Row struct {
	Head
	Cells []Cell
}

// Cell is a figure, or a text in its place.
type Cell struct {
	Value   float64 // in the unit of its column or row; NaN: there is none
	Text    string  // shown instead, when not empty
	Partial bool    // of a point that did not run to its end
}

// makers make the tables of each profile.
var makers = map[string]func(*run) []Table{
	"storagereview-ssd":      storageReview,
	"hcibench-storagereview": hcibench,
	"hcibench-easy-run":      hcibench,
	"vsan-cache-matrix":      cacheMatrix,
	"drive-spec":             driveSpec,
	"thread-ramp":            threadRamp,
	"four-corners":           corners,
	"oltp-mysql":             streams,
	"oltp-sqlserver":         streams,
	"nosql-marklogic":        streams,
	"vmmark-tile":            streams,
	"snia-iops":              sniaIOPS,
	"snia-throughput":        sniaThroughput,
	"snia-latency":           sniaLatency,
	"snia-wsat":              sniaSaturation,
}

// Profiles lists those that have tables, in alphabetical order.
func Profiles() []string {
	var list []string
	for name := range makers {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// Tables are those of the document's profile that have rows; none when its plan has no profile, or one without
// tables of its own. Points that have not run are left out.
func Tables(d *result.Doc) []Table {
	if d.Plan == nil || makers[d.Plan.Profile] == nil {
		return nil
	}
	r := newRun(d)
	list := makers[d.Plan.Profile](r)
	list = slices.DeleteFunc(list, func(t Table) bool { return len(t.Rows) == 0 })
	if n := len(d.Targets); n > 1 && len(list) > 0 {
		list[0].Notes = append(list[0].Notes, fmt.Sprintf("%d devices together; T/Q and rates are of each", n))
	}
	for i := range list {
		list[i].finish()
	}
	return list
}

// finish adds what holds for every table.
func (t *Table) finish() {
	for i := range t.Rows {
		if slices.ContainsFunc(t.Rows[i].Cells, func(c Cell) bool { return c.Partial }) {
			t.Notes = append(t.Notes, partialMark+" not completed")
			return
		}
	}
}

// partialMark follows a figure of what did not run to its end.
const partialMark = "*"

// Grid is the table as text: a line of names, a line of units where there are any, and the rows, each
// with its name first, and its unit second where rows have units. Nothing in it is escaped.
func (t *Table) Grid() (heads [][]string, rows [][]string) {
	byRow := slices.ContainsFunc(t.Rows, func(r Row) bool { return r.Unit != "" })
	names, units := []string{t.Corner}, []string{""}
	if byRow {
		names = append(names, "")
	}
	for _, c := range t.Columns {
		names, units = append(names, c.Name), append(units, c.Unit)
	}
	heads = [][]string{names}
	if slices.ContainsFunc(units, func(u string) bool { return u != "" }) && !byRow {
		heads = append(heads, units)
	}
	text := t.texts(byRow)
	for i, r := range t.Rows {
		line := []string{r.Name}
		if byRow {
			line = append(line, r.Unit)
		}
		rows = append(rows, append(line, text[i]...))
	}
	return heads, rows
}

// texts prints the cells; figures of one unit have the same number of decimals.
func (t *Table) texts(byRow bool) [][]string {
	text := make([][]string, len(t.Rows))
	for i := range text {
		text[i] = make([]string, len(t.Columns))
	}
	print := func(places [][2]int) {
		var values []float64
		var numbers [][2]int
		for _, at := range places {
			switch c := t.cell(at); {
			case c.Text != "":
				text[at[0]][at[1]] = c.Text
			default:
				values, numbers = append(values, c.Value), append(numbers, at)
			}
		}
		for i, s := range result.Numbers(values) {
			at := numbers[i]
			if text[at[0]][at[1]] = s; t.cell(at).Partial && !math.IsNaN(values[i]) {
				text[at[0]][at[1]] += partialMark
			}
		}
	}
	if t.Same {
		var places [][2]int
		for i := range t.Rows {
			for j := range t.Columns {
				places = append(places, [2]int{i, j})
			}
		}
		print(places)
		return text
	}
	if byRow {
		for i := range t.Rows {
			var places [][2]int
			for j := range t.Columns {
				places = append(places, [2]int{i, j})
			}
			print(places)
		}
		return text
	}
	for j := range t.Columns {
		var places [][2]int
		for i := range t.Rows {
			places = append(places, [2]int{i, j})
		}
		print(places)
	}
	return text
}

// cell is the one of a row and a column; a row that is too short has none.
func (t *Table) cell(at [2]int) Cell {
	if cells := t.Rows[at[0]].Cells; at[1] < len(cells) {
		return cells[at[1]]
	}
	return none()
}

func none() Cell            { return Cell{Value: math.NaN()} }
func number(v float64) Cell { return Cell{Value: v} }
func text(s string) Cell    { return Cell{Value: math.NaN(), Text: s} }
