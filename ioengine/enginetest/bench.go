// Package enginetest holds what every engine must do, as tests that take a driver. The registry's tests
// run them for each engine that users can choose, the engines' own tests for what only they can stage
// (the ring of an older kernel).
//
// Only tests import it. Content is checked on the device or file itself, never through the engine alone.
package enginetest

import (
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/ioengine"
	"blkstorm/lab"
	"blkstorm/op"
)

// BlockSize is the size of a slot's buffer.
const BlockSize = 4096

// Bench is an engine opened on one target, in the test's own locked thread.
type Bench struct {
	Engine ioengine.Engine
	Slots  []ioengine.IO
	Region *ioengine.Region
	Done   []ioengine.Completion
}

// Open opens an engine of up to depth slots on path for all operations, unbuffered.
func Open(t testing.TB, d ioengine.Driver, path string, depth int) *Bench {
	t.Helper()
	return OpenFor(t, d, path, depth, os.O_RDWR, ioengine.Config{Ops: [op.Count]bool{true, true, true, true}})
}

// OpenFor is Open with other flags of open(2) and with what c announces.
func OpenFor(t testing.TB, d ioengine.Driver, path string, depth, flags int, c ioengine.Config) *Bench {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	if d.Probe != nil {
		if err := d.Probe(); err != nil {
			lab.Missing(t, "engine "+d.Name+": "+err.Error())
		}
	}
	f, err := os.OpenFile(path, flags|unix.O_DIRECT, 0)
	if err != nil {
		lab.Missing(t, "no direct I/O on the temporary folder: "+err.Error())
	}
	t.Cleanup(func() { f.Close() })
	if d.MaxDepth > 0 {
		depth = min(depth, d.MaxDepth)
	}
	region, err := ioengine.NewRegion(depth, BlockSize)
	if err != nil {
		t.Fatal(err)
	}
	b := &Bench{Slots: make([]ioengine.IO, depth), Region: region, Done: make([]ioengine.Completion, depth)}
	c.Files, c.Slots, c.Region, c.Stride = []int{int(f.Fd())}, b.Slots, region.Bytes(), region.Stride()
	c.TotalBytes, c.TotalDepth = int64(len(region.Bytes())), depth
	if b.Engine, err = d.Open(c); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Engine.Close(); err != nil {
			t.Error(err)
		}
		if err := region.Free(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// Buffer is a slot's buffer.
func (b *Bench) Buffer(slot int) []byte { return b.Region.Buffer(slot, BlockSize) }

// All submits slots 0 to n-1 and collects every completion, however often the engine comes back early.
func (b *Bench) All(t testing.TB, n int, limit time.Duration) map[uint32]int64 {
	t.Helper()
	pending := make([]uint32, n)
	for i := range pending {
		pending[i] = uint32(i)
	}
	results := map[uint32]int64{}
	for inflight := 0; len(results) < n; {
		submitted, completed, err := b.Engine.Cycle(pending, 1, limit, b.Done)
		if err != nil {
			t.Fatal(err)
		}
		inflight += submitted - completed
		pending = pending[submitted:]
		for _, c := range b.Done[:completed] {
			if _, twice := results[c.Slot]; twice {
				t.Fatalf("slot %d completed twice", c.Slot)
			}
			results[c.Slot] = c.Res
		}
		if inflight < 0 || inflight > len(b.Slots) {
			t.Fatalf("%d in flight of %d slots", inflight, len(b.Slots))
		}
	}
	return results
}

// Each carries out I/Os, as many at a time as there are slots, and checks that each did all its bytes.
func (b *Bench) Each(t testing.TB, ios []ioengine.IO) {
	t.Helper()
	for len(ios) > 0 {
		n := copy(b.Slots, ios)
		for slot, res := range b.All(t, n, 0) {
			if io := &b.Slots[slot]; int64(res) != io.Length {
				t.Fatalf("%s of %d at %d: %d", io.Op, io.Length, io.Offset, res)
			}
		}
		ios = ios[n:]
	}
}
