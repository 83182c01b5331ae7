package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"
)

// example is one command of a console block, with what the page shows of its output.
type example struct {
	command string
	output  []string
}

var (
	fence     = regexp.MustCompile("(?ms)^```(console|sh)\n(.*?)^```$")
	number    = regexp.MustCompile(`[0-9][0-9,.]*`)
	times     = regexp.MustCompile(`--(runtime|ramp) \S+`)
	anyDevice = regexp.MustCompile(`/dev/sd[a-z]`)
)

// readme carries out every console block of the pages given, one shell session per page, and compares
// exit status and output with what the page shows; blocks of plain commands (sh) are dry runs, with
// files in the place of the devices they name. Makefile targets need only exist, but the load of
// make demo runs, for a moment.
func readme(ts *testscript.TestScript, neg bool, args []string) {
	makefile, err := repoFile("Makefile")
	ts.Check(err)
	ts.Check(os.MkdirAll(ts.MkAbs("bin"), 0o755))
	// As in the repository, the program is bin/blkstorm.
	ts.Check(os.WriteFile(ts.MkAbs("bin/blkstorm"), []byte("#!/bin/sh\nexec blkstorm \"$@\"\n"), 0o755))
	for _, page := range args {
		text, err := repoFile(page)
		ts.Check(err)
		var session []example
		for _, block := range fence.FindAllStringSubmatch(text, -1) {
			if block[1] == "console" {
				session = append(session, examples(block[2])...)
				continue
			}
			for line := range strings.Lines(block[2]) {
				dryRun(ts, makefile, strings.TrimSpace(line))
			}
		}
		if len(session) == 0 && page == "README.md" {
			ts.Fatalf("README.md shows no example")
		}
		runSession(ts, page, session)
	}
}

// examples cuts a console block into commands and their output.
func examples(block string) (list []example) {
	for line := range strings.Lines(block) {
		line = strings.TrimRight(line, "\n")
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			list = append(list, example{command: command})
			continue
		}
		last := &list[len(list)-1]
		last.output = append(last.output, line)
	}
	return list
}

// shellWords splits a command at its spaces, but for those in single quotes.
func shellWords(command string) []string {
	inside := false
	words := strings.FieldsFunc(command, func(r rune) bool {
		if r == '\'' {
			inside = !inside
		}
		return r == ' ' && !inside
	})
	for i := range words {
		words[i] = strings.ReplaceAll(words[i], "'", "")
	}
	return words
}

// dryRun checks a command that the page only names.
func dryRun(ts *testscript.TestScript, makefile, line string) {
	command, _, _ := strings.Cut(line, " #")
	words := shellWords(command)
	switch {
	case len(words) == 0:
		return
	case words[0] == "make":
		target := words[len(words)-1]
		if !strings.Contains(makefile, "\n"+target+":") {
			ts.Fatalf("the Makefile has no target %s", target)
		}
		if target == "demo" {
			demo(ts, makefile)
		}
	case filepath.Base(words[0]) == "blkstorm":
		for i, word := range words {
			words[i] = anyDevice.ReplaceAllStringFunc(word, func(dev string) string {
				path := ts.MkAbs(filepath.Base(dev))
				ts.Check(os.WriteFile(path, nil, 0o600))
				ts.Check(os.Truncate(path, 64<<30)) // a hole
				return path
			})
		}
		if err := ts.Exec("blkstorm", append(words[1:], "--dry-run")...); err != nil {
			ts.Fatalf("%s: %v", command, err)
		}
	default:
		ts.Fatalf("do not know how to try %q", line)
	}
}

// demo runs what make demo runs, shortened.
func demo(ts *testscript.TestScript, makefile string) {
	_, recipe, _ := strings.Cut(makefile, "\ndemo:")
	command := strings.TrimSpace(strings.SplitN(recipe, "\n", 3)[1])
	if !strings.HasPrefix(command, "bin/blkstorm run ") {
		ts.Fatalf("make demo runs %q", command)
	}
	if err := ts.Exec("sh", "-ec", times.ReplaceAllString(command, "--$1 200ms")+" --size 64m"); err != nil {
		ts.Fatalf("make demo: %v", err)
	}
}

// runSession carries out commands one after the other in one shell, where $? is that of the command
// before, as in a terminal.
func runSession(ts *testscript.TestScript, page string, session []example) {
	const mark = "=== status "
	script := "s=0\n"
	for _, e := range session {
		script += "(exit $s)\n" + times.ReplaceAllString(e.command, "--$1 300ms") + "\ns=$?; echo; echo \"" + mark + "$s\"\n"
	}
	if err := ts.Exec("sh", "-c", "exec 2>&1\n"+script); err != nil {
		ts.Fatalf("%s: %v", page, err)
	}
	for i, part := range strings.Split(ts.ReadFile("stdout"), "\n"+mark)[:len(session)] {
		output := part
		if i > 0 {
			_, output, _ = strings.Cut(part, "\n") // the line of the mark ends with the status
		}
		e := &session[i]
		if e.command == "echo $?" && strings.TrimSpace(output) != strings.Join(e.output, "\n") {
			ts.Fatalf("%s: $ %s\nthe page shows exit status %s, it is %s", page, session[i-1].command, e.output, output)
		}
		for _, missing := range unmatched(e.output, output) {
			ts.Fatalf("%s: $ %s\nthe page shows\n\t%s\nand the command printed\n%s", page, e.command, missing, output)
		}
	}
	statuses := regexp.MustCompile(mark+`(\d+)`).FindAllStringSubmatch(ts.ReadFile("stdout"), -1)
	for i, e := range session {
		shown := i+1 < len(session) && session[i+1].command == "echo $?"
		if status := statuses[i][1]; status != "0" && !shown {
			ts.Fatalf("%s: $ %s\nexit status %s, and the page does not say so", page, e.command, status)
		}
	}
}

// unmatched lists the lines that a page shows and the output lacks. Figures differ from run to run,
// and so do warnings: of a line of a table its name must be there, of other lines all but the numbers.
func unmatched(shown []string, output string) (list []string) {
	have := map[string]bool{}
	for line := range strings.Lines(output) {
		have[shape(line)] = true
	}
	for _, line := range shown {
		if strings.HasPrefix(line, "  warning [") {
			break
		}
		if s := shape(line); s != "" && !have[s] {
			list = append(list, line)
		}
	}
	return list
}

func shape(line string) string {
	line = strings.TrimSpace(line)
	name, _, _ := strings.Cut(line, "  ")
	if name == "" || name == "µs" || name == "ms" || name == "s" {
		return "" // an empty line, or a row of units
	}
	var words []string
	for _, word := range strings.Fields(name) {
		if strings.HasPrefix(word, "/") {
			word = "/" + filepath.Base(word) // the folder is another one
		}
		words = append(words, number.ReplaceAllString(word, "0"))
	}
	return fmt.Sprint(words)
}

// The comparison sees a line that is not there, and lets figures, folders and warnings pass.
func TestUnmatched(t *testing.T) {
	shown := []string{
		"randrw 70% read 8k", "  target  /srv/bench/x  file  1.1 GB", "           IOPS   MB/s", "                  µs     µs", "  read   48,302  395.7",
		"  gone   1", "blkstorm: refused to write to /srv/bench/disk.img", "blkstorm: refused to eat", "", "  warning [x]: y", "    whatever",
	}
	output := "randrw 70% read 8k\n  target  /tmp/x/y  file\n     IOPS  MB/s\n   ms  ms\n  read  12.1\nblkstorm: refused to write to /tmp/disk.img\n"
	want := []string{"  gone   1", "blkstorm: refused to eat"}
	if diff := cmp.Diff(want, unmatched(shown, output)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
