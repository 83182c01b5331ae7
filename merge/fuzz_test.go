package merge

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"blkstorm/result"
)

// Whatever documents say, and logs hold, merging them ends in a document that can be written, or an error.
func FuzzMerge(f *testing.F) {
	one := vm("one", epoch, 3, eachRead)
	other := vm("other", epoch.Add(time.Second/2), 3, eachRead)
	both, err := Merge([]string{one.File(f), other.File(f)}, Options{})
	if err != nil {
		f.Fatal(err)
	}
	var merged bytes.Buffer
	if err := result.WriteJSON(&merged, both.Doc); err != nil {
		f.Fatal(err)
	}
	dir := other.Folder(f)
	var seeds [3][]byte
	for i, path := range []string{filepath.Join(one.Folder(f), "result.json"), filepath.Join(dir, "intervals.ndjson"), filepath.Join(dir, "latency.hlog")} {
		if seeds[i], err = os.ReadFile(path); err != nil {
			f.Fatal(err)
		}
	}
	good := vm("good", epoch.Add(time.Second/4), 4, eachRead).Folder(f)
	f.Add(seeds[0], seeds[1], seeds[2])
	f.Add(merged.Bytes(), seeds[1], seeds[2])
	fuzzed := filepath.Join(f.TempDir(), "fuzzed.json")
	f.Fuzz(func(t *testing.T, document, rows, log []byte) {
		for path, text := range map[string][]byte{fuzzed: document, filepath.Join(dir, "intervals.ndjson"): rows, filepath.Join(dir, "latency.hlog"): log} {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Merge([]string{good, dir, fuzzed}, Options{AllowDifferentPlans: true})
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := result.WriteJSON(&out, r.Doc); err != nil {
			t.Fatal(err)
		}
		if err := result.WriteText(&out, r.Doc); err != nil {
			t.Fatal(err)
		}
		if err := result.WriteCSV(&out, r.Doc); err != nil {
			t.Fatal(err)
		}
	})
}
