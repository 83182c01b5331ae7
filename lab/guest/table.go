package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"blkstorm/lab/guest/cell"
)

// printTables puts the cells into tables, in the order in which rows and columns first came, and below
// them what failed and why.
func printTables(w io.Writer, cells []cell.Cell) {
	var tables []string
	for _, c := range cells {
		if !slices.Contains(tables, c.Table) {
			tables = append(tables, c.Table)
		}
	}
	for _, name := range tables {
		printTable(w, name, cells)
	}
	for _, c := range cells {
		if !c.OK {
			fmt.Fprintf(w, "\nFAILED %s, %s, %s\n  %s\n", c.Table, c.Row, c.Column, strings.ReplaceAll(c.Detail, "\n", "\n  "))
		}
	}
}

func printTable(w io.Writer, name string, cells []cell.Cell) {
	var rows, columns []string
	text := map[[2]string]string{}
	for _, c := range cells {
		if c.Table != name {
			continue
		}
		if !slices.Contains(rows, c.Row) {
			rows = append(rows, c.Row)
		}
		if !slices.Contains(columns, c.Column) {
			columns = append(columns, c.Column)
		}
		shown := c.Text
		if !c.OK {
			shown += " FAIL"
		}
		text[[2]string{c.Row, c.Column}] = shown
	}
	fmt.Fprintf(w, "\n%s\n", name)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "\t%s\n", strings.Join(columns, "\t"))
	for _, row := range rows {
		line := []string{row}
		for _, column := range columns {
			shown, ok := text[[2]string{row, column}]
			if !ok {
				shown = "-"
			}
			line = append(line, shown)
		}
		fmt.Fprintln(t, strings.Join(line, "\t"))
	}
	t.Flush()
}
