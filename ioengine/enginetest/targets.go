package enginetest

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"blkstorm/lab"
)

// size of every target.
const size = 8 << 20

// target is a device or file to work on.
type target struct {
	path    string
	backing string // the file in which its data lies; empty for a RAM disk
	disk    string // the block device that flushes reach; empty where there are none
	content []byte // what was written to it at first, and what the test expects
}

// newTargets are the kinds of target that an engine must serve.
var newTargets = []struct {
	name string
	make func(testing.TB) *target
}{
	{"loop", newLoop},
	{"file", newFile},
	{"zram", newZram},
}

// onEach runs a test on each kind of target, filled with random data.
func onEach(t *testing.T, test func(*testing.T, *target)) {
	for _, n := range newTargets {
		t.Run(n.name, func(t *testing.T) { test(t, n.make(t)) })
	}
}

// fileSystem mounts a new ext4, in memory if it can be, and returns its folder and its device.
func fileSystem(t testing.TB) (dir, dev string) {
	t.Helper()
	lab.Root(t)
	o := lab.LoopOptions{}
	if memory, err := os.MkdirTemp("/dev/shm", "blkstorm-enginetest-"); err == nil {
		t.Cleanup(func() { os.RemoveAll(memory) })
		o.Dir = memory
	}
	dev = lab.Loop(t, size+32<<20, o)
	lab.Run(t, "mkfs.ext4", "-q", "-F", "-b", "4096", "-E", "lazy_itable_init=0,lazy_journal_init=0", dev)
	dir = t.TempDir()
	lab.Run(t, "mount", dev, dir)
	t.Cleanup(func() { lab.Unmount(t, dir) })
	return dir, dev
}

func newFile(t testing.TB) *target {
	t.Helper()
	dir, dev := fileSystem(t)
	path := filepath.Join(dir, "disk.img")
	return fill(t, &target{path: path, backing: path, disk: dev})
}

func newLoop(t testing.TB) *target {
	t.Helper()
	file := newFile(t)
	dev := lab.LoopOn(t, file.path, lab.LoopOptions{})
	return &target{path: dev, backing: file.path, disk: dev, content: file.content}
}

func newZram(t testing.TB) *target {
	t.Helper()
	return fill(t, &target{path: lab.Zram(t, size)})
}

func fill(t testing.TB, g *target) *target {
	t.Helper()
	g.content = make([]byte, size)
	scramble(rand.New(rand.NewPCG(1, 2)), g.content)
	f, err := os.OpenFile(g.path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(g.content); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	return g
}

// scramble fills with random bytes, of which none is zero: a zero is then never by chance.
func scramble(rng *rand.Rand, b []byte) {
	for i := range b {
		b[i] = byte(1 + rng.IntN(255))
	}
}

// check compares what the target holds, read by other means, with what it should.
func (g *target) check(t testing.TB) {
	t.Helper()
	for _, path := range []string{g.path, g.backing} {
		if path == "" {
			continue
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(got, g.content) {
			continue
		}
		for at := 0; at < len(g.content); at += BlockSize {
			if want := g.content[at : at+BlockSize]; !bytes.Equal(got[at:at+BlockSize], want) {
				t.Errorf("%s: the block at %d begins with %x, want %x", filepath.Base(path), at, got[at:at+16], want[:16])
				return
			}
		}
		t.Errorf("%s: %d bytes, want %d", filepath.Base(path), len(got), len(g.content))
	}
}

// allocated is how many bytes the file system keeps for the data.
func (g *target) allocated(t testing.TB) int64 {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Stat(g.backing, &st); err != nil {
		t.Fatal(err)
	}
	return st.Blocks * 512
}

// flushes is how many flushes the block layer has finished on the disk: field 16 of its stat
// (Documentation/ABI/stable/sysfs-block).
func (g *target) flushes(t testing.TB) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/sys/block", filepath.Base(g.disk), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	f := strings.Fields(string(text))
	if len(f) < 16 {
		lab.Missing(t, "this kernel does not count flushes (before 5.5)")
	}
	n, err := strconv.Atoi(f[15])
	if err != nil {
		t.Fatal(err)
	}
	return n
}
