package spelling

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"iodepth", "runtime", "rw", "threads", "iodepths"}
	for word, want := range map[string]string{
		"iodepth": "iodepth", "iodpeth": "iodepth", "treads": "threads", "runtme": "runtime", "r": "", "rx": "", "": "",
		"size": "", strings.Repeat("iodepth", 6): "", "iodepthx": "iodepth",
	} {
		if got := Nearest(word, known); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}
