package merge

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/op"
	"blkstorm/result/load/loadtest"
)

// fleet writes n result.json of points points, as of n machines that ran the same, with the latencies of a
// device: some thousand different ones in each histogram. It returns their paths.
func fleet(t testing.TB, n, points int) []string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	run := &loadtest.Run{ID: "00000000", Host: "vm00000000"}
	for i := range points {
		var loads []loadtest.Load
		for range 3000 {
			ns := 80e3 * math.Exp(rng.NormFloat64()*0.35) * (1 + float64(i)/8)
			if rng.IntN(200) == 0 {
				ns *= 10
			}
			loads = append(loads, loadtest.Load{Op: op.Read, N: 1 + uint32(rng.IntN(40)), NS: int64(ns), Bytes: 4096})
		}
		run.Points = append(run.Points, loadtest.Point{Label: fmt.Sprintf("point %d", i), Start: epoch.Add(time.Duration(i) * time.Minute), Rows: [][]loadtest.Load{loads}})
	}
	text, err := os.ReadFile(filepath.Join(run.Folder(t), "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var paths []string
	for i := range n {
		one := bytes.ReplaceAll(text, []byte(`00000000"`), fmt.Appendf(nil, `%08d"`, i))
		path := filepath.Join(dir, fmt.Sprintf("%d.json", i))
		if err := os.WriteFile(path, one, 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// A thousand machines' documents of 60 points each: under 10 s on two CPUs is what is promised.
func BenchmarkThousand(b *testing.B) {
	paths := fleet(b, 1000, 60)
	info, err := os.Stat(paths[0])
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(paths)) * info.Size())
	before := cpuSeconds(b)
	for b.Loop() {
		r, err := Merge(paths, Options{})
		if err != nil || len(r.Doc.Points) != 60 || len(r.Doc.Merge.Members) != 1000 {
			b.Fatalf("%v", err)
		}
	}
	b.ReportMetric((cpuSeconds(b)-before)/float64(b.N), "CPU-s/op")
}

// cpuSeconds is the CPU time of the process so far: what other processes take is not in it.
func cpuSeconds(b *testing.B) float64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
