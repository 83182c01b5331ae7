package fioout

import (
	"os"
	"strconv"
	"strings"
	"testing"
)

// testdata/numbers.tsv was printed by fio's own formatter.
func TestNumbers(t *testing.T) {
	text, err := os.ReadFile("testdata/numbers.tsv")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		v, err := strconv.ParseUint(fields[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		n++
		for i, format := range []func(float64) string{count, binary, metric, long} {
			if got := format(float64(v)); got != fields[i+1] {
				t.Errorf("%d in form %d: %s, want %s", v, i, got, fields[i+1])
			}
		}
	}
	if n < 60 {
		t.Errorf("%d numbers", n)
	}
}
