package report

import (
	"cmp"
	"math"
	"slices"

	"blkstorm/plan"
	"blkstorm/printable"
	"blkstorm/result"
)

// chartData is what the charts draw. All names in it are printable; all times are seconds on the time axis.
type chartData struct {
	Points  []pointData `json:"points"`
	X       column      `json:"x"` // middle of each bucket
	Length  column      `json:"len"`
	Point   column      `json:"pt"` // index of the point; null between points, as all other columns there
	Total   flowData    `json:"total"`
	Low     column      `json:"low,omitempty"` // IOPS of the slowest and the fastest row, when buckets have several
	High    column      `json:"high,omitempty"`
	Dirs    []flowData  `json:"dirs"`
	CPU     cpuData     `json:"cpu"`
	Targets []flowData  `json:"targets"`
	Heat    []tempData  `json:"temp"`
	Map     *heatData   `json:"heat"`
	// CurveSteps are the steps per decade of the curves.
	CurveSteps int           `json:"curveSteps"`
	Curves     []pointCurves `json:"curves"`
}

// pointData is a point on the time axis.
type pointData struct {
	Index    int     `json:"i"`
	Label    string  `json:"label"`
	Phase    string  `json:"phase"`
	Start    float64 `json:"x0"`
	Window   float64 `json:"xw"`
	End      float64 `json:"x1"`
	Round    float64 `json:"round,omitempty"` // seconds of a round of the search for steady state
	SteadyA  float64 `json:"sa"`              // the window in which it was steady
	SteadyB  float64 `json:"sb"`
	Headline bool    `json:"head,omitempty"` // the charts of distributions begin with it
}

// flowData is a direction or a target over time.
type flowData struct {
	Name   string `json:"name"`
	IOPS   column `json:"iops"`
	Bytes  column `json:"bps"`
	Mean   column `json:"mean,omitempty"`
	StdDev column `json:"sd,omitempty"`
	P99    column `json:"p99,omitempty"`
	Max    column `json:"max,omitempty"`
	Errors column `json:"err,omitempty"` // only when there are any
	// ResponseP99 and ResponseMax are of response times, in paced runs only.
	ResponseP99 column `json:"rp99,omitempty"`
	ResponseMax column `json:"rmax,omitempty"`
}

type cpuData struct {
	User       column `json:"user"`
	System     column `json:"system"`
	IOWait     column `json:"iowait"`
	Steal      column `json:"steal"`
	StealMax   column `json:"stealMax"`
	InFlight   column `json:"inflight"`
	InFlightHi column `json:"inflightHi"`
	Queue      column `json:"queue,omitempty"`
}

type tempData struct {
	Name string `json:"name"`
	C    column `json:"c"`
}

var opNames = [3]string{"read", "write", "trim"}

// flowColumns writes a flow bucket by bucket.
type flowColumns struct {
	flowData
	ios, errors uint64
	paced       bool
}

func (f *flowColumns) add(b *bucket, of *flow, latency bool) {
	f.ios += of.ios
	f.errors += of.errors
	f.IOPS = append(f.IOPS, float64(of.ios)/b.length)
	f.Bytes = append(f.Bytes, float64(of.bytes)/b.length)
	f.Errors = append(f.Errors, float64(of.errors))
	if !latency {
		return
	}
	if of.ios == 0 {
		f.latencyGap()
		return
	}
	f.Mean = append(f.Mean, math.Round(of.latency.mean))
	f.StdDev = append(f.StdDev, math.Round(of.latency.stddev()))
	f.P99 = append(f.P99, float64(of.p99))
	f.Max = append(f.Max, float64(of.max))
	f.paced = f.paced || of.responseMax > 0
	f.ResponseP99, f.ResponseMax = append(f.ResponseP99, float64(of.responseP99)), append(f.ResponseMax, float64(of.responseMax))
}

func (f *flowColumns) latencyGap() {
	nan := math.NaN()
	for _, c := range []*column{&f.Mean, &f.StdDev, &f.P99, &f.Max, &f.ResponseP99, &f.ResponseMax} {
		*c = append(*c, nan)
	}
}

func (f *flowColumns) gap(latency bool) {
	nan := math.NaN()
	f.IOPS, f.Bytes, f.Errors = append(f.IOPS, nan), append(f.Bytes, nan), append(f.Errors, nan)
	if latency {
		f.latencyGap()
	}
}

// done is the flow without what says nothing.
func (f *flowColumns) done() flowData {
	if f.errors == 0 {
		f.Errors = nil
	}
	if !f.paced {
		f.ResponseP99, f.ResponseMax = nil, nil
	}
	return f.flowData
}

// points places the document's points, with what the search for steady state says of them.
func (t *timeline) points(d *result.Doc, headline int) []pointData {
	out := []pointData{}
	for i, p := range d.Points {
		s := t.spans[i]
		at := pointData{Index: i, Label: printable.Text(p.Label), Phase: printable.Text(p.Phase), Start: s.start, Window: s.window, End: s.end, Headline: i == headline}
		if r := p.Steady; r != nil {
			at.Round = r.Rule.Round.Seconds()
			if st := &r.State; st.Steady && st.First > 0 {
				at.SteadyA, at.SteadyB = s.window+float64(st.First-1)*at.Round, s.window+float64(st.Rounds)*at.Round
			}
		}
		out = append(out, at)
	}
	for k, r := range d.Rounds { // of which each has many points
		end := len(out)
		if k+1 < len(d.Rounds) {
			end = min(end, d.Rounds[k+1].FirstPoint)
		}
		for i := max(0, r.FirstPoint); r.Reached && i < end; i++ {
			if p := d.Points[i]; p.Round >= r.First && p.Round <= r.Last && p.Phase == plan.Measure {
				out[i].SteadyA, out[i].SteadyB = out[i].Window, out[i].End
			}
		}
	}
	return out
}

// into fills the columns. Between two points there is a place without figures, so that no line joins them.
func (s *series) into(out *chartData, d *result.Doc) {
	slices.SortStableFunc(s.list, func(a, b *bucket) int { // as they are, but for a file that somebody has mixed up
		return cmp.Or(a.point-b.point, cmp.Compare(a.start, b.start))
	})
	total := &flowColumns{flowData: flowData{Name: "total"}}
	var dirs [3]flowColumns
	targets := make([]flowColumns, s.targets)
	for i := range opNames {
		dirs[i].Name = opNames[i]
	}
	for i := range targets {
		targets[i].Name = printable.Name(d.Targets[i].Path)
	}
	temps := 0
	several := false
	for _, b := range s.list {
		temps = max(temps, len(b.heat))
		several = several || b.rows > 1
	}
	for i := range temps {
		name := "target " + whole(i+1)
		if i < len(d.Targets) {
			name = printable.Name(d.Targets[i].Path)
		}
		out.Heat = append(out.Heat, tempData{Name: name})
	}
	nan := math.NaN()
	c := &out.CPU
	row := func(point, x, length float64, low, high float64, cpu [8]float64) {
		out.Point, out.X, out.Length = append(out.Point, point), append(out.X, x), append(out.Length, length)
		out.Low, out.High = append(out.Low, low), append(out.High, high)
		for i, col := range []*column{&c.User, &c.System, &c.IOWait, &c.Steal, &c.StealMax, &c.InFlight, &c.InFlightHi, &c.Queue} {
			*col = append(*col, cpu[i])
		}
	}
	last := -1
	for _, b := range s.list {
		at := s.time.spans[b.point]
		x := at.window + b.start
		if last >= 0 && last != b.point {
			row(nan, x, nan, nan, nan, [8]float64{nan, nan, nan, nan, nan, nan, nan, nan})
			total.gap(false)
			for i := range dirs {
				dirs[i].gap(true)
			}
			for i := range targets {
				targets[i].gap(true)
			}
			for i := range out.Heat {
				out.Heat[i].C = append(out.Heat[i].C, nan)
			}
		}
		last = b.point
		row(float64(b.point), x+b.length/2, b.length, b.low, b.high,
			[8]float64{b.cpu.UserPct, b.cpu.SystemPct, b.cpu.IOWaitPct, b.cpu.StealPct, b.stealMax, b.inflight, float64(b.inflightHi), b.queue})
		var sum flow
		for i := range b.ops {
			dirs[i].add(b, &b.ops[i], true)
			sum.ios, sum.bytes, sum.errors = sum.ios+b.ops[i].ios, sum.bytes+b.ops[i].bytes, sum.errors+b.ops[i].errors
		}
		total.add(b, &sum, false)
		for i := range targets {
			targets[i].add(b, &b.targets[i], true)
		}
		for i := range out.Heat {
			v := nan
			if i < len(b.heat) {
				v = b.heat[i]
			}
			out.Heat[i].C = append(out.Heat[i].C, v)
		}
	}
	if !several {
		out.Low, out.High = nil, nil
	}
	if !s.has.queue {
		c.Queue = nil
	}
	out.Total = total.done()
	out.Dirs, out.Targets = []flowData{}, []flowData{}
	for i := range dirs {
		if dirs[i].ios+dirs[i].errors > 0 {
			out.Dirs = append(out.Dirs, dirs[i].done())
		}
	}
	if s.has.several {
		for i := range targets {
			out.Targets = append(out.Targets, targets[i].done())
		}
	}
}
