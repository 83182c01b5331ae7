package result

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"blkstorm/lab"
	"blkstorm/plan"
	"blkstorm/runner"
)

// childFolder makes the test binary the writer that TestKilledWriter kills.
const childFolder = "BLKSTORM_TEST_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childFolder); dir != "" {
		err := writeForever(dir)
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// generation is a document that says in all its parts how often it was written.
func generation(n int, points int) *Doc {
	d := &Doc{Schema: Schema, ID: strconv.Itoa(n), Started: epoch}
	stat := &Stat{Latency: &Latency{HDR: strings.Repeat("HIST", 2000)}}
	for range points {
		d.Points = append(d.Points, &Point{Label: strconv.Itoa(n), Total: stat, Read: stat, Write: stat, Trim: stat, Sync: stat})
	}
	return d
}

// writeForever is the child: it says on stdout which generation is on disk.
func writeForever(dir string) error {
	f, err := CreateFolder(dir)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		in := &Interval{Point: n, Label: "a label of some length, so that lines cross pages", Targets: make([]IntervalTarget, 4)}
		if err := errors.Join(f.Interval(in), f.Result(generation(n, 10+n%10))); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

func TestKilledWriter(t *testing.T) {
	for round := range 20 {
		dir := filepath.Join(t.TempDir(), "run")
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childFolder+"="+dir)
		child.Stderr = os.Stderr
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		said := bufio.NewScanner(out)
		said.Scan() // the first generation is there
		time.AfterFunc(time.Duration(2+7*round%40)*time.Millisecond, func() { _ = child.Process.Kill() })
		last := said.Text()
		for said.Scan() {
			last = said.Text()
		}
		_ = child.Wait() // "signal: killed"

		checkGeneration(t, dir, last)
		rows := wholeLines(t, read(t, dir, "intervals.ndjson"))
		for i, row := range rows {
			if row["point"] != json.Number(strconv.Itoa(i)) {
				t.Fatalf("row %d is %v", i, row["point"])
			}
		}
		if n, err := strconv.Atoi(last); err != nil || len(rows) < n+1 {
			t.Errorf("%d rows, but %q generations were on disk", len(rows), last)
		}
		// What the killed one left is no hindrance.
		if err := (&Folder{dir: dir}).Result(generation(1<<20, 1)); err != nil {
			t.Fatal(err)
		}
		checkGeneration(t, dir, "1048576")
	}
}

// checkGeneration wants a whole result.json of at least the generation said to be on disk.
func checkGeneration(t *testing.T, dir, atLeast string) {
	t.Helper()
	var d Doc
	if err := json.Unmarshal(read(t, dir, "result.json"), &d); err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(d.ID)
	if err != nil {
		t.Fatal(err)
	}
	least, err := strconv.Atoi(atLeast)
	if err != nil || n < least || n > least+1 {
		t.Errorf("generation %d is on disk, %q was said to be", n, atLeast)
	}
	if want := 10 + n%10; n < 1<<20 && len(d.Points) != want {
		t.Errorf("generation %d has %d points, want %d", n, len(d.Points), want)
	}
	for _, p := range d.Points {
		if p.Label != d.ID {
			t.Errorf("point of generation %s in one of %s", p.Label, d.ID)
		}
	}
}

func TestFullDisk(t *testing.T) {
	lab.Root(t)
	mount := t.TempDir()
	lab.Run(t, "mount", "-t", "tmpfs", "-o", "size=64k", "blkstorm-test", mount)
	t.Cleanup(func() { lab.Run(t, "umount", mount) })
	dir := filepath.Join(mount, "run")
	f, err := CreateFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Result(&Doc{Schema: Schema, ID: "7"}); err != nil {
		t.Fatal(err)
	}
	err = f.Result(generation(8, 10))
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), filepath.Join(dir, "result.json")) {
		t.Errorf("error %v", err)
	}
	checkGeneration1(t, dir)

	// The failed attempt gave its room back: rows still fit, until they fill the rest.
	in := &Interval{Targets: make([]IntervalTarget, 1)}
	rows := 0
	for err = nil; err == nil && rows < 1000; rows++ {
		err = f.Interval(in)
	}
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), filepath.Join(dir, "intervals.ndjson")) || rows < 10 {
		t.Errorf("after %d rows: error %v", rows, err)
	}
	b := read(t, dir, "intervals.ndjson")
	if n := len(wholeLines(t, b)); n != rows-1 || b[len(b)-1] != '\n' {
		t.Errorf("%d whole rows of %d, the file ends in %q", n, rows-1, b[len(b)-1])
	}
	d := singleDoc(t)
	b1 := d.NewBuilder(plan.Measure, &d.Plan.Phases[0].Points[0], nil, false)
	err = f.Histograms(b1, &runner.Row{Wall: epoch})
	if !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), "latency.hlog") {
		t.Errorf("histogram log: error %v", err)
	}
	checkGeneration1(t, dir)
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

func checkGeneration1(t *testing.T, dir string) {
	t.Helper()
	var d Doc
	if err := json.Unmarshal(read(t, dir, "result.json"), &d); err != nil || d.ID != "7" {
		t.Errorf("the old result is %q, %v", d.ID, err)
	}
}
