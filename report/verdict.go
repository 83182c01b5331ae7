package report

import (
	"fmt"
	"strings"

	"blkstorm/plan"
	"blkstorm/printable"
	"blkstorm/result"
)

// card is one headline number.
type card struct{ Key, Value, Unit, Note string }

// note is a sentence at the top: Class is good, warn, bad or empty. More are the single cases that it stands for.
type note struct {
	Class, Text string
	More        []string
}

// maxAlone is how many notes of one kind stand there each for itself.
const maxAlone = 2

// noteList collects notes. Those of one kind (not empty) become one, if there are many.
type noteList struct {
	list  []note
	kinds []string
}

func (l *noteList) say(class, kind, format string, args ...any) {
	l.list, l.kinds = append(l.list, note{Class: class, Text: fmt.Sprintf(format, args...)}), append(l.kinds, kind)
}

func (l *noteList) together() (out []note) {
	at := map[string]int{}
	number := map[string]int{}
	for _, k := range l.kinds {
		number[k]++
	}
	for i, n := range l.list {
		kind := l.kinds[i]
		if kind == "" || number[kind] <= maxAlone {
			out = append(out, n)
			continue
		}
		k, found := at[kind]
		if !found {
			k = len(out)
			at[kind] = k
			out = append(out, note{Class: n.Class, Text: plural(number[kind], "point") + kind})
		}
		out[k].More = append(out[k].More, n.Text)
	}
	return out
}

// nameOf is how the page calls a point: its number, and its label.
func nameOf(d *result.Doc, i int) string {
	if i < 0 || i >= len(d.Points) {
		return fmt.Sprintf("point %d", i+1)
	}
	label := printable.Text(d.Points[i].Label)
	if label == "" {
		label = fmt.Sprintf("point %d", i+1)
	}
	if len(d.Points) > 1 {
		return fmt.Sprintf("[%d] %s", i+1, label)
	}
	return label
}

// measured are the indexes of the points that measure something.
func measured(d *result.Doc) []int { return pointsOf(d, plan.Measure) }

func pointsOf(d *result.Doc, phase string) (out []int) {
	for i, p := range d.Points {
		if p.Phase == phase && p.Skipped == "" && p.Total != nil {
			out = append(out, i)
		}
	}
	return out
}

// headline is the point whose figures stand at the top: what a search found, the knee of a sweep, else the
// measured point with the most IOPS, one that ran to its end if there is any, else the last point; -1 for none.
func headline(d *result.Doc) (index int, why string) {
	valid := func(i *int) bool { return i != nil && *i >= 0 && *i < len(d.Points) && d.Points[*i].Total != nil }
	if f := d.FindMax; f != nil && valid(f.FoundPoint) {
		return *f.FoundPoint, "the highest rate with " + limitText(f.Limit)
	}
	if s := d.Sweep; s != nil && s.Knee != nil && valid(s.Knee.Point) {
		return *s.Knee.Point, "the knee: the most IOPS with " + limitText(s.Knee.Limit)
	}
	list := measured(d)
	if len(list) == 0 {
		for i := range d.Points {
			if d.Points[i].Total != nil && d.Points[i].Skipped == "" {
				list = []int{i}
			}
		}
	}
	if len(list) == 0 {
		return -1, ""
	}
	best := list[0]
	for _, i := range list {
		p, b := d.Points[i], d.Points[best]
		if p.Completed == b.Completed && p.Total.IOPS > b.Total.IOPS || p.Completed && !b.Completed {
			best = i
		}
	}
	switch {
	case d.FindMax != nil:
		why = "only the step with the most IOPS: no rate was found with " + limitText(d.FindMax.Limit)
	case len(list) > 1:
		why = "the most IOPS of " + plural(len(list), "measured point")
	}
	return best, why
}

func limitText(limit string) string {
	return printable.Text(strings.Replace(limit, "=", " within ", 1))
}

// cards are the headline numbers of a point.
func cards(p *result.Point) []card {
	t := p.Total
	out := []card{{"IOPS", figure(t.IOPS), "", splitNote(p, func(s *result.Stat) string { return figure(s.IOPS) })},
		{"Throughput", figure(t.BytesPerS / 1e6), "MB/s", splitNote(p, func(s *result.Stat) string { return figure(s.BytesPerS / 1e6) })}}
	latency := func(key, name string) {
		ns, ok := latencyOf(t.Latency, name)
		if !ok {
			return
		}
		v, unit := nanos(float64(ns))
		out = append(out, card{key, v, unit, splitNote(p, func(s *result.Stat) string {
			ns, ok := latencyOf(s.Latency, name)
			if !ok {
				return "–"
			}
			return nanosText(float64(ns))
		})})
	}
	latency("Mean latency", "mean")
	latency("p99 latency", "p99")
	latency("p99.9 latency", "p99.9")
	latency("Worst latency", "max")
	latency("Standard deviation", "stdev")
	if o := t.OpenLoop; o != nil && o.Response != nil && o.Response.Count > 0 {
		if ns, ok := latencyOf(o.Response, "p99"); ok {
			v, unit := nanos(float64(ns))
			out = append(out, card{"p99 response time", v, unit, "from the planned time"})
		}
	}
	return out
}

// roundCards are the headline numbers of a phase of rounds: of the cell with the most IOPS, over the window.
func roundCards(r *result.Rounds) (out []card, of string) {
	best := -1
	for i := range r.Cells {
		if c := &r.Cells[i]; c.Rounds > 0 && (best < 0 || c.IOPS > r.Cells[best].IOPS) {
			best = i
		}
	}
	if best < 0 {
		return nil, ""
	}
	c := &r.Cells[best]
	out = []card{{"IOPS", figure(c.IOPS), "", ""}, {"Throughput", figure(c.BytesPerS / 1e6), "MB/s", ""}}
	for _, l := range []struct {
		key string
		ns  int64
	}{{"Mean latency", c.MeanNS}, {"p99 latency", c.P99NS}, {"Worst latency", c.MaxNS}} {
		v, unit := nanos(float64(l.ns))
		out = append(out, card{l.key, v, unit, ""})
	}
	of = fmt.Sprintf("%s – the most IOPS of %s, over %s", printable.Text(c.Label), plural(len(r.Cells), "cell"), plural(c.Rounds, "round"))
	return out, of
}

// splitNote is a figure of each direction, when there are several.
func splitNote(p *result.Point, text func(*result.Stat) string) string {
	ds := used(direction{"read", p.Read}, direction{"write", p.Write}, direction{"trim", p.Trim})
	if len(ds) < 2 {
		return ""
	}
	var parts []string
	for _, d := range ds {
		parts = append(parts, d.Name+" "+text(d.Stat))
	}
	return strings.Join(parts, "\n")
}

// notes say at the top what the numbers are worth: what broke, whether steady state was reached, limits.
func notes(d *result.Doc) []note {
	l := &noteList{}
	if len(d.Points) == 0 {
		l.say("bad", "", "No point has ended: there are no figures.")
	}
	l.leftOut(d.Merge)
	skipped := 0
	for i, p := range d.Points {
		if p.Skipped != "" {
			skipped++
			continue
		}
		l.point(nameOf(d, i), p, d.Merge != nil)
	}
	for _, r := range d.Rounds {
		if r.Reached {
			l.say("good", "", "Steady state was reached: rounds %d to %d are the measurement window.", r.First, r.Last)
		} else {
			l.say("bad", "", "Steady state was not reached in %s.", plural(r.Done, "round"))
		}
	}
	if skipped > 0 {
		l.say("warn", "", "%s could not run on these targets, and have no figures; the reasons are in the table of points.", plural(skipped, "point"))
	}
	if s := d.Sweep; s != nil && s.Knee != nil && s.Knee.Point == nil {
		l.say("warn", "", "No point has %s: there is no knee.", limitText(s.Knee.Limit))
	}
	if f := d.FindMax; f != nil {
		l.search(f)
	}
	kept, missed := 0, 0
	for i, p := range d.Points {
		for _, a := range p.Asserts {
			if kept++; !a.OK {
				missed++
				l.say("bad", " missed a limit", "Limit not kept at %s: %s.", nameOf(d, i), printable.Text(a.String()))
			}
		}
	}
	if missed == 0 && kept > 0 {
		l.say("good", "", "%s kept: every one.", plural(kept, "limit"))
	}
	for _, r := range d.Resumed {
		after := "before its first point"
		if r.AfterPoint >= 0 {
			after = "after " + nameOf(d, r.AfterPoint)
		}
		l.say("warn", "", "The run was cut off %s and gone on with at %s, %s later.", after, r.At.UTC().Format("2006-01-02 15:04:05 UTC"), secondsText(r.GapS))
	}
	return l.together()
}

// cutOff tells of rows of a point that the document does not have: it goes on still, or was killed within it.
func cutOff(d *result.Doc, rows int) note {
	return note{Class: "bad", Text: fmt.Sprintf("Point %d has not ended, or the run was cut off within it: what is in intervals.ndjson of it (%s) is not on this page. "+
		"blkstorm export has it; blkstorm run --resume goes on with a run that was cut off.", len(d.Points)+1, plural(rows, "row"))}
}

// point says what became of a point, of one machine or of many.
func (l *noteList) point(name string, p *result.Point, merged bool) {
	switch {
	case merged && p.Failure == "" && p.StuckIOs == 0 && !p.Completed:
		l.say("bad", " did not run to their end everywhere", "%s did not run to its end on every machine: its figures cover %s.", name, secondsText(p.WindowS))
	case p.Failure != "":
		l.say("bad", " failed", "%s failed: %s. Its figures cover the %s before that.", name, printable.Text(p.Failure), secondsText(p.WindowS))
	case p.StuckIOs > 0:
		l.say("bad", " hung", "%s: the device hung; %s never came back, and no figure includes what hangs.", name, plural(p.StuckIOs, "I/O"))
	case p.Interrupted:
		l.say("bad", " were interrupted", "%s was interrupted: its figures cover the %s before that.", name, secondsText(p.WindowS))
	case !p.Completed:
		l.say("bad", " did not run to their end", "%s did not run to its end: its figures cover %s.", name, secondsText(p.WindowS))
	}
	if p.Faults > 0 {
		l.say("bad", " had I/Os that failed or fell short", "%s: %s failed or fell short; they are in no other figure.", name, plural(p.Faults, "I/O"))
	}
	if r := p.Steady; r != nil && r.State.Steady {
		l.say("good", " reached steady state", "%s: steady state was reached in round %d of %v (rule: %s; range %.3g %%, fitted range %.3g %% of the mean).", name,
			r.State.Reached, r.Rule.Round, r.Rule.String(), r.State.RangePct, r.State.FittedPct)
	} else if r != nil {
		l.say("bad", " did not reach steady state", "%s: steady state was not reached in %s: %s (rule: %s).", name, plural(r.State.Rounds, "round"),
			printable.Text(r.State.Reason), r.Rule.String())
	}
	if d := p.Drift; d != nil {
		l.say("warn", " left the steady state that had been reached", "%s left the steady state that had been reached: %s.", name, printable.Text(d.String()))
	}
}

// search says what a search came to.
func (l *noteList) search(f *result.FindMax) {
	switch {
	case f.FoundIOPS == nil:
		l.say("bad", "", "No rate was found with %s: %s.", limitText(f.Limit), printable.Text(f.Why))
	case f.ReachedCeiling:
		l.say("warn", "", "Found %s IOPS with %s; that is what the device gives at all, so the limit is not what bounds it.", figure(*f.FoundIOPS), limitText(f.Limit))
	default:
		l.say("good", "", "Found %s IOPS, the highest rate with %s.", figure(*f.FoundIOPS), limitText(f.Limit))
	}
}

// maxShort is how many measured points the short table at the top has.
const maxShort = 20

// shortTable is the headline numbers of several measured points; nil when there is one, or too many, or when they are
// a sweep.
func shortTable(d *result.Doc) *table {
	list := measured(d)
	swept := d.Sweep != nil && len(d.Sweep.Points) == len(list) // its matrices say it better
	if len(list) < 2 || len(list) > maxShort || d.FindMax != nil || swept {
		return nil
	}
	var stats []*result.Stat
	for _, i := range list {
		stats = append(stats, d.Points[i].Total)
	}
	sc := scaleOf(stats...)
	t := &table{Head: []head{{"measured", "", true}, {"IOPS", "", false}, {"MB/s", "", false}}}
	names := []string{"mean", "stdev", "p99", "p99.9", "max"}
	for _, name := range names {
		t.Head = append(t.Head, head{Text: name, Unit: sc.Unit})
	}
	for _, i := range list {
		s := d.Points[i].Total
		row := []cell{left(nameOf(d, i)), num(figure(s.IOPS), s.IOPS), num(figure(s.BytesPerS/1e6), s.BytesPerS/1e6)}
		for _, name := range names {
			row = append(row, latencyCell(s.Latency, name, sc))
		}
		t.add(row...)
	}
	return t
}
