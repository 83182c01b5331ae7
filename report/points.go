package report

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"blkstorm/printable"
	"blkstorm/result"
)

// pointsTable is all points, a row each.
func pointsTable(d *result.Doc) *table {
	var stats []*result.Stat
	for _, p := range d.Points {
		stats = append(stats, p.Total)
	}
	sc, cols := scaleOf(stats...), columnsOf(d)
	t := &table{ID: "points", CSV: "points", Sort: true, Dense: true, Head: []head{{"#", "", false}, {"point", "", true}}}
	rounds := slices.ContainsFunc(d.Points, func(p *result.Point) bool { return p.Round > 0 })
	if rounds {
		t.Head = append(t.Head, head{Text: "round"})
	}
	t.Head = append(append(t.Head, head{Text: "T"}, head{Text: "Q"}), cols.head(sc)...)
	t.Head = append(t.Head, head{Text: "window", Unit: "s"}, head{Text: "phase", Left: true}, head{Text: "remarks", Left: true})
	for i, p := range d.Points {
		phase := phaseNames[p.Phase]
		if phase == "" {
			phase = printable.Text(p.Phase)
		}
		row := []cell{num(whole(i+1), float64(i+1)), labelCell(p.Label)}
		if rounds {
			row = append(row, num(whole(p.Round), float64(p.Round)))
		}
		row = append(row, num(whole(p.Threads), float64(p.Threads)), num(whole(p.IODepth), float64(p.IODepth)))
		row = append(row, cols.cells(p.Total, sc)...)
		row = append(row, num(figure(p.WindowS), p.WindowS), left(phase), wide(remarks(d, i)))
		t.add(row...)
	}
	return t
}

// maxLabel is how many bytes of a label stand on one line; longer ones, as people give to jobs of fio, take several.
const maxLabel = 48

// nameCell is the name of a stream or a target, which in a narrow place takes several lines.
func nameCell(name string) cell {
	const short = 16
	if len(name) > short {
		return wide(name)
	}
	return left(name)
}

func labelCell(label string) cell {
	text := printable.Text(label)
	if len(text) > maxLabel {
		return wide(text)
	}
	return left(text)
}

// remarks are what a reader must know of a point before comparing it.
func remarks(d *result.Doc, i int) string {
	p := d.Points[i]
	var out []string
	switch {
	case p.Skipped != "":
		return "skipped: " + printable.Text(p.Skipped)
	case p.Failure != "":
		out = append(out, "failed")
	case p.StuckIOs > 0:
		out = append(out, "hung")
	case p.Interrupted:
		out = append(out, "interrupted")
	case !p.Completed:
		out = append(out, "not completed")
	}
	if k := d.Sweep; k != nil && k.Knee != nil && k.Knee.Point != nil && *k.Knee.Point == i {
		out = append(out, "knee")
	}
	if n := len(p.Warnings); n > 0 {
		codes := []string{}
		for _, w := range p.Warnings {
			codes = append(codes, printable.Text(w.Code))
		}
		slices.Sort(codes)
		out = append(out, strings.Join(slices.Compact(codes), ", "))
	}
	return strings.Join(out, "; ")
}

// maxDetails is how many rows the tables of single points have together: 100,000 points of 50 targets are none
// that a page could show.
const maxDetails = 10_000

// detail is one point's part of the page.
type detail struct {
	Title  string
	Facts  []fact
	Tables []*table
	Open   bool
}

// details are the points one by one; left is how many did not fit.
func details(d *result.Doc, headline int) (out []detail, rest int) {
	rows := 0
	for i, p := range d.Points {
		rows += 5 + len(p.Streams) + len(p.Targets)
		if rows > maxDetails {
			return out, len(d.Points) - i
		}
		if p.Skipped == "" {
			out = append(out, pointDetail(d, i, i == headline))
		}
	}
	return out, 0
}

func pointDetail(d *result.Doc, i int, open bool) detail {
	p := d.Points[i]
	f := facts{}
	load := fmt.Sprintf("%s × iodepth %d on each target", plural(p.Threads, "thread"), p.IODepth)
	if p.InFlight > 0 {
		load += fmt.Sprintf("; at most %s in flight", plural(p.InFlight, "I/O"))
	}
	f.add("Load", load)
	f.add("Engine", p.EngineName+optional(": ", strings.Join(p.EngineFeatures, ", ")))
	for _, s := range p.Streams {
		f.addf(s.EngineName != "", "Engine of "+s.Label, "%s", s.EngineName)
	}
	for _, b := range p.Fallback {
		f.addf(true, "Passed over", "%s: %s", b.Engine, b.Reason)
	}
	ramp := ""
	if p.RampS > 0 {
		ramp = ", after a ramp of " + secondsText(p.RampS)
	}
	f.addf(!p.Started.IsZero(), "Window", "%s from %s%s", secondsText(p.WindowS), p.Started.UTC().Format("2006-01-02 15:04:05 UTC"), ramp)
	f.add("Issued", issued(p))
	c := &p.CPU
	f.addf(p.KnowsCPU(), "CPU", "%.1f %% user, %.1f %% system, %.1f %% iowait, %.1f %% steal; blkstorm itself used %.2f CPUs", c.UserPct, c.SystemPct, c.IOWaitPct, c.StealPct, p.Process.CPUs)
	out := detail{Title: nameOf(d, i), Facts: f.List, Open: open}
	sc, cols := scaleOf(p.Total), columnsOf(d)
	id := fmt.Sprintf("p%d", i)
	rows := func(name, caption string, list []direction) {
		t := &table{ID: id + name, CSV: fmt.Sprintf("point-%d-%s", i+1, name), Caption: caption, Head: append([]head{{name, "", true}}, cols.head(sc)...)}
		for _, of := range list {
			t.add(append([]cell{nameCell(of.Name)}, cols.cells(of.Stat, sc)...)...)
		}
		if len(list) > 0 {
			out.Tables = append(out.Tables, t)
		}
	}
	ds := directions(p)
	if len(ds) != 1 {
		ds = append(ds, direction{"total", p.Total})
	}
	rows("direction", "Per direction", ds)
	if t := responseTable(id, i, p, cols); t != nil {
		out.Tables = append(out.Tables, t)
	}
	var streams, targets []direction
	for n, s := range p.Streams {
		name := printable.Text(s.Label)
		if name == "" {
			name = fmt.Sprintf("stream %d", n+1)
		}
		name += fmt.Sprintf(" (%s, %dT/%dQ)", printable.Text(s.Workload), s.Threads, s.IODepth)
		streams = append(streams, split(name, direction{"", s.Total}, direction{"read", s.Read}, direction{"write", s.Write}, direction{"trim", s.Trim}, direction{"sync", s.Sync})...)
	}
	if len(p.Streams) > 1 {
		rows("stream", "Per stream", streams)
	}
	for _, t := range p.Targets {
		targets = append(targets, split(printable.Name(t.Path), direction{"", t.Total}, direction{"read", t.Read}, direction{"write", t.Write}, direction{"trim", t.Trim}, direction{"sync", t.Sync})...)
	}
	if len(p.Targets) > 1 {
		rows("target", "Per target", targets)
	}
	out.Tables = append(out.Tables, faultTables(id, p)...)
	return out
}

// split is a stream or a target: its total, and its directions when there are several.
func split(name string, total direction, ds ...direction) []direction {
	out := []direction{{name, total.Stat}}
	if ds = used(ds...); len(ds) > 1 {
		for _, d := range ds {
			out = append(out, direction{name + ", " + d.Name, d.Stat})
		}
	}
	return out
}

// issued says what was handed to the kernel, and what the figures leave out.
func issued(p *result.Point) string {
	var parts []string
	for _, d := range []struct {
		n    uint64
		name string
	}{{p.Issued.Read, "read"}, {p.Issued.Write, "write"}, {p.Issued.Trim, "trim"}, {p.Issued.Sync, "sync"}} {
		if d.n > 0 {
			parts = append(parts, plural(d.n, d.name))
		}
	}
	text := strings.Join(parts, ", ")
	if p.RampIOs+p.Drained > 0 {
		text += fmt.Sprintf("; not counted: %s in the ramp, %s after the window", whole(p.RampIOs), whole(p.Drained))
	}
	return text
}

// responseTable is the response times of a paced point; nil when there are none.
func responseTable(id string, i int, p *result.Point, cols columns) *table {
	var t *table
	for _, d := range append(directions(p), direction{"total", p.Total}) {
		if d.Stat.OpenLoop == nil || d.Stat.Response == nil {
			continue
		}
		if t == nil {
			t = &table{ID: id + "response", CSV: fmt.Sprintf("point-%d-response", i+1), Caption: "Response time, from the planned time to the completion",
				Head: []head{{"direction", "", true}, {"offered", "I/Os", false}, {"late", "I/Os", false}, {"missed", "I/Os", false}}}
			for _, name := range cols {
				t.Head = append(t.Head, head{Text: name, Unit: "ms"})
			}
		}
		row := []cell{left(d.Name), count(d.Stat.Offered), count(d.Stat.Late), count(d.Stat.Missed)}
		for _, name := range cols {
			row = append(row, latencyCell(d.Stat.Response, name, scale{"ms", 1e6}))
		}
		t.add(row...)
	}
	return t
}

// faultTables are what failed, fell short or never came back.
func faultTables(id string, p *result.Point) (out []*table) {
	if len(p.Errors) > 0 {
		t := &table{ID: id + "errors", Caption: fmt.Sprintf("The first of %s", plural(max(p.Faults, uint64(len(p.Errors))), "failed or short I/O")),
			Head: []head{{"at", "s", false}, {"direction", "", true}, {"target", "", true}, {"offset", "bytes", false}, {"length", "bytes", false}, {"error", "", true}}}
		for _, e := range p.Errors {
			t.add(num(number(e.TS, 3), e.TS), left(printable.Text(e.Op)), left(printable.Name(e.Target)), num(whole(e.Offset), float64(e.Offset)), num(whole(e.Length), float64(e.Length)),
				wide(printable.Text(e.Name+": "+e.Message)))
		}
		out = append(out, t)
	}
	if len(p.Stuck) > 0 {
		t := &table{ID: id + "stuck", Caption: fmt.Sprintf("The oldest of %s that never came back", plural(p.StuckIOs, "I/O")),
			Head: []head{{"for", "s", false}, {"direction", "", true}, {"target", "", true}, {"offset", "bytes", false}, {"length", "bytes", false}}}
		for _, s := range p.Stuck {
			t.add(num(number(s.AgeS, 1), s.AgeS), left(printable.Text(s.Op)), left(printable.Name(s.Target)), num(whole(s.Offset), float64(s.Offset)), num(whole(s.Length), float64(s.Length)))
		}
		out = append(out, t)
	}
	return out
}

// maxRaw is how many bytes of JSON the page embeds at most of the document, and of the plan.
const maxRaw = 2 << 20

// rawJSON is a value as JSON text; what is too long is left out, and the page says where it is.
func rawJSON(v any) string {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil || len(b) > maxRaw || string(b) == "null" {
		return ""
	}
	var text strings.Builder
	for _, c := range string(b) { // as people see it, and the same to whoever reads it as JSON
		switch {
		case unicode.IsPrint(c) || c == '\n':
			text.WriteRune(c)
		case c > 0xffff:
			high, low := utf16.EncodeRune(c)
			fmt.Fprintf(&text, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&text, `\u%04x`, c)
		}
	}
	return text.String()
}

// bare is the document without rows and histograms, which the page has in another form.
func bare(d *result.Doc) *result.Doc {
	out := *d
	out.Points = nil
	for _, p := range d.Points {
		q := *p
		q.Intervals, q.RampIntervals, q.PerThread = nil, nil, nil
		q.Total, q.Read, q.Write, q.Trim, q.Sync = thin(p.Total), thin(p.Read), thin(p.Write), thin(p.Trim), thin(p.Sync)
		q.Streams, q.Targets = nil, nil
		for _, s := range p.Streams {
			c := *s
			c.Total, c.Read, c.Write, c.Trim, c.Sync = thin(s.Total), thin(s.Read), thin(s.Write), thin(s.Trim), thin(s.Sync)
			q.Streams = append(q.Streams, &c)
		}
		for _, t := range p.Targets {
			c := *t
			c.Total, c.Read, c.Write, c.Trim, c.Sync = thin(t.Total), thin(t.Read), thin(t.Write), thin(t.Trim), thin(t.Sync)
			q.Targets = append(q.Targets, &c)
		}
		out.Points = append(out.Points, &q)
	}
	return &out
}

func thin(s *result.Stat) *result.Stat {
	out, bare := *s, *s.Latency
	bare.HDR, out.Latency = "", &bare
	if s.OpenLoop != nil {
		o, response := *s.OpenLoop, *s.Response
		response.HDR, o.Response, out.OpenLoop = "", &response, &o
	}
	return &out
}
