// Command testsum runs go test and shows what people look for: a line per package, the whole output of
// what failed, and every skipped test with its reason, which go test alone hides.
//
//	testsum [-again N] -- [go test's flags] ./package...
//
// With -again, up to N failed tests are run once more, each alone, and those that then pass are listed as
// such: many tests here are about time, and a machine that was busy for a second spoils one of two
// thousand. A test that fails twice, more than N that fail, a package that does not build, panics or runs
// out of time stay what they are.
//
// make test calls it. The exit status is go test's.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
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
	again := flag.Int("again", 0, "run up to `N` failed tests once more")
	flag.Parse()
	status, err := run(os.Stdout, flag.Args(), *again)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		status = max(status, 1)
	}
	os.Exit(status)
}

func run(w io.Writer, args []string, again int) (int, error) {
	status, failed, err := goTest(w, args)
	if err != nil || status == 0 {
		return status, err
	}
	if failed.count() == 0 || failed.broken || failed.count() > again {
		return status, nil
	}
	return rerun(w, args, failed)
}

// rerun runs each failed test once more, alone.
func rerun(w io.Writer, args []string, failed failures) (int, error) {
	flags := args
	if i := slices.IndexFunc(args, func(arg string) bool { return strings.HasPrefix(arg, "./") }); i >= 0 {
		flags = args[:i]
	}
	var passed []string
	worst := 0
	for _, pkg := range slices.Sorted(maps.Keys(failed.tests)) {
		for _, test := range failed.tests[pkg] {
			fmt.Fprintf(w, "\nagain: %s %s\n", pkg, test)
			status, _, err := goTest(w, slices.Concat(flags, []string{"-count=1", "-run", "^" + test + "$", pkg}))
			if err != nil {
				return status, err
			}
			worst = max(worst, status)
			if status == 0 {
				passed = append(passed, pkg+" "+test)
			}
		}
	}
	if len(passed) > 0 {
		fmt.Fprintf(w, "\n%d passed only when run once more:\n  %s\n", len(passed), strings.Join(passed, "\n  "))
	}
	return worst, nil
}

// failures are the tests that failed, by package; of subtests, the test they belong to.
type failures struct {
	tests  map[string][]string
	broken bool // a package failed, and no test of it did: it does not build, panicked or ran out of time
}

func (f failures) count() int {
	n := 0
	for _, tests := range f.tests {
		n += len(tests)
	}
	return n
}

func (f failures) add(pkg, test string) {
	test, _, _ = strings.Cut(test, "/")
	if !slices.Contains(f.tests[pkg], test) {
		f.tests[pkg] = append(f.tests[pkg], test)
	}
}

// goTest runs go test with args and returns its exit status.
func goTest(w io.Writer, args []string) (int, failures, error) {
	cmd := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 1, failures{}, err
	}
	if err := cmd.Start(); err != nil {
		return 1, failures{}, err
	}
	failed, summarizeErr := summarize(w, out)
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), failed, summarizeErr
	}
	return 0, failed, errors.Join(err, summarizeErr)
}

// summarize reads the events, prints as packages end, and returns what failed.
func summarize(w io.Writer, r io.Reader) (failures, error) {
	failed := failures{tests: map[string][]string{}}
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
					failed.broken = failed.broken || len(failed.tests[e.Package]) == 0
				}
				continue
			}
			counts[e.Action]++
			if e.Action == "fail" {
				fmt.Fprint(w, text(output[key]))
				failed.add(e.Package, e.Test)
				failed.broken = failed.broken || strings.Contains(text(output[key]), "\npanic: ")
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
	return failed, lines.Err()
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
