package load

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// cut takes bytes off the end of a folder's file.
func cut(t *testing.T, dir, name string, n int) {
	t.Helper()
	path := filepath.Join(dir, name)
	info, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, info.Size()-int64(n))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func counted[T any](t *testing.T, seq func(func(T, error) bool)) (n int, last error) {
	t.Helper()
	for _, err := range seq {
		if last = err; err == nil {
			n++
		}
	}
	return n, last
}

// sorted counts what can be read and what cannot.
func sorted[T any](seq func(func(T, error) bool)) (good, bad int, first error) {
	for _, err := range seq {
		switch {
		case err == nil:
			good++
		default:
			if bad++; first == nil {
				first = err
			}
		}
	}
	return good, bad, first
}

// Last lines that were cut short are left out, and marked; damage before the end is an error, after which the lines
// that follow can be had.
func TestTornFolder(t *testing.T) {
	dir := twoPoints().Folder(t)
	cut(t, dir, "intervals.ndjson", 1)
	cut(t, dir, "latency.hlog", 30)
	r := mustOpen(t, dir)
	if !r.Gaps.RowsCut || !r.Gaps.LogCut {
		t.Errorf("gaps %+v", r.Gaps)
	}
	if n, err := counted(t, r.Rows()); n != 4 || err != nil {
		t.Errorf("%d rows, %v", n, err)
	}
	if n, err := counted(t, r.Log()); n != 7 || err != nil {
		t.Errorf("%d lines, %v", n, err)
	}
	for name, read := range map[string]func() (good, bad int, first error){
		"intervals.ndjson": func() (int, int, error) { return sorted(r.Rows()) },
		"latency.hlog":     func() (int, int, error) { return sorted(r.Log()) },
	} {
		before, _, _ := read()
		file, err := os.OpenFile(filepath.Join(dir, name), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteAt([]byte("\nx\n"), 1000); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		good, bad, err := read()
		if err == nil || !strings.Contains(err.Error(), name+": line ") {
			t.Errorf("damage in %s: %v", name, err)
		}
		// The line is in two parts, with one between them; that the first one of a log lacks its end, only Decode tells.
		if good+bad != before+2 || bad < 2 {
			t.Errorf("damage in %s: %d lines, and %d that are none; there were %d", name, good, bad, before)
		}
	}
	for _, name := range []string{"intervals.ndjson", "latency.hlog"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	r = mustOpen(t, dir)
	rows, rowsErr := counted(t, r.Rows())
	lines, linesErr := counted(t, r.Log())
	if want := (Gaps{NoRows: true, NoLog: true}); r.Gaps != want || rows+lines > 0 || rowsErr != nil || linesErr != nil {
		t.Errorf("without the files: gaps %+v, %d rows %v, %d lines %v", r.Gaps, rows, rowsErr, lines, linesErr)
	}
}

// A run that was killed within its second point has rows of it, and no point.
func TestRowsBeyondTheDocument(t *testing.T) {
	run := twoPoints()
	dir := run.Folder(t)
	run.Points = run.Points[:1]
	head, err := os.ReadFile(filepath.Join(run.Folder(t), "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "result.json"), head, 0o600); err != nil {
		t.Fatal(err)
	}
	beyond := 0
	for row, err := range mustOpen(t, dir).Rows() {
		if err != nil {
			t.Fatal(err)
		}
		if row.Point == 1 && row.Label == "reads" {
			beyond++
		}
	}
	if beyond != 2 {
		t.Errorf("%d rows of the point that was cut off, want 2", beyond)
	}
}

// Files that are there and cannot be read are no gap: reading them says why.
func TestUnreadableFiles(t *testing.T) {
	dir := twoPoints().Folder(t)
	for _, name := range []string{"intervals.ndjson", "latency.hlog"} {
		path := filepath.Join(dir, name)
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, path); err != nil { // also for root
			t.Fatal(err)
		}
	}
	r := mustOpen(t, dir)
	_, rowsErr := counted(t, r.Rows())
	_, linesErr := counted(t, r.Log())
	if r.Gaps != (Gaps{}) || !errors.Is(rowsErr, syscall.ELOOP) || !errors.Is(linesErr, syscall.ELOOP) {
		t.Errorf("gaps %+v, rows: %v, log: %v", r.Gaps, rowsErr, linesErr)
	}
}
