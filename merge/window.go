package merge

import (
	"math"
	"slices"
	"time"

	"blkstorm/result"
)

// run is equally long intervals, one after the other without a gap; times are wall clock nanoseconds.
type run struct {
	start, length int64
	n             int
}

func (r *run) end() int64 { return r.start + int64(r.n)*r.length }

// within is how many of the intervals lie whole within a window, and where the first of these begins.
func (r *run) within(from, until int64) (n int, first int64) {
	skip := max(0, (from-r.start+r.length-1)/r.length)
	fits := (until - r.start) / r.length
	return int(max(0, min(fits, int64(r.n))-skip)), r.start + skip*r.length
}

// series is what the files of a folder have of a point's window: intervals with their histograms.
type series struct {
	runs  []run
	ended bool // what comes is not sound
	// unit is the length of an interval; the last one of a window may be shorter, and is not used.
	unit int64
}

// append adds an interval.
func (s *series) append(row *result.Interval) {
	length := int64(math.Round(row.LengthS * 1e9))
	if s.ended || length <= 0 || row.StartUnixNS > math.MaxInt64/2 {
		return
	}
	if s.unit == 0 {
		s.unit = length
	}
	if n := len(s.runs); n > 0 && s.runs[n-1].length == length && s.runs[n-1].end() == row.StartUnixNS {
		s.runs[n-1].n++
		return
	}
	s.runs = append(s.runs, run{start: row.StartUnixNS, length: length, n: 1})
}

// cutAt takes away the interval that begins at start and all after it.
func (s *series) cutAt(start int64) {
	s.ended = true
	for i := range s.runs {
		r := &s.runs[i]
		if start >= r.start && start < r.end() {
			r.n = int((start - r.start) / r.length)
			s.runs = s.runs[:i]
			if r.n > 0 {
				s.runs = s.runs[:i+1]
			}
			return
		}
	}
}

func (s *series) empty() bool  { return len(s.runs) == 0 }
func (s *series) start() int64 { return s.runs[0].start }
func (s *series) end() int64   { return s.runs[len(s.runs)-1].end() }

// length is how long all intervals take together, in seconds.
func (s *series) length() float64 {
	sum := int64(0)
	for i := range s.runs {
		sum += int64(s.runs[i].n) * s.runs[i].length
	}
	return float64(sum) / 1e9
}

// within is how many whole intervals lie within a window.
func (s *series) within(from, until int64) (n int) {
	for i := range s.runs {
		if s.runs[i].length == s.unit {
			k, _ := s.runs[i].within(from, until)
			n += k
		}
	}
	return n
}

// window is the time that a point's figures cover.
type window struct {
	kind        string // of result.MergePoint
	from, until int64  // what all members measured; until at most from: nothing
	count       int    // whole intervals that each member gives; 0: as many as it has
	unit        int64  // their length; 0: they differ
	// rows are the intervals of the merged folder: those that all members have alike, where windows are equal,
	// else those that are cut out. Empty: intervals differ, or a member has no files.
	rows []run
}

// takes says whether an interval is one of those used, when so many were before it.
func (w *window) takes(row *result.Interval, unit int64, before int) bool {
	if w.kind == result.MergeEqual {
		return true
	}
	length := int64(math.Round(row.LengthS * 1e9))
	return length == unit && row.StartUnixNS >= w.from && row.StartUnixNS+length <= w.until && (w.count == 0 || before < w.count)
}

func (w *window) seconds() float64 { return float64(max(0, w.until-w.from)) / 1e9 }

// choose decides what a point's figures cover.
func (p *point) choose() {
	gave := p.giving()
	p.window = window{kind: result.MergeWhole, from: math.MinInt64, until: math.MaxInt64}
	if len(gave) == 0 {
		p.window.from, p.window.until = 0, 0
		return
	}
	w := &p.window
	equal, cuttable := true, true
	for _, part := range gave {
		equal = equal && part.started.Equal(gave[0].started) && part.window == gave[0].window && part.whole()
		cuttable = cuttable && !part.series.empty()
		from, until := part.span()
		w.from, w.until = max(w.from, from), min(w.until, until)
	}
	if equal {
		w.kind, w.rows = result.MergeEqual, gave[0].series.runs
		for _, part := range gave {
			if !slices.Equal(part.series.runs, w.rows) || math.Abs(part.series.length()-part.window) > 1e-6*part.window {
				w.rows = nil
			}
		}
		return
	}
	if !cuttable || w.until <= w.from {
		return
	}
	w.unit, w.count = gave[0].series.unit, math.MaxInt
	for _, part := range gave {
		n := part.series.within(w.from, w.until)
		if n == 0 {
			w.unit, w.count = 0, 0
			return
		}
		w.count = min(w.count, n)
		if part.series.unit != w.unit {
			w.unit = 0
		}
	}
	w.kind = result.MergeCommon
	if w.unit == 0 {
		w.count = 0
		return
	}
	w.rows = []run{{start: w.from, length: w.unit, n: w.count}}
}

// span is when the part was measured: by its files as far as they are sound, else by the document.
func (p *part) span() (from, until int64) {
	if !p.series.empty() {
		return p.series.start(), p.series.end()
	}
	from = p.started.UnixNano()
	return from, from + int64(p.window*1e9)
}

// whole says that the part's document has figures of all its window.
func (p *part) whole() bool { return !p.fromFiles }

// used is how long a part is in the figures, in seconds.
func (w *window) used(p *part) float64 {
	if w.kind != result.MergeCommon {
		return p.window
	}
	n := w.count
	if n == 0 {
		n = p.series.within(w.from, w.until)
	}
	return float64(int64(n)*p.series.unit) / 1e9
}

func unixNano(ns int64) time.Time { return time.Unix(0, ns).UTC() }
