package main

import (
	"os"
	"testing"

	"blkstorm/lab"
)

// The binary that goes into every guest stays under 16 MB.
func TestBinaryIsSmall(t *testing.T) {
	const most = 16_000_000
	info, err := os.Stat("../../bin/blkstorm")
	if err != nil {
		lab.Missing(t, "the binary that make builds: "+err.Error())
	}
	if info.Size() > most {
		t.Errorf("%d bytes, at most %d: what a new package brings along must be worth it", info.Size(), most)
	}
}
