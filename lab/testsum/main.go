// Command testsum runs go test and shows what people look for: a line per package, the whole output of
// what failed, and every skipped test with its reason, which go test alone hides.
//
// make test calls it; its arguments are go test's. The exit status is go test's.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// event is a line of go test -json (go doc test2json).
type event struct {
	Action, Package, Test, Output, ImportPath string
}

func main() {
	status, err := run(os.Stdout, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		status = max(status, 1)
	}
	os.Exit(status)
}

func run(w io.Writer, args []string) (int, error) {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	summarizeErr := summarize(w, out)
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), summarizeErr
	}
	return 0, errors.Join(err, summarizeErr)
}

// summarize reads the events and prints as packages end.
func summarize(w io.Writer, r io.Reader) error {
	output := map[[2]string]*strings.Builder{} // by package and test
	skips := map[string][]string{}             // tests by reason
	counts := map[string]int{}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			fmt.Fprintln(w, lines.Text()) // no event: what the go command itself has to say
			continue
		}
		key := [2]string{e.Package, e.Test}
		switch e.Action {
		case "output", "build-output":
			b := output[key]
			if b == nil {
				b = new(strings.Builder)
				output[key] = b
			}
			b.WriteString(e.Output)
			if e.Action == "build-output" || e.Test == "" && isResult(e.Output) {
				fmt.Fprint(w, e.Output)
			}
		case "pass", "fail", "skip":
			if e.Test == "" {
				if e.Action == "fail" {
					fmt.Fprint(w, text(output[key]))
				}
				continue
			}
			counts[e.Action]++
			if e.Action == "fail" {
				fmt.Fprint(w, text(output[key]))
			}
			if e.Action == "skip" {
				why := reason(text(output[key]))
				skips[why] = append(skips[why], e.Package+" "+e.Test)
			}
			delete(output, key)
		}
	}
	for _, why := range slices.Sorted(maps.Keys(skips)) {
		fmt.Fprintf(w, "\n%d skipped: %s\n  %s\n", len(skips[why]), why, strings.Join(skips[why], "\n  "))
	}
	fmt.Fprintf(w, "\n%d passed, %d failed, %d skipped\n", counts["pass"], counts["fail"], counts["skip"])
	return lines.Err()
}

func text(b *strings.Builder) string {
	if b == nil {
		return ""
	}
	return b.String()
}

// isResult says whether a package's line is its result.
func isResult(line string) bool {
	return strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "FAIL\t") || strings.HasPrefix(line, "panic:")
}

// reason is what a skipped test said, without the place in its file.
func reason(output string) string {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "===") || strings.HasPrefix(line, "---") {
			continue
		}
		if _, said, found := strings.Cut(line, ": "); found {
			return strings.TrimPrefix(said, "skipped: ")
		}
		return line
	}
	return "no reason given"
}
