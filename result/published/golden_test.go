package published

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"blkstorm/result"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var documents = map[string]func() *result.Doc{
	"storagereview": storageReviewDoc, "hcibench": hcibenchDoc, "cache-matrix": cacheMatrixDoc, "drive-spec": driveSpecDoc,
	"thread-ramp": threadRampDoc, "streams": streamsDoc, "corners": cornersDoc,
	"snia-iops": sniaIOPSDoc, "snia-throughput": sniaThroughputDoc, "snia-latency": sniaLatencyDoc, "snia-wsat": sniaSaturationDoc,
}

func TestGolden(t *testing.T) {
	for name, make := range documents {
		t.Run(name, func(t *testing.T) {
			var got bytes.Buffer
			if err := WriteText(&got, make()); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".golden")
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got.String()); diff != "" {
				t.Errorf("%s differs (go test ./result/published -update rewrites it):\n%s", path, diff)
			}
		})
	}
}
