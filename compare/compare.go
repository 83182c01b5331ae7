package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"blkstorm/compare/stat"
	"blkstorm/result/load"
	"blkstorm/verdict"
)

// DefaultFalseRate is the part of the differences shown that are expected to be chance at most.
const DefaultFalseRate = 0.05

// maxSides is how many there are names for.
const maxSides = 26

// Options say how to compare.
type Options struct {
	Version string   // of the program
	Metrics []Metric // none are DefaultMetrics
	// FalseRate is over 0 and at most 0.5; 0 is DefaultFalseRate.
	FalseRate float64
	FailIf    []Limit
}

// New compares sides with the first of them. A side is one result, or several of the same run repeated.
func New(sides [][]*load.Result, o Options) (*Doc, error) {
	if len(sides) < 2 || len(sides) > maxSides {
		return nil, fmt.Errorf("%d results: a comparison takes a baseline and from one to %d others", len(sides), maxSides-1)
	}
	c := &comparer{Options: o}
	if c.FalseRate == 0 {
		c.FalseRate = DefaultFalseRate
	}
	if !(c.FalseRate > 0 && c.FalseRate <= 0.5) {
		return nil, fmt.Errorf("--false-rate %g: must be over 0 and at most 50 %%", 100*c.FalseRate)
	}
	c.Metrics = slices.Clone(c.Metrics)
	c.metrics()
	single := 0
	for _, results := range sides {
		if len(results) == 1 {
			single++
		}
	}
	for i, results := range sides {
		var runs []*run
		for _, r := range results {
			one := &run{Result: r}
			if len(results) == 1 && single > 1 && (i == 0 || len(sides[0]) == 1) {
				one.gather(c.Metrics)
			}
			runs = append(runs, one)
		}
		if len(runs) == 0 {
			return nil, errors.New("a side without a result")
		}
		c.sides = append(c.sides, newSide(string(rune('A'+i)), runs))
	}
	return c.compare()
}

// comparer is a comparison at work.
type comparer struct {
	Options
	asked int // of Metrics, those that are asked for; the others are those of limits
	sides []*side
	open  []open
}

// open is a figure that waits for the level at which all are judged.
type open struct {
	figure *Figure
	rate   bool
	test   stat.Comparison
}

// metrics fills in the defaults, and takes in those of limits.
func (c *comparer) metrics() {
	if len(c.Metrics) == 0 {
		for _, name := range DefaultMetrics {
			m, err := ParseMetric(name)
			if err != nil {
				panic(err) // they are constants
			}
			c.Metrics = append(c.Metrics, m)
		}
	}
	c.asked = len(c.Metrics)
	for _, l := range c.FailIf {
		c.Metrics = append(c.Metrics, l.Metric)
	}
}

func (c *comparer) compare() (*Doc, error) {
	d := &Doc{Schema: Schema, Version: c.Version, FalseRate: c.FalseRate, Comparisons: []*Comparison{}, Warnings: []verdict.Warning{}, FailIf: []LimitResult{}}
	for _, s := range c.sides {
		d.Sides = append(d.Sides, s.document())
	}
	base := c.sides[0]
	shared := false
	for _, other := range c.sides[1:] {
		cmp := &Comparison{Side: other.name, Points: []*Point{}}
		both, rest := match(base, other)
		cmp.Unmatched = rest
		for _, k := range both {
			shared = true
			cmp.Points = append(cmp.Points, c.point(k, base, other))
		}
		cmp.Warnings = differences(base, other, both)
		d.Comparisons = append(d.Comparisons, cmp)
	}
	if !shared {
		return nil, fmt.Errorf("there is no point to compare: the baseline has %s, and %s has %s; points are matched by their labels",
			base.labels(), c.sides[1].name, c.sides[1].labels())
	}
	for _, m := range c.Metrics[:c.asked] {
		if !has(d, m) {
			return nil, fmt.Errorf("--metric %s: no point that is compared has completed I/Os of that direction", m)
		}
	}
	c.judge(d)
	d.Warnings = c.warnings(d)
	for _, l := range c.FailIf {
		r, err := l.check(d)
		if err != nil {
			return nil, err
		}
		d.FailIf = append(d.FailIf, r)
	}
	return d, nil
}

// has says whether a point has the figure.
func has(d *Doc, m Metric) bool {
	return slices.ContainsFunc(d.Comparisons, func(c *Comparison) bool {
		return slices.ContainsFunc(c.Points, func(p *Point) bool {
			return slices.ContainsFunc(p.Figures, func(f *Figure) bool {
				return f.Metric == m.name() && (m.Direction == "" || f.Direction == m.Direction)
			})
		})
	})
}

func (s *side) document() Side {
	out := Side{Name: s.name}
	for _, r := range s.runs {
		one := Run{Path: r.Name(), Kind: string(r.Kind), ID: r.Doc.ID, Host: r.Doc.Host.Hostname, Version: r.Doc.Version}
		if !r.Doc.Started.IsZero() {
			one.Started = &r.Doc.Started
		}
		out.Runs = append(out.Runs, one)
	}
	return out
}

// point compares all figures of one point.
func (c *comparer) point(k key, a, b *side) *Point {
	p := &Point{Label: k.label, Nth: k.nth, Figures: []*Figure{}}
	seen := map[Metric]bool{}
	moved := moved(a.points[k], b.points[k])
	for i, direction := range moved {
		// The only direction is the total, but where it is named.
		only := i == 1 && len(moved) == 2 && direction != "sync"
		for _, m := range c.Metrics {
			if m.Direction == "" && !only {
				m.Direction = direction
			}
			if m.Direction == direction && !seen[m] {
				seen[m] = true
				p.Figures = append(p.Figures, c.figure(a, b, k, m))
			}
		}
	}
	return p
}

// moved are the total and the directions in which I/Os completed on either side.
func moved(a, b []place) []string {
	out := []string{"total"}
	for _, direction := range directions[1:] {
		for _, p := range slices.Concat(a, b) {
			if statOf(p.point(), direction).IOs > 0 {
				out = append(out, direction)
				break
			}
		}
	}
	return out
}

// values are a figure of each run of a side, of which a point in rounds has the mean over them, and the mean
// of all. With one run they are those of its rounds.
func values(places []place, m Metric) (all []float64, mean float64, err error) {
	runs := byRun(places)
	if len(runs) == 1 && len(places) > 1 {
		runs = nil
		for i := range places {
			runs = append(runs, places[i:i+1])
		}
	}
	for _, rounds := range runs {
		v := 0.0
		for _, p := range rounds {
			one, err := p.figure(m)
			if err != nil {
				return nil, 0, fmt.Errorf("%s: %w", p.run.Name(), err)
			}
			v += one / float64(len(rounds))
		}
		all = append(all, v)
		mean += v / float64(len(runs))
	}
	return all, mean, nil
}

// figure is a figure of a point; a percentile that is neither there nor in a histogram is said to be so.
func (p place) figure(m Metric) (float64, error) {
	v, err := p.point().Figure(m.Direction, m.Figure)
	if of := statOf(p.point(), m.Direction); err != nil && m.service() && of != nil && of.IOs > 0 && of.Latency.HDR == "" {
		return 0, fmt.Errorf("the result has no %s, and no histogram to read it from", m.name())
	}
	return v, err
}

func (c *comparer) figure(a, b *side, k key, m Metric) *Figure {
	f := &Figure{Direction: m.Direction, Metric: m.name(), Unit: m.unit(), Verdict: CannotTell}
	placesA, placesB := a.points[k], b.points[k]
	runsA, meanA, errA := values(placesA, m)
	runsB, meanB, errB := values(placesB, m)
	if errA == nil {
		f.A = &meanA
	}
	if errB == nil {
		f.B = &meanB
	}
	if err := errors.Join(errA, errB); err != nil {
		f.Why = first(errA, errB).Error()
		return f
	}
	if len(runsA)+len(runsB) > 2 {
		f.RunsA, f.RunsB = runsA, runsB
	}
	if meanA > 0 {
		f.ChangePct = finite(100 * (meanB/meanA - 1))
	}
	test, err := f.test(placesA, placesB, m)
	if err != nil {
		f.Why = err.Error()
		return f
	}
	if p := test.P(); !math.IsNaN(p) {
		f.P = &p
		c.open = append(c.open, open{figure: f, rate: m.rate(), test: test})
	}
	return f
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// finite is v, or nil for what JSON has no number for.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// test chooses how chance is told from difference, by what there is.
func (f *Figure) test(a, b []place, m Metric) (stat.Comparison, error) {
	if len(a) > 1 || len(b) > 1 {
		f.Method = FromRepeats
		switch {
		case len(byRun(a)) == 1 && len(byRun(b)) == 1:
			f.Method = FromRounds
		case len(byRun(a)) == 1 || len(byRun(b)) == 1:
			f.Method = OneAgainstOthers
			f.single(a, b)
		}
		return f.means(repeated(a, m, f.RunsA), repeated(b, m, f.RunsB))
	}
	ra, rb := a[0], b[0]
	if _, ok := m.percentile(); ok {
		f.Method = FromRowShares
		qa, err := ra.run.quantile(ra.index, m, *f.A)
		if err != nil {
			return f.none(err)
		}
		qb, err := rb.run.quantile(rb.index, m, *f.B)
		if err != nil {
			return f.none(err)
		}
		test, err := stat.CompareQuantiles(qa, qb)
		if err != nil {
			return f.none(err)
		}
		f.EffectiveA, f.EffectiveB = qa.Share.Effective, qb.Share.Effective
		return test, nil
	}
	f.Method = FromRows
	ma, err := ra.run.mean(ra.index, m, *f.A)
	if err != nil {
		return f.none(err)
	}
	mb, err := rb.run.mean(rb.index, m, *f.B)
	if err != nil {
		return f.none(err)
	}
	return f.means(ma, mb)
}

// single takes the rounds of the one run together: its scatter is not that of repeats.
func (f *Figure) single(a, b []place) {
	if len(byRun(a)) == 1 {
		f.RunsA = []float64{*f.A}
	}
	if len(byRun(b)) == 1 {
		f.RunsB = []float64{*f.B}
	}
}

func (f *Figure) none(err error) (stat.Comparison, error) {
	f.Method = ""
	return nil, err
}

func (f *Figure) means(a, b stat.Mean) (stat.Comparison, error) {
	test, err := stat.Compare(a, b)
	if err != nil {
		return f.none(err)
	}
	f.EffectiveA, f.EffectiveB = a.Effective, b.Effective
	return test, nil
}

// repeated is the mean over repeats; a single one has no error of its own.
func repeated(places []place, m Metric, values []float64) stat.Mean {
	mean := stat.Repeats(values)
	if mean.DF == 0 {
		return mean
	}
	step := places[0].run.step(places[0].index, m, mean.Value)
	return mean.AtLeast(step / math.Sqrt(float64(len(values))))
}

// judge gives the verdicts, all at the level that keeps the promise for all of them together.
func (c *comparer) judge(d *Doc) {
	var ps []float64
	for _, o := range c.open {
		ps = append(ps, *o.figure.P)
	}
	level := stat.Level(ps, c.FalseRate)
	d.Confidence = 1 - level
	for _, o := range c.open {
		f := o.figure
		low, high := o.test.Interval(level)
		f.LowPct, f.HighPct = finite(100*(low-1)), finite(100*(high-1))
		switch {
		case *f.P > level:
			f.Verdict = NoDifference
		case (*f.B > *f.A) == o.rate:
			f.Verdict = Better
		default:
			f.Verdict = Worse
		}
	}
	for _, cmp := range d.Comparisons {
		for _, p := range cmp.Points {
			for _, f := range p.Figures {
				switch f.Verdict {
				case Better:
					cmp.Summary.Better++
				case Worse:
					cmp.Summary.Worse++
				case NoDifference:
					cmp.Summary.NoDifference++
				default:
					cmp.Summary.CannotTell++
				}
			}
		}
	}
}
