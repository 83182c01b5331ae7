package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"blkstorm/result"
)

// merged reads the document on standard output.
func merged(t *testing.T, o outcome) *result.Doc {
	t.Helper()
	doc := &result.Doc{}
	if err := json.Unmarshal([]byte(o.stdout), doc); err != nil {
		t.Fatalf("%v\n%s%s", err, o.stdout, o.stderr)
	}
	return doc
}

// Three runs beside each other, begun a moment apart: the I/Os of the time in common are those of the rows
// that lie in it, in each member's own file.
func TestMergeOfRuns(t *testing.T) {
	dir := t.TempDir()
	var runs []*process
	var paths []string
	for i := range 3 {
		paths = append(paths, filepath.Join(dir, fmt.Sprint("vm", i)))
		runs = append(runs, start(t, "", "run", "--size", "8m", "--rw", "randrw", "--bs", "4k", "--iodepth", "2", "--runtime", "3s",
			"--interval", "50ms", "--quiet", "--dir", paths[i]))
		time.Sleep(120 * time.Millisecond)
	}
	for _, p := range runs {
		p.wait().want(t, exitGood)
	}
	all := filepath.Join(dir, "all")
	doc := merged(t, blkstorm(t, append([]string{"merge", "--format", "json", "--dir", all}, paths...)...).want(t, exitGood))
	p, how := doc.Points[0], doc.Merge.Points[0]
	if how.Window != result.MergeCommon || how.LossS < 0.2 || len(how.Rows) != 3 || p.WindowS < 0.5 {
		t.Fatalf("%+v", how)
	}
	from, until := how.CommonStart.UnixNano(), how.CommonStart.Add(time.Duration(how.CommonS*1e9)).UnixNano()
	n := int(p.WindowS/0.05 + 0.5)
	want, bytes := uint64(0), uint64(0)
	for _, path := range paths {
		used := 0
		for _, row := range rowsOfFolder(t, path) {
			if row.StartUnixNS >= from && row.StartUnixNS+50e6 <= until && used < n {
				used++
				want += row.Read.IOs + row.Write.IOs
				bytes += row.Read.Bytes + row.Write.Bytes
			}
		}
		if used != n {
			t.Errorf("%s has %d intervals in the time in common, want %d", path, used, n)
		}
	}
	rows := uint64(0)
	for _, row := range rowsOfFolder(t, all) {
		rows += row.Read.IOs + row.Write.IOs
	}
	if p.Total.IOs != want || p.Total.Bytes != bytes || rows != want || p.Total.Latency.Count != want || want == 0 {
		t.Errorf("%d I/Os and %d bytes, %d in the rows; the members' rows have %d and %d", p.Total.IOs, p.Total.Bytes, rows, want, bytes)
	}
	if d := p.Total.IOPS*p.WindowS - float64(want); d > 1 || d < -1 {
		t.Errorf("%g IOPS over %g s are not %d I/Os", p.Total.IOPS, p.WindowS, want)
	}
	out := blkstorm(t, append([]string{"merge"}, paths...)...).want(t, exitGood).stdout
	for _, words := range []string{"merged from the results of 3 machines", "per machine", "over the machines", "figures of the whole intervals within"} {
		if !strings.Contains(out, words) {
			t.Errorf("the text lacks %q:\n%s", words, out)
		}
	}
	// The merge is a result like any other.
	again := merged(t, blkstorm(t, "merge", "--format", "json", all).want(t, exitGood))
	if again.Points[0].Total.IOs != want || len(again.Merge.Members) != 3 {
		t.Errorf("merged once more: %d I/Os of %d members", again.Points[0].Total.IOs, len(again.Merge.Members))
	}
}

// A merge that its disk has no room for leaves nothing behind, and the folder can be used again.
func TestMergeOnAFullDisk(t *testing.T) {
	t.Parallel()
	small := smallFS(t, 32*kib)
	dir := t.TempDir()
	one := filepath.Join(dir, "one")
	blkstorm(t, "run", "--engine", "null", "--size", "8m", "--runtime", "500ms", "--interval", "10ms", "--quiet", "--dir", one).want(t, exitGood)
	all := filepath.Join(small, "all")
	for range 2 {
		out := blkstorm(t, "merge", "--dir", all, one).want(t, exitUsage, "no space left on device", all)
		if strings.Contains(out.stderr, "resume") || out.stdout != "" || used(t, all) != 0 {
			t.Errorf("%d files left, standard output %q, %s", used(t, all), out.stdout, out.stderr)
		}
	}
	// What is there is whole, and nothing advises to go on with it as with a run.
	whole := filepath.Join(dir, "whole")
	blkstorm(t, "merge", "--dir", whole, one).want(t, exitGood)
	if out := blkstorm(t, "merge", "--dir", whole, one).want(t, exitUsage, "holds a result already", "name another folder"); strings.Contains(out.stderr, "resume") {
		t.Error(out.stderr)
	}
	blkstorm(t, "run", "--resume", whole).want(t, exitUsage, "it is a merge: go on with the runs")
	if rows := rowsOfFolder(t, whole); len(rows) < 40 {
		t.Errorf("%d rows of a merge of one", len(rows))
	}
}

// rowsOfFolder reads the rows of a folder, without those of the ramp.
func rowsOfFolder(t *testing.T, dir string) (rows []result.Interval) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "intervals.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		row := result.Interval{}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// What cannot be merged is refused, and what is left out ends with status 3.
func TestMergeStatus(t *testing.T) {
	dir := t.TempDir()
	one, other := filepath.Join(dir, "one"), filepath.Join(dir, "other")
	blkstorm(t, "run", "--engine", "null", "--size", "8m", "--runtime", "200ms", "--interval", "50ms", "--quiet", "--dir", one).want(t, exitGood)
	blkstorm(t, "run", "--engine", "null", "--size", "8m", "--runtime", "300ms", "--interval", "50ms", "--quiet", "--dir", other).want(t, exitGood)
	blkstorm(t, "merge").want(t, exitUsage, "name the results")
	blkstorm(t, "merge", "--format", "xml", one).want(t, exitUsage, `"xml" is none of`)
	blkstorm(t, "merge", dir).want(t, exitUsage, "there is no result.json in the folder")
	blkstorm(t, "merge", one, one).want(t, exitUsage, "is the same run as")
	blkstorm(t, "merge", one, other).want(t, exitUsage, "phases[0].points[0].runtime is", "--allow-different-plans")
	blkstorm(t, "merge", "--allow-different-plans", one, other).want(t, exitGood)
	blkstorm(t, "merge", "--dir", one, other).want(t, exitUsage, "holds a result already")
	out := blkstorm(t, "merge", one, filepath.Join(dir, "gone")).want(t, exitFaults).stdout
	if !strings.Contains(out, "LEFT OUT") || !strings.Contains(out, "no such file") {
		t.Errorf("the text does not name what was left out:\n%s", out)
	}
	if out := blkstorm(t, "merge", "--format", "csv", one).want(t, exitGood).stdout; strings.Count(out, "\n") < 2 {
		t.Errorf("csv: %s", out)
	}
}

// Every option and every warning of merge is in its page, and so are those about fio's output.
func TestMergePageIsComplete(t *testing.T) {
	page := docs(t, "docs/merge.md")
	(&app{}).mergeCommand().Flags().VisitAll(func(f *pflag.Flag) {
		if !strings.Contains(page, "\n| `--"+f.Name) {
			t.Errorf("no row for --%s", f.Name)
		}
	})
	code := regexp.MustCompile(`"((?:merged|member|fio)_[a-z_]+)"`)
	found := 0
	for _, file := range []string{"merge/judge.go", "merge/plans.go", "result/merge.go", "result/fiojson/convert.go"} {
		for _, m := range code.FindAllStringSubmatch(docs(t, file), -1) {
			if found++; !strings.Contains(page, "`"+m[1]+"`") {
				t.Errorf("the page has no %s, which %s can give", m[1], file)
			}
		}
	}
	if found < 18 {
		t.Errorf("only %d warnings found", found)
	}
}
