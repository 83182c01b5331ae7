package load

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"blkstorm/result"
)

// What is read with the histograms taken out is what the JSON says.
func sameAsJSON(t *testing.T, text []byte) {
	t.Helper()
	var want, got result.Doc
	wantErr := json.Unmarshal(text, &want)
	e := &elider{}
	gotErr := json.Unmarshal(e.take(text), &got)
	if (wantErr == nil) != (gotErr == nil) {
		t.Fatalf("error %v, want %v", gotErr, wantErr)
	}
	if wantErr != nil {
		return
	}
	e.putBack(&got)
	if d := cmp.Diff(&want, &got, cmpopts.IgnoreUnexported(result.Doc{}), cmpopts.EquateEmpty()); d != "" {
		t.Fatal(d)
	}
}

func TestElide(t *testing.T) {
	file, err := os.ReadFile(twoPoints().File(t))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"document":    file,
		"compact":     edited(t, func(map[string]any) {}),
		"reference":   edited(t, set("#1", "points", 0, "read", "latency_ns", "hdr")),
		"escaped":     bytes.Replace(file, []byte(`"hdr": "H`), []byte(`"hdr": "\u0048`), 1),
		"hidden":      edited(t, set(`x","hdr":"#0`, "points", 0, "label")),
		"odd key":     edited(t, set("#0", "points", 0, `"hdr`)),
		"no string":   bytes.Replace(file, []byte(`"hdr": "H`), []byte(`"hdr": 5, "x": "`), 1),
		"cut":         file[:bytes.LastIndex(file, []byte(`"hdr"`))+20],
		"line break":  bytes.Replace(file, []byte(`"hdr": "H`), []byte("\"hdr\": \"\n"), 1),
		"blank":       bytes.ReplaceAll(file, []byte(`"hdr": `), []byte("\"hdr\" :  ")),
		"key at last": []byte(`{"hdr":`),
	} {
		t.Run(name, func(t *testing.T) { sameAsJSON(t, text) })
	}
	e := &elider{}
	if n := len(e.take(file)); len(e.table) != 4 || n >= len(file) {
		t.Errorf("%d histograms, %d of %d bytes left", len(e.table), n, len(file))
	}
}

func FuzzElide(f *testing.F) {
	f.Add([]byte(`{"points":[{"total":{"latency_ns":{"hdr":"abc"}},"read":{"latency_ns":{"hdr": "#0"},"response_ns":{"hdr":"abc"}}}]}`))
	f.Fuzz(sameAsJSON)
}
