package report

import (
	"fmt"
	"slices"
	"strings"

	"blkstorm/plan"
	"blkstorm/printable"
	"blkstorm/result"
	"blkstorm/verdict"
)

// card is one headline number.
type card struct{ Key, Value, Unit, Note string }

// note is a sentence at the top: Class is good, warn, bad or empty.
type note struct{ Class, Text string }

// warning is one code with all places that have it.
type warning struct {
	Code, Message, Advice string
	Where                 string // which points
	More                  []string
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
// measured point with the most IOPS, else the last point; -1 for none.
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
		if d.Points[i].Total.IOPS > d.Points[best].Total.IOPS {
			best = i
		}
	}
	if len(list) > 1 {
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
func notes(d *result.Doc) (out []note) {
	say := func(class, format string, args ...any) { out = append(out, note{class, fmt.Sprintf(format, args...)}) }
	if len(d.Points) == 0 {
		say("bad", "No point was run: there are no figures.")
	}
	skipped := 0
	for i, p := range d.Points {
		name := nameOf(d, i)
		switch {
		case p.Skipped != "":
			skipped++
			continue
		case p.Failure != "":
			say("bad", "%s failed: %s. Its figures cover the %s before that.", name, printable.Text(p.Failure), secondsText(p.WindowS))
		case p.StuckIOs > 0:
			say("bad", "%s: the device hung; %s never came back, and no figure includes what hangs.", name, plural(p.StuckIOs, "I/O"))
		case p.Interrupted:
			say("bad", "%s was interrupted: its figures cover the %s before that.", name, secondsText(p.WindowS))
		case !p.Completed:
			say("bad", "%s did not run to its end: its figures cover %s.", name, secondsText(p.WindowS))
		}
		if p.Faults > 0 {
			say("bad", "%s: %s; they are in no other figure.", name, plural(p.Faults, "I/O")+" failed or fell short")
		}
		if r := p.Steady; r != nil {
			if r.State.Steady {
				say("good", "%s: steady state was reached in round %d of %v (rule: %s; range %.3g %%, fitted range %.3g %% of the mean).", name,
					r.State.Reached, r.Rule.Round, r.Rule.String(), r.State.RangePct, r.State.FittedPct)
			} else {
				say("bad", "%s: steady state was not reached in %s: %s (rule: %s).", name, plural(r.State.Rounds, "round"),
					printable.Text(r.State.Reason), r.Rule.String())
			}
		}
		if p.Drift != nil {
			say("warn", "%s left the steady state that had been reached: %s.", name, printable.Text(p.Drift.Metric))
		}
	}
	for _, r := range d.Rounds {
		if r.Reached {
			say("good", "Steady state was reached: rounds %d to %d are the measurement window.", r.First, r.Last)
		} else {
			say("bad", "Steady state was not reached in %s.", plural(r.Done, "round"))
		}
	}
	if skipped > 0 {
		say("warn", "%s could not run on these targets, and have no figures; the reasons are in the table of points.", plural(skipped, "point"))
	}
	if s := d.Sweep; s != nil && s.Knee != nil && s.Knee.Point == nil {
		say("warn", "No point has %s: there is no knee.", limitText(s.Knee.Limit))
	}
	if f := d.FindMax; f != nil {
		switch {
		case f.FoundIOPS == nil:
			say("bad", "No rate was found with %s: %s.", limitText(f.Limit), printable.Text(f.Why))
		case f.ReachedCeiling:
			say("warn", "Found %s IOPS with %s; that is what the device gives at all, so the limit was not what bounds it.", figure(*f.FoundIOPS), limitText(f.Limit))
		default:
			say("good", "Found %s IOPS, the highest rate with %s.", figure(*f.FoundIOPS), limitText(f.Limit))
		}
	}
	kept, missed := 0, 0
	for i, p := range d.Points {
		for _, a := range p.Asserts {
			if kept++; !a.OK {
				kept, missed = kept-1, missed+1
				say("bad", "Limit not kept at %s: %s.", nameOf(d, i), printable.Text(a.String()))
			}
		}
	}
	if missed == 0 && kept > 0 {
		say("good", "All %s were kept.", plural(kept, "limit"))
	}
	for _, r := range d.Resumed {
		after := "before its first point"
		if r.AfterPoint >= 0 {
			after = "after " + nameOf(d, r.AfterPoint)
		}
		say("warn", "The run was cut off %s and gone on with at %s, %s later.", after, r.At.UTC().Format("2006-01-02 15:04:05 UTC"), secondsText(r.GapS))
	}
	return out
}

// maxWhere is how many points a warning names before it counts the others.
const maxWhere = 6

// warnings brings together those with one code and advice, in the order in which they come.
func warnings(d *result.Doc) (out []*warning) {
	places := map[*warning][]string{}
	add := func(where string, list []verdict.Warning) {
		for _, v := range list {
			code, message, advice := printable.Text(v.Code), printable.Text(v.Message), printable.Text(v.Advice)
			i := slices.IndexFunc(out, func(w *warning) bool { return w.Code == code && w.Advice == advice })
			if i < 0 {
				i = len(out)
				out = append(out, &warning{Code: code, Message: message, Advice: advice})
			}
			w := out[i]
			places[w] = append(places[w], where)
			w.More = append(w.More, where+": "+message)
		}
	}
	add("the whole run", d.Warnings)
	for i, p := range d.Points {
		add(nameOf(d, i), p.Warnings)
	}
	for _, w := range out {
		where := places[w]
		if len(where) > maxWhere {
			w.Where = fmt.Sprintf("%s and %d more", strings.Join(where[:maxWhere], ", "), len(where)-maxWhere)
		} else {
			w.Where = strings.Join(where, ", ")
		}
		if len(w.More) == 1 {
			w.More = nil
		}
	}
	return out
}
