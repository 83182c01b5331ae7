package result

import (
	"fmt"
	"math"
	"strings"
	"time"

	"blkstorm/histogram"
	"blkstorm/plan"
	"blkstorm/steady"
)

// Rounds is what a phase of rounds came to.
type Rounds struct {
	Phase int `json:"phase"` // index into Plan.Phases
	Done  int `json:"done"`  // rounds that were finished
	// FirstPoint is the index into Doc.Points of the first point of round 1.
	FirstPoint int `json:"first_point"`
	// First and Last are the rounds of the measurement window, from 1: the first window in which all that
	// is tracked was steady; when there is none, the last full one; both 0 without a full window.
	First int `json:"first"`
	Last  int `json:"last"`
	// Reached says that the window is steady.
	Reached bool      `json:"reached"`
	Tracked []Tracked `json:"tracked"`
	Cells   []Cell    `json:"cells"` // one for each point of the phase, in order
}

// Tracked is one tracked variable: its values in all rounds, and the figures of the measurement window. Its
// state's reached is the round in which all variables were steady together.
type Tracked struct {
	Point  string        `json:"point"` // label
	Steady steady.Report `json:"steady"`
}

// Cell is a point of the phase over the measurement window: means over its rounds, as the specification
// reports them, and the highest latency of all of them. Without a full window it is over the rounds that
// there are.
type Cell struct {
	Label     string  `json:"label"`
	IOPS      float64 `json:"iops"`
	BytesPerS float64 `json:"bytes_per_s"`
	MeanNS    int64   `json:"mean_ns"`
	P99NS     int64   `json:"p99_ns"` // of the histograms of all its rounds together
	MaxNS     int64   `json:"max_ns"`
	Rounds    int     `json:"rounds"` // how many there were to take the mean of
	Points    []int   `json:"points"` // these, as indexes into Doc.Points
	// Skipped says why the point cannot run on these targets.
	Skipped string `json:"skipped,omitempty"`
}

// Over says whether no further round follows, where at most so many are allowed.
func (r *Rounds) Over(most int) bool { return r.Reached || r.Done >= most }

// Unsteady says which of the tracked variables are not steady over the last window, and why.
func (r *Rounds) Unsteady() string {
	var list []string
	for i := range r.Tracked {
		if t := &r.Tracked[i]; !t.Steady.State.Steady {
			list = append(list, fmt.Sprintf("%v of %s: %s", t.Steady.Rule.Metric, t.Point, t.Steady.State.Reason))
		}
	}
	return strings.Join(list, "; ")
}

// Metric is a figure of the point as steady state is judged by; NaN, where it is a latency and no I/O
// completed.
func (p *Point) Metric(m steady.Metric) float64 {
	name := ""
	switch m {
	case steady.Bandwidth:
		return p.Total.BytesPerS
	case steady.Mean:
		name = "latency.mean"
	case steady.P99:
		name = "latency.p99"
	default:
		return p.Total.IOPS
	}
	v, err := p.Figure("total", name)
	if err != nil {
		return math.NaN()
	}
	return v
}

// sumRounds brings Doc.Rounds up to the last point.
func (d *Doc) sumRounds() {
	groups := d.roundPoints()
	k := 0
	for i := range d.Plan.Phases {
		phase := &d.Plan.Phases[i]
		if phase.Rounds == nil {
			continue
		}
		if k == len(groups) {
			return
		}
		g := newGrid(d, phase, groups[k])
		switch done := g.done(); {
		case k == len(d.Rounds):
			d.Rounds = append(d.Rounds, nil)
			fallthrough
		case done == 0 || d.Rounds[k].Done != done: // else it says all of it already
			d.Rounds[k] = g.sum(d, i, done)
			d.Rounds[k].FirstPoint = groups[k][0]
		}
		k++
	}
}

// roundPoints are the indexes of the points of each phase of rounds that began. A phase begins with round 1,
// and ends with a later one, if another follows.
func (d *Doc) roundPoints() (groups [][]int) {
	last := math.MaxInt
	for i, p := range d.Points {
		if p.Round == 0 {
			continue
		}
		if p.Round < last && (p.Round == 1 || len(groups) == 0) {
			groups = append(groups, nil)
		}
		last = p.Round
		groups[len(groups)-1] = append(groups[len(groups)-1], i)
	}
	return groups
}

// grid has the points of a phase of rounds by cell and round.
type grid struct {
	phase   *plan.Phase
	points  [][]int  // by cell, then by round from 1: index into Doc.Points; -1 where none has completed
	skipped []string // by cell: why, empty for those that run
}

func newGrid(d *Doc, phase *plan.Phase, points []int) *grid {
	cells := map[string]int{}
	for i := range phase.Points {
		cells[phase.Points[i].Label] = i
	}
	g := &grid{phase: phase, points: make([][]int, len(phase.Points)), skipped: make([]string, len(phase.Points))}
	for _, i := range points {
		p := d.Points[i]
		cell, known := cells[p.Label]
		switch {
		case !known:
		case p.Skipped != "":
			g.skipped[cell] = p.Skipped
		case p.Completed:
			for len(g.points[cell]) < p.Round-1 {
				g.points[cell] = append(g.points[cell], -1)
			}
			g.points[cell] = append(g.points[cell], i)
		}
	}
	return g
}

// done is how many rounds are whole.
func (g *grid) done() int {
	n := math.MaxInt
	for i, points := range g.points {
		if g.skipped[i] == "" {
			n = min(n, len(points))
		}
	}
	if n == math.MaxInt {
		return 0
	}
	return n
}

// sum is what phase number n came to in the rounds that are done.
func (g *grid) sum(d *Doc, n, done int) *Rounds {
	r := &Rounds{Phase: n, Done: done, Tracked: []Tracked{}, Cells: []Cell{}}
	rule := g.phase.Rounds.Rule
	rule.Round = g.length()
	var metrics []steady.Metric
	for _, t := range g.phase.Rounds.Track {
		metrics = append(metrics, t.Metric)
	}
	m := steady.NewMulti(rule, metrics...)
	for round := range done {
		var values []float64
		for _, t := range g.phase.Rounds.Track {
			v := math.NaN()
			if g.skipped[t.Point] == "" && g.points[t.Point][round] >= 0 {
				v = d.Points[g.points[t.Point][round]].Metric(t.Metric)
			}
			values = append(values, v)
		}
		if m.Add(values...) {
			r.Reached = true
		}
	}
	for i, report := range m.Reports() {
		r.Tracked = append(r.Tracked, Tracked{Point: g.phase.Points[g.phase.Rounds.Track[i].Point].Label, Steady: report})
		if report.State.First > 0 {
			r.First, r.Last = report.State.First, report.State.Rounds
		}
	}
	for i := range g.points {
		r.Cells = append(r.Cells, g.cell(d, i, r))
	}
	return r
}

// length is how long a round takes: its ramps and windows. Passes take a time that nobody knows.
func (g *grid) length() time.Duration {
	one := plan.Phase{}
	for i := range g.phase.Points {
		if g.skipped[i] == "" {
			one.Points = append(one.Points, g.phase.Points[i])
		}
	}
	return one.RoundTime()
}

// cell is cell i over the window of r, or over all rounds when that has none.
func (g *grid) cell(d *Doc, i int, r *Rounds) Cell {
	c := Cell{Label: g.phase.Points[i].Label, Skipped: g.skipped[i], Points: []int{}}
	points := g.points[i]
	if r.First > 0 && c.Skipped == "" {
		points = points[r.First-1 : r.Last]
	}
	var mean float64
	measured := 0
	var list []*Latency
	for _, n := range points {
		if n < 0 {
			continue
		}
		total := d.Points[n].Total
		c.Points = append(c.Points, n)
		c.IOPS += total.IOPS
		c.BytesPerS += total.BytesPerS
		if l := total.Latency; l.Count > 0 {
			measured++
			mean += float64(l.Mean)
			c.MaxNS = max(c.MaxNS, l.Max)
			list = append(list, l)
		}
	}
	if c.Rounds = len(c.Points); c.Rounds > 0 {
		c.IOPS /= float64(c.Rounds)
		c.BytesPerS /= float64(c.Rounds)
	}
	if measured > 0 {
		c.MeanNS = round(mean / float64(measured))
		c.P99NS = p99(list)
	}
	return c
}

// p99 is the 99th percentile of all I/Os together; 0 where the histograms are not in the document.
func p99(list []*Latency) int64 {
	if v, err := list[0].figure("p99"); len(list) == 1 && err == nil {
		return int64(v)
	}
	var sum histogram.Histogram
	for _, l := range list {
		h, err := l.histogram()
		if err != nil {
			return 0
		}
		sum.Merge(h)
	}
	return sum.Percentile(99)
}
