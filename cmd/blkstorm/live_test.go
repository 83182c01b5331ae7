package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"blkstorm/lab"
)

// onTerminal starts blkstorm with standard error on a terminal of a test.
func onTerminal(t *testing.T, width, height int, kind string, args ...string) (p *process, screen *lab.Screen, shown func()) {
	t.Helper()
	file, screen, shown := lab.Terminal(t, width, height)
	p = &process{t: t, cmd: command(t, append([]string{"run", "--size", "16m"}, args...)...)}
	p.cmd.Env = append(p.cmd.Environ(), "TERM="+kind, "LC_ALL=C.UTF-8")
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, file
	p.begin()
	return p, screen, shown
}

// sees waits until all texts are on the screen at once.
func sees(t *testing.T, screen *lab.Screen, texts ...string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		missing := ""
		for _, text := range texts {
			if !strings.Contains(screen.Text(), text) {
				missing = text
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the screen lacks %q:\n%s", missing, screen.Text())
		}
	}
}

// sane checks that nothing but the lines that stay is left on the terminal, and that it works as before.
func sane(t *testing.T, screen *lab.Screen, shown func()) {
	t.Helper()
	shown()
	x, _, wraps, err := screen.State()
	if x != 0 || !wraps || err != nil {
		t.Errorf("cursor at %d, wraps %v, %v", x, wraps, err)
	}
	text := screen.All()
	if !strings.HasPrefix(text, "writing 16 MiB once to ") || strings.Contains(text, "in flight") || strings.Contains(text, "whole plan") {
		t.Errorf("left on the terminal:\n%s", text)
	}
}

func TestLiveView(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {160, 50}, {40, 10}} {
		p, screen, shown := onTerminal(t, size[0], size[1], "xterm", "--runtime", "3s", "--rw", "randrw", "--ramp", "1s")
		sees(t, screen, "measure  randrw", "writing 16 MiB once", "IOPS", "s left", "MB/s", "mean", "max")
		p.wait().want(t, exitGood)
		if !strings.Contains(p.stdout.String(), "after a ramp of 1 s") {
			t.Errorf("no result:\n%s", p.stdout.String())
		}
		sane(t, screen, shown)
	}
}

// However a run ends, the terminal is as it was.
func TestLiveViewInterrupted(t *testing.T) {
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		p, screen, shown := onTerminal(t, 80, 24, "xterm", "--runtime", "60s")
		sees(t, screen, "whole plan", "in flight")
		p.signal(signal)
		p.wait().want(t, signalBase+int(signal))
		sane(t, screen, shown)
	}
	p, screen, shown := onTerminal(t, 80, 24, "xterm", "--runtime", "60s")
	sees(t, screen, "whole plan", "in flight")
	p.signal(syscall.SIGKILL) // as a panic, or a second signal, it leaves the view where it is
	p.wait()
	shown()
	if x, y, wraps, err := screen.State(); x != 0 || y != strings.Count(screen.Text(), "\n")+1 || !wraps || err != nil {
		t.Errorf("cursor at %d, %d, wraps %v, %v:\n%s", x, y, wraps, err, screen.Text())
	}
}

// After Ctrl-Z and fg, the view goes on below what the shell has written meanwhile.
func TestLiveViewStopped(t *testing.T) {
	file, screen, shown := lab.Terminal(t, 80, 60)
	p := &process{t: t, cmd: command(t, "run", "--size", "16m", "--runtime", "60s")}
	p.cmd.Env = append(p.cmd.Environ(), "TERM=xterm", "LC_ALL=C.UTF-8")
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, file
	p.begin()
	sees(t, screen, "whole plan", "in flight")
	p.signal(syscall.SIGSTOP)
	time.Sleep(100 * time.Millisecond)
	if _, err := file.WriteString("[1]+ Stopped\r\n$ fg\r\n"); err != nil {
		t.Fatal(err)
	}
	p.signal(syscall.SIGCONT)
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		above, below, found := strings.Cut(screen.Text(), "[1]+ Stopped\n$ fg\n")
		if found && strings.Count(above, "in flight") == 1 && strings.Count(below, "in flight") == 1 && strings.Count(below, "whole plan") == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the screen:\n%s", screen.Text())
		}
	}
	p.signal(syscall.SIGINT)
	p.wait().want(t, signalBase+int(syscall.SIGINT))
	shown()
	if _, below, _ := strings.Cut(screen.Text(), "$ fg\n"); strings.TrimSpace(below) != "" {
		t.Errorf("left on the terminal:\n%s", screen.Text())
	}
}

// Without a view there are plain lines, and without those nothing.
func TestNoLiveView(t *testing.T) {
	p, screen, shown := onTerminal(t, 80, 24, "dumb", "--runtime", "1s")
	p.wait().want(t, exitGood)
	sane(t, screen, shown)
	p, screen, shown = onTerminal(t, 80, 24, "xterm", "--runtime", "1s", "--quiet")
	p.wait().want(t, exitGood)
	if shown(); screen.All() != "" {
		t.Errorf("--quiet:\n%s", screen.All())
	}
}

// A real terminal that wraps lines anew when its size changes shows one view in every size, with what was
// there before above it.
func TestLiveViewResized(t *testing.T) {
	tmux, binary := lab.Tool(t, "tmux"), lab.Tool(t, "blkstorm")
	dir := t.TempDir()
	socket := filepath.Join(dir, "tmux")
	run := func(args ...string) string {
		t.Helper()
		command := exec.Command(tmux, append([]string{"-S", socket, "-f", "/dev/null"}, args...)...)
		command.Env = append(os.Environ(), "SHELL=/bin/sh") // else the user's shell, which may be nologin
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	run("-u", "new-session", "-d", "-s", "test", "-x", "80", "-y", "24", "-c", dir,
		"LC_ALL=C.UTF-8 "+binary+" run --size 16m --runtime 60s; sleep 600")
	t.Cleanup(func() { run("kill-server") })
	for _, size := range [][2]string{{"80", "24"}, {"160", "50"}, {"100", "50"}, {"60", "50"}, {"80", "24"}} {
		run("resize-window", "-t", "test", "-x", size[0], "-y", size[1])
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(50 * time.Millisecond) {
			text := run("capture-pane", "-p", "-t", "test")
			wide := strings.Contains(text, "p95") == (size[0] >= "100" && size[0] < "2") && strings.Contains(text, "whole plan") == (size[0] != "60")
			whole := strings.Count(text, "[") == 1 && strings.Count(text, "in flight") == 1 && strings.Count(text, "measure") == 1
			if wide && whole && strings.HasPrefix(text, "writing 16 MiB once") {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("%v:\n%s", size, text)
			}
		}
	}
}
