package live

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"blkstorm/lab"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/steady"
	"blkstorm/verdict"
)

// viewOn is a View on a terminal of a test.
func viewOn(w io.Writer, width, height int) *View {
	v := &View{w: w, now: func() time.Time { return noon }, screen: &screen{size: func() (int, int) { return width, height }}}
	v.start()
	return v
}

// eventually waits for what the drawing goroutine has yet to do.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal(what)
		}
	}
}

// The screen shows the frame, under the lines that stay, after every kind of change; when the view is closed,
// only these lines are left.
func TestScreen(t *testing.T) {
	for _, size := range sizes {
		width, height := size[0], size[1]
		terminal := lab.NewScreen(width, height)
		_, _ = terminal.Write([]byte("$ blkstorm run\r\n"))
		said := []string{"$ blkstorm run"}
		c := &screen{size: func() (int, int) { return width, height }}
		show := func(what string, a *at, above ...string) {
			t.Helper()
			_, _ = terminal.Write(c.renew(above, &a.state, a.now))
			said = append(said, above...)
			want := frame(&a.state, a.now, width-1, height-1-min(height/8, 6), false)
			got := strings.Split(terminal.All(), "\n")
			if all := strings.Join(append(said[:len(said):len(said)], want...), "\n"); strings.Join(got, "\n") != all {
				t.Fatalf("%v, %s:\n%s\nwant\n%s", size, what, strings.Join(got, "\n"), all)
			}
			x, y, wraps, err := terminal.State()
			if below := strings.Count(terminal.Text(), "\n") + 1; x != 0 || y != below || !wraps || err != nil {
				t.Fatalf("%v, %s: the cursor is at %d, %d of %d lines, wraps %v, %v", size, what, x, y, len(got), wraps, err)
			}
		}
		empty := &at{now: noon}
		empty.at = -1
		show("nothing has begun", empty)
		show("a line before the first point", empty, "writing to /dev/sdx")
		for range 2 {
			for name := range states {
				a := states[name]()
				show(name, a)
				a.now = a.now.Add(time.Second)
				show(name+" a second later", a)
				show(name+" and a line", a, "said in "+name, "and more")
			}
		}
		_, _ = terminal.Write([]byte("^C")) // the terminal echoes what is typed
		show("after a key", states["sweep"]())
		_, _ = terminal.Write(c.clear([]string{"the last line"}))
		said = append(said, "the last line")
		if got, want := terminal.All(), strings.Join(said, "\n"); got != want {
			t.Errorf("%v: at the end:\n%s\nwant\n%s", size, got, want)
		}
		if _, _, wraps, err := terminal.State(); !wraps || err != nil {
			t.Errorf("at the end: wraps %v, %v", wraps, err)
		}
	}
}

// A terminal whose size has changed may show anything: the view and the last lines above it are made anew.
func TestScreenResized(t *testing.T) {
	a := states["sweep"]()
	width, height := 80, 24
	c := &screen{size: func() (int, int) { return width, height }}
	c.renew([]string{"one", "two", "three", strings.Repeat("4", 150), "five"}, &a.state, a.now)
	for _, size := range [][2]int{{160, 50}, {100, 17}, {80, 24}, {40, 10}, {40, 11}} {
		width, height = size[0], size[1]
		terminal := lab.NewScreen(width, height)
		_, _ = terminal.Write([]byte(strings.Repeat("garbage\r\n", 30)))
		_, _ = terminal.Write(c.renew([]string{"six"}, &a.state, a.now))
		lines := strings.Split(terminal.Text(), "\n")
		seen := len(lines) - len(c.shown)
		if seen < 1 || lines[seen-1] != "six" || strings.Join(lines[seen:], "\n") != strings.Join(c.shown, "\n") || strings.Contains(terminal.Text(), "garbage") {
			t.Errorf("%v:\n%s", size, terminal.Text())
		}
		if size == [2]int{160, 50} && lines[0] != "one" {
			t.Errorf("%v: what was said is not there:\n%s", size, terminal.Text())
		}
	}
	for i := range 1000 {
		c.renew([]string{fmt.Sprint(i)}, &a.state, a.now)
	}
	if len(c.said) != keep || c.said[keep-1] != "999" {
		t.Errorf("%d lines are kept", len(c.said))
	}
}

// Wide characters in a label overflow their line and do not break the frame.
func TestWideCharacters(t *testing.T) {
	terminal := lab.NewScreen(80, 24)
	a := states["sweep"]()
	a.label = strings.Repeat("盘", 200)
	c := &screen{size: func() (int, int) { return 80, 24 }}
	for range 3 {
		_, _ = terminal.Write(c.renew(nil, &a.state, a.now))
	}
	if got := terminal.All(); strings.Count(got, "盘") == 0 || strings.Count(got, "\n") != len(c.shown)-1 {
		t.Errorf("%s", got)
	}
}

// All events, through the View's own goroutine, on a terminal.
func TestViewEvents(t *testing.T) {
	terminal := lab.NewScreen(80, 24)
	v := viewOn(terminal, 80, 24)
	p := bigPlan()
	d := head(p)
	d.Warnings = []verdict.Warning{{Code: "odd", Message: "odd\x1b[2J thing"}}
	v.Note("writing to /dev/sd\x1b[2Jx")
	v.Begin(d)
	v.PointBegin(1, 18, plan.Precondition, &p.Phases[1].Points[0])
	v.Row(mixed(0, 12345))
	s := steady.NewTracker(*p.Phases[1].Steady).Add(12345)
	v.Steady(s)
	eventually(t, "the view does not come:\n"+terminal.Text(), func() bool {
		text := terminal.Text()
		for _, want := range []string{`writing to /dev/sd\x1b[2Jx`, "precondition  point 2 of 18", "12,345", "round 2 of at most 25", "1 of 5 rounds", `odd\x1b[2J thing`} {
			if !strings.Contains(text, want) {
				return false
			}
		}
		return true
	})
	steady := steady.State{Rounds: 9, Reached: 9, Steady: true, First: 5, Figures: steady.Figures{Mean: 1, RangePct: 3, FittedPct: 2, SlopePct: -0.5}}
	v.Steady(steady)
	end := &result.Point{Label: "x", Completed: true, Total: &result.Stat{IOs: 5, IOPS: 1234.5, BytesPerS: 1e7, Latency: &result.Latency{Count: 5, Mean: 2e6, Max: 3e6, Percentiles: map[string]int64{"99": 25e5}}}}
	end.Warnings = []verdict.Warning{{Code: "cpu_bound", Message: "m"}}
	v.PointEnd(end)
	v.Close()
	want := `writing to /dev/sd\x1b[2Jx
round 9: range 3.0 %, fitted range 2.0 %, slope -0.50 % per round: steady since round 9
point 2 of 18, randrw 70% read 8k 16T/16Q: 1,234 IOPS, 10.0 MB/s, mean 2.000 ms, p99 2.500 ms, max 3.000 ms; warnings: cpu_bound`
	got := terminal.All()
	bare := strings.NewReplacer("\n", "", " ", "") // long lines wrap anywhere
	if bare.Replace(got) != bare.Replace(want) {
		t.Errorf("left:\n%s\nwant\n%s", got, want)
	}
	v.Note("too late")
	v.Row(mixed(1, 5))
	v.Close()
	if terminal.All() != got {
		t.Error("a closed view prints")
	}
}

// blocked is a terminal that takes nothing until it is let go.
type blocked struct {
	mu     sync.Mutex
	writes int
	gate   chan struct{}
}

func (b *blocked) Write(p []byte) (int, error) {
	b.mu.Lock()
	b.writes++
	b.mu.Unlock()
	<-b.gate
	return 0, errors.New("gone")
}

// A terminal that takes nothing holds up neither the rows nor the end.
func TestBlockedTerminal(t *testing.T) {
	for _, plain := range []bool{false, true} {
		b := &blocked{gate: make(chan struct{})}
		v := viewOn(b, 80, 24)
		if plain {
			v.Close()
			now := noon
			v = &View{w: b, now: func() time.Time { now = now.Add(time.Minute); return now }}
			v.start()
		}
		p := bigPlan()
		v.Begin(head(p))
		v.PointBegin(2, 18, plan.Measure, &p.Phases[3].Points[0])
		begin := time.Now()
		for i := range 10_000 {
			v.Row(mixed(float64(i), 5))
		}
		v.Note("it stays")
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("plain %v: 10,000 rows took %v", plain, took)
		}
		v.mu.Lock()
		waiting := len(v.waiting)
		v.mu.Unlock()
		if waiting > maxWaiting+1 {
			t.Errorf("plain %v: %d lines wait", plain, waiting)
		}
		begin = time.Now()
		v.Close()
		if took := time.Since(begin); took > closeWait+5*time.Second {
			t.Errorf("plain %v: the end took %v", plain, took)
		}
		close(b.gate)
		<-v.finished
	}
}

// Frames come at most four times a second, however many rows there are.
func TestFrameRate(t *testing.T) {
	b := &blocked{gate: make(chan struct{})}
	close(b.gate)
	v := viewOn(b, 80, 24)
	p := bigPlan()
	v.Begin(head(p))
	v.PointBegin(2, 18, plan.Measure, &p.Phases[3].Points[0])
	begin := time.Now()
	for i := 0; time.Since(begin) < 1200*time.Millisecond; i++ {
		v.Row(mixed(float64(i), 5))
		time.Sleep(time.Millisecond)
	}
	v.Close()
	most := int(time.Since(begin)/minGap) + 3
	if b.writes < 2 || b.writes > most {
		t.Errorf("%d frames, at most %d were due", b.writes, most)
	}
}

// Elsewhere than on a terminal a log gets a line every ten seconds, and --quiet says nothing.
func TestPlainLines(t *testing.T) {
	show := func(quiet bool) string {
		var out bytes.Buffer
		now := noon
		v := &View{w: &out, quiet: quiet, now: func() time.Time { return now }}
		v.start()
		p := &plan.Plan{Targets: []plan.Target{{Spec: "/dev/sdx"}}}
		point := load("point", "randrw", 4, 4, "5s", "1m")
		p.Append(plan.Measure, &point)
		v.Note("writing to /dev/x")
		v.Begin(head(p))
		v.PointBegin(0, 1, plan.Measure, &p.Phases[0].Points[0])
		for i := -5; i < 20; i++ {
			now = now.Add(time.Second)
			v.Row(mixed(float64(i), 1500))
		}
		v.PointEnd(&result.Point{Total: &result.Stat{}})
		v.Note("done")
		v.Close()
		return out.String()
	}
	want := `writing to /dev/x
point measuring: at 5s: 1,500 IOPS, 12.2 MB/s, max 16.94 ms, in flight 8, 55s left
point measuring: at 15s: 1,500 IOPS, 12.2 MB/s, max 16.94 ms, in flight 8, 45s left
done
`
	if got := show(false); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := show(true); got != "" {
		t.Errorf("quiet: %q", got)
	}
}

func TestRowLine(t *testing.T) {
	p := load("point", "randrw", 4, 4, "5s", "1m")
	for want, in := range map[string]*result.Interval{
		"point measuring: at 10s: 1,500 IOPS, 12.2 MB/s, max 16.94 ms, in flight 8, 50s left": mixed(9, 1500),
		"point ramp: at 2s: 1,500 IOPS, 12.2 MB/s, max 16.94 ms, in flight 8, 1m3s left":      mixed(-4, 1500),
		"point measuring: at 61s: 1,500 IOPS, 12.2 MB/s, max 16.94 ms, in flight 8, 0s left":  mixed(60, 1500),
	} {
		var s state
		s.pointBegin(0, 1, plan.Measure, &p, noon)
		s.addRow(in, noon)
		if got := s.rowLine(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
	a := states["fill"]()
	if got, want := a.rowLine(), "fill 2 x 128k measuring: at 600s: 17,500 IOPS, 2,293.3 MB/s, max 20.40 ms, in flight 32, 43 % done"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A terminal, and only one of a known kind, gets the view.
func TestWhoGetsTheView(t *testing.T) {
	file, _, _ := lab.Terminal(t, 100, 30)
	pipe, other, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	defer other.Close()
	for _, c := range []struct {
		w    io.Writer
		kind string
		o    Options
		want bool
	}{
		{file, "xterm", Options{}, true}, {file, "dumb", Options{}, false}, {file, "", Options{}, false},
		{file, "xterm", Options{Plain: true}, false}, {other, "xterm", Options{}, false}, {&bytes.Buffer{}, "xterm", Options{}, false},
	} {
		t.Setenv("TERM", c.kind)
		v := New(c.w, c.o)
		if got := v.screen != nil; got != c.want {
			t.Errorf("%T, TERM=%q, %+v: a view: %v", c.w, c.kind, c.o, got)
		} else if got {
			if width, height := v.screen.size(); width != 100 || height != 30 {
				t.Errorf("%d x %d", width, height)
			}
		}
		v.Close()
	}
	for _, c := range []struct {
		env  string
		want bool
	}{
		{"LANG=en_US.UTF-8", true}, {"LANG=C.utf8", true}, {"LANG=C", false}, {"", false}, {"LC_ALL=C LANG=en_US.UTF-8", false},
		{"LC_CTYPE=C.UTF-8 LANG=C", true},
	} {
		env := map[string]string{}
		for _, pair := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(pair, "=")
			env[name] = value
		}
		if got := isUTF8(func(name string) string { return env[name] }); got != c.want {
			t.Errorf("%q: UTF-8 %v", c.env, got)
		}
	}
}

func BenchmarkRow(b *testing.B) {
	var s state
	p := load("point", "randrw", 4, 4, "5s", "1m")
	s.pointBegin(0, 1, plan.Measure, &p, noon)
	in := mixed(1, 1500)
	for b.Loop() {
		s.addRow(in, noon)
	}
}

func BenchmarkFrame(b *testing.B) {
	a := states["warnings"]()
	c := &screen{size: func() (int, int) { return 160, 50 }}
	for b.Loop() {
		s := a.snapshot()
		a.now = a.now.Add(time.Second)
		fmt.Fprintf(io.Discard, "%s", c.renew(nil, &s, a.now))
	}
}
