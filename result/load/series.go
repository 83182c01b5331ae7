package load

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strconv"
	"time"

	"blkstorm/histogram"
	"blkstorm/result"
)

// maxRow bounds a line of intervals.ndjson: one of 1000 targets has a tenth of that.
const maxRow = 16 << 20

// ErrNoHistogram is wrapped by Histogram where there are values, but no histogram of them.
var ErrNoHistogram = errors.New("has no histogram")

// Histogram decodes the histogram of a latency, with its exact figures; that of nil is empty.
func Histogram(l *result.Latency) (*histogram.Histogram, error) {
	h := histogram.New()
	return h, Decode(h, l)
}

// Decode is Histogram into h, whose own values go. After an error it is empty.
func Decode(h *histogram.Histogram, l *result.Latency) error {
	if l == nil || l.Count == 0 {
		h.Reset()
		return nil
	}
	if l.HDR == "" {
		h.Reset()
		return fmt.Errorf("a latency of %d values %w", l.Count, ErrNoHistogram)
	}
	if err := h.DecodeInto([]byte(l.HDR)); err != nil {
		return err
	}
	err := h.Restore(l.Min, l.Max, float64(l.Mean), float64(l.StdDev))
	if h.Count() != l.Count {
		err = fmt.Errorf("a histogram holds %d values where %d were counted", h.Count(), l.Count)
	}
	if err != nil {
		h.Reset()
	}
	return err
}

// Rows gives the interval rows, ramps included, one after the other with their Label, in the order in which
// they were measured; a folder's are read from its file as they are asked for. There may be rows of a point
// that the document does not have, of a run that was cut off within it: Interval.Point is then
// len(Doc.Points) or more. The line that was cut short (Gaps.RowsCut) is left out; another line that is damaged
// comes as an error, and whoever goes on after it gets the rows that follow.
func (r *Result) Rows() iter.Seq2[*result.Interval, error] {
	return func(yield func(*result.Interval, error) bool) {
		inside := false
		for i, p := range r.Doc.Points {
			for _, rows := range [][]*result.Interval{p.RampIntervals, p.Intervals} {
				for _, in := range rows {
					inside = true
					in.Point, in.Label = i, p.Label
					if !yield(in, nil) {
						return
					}
				}
			}
		}
		if !inside {
			r.rowsOfFile(yield)
		}
	}
}

func (r *Result) rowsOfFile(yield func(*result.Interval, error) bool) {
	fail := func(err error) bool {
		return yield(nil, fmt.Errorf("%s: %w", filepath.Join(r.dir, intervalsFile), err))
	}
	file, in, err := r.lines(intervalsFile)
	if err != nil {
		fail(reason(err))
		return
	}
	if file == nil {
		return
	}
	defer file.Close()
	var line []byte
	for number := 1; ; number++ {
		line = line[:0]
		part, err := in.ReadSlice('\n')
		for ; err != nil && len(part) > 0 && len(line) <= maxRow; part, err = in.ReadSlice('\n') {
			line = append(line, part...)
		}
		line = append(line, part...)
		if len(line) > maxRow {
			fail(fmt.Errorf("line %d is longer than any row", number))
			return
		}
		if errors.Is(err, io.EOF) {
			return // what is left was cut short
		}
		if err != nil {
			fail(reason(err))
			return
		}
		row, err := parseRow(line)
		if err != nil {
			if !fail(fmt.Errorf("line %d: %w", number, err)) {
				return
			}
			continue
		}
		if !yield(row, nil) {
			return
		}
	}
}

// Line is a line of a folder's histogram log: what one stream did on one target in one direction within
// one interval of a window.
type Line struct {
	Number    int    // of the line in the file, from 1
	Point     int    // as in Interval
	Stream    string // its label; its index where it has none
	Target    string // path
	Direction string // "read", "write", "trim" or "sync"
	Start     time.Time
	Length    time.Duration
	code      []byte
}

// Decode puts the line's histogram into h, whose own values go. The figures are those of its buckets, up to
// 0.05 % off.
func (l *Line) Decode(h *histogram.Histogram) error {
	if err := h.DecodeInto(l.code); err != nil {
		return fmt.Errorf("line %d: %w", l.Number, err)
	}
	return nil
}

// CopyTo makes to a copy of the line that stays valid; to's memory is used again.
func (l *Line) CopyTo(to *Line) {
	code := append(to.code[:0], l.code...)
	*to = *l
	to.code = code
}

// Log gives the lines of a folder's latency.hlog, in the order in which they were written, without their
// histograms. A line is valid until the next one. The line that was cut short (Gaps.LogCut) is left out;
// another line that is damaged comes as an error, and whoever goes on after it gets the lines that follow.
func (r *Result) Log() iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		fail := func(err error) bool { return yield(nil, fmt.Errorf("%s: %w", filepath.Join(r.dir, latencyFile), err)) }
		file, in, err := r.lines(latencyFile)
		if err != nil {
			fail(reason(err))
			return
		}
		if file == nil {
			return
		}
		defer file.Close()
		tags := map[string]*Line{}
		for text, err := range histogram.ReadLog(in) {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return // cut short
			}
			if err != nil {
				if !fail(err) {
					return
				}
				continue
			}
			line := tags[text.Tag]
			if line == nil {
				if line, err = parseTag(text.Tag); err != nil {
					if !fail(fmt.Errorf("line %d: %w", text.Number, err)) {
						return
					}
					continue
				}
				if len(tags) < maxTags {
					tags[text.Tag] = line
				}
			}
			line.Number, line.Start, line.Length, line.code = text.Number, text.Start, text.Length, text.Code
			if !yield(line, nil) {
				return
			}
		}
	}
}

// maxTags bounds how many tags are remembered.
const maxTags = 1 << 16

var directions = map[string]bool{"read": true, "write": true, "trim": true, "sync": true}

// parseTag takes apart a tag of result.Folder.Histograms.
func parseTag(tag string) (*Line, error) {
	parts, err := histogram.SplitLogTag(tag)
	if err != nil {
		return nil, err
	}
	if len(parts) != 4 || !directions[parts[3]] {
		return nil, fmt.Errorf("the tag %q is not point/stream/target/direction", bytes.TrimSpace([]byte(tag)))
	}
	point, err := strconv.Atoi(parts[0])
	if err != nil || point < 0 {
		return nil, fmt.Errorf("the tag %q begins with no point", tag)
	}
	return &Line{Point: point, Stream: parts[1], Target: parts[2], Direction: parts[3]}, nil
}
