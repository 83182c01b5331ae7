package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// LoopOptions shape a loop device; the zero value is 512-byte blocks, writable, page cache
// bypassed where the file system allows it.
type LoopOptions struct {
	SectorSize int    // 512 or 4096; 0 is 512
	ReadOnly   bool   // attach read-only
	Partscan   bool   // make nodes for the partitions found
	Buffered   bool   // leave the backing file in the page cache
	Dir        string // where a backing file is made; empty is the test's own folder
}

// File makes a file of size bytes, all hole, in the test's own folder.
func File(t testing.TB, size int64) string {
	t.Helper()
	return fileIn(t, t.TempDir(), size)
}

func fileIn(t testing.TB, dir string, size int64) string {
	t.Helper()
	path := filepath.Join(dir, "disk.img")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_EXCL, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Truncate(size); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// Loop makes a backing file of size bytes and a loop device on it, and returns the device.
func Loop(t testing.TB, size int64, o LoopOptions) string {
	t.Helper()
	Root(t)
	dir := o.Dir
	if dir == "" {
		dir = t.TempDir()
	}
	return LoopOn(t, fileIn(t, dir, size), o)
}

// LoopOn attaches a loop device to an existing file (or device) that the test made.
func LoopOn(t testing.TB, backing string, o LoopOptions) string {
	t.Helper()
	Root(t)
	args := []string{"-f", "--show"}
	if o.SectorSize != 0 {
		args = append(args, "--sector-size", strconv.Itoa(o.SectorSize))
	}
	if o.ReadOnly {
		args = append(args, "-r")
	}
	if o.Partscan {
		args = append(args, "-P")
	}
	if !o.Buffered {
		args = append(args, "--direct-io=on")
	}
	args = append(args, backing)
	losetup := Tool(t, "losetup")
	for range maxCrippled {
		out, err := exec.Command(losetup, args...).CombinedOutput()
		if err != nil {
			Missing(t, "no loop device to be had: losetup: "+strings.TrimSpace(string(out)))
		}
		dev := strings.TrimSpace(string(out))
		t.Cleanup(func() {
			if out, err := exec.Command(losetup, "-d", dev).CombinedOutput(); err != nil {
				t.Errorf("losetup -d %s: %v: %s", dev, err, out)
			}
		})
		if !crippled(dev) {
			return dev
		}
	}
	Missing(t, fmt.Sprintf("loop devices with their discards: %d have them switched off", maxCrippled))
	return ""
}

// maxCrippled is how many loop devices may be of no use.
const maxCrippled = 16

// crippled says whether somebody has switched the device's discards off (queue/discard_max_bytes), which
// outlives what it was attached to: the kernel then has forgotten their granularity, and takes no other size.
// It stays attached until the test ends, so that the next one is another.
func crippled(dev string) bool {
	read := func(name string) string {
		b, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(dev), "queue", name))
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(b))
	}
	return read("discard_max_bytes") == "0" && read("discard_max_hw_bytes") != "0"
}

// Unmount unmounts dir. The kernel takes an ended process's io_uring apart, and a loop off its file, a
// moment after the process is gone; so this tries for some seconds.
func Unmount(t testing.TB, dir string) {
	t.Helper()
	var out []byte
	var err error
	for range 200 {
		if out, err = exec.Command(Tool(t, "umount"), dir).CombinedOutput(); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("umount %s: %v: %s", dir, err, out)
}
