package compare

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"blkstorm/printable"
	"blkstorm/result"
	"blkstorm/verdict"
)

// width is that of lines with sentences.
const width = 130

// WriteText writes the comparison for people.
func WriteText(w io.Writer, d *Doc) error {
	var b strings.Builder
	for _, s := range d.Sides {
		for i, r := range s.Runs {
			name := s.Name
			if i > 0 {
				name = " "
			}
			fmt.Fprintf(&b, "%s  %s\n", name, printable.Text(r.describe()))
		}
	}
	for _, c := range d.Comparisons {
		fmt.Fprintf(&b, "\n%s against A: %v\n", c.Side, c.Summary)
		for _, p := range c.Points {
			p.text(&b, c.Side)
		}
		if len(c.Unmatched) > 0 {
			b.WriteString("\nnot compared\n")
			for _, u := range c.Unmatched {
				fmt.Fprintf(&b, "  %v: %s\n", key{u.Label, u.Nth}, printable.Text(u.Why))
			}
		}
		warnings(&b, c.Warnings)
	}
	b.WriteString("\n")
	for _, line := range d.method() {
		sentence(&b, "", "  ", line)
	}
	warnings(&b, d.Warnings)
	limits(&b, d)
	return write(w, []byte(b.String()))
}

func (r Run) describe() string {
	text := r.Path
	if r.Host != "" {
		text += "  on " + r.Host
	}
	if r.Started != nil {
		text += "  " + r.Started.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	if r.ID != "" {
		text += "  " + r.ID
	}
	return text
}

// String says what came out.
func (s Summary) String() string {
	return fmt.Sprintf("%d better, %d worse, %d no difference shown, %d cannot be told", s.Better, s.Worse, s.NoDifference, s.CannotTell)
}

// verdicts in words.
var verdicts = map[string]string{Better: "better", Worse: "WORSE", NoDifference: "no difference shown", CannotTell: "cannot tell"}

// interval is where the change lies.
func (f *Figure) interval() string {
	switch {
	case f.P == nil:
		return ""
	case f.LowPct == nil && f.HighPct == nil, f.HighPct == nil && *f.LowPct <= -100:
		return "anything"
	case f.HighPct == nil:
		return percent(f.LowPct) + " or more"
	case *f.LowPct <= -100:
		return percent(f.HighPct) + " or less"
	}
	return percent(f.LowPct) + " to " + percent(f.HighPct)
}

// text is the point's table.
func (p *Point) text(b *strings.Builder, side string) {
	fmt.Fprintf(b, "\n%v\n", key{p.Label, p.Nth})
	rows := [][]string{{"", "", "A", side, "change", "interval", ""}}
	var why reasons
	for i, f := range p.Figures {
		direction := f.Direction
		if i > 0 && p.Figures[i-1].Direction == direction {
			direction = ""
		}
		rows = append(rows, []string{direction, f.Metric, f.show(f.A), f.show(f.B), percent(f.ChangePct), f.interval(), verdicts[f.Verdict] + why.mark(f.Why)})
	}
	table(b, rows, 2, 6)
	for i, text := range why {
		head := fmt.Sprintf("  [%d] ", i+1)
		sentence(b, head, strings.Repeat(" ", len(head)), text)
	}
}

// reasons are notes below a table, each once.
type reasons []string

// mark is the number of a reason, to stand behind what it is the reason of; empty for none.
func (r *reasons) mark(why string) string {
	if why == "" {
		return ""
	}
	n := slices.Index(*r, why)
	if n < 0 {
		n = len(*r)
		*r = append(*r, why)
	}
	return fmt.Sprintf(" [%d]", n+1)
}

// table writes cells in columns: names to the left, then numbers to the right, from column words on words.
func table(b *strings.Builder, rows [][]string, names, words int) {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		line := ""
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i >= names && i < words {
				cell = pad + cell
			} else {
				cell += pad
			}
			line += "  " + cell
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

func warnings(b *strings.Builder, list []verdict.Warning) {
	for _, w := range list {
		b.WriteString("\n")
		sentence(b, "warning ["+w.Code+"] ", "  ", w.Message)
		sentence(b, "  ", "  ", w.Advice)
	}
}

// sentence writes text in lines, the first after head and the others after rest.
func sentence(b *strings.Builder, head, rest, text string) {
	result.WriteWrapped(b, head, rest, printable.Text(text), width)
}

// methods in words.
var methods = map[string]string{
	FromRows:         "Means and rates: Welch's t over the interval rows of a run, as many as the rows are worth that hang together in time (long-run variance).",
	FromRowShares:    "Percentiles: Woodruff's interval from the histograms of the rows, by the same variance.",
	FromRounds:       "Points in rounds: Welch's t over the rounds of the measurement window of one run on each side; A and the others are their means.",
	FromRepeats:      "Welch's t over the values of the repeated runs; A and the others are their means.",
	OneAgainstOthers: "Student's t of one run against repeated runs, whose scatter is taken for both.",
}

// method says how the verdicts came about.
func (d *Doc) method() []string {
	used := map[string]bool{}
	for _, c := range d.Comparisons {
		for _, p := range c.Points {
			for _, f := range p.Figures {
				used[f.Method] = true
			}
		}
	}
	var out []string
	for _, m := range []string{FromRows, FromRowShares, FromRounds, FromRepeats, OneAgainstOthers} {
		if used[m] {
			out = append(out, methods[m])
		}
	}
	if len(out) == 0 {
		return []string{"Nothing tells chance from difference here: only what changed is shown."}
	}
	return append(out, fmt.Sprintf("Each interval holds at %.6g %%, so that at most %.4g %% of the differences shown are expected to be chance (Benjamini and Hochberg), "+
		"and two results that are alike show any difference at most that often.", 100*d.Confidence, 100*d.FalseRate))
}

func limits(b *strings.Builder, d *Doc) {
	for _, r := range d.FailIf {
		if len(r.Broken) == 0 {
			fmt.Fprintf(b, "\nfail-if %s: kept\n", printable.Text(r.Limit))
			continue
		}
		fmt.Fprintf(b, "\nfail-if %s: BROKEN\n", printable.Text(r.Limit))
		for _, one := range r.Broken {
			sentence(b, "  ", "    ", one.String())
		}
	}
}
