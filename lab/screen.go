package lab

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"golang.org/x/sys/unix"
)

// Screen is a terminal that a test reads like a person: what it is sent is on its lines, and what it does not
// know is an error. It knows the control sequences of ECMA-48 that programs here use, and no more. It is
// safe for use from several goroutines.
type Screen struct {
	mu       sync.Mutex
	width    int
	cells    [][]rune
	scrolled []string // lines that have left at the top
	x, y     int
	clip     bool // DEC autowrap is off
	rest     []byte
	err      error
}

// NewScreen is an empty screen with the cursor at its upper left.
func NewScreen(width, height int) *Screen {
	s := &Screen{width: width}
	for range height {
		s.cells = append(s.cells, s.blank())
	}
	return s
}

func (s *Screen) blank() []rune { return []rune(strings.Repeat(" ", s.width)) }

// Write shows b. It never fails; see State.
func (s *Screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rest = append(s.rest, b...)
	for len(s.rest) > 0 && s.err == nil {
		n := s.take()
		if n == 0 {
			break // a sequence or character that is not whole yet
		}
		s.rest = s.rest[n:]
	}
	return len(b), nil
}

// take carries out what rest begins with, and returns its length; 0 if it is not whole.
func (s *Screen) take() int {
	b := s.rest
	switch {
	case b[0] == '\r':
		s.x = 0
		return 1
	case b[0] == '\n':
		s.down()
		return 1
	case b[0] == 0x1b:
		end := strings.IndexFunc(string(b), func(r rune) bool { return r >= '@' && r <= '~' && r != '[' })
		if end < 0 {
			return 0
		}
		s.control(string(b[:end+1]))
		return end + 1
	case b[0] < ' ' || b[0] == 0x7f:
		s.err = fmt.Errorf("control character %q", b[0])
		return 1
	case !utf8.FullRune(b):
		return 0
	}
	r, n := utf8.DecodeRune(b)
	if s.x == s.width && !s.clip {
		s.x = 0
		s.down()
	}
	s.cells[s.y][min(s.x, s.width-1)] = r
	s.x = min(s.x+1, s.width)
	return n
}

func (s *Screen) down() {
	if s.y++; s.y < len(s.cells) {
		return
	}
	s.y--
	s.scrolled = append(s.scrolled, strings.TrimRight(string(s.cells[0]), " "))
	s.cells = append(s.cells[1:], s.blank())
}

func (s *Screen) control(seq string) {
	number, _ := strconv.Atoi(strings.Trim(seq, "\x1b[A"))
	switch {
	case seq == "\x1b[?7l":
		s.clip = true
	case seq == "\x1b[?7h":
		s.clip = false
	case seq == "\x1b[K":
		copy(s.cells[s.y][min(s.x, s.width-1):], s.blank())
	case seq == "\x1b[H":
		s.x, s.y = 0, 0
	case seq == "\x1b[2J":
		for y := range s.cells {
			s.cells[y] = s.blank()
		}
	case strings.HasSuffix(seq, "A") && number > 0:
		s.y = max(s.y-number, 0)
	default:
		s.err = fmt.Errorf("control sequence %q", seq)
	}
}

// Text is what is on the screen, without spaces at the ends of lines and empty lines below.
func (s *Screen) Text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text()
}

func (s *Screen) text() string {
	var lines []string
	for _, line := range s.cells {
		lines = append(lines, strings.TrimRight(string(line), " "))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// All is what has scrolled away, and what is on the screen.
func (s *Screen) All() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(append(append([]string(nil), s.scrolled...), s.text()), "\n")
}

// State is where the cursor is, from 0, whether lines wrap as they do in a terminal that nobody has
// changed, and what was sent that the screen does not know.
func (s *Screen) State() (x, y int, wraps bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = s.err
	if err == nil && len(s.rest) > 0 {
		err = fmt.Errorf("%q is not whole", s.rest)
	}
	return s.x, s.y, !s.clip, err
}

// Terminal opens a pseudo terminal of a size. What is written to the file, which a test gives to a program,
// is shown on the screen; shown waits until everything that was written is.
func Terminal(t testing.TB, width, height int) (file *os.File, screen *Screen, shown func()) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		Missing(t, "no pseudo terminals: "+err.Error())
	}
	var theirs string
	number, err := unix.IoctlGetInt(int(ours.Fd()), unix.TIOCGPTN)
	if err == nil {
		theirs = "/dev/pts/" + strconv.Itoa(number)
		err = unix.IoctlSetPointerInt(int(ours.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		err = unix.IoctlSetWinsize(int(ours.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(height), Col: uint16(width)})
	}
	if err == nil {
		file, err = os.OpenFile(theirs, os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		_ = ours.Close()
		t.Fatalf("pseudo terminal: %v", err)
	}
	screen = NewScreen(width, height)
	done := make(chan struct{})
	go func() {
		defer close(done)
		b := make([]byte, 4096)
		for {
			n, err := ours.Read(b)
			if err != nil { // EIO when nobody has the other end open any more
				return
			}
			_, _ = screen.Write(b[:n])
		}
	}()
	shown = func() {
		_ = file.Close()
		<-done
	}
	t.Cleanup(func() {
		shown()
		_ = ours.Close()
	})
	return file, screen, shown
}
