package live

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dustin/go-humanize"

	"blkstorm/plan"
)

// Widths from which a frame has more.
const (
	narrow   = 72  // below it, figures stand in pairs instead of a table
	wide     = 100 // from here on the table has more percentiles
	maxWidth = 160 // lines that are longer are hard to read
)

// block is a part of a frame. When there is not enough room, those with the highest rank go first.
type block struct {
	rank  int
	lines []string
}

// frame draws a state at a time: at most height lines of at most width columns.
func frame(s *state, now time.Time, width, height int, ascii bool) []string {
	f := &framer{state: s, now: now, width: max(min(width, maxWidth), 1), height: height, ascii: ascii}
	if s.kind == "" {
		return nil // nothing has begun
	}
	lines := f.fit(f.blocks())
	for i, line := range lines {
		line = strings.TrimRight(line, " ")
		if ascii {
			line = toASCII(line)
		}
		lines[i] = cut(line, f.width, ascii)
	}
	return lines
}

// toASCII is for terminals that know no other characters.
func toASCII(line string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == 'µ':
			return 'u'
		case r == '…':
			return '~'
		case r >= utf8.RuneSelf:
			return '?'
		}
		return r
	}, line)
}

// cut ends a line that is too long so that one sees it.
func cut(line string, width int, ascii bool) string {
	if utf8.RuneCountInString(line) <= width {
		return line
	}
	end := "…"
	if ascii {
		end = "~"
	}
	return string([]rune(line)[:width-1]) + end
}

type framer struct {
	*state
	now           time.Time
	width, height int
	ascii         bool
}

// blocks are all parts in the order in which they stand, without the warnings.
func (f *framer) blocks() []block {
	gap := func(rank int) block { return block{rank, []string{""}} }
	list := []block{
		{1, []string{f.head()}},
		{2, []string{f.bar()}},
		{3, f.alert()},
		{5, f.planLine()},
	}
	if f.kind == plan.Idle {
		return list
	}
	if f.width < narrow || f.height < 12 {
		list = append(list, block{4, f.pairs()})
	} else {
		list = append(list, gap(20), block{4, f.table()}, block{7, []string{f.flight()}})
	}
	list = append(list, gap(21), block{8, f.chart("IOPS", &f.iops, count)}, block{13, f.chart("max", &f.slowest, latency)})
	if f.rule != nil || f.rounds != nil {
		list = append(list, gap(22), block{6, f.steadiness()})
	}
	if f.row != nil && len(f.row.Targets) > 1 {
		list = append(list, gap(30), block{31, f.targets()})
	}
	return list
}

// fit drops blocks until the rest fits, and gives warnings the room at the end.
func (f *framer) fit(list []block) []string {
	room := max(f.height-min(len(f.warnings), 1+f.height/12), min(f.height, 1))
	used := 0
	for _, b := range list {
		used += len(b.lines)
	}
	for used > room && len(list) > 0 {
		least := 0
		for i := range list {
			if list[i].rank > list[least].rank {
				least = i
			}
		}
		// A list of targets may be shown in part.
		if over := used - room; list[least].rank == 31 && len(list[least].lines) > over+2 {
			lines := list[least].lines
			hidden := over + 1
			list[least].lines = append(lines[:len(lines)-hidden:len(lines)-hidden], fmt.Sprintf("and %d more", hidden))
			used = room
			break
		}
		used -= len(list[least].lines)
		list = slices.Delete(list, least, least+1)
	}
	var lines []string
	for i, b := range list {
		gap := len(b.lines) == 1 && b.lines[0] == ""
		if gap && (i+1 == len(list) || len(list[i+1].lines) == 0) {
			continue // there is nothing to set apart
		}
		lines = append(lines, b.lines...)
	}
	return append(lines, f.warningLines(f.height-len(lines))...)
}

// head is what runs.
func (f *framer) head() string {
	text := f.kind
	switch {
	case f.kind == plan.Idle:
		return text
	case f.of < 0:
		text += fmt.Sprintf("  point %d", f.index+1)
	case f.of > 1:
		text += fmt.Sprintf("  point %d of %s", f.index+1, f.points())
	}
	return text + "  " + f.label
}

// bar is how far the point is, as a bar and in words.
func (f *framer) bar() string {
	part := f.done(f.now)
	words := fmt.Sprintf(" %3.0f %%  %s", 100*part, f.progress())
	if f.work && f.bytes == 0 && f.running {
		words = "  " + f.progress() // how much of it is over, nobody knows
	}
	full, empty := "█", "░"
	if f.ascii {
		full, empty = "#", "-"
	}
	columns := max(min(f.width-utf8.RuneCountInString(words)-2, f.width/2), 5)
	if f.width >= narrow {
		columns = min(f.width*2/5, columns) // the words get longer and shorter: the bar does not
	}
	filled := int(part*float64(columns) + 0.5)
	return "[" + strings.Repeat(full, filled) + strings.Repeat(empty, columns-filled) + "]" + words
}

// progress says in words how far the point is.
func (f *framer) progress() string {
	at := f.now.Sub(f.window)
	left, known := f.left(f.now)
	switch {
	case !f.running:
		return "done"
	case f.kind == plan.Idle:
		return span(left) + " left"
	case f.row == nil && f.work:
		return "begins"
	case f.bytes > 0:
		text := humanize.Bytes(f.moved) + " of " + humanize.Bytes(uint64(f.bytes))
		switch {
		case !known:
			return text
		case f.width < narrow:
			return span(left) + " left"
		}
		return text + ", " + span(left) + " left"
	case f.width < narrow && f.rule != nil:
		return "at most " + span(left)
	case f.width < narrow && f.work:
		return span(max(at, 0))
	case f.width < narrow && at >= 0:
		return span(left) + " left"
	case at < 0:
		return fmt.Sprintf("ramp %s of %s", span(at+f.ramp), span(f.ramp))
	case f.work:
		return span(at) + ", until its streams end"
	case f.rule != nil:
		return fmt.Sprintf("%s of at most %s", span(at), span(f.time))
	}
	return fmt.Sprintf("%s of %s, %s left", span(min(at, f.time)), span(f.time), span(left))
}

// alert is what needs attention at once.
func (f *framer) alert() (lines []string) {
	over := f.now.Sub(f.window) - f.time
	switch waits := f.running && f.timely && !f.work && over > 2*time.Second; {
	case waits:
		lines = append(lines, fmt.Sprintf("! over for %s: waiting for I/Os that are in flight", span(over)))
	case f.running && f.quiet >= 2:
		lines = append(lines, fmt.Sprintf("! nothing completed for %s, %s in flight: the device does not answer",
			span(seconds(f.quiet)), humanize.Comma(f.row.InFlight)))
	}
	if f.errors > 0 || f.short > 0 {
		lines = append(lines, fmt.Sprintf("! %s failed I/Os, %s short ones", humanize.Comma(int64(f.errors)), humanize.Comma(int64(f.short))))
	}
	return lines
}

func (f *framer) planLine() []string {
	left := f.planLeft(f.now)
	if left == "" {
		return nil
	}
	name := "whole plan"
	if f.width < narrow {
		name = "plan"
	}
	return []string{name + "  " + left}
}

// chart draws a series over the whole of the point. On a high terminal it is high, too.
func (f *framer) chart(name string, s *series, format func(float64) string) []string {
	rows := 1
	if f.height >= 30 {
		rows = 4
	}
	values := s.squeeze(max(f.width-5-16, 1))
	if len(values) == 0 {
		return nil
	}
	columns := max(f.width-5-16, len(values))
	lines := bars(values, s.top, rows, f.ascii)
	for i := range lines {
		label, top := "", ""
		if i == 0 {
			label, top = name, "top "+format(s.top)
		}
		lines[i] = fmt.Sprintf("%-5s%s%s%16s", label, lines[i], strings.Repeat(" ", columns-len(values)), top)
	}
	return lines
}

// warningLines are the warnings so far, in at most room lines: in full, or each cut to its line, or the
// last ones.
func (f *framer) warningLines(room int) []string {
	if len(f.warnings) == 0 || room <= 0 {
		return nil
	}
	var full, short []string
	for _, w := range f.warnings {
		head := "! [" + w.Code + "] "
		short = append(short, head+w.Message)
		full = append(full, wrap("", head+w.Message, f.width)...)
		if w.Advice != "" {
			full = append(full, wrap("  ", w.Advice, f.width)...)
		}
	}
	switch {
	case len(full) < room:
		return append([]string{""}, full...)
	case len(short) <= room:
		return short
	case room == 1:
		return []string{fmt.Sprintf("! %d warnings", len(short))}
	}
	hidden := len(short) - room + 1
	return append([]string{fmt.Sprintf("! %d warnings before", hidden)}, short[hidden:]...)
}

// wrap breaks a text between words; the lines after the first are indented, and with an indent so is the first.
func wrap(indent, text string, width int) (lines []string) {
	line, empty := indent, true
	for _, word := range strings.Fields(text) {
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			lines = append(lines, line)
			line, empty = "  ", true
		}
		if !empty {
			line += " "
		}
		line, empty = line+word, false
	}
	return append(lines, line)
}
