package compare

import (
	"errors"
	"fmt"
	"math"

	"blkstorm/compare/stat"
	"blkstorm/result"
	"blkstorm/result/load"
)

// slack is how far the sum over the rows may be off the figure of the window, as part of it: latencies of
// rows are whole nanoseconds.
const slack = 0.01

// counted is what a row has of one figure: y over x.
type counted func(*row) (y, x float64)

// mean is a figure of one run with what its rows say of chance; the error says why they say nothing.
func (r *run) mean(point int, m Metric, value float64) (stat.Mean, error) {
	count, err := r.counts(point, m)
	if err != nil {
		return stat.Mean{}, err
	}
	y, x := r.columns(point, count)
	mean, err := stat.Ratio(y, x)
	if err != nil {
		return stat.Mean{}, fmt.Errorf("%s: %w", r.Name(), err)
	}
	deviation := m.Figure == "latency.stddev"
	want := value
	if deviation {
		want *= value
	}
	tolerance := slack * want
	if !m.rate() {
		tolerance++ // a nanosecond
	}
	if math.Abs(mean.Value-want) > tolerance {
		return stat.Mean{}, fmt.Errorf("%s: the interval rows do not add up to the figure", r.Name())
	}
	if deviation {
		mean.SE /= 2 * value // of the root of a variance
	}
	mean.Value = value
	return mean.AtLeast(r.step(point, m, value)), nil
}

func (r *run) columns(point int, count counted) (y, x []float64) {
	rows := r.series[point].rows
	y, x = make([]float64, len(rows)), make([]float64, len(rows))
	for i := range rows {
		y[i], x[i] = count(&rows[i])
	}
	return y, x
}

// counts says what rows count of a figure that is a mean over them.
func (r *run) counts(point int, m Metric) (counted, error) {
	if r.series == nil {
		return nil, fmt.Errorf("of the repeats only %s has the point", r.Name())
	}
	if r.noRows != "" {
		return nil, fmt.Errorf("%s: %s", r.Name(), r.noRows)
	}
	var dirs []int
	switch m.Direction {
	case "total":
		dirs = []int{0, 1, 2}
	case "read", "write", "trim":
		dirs = []int{map[string]int{"read": 0, "write": 1, "trim": 2}[m.Direction]}
	default:
		return nil, fmt.Errorf("interval rows have no %s figures; repeated runs tell what is chance", m.Direction)
	}
	sum := func(f func(*result.IntervalStat) float64) func(*row) float64 {
		return func(r *row) (v float64) {
			for _, d := range dirs {
				v += f(&r.of[d])
			}
			return v
		}
	}
	ios := sum(func(s *result.IntervalStat) float64 { return float64(s.IOs) })
	switch m.Figure {
	case "iops":
		return func(r *row) (y, x float64) { return ios(r), r.length }, nil
	case "bw":
		bytes := sum(func(s *result.IntervalStat) float64 { return float64(s.Bytes) })
		return func(r *row) (y, x float64) { return bytes(r), r.length }, nil
	case "latency.mean":
		time := sum(func(s *result.IntervalStat) float64 { return float64(s.IOs) * float64(s.Mean) })
		return func(r *row) (y, x float64) { return time(r), ios(r) }, nil
	case "latency.stddev":
		// The variance is the mean of (x-µ)² over all I/Os, µ that of the window.
		mu, err := r.Doc.Points[point].Figure(m.Direction, "latency.mean")
		if err != nil {
			return nil, err
		}
		squares := sum(func(s *result.IntervalStat) float64 {
			away, deviation := float64(s.Mean)-mu, float64(s.StdDev)
			return float64(s.IOs) * (deviation*deviation + away*away)
		})
		return func(r *row) (y, x float64) { return squares(r), ios(r) }, nil
	}
	if _, ok := m.percentile(); ok && m.service() {
		return func(r *row) (y, x float64) { return 0, ios(r) }, nil
	}
	return nil, fmt.Errorf("the rows of one run do not tell how much of a difference in %s is chance; repeated runs do", m.name())
}

// quantile is a percentile of one run with what the histograms of its rows say of chance.
func (r *run) quantile(point int, m Metric, value float64) (stat.Quantile, error) {
	fail := func(err error) (stat.Quantile, error) {
		return stat.Quantile{}, fmt.Errorf("%s: %w", r.Name(), err)
	}
	count, err := r.counts(point, m)
	if err != nil {
		return stat.Quantile{}, err
	}
	if r.noLog != "" {
		return fail(errors.New(r.noLog))
	}
	all, err := load.Histogram(statOf(r.Doc.Points[point], m.Direction).Latency)
	if err != nil {
		return fail(err)
	}
	counts := r.series[point].shares[m]
	if counts == nil {
		return fail(errors.New("latency.hlog has nothing of this direction"))
	}
	_, ios := r.columns(point, count)
	counted := 0.0
	for _, n := range counts.upTo {
		counted += n
	}
	if _, want := around(all, int64(value)); math.Abs(counted-want) > 1e-6*float64(all.Count()) {
		return fail(errors.New("the histograms of latency.hlog do not add up to that of the window"))
	}
	// The percentile lies within its bucket, whose two ends may be far apart in shares.
	share, err := stat.Ratio(counts.upTo, ios)
	if err != nil {
		return fail(err)
	}
	under, err := stat.Ratio(counts.under, ios)
	if err != nil {
		return fail(err)
	}
	if under.SE > share.SE {
		share = under
	}
	// Values that do not depend on each other have at least the error of counting them.
	p, _ := m.percentile()
	share.Value = p / 100
	share = share.AtLeast(math.Sqrt(share.Value * (1 - share.Value) / float64(all.Count())))
	return stat.Quantile{
		Value: value, Share: share, Step: r.resolution(value),
		At: func(share float64) float64 { return float64(all.Percentile(100 * share)) },
	}, nil
}

// resolution is how wide the bucket of a latency is, as part of it: 1/1024 of ours, 1/64 of fio's, and at
// least a nanosecond.
func (r *run) resolution(value float64) float64 {
	width := 1. / 1024
	if r.Kind == load.Fio {
		width = 1. / 64
	}
	return max(width, 1/value)
}

// step is the standard error that comes of counting alone, a value spread evenly over one step: an I/O at
// the window's edge, a nanosecond, a bucket.
func (r *run) step(point int, m Metric, value float64) float64 {
	step := 1.0
	if _, ok := m.percentile(); ok {
		step = value * r.resolution(value)
	} else if m.rate() {
		step = value / float64(max(statOf(r.Doc.Points[point], m.Direction).IOs, 1))
	}
	return step / math.Sqrt(12)
}
