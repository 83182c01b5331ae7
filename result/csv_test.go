package result

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"blkstorm/host"
)

func TestCSVText(t *testing.T) {
	for in, want := range map[string]string{
		"/dev/sdb": "/dev/sdb", "": "", "a,b;\"c\"": "a,b;\"c\"", "Größe 盘": "Größe 盘", "4k -1": "4k -1",
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "  =1": "'  =1", "＝1": "'＝1", "'=1": "'=1",
		"\t=1": `\t=1`, "\r=1": `\r=1`, "a\nb": `a\nb`, "\x1b[2J": `\x1b[2J`, "\x00": `\x00`, "\xff": `\xff`, "\u202e": `\u202e`,
	} {
		if got := csvText(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

// Whatever a name is, a row is one line, a reader gets the cell back, and no spreadsheet carries it out.
func FuzzCSVText(f *testing.F) {
	for _, s := range []string{"=cmd|' /C calc'!A0", "\"", ",", "\n", "\r\n", "\\.", " ", "'", "\xff=", "\u2028=1", "\ufeff=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		cell := csvText(s)
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		if err := w.WriteAll([][]string{{cell, "next"}}); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(b.String(), "\n"); n != 1 || strings.ContainsFunc(strings.TrimSuffix(b.String(), "\n"), func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q gives %q", s, b.String())
		}
		row, err := csv.NewReader(&b).Read()
		if err != nil || len(row) != 2 || row[0] != cell {
			t.Errorf("%q is read as %q, %v", cell, row, err)
		}
		if first := strings.TrimSpace(cell); first != "" && strings.ContainsRune(formula, []rune(first)[0]) {
			t.Errorf("%q gives %q", s, cell)
		}
	})
}

// hostileName is a path, and all other text, that nobody should have.
const hostileName = "=cmd|' /C calc'!A0,\"\n\x1b]0;\xff"

// Every CSV keeps its form whatever names are in a document; numbers stay numbers.
func TestCSVOfHostileNames(t *testing.T) {
	d := manyDoc(t)
	d.ID = hostileName
	for i := range d.Targets {
		d.Targets[i].Path = hostileName
	}
	p := d.Points[0]
	p.Label, p.Phase, p.EngineName, p.Skipped = hostileName, hostileName, hostileName, hostileName
	p.Total.Latency.Percentiles["\n=1"] = 1
	for _, in := range p.Intervals {
		in.Label, in.TS = hostileName, -1.5
	}
	var points bytes.Buffer
	if err := WriteCSV(&points, d); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"points": points.String(), "intervals": intervalCSV(t, d)} {
		rows := readCSV(t, text)
		if len(rows) != strings.Count(text, "\n") || len(rows) < 3 {
			t.Errorf("%s: %d rows in %d lines", name, len(rows), strings.Count(text, "\n"))
		}
		texts := 0
		for _, row := range rows[1:] {
			for _, cell := range row {
				if strings.Contains(cell, "calc") {
					texts++
					if !strings.HasPrefix(cell, "'=cmd") {
						t.Errorf("%s: a cell is %q", name, cell)
					}
				} else if strings.HasPrefix(cell, "'") {
					t.Errorf("%s: a number is %q", name, cell)
				}
			}
		}
		if texts < 3*len(rows[1:]) {
			t.Errorf("%s: only %d cells with the name", name, texts)
		}
		if strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), unicode.IsControl) {
			t.Errorf("%s: control characters in\n%q", name, text)
		}
	}
	if column := readCSV(t, intervalCSV(t, d))[1]; column[9] != "-1.5" {
		t.Errorf("t_s is %q", column[9])
	}
}

func intervalCSV(t testing.TB, d *Doc) string {
	t.Helper()
	var b bytes.Buffer
	w := NewIntervalCSV(&b, d)
	for _, p := range d.Points {
		for _, in := range append(slices.Clone(p.RampIntervals), p.Intervals...) {
			if err := w.Row(in); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// readCSV reads rows of equal length.
func readCSV(t testing.TB, text string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Rows of all add up to the totals, and so do those of the targets.
func TestIntervalCSVAddsUp(t *testing.T) {
	for name, make := range documents {
		d := make(t)
		text := intervalCSV(t, d)
		if len(d.Points[0].Intervals) == 0 {
			continue
		}
		rows := readCSV(t, text)
		at := func(row []string, column string) string {
			i := slices.Index(rows[0], column)
			if i < 0 {
				t.Fatalf("no column %s", column)
			}
			return row[i]
		}
		for _, dir := range []string{"total", "read", "write", "trim"} {
			p := d.Points[0]
			want := map[string]*Stat{"total": p.Total, "read": p.Read, "write": p.Write, "trim": p.Trim}[dir].IOs
			sums, targets := map[string]uint64{}, 0
			for _, row := range rows[1:] {
				if at(row, "point") != "0" {
					continue
				}
				n, err := strconv.ParseUint(at(row, dir+"_ios"), 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				if at(row, "ramp") == "false" {
					sums[at(row, "scope")] += n
				}
				if at(row, "scope") == "target" {
					targets++
				}
			}
			if sums["all"] != want || targets > 0 && sums["target"] != want {
				t.Errorf("%s %s: rows add up to %v, the point has %d", name, dir, sums, want)
			}
			if several := len(d.targetsOf(p)) > 1; several != (targets > 0) {
				t.Errorf("%s: %d rows of targets", name, targets)
			}
		}
		if name == "many" {
			golden(t, name+".intervals.csv", []byte(text))
		}
	}
}

// A row of a point that the document lacks, as a run leaves it that was killed, has all targets.
func TestIntervalCSVBeyondTheDocument(t *testing.T) {
	d := manyDoc(t)
	in := *d.Points[0].Intervals[0]
	in.Point = 7
	d.Points[0].Intervals = []*Interval{&in}
	rows := readCSV(t, intervalCSV(t, d))
	if len(rows) != 4 || rows[1][1] != "7" || rows[1][3] != "" || rows[3][5] != "target" {
		t.Errorf("%q", rows)
	}
}

// The columns of a disk are the keys of diskstats.
func TestDiskColumns(t *testing.T) {
	kind := reflect.TypeFor[host.DiskStats]()
	var keys []string
	for i := range kind.NumField() {
		keys = append(keys, kind.Field(i).Tag.Get("json"))
	}
	if !slices.Equal(keys, diskColumns) {
		t.Errorf("columns %v, keys %v", diskColumns, keys)
	}
	d := &host.DiskStats{ReadIOs: 1, InFlight: 12, TimeInQueueMS: 14}
	heat := 40.25
	in := &Interval{DiskStats: []*host.DiskStats{nil, d}, TemperatureC: []*float64{nil, &heat}}
	if got := strings.Join(drive(in, 1), ","); got != "40.25,1,0,0,0,0,0,0,0,0,0,0,12,0,14" {
		t.Error(got)
	}
	for _, none := range []int{-1, 0, 2} {
		if got := strings.Join(drive(in, none), ""); got != "" {
			t.Errorf("target %d: %q", none, got)
		}
	}
}

type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestIntervalCSVReportsWriteErrors(t *testing.T) {
	d := singleDoc(t)
	w := NewIntervalCSV(fullWriter{}, d)
	if err := errors.Join(w.Row(d.Points[0].Intervals[0]), w.Close()); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
}
