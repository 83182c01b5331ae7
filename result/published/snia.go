package published

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/steady"
	"blkstorm/workload"
)

// sniaIOPS has the report of the IOPS test (SNIA SSS PTS 2.0.2): how the tracked variables converged,
// the measurement window, and the matrix of block sizes and mixes.
func sniaIOPS(r *run) []Table {
	return append(append(r.setup(), r.convergence()...), r.windowMatrix("IOPS, mean of the measurement window", func(c *result.Cell) float64 { return c.IOPS }))
}

// sniaThroughput is that of the throughput test.
func sniaThroughput(r *run) []Table {
	return append(append(r.setup(), r.convergence()...), r.windowMatrix("Throughput in MB/s, mean of the measurement window", func(c *result.Cell) float64 { return c.BytesPerS / 1e6 }))
}

// sniaLatency is that of the latency test.
func sniaLatency(r *run) []Table {
	return append(append(r.setup(), r.convergence()...),
		r.windowMatrix("Average Latency in ms, mean of the measurement window", func(c *result.Cell) float64 { return float64(c.MeanNS) / 1e6 }),
		r.windowMatrix("Maximum Latency in ms, in the measurement window", func(c *result.Cell) float64 { return float64(c.MaxNS) / 1e6 }))
}

// phaseOf is the phase that rounds belong to; nil where the document is not whole.
func (r *run) phaseOf(rounds *result.Rounds) *plan.Phase {
	if rounds == nil || rounds.Phase < 0 || rounds.Phase >= len(r.doc.Plan.Phases) {
		return nil
	}
	return &r.doc.Plan.Phases[rounds.Phase]
}

// mostRounds is after how many rounds steady state is given up; 0 where the plan does not say.
func (r *run) mostRounds(rounds *result.Rounds) int {
	if phase := r.phaseOf(rounds); phase != nil && phase.Rounds != nil {
		return phase.Rounds.Rule.MaxRounds
	}
	return 0
}

// windowMatrix lays out a figure of all points of rounds by block size and mix.
func (r *run) windowMatrix(title string, figure func(*result.Cell) float64) Table {
	var m matrix
	var windows []string
	for _, rounds := range r.doc.Rounds {
		phase := r.phaseOf(rounds)
		if phase == nil || rounds.Done == 0 {
			continue
		}
		for i := range rounds.Cells[:min(len(rounds.Cells), len(phase.Points))] {
			w := spec(&phase.Points[i])
			if pct := readPct(w); pct >= 0 {
				m.set(w.MaxBlock(), int64(pct), windowCell(rounds, &rounds.Cells[i], figure))
			}
		}
		windows = append(windows, r.windowNote(rounds, phase))
	}
	t := m.table(title, "KiB \\ R/W", kib, func(pct int64) string { return fmt.Sprintf("%d/%d", pct, 100-pct) })
	t.Notes = windows
	return t
}

// windowNote says which rounds are the measurement window of a phase, and of which phase where there are several.
func (r *run) windowNote(rounds *result.Rounds, phase *plan.Phase) string {
	of := ""
	if len(r.doc.Rounds) > 1 && len(phase.Points) > 0 {
		of, _, _ = strings.Cut(access(spec(&phase.Points[0])), ",")
		of = " of " + of
	}
	text := fmt.Sprintf("measurement window%s: rounds %d to %d", of, rounds.First, rounds.Last)
	switch {
	case rounds.Last == 0:
		text = fmt.Sprintf("no measurement window%s: these are rounds 1 to %d, steady state was NOT reached", of, rounds.Done)
	case !rounds.Reached:
		text += ", steady state was NOT reached"
	}
	return text
}

// windowCell is a figure over the measurement window.
func windowCell(rounds *result.Rounds, c *result.Cell, figure func(*result.Cell) float64) Cell {
	switch {
	case c.Skipped != "":
		return text("skipped")
	case c.Rounds == 0:
		return none()
	}
	return Cell{Value: figure(c), Partial: rounds.Last > 0 && c.Rounds < rounds.Last-rounds.First+1}
}

// variable is a tracked variable in the unit of its table.
type variable struct {
	name, unit string
	scale      float64
	report     *steady.Report
	values     []float64 // of all rounds; NaN without a figure
}

// variables are those of a phase of rounds.
func (r *run) variables(rounds *result.Rounds) (list []variable) {
	phase := r.phaseOf(rounds)
	if phase == nil {
		return nil
	}
	for i := range rounds.Tracked {
		t := &rounds.Tracked[i]
		v := variable{name: t.Point, report: &t.Steady}
		if phase.Rounds != nil && i < len(phase.Rounds.Track) {
			if at := phase.Rounds.Track[i].Point; at >= 0 && at < len(phase.Points) {
				v.name = access(spec(&phase.Points[at]))
			}
		}
		switch t.Steady.Rule.Metric {
		case steady.Bandwidth:
			v.unit, v.scale = "MB/s", 1e6
		case steady.Mean:
			v.unit, v.scale = "ms", 1e6
		case steady.P99:
			v.unit, v.scale = "ms, 99th", 1e6
		default:
			v.unit, v.scale = "IOPS", 1
		}
		for _, value := range t.Steady.Values {
			x := math.NaN()
			if value != nil {
				x = *value / v.scale
			}
			v.values = append(v.values, x)
		}
		list = append(list, v)
	}
	return list
}

// shownRounds is how many rounds are shown, the last ones.
const shownRounds = 50

// convergence has the tables about the steady state of each phase of rounds.
func (r *run) convergence() (list []Table) {
	for _, rounds := range r.doc.Rounds {
		variables := r.variables(rounds)
		if len(variables) == 0 {
			continue
		}
		all := Table{Title: "Steady State Convergence", Corner: "round"}
		n := 0
		for _, v := range variables {
			n = max(n, len(v.values))
		}
		for i := range n {
			all.Columns = append(all.Columns, Head{Name: fmt.Sprint(i + 1)})
		}
		left := max(0, n-shownRounds)
		all.Columns = all.Columns[left:]
		for _, v := range variables {
			all.Rows = append(all.Rows, Row{Head{v.name, v.unit}, numbers(v.values[min(left, len(v.values)):])})
		}
		verdict := fmt.Sprintf("steady state NOT reached in %d rounds", rounds.Done)
		if most := r.mostRounds(rounds); rounds.Done < most { // it was stopped, or could not go on
			verdict = fmt.Sprintf("steady state NOT reached in %d of at most %d rounds", rounds.Done, most)
		}
		if rounds.Reached {
			verdict = fmt.Sprintf("steady state reached in round %d: all tracked variables are steady in rounds %d to %d", rounds.Last, rounds.First, rounds.Last)
		}
		all.Notes = []string{verdict}
		if left > 0 {
			all.Notes = append(all.Notes, fmt.Sprintf("the last %d of %d rounds; the document has all", shownRounds, n))
		}
		if n > 0 {
			list = append(list, all)
		}
		list = append(list, windowTables(rounds, variables)...)
	}
	return list
}

func numbers(values []float64) (list []Cell) {
	for _, v := range values {
		list = append(list, number(v))
	}
	return list
}

// windowTables are the measurement window's rounds with their lines, and the data by which it was judged.
func windowTables(rounds *result.Rounds, variables []variable) []Table {
	window := Table{Title: "Steady State Measurement Window", Corner: "round"}
	data := Table{Title: "Steady State Determination Data"}
	for i := rounds.First; i <= rounds.Last && i > 0 && rounds.Last-rounds.First < steady.MaxWindow; i++ {
		window.Columns = append(window.Columns, Head{Name: fmt.Sprint(i)})
	}
	names := []string{
		"Average", "Allowed Maximum Data Excursion", "Measured Maximum Data Excursion", "Allowed Maximum Slope Excursion",
		"Measured Maximum Slope Excursion", "Least Squares Linear Fit Formula", "Correlation", "Steady",
	}
	for _, n := range names {
		data.Rows = append(data.Rows, Row{Head: Head{Name: n}})
	}
	var reasons []string
	for _, v := range variables {
		rule := v.report.Rule
		if rounds.First < 1 || rounds.Last > len(v.values) || rounds.Last-rounds.First+1 != rule.Window || rule.Validate() != nil || rule.Kind != steady.SNIA {
			continue
		}
		values := v.values[rounds.First-1 : rounds.Last]
		s := rule.Judge(values)
		lines := [][]float64{values, nil, nil, nil, nil}
		for i := range values {
			for k, v := range []float64{s.Mean, 1.1 * s.Mean, 0.9 * s.Mean, s.Intercept + s.Slope*float64(i)} {
				lines[k+1] = append(lines[k+1], v)
			}
		}
		for i, n := range []string{v.name, "  Average", "  110% Average", "  90% Average", "  Slope"} {
			window.Rows = append(window.Rows, Row{Head{n, v.unit}, numbers(lines[i])})
		}
		verdict := "yes"
		if !s.Steady {
			verdict = "NO"
			reasons = append(reasons, v.name+": "+s.Reason)
		}
		data.Columns = append(data.Columns, Head{v.name, v.unit})
		for i, c := range []Cell{
			number(s.Mean), number(s.Mean * rule.RangePct / 100), number(s.Range), number(s.Mean * rule.FittedPct / 100), number(s.FittedRange),
			text(line(s.Slope, s.Intercept-s.Slope*float64(rounds.First))), text(fmt.Sprintf("%.3f", s.Correlation)), text(verdict),
		} {
			data.Rows[i].Cells = append(data.Rows[i].Cells, c)
		}
		data.Notes = append([]string{fmt.Sprintf("allowed: data excursion %g %%, slope excursion %g %% of the average; R: number of the round", rule.RangePct, rule.FittedPct)}, reasons...)
	}
	if len(window.Rows) == 0 {
		return nil
	}
	window.Notes = []string{"Slope: the best linear fit through the rounds"}
	return []Table{window, data}
}

// line writes a straight line over the number of the round.
func line(slope, intercept float64) string {
	sign := "+"
	if intercept < 0 {
		sign = "-"
	}
	return fmt.Sprintf("%s * R %s %s", sixDigits(slope), sign, sixDigits(math.Abs(intercept)))
}

// sixDigits writes a number with six digits at least, and no exponent.
func sixDigits(v float64) string {
	places := 6
	for x := math.Abs(v); x >= 1 && places > 0; x /= 10 {
		places--
	}
	return strconv.FormatFloat(v, 'f', places, 64)
}

// kib writes a block size as the specification does: 4, 0.5.
func kib(bytes int64) string { return strconv.FormatFloat(float64(bytes)/1024, 'f', -1, 64) }

// access names a workload as the specification does: "RND 4 KiB, R/W 0/100".
func access(w *workload.Spec) string {
	order := "SEQ"
	if w.Random() {
		order = "RND"
	}
	pct := readPct(w)
	if pct < 0 || !w.OneSize() {
		return name(w)
	}
	return fmt.Sprintf("%s %s KiB, R/W %d/%d", order, kib(w.MaxBlock()), pct, 100-pct)
}
