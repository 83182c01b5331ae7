package result

import (
	"fmt"
	"strings"
)

// shownFaults is how many errors and stuck I/Os the text shows; the JSON has more.
const shownFaults = 5

// textAfter is what stands below the figures: what was issued, and what it cost.
func (p *Point) textAfter() *table {
	t := &table{left: 2}
	t.add("issued", p.textIssued())
	c := &p.CPU
	if p.KnowsCPU() {
		t.add("CPU", fmt.Sprintf("machine %.1f %% user, %.1f %% system, %.1f %% iowait, %.1f %% steal; blkstorm used %.2f CPUs",
			c.UserPct, c.SystemPct, c.IOWaitPct, c.StealPct, p.Process.CPUs))
	}
	return t
}

// textIssued says how many I/Os were handed to the kernel, in what mix, and which of them the
// figures leave out.
func (p *Point) textIssued() string {
	var parts []string
	all := p.Issued.Sum()
	for _, d := range []struct {
		n    uint64
		name string
	}{{p.Issued.Read, "read"}, {p.Issued.Write, "write"}, {p.Issued.Trim, "trim"}} {
		if d.n == 0 {
			continue
		}
		part := plural(d.n, d.name)
		if d.n != all {
			part += fmt.Sprintf(" (%.2f %%)", 100*float64(d.n)/float64(all))
		}
		parts = append(parts, part)
	}
	if p.Issued.Sync > 0 {
		parts = append(parts, plural(p.Issued.Sync, "sync"))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	text := strings.Join(parts, ", ")
	var apart []string
	if p.RampIOs > 0 {
		apart = append(apart, commas(p.RampIOs)+" in the ramp")
	}
	if p.Drained > 0 {
		apart = append(apart, commas(p.Drained)+" after the window")
	}
	if len(apart) > 0 {
		text += "; not counted: " + strings.Join(apart, ", ")
	}
	return text
}

// textFaults lists what failed, fell short or never came back.
func (p *Point) textFaults(b *strings.Builder) {
	if p.Faults > 0 || len(p.Errors) > 0 {
		window := uint64(0)
		for _, d := range p.directions() {
			window += d.stat.Errors + d.stat.Short + d.stat.Zero
		}
		fmt.Fprintf(b, "  I/O errors: %s", plural(p.Faults, "failed or short I/O"))
		if window < p.Faults {
			fmt.Fprintf(b, ", %s of them in the window", commas(window))
		}
		b.WriteString("\n")
		t := table{left: 5}
		for _, e := range first(p.Errors) {
			t.add(e.Op, e.Target, fmt.Sprintf("offset %d", e.Offset), fmt.Sprintf("length %d", e.Length), e.Message,
				fmt.Sprintf("at %.3f s", e.TS))
		}
		t.write(b, "    ")
		more(b, len(p.Errors))
	}
	if p.StuckIOs > 0 {
		fmt.Fprintf(b, "  stuck: %s without an answer from the device\n", plural(p.StuckIOs, "I/O"))
		t := table{left: 4}
		for _, s := range first(p.Stuck) {
			t.add(s.Op, s.Target, fmt.Sprintf("offset %d", s.Offset), fmt.Sprintf("length %d", s.Length),
				fmt.Sprintf("for %.1f s", s.AgeS))
		}
		t.write(b, "    ")
		more(b, int(p.StuckIOs))
	}
}

func first[T any](list []T) []T { return list[:min(len(list), shownFaults)] }

func more(b *strings.Builder, n int) {
	if n > shownFaults {
		fmt.Fprintf(b, "    and %d more in the JSON\n", n-shownFaults)
	}
}

// plural prints a count with its noun.
func plural(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return commas(n) + " " + noun + "s"
}

// trimmed prints seconds to the millisecond, without zeros at the end.
func trimmed(s float64) string {
	text := number(s, 3)
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}
