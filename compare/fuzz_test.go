package compare

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"blkstorm/op"
	"blkstorm/result/load"
	"blkstorm/result/load/loadtest"
)

// Whatever document can be opened is compared or refused, and what comes out are finite numbers.
func FuzzCompare(f *testing.F) {
	run := &loadtest.Run{ID: "a", Host: "vm", Points: []loadtest.Point{{Label: "x", Start: epoch, Rows: loadtest.Steady(20,
		loadtest.Load{Op: op.Read, N: 3, NS: 1e5, Bytes: 4096}, loadtest.Load{Op: op.Write, N: 1, NS: 2e5, Bytes: 4096})}}}
	path := run.File(f)
	text, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"fio version": "fio-3", "jobs": [{"jobname": "x", "read": {"total_ios": 1, "iops": 1e-300, "clat_ns": {"min": 1, "max": 1, "mean": 1, "N": 1}}}]}`))
	f.Add([]byte(`{"schema": "blkstorm.result/1", "points": [{"label": "x", "total": {"ios": 1, "iops": 1e18, "latency_ns": {"count": 1, "percentiles": {"99": 0}}},
 "intervals": [{"length_s": 0}, {"length_s": 1e9, "read": {"ios": 9007199254740992, "mean": -9223372036854775808}}]}]}`))
	base, err := load.Open(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		path := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := load.Open(path)
		if err != nil {
			return
		}
		for _, sides := range [][][]*load.Result{{one(base), one(r)}, {one(r), one(base)}, {one(r), one(r)}, {{r, base}, one(r)}, {{base, base}, {r, r}}} {
			d, err := New(sides, Options{})
			if err != nil {
				continue
			}
			for _, write := range []func(io.Writer, *Doc) error{WriteJSON, WriteText, WriteHTML} {
				if err := write(io.Discard, d); err != nil {
					t.Error(err)
				}
			}
		}
	})
}
