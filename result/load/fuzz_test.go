package load

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"blkstorm/histogram"
	"blkstorm/result"
)

// use reads all that a result has, as its readers do.
func use(r *Result) {
	for _, p := range r.Doc.Points {
		for _, s := range []*result.Stat{p.Total, p.Read, p.Write, p.Trim, p.Sync} {
			_, _ = Histogram(s.Latency) // it only must not panic
		}
	}
	for row := range r.Rows() {
		_ = row
	}
	h := histogram.New()
	for line, err := range r.Log() {
		if err == nil {
			_ = line.Decode(h) // as above
		}
	}
	_ = result.WriteText(&bytes.Buffer{}, r.Doc) // as above
}

// Whatever a document says, what is made of it can be used.
func FuzzOpen(f *testing.F) {
	var text bytes.Buffer
	run := twoPoints()
	run.Points = run.Points[1:]
	if err := result.WriteJSON(&text, run.Document(f)); err != nil {
		f.Fatal(err)
	}
	f.Add(text.Bytes())
	f.Add([]byte(`{"schema":"blkstorm.result/1","points":[{"total":{"latency_ns":{}}}]}`))
	f.Fuzz(func(_ *testing.T, text []byte) {
		if r, err := open(Standard, bytes.NewReader(text)); err == nil {
			use(r)
		}
	})
}

func FuzzFolder(f *testing.F) {
	run := twoPoints()
	dir := run.Folder(f)
	var files [2][]byte
	for i, name := range []string{intervalsFile, latencyFile} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			f.Fatal(err)
		}
		files[i] = text[:min(len(text), 3000)]
	}
	f.Add(files[0], files[1])
	f.Fuzz(func(t *testing.T, rows, log []byte) {
		for name, text := range map[string][]byte{intervalsFile: rows, latencyFile: log} {
			if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		use(r)
	})
}
