package result

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The compressed bytes may differ between Go releases; their content is tested elsewhere.
var hdrBlob = regexp.MustCompile(`"hdr": ?"[^"]+"`)

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	got = hdrBlob.ReplaceAll(got, []byte(`"hdr": "..."`))
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (go test ./result -update rewrites it):\n%s", path, diff)
	}
}

var documents = map[string]func(testing.TB) *Doc{
	"single": singleDoc, "mixed": mixedDoc, "broken": brokenDoc, "many": manyDoc, "empty": emptyDoc, "sweep": sweepDoc,
	"trims": trimsDoc, "rounds": roundsDoc,
}

func TestGolden(t *testing.T) {
	for name, make := range documents {
		t.Run(name, func(t *testing.T) {
			d := make(t)
			var text, doc, csv, lines bytes.Buffer
			for _, err := range []error{
				WriteText(&text, d), WriteJSON(&doc, d), WriteCSV(&csv, d), writeStream(&lines, d),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			golden(t, name+".txt", text.Bytes())
			golden(t, name+".csv", csv.Bytes())
			if name != "sweep" && name != "rounds" { // they have nothing in these that the others lack
				golden(t, name+".json", doc.Bytes())
				golden(t, name+".ndjson", lines.Bytes())
			}
		})
	}
}

// writeStream writes what --format ndjson would have written.
func writeStream(w *bytes.Buffer, d *Doc) error {
	if err := WriteNDJSONRun(w, d); err != nil {
		return err
	}
	for i, p := range d.Points {
		for _, in := range append(p.RampIntervals, p.Intervals...) {
			if err := WriteNDJSON(w, in); err != nil {
				return err
			}
		}
		if err := WriteNDJSONPoint(w, i, p); err != nil {
			return err
		}
	}
	return WriteNDJSONEnd(w, d)
}

func TestTextColumns(t *testing.T) {
	d := singleDoc(t)
	p := d.Points[0]
	p.Total.Latency.Percentiles = map[string]int64{"99.9": 5000, "75": 1000}
	p.Read.Latency.Percentiles = p.Total.Latency.Percentiles
	var text bytes.Buffer
	if err := WriteText(&text, d); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`stdev +p75 +p99\.9 +max\n`).Match(text.Bytes()) {
		t.Errorf("percentiles that were asked for are not the table's:\n%s", &text)
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		v        float64
		decimals int
		want     string
	}{
		{0, 0, "0"}, {999.5, 0, "1,000"}, {1234567.891, 2, "1,234,567.89"}, {0.9996, 3, "1.000"}, {99.96, 1, "100.0"},
		{1e19, 0, "10000000000000000000"},
	} {
		if got := number(c.v, c.decimals); got != c.want {
			t.Errorf("number(%v, %d) = %q, want %q", c.v, c.decimals, got, c.want)
		}
	}
	for v, want := range map[float64]string{300: "300", 0: "0", 1.5: "1.5", 0.0004: "0", 12345.678: "12,345.678", 100: "100"} {
		if got := trimmed(v); got != want {
			t.Errorf("trimmed(%v) = %q, want %q", v, got, want)
		}
	}
}
