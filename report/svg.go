package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
)

// figureSVG is a drawing that needs no script, once for wide and once for narrow places.
type figureSVG struct {
	Caption, Note string
	Wide, Narrow  template.HTML
	Legend        []legendEntry
}

type legendEntry struct {
	Class string // of the colour: s0 to s7
	Name  string
}

// axis is one of a plot's axes.
type axis struct {
	label     string
	low, high float64
	log       bool
	text      func(float64) string
	whole     bool // ticks on whole numbers only
}

// at is where on the axis v lies, 0 to 1.
func (a *axis) at(v float64) float64 {
	if a.log {
		return math.Log(v/a.low) / math.Log(a.high/a.low)
	}
	return (v - a.low) / (a.high - a.low)
}

// steps of ticks and ends of axes.
var niceSteps = []float64{1, 2, 5, 10}

// nice is the smallest round number that is at least v.
func nice(v float64) float64 {
	if !(v > 0) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, s := range niceSteps {
		if s*unit >= v*(1-1e-9) {
			return s * unit
		}
	}
	return 10 * unit
}

// niceBelow is the largest round number that is at most v.
func niceBelow(v float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	out := unit
	for _, s := range niceSteps {
		if s*unit <= v*(1+1e-9) {
			out = s * unit
		}
	}
	return out
}

// fit makes the axis reach from round number to round number around the values.
func (a *axis) fit(values []float64) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if v > 0 || !a.log {
			low, high = min(low, v), max(high, v)
		}
	}
	switch {
	case math.IsInf(low, 1):
		a.low, a.high = 1, 10
	case a.log:
		a.low, a.high = niceBelow(low), nice(high)
		if a.high <= a.low {
			a.high = nice(a.low * 1.5)
		}
	default:
		step := nice(high / 5)
		a.low, a.high = 0, step*math.Ceil(high/step-1e-9)
		if !(a.high > 0) {
			a.high = 1
		}
	}
}

// ticks are the places with a label: about n of them.
func (a *axis) ticks(n int) (out []float64) {
	if !a.log {
		step := nice((a.high - a.low) / float64(n))
		if a.whole {
			step = max(1, step)
		}
		for v := max(0, math.Ceil(a.low/step-1e-9)); v*step <= a.high*(1+1e-9); v++ {
			out = append(out, v*step)
		}
		return out
	}
	steps := []float64{1, 2, 5}
	if math.Log10(a.high/a.low) > float64(n)/3 {
		steps = steps[:1]
	}
	for unit := math.Pow(10, math.Floor(math.Log10(a.low))); unit <= a.high*(1+1e-9); unit *= 10 {
		for _, s := range steps {
			if v := s * unit; v >= a.low*(1-1e-9) && v <= a.high*(1+1e-9) {
				out = append(out, v)
			}
		}
	}
	return out
}

// line is points that belong together.
type line struct {
	class string // s0 to s7
	x, y  []float64
	names []string // what a pointer sees of each point
	bare  bool     // no dots
	dots  bool     // nothing but dots
}

// plot is a drawing of lines.
type plot struct {
	x, y  axis
	lines []line
	// rule is a horizontal line with a name, 0 for none; bandLow to bandHigh is shaded, and so is from spanLow to
	// spanHigh of x.
	rule              float64
	ruleName          string
	bandLow, bandHigh float64
	spanLow, spanHigh float64
	// ring marks one place.
	ringX, ringY float64
	ringName     string
	title        string // for those who cannot see it
}

// svg draws the plot; all text in it is escaped.
func (p *plot) svg(class string, width, height float64) template.HTML {
	const top, right, bottom = 12, 14, 42
	left := 62.0
	var b strings.Builder
	n := func(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }
	esc := template.HTMLEscapeString
	sx := func(v float64) float64 { return left + p.x.at(v)*(width-left-right) }
	sy := func(v float64) float64 { return height - bottom - p.y.at(v)*(height-top-bottom) }
	fmt.Fprintf(&b, `<svg class="plot %s" viewBox="0 0 %s %s" role="img" aria-label="%s">`, class, n(width), n(height), esc(p.title))
	if p.spanHigh > p.spanLow {
		fmt.Fprintf(&b, `<rect class="span" x="%s" y="%d" width="%s" height="%s"/>`, n(sx(p.spanLow)), top, n(sx(p.spanHigh)-sx(p.spanLow)), n(height-top-bottom))
	}
	if p.bandHigh > p.bandLow {
		high, low := sy(min(p.bandHigh, p.y.high)), sy(max(p.bandLow, p.y.low))
		fmt.Fprintf(&b, `<rect class="band" x="%s" y="%s" width="%s" height="%s"/>`, n(left), n(high), n(width-left-right), n(max(0, low-high)))
	}
	for _, v := range p.y.ticks(int(height / 45)) {
		fmt.Fprintf(&b, `<line class="grid" x1="%s" x2="%s" y1="%s" y2="%[3]s"/><text class="y" x="%s" y="%s">%s</text>`,
			n(left), n(width-right), n(sy(v)), n(left-6), n(sy(v)+4), esc(p.y.text(v)))
	}
	for _, v := range p.x.ticks(int(width / 80)) {
		fmt.Fprintf(&b, `<line class="grid" x1="%[1]s" x2="%[1]s" y1="%[2]d" y2="%[3]s"/><text class="x" x="%[1]s" y="%[4]s">%[5]s</text>`,
			n(sx(v)), top, n(height-bottom), n(height-bottom+16), esc(p.x.text(v)))
	}
	fmt.Fprintf(&b, `<text class="x name" x="%s" y="%s">%s</text>`, n((left+width-right)/2), n(height-6), esc(p.x.label))
	fmt.Fprintf(&b, `<text class="x name" transform="translate(12 %s) rotate(-90)">%s</text>`, n((top+height-bottom)/2), esc(p.y.label))
	if p.rule > 0 && p.rule >= p.y.low && p.rule <= p.y.high {
		text := sy(p.rule) - 5
		if text < top+10 {
			text = sy(p.rule) + 14
		}
		fmt.Fprintf(&b, `<line class="rule" x1="%s" x2="%s" y1="%s" y2="%[3]s"/><text class="rule" x="%s" y="%s">%s</text>`,
			n(left), n(width-right), n(sy(p.rule)), n(left+6), n(text), esc(p.ruleName))
	}
	for _, l := range p.lines {
		p.draw(&b, &l, sx, sy, n)
	}
	if p.ringName != "" {
		x, y := sx(p.ringX), sy(p.ringY)
		anchor, dx := "start", 11.0
		if x > width*0.6 {
			anchor, dx = "end", -11
		}
		text := y - 9
		if text < top+10 || p.rule > 0 && math.Abs(y-sy(p.rule)) < 36 { // where the rule's own name is
			text = y + 22
		}
		fmt.Fprintf(&b, `<circle class="ring" cx="%s" cy="%s" r="8"/><text class="ring" text-anchor="%s" x="%s" y="%s">%s</text>`, n(x), n(y), anchor, n(x+dx), n(text), esc(p.ringName))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String()) // numbers, constants and escaped text
}

func (p *plot) draw(b *strings.Builder, l *line, sx, sy func(float64) float64, n func(float64) string) {
	path, pen := "", "M"
	for i := range l.x {
		if l.dots {
			break
		}
		if math.IsNaN(l.y[i]) || p.y.log && l.y[i] <= 0 {
			pen = "M"
			continue
		}
		path += pen + n(sx(l.x[i])) + " " + n(sy(l.y[i]))
		pen = "L"
	}
	if path != "" {
		fmt.Fprintf(b, `<path class="%s" d="%s"/>`, l.class, path)
	}
	if l.bare {
		return
	}
	for i := range l.x {
		if math.IsNaN(l.y[i]) || p.y.log && l.y[i] <= 0 {
			continue
		}
		fmt.Fprintf(b, `<circle class="%s" cx="%s" cy="%s" r="3.5"><title>%s</title></circle>`, l.class, n(sx(l.x[i])), n(sy(l.y[i])), template.HTMLEscapeString(l.names[i]))
	}
}

// both draws the plot for wide and for narrow places.
func (p *plot) both() (wide, narrow template.HTML) {
	return p.svg("wide", 700, 360), p.svg("narrow", 370, 300)
}

// short prints a number for an axis: 80k, 1.5M.
func short(v float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if math.Abs(v) >= u.size {
			return strconv.FormatFloat(v/u.size, 'g', 4, 64) + u.name
		}
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}

// shortNanos prints a latency for an axis: 500 µs.
func shortNanos(ns float64) string {
	for _, u := range []struct {
		size float64
		name string
	}{{1e9, "s"}, {1e6, "ms"}, {1e3, "µs"}} {
		if ns >= u.size*(1-1e-9) {
			return strconv.FormatFloat(ns/u.size, 'g', 4, 64) + " " + u.name
		}
	}
	return strconv.FormatFloat(ns, 'g', 4, 64) + " ns"
}
