package device

import (
	"math"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"blkstorm/lab"
)

// writeAt writes n bytes that are not zero at an offset of a file.
func writeAt(t *testing.T, path string, offset int64, n int) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, n)
	for i := range buf {
		buf[i] = 0xa5
	}
	if _, err := f.WriteAt(buf, offset); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestUnwritten(t *testing.T) {
	const size = 8 << 20
	path := lab.File(t, size)
	writeAt(t, path, 1<<20, 2<<20)
	f := &Facts{Path: path, Kind: KindFile, SizeBytes: size}
	for _, c := range []struct {
		start, length int64
		want          float64
	}{
		{0, size, 0.75}, {0, 1 << 20, 1}, {1 << 20, 2 << 20, 0}, {2 << 20, 2 << 20, 0.5}, {4 << 20, 4 << 20, 1},
	} {
		share, known := System().Unwritten(f, c.start, c.length)
		if !known || math.Abs(share-c.want) > 0.01 {
			t.Errorf("%d+%d: %g of it unwritten, known %v; want %g", c.start, c.length, share, known, c.want)
		}
	}
}

// Preallocated blocks hold nothing either.
func TestUnwrittenPreallocated(t *testing.T) {
	path := lab.File(t, 1<<20)
	fd, err := unix.Open(path, unix.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if err := unix.Fallocate(fd, 0, 0, 1<<20); err != nil {
		lab.Missing(t, "the file system of the temporary folder cannot preallocate: "+err.Error())
	}
	share, known := System().Unwritten(&Facts{Path: path, Kind: KindFile}, 0, 1<<20)
	if !known || share < 0.99 {
		t.Errorf("%g unwritten, known %v", share, known)
	}
}

func TestUnwrittenOnALoop(t *testing.T) {
	path := lab.File(t, 8<<20)
	writeAt(t, path, 4<<20, 4<<20)
	dev := lab.LoopOn(t, path, lab.LoopOptions{})
	f, err := System().Inspect(dev)
	if err != nil {
		t.Fatal(err)
	}
	if share, known := System().Unwritten(f, 0, 8<<20); !known || math.Abs(share-0.5) > 0.01 {
		t.Errorf("%g unwritten, known %v; half is", share, known)
	}
	f.Kind, f.BackingFile = "disk", ""
	if _, known := System().Unwritten(f, 0, 8<<20); known {
		t.Error("a plain disk cannot tell, but it did")
	}
}
