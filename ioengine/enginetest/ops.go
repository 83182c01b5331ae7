package enginetest

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"blkstorm/ioengine"
	"blkstorm/lab"
	"blkstorm/op"
)

// ranges to trim, apart from each other: single blocks and long ones, as offset and length.
var ranges = [][2]int64{
	{0, 4096}, {8192, 4096}, {1 << 20, 64 << 10}, {2 << 20, 1 << 20}, {4 << 20, 12288}, {5 << 20, 4096},
	{5<<20 + 8192, 8192}, {6 << 20, 512 << 10}, {size - 4096, 4096},
}

// Trims checks that trims of both kinds do to the data what they say, and leave the neighbours alone.
func Trims(t *testing.T, d ioengine.Driver) {
	for name, flags := range map[string]ioengine.Flags{"discard": 0, "zeroes": ioengine.Zeroes} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, g *target) {
				var before int64
				if g.backing != "" {
					before = g.allocated(t)
				}
				b := Open(t, d, g.path, 4)
				var ios []ioengine.IO
				var sum int64
				for _, r := range ranges {
					ios = append(ios, ioengine.IO{Op: op.Trim, Flags: flags, Offset: r[0], Length: r[1]})
					clear(g.content[r[0] : r[0]+r[1]])
					sum += r[1]
				}
				b.Each(t, ios)
				g.check(t)
				if flags == 0 && g.backing != "" {
					// Holes make a list of extents longer, which takes a block or two of its own.
					if freed := before - g.allocated(t); freed > sum || freed < sum-2*BlockSize {
						t.Errorf("%d bytes trimmed, the file system freed %d", sum, freed)
					}
				}
			})
		})
	}
}

// LongTrims checks trims of a length that 32 bits do not hold, signed or not.
func LongTrims(t *testing.T, d ioengine.Driver) {
	const length, edge = 5 << 30, 1 << 20
	path := lab.File(t, edge+length+edge)
	for name, flags := range map[string]ioengine.Flags{"discard": 0, "zeroes": ioengine.Zeroes} {
		t.Run(name, func(t *testing.T) {
			lab.Root(t)
			f, err := os.OpenFile(path, os.O_RDWR, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			marks := map[int64]byte{0: 1, edge - 1: 1, edge: 0, edge + 3<<30: 0, edge + length - 1: 0, edge + length: 1, edge + length + edge - 1: 1}
			for at := range marks {
				if _, err := f.WriteAt([]byte{1}, at); err != nil {
					t.Fatal(err)
				}
			}
			b := Open(t, d, lab.LoopOn(t, path, lab.LoopOptions{}), 2)
			b.Each(t, []ioengine.IO{{Op: op.Trim, Flags: flags, Offset: edge, Length: 3 << 30}, {Op: op.Trim, Flags: flags, Offset: edge + 3<<30, Length: length - 3<<30}})
			b.Each(t, []ioengine.IO{{Op: op.Trim, Flags: flags, Offset: edge, Length: length}})
			for at, want := range marks {
				var got [1]byte
				if _, err := f.ReadAt(got[:], at); err != nil || got[0] != want {
					t.Errorf("byte %d is %d, want %d: %v", at, got[0], want, err)
				}
			}
		})
	}
}

// Failures checks that a trim or sync that cannot be is a failure of that I/O, and what follows goes on.
func Failures(t *testing.T, d ioengine.Driver) {
	t.Run("range", func(t *testing.T) {
		g := newLoop(t)
		b := Open(t, d, g.path, 4)
		for _, flags := range []ioengine.Flags{0, ioengine.Zeroes} {
			for _, r := range [][2]int64{{100, 4096}, {0, 1000}, {size, 4096}, {size - 4096, 8192}} {
				b.Slots[0] = ioengine.IO{Op: op.Trim, Flags: flags, Offset: r[0], Length: r[1]}
				if got := b.All(t, 1, 0)[0]; got != -int64(syscall.EINVAL) {
					t.Errorf("flags %d, %d bytes at %d: %d, want EINVAL", flags, r[1], r[0], got)
				}
			}
		}
		b.Each(t, []ioengine.IO{{Op: op.Trim, Length: 4096}, {Op: op.Sync}})
		clear(g.content[:4096])
		g.check(t)
	})
	t.Run("read-only", func(t *testing.T) {
		onEach(t, func(t *testing.T, g *target) {
			b := OpenFor(t, d, g.path, 4, os.O_RDONLY, ioengine.Config{Ops: [op.Count]bool{op.Trim: true}})
			for _, flags := range []ioengine.Flags{0, ioengine.Zeroes} {
				b.Slots[0] = ioengine.IO{Op: op.Trim, Flags: flags, Length: 4096}
				if got := b.All(t, 1, 0)[0]; got != -int64(syscall.EBADF) {
					t.Errorf("flags %d: %d, want EBADF", flags, got)
				}
			}
			g.check(t)
		})
	})
	t.Run("no discard", func(t *testing.T) {
		g := newBare(t)
		b := Open(t, d, g.path, 4)
		b.Slots[0] = ioengine.IO{Op: op.Trim, Length: 4096}
		if got := b.All(t, 1, 0)[0]; got != -int64(syscall.EOPNOTSUPP) {
			t.Errorf("a trim: %d, want EOPNOTSUPP", got)
		}
		g.check(t)
	})
}

// newBare makes a device that has no discards: a loop on a file system without fallocate. (Forbidding
// them by discard_max_bytes is for good: the kernel then forgets the granularity, and takes no other
// value back.)
func newBare(t testing.TB) *target {
	t.Helper()
	lab.Root(t)
	dir := t.TempDir()
	lab.Run(t, "mount", "-t", "ramfs", "ramfs", dir)
	t.Cleanup(func() { lab.Unmount(t, dir) })
	g := fill(t, &target{path: filepath.Join(dir, "disk.img")})
	g.backing = g.path
	g.path = lab.LoopOn(t, g.backing, lab.LoopOptions{Buffered: true})
	return g
}

// Durability checks from outside that syncs and durable writes reach the disk: the block layer counts
// the flushes. One at a time, since flushes that wait together become one.
func Durability(t *testing.T, d ioengine.Driver) {
	const n = 10
	rng := rand.New(rand.NewPCG(5, 6))
	for _, target := range newTargets[:2] { // a zram has nothing to flush
		t.Run(target.name, func(t *testing.T) {
			g := target.make(t)
			b := Open(t, d, g.path, 1)
			written := func(flags ioengine.Flags) func(i int) ioengine.IO {
				return func(i int) ioengine.IO {
					io := ioengine.IO{Op: op.Write, Flags: flags, Offset: int64(i) * 2 * BlockSize, Length: BlockSize, Buf: b.Buffer(0)}
					scramble(rng, io.Buf)
					copy(g.content[io.Offset:], io.Buf)
					return io
				}
			}
			dirtied := written(0)
			for _, c := range []struct {
				name  string
				dirty bool // a file system flushes only if there is something
				io    func(i int) ioengine.IO
				flush bool
			}{
				{"plain write", false, written(0), false},
				{"durable write", false, written(ioengine.Durable), true},
				{"plain write after it", false, written(0), false},
				{"sync", true, func(int) ioengine.IO { return ioengine.IO{Op: op.Sync} }, true},
				{"data sync", true, func(int) ioengine.IO { return ioengine.IO{Op: op.Sync, Flags: ioengine.DataOnly} }, true},
			} {
				before := g.flushes(t)
				for i := range n {
					if c.dirty {
						b.Each(t, []ioengine.IO{dirtied(i)})
					}
					b.Each(t, []ioengine.IO{c.io(i)})
				}
				got := g.flushes(t) - before
				if c.flush && got < n {
					t.Errorf("%s: %d of them made %d flushes", c.name, n, got)
				}
				// The file system has a journal, which flushes by itself now and then.
				if !c.flush && (got > 2 || got > 0 && g.path == g.disk) {
					t.Errorf("%s: %d of them made %d flushes, want none", c.name, n, got)
				}
			}
			g.check(t)
		})
	}
}
