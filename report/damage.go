package report

import (
	"fmt"
	"strings"

	"blkstorm/printable"
	"blkstorm/result"
	"blkstorm/result/load"
)

// damage is what of a folder's file cannot be read: the page goes without it, and says so.
type damage struct {
	name  string // of the file
	lacks string // what the page has without it
	lines int
	first string
}

func (d *damage) add(err error) {
	if d.lines++; d.lines > 1 {
		return
	}
	d.first = err.Error()
	if _, after, named := strings.Cut(d.first, d.name+": "); named {
		d.first = after // the page names the file, and where it lies is nobody's business
	}
}

// notes tell of it; cut says that the last line is cut short.
func (d *damage) notes(cut bool) (out []note) {
	say := func(format string, args ...any) {
		out = append(out, note{Class: "warn", Text: printable.Text(fmt.Sprintf(format, args...)) + " " + d.lacks})
	}
	switch {
	case d.lines == 1:
		say("A part of %s cannot be read, and is left out: %s.", d.name, d.first)
	case d.lines > 1:
		say("%s of %s cannot be read, and are left out; the first: %s.", plural(d.lines, "line"), d.name, d.first)
	}
	if cut {
		say("The last line of %s is cut short, and left out.", d.name)
	}
	return out
}

// files are the damages of a result's files.
type files struct{ rows, log damage }

func newFiles() *files {
	return &files{
		rows: damage{name: "intervals.ndjson", lacks: "Charts over time lack what it had."},
		log:  damage{name: "latency.hlog", lacks: "The map of latencies lacks what it had."},
	}
}

func (f *files) notes(r *load.Result) []note {
	return append(f.rows.notes(r.Gaps.RowsCut), f.log.notes(r.Gaps.LogCut)...)
}

// rowsOf gives the rows that can be read.
func (f *files) rowsOf(r *load.Result, take func(*result.Interval)) {
	for in, err := range r.Rows() {
		if err != nil {
			f.rows.add(err)
			continue
		}
		take(in)
	}
}
