package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What a folder keeps is what was there, byte for byte, also keys that this version does not know;
// rows come back to the points they belong to.
func TestOpenFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	made := fillFolder(t, dir)
	text := read(t, dir, "result.json")
	text = bytes.Replace(text, []byte(`"phase": "measure"`), []byte(`"later": 1.50,`+"\n      "+`"odd": "<&\u003c>",`+"\n      "+`"phase": "measure"`), 1)
	if err := os.WriteFile(filepath.Join(dir, "result.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	before := rawPoints(t, dir)

	f, doc, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Rows(doc); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(asJSON(t, made), asJSON(t, doc)); diff != "" {
		t.Errorf("the document is another one: %s", diff)
	}
	rows, log := read(t, dir, "intervals.ndjson"), read(t, dir, "latency.hlog")
	if err := errors.Join(f.Keep(1), f.Result(doc), f.Close()); err != nil {
		t.Fatal(err)
	}
	if after := rawPoints(t, dir); !bytes.Equal(before[0], after[0]) || !bytes.Contains(after[0], []byte("1.50")) {
		t.Errorf("the point is\n%s", after[0])
	}
	if !bytes.Equal(rows, read(t, dir, "intervals.ndjson")) || !bytes.Equal(log, read(t, dir, "latency.hlog")) {
		t.Error("rows of a finished point are gone")
	}

	if f, _, err = OpenFolder(dir); err != nil {
		t.Fatal(err)
	}
	doc.Points = nil
	if err := errors.Join(f.Keep(0), f.Result(doc), f.Close()); err != nil {
		t.Fatal(err)
	}
	if n := len(rawPoints(t, dir)) + len(read(t, dir, "intervals.ndjson")) + len(read(t, dir, "latency.hlog")); n != 0 {
		t.Errorf("%d points and bytes are left", n)
	}
}

func rawPoints(t *testing.T, dir string) []json.RawMessage {
	t.Helper()
	var doc struct {
		Points []json.RawMessage `json:"points"`
	}
	if err := json.Unmarshal(read(t, dir, "result.json"), &doc); err != nil {
		t.Fatal(err)
	}
	return doc.Points
}

// Where the lines of the finished points end.
func TestWholeUntil(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rows")
	row := func(n string) string { return `{"point":` + n + "}\n" }
	for name, c := range map[string]struct {
		text string
		n    int
		want int64
		err  string
	}{
		"empty":             {"", 1, 0, ""},
		"all":               {row("0") + row("1"), 2, 24, ""},
		"one":               {row("0") + row("1"), 1, 12, ""},
		"none":              {row("0"), 0, 0, ""},
		"torn":              {row("0") + `{"poi`, 1, 12, ""},
		"torn, looks whole": {row("0") + `{"point":0}`, 1, 12, ""},
		"garbage after":     {row("0") + "x\n", 1, 12, ""},
		"garbage between":   {row("0") + "x\n" + row("0"), 1, 0, "the line that ends at byte 14: is no row"},
		"no point":          {"{}\n" + row("0"), 1, 0, "ends at byte 3"},
	} {
		if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := wholeUntil(path, c.n, intervalPoint)
		if c.err == "" && (err != nil || got != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s: %d, %v", name, got, err)
		}
	}
	if got, err := wholeUntil(path+"-not", 1, intervalPoint); got != 0 || err != nil {
		t.Errorf("no file: %d, %v", got, err)
	}
}

// Whatever is in a folder, it is opened or refused; and a cut keeps its rows whole.
func FuzzOpenFolder(f *testing.F) {
	row := `{"type":"interval","point":0,"ramp":true,"t_s":-1}` + "\n"
	f.Add(`{"schema":"blkstorm.result/1","points":[]}`, row, "#x\n\"y\"\nTag=0/a/b/read,1,2,3,x\n")
	f.Add(`{"schema":"blkstorm.result/1","points":[{"total":{"latency_ns":{}}}]}`, row+row[:9], "Tag=1/%zz,")
	f.Add(`{"schema":"blkstorm.result/1","points":[null]}`, "\n", "Tag=,\n")
	f.Fuzz(func(t *testing.T, doc, rows, log string) {
		dir := t.TempDir()
		for name, text := range map[string]string{resultFile: doc, intervalsFile: rows, latencyFile: log} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		folder, d, err := OpenFolder(dir)
		if err != nil {
			return
		}
		defer folder.Close()
		if err := folder.Rows(d); err != nil {
			t.Fatal(err)
		}
		if err := folder.Keep(len(d.Points)); err != nil {
			if string(read(t, dir, intervalsFile)) != rows || string(read(t, dir, latencyFile)) != log {
				t.Error("a refused cut has cut")
			}
			return
		}
		if left := read(t, dir, intervalsFile); len(left) > 0 && left[len(left)-1] != '\n' || !strings.HasPrefix(rows, string(left)) {
			t.Errorf("left: %q", left)
		}
	})
}
