package result

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"blkstorm/device"
	"blkstorm/plan"
	"blkstorm/printable"
	"blkstorm/verdict"
)

// TextWidth is where running text is wrapped; tables are as wide as they are.
const TextWidth = 96

// WriteText writes the document for people: what ran, one table per point, what to think of it.
func WriteText(w io.Writer, d *Doc) error {
	var b strings.Builder
	d.textHead(&b)
	if d.FindMax != nil {
		d.textFindMax(&b)
	} else {
		d.textPoints(&b)
		d.textSummary(&b)
	}
	if len(d.Warnings) > 0 {
		b.WriteString("\nfor the whole run\n")
		textWarnings(&b, d.Warnings)
	}
	return write(w, []byte(b.String()))
}

func (d *Doc) textHead(b *strings.Builder) {
	fmt.Fprintf(b, "blkstorm %s, run %s, %s\n", d.Version, d.ID, d.Started.UTC().Format("2006-01-02 15:04:05 UTC"))
	h := &d.Host
	var facts []string
	if h.CPUs > 0 {
		facts = append(facts, fmt.Sprintf("%d CPUs", h.CPUs))
	}
	if h.MemoryBytes > 0 {
		facts = append(facts, humanize.IBytes(uint64(h.MemoryBytes))+" memory")
	}
	if h.Hypervisor != "" {
		facts = append(facts, "guest of "+h.Hypervisor)
	}
	if h.Kernel != "" {
		facts = append(facts, "kernel "+h.Kernel)
	}
	if h.Hostname != "" {
		b.WriteString("on " + printable.Text(strings.Join(append([]string{h.Hostname}, facts...), ", ")) + "\n")
	}
	if d.Plan != nil && d.Plan.Profile != "" {
		b.WriteString(printable.Text(d.Plan.ProfileText()) + "\n")
	}
	d.textMergeHead(b)
	for _, r := range d.Resumed {
		after := "before its first point"
		if r.AfterPoint >= 0 {
			after = fmt.Sprintf("after point %d", r.AfterPoint+1)
		}
		fmt.Fprintf(b, "cut off %s, and gone on with at %s, %s s later\n", after, r.At.UTC().Format("2006-01-02 15:04:05 UTC"), trimmed(r.GapS))
	}
}

func (d *Doc) textPoint(b *strings.Builder, index int, p *Point) {
	head := p.Label
	if head == "" {
		head = fmt.Sprintf("point %d", index+1)
	}
	if len(d.Points) > 1 {
		head = fmt.Sprintf("[%d/%d] %s", index+1, len(d.Points), head)
	}
	if p.Phase != plan.Measure && p.Phase != "" {
		head += " (phase " + p.Phase + ")"
	}
	b.WriteString(printable.Text(head) + "\n")
	if p.Skipped != "" {
		wrap(b, "  skipped: ", "    ", p.Skipped, TextWidth)
		return
	}
	if d.Merge == nil { // else the machines' notes say it
		for _, line := range p.status() {
			wrap(b, "  *** ", "      ", line, TextWidth)
		}
	}
	facts := d.textFacts(p)
	facts.write(b, "  ")
	b.WriteString("\n")
	d.textTables(b, p)
	d.textMergePoint(b, index)
	b.WriteString("\n")
	after := p.textAfter()
	after.write(b, "  ")
	p.textSteady(b)
	p.textAsserts(b)
	p.textFaults(b)
	textWarnings(b, p.Warnings)
}

// status says in capitals that a point is not what was asked for.
func (p *Point) status() []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	worth := fmt.Sprintf("the figures cover the %s s before that", trimmed(p.WindowS))
	if p.WindowS <= 0 {
		worth = "nothing was measured: it ended before its window began"
	}
	if p.Failure != "" {
		say("FAILED: %s; %s", p.Failure, worth)
	}
	if p.Interrupted {
		say("INTERRUPTED: %s", worth)
	}
	if n := p.StuckIOs; n > 0 {
		say("HUNG DEVICE: %s never came back, see below; no figure includes what hangs", plural(uint64(n), "I/O"))
	}
	if !p.Completed && len(out) == 0 {
		if p.Faults > 0 {
			say("STOPPED by an I/O error: %s", worth)
		} else {
			say("NOT COMPLETED: %s", worth)
		}
	}
	return out
}

// textFacts is what ran: on what, with what, how long.
func (d *Doc) textFacts(p *Point) *table {
	t := d.textTargets(p)
	name := "load"
	for i, s := range p.Streams {
		t.add(name, p.load(i, s))
		name = ""
	}
	p.textEngine(t)
	window := trimmed(p.WindowS) + " s"
	if p.RampS > 0 {
		window += fmt.Sprintf(" after a ramp of %s s", trimmed(p.RampS))
	}
	if p.WindowS > 0 {
		window += ", from " + p.Started.UTC().Format("15:04:05 UTC")
	}
	if d.Merge == nil { // each machine has its own
		window += ", seed " + strconv.FormatUint(p.Seed, 10)
	}
	t.add("window", window)
	return t
}

// textTargets is on what a point ran.
func (d *Doc) textTargets(p *Point) *table {
	t := &table{left: 2}
	used := d.targetsOf(p)
	if d.Merge != nil {
		if len(d.Targets) > 0 { // they have no facts in common
			t.add("targets", fmt.Sprintf("%d on %s", len(d.Targets), plural(uint64(len(d.Merge.Members)), "machine")))
		}
		return t
	}
	name := "target"
	for _, i := range used {
		t.add(name, describe(d.Targets[i]))
		name = ""
	}
	return t
}

func (p *Point) textEngine(t *table) {
	if p.EngineName == "" {
		return
	}
	engine := p.EngineName
	if len(p.EngineFeatures) > 0 {
		engine += " with " + strings.Join(p.EngineFeatures, ", ")
	}
	t.add("engine", engine)
}

func describe(f *device.Facts) string {
	parts := []string{f.Path}
	if f.Spec != "" && f.Spec != f.Path {
		parts = append(parts, "("+f.Spec+")")
	}
	if model := strings.Join(strings.Fields(f.Vendor+" "+f.Model), " "); model != "" {
		parts = append(parts, model)
	} else if f.Kind != "" {
		parts = append(parts, f.Kind)
	}
	if f.SizeBytes > 0 {
		n := uint64(f.SizeBytes)
		parts = append(parts, fmt.Sprintf("%s (%s)", humanize.Bytes(n), humanize.IBytes(n)))
	}
	return strings.Join(parts, "  ")
}

// load says what stream i was to keep in flight, and what of it was reached.
func (p *Point) load(i int, s *Stream) string {
	reached, threads := s.IODepth, 0
	for _, t := range p.PerThread {
		if t.Stream == i {
			reached = min(reached, t.InFlight)
			threads++
		}
	}
	text := fmt.Sprintf("%s x iodepth %d", plural(uint64(s.Threads), "thread"), s.IODepth)
	if len(p.Streams) > 1 {
		text = streamName(i, s) + ": " + text
	}
	if s.EngineName != "" {
		text += " on engine " + s.EngineName
	}
	asked := uint64(s.Threads) * uint64(s.IODepth)
	switch n := len(s.Targets); {
	case n > 1 && s.Together:
		text += fmt.Sprintf(" on %d targets together", n)
	case n > 1:
		text += fmt.Sprintf(" on each of %d targets", n)
		asked *= uint64(n)
	}
	text += fmt.Sprintf(" = %s in flight", commas(asked))
	switch {
	case threads == 0:
		return text
	case reached < s.IODepth:
		if !s.Pacing.IsZero() || s.Share > 0 {
			return text + fmt.Sprintf(" at most; iodepth %d reached", reached)
		}
		return text + fmt.Sprintf(" asked; only iodepth %d reached", reached)
	}
	return text + ", reached"
}

func streamName(i int, s *Stream) string {
	if s.Label == "" {
		return fmt.Sprintf("stream %d (%s)", i+1, s.Workload)
	}
	return s.Label
}

// textTables writes the figures: per direction, and per stream and target when there are several.
func (d *Doc) textTables(b *strings.Builder, p *Point) {
	directions := p.directions()
	if len(directions) == 0 {
		b.WriteString("  no I/O completed in the window\n")
		return
	}
	var rows, syncs []figure
	for _, dir := range directions {
		if dir.stat == p.Sync {
			syncs = append(syncs, dir) // below the total, which has no part of it
			continue
		}
		rows = append(rows, dir)
	}
	if len(rows) > 1 {
		rows = append(rows, figure{"total", p.Total})
	}
	rows = append(rows, syncs...)
	shown := shownPercentiles(p.Total)
	figures(b, "  ", rows, columns{binary: true, deviation: true, percentiles: shown})
	p.textResponse(b, shown)

	tail := columns{}
	if _, ok := p.Total.Latency.Percentiles["99"]; ok {
		tail.percentiles = []string{"99"}
	}
	if len(p.Streams) > 1 {
		rows = nil
		for i, s := range p.Streams {
			rows = append(rows, figure{streamName(i, s), s.Total})
		}
		b.WriteString("\n  per stream\n")
		figures(b, "  ", rows, tail)
	}
	if used := d.targetsOf(p); len(used) > 1 && d.Merge.shows(len(used)) {
		rows = nil
		for _, i := range used {
			rows = append(rows, figure{p.Targets[i].Path, p.Targets[i].Total})
		}
		b.WriteString("\n  per target\n")
		figures(b, "  ", rows, tail)
	}
}

// textSummary ends a sweep with its matrices, and other documents of several points with one row per
// measured point.
func (d *Doc) textSummary(b *strings.Builder) {
	if d.Sweep != nil && len(d.Sweep.Points) > 0 {
		d.textSweep(b)
		return
	}
	var rows []figure
	tail := columns{deviation: true}
	for i, p := range d.Points {
		if p.Phase != plan.Measure || p.Skipped != "" || p.Round > 0 {
			continue
		}
		name := fmt.Sprintf("[%d] %s", i+1, shorten(p.Label, 34))
		if !p.Completed {
			name += " *"
		}
		rows = append(rows, figure{name, p.Total})
		if _, ok := p.Total.Latency.Percentiles["99"]; ok {
			tail.percentiles = []string{"99"}
		}
	}
	if len(rows) < 2 {
		return
	}
	b.WriteString("\nsummary\n")
	figures(b, "  ", rows, tail)
	for _, r := range rows {
		if strings.HasSuffix(r.name, " *") {
			b.WriteString("  * not completed\n")
			break
		}
	}
}

func textWarnings(b *strings.Builder, list []verdict.Warning) {
	for _, w := range list {
		wrap(b, "  warning ["+w.Code+"]: ", "    ", w.Message, TextWidth)
		if w.Advice != "" {
			wrap(b, "    ", "    ", w.Advice, TextWidth)
		}
	}
}
