package report

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"
)

// figureSVG is a drawing that needs no script, once for wide and once for narrow places.
type figureSVG struct {
	Caption, Note string
	Wide, Narrow  templ.Component
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
		step := nice(high / 8)
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
func (p *plot) svg(class string, width, height float64) templ.Component {
	const top, right, bottom = 12, 14, 42
	left := 62.0
	var b strings.Builder
	n := func(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }
	esc := html.EscapeString
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
		at := p.room(box{left, top, width - right, height - bottom}, x, y, sx, sy)
		fmt.Fprintf(&b, `<circle class="ring" cx="%s" cy="%s" r="8"/><text class="ring" x="%s" y="%s">%s</text>`, n(x), n(y), n(at.x0), n(at.y1-4), esc(p.ringName))
	}
	b.WriteString("</svg>")
	return templ.Raw(b.String()) // numbers, constants and escaped text
}

// box is a part of a drawing, in pixels.
type box struct{ x0, y0, x1, y1 float64 }

// room is where beside the ring at (x, y) its name hides least of the lines, and of the rule's name.
func (p *plot) room(in box, x, y float64, sx, sy func(float64) float64) (best box) {
	const beside, high, char = 11, 18, 7.6 // a bold letter of 12 pixels, at the broadest
	long, least := char*float64(utf8.RuneCountInString(p.ringName)), math.Inf(1)
	for _, y0 := range []float64{y - 9 - high, y + 9, y - high/2, y - 14 - 2*high, y + 14 + high} {
		for _, x0 := range []float64{x + beside, x - beside - long, x - long/2} {
			at := box{x0, y0, x0 + long, y0 + high}
			cost := 0.0
			if at.x0 < in.x0 || at.x1 > in.x1 || at.y0 < in.y0 || at.y1 > in.y1 {
				cost = 1000 // beyond an edge it cannot be read at all
			}
			if at.x0 < x+8 && at.x1 > x-8 && at.y0 < y+8 && at.y1 > y-8 {
				cost += 100
			}
			if rule := sy(p.rule); p.rule > 0 && at.y0 < rule+high && at.y1 > rule-high {
				cost += 50
			}
			for i := range p.lines {
				cost += float64(p.lines[i].hidden(at, sx, sy))
			}
			if cost < least {
				best, least = at, cost
			}
		}
	}
	return best
}

// hidden is how much of the line a name would hide: places along it, and dots, which count more.
func (l *line) hidden(at box, sx, sy func(float64) float64) (n int) {
	const places, dot = 40, 10
	in := func(x, y float64) bool { return x > at.x0-4 && x < at.x1+4 && y > at.y0-4 && y < at.y1+4 }
	for i := range l.x {
		x1, y1 := sx(l.x[i]), sy(l.y[i])
		if in(x1, y1) {
			n += dot
		}
		if i == 0 || l.dots {
			continue
		}
		x0, y0 := sx(l.x[i-1]), sy(l.y[i-1])
		for k := range places {
			part := float64(k) / places
			if in(x0+(x1-x0)*part, y0+(y1-y0)*part) {
				n++
			}
		}
	}
	return n
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
		fmt.Fprintf(b, `<circle class="%s" cx="%s" cy="%s" r="3.5"><title>%s</title></circle>`, l.class, n(sx(l.x[i])), n(sy(l.y[i])), html.EscapeString(l.names[i]))
	}
}

// both draws the plot for wide and for narrow places.
func (p *plot) both() (wide, narrow templ.Component) {
	wide = p.svg("wide", 700, 360)
	small := *p
	small.ringName, _, _ = strings.Cut(p.ringName, ",") // there is no room for its figure
	return wide, small.svg("narrow", 370, 300)
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
