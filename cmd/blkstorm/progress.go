package main

import (
	"fmt"
	"io"
	"os"
	"time"

	"github.com/dustin/go-humanize"
	"golang.org/x/term"

	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/unit"
)

// progress tells people how a run goes: one line that renews itself on a terminal, a plain line now
// and then elsewhere. It writes to standard error only.
type progress struct {
	w        io.Writer
	quiet    bool
	terminal bool
	every    time.Duration // between plain lines
	last     time.Time
	shown    int // length of the line on the terminal
	now      func() time.Time
	width    func() int // of the terminal, 0 when it is not known
}

// plainEvery is how often a log gets a line: often enough to see life, seldom enough to read.
const plainEvery = 10 * time.Second

func newProgress(w io.Writer, quiet bool) *progress {
	p := &progress{w: w, quiet: quiet, every: plainEvery, now: time.Now, width: func() int { return 0 }}
	if f, ok := w.(*os.File); ok {
		p.terminal = term.IsTerminal(int(f.Fd()))
		p.width = func() int {
			width, _, err := term.GetSize(int(f.Fd()))
			if err != nil {
				return 0
			}
			return width
		}
	}
	p.last = p.now()
	return p
}

// log prints a sentence on a line of its own.
func (p *progress) log(format string, args ...any) {
	if p.quiet {
		return
	}
	p.end()
	fmt.Fprintf(p.w, format+"\n", args...)
}

// row shows a row of the running point.
func (p *progress) row(point *plan.Point, in *result.Interval) {
	if p.quiet {
		return
	}
	// Rows come a moment after their end, now more, now less late: half a row is near enough.
	if !p.terminal && p.now().Sub(p.last) < p.every-point.Interval.D()/2 {
		return
	}
	p.last = p.now()
	line := rowText(point, in)
	if !p.terminal {
		fmt.Fprintln(p.w, line)
		return
	}
	text := []rune(line)
	if width := p.width(); width > 0 && len(text) >= width {
		text = text[:width-1] // a wrapped line cannot be renewed
	}
	pad := max(p.shown-len(text), 0)
	fmt.Fprintf(p.w, "\r%s%*s", string(text), pad, "")
	p.shown = len(text)
}

func rowText(point *plan.Point, in *result.Interval) string {
	phase, total, at := "measuring", point.Runtime.D(), in.TS+in.LengthS
	if in.Ramp {
		phase, total = "ramp", point.Ramp.D()
		at += total.Seconds()
	}
	iops := float64(in.Read.IOs+in.Write.IOs+in.Trim.IOs) / in.LengthS
	mb := float64(in.Read.Bytes+in.Write.Bytes+in.Trim.Bytes) / in.LengthS / 1e6
	left := time.Duration((total.Seconds() - at) * float64(time.Second)).Round(time.Second)
	if in.Ramp {
		left += point.Runtime.D()
	}
	slowest := max(in.Read.Max, in.Write.Max, in.Trim.Max)
	return fmt.Sprintf("%s %s: %s %.0fs: %s IOPS, %s MB/s, max %s, in flight %d, %v left",
		point.Label, phase, "at", at, humanize.CommafWithDigits(iops, 0), humanize.CommafWithDigits(mb, 1), unit.Nanos(float64(slowest)), in.InFlight, max(left, 0))
}

// end leaves the renewed line behind.
func (p *progress) end() {
	if p.shown > 0 {
		fmt.Fprintln(p.w)
		p.shown = 0
	}
}
