package report

import (
	"math"
	"time"

	"blkstorm/result"
)

// maxPause is the longest time without a point that the time axis shows, in seconds: a run that was gone on with
// a day later would else be two strips at the edges.
const maxPause = 30

// span is where a point lies on the time axis, in seconds since its first row: the axis has all points one after
// the other, with the pauses between them cut to maxPause.
type span struct {
	start  float64 // of the ramp
	window float64 // of the window
	end    float64
}

// timeline is how the rows of a document become buckets.
type timeline struct {
	spans []span
	// width is how many seconds a bucket has; rows that are longer have one each.
	width float64
	// limit bounds the buckets of all points together, whatever a file holds.
	limit int
	// cut says that a pause was shortened.
	cut bool
}

// widths are the lengths of buckets that people can think in, in seconds.
var widths = []float64{0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400}

// widthFor is the shortest width, not below least, that divides a time into at most n.
func widthFor(total float64, n int, least float64) float64 {
	for _, w := range widths {
		if w >= least && total/w <= float64(n) {
			return w
		}
	}
	return widths[len(widths)-1]
}

// Limits of the page: what it holds does not grow with the run.
const (
	maxBuckets  = 4000
	minBuckets  = 400
	maxCells    = 72_000 // buckets × series of each
	maxTargets  = 64     // with a series of their own
	otherSeries = 8
)

// newTimeline places the document's points and chooses the width of a bucket.
func newTimeline(d *result.Doc) *timeline {
	t := &timeline{}
	at, last := 0.0, time.Time{}
	total := 0.0
	for i, p := range d.Points {
		length := span{window: finite(p.RampS)}
		length.end = length.window + finite(p.WindowS)
		begin := p.Started.Add(-time.Duration(length.window * 1e9))
		if i > 0 && !last.IsZero() && !p.Started.IsZero() {
			pause := begin.Sub(last).Seconds()
			if pause > maxPause {
				pause, t.cut = maxPause, true
			}
			at += max(0, pause) // below 0 when the clock was set back
		}
		t.spans = append(t.spans, span{at, at + length.window, at + length.end})
		at += length.end
		total += length.end
		if !p.Started.IsZero() {
			last = p.Started.Add(time.Duration(finite(p.WindowS) * 1e9))
		}
	}
	room := max(minBuckets, min(maxBuckets, maxCells/(otherSeries+min(len(d.Targets), maxTargets))))
	t.limit = 2*room + 2*len(d.Points)
	t.width = widthFor(total, room, 0)
	return t
}

// finite is a length of time as it is sane.
func finite(s float64) float64 {
	if !(s > 0) || s > 1e9 {
		return 0
	}
	return s
}

// slot is the bucket of the point's time t, in seconds since the start of its window; those of the ramp are below 0.
func (t *timeline) slot(ts float64) int {
	return int(math.Floor(ts/t.width + 1e-6))
}
