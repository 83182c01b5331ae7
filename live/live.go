// Package live shows people how a run goes, on standard error: on a terminal a view of some lines that
// renews itself, elsewhere a plain line now and then.
//
// Commands make a View and hand its methods to a run as sinks. It never measures, judges or decides
// anything: what it shows was given to it. The sinks are called where a run is timed, so they only note
// what is new; a goroutine of the View's own draws, at most four times a second, and a terminal that
// takes nothing (a stopped one, a slow line) stops that goroutine alone.
package live

import (
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"blkstorm/plan"
	"blkstorm/printable"
	"blkstorm/result"
	"blkstorm/steady"
)

// Times of the display.
const (
	minGap     = 250 * time.Millisecond // between two frames
	tick       = time.Second            // after which times are renewed although nothing is new
	closeWait  = time.Second            // for a terminal that takes nothing
	plainEvery = 10 * time.Second       // between plain lines of rows: to see life, and still read a log
)

// maxWaiting is how many lines wait for whoever takes none; lines of rows beyond that are dropped, those
// that say what is done to devices never.
const maxWaiting = 1000

// Options say how a run is shown.
type Options struct {
	Quiet bool // not at all
	Plain bool // in plain lines, also on a terminal: somebody else writes there, too
}

// View is what people see of a run. All methods return at once, and may be called from any goroutine.
type View struct {
	w      io.Writer
	quiet  bool
	screen *screen // nil for plain lines
	now    func() time.Time

	mu       sync.Mutex
	state    state
	waiting  []string  // lines that are yet to be printed
	lastLine time.Time // when a row last became a plain line
	closed   bool

	wake     chan struct{} // something is new
	closing  chan struct{}
	finished chan struct{}
}

// New makes a View on w. It becomes one that renews itself where w is a terminal of a known kind; TERM
// unset or "dumb" is none. Close it in any case.
func New(w io.Writer, o Options) *View {
	v := &View{w: w, quiet: o.Quiet, now: time.Now}
	f, ok := w.(*os.File)
	if kind := os.Getenv("TERM"); ok && !o.Plain && kind != "" && kind != "dumb" && term.IsTerminal(int(f.Fd())) {
		v.screen = &screen{ascii: !isUTF8(os.Getenv), size: func() (int, int) {
			width, height, err := term.GetSize(int(f.Fd()))
			if err != nil || width <= 0 || height <= 0 {
				return 80, 24 // a serial line does not know
			}
			return width, height
		}}
	}
	v.start()
	return v
}

// isUTF8 asks the locale for its character set, as setlocale(3) does.
func isUTF8(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := env(name); v != "" {
			v = strings.ToLower(v)
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

func (v *View) start() {
	v.wake, v.closing, v.finished = make(chan struct{}, 1), make(chan struct{}), make(chan struct{})
	v.lastLine, v.state.at = v.now(), -1
	if v.quiet {
		close(v.finished)
		return
	}
	go v.run()
}

// run draws until the View is closed.
func (v *View) run() {
	defer close(v.finished)
	var ticks <-chan time.Time
	resized, continued := make(chan os.Signal, 1), make(chan os.Signal, 1)
	if v.screen != nil {
		t := time.NewTicker(tick)
		defer t.Stop()
		ticks = t.C
		signal.Notify(resized, unix.SIGWINCH)
		defer signal.Stop(resized)
		signal.Notify(continued, unix.SIGCONT)
		defer signal.Stop(continued)
	}
	for {
		select {
		case <-continued:
			v.screen.forget()
		default:
		}
		if v.draw() {
			return
		}
		select {
		case <-time.After(minGap):
		case <-v.closing:
		}
		select {
		case <-v.wake:
		case <-ticks:
		case <-resized:
		case <-continued:
			v.screen.forget()
		case <-v.closing:
		}
	}
}

// draw prints what waits and renews the frame; it says whether that was the last time.
func (v *View) draw() (last bool) {
	v.mu.Lock()
	lines := v.waiting
	v.waiting = nil
	last = v.closed
	var s state
	if v.screen != nil && !last {
		s = v.state.snapshot()
	}
	v.mu.Unlock()
	switch {
	case v.screen == nil:
		if len(lines) > 0 {
			_, _ = io.WriteString(v.w, strings.Join(lines, "\n")+"\n") // nobody is left to tell
		}
	case last:
		_, _ = v.w.Write(v.screen.clear(lines))
	default:
		_, _ = v.w.Write(v.screen.renew(lines, &s, v.now()))
	}
	return last
}

// update changes the state, and has it drawn.
func (v *View) update(change func(s *state, now time.Time)) {
	if v.quiet {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return
	}
	change(&v.state, v.now())
	select {
	case v.wake <- struct{}{}:
	default: // it is about to look
	}
}

// say has a line printed: above the view, or among the plain lines.
func (v *View) say(line string) { v.waiting = append(v.waiting, line) }

// Note prints a sentence that stays: which device is about to be written, how far a file is.
func (v *View) Note(text string) {
	v.update(func(*state, time.Time) { v.say(printable.Text(text)) })
}

// Begin takes the head of the document, with its plan and targets, before the first point.
func (v *View) Begin(d *result.Doc) {
	v.update(func(s *state, _ time.Time) { s.begin(d) })
}

// PointBegin says that a point begins: the index-th (from 0) of of, which is -1 when nobody knows. p is nil
// for an idle phase. Of a point that begins its label and times are taken; it may change later.
func (v *View) PointBegin(index, of int, kind string, p *plan.Point) {
	v.update(func(s *state, now time.Time) { s.pointBegin(index, of, kind, p, now) })
}

// Row takes a row of the running point, which must not change any more.
func (v *View) Row(in *result.Interval) {
	v.update(func(s *state, now time.Time) {
		s.addRow(in, now)
		// Rows come a moment after their end, now more, now less late: half a row is near enough.
		half := time.Duration(in.LengthS * float64(time.Second) / 2)
		if v.screen != nil || now.Sub(v.lastLine) < plainEvery-half || len(v.waiting) >= maxWaiting {
			return
		}
		v.lastLine = now
		v.say(s.rowLine())
	})
}

// Steady takes what the rounds of the running point say after one more.
func (v *View) Steady(rounds steady.State) {
	v.update(func(s *state, _ time.Time) {
		s.rounds = &rounds
		if v.screen == nil || rounds.Steady && rounds.Reached == rounds.Rounds || rounds.NeverReached {
			v.say(roundLine(&rounds))
		}
	})
}

// Rounds takes what a phase of rounds has come to after one more.
func (v *View) Rounds(r *result.Rounds) {
	v.update(func(*state, time.Time) {
		for _, line := range roundsLines(r) {
			v.say(line)
		}
	})
}

// PointEnd takes what became of the running point. Of several in a plan, each leaves a line.
func (v *View) PointEnd(p *result.Point) {
	v.update(func(s *state, _ time.Time) {
		s.pointEnd(p)
		if s.of > 1 { // a search has a line of its own for each step
			v.say(s.endLine(p))
		}
	})
}

// Close takes the view away, prints what still waits, and leaves the terminal as it was. It waits for a
// terminal that takes nothing no longer than a second. Further calls of all methods do nothing.
func (v *View) Close() {
	v.mu.Lock()
	if !v.closed {
		v.closed = true
		close(v.closing)
	}
	v.mu.Unlock()
	select {
	case <-v.finished:
	case <-time.After(closeWait):
	}
}
