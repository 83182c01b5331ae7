package published

import (
	"fmt"
	"math"

	"blkstorm/result"
)

// moments are count, mean and variance of latencies, so that parts of a time can be brought together
// exactly.
type moments struct {
	n, mean, squares float64 // squares: the sum of the squared distances from the mean
	max              int64
}

// add takes in what a slice says of a direction (Chan, Golub and LeVeque, 1979).
func (m *moments) add(s *result.IntervalStat) {
	n, mean := float64(s.IOs), float64(s.Mean)
	if n == 0 {
		return
	}
	all := m.n + n
	d := mean - m.mean
	m.squares += n*float64(s.StdDev)*float64(s.StdDev) + d*d*m.n*n/all
	m.mean += d * n / all
	m.n, m.max = all, max(m.max, s.Max)
}

// part is some time of a point.
type part struct {
	start, length      float64 // seconds
	bytes, written     float64
	total, read, write moments
}

func (p *part) add(s *result.Slice) {
	if p.length == 0 {
		p.start = s.TS
	}
	p.length += s.LengthS
	p.bytes, p.written = p.bytes+float64(s.Total.Bytes), p.written+float64(s.Write.Bytes)
	p.total.add(&s.Total)
	p.read.add(&s.Read)
	p.write.add(&s.Write)
}

// together is all of the given slices.
func together(list []*result.Slice) part {
	var p part
	for _, s := range list {
		if s != nil {
			p.add(s)
		}
	}
	return p
}

// maxTimes is how many rows a table over time has at most; fewTimes, one of the tables of a test that has a
// table per figure.
const maxTimes, fewTimes = 24, 10

// parts brings slices together until there are at most so many, all as long as each other but the last. A
// last slice that was cut short is of the part before it.
func parts(list []*result.Slice, most int) (out []part) {
	if len(list) == 0 || list[0] == nil {
		return nil
	}
	each := (len(list) + most - 1) / most
	if n := len(list); n > 1 && list[n-1] != nil && list[n-1].LengthS < list[0].LengthS/2 {
		each = max(1, (n-1+most-1)/most)
		for i := 0; i < n-1; i += each {
			end := min(i+each, n-1)
			if end == n-1 {
				end = n
			}
			out = append(out, together(list[i:end]))
		}
		return out
	}
	for i := 0; i < len(list); i += each {
		out = append(out, together(list[i:min(i+each, len(list))]))
	}
	return out
}

// timeFigure is a figure of some time.
type timeFigure struct {
	Head
	of func(*part) float64
}

func timeLatency(name string, of func(*part) float64) timeFigure {
	return timeFigure{Head{name, "ms"}, func(p *part) float64 { return of(p) / 1e6 }}
}

// timeFigures are those of the articles; peak reads and writes apart where there are both.
func timeFigures(both bool) []timeFigure {
	peak := func(m *moments) float64 {
		if m.n == 0 {
			return math.NaN()
		}
		return float64(m.max)
	}
	list := []timeFigure{
		{throughput.Head, func(p *part) float64 { return p.total.n / p.length }},
		{megabytes.Head, func(p *part) float64 { return p.bytes / p.length / 1e6 }},
		timeLatency(average.Name, func(p *part) float64 {
			if p.total.n == 0 {
				return math.NaN()
			}
			return p.total.mean
		}),
		timeLatency(maximum.Name, func(p *part) float64 { return peak(&p.total) }),
	}
	if both {
		list = append(list, timeLatency(peakRead.Name, func(p *part) float64 { return peak(&p.read) }),
			timeLatency(peakWrite.Name, func(p *part) float64 { return peak(&p.write) }))
	}
	return append(list, timeLatency(deviation.Name, func(p *part) float64 {
		if p.total.n == 0 {
			return math.NaN()
		}
		return math.Sqrt(p.total.squares / p.total.n)
	}))
}

// row makes a row of some time.
func (p *part) row(name string, figures []timeFigure) Row {
	r := Row{Head: Head{Name: name}}
	for _, f := range figures {
		v := math.NaN()
		if p.length > 0 {
			v = f.of(p)
		}
		r.Cells = append(r.Cells, number(v))
	}
	return r
}

// overTime is a table of a point's history: a row per part, named by its end.
func overTime(title string, p *point) Table {
	figures := timeFigures(mixed(p.spec()))
	t := Table{Title: title, Corner: "until"}
	for _, f := range figures {
		t.Columns = append(t.Columns, f.Head)
	}
	list := parts(inRounds(p), maxTimes)
	for i := range list {
		t.Rows = append(t.Rows, list[i].row(clock(list[i].start+list[i].length), figures))
	}
	if row, note := steadyWindow(p, figures); note != "" {
		t.Rows, t.Notes = append(t.Rows, row), append(t.Notes, note)
	}
	if !p.Completed && len(t.Rows) > 0 {
		t.Notes = append(t.Notes, "it did not run to its end")
	}
	return t
}

// sideBySide has a table per figure, of points that each have a column and rows over time.
func sideBySide(title string, points []point, column func(*point) string) (list []Table) {
	var series [][]part
	longest := 0
	for i := range points {
		series = append(series, parts(points[i].History, fewTimes))
		if len(series[i]) > len(series[longest]) {
			longest = i
		}
	}
	for _, f := range timeFigures(false) {
		if f.Head == megabytes.Head {
			continue // of one size, that is throughput again
		}
		t := Table{Title: title + ": " + f.Name + " in " + f.Unit, Corner: "until", Same: true}
		for i := range points {
			t.Columns = append(t.Columns, Head{Name: column(&points[i])})
		}
		for k := range series[longest] {
			at := &series[longest][k]
			row := Row{Head: Head{Name: clock(at.start + at.length)}}
			for i := range series {
				cell := none()
				if k < len(series[i]) && series[i][k].length > 0 {
					cell = number(f.of(&series[i][k]))
				}
				row.Cells = append(row.Cells, cell)
			}
			t.Rows = append(t.Rows, row)
		}
		list = append(list, t)
	}
	return list
}

// inRounds is a point's history. Where rounds went on until they were steady, it ends with the last of them:
// what was done until the I/O had stopped was not judged, and is in no round's figure.
func inRounds(p *point) []*result.Slice {
	n := len(p.History)
	if p.Steady == nil || !p.Completed || n < 2 || p.History[0] == nil || p.History[n-1] == nil {
		return p.History
	}
	end := float64(len(p.Steady.Values)) * p.Steady.Rule.Round.Seconds()
	if last := p.History[n-1]; last.LengthS < p.History[0].LengthS && last.TS+last.LengthS/2 > end {
		return p.History[:n-1]
	}
	return p.History
}

// steadyWindow is the row of the rounds in which a point was steady, or of the last ones in which it was not,
// with the sentence that says so; empty where its history does not have them one by one.
func steadyWindow(p *point, figures []timeFigure) (Row, string) {
	s := p.Steady
	if s == nil || s.State.First <= 0 {
		return Row{}, ""
	}
	round := s.Rule.Round.Seconds()
	from, to := float64(s.State.First-1)*round, float64(s.State.First-1+s.Rule.Window)*round
	var window []*result.Slice
	for _, h := range inRounds(p) {
		if h != nil && h.TS > from-round/10 && h.TS+h.LengthS < to+round/10 {
			window = append(window, h)
		}
	}
	all := together(window)
	if len(window) < s.Rule.Window {
		return Row{}, ""
	}
	name := "steady state"
	if !s.State.Steady {
		name = "not steady"
	}
	return all.row(name, figures), fmt.Sprintf("%s: rounds %d to %d, of %v each", name, s.State.First, s.State.First+s.Rule.Window-1, s.Rule.Round)
}

// clock writes a time since the start: 0:05:00, or seconds where there are fractions of them.
func clock(s float64) string {
	if s < 0 || s > 1e9 || math.IsNaN(s) {
		return "-"
	}
	if whole := math.Round(s); math.Abs(s-whole) < 0.05 {
		n := int64(whole)
		return fmt.Sprintf("%d:%02d:%02d", n/3600, n/60%60, n%60)
	}
	return fmt.Sprintf("%.1f s", s)
}
