package report

import (
	"runtime"
	"sync"

	"blkstorm/histogram"
	"blkstorm/op"
	"blkstorm/result/load"
)

// logBatch is how many lines of a log are decoded together, each by whichever CPU is free: a few MB.
const logBatch = 512

// logLine is a line of a log on its way into the map.
type logLine struct {
	load.Line
	counts counts
	err    error
}

// read takes in the lines of a log. What comes of it does not depend on how many CPUs decode them.
func (h *heat) read(r *load.Result, bad *damage) {
	decoders := make([]histogram.Histogram, min(runtime.GOMAXPROCS(0), 16))
	batch := make([]logLine, logBatch)
	n := 0
	flush := func() {
		var all sync.WaitGroup
		for first := range decoders {
			all.Go(func() {
				for i := first; i < n; i += len(decoders) {
					batch[i].decode(&decoders[first])
				}
			})
		}
		all.Wait()
		for i := range n {
			h.addLine(r, &batch[i], bad)
		}
		n = 0
	}
	for line, err := range r.Log() {
		switch {
		case err != nil:
			flush() // what is said of damage is of the first line that has any
			bad.add(err)
			continue
		case line.Point >= len(r.Doc.Points) || line.Direction == op.Sync.String():
			continue // of a point that was cut off
		}
		line.CopyTo(&batch[n].Line)
		if n++; n == len(batch) {
			flush()
		}
	}
	flush()
}

func (l *logLine) decode(into *histogram.Histogram) {
	l.counts = counts{}
	if l.err = l.Decode(into); l.err == nil {
		l.counts.addHistogram(into)
	}
}

func (h *heat) addLine(r *load.Result, l *logLine, bad *damage) {
	if l.err != nil {
		bad.add(l.err)
		return
	}
	ts, length := l.Start.Sub(r.Doc.Points[l.Point].Started).Seconds(), l.Length.Seconds()
	if c := h.at(l.Point, ts, length); c != nil {
		for i, n := range &l.counts {
			c.counts[i] += n
		}
	}
}
