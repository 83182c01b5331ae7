package result

import (
	"fmt"
	"strings"

	"blkstorm/steady"
)

// textSteady says what became of the search for steady state.
func (p *Point) textSteady(b *strings.Builder) {
	if p.Steady == nil {
		return
	}
	r := p.Steady
	st := &r.State
	head := fmt.Sprintf("NOT STEADY after %s: %s", plural(uint64(st.Rounds), "round"), st.Reason)
	if st.Steady {
		head = fmt.Sprintf("steady state reached in round %d", st.Reached)
	}
	wrap(b, "  ", "    ", fmt.Sprintf("%s (rule: %s)", head, r.Rule.String()), TextWidth)
	textRoundFigures(b, r)
}

// textRoundFigures writes the figures of the window, and the values of the rounds.
func textRoundFigures(b *strings.Builder, r *steady.Report) {
	st := &r.State
	scale, unit := steadyUnit(r.Rule.Metric)
	if st.First > 0 && st.Mean > 0 {
		wrap(b, "    ", "    ", fmt.Sprintf("rounds %d to %d: mean %s %s, range %.3g %%, slope %.3g %% per round, fitted range %.3g %%, correlation %.2f",
			st.First, st.Rounds, number(st.Mean/scale, 1), unit, st.RangePct, st.SlopePct, st.FittedPct, st.Correlation), TextWidth)
	}
	var values []string
	for _, v := range r.Values[max(0, len(r.Values)-shownRounds):] {
		if v == nil {
			values = append(values, "-")
			continue
		}
		values = append(values, number(*v/scale, 1))
	}
	wrap(b, "    ", "      ", fmt.Sprintf("%s of the rounds in %s: %s", r.Rule.Metric, unit, strings.Join(values, ", ")), TextWidth)
}

// steadyUnit is how values of a metric are shown.
func steadyUnit(m steady.Metric) (scale float64, unit string) {
	switch m {
	case steady.Bandwidth:
		return 1e6, "MB/s"
	case steady.Mean, steady.P99:
		return 1e3, "µs"
	}
	return 1, "IOPS"
}

// String says what was left, with the metric's unit.
func (d *Drift) String() string {
	scale, unit := steadyUnit(steady.IOPS)
	for _, m := range []steady.Metric{steady.Bandwidth, steady.Mean, steady.P99} {
		if d.Metric == m.String() {
			scale, unit = steadyUnit(m)
		}
	}
	return fmt.Sprintf("%s is %s %s, and was %s to %s", d.Metric, number(d.Value/scale, 1), unit, number(d.Low/scale, 1), number(d.High/scale, 1))
}

// shownRounds is how many rounds the text shows, the last ones; the JSON has all.
const shownRounds = 25

// textAsserts lists the limits and whether they were kept.
func (p *Point) textAsserts(b *strings.Builder) {
	for _, r := range p.Asserts {
		wrap(b, "  assert ", "    ", r.String(), TextWidth)
	}
}
