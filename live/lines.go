package live

import (
	"fmt"
	"strings"

	"github.com/dustin/go-humanize"

	"blkstorm/printable"
	"blkstorm/result"
	"blkstorm/steady"
	"blkstorm/unit"
)

// rowLine is the last row in one line.
func (s *state) rowLine() string {
	in := s.row
	phase, at := "measuring", in.TS+in.LengthS
	left := s.time.Seconds() - at
	if in.Ramp {
		phase = "ramp"
		at += s.ramp.Seconds()
	}
	all := total(in)
	line := fmt.Sprintf("%s %s: at %.0fs: %s IOPS, %s MB/s, max %s, in flight %d", s.label, phase, at,
		humanize.CommafWithDigits(float64(all.ios)/in.LengthS, 0), humanize.CommafWithDigits(float64(all.bytes)/in.LengthS/1e6, 1),
		unit.Nanos(float64(all.max)), in.InFlight)
	switch {
	case s.work && s.bytes == 0:
		return line + ", until its streams end"
	case s.work:
		return line + fmt.Sprintf(", %.0f %% done", 100*min(float64(s.moved)/float64(s.bytes), 1))
	}
	return line + fmt.Sprintf(", %v left", seconds(max(left, 0)).Round(1e9))
}

// roundLine is what the rounds say, in one line.
func roundLine(r *steady.State) string {
	line := fmt.Sprintf("round %d: ", r.Rounds)
	if r.Mean > 0 {
		line += fmt.Sprintf("range %.1f %%, fitted range %.1f %%, slope %.2f %% per round: ", r.RangePct, r.FittedPct, r.SlopePct)
	}
	return line + verdictOf(r)
}

// roundsLines are what a round of points has brought: a line for each tracked variable, and one for all.
func roundsLines(r *result.Rounds) (lines []string) {
	all := fmt.Sprintf("round %d: not steady yet", r.Done)
	for i := range r.Tracked {
		t := &r.Tracked[i]
		st := &t.Steady.State
		line := fmt.Sprintf("round %d: %v of %s: ", r.Done, t.Steady.Rule.Metric, printable.Text(t.Point))
		if st.Mean > 0 {
			line += fmt.Sprintf("range %.1f %%, fitted range %.1f %%, slope %.2f %% per round: ", st.RangePct, st.FittedPct, st.SlopePct)
		}
		switch {
		case st.Steady:
			line += "steady"
		case st.Mean > 0:
			line += "not steady"
		default:
			line += st.Reason
		}
		lines = append(lines, line)
		switch {
		case st.Reached > 0:
			all = fmt.Sprintf("round %d: all steady over rounds %d to %d", r.Done, r.First, r.Last)
		case st.NeverReached:
			all = fmt.Sprintf("round %d: never steady in %d rounds", r.Done, r.Done)
		}
	}
	return append(lines, all)
}

// verdictOf is whether the rounds are steady.
func verdictOf(r *steady.State) string {
	switch {
	case r.Reached > 0 && r.Reached < r.Rounds && !r.Steady:
		return fmt.Sprintf("steady in round %d, no longer", r.Reached)
	case r.Reached > 0:
		return fmt.Sprintf("steady since round %d", r.Reached)
	case r.NeverReached:
		return fmt.Sprintf("never steady in %d rounds", r.Rounds)
	}
	return "not steady yet"
}

// points is how many points the plan has.
func (s *state) points() string {
	if s.fewer {
		return fmt.Sprintf("at most %d", s.of)
	}
	return fmt.Sprint(s.of)
}

// endLine is what became of one of several points, in one line.
func (s *state) endLine(p *result.Point) string {
	line := fmt.Sprintf("point %d", s.index+1)
	if s.of > 0 {
		line += " of " + s.points()
	}
	if p.Round > 0 {
		line += fmt.Sprintf(", round %d", p.Round)
	}
	line += ", " + s.label
	if !p.Completed {
		line += ", not completed"
	}
	line += ": "
	if p.Total.IOs == 0 || p.Total.Latency == nil {
		line += "no I/O completed"
	} else {
		line += fmt.Sprintf("%s IOPS, %s MB/s, mean %s", humanize.CommafWithDigits(p.Total.IOPS, 0),
			humanize.CommafWithDigits(p.Total.BytesPerS/1e6, 1), unit.Nanos(float64(p.Total.Latency.Mean)))
		if p99, ok := p.Total.Latency.Percentiles["99"]; ok {
			line += ", p99 " + unit.Nanos(float64(p99))
		}
		line += ", max " + unit.Nanos(float64(p.Total.Latency.Max))
	}
	var codes []string
	for _, w := range p.Warnings {
		codes = append(codes, w.Code)
	}
	if len(codes) > 0 {
		line += "; warnings: " + strings.Join(codes, ", ")
	}
	return line
}
