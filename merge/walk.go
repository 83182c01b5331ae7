package merge

import (
	"fmt"
	"iter"

	"blkstorm/result"
	"blkstorm/result/load"
)

// slice is one interval of a window: its row, and the lines of the histogram log for it.
type slice struct {
	row   *result.Interval
	lines []*load.Line
	whole bool // the log has what the row counts
}

// walker goes through the rows and the histogram log of a folder side by side.
type walker struct {
	rows     func() (*result.Interval, error, bool)
	log      func() (*load.Line, error, bool)
	stop     []func()
	pending  *load.Line // the next line of the log
	lines    []load.Line
	lost     string // what the log lacks first, or why it cannot be read on
	slice    slice
	finished bool // the log
	name     string
}

func newWalker(r *load.Result) *walker {
	w := &walker{name: r.Name()}
	var stopRows, stopLog func()
	w.rows, stopRows = iter.Pull2(r.Rows())
	w.log, stopLog = iter.Pull2(r.Log())
	w.stop = []func(){stopRows, stopLog}
	return w
}

func (w *walker) close() {
	for _, stop := range w.stop {
		stop()
	}
}

// next is the next interval of a window, valid until the one after it; nil at the end.
func (w *walker) next() (*slice, error) {
	for {
		row, err, more := w.rows()
		if err != nil || !more {
			return nil, err
		}
		if row.Ramp {
			continue
		}
		w.collect(row)
		return &w.slice, nil
	}
}

// collect gathers the lines of a row. Lines of rows that are not there are passed over.
func (w *walker) collect(row *result.Interval) {
	n, data := 0, false
	for {
		if w.pending == nil && !w.finished {
			w.read()
		}
		l := w.pending
		if l == nil || l.Point > row.Point || l.Point == row.Point && l.Start.UnixNano() > row.StartUnixNS {
			break
		}
		if l.Point == row.Point && l.Start.UnixNano() == row.StartUnixNS {
			if n == len(w.lines) {
				w.lines = append(w.lines, load.Line{})
			}
			l.CopyTo(&w.lines[n])
			n++
			data = data || l.Direction != "sync"
		}
		w.pending = nil
	}
	w.slice.row, w.slice.lines = row, w.slice.lines[:0]
	for i := range n {
		w.slice.lines = append(w.slice.lines, &w.lines[i])
	}
	w.slice.whole = data || row.Read.IOs+row.Write.IOs+row.Trim.IOs == 0
	if !w.slice.whole && w.lost == "" {
		w.lost = fmt.Sprintf("its latency.hlog ends, or has a gap, %.3f s after the start of the window of point %d", row.TS, row.Point+1)
	}
}

func (w *walker) read() {
	line, err, more := w.log()
	switch {
	case err != nil:
		w.finished = true
		if w.lost == "" {
			w.lost = err.Error()
		}
	case !more:
		w.finished = true
	default:
		w.pending = line
	}
}

func lineError(l *load.Line, why string) error { return fmt.Errorf("line %d: %s", l.Number, why) }

func countError(row *result.Interval, direction string, has, want uint64) error {
	return fmt.Errorf("point %d, %.3f s: it has %d I/Os of direction %s where the row counts %d", row.Point+1, row.TS, has, direction, want)
}

func targetsError(row *result.Interval, targets int) error {
	return fmt.Errorf("point %d, %.3f s: the row has %d targets, and the run %d", row.Point+1, row.TS, len(row.Targets), targets)
}
