package compare

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"blkstorm/printable"
)

// MaxText is the longest limit that is read, in bytes.
const MaxText = 500

// Limit is a change that is too much: "p99 worse 10%".
type Limit struct {
	Metric Metric  // with a direction
	Pct    float64 // of the baseline, over 0
	At     string  // which points: a label in which * stands for anything; empty is all
	points *regexp.Regexp
}

// LimitResult is a limit that was checked.
type LimitResult struct {
	Limit  string   `json:"limit"`
	Broken []Broken `json:"broken"` // where it is; none: it is kept
}

// Broken is a point that is worse than a limit allows, or of which that cannot be ruled out because there
// is nothing to compare.
type Broken struct {
	Side      string   `json:"side"`
	Label     string   `json:"label"`
	Nth       int      `json:"nth"`
	ChangePct *float64 `json:"change_pct"` // nil: not known
	Why       string   `json:"why"`
}

// ParseLimit reads FIGURE worse PCT [at POINT]; docs/compare.md has the grammar.
func ParseLimit(text string) (Limit, error) {
	fail := func(err error) (Limit, error) { return Limit{}, fmt.Errorf("--fail-if %q: %w", text, err) }
	if len(text) > MaxText {
		return Limit{}, fmt.Errorf("--fail-if: %d bytes long; at most %d are read", len(text), MaxText)
	}
	words := strings.Fields(text)
	if len(words) < 3 || !strings.EqualFold(words[1], "worse") {
		return fail(errors.New("write FIGURE worse PERCENT, for example p99 worse 10%"))
	}
	m, err := ParseMetric(words[0])
	if err != nil {
		return fail(err)
	}
	if m.Direction == "" {
		m.Direction = "total"
	}
	l := Limit{Metric: m}
	number := strings.TrimSuffix(words[2], "%")
	l.Pct, err = strconv.ParseFloat(number, 64)
	if err != nil || strings.Trim(number, "0123456789.") != "" || !(l.Pct > 0 && l.Pct <= 1e6) {
		return fail(fmt.Errorf("%q is no percentage over 0, as in 5%% or 0.5%%", words[2]))
	}
	if m.rate() && l.Pct >= 100 {
		return fail(fmt.Errorf("%s cannot become worse by %s%%: all of it is 100%%", m.name(), number))
	}
	if len(words) == 3 {
		return l, nil
	}
	if !strings.EqualFold(words[3], "at") || len(words) == 4 {
		return fail(fmt.Errorf("%q: after the percentage comes nothing, or at and a point's label", strings.Join(words[3:], " ")))
	}
	l.At = strings.Join(words[4:], " ")
	l.points, err = pattern(l.At)
	if err != nil {
		return fail(err)
	}
	return l, nil
}

// pattern is the expression for a label in which * stands for anything.
func pattern(text string) (*regexp.Regexp, error) {
	return regexp.Compile(`(?s)\A` + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, `.*`) + `\z`)
}

// String is the limit as ParseLimit reads it.
func (l Limit) String() string {
	m := l.Metric
	if m.Direction == "total" {
		m.Direction = ""
	}
	text := fmt.Sprintf("%v worse %s%%", m, strconv.FormatFloat(l.Pct, 'f', -1, 64))
	if l.At != "" {
		text += " at " + l.At
	}
	return text
}

func (l Limit) covers(label string) bool {
	return l.points == nil || l.points.MatchString(strings.Join(strings.Fields(label), " ")) || l.points.MatchString(label)
}

// check holds a comparison to the limit. A figure breaks it when it changed for the worse by the percentage
// or more, and that it is worse is shown; where nothing tells chance from difference, the change alone
// decides; and where there is nothing to compare, the limit counts as broken, as an assert about what was
// not measured is not met. An error is a limit that no point is meant by.
func (l Limit) check(d *Doc) (LimitResult, error) {
	r := LimitResult{Limit: l.String(), Broken: []Broken{}}
	covered := false
	for _, c := range d.Comparisons {
		for _, p := range c.Points {
			if !l.covers(p.Label) {
				continue
			}
			f := p.of(l.Metric)
			if f == nil {
				continue // neither side has that direction
			}
			covered = true
			if why := l.judge(f); why != "" {
				r.Broken = append(r.Broken, Broken{Side: c.Side, Label: p.Label, Nth: p.Nth, ChangePct: f.ChangePct, Why: why})
			}
		}
		for _, u := range c.Unmatched {
			if l.covers(u.Label) && u.Side != c.Side { // what is new has no baseline
				covered = true
				r.Broken = append(r.Broken, Broken{Side: c.Side, Label: u.Label, Nth: u.Nth, Why: u.Why})
			}
		}
	}
	if !covered {
		return r, fmt.Errorf("--fail-if %q: no point has such a label and such a figure", l.String())
	}
	return r, nil
}

// of is the point's figure of a metric; nil when it has none.
func (p *Point) of(m Metric) *Figure {
	for _, f := range p.Figures {
		if f.Metric == m.name() && f.Direction == m.Direction {
			return f
		}
	}
	return nil
}

// judge says why a figure breaks the limit; empty: it does not.
func (l Limit) judge(f *Figure) (why string) {
	if f.ChangePct == nil {
		return f.Why
	}
	worse := *f.ChangePct
	if l.Metric.rate() {
		worse = -worse
	}
	// A change of just the percentage has its rounding errors.
	if worse < l.Pct*(1-1e-9) || f.Verdict == NoDifference || f.Verdict == Better {
		return ""
	}
	why = fmt.Sprintf("%s, from %s to %s", percent(f.ChangePct), f.show(f.A), f.show(f.B))
	if f.Verdict == CannotTell {
		why += ", and whether that is chance cannot be told"
	}
	return why
}

// Broken says how many limits are not kept.
func (d *Doc) Broken() (n int) {
	for _, r := range d.FailIf {
		if len(r.Broken) > 0 {
			n++
		}
	}
	return n
}

// String is a line for people.
func (b Broken) String() string {
	return fmt.Sprintf("%s: %v: %s", b.Side, key{b.Label, b.Nth}, printable.Text(b.Why))
}
