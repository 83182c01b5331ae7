package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"blkstorm/lab"
)

// shell begins a command line of a shell in a folder of the test's own.
func shell(t *testing.T, line string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command("sh", "-c", line)}
	p.cmd.Dir = t.TempDir()
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.begin()
	return p
}

// A document that cannot be written is an error before anything is touched. One that goes nowhere is told; a
// folder is somewhere, and so is /dev/null for those who ask for it.
func TestClosedStandardOutput(t *testing.T) {
	t.Parallel()
	for _, format := range formats {
		for _, c := range []struct {
			redirect, also string
			status         int
			message        string
		}{
			{">&-", "", exitGood, "standard output is closed"},
			{">&- <&-", "", exitGood, "standard output is closed"},
			{"1<>/dev/null", "", exitGood, "standard output is closed"},
			{">&-", "--quiet", exitGood, ""},
			{"1</dev/null", "", exitUsage, "open for reading only"},
			{">&-", "--dir result", exitGood, ""},
			{">&- 2>&- <&-", "--dir result", exitGood, ""},
			{"2>&-", "", exitGood, ""},
			{">/dev/null", "", exitGood, ""},
		} {
			p := shell(t, fmt.Sprintf("exec blkstorm run --size 1m --runtime 100ms --format %s %s new.img %s", format, c.also, c.redirect))
			p.wait().want(t, c.status, c.message)
			_, err := os.Stat(filepath.Join(p.cmd.Dir, "new.img"))
			if run := err == nil; run != (c.status == exitGood) {
				t.Errorf("%s %s: the target was made: %v", c.redirect, c.also, run)
			}
			if _, err := os.Stat(filepath.Join(p.cmd.Dir, "result", "result.json")); strings.Contains(c.also, "--dir") && err != nil {
				t.Errorf("%s %s: %v", c.redirect, c.also, err)
			}
		}
	}
	shell(t, "exec blkstorm sweep --threads 1,2 --size 1m --runtime 100ms >&-").wait().want(t, exitGood, "standard output is closed")
}

// No target ever gets the number of a standard descriptor that is closed: what is printed does not go to it.
func TestClosedDescriptorsAreNoTargets(t *testing.T) {
	t.Parallel()
	target := lab.File(t, mib)
	if err := os.WriteFile(target, []byte(strings.Repeat("pattern.", mib/8)), 0o600); err != nil {
		t.Fatal(err)
	}
	before := digest(t, target)
	p := shell(t, "exec blkstorm run --runtime 1s --ramp 100ms --interval 50ms --dir result "+target+" <&- >&- 2>&-")
	begun(t, p, filepath.Join(p.cmd.Dir, "result"))
	fds := fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid)
	opened := 0
	entries, err := os.ReadDir(fds)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		link, err := os.Readlink(filepath.Join(fds, e.Name()))
		if err != nil {
			continue // closed meanwhile
		}
		standard := len(e.Name()) == 1 && e.Name() <= "2"
		if standard && link != "/dev/null" {
			t.Errorf("descriptor %s is %s", e.Name(), link)
		}
		if link == target {
			opened++
		}
	}
	if opened == 0 {
		t.Error("the target is not open: the test looks too late or too early")
	}
	p.waitFor(30*time.Second).want(t, exitGood)
	if digest(t, target) != before {
		t.Error("the target has other content")
	}
}

// A reader of standard output that is gone costs the exit status and a word, not the folder.
func TestReaderIsGone(t *testing.T) {
	t.Parallel()
	for _, format := range formats {
		for _, dir := range []string{"", "result"} {
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			args := []string{"run", "--size", "1m", "--runtime", "200ms", "--quiet", "--format", format}
			if dir != "" {
				args = append(args, "--dir", dir)
			}
			p := &process{t: t, cmd: command(t, args...)}
			p.cmd.Stdout, p.cmd.Stderr = w, &p.stderr
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			p.begin()
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			p.wait().want(t, exitPipe, "has gone away (broken pipe)")
			if n := strings.Count(p.stderr.String(), "\n"); n != 1 {
				t.Errorf("%s: %d lines: %s", format, n, p.stderr.String())
			}
			if _, err := os.Stat(filepath.Join(p.cmd.Dir, "result", "result.json")); dir != "" && err != nil {
				t.Errorf("%s: %v", format, err)
			}
		}
	}
}
