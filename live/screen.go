package live

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// Control sequences (ECMA-48, and DEC's autowrap). They are all that is used, and each terminal of the
// last forty years has them. The cursor is never hidden and no mode outlives a write: however the process
// ends, the terminal is as it was, with the cursor below the view.
const (
	toStart   = "\r"
	upBy      = "\x1b[%dA"
	eraseLine = "\x1b[K" // from the cursor to the line's end
	home      = "\x1b[H"
	eraseAll  = "\x1b[2J"
	wrapOff   = "\x1b[?7l"
	wrapOn    = "\x1b[?7h"
	newLine   = "\r\n"
)

// screen renews a frame in place, at the end of what was printed before. Lines that are to stay are
// printed above it and scroll away as usual.
type screen struct {
	ascii bool
	size  func() (width, height int)

	width, height int      // when shown was drawn; 0 before
	shown         []string // the lines of the view; the cursor is at the start of the next one
	said          []string // the last lines that were printed above it
}

// keep is how many lines are kept to be printed again; more fit on no screen.
const keep = 100

// renew is what to send for lines above the view and the state in it.
func (c *screen) renew(above []string, s *state, now time.Time) []byte {
	var b bytes.Buffer
	width, height := c.size()
	// A line that is as wide as the terminal would leave the cursor in a place that terminals do not agree
	// on. Below the view the cursor needs a line, and above it some remain for what was said.
	lines := frame(s, now, width-1, height-1-min(height/8, 6), c.ascii)
	switch {
	case c.width != 0 && (width != c.width || height != c.height):
		c.say(above, io.Discard)
		c.again(&b, width, height-1-len(lines))
	case len(above) > 0 || len(lines) != len(c.shown):
		c.leave(&b)
		c.say(above, &b)
	}
	up(&b, len(c.shown))
	b.WriteString(wrapOff) // characters that are two columns wide may not fit
	for i, line := range lines {
		if i >= len(c.shown) || line != c.shown[i] {
			b.WriteString(line + eraseLine)
		}
		b.WriteString(newLine)
	}
	b.WriteString(eraseLine + wrapOn) // what somebody has typed
	c.width, c.height, c.shown = width, height, lines
	return b.Bytes()
}

// again makes a screen anew whose size has changed: some terminals have wrapped all lines anew, some cut
// them, and what was drawn before the change was known may be anywhere. The last lines that were said come
// back, as many as there is room for.
func (c *screen) again(b *bytes.Buffer, width, room int) {
	b.WriteString(home + eraseAll)
	from := len(c.said)
	for ; from > 0; from-- {
		if room -= max(1, (utf8.RuneCountInString(c.said[from-1])+width-1)/width); room < 0 {
			break
		}
	}
	for _, line := range c.said[from:] {
		b.WriteString(line + newLine)
	}
	c.shown = nil
}

// forget leaves the view where it is, and has the next one drawn below: while the process was stopped
// (Ctrl-Z), the shell has written on the terminal, and nobody knows where the old one is.
func (c *screen) forget() { c.shown = nil }

// say prints lines that stay.
func (c *screen) say(lines []string, w io.Writer) {
	for _, line := range lines {
		_, _ = io.WriteString(w, line+newLine)
	}
	c.said = append(c.said, lines...)
	c.said = c.said[max(len(c.said)-keep, 0):]
}

// leave takes the view away.
func (c *screen) leave(b *bytes.Buffer) {
	up(b, len(c.shown))
	// Line by line: tmux keeps a copy of what is erased all at once in its history.
	b.WriteString(strings.Repeat(eraseLine+newLine, len(c.shown)) + eraseLine)
	up(b, len(c.shown))
	c.shown = nil
}

// clear is what to send at the end.
func (c *screen) clear(lines []string) []byte {
	var b bytes.Buffer
	c.leave(&b)
	c.say(lines, &b)
	return b.Bytes()
}

// up goes to the start of the line that is so many higher.
func up(b *bytes.Buffer, lines int) {
	b.WriteString(toStart)
	if lines > 0 {
		fmt.Fprintf(b, upBy, lines)
	}
}
