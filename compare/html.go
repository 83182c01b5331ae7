package compare

import (
	"context"
	"io"
	"math"
	"strconv"
	"strings"

	"blkstorm/printable"
	"blkstorm/report/page"
	"blkstorm/verdict"
)

// WriteHTML writes the comparison as one page that needs no network.
func WriteHTML(w io.Writer, d *Doc) error {
	v := newView(d)
	return page.Write(w, &page.Page{
		Title: v.Title, Version: printable.Text(d.Version),
		Body: func(w io.Writer) error { return body(v).Render(context.Background(), w) },
	})
}

// view is what the body shows; all names in it are printable, and the body escapes them.
type view struct {
	Title       string
	Sides       []viewSide
	Comparisons []viewComparison
	Limits      []viewLimit
	Method      []string
	Warnings    []verdict.Warning
}

type viewSide struct {
	Name string
	Runs []string
}

type viewComparison struct {
	ID, Side, Scale string
	Summary         Summary
	Warnings        []verdict.Warning
	Rows            []viewRow
	Reasons         []string // why figures cannot be told, by their numbers
	Unmatched       []viewRow
}

type viewRow struct {
	Point, Direction, Metric, A, B, Change, Interval, Verdict, Why, Class string
	AValue, BValue, ChangeValue                                           string // with all digits
	Scaled                                                                bool   // the table has bars
	Bar                                                                   *bar
}

type viewLimit struct {
	Limit  string
	Broken []string
}

// bar is an interval drawn: 180 wide, no change in the middle.
type bar struct {
	Class, Label, Low, High, At string
}

func newView(d *Doc) *view {
	v := &view{Method: d.method(), Warnings: shown(d.Warnings)}
	var names []string
	for _, s := range d.Sides {
		side := viewSide{Name: s.Name}
		for _, r := range s.Runs {
			side.Runs = append(side.Runs, printable.Text(r.describe()))
		}
		names = append(names, printable.Text(s.Runs[0].Path))
		v.Sides = append(v.Sides, side)
	}
	v.Title = strings.Join(names[1:], ", ") + " compared with " + names[0]
	for _, c := range d.Comparisons {
		v.Comparisons = append(v.Comparisons, c.view())
	}
	for _, r := range d.FailIf {
		limit := viewLimit{Limit: printable.Text(r.Limit)}
		for _, b := range r.Broken {
			limit.Broken = append(limit.Broken, b.String())
		}
		v.Limits = append(v.Limits, limit)
	}
	return v
}

func shown(list []verdict.Warning) []verdict.Warning {
	out := make([]verdict.Warning, 0, len(list))
	for _, w := range list {
		out = append(out, verdict.Warning{Code: w.Code, Message: printable.Text(w.Message), Advice: printable.Text(w.Advice)})
	}
	return out
}

func (c *Comparison) view() viewComparison {
	v := viewComparison{ID: "compare-" + c.Side, Side: c.Side, Summary: c.Summary, Warnings: shown(c.Warnings)}
	// Twice the widest change is at the end of the scale, but at most 100 %; wider intervals end there.
	reach := 1.0
	bars := false
	for _, p := range c.Points {
		for _, f := range p.Figures {
			if f.ChangePct != nil && f.P != nil {
				reach, bars = max(reach, min(2*math.Abs(*f.ChangePct), 100)), true
			}
		}
	}
	if bars {
		v.Scale = "±" + strings.TrimPrefix(percent(&reach), "+")
	}
	var why reasons
	for _, p := range c.Points {
		for _, f := range p.Figures {
			row := f.view(reach)
			row.Point, row.Scaled = key{p.Label, p.Nth}.String(), bars
			row.Verdict += why.mark(printable.Text(f.Why))
			v.Rows = append(v.Rows, row)
		}
	}
	v.Reasons = why
	for _, u := range c.Unmatched {
		v.Unmatched = append(v.Unmatched, viewRow{Point: key{u.Label, u.Nth}.String(), Why: printable.Text(u.Why)})
	}
	return v
}

var classes = map[string]string{Better: "goodtext", Worse: "badtext", CannotTell: "dim"}

func (f *Figure) view(reach float64) viewRow {
	digits := func(v *float64) string {
		if v == nil {
			return ""
		}
		return strconv.FormatFloat(*v, 'g', -1, 64)
	}
	row := viewRow{
		Direction: f.Direction, Metric: f.Metric, A: f.show(f.A), B: f.show(f.B), Change: percent(f.ChangePct), Interval: f.interval(),
		Verdict: strings.ToLower(verdicts[f.Verdict]), Class: classes[f.Verdict],
		AValue: digits(f.A), BValue: digits(f.B), ChangeValue: digits(f.ChangePct),
	}
	if f.P == nil || f.ChangePct == nil {
		return row
	}
	at := func(pct *float64, open float64) string {
		v := open
		if pct != nil {
			v = min(max(*pct/reach, -1), 1)
		}
		return strconv.FormatFloat(90+86*v, 'f', 1, 64)
	}
	row.Bar = &bar{Class: row.Class, Label: row.Interval, Low: at(f.LowPct, -1), High: at(f.HighPct, 1), At: at(f.ChangePct, 0)}
	return row
}
