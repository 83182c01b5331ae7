package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"blkstorm/lab"
)

// begun waits until a run has a row in its folder.
func begun(t *testing.T, p *process, dir string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "intervals.ndjson")); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("it does not begin\n%s", p.stderr.String())
		}
	}
}

// Killed and gone on with, a run on a device and on a file that it made gives what was asked for.
func TestResume(t *testing.T) {
	for name, args := range map[string]string{
		"new file": "--rw randwrite --size 8m f.img",
		"scratch":  "--rw randrw --size 8m",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			out := filepath.Join(dir, "out")
			p := start(t, dir, append([]string{"run", "--runtime", "1s", "--interval", "100ms", "--seed", "7", "--dir", "out", "--percentiles", "50,99.9", "--quiet"}, strings.Fields(args)...)...)
			begun(t, p, out)
			for _, beside := range [][]string{{"--resume", out}, {"--dir", out, "--size", "8m", "--runtime", "1s"}} {
				blkstorm(t, append([]string{"run"}, beside...)...).want(t, exitUsage, "is in use by another run")
			}
			_ = p.cmd.Process.Kill()
			p.wait()
			cut := readResult(t, filepath.Join(out, "result.json"))
			if len(cut.Points) != 0 {
				t.Fatalf("killed too late: %d points", len(cut.Points))
			}

			blkstorm(t, "run", "--resume", out, "--dry-run").want(t, exitGood)
			point := blkstorm(t, "run", "--resume", out, "--format", "json").want(t, exitGood, "going on with run "+cut.ID).point(t)
			if !point.Completed || point.WindowS != 1 || point.Seed != 7 || len(point.Intervals) != 10 || len(point.Total.Latency.Percentiles) != 2 {
				t.Errorf("%+v", point)
			}
			doc := readResult(t, filepath.Join(out, "result.json"))
			if doc.ID != cut.ID || !doc.Started.Equal(cut.Started) || len(doc.Resumed) != 1 || doc.Resumed[0].AfterPoint != -1 || doc.Resumed[0].NewFiles != (name == "scratch") {
				t.Errorf("%+v", doc)
			}

			before, err := os.ReadFile(filepath.Join(out, "result.json"))
			if err != nil {
				t.Fatal(err)
			}
			again := blkstorm(t, "run", "--resume", out, "--format", "json").want(t, exitGood, "is finished: nothing is left to do").point(t)
			if again.Total.IOs != point.Total.IOs || len(again.Intervals) != 10 {
				t.Errorf("%+v", again)
			}
			for _, format := range []string{"text", "csv", "ndjson"} {
				if text := blkstorm(t, "run", "--resume", out, "--format", format).want(t, exitGood).stdout; len(text) < 100 {
					t.Errorf("%s of a finished run: %q", format, text)
				}
			}
			if after, err := os.ReadFile(filepath.Join(out, "result.json")); err != nil || string(after) != string(before) {
				t.Errorf("the document of a finished run has changed: %v", err)
			}
		})
	}
}

// A run that a signal ended is gone on with, from the point that it ended in.
func TestResumeAfterSignal(t *testing.T) {
	dir := t.TempDir()
	p := start(t, dir, "run", "--size", "8m", "--runtime", "1s", "--interval", "100ms", "--dir", "out", "--quiet")
	begun(t, p, filepath.Join(dir, "out"))
	p.signal(syscall.SIGINT)
	p.wait().want(t, 130)
	if doc := readResult(t, filepath.Join(dir, "out", "result.json")); len(doc.Points) != 1 || !doc.Points[0].Interrupted {
		t.Fatalf("%+v", doc)
	}
	q := start(t, dir, "run", "--resume", "out", "--format", "json", "--quiet")
	point := q.wait().want(t, exitGood).point(t)
	if !point.Completed || point.Interrupted || point.WindowS != 1 {
		t.Errorf("%+v", point)
	}
}

// The consent of the plan holds, the guard is asked again, and another disk is refused.
func TestResumeOnDevices(t *testing.T) {
	dev, _ := loopOn(t, 16*mib, lab.LoopOptions{})
	dir := t.TempDir()
	link := filepath.Join(dir, "disk")
	out := filepath.Join(dir, "out")
	if err := os.Symlink(dev, link); err != nil {
		t.Fatal(err)
	}
	p := start(t, dir, "run", "--rw", "randwrite", "--destroy", "--runtime", "1s", "--interval", "100ms", "--dir", "out", "--quiet", link)
	begun(t, p, out)
	_ = p.cmd.Process.Kill()
	p.wait()

	other, _ := loopOn(t, 16*mib, lab.LoopOptions{})
	untouched := digest(t, other)
	swap := func(to string) {
		if err := errors.Join(os.Remove(link), os.Symlink(to, link)); err != nil {
			t.Fatal(err)
		}
	}
	swap(other)
	blkstorm(t, "run", "--resume", out).want(t, exitRefused, "refused to go on with the run in "+out, "path was "+dev+", is "+other)
	if digest(t, other) != untouched {
		t.Error("the other disk was written")
	}
	swap(dev)
	tool(t, "", "mkfs.ext4", "-q", dev)
	mounted := t.TempDir()
	lab.Run(t, "mount", dev, mounted)
	refused := blkstorm(t, "run", "--resume", out)
	lab.Unmount(t, mounted)
	refused.want(t, exitRefused, "[mounted]")
	blkstorm(t, "run", "--resume", out).want(t, exitRefused, "[signature]") // which was not there before
	lab.Run(t, "wipefs", "-aq", dev)
	if point := blkstorm(t, "run", "--resume", out, "--format", "json").want(t, exitGood, "writing to "+dev).point(t); !point.Completed || point.Write.IOs == 0 {
		t.Errorf("%+v", point)
	}
}

// The folder has the plan: nothing that says what to run goes beside it.
func TestResumeTakesNothingElse(t *testing.T) {
	empty := t.TempDir()
	for args, want := range map[string]string{
		"run --resume " + empty:                             "there is no result.json in it",
		"run --resume " + empty + "/no":                     "no such file or directory",
		"run --resume= ":                                    "--resume: is empty; it takes DIR",
		"run --resume out --bs 8k --destroy /dev/x":         "leave out --bs, --destroy, /dev/x; beside it go",
		"run --resume out --dir out":                        "leave out --dir",
		"run --re-precondition --size 1m":                   "--re-precondition: goes with --resume only",
		"find-max --limit p99=1ms --resume out":             "a search cannot be gone on with",
		"run --resume " + empty + " --format yaml":          "--format yaml: is the plan as a file",
		"run --resume " + empty + " --format csv --dry-run": "a dry run has text, json and yaml",
	} {
		blkstorm(t, strings.Fields(args)...).want(t, exitUsage, want)
	}
}
