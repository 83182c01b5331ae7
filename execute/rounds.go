package execute

import (
	"encoding/json"
	"fmt"
	"math"

	"blkstorm/histogram"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/runner"
	"blkstorm/steady"
)

// rounds cuts the rows of a point into rounds, and ends the point when they are steady. It is nil for a
// point in which steady state is not looked for.
type rounds struct {
	tracker *steady.Tracker
	metric  steady.Metric
	rows    int64 // in a round
	seen    int64 // of the round that is on
	ios     uint64
	bytes   uint64
	seconds float64
	latency histogram.Histogram
	tell    func(steady.State)
	enough  func()
	over    bool
	left    int64 // bytes that may be written; only with most
	most    int   // passes; 0: as many as it takes
}

// newRounds has the limit on what is written from most, in bytes.
func newRounds(phase *plan.Phase, p *plan.Point, most int64, tell func(steady.State), enough func()) *rounds {
	rule := phase.Steady
	if rule == nil {
		return nil
	}
	return &rounds{
		tracker: steady.NewTracker(*rule), metric: rule.Metric, rows: int64(rule.Round / p.Interval.D()), tell: tell, enough: enough,
		most: phase.MostPasses, left: most,
	}
}

// row takes in a row of the window; it is called in the runner's control goroutine.
func (r *rounds) row(row *runner.Row) {
	if r == nil || r.over {
		return
	}
	for i := range row.Cells {
		r.left -= int64(row.Cells[i].Ops[op.Write].Bytes)
	}
	if row.Ramp {
		return
	}
	for i := range row.Cells {
		for o := range row.Cells[i].Ops {
			s := &row.Cells[i].Ops[o]
			r.bytes += s.Bytes
			if op.Op(o) == op.Sync {
				continue // a sync is no I/O of the workload
			}
			r.ios += s.Latency.Count()
			r.latency.Merge(&s.Latency)
		}
	}
	r.seconds += row.Length.Seconds()
	if r.seen++; r.seen < r.rows {
		r.saturated()
		return
	}
	state := r.tracker.Add(r.value())
	if r.tell != nil {
		r.tell(state)
	}
	if state.Steady {
		r.over = true
		r.enough()
	}
	r.seen, r.ios, r.bytes, r.seconds = 0, 0, 0, 0
	r.latency.Reset()
	r.saturated()
}

// saturated ends the point when all has been written that may be.
func (r *rounds) saturated() {
	if r.most > 0 && r.left <= 0 && !r.over {
		r.over = true
		r.enough()
	}
}

// value is the metric over the round. A latency that was not measured is no figure.
func (r *rounds) value() float64 {
	switch r.metric {
	case steady.Bandwidth:
		return float64(r.bytes) / r.seconds
	case steady.Mean, steady.P99:
		if r.latency.Count() == 0 {
			return math.NaN()
		}
		if r.metric == steady.P99 {
			return float64(r.latency.Percentile(99))
		}
		return r.latency.Mean()
	}
	return float64(r.ios) / r.seconds
}

func (r *rounds) report() *steady.Report {
	if r == nil {
		return nil
	}
	report := r.tracker.Report()
	if r.most > 0 && r.left <= 0 && !report.State.Steady {
		report.State.NeverReached = true
		report.State.Reason += fmt.Sprintf("; the range was written %d times", r.most)
	}
	return &report
}

// followDrift remembers the steady state that a phase has reached, and tells of a later point that does
// the same and is out of it.
func (s *Session) followDrift(phase *plan.Phase, p *plan.Point, point *result.Point) {
	if phase.Steady != nil {
		s.steadied = nil
		if r := point.Steady; r != nil && r.State.Steady && r.State.High > 0 {
			s.steadied = &steadied{rule: *phase.Steady, low: r.State.Low, high: r.State.High, load: loadText(p)}
		}
		return
	}
	if d := s.steadied; d != nil && point.Round == 0 && phase.Kind == plan.Measure && point.WindowS > 0 && d.load == loadText(p) {
		if v := point.Metric(d.rule.Metric); v < d.low || v > d.high {
			point.Drift = &result.Drift{Metric: d.rule.Metric.String(), Value: v, Low: d.low, High: d.high}
		}
	}
}

// steadied is a steady state that was reached.
type steadied struct {
	rule      steady.Rule
	low, high float64
	load      string
}

// loadText is what two points have in common that do the same.
func loadText(p *plan.Point) string {
	text, err := json.Marshal(p.Streams)
	if err != nil {
		return "" // cannot happen: plans are marshalled into every document
	}
	return string(text)
}
