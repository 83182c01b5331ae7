package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"blkstorm/device"
	"blkstorm/lab"
)

// written makes a file of size bytes and overwrites all of it with blkstorm.
func written(t *testing.T, size int64, args ...string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "disk")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
	p := blkstorm(t, append(args, "--runtime", "3s", "--iodepth", "4", "--destroy", "--quiet", "--format", "json", path)...).want(t, exitGood).point(t)
	if p.Write.Bytes < uint64(size) {
		t.Fatalf("%d of %d bytes were written in the time", p.Write.Bytes, size)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// uniquePct is the share of different blocks, by their hashes.
func uniquePct(content []byte, unit int) float64 {
	seen := map[[32]byte]bool{}
	for at := 0; at < len(content); at += unit {
		seen[sha256.Sum256(content[at:at+unit])] = true
	}
	return 100 * float64(len(seen)*unit) / float64(len(content))
}

// packedPct is how long the output of a compressor is.
func packedPct(t *testing.T, content []byte, name string, args ...string) float64 {
	t.Helper()
	cmd := exec.Command(lab.Tool(t, name), args...)
	cmd.Stdin = bytes.NewReader(content)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return 100 * float64(len(out)) / float64(len(content))
}

// What outside programs measure on the file that a run has written is what was asked for, within 5
// points: as a whole with gzip, whose window of 32 KiB finds hardly a duplicate, and block by block.
func TestDataMeasuredFromOutside(t *testing.T) {
	for _, c := range []struct{ compress, dedupe, threads int }{{50, 40, 1}, {0, 40, 4}, {80, 0, 2}, {20, 80, 1}} {
		t.Run(fmt.Sprintf("%d %d", c.compress, c.dedupe), func(t *testing.T) {
			content := written(t, 64*mib, "run", "--rw", "write", "--bs", "64k", "--threads", fmt.Sprint(c.threads),
				"--compress-pct", fmt.Sprint(c.compress), "--dedupe-pct", fmt.Sprint(c.dedupe))
			if got, want := uniquePct(content, 4096), 100-float64(c.dedupe); math.Abs(got-want) > 5 {
				t.Errorf("%.1f %% of the blocks are unique, want %.0f", got, want)
			}
			if c.dedupe < 50 { // with more, even a window of 32 KiB holds many duplicates
				if got, want := packedPct(t, content, "gzip", "-c"), 100-float64(c.compress); math.Abs(got-want) > 5 {
					t.Errorf("gzip leaves %.1f %%, want %.0f", got, want)
				}
			}
			for at := 20 * mib; at < 21*mib; at += 256 * kib {
				block := content[at : at+4096]
				for _, tool := range []string{"lz4", "zstd"} {
					if got, want := packedPct(t, block, tool, "-c"), 100-float64(c.compress); math.Abs(got-want) > 5 {
						t.Errorf("%s leaves %.1f %% of the block at %d, want %.0f", tool, got, at, want)
					}
				}
			}
			zeros := make([]byte, 4096)
			for at := 0; at < len(content); at += 4096 {
				if bytes.Equal(content[at:at+4096], zeros) {
					t.Fatalf("the block at %d is all zeros", at)
				}
			}
		})
	}
}

// A file that begins with the headers of a partitioned disk with ext4 leaves none of them behind.
func TestEvilImageLeavesNoSignature(t *testing.T) {
	evil := filepath.Join(t.TempDir(), "evil.img")
	image := make([]byte, 8191) // under two blocks of 4 KiB, so that the first write begins at its start
	for at, text := range map[int]string{
		446: "\x00\x00\x02\x00\x83\xff\xff\xff\x00\x08\x00\x00\x00\x00\x10\x00", 510: "\x55\xaa", 512: "EFI PART",
		1024 + 56: "\x53\xef", 4096 - 10: "SWAPSPACE2",
	} {
		copy(image[at:], text)
	}
	if err := os.WriteFile(evil, image, 0o600); err != nil {
		t.Fatal(err)
	}
	if found, err := device.ProbeSignatures(bytes.NewReader(image), int64(len(image))); err != nil || len(found) < 3 {
		t.Fatalf("the image itself: %v, %v", found, err)
	}
	pattern := fmt.Sprintf("pattern:0x%x", image)
	for _, data := range []string{"file:" + evil, pattern} {
		content := written(t, 16*mib, "run", "--rw", "write", "--bs", "64k", "--data", data)
		if found, err := device.ProbeSignatures(bytes.NewReader(content), int64(len(content))); err != nil || len(found) > 0 {
			t.Errorf("%.20s: %v, %v", data, found, err)
		}
		if !strings.Contains(string(content), "EFI PART") {
			t.Errorf("%.20s: what was given is nowhere on the target", data)
		}
	}
}
