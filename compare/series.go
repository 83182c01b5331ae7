package compare

import (
	"strings"

	"blkstorm/histogram"
	"blkstorm/result"
	"blkstorm/result/load"
)

// row is what a figure needs of an interval row: read, write, trim.
type row struct {
	start  int64 // wall clock, ns
	length float64
	of     [3]result.IntervalStat
}

// series are the rows of one point's window.
type series struct {
	rows []row
	// shares counts, for each direction and percentile, how many I/Os of each row were below that of the
	// whole window; nil without a histogram log.
	shares map[Metric]*shares
	at     map[int64]int // row by its start
}

// shares are counts per row on both sides of the bucket in which a percentile lies: a bucket may hold many
// values, as when a stall ends for all I/Os in flight at once.
type shares struct {
	value int64     // the percentile
	under []float64 // below the bucket
	upTo  []float64 // below the bucket's end
}

// run is one result with its series, which are read only where they are needed.
type run struct {
	*load.Result
	series []series
	// noRows and noLog say why there are none; empty: there are.
	noRows, noLog string
}

// gather reads the rows, and for the percentiles among the metrics the histogram log.
func (r *run) gather(metrics []Metric) {
	r.series = make([]series, len(r.Doc.Points))
	if r.Gaps.NoRows {
		r.noRows = "there are no interval rows"
		if r.Kind == load.Fio {
			r.noRows = "fio's JSON has no interval rows"
		}
	}
	for in, err := range r.Rows() {
		if err != nil {
			r.noRows = "its interval rows cannot be read: " + err.Error()
			break
		}
		if in.Ramp || in.Point >= len(r.series) {
			continue
		}
		s := &r.series[in.Point]
		s.rows = append(s.rows, row{start: in.StartUnixNS, length: in.LengthS, of: [3]result.IntervalStat{in.Read, in.Write, in.Trim}})
	}
	r.noLog = r.noRows
	if r.noLog == "" && r.Gaps.NoLog {
		r.noLog = "there is no latency.hlog with the histograms of the rows; --dir writes it"
	}
	if r.noLog == "" && r.prepare(metrics) {
		if err := r.readLog(); err != nil {
			r.noLog = "its latency.hlog cannot be read: " + err.Error()
		}
	}
}

// prepare makes room for the counts, and says whether there is anything to count.
func (r *run) prepare(metrics []Metric) (any bool) {
	for i, p := range r.Doc.Points {
		s := &r.series[i]
		s.shares, s.at = map[Metric]*shares{}, map[int64]int{}
		for k := range s.rows {
			s.at[s.rows[k].start] = k
		}
		for _, m := range metrics {
			if _, ok := m.percentile(); !ok || !m.service() {
				continue
			}
			for _, direction := range directions {
				if of := statOf(p, direction); (m.Direction == "" || m.Direction == direction) && of != nil && of.IOs > 0 {
					one := Metric{direction, m.Figure}
					if value, err := p.Figure(direction, m.Figure); err == nil {
						s.shares[one] = &shares{int64(value), make([]float64, len(s.rows)), make([]float64, len(s.rows))}
						any = true
					}
				}
			}
		}
	}
	return any
}

// service says that the figure is of the service time.
func (m Metric) service() bool { return strings.HasPrefix(m.Figure, "latency.") }

func statOf(p *result.Point, direction string) *result.Stat {
	return map[string]*result.Stat{"total": p.Total, "read": p.Read, "write": p.Write, "trim": p.Trim, "sync": p.Sync}[direction]
}

func (r *run) readLog() error {
	h := histogram.New()
	for line, err := range r.Log() {
		if err != nil {
			return err
		}
		if line.Point >= len(r.series) {
			continue
		}
		s := &r.series[line.Point]
		k, ok := s.at[line.Start.UnixNano()]
		if !ok || len(s.shares) == 0 {
			continue // what is missing is noticed when all is added up
		}
		if err := line.Decode(h); err != nil {
			return err
		}
		for m, counts := range s.shares {
			if m.Direction != line.Direction && (m.Direction != "total" || line.Direction == "sync") {
				continue
			}
			under, upTo := around(h, counts.value)
			counts.under[k] += under
			counts.upTo[k] += upTo
		}
	}
	return nil
}

// around counts the values in the buckets below that of v, and in those up to it.
func around(h *histogram.Histogram, v int64) (under, upTo float64) {
	for b := range h.Buckets() {
		if b.Low > v {
			break
		}
		under = upTo
		upTo += float64(b.Count)
		if b.High < v {
			under = upTo
		}
	}
	return under, upTo
}
