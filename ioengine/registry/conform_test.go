package registry

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/ioengine"
	"blkstorm/ioengine/uring"
	"blkstorm/lab"
	"blkstorm/op"
)

const (
	blockSize = 4096
	blocks    = 256
	depth     = 16
)

// bench is an engine opened on one target, in the test's own locked thread.
type bench struct {
	engine ioengine.Engine
	slots  []ioengine.IO
	region *ioengine.Region
	done   []ioengine.Completion
}

func openOn(t testing.TB, d ioengine.Driver, path string) *bench {
	t.Helper()
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	if err := probe(&d); err != nil {
		lab.Missing(t, fmt.Sprintf("engine %s: %v", d.Name, err))
	}
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_DIRECT, 0)
	if err != nil {
		lab.Missing(t, "no direct I/O on the temporary folder: "+err.Error())
	}
	t.Cleanup(func() { f.Close() })
	n := depth
	if d.MaxDepth > 0 {
		n = d.MaxDepth
	}
	region, err := ioengine.NewRegion(n, blockSize)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{slots: make([]ioengine.IO, n), region: region, done: make([]ioengine.Completion, n)}
	b.engine, err = d.Open(ioengine.Config{
		Files: []int{int(f.Fd())}, Slots: b.slots, Region: region.Bytes(), Stride: region.Stride(),
		TotalBytes: int64(len(region.Bytes())), TotalDepth: n,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.engine.Close(); err != nil {
			t.Error(err)
		}
		if err := region.Free(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// all submits slots 0 to n-1 and collects every completion, however often the engine comes back early.
func (b *bench) all(t testing.TB, n int) map[uint32]int32 {
	t.Helper()
	pending := make([]uint32, n)
	for i := range pending {
		pending[i] = uint32(i)
	}
	results := map[uint32]int32{}
	for inflight := 0; len(results) < n; {
		submitted, completed, err := b.engine.Cycle(pending, 1, 0, b.done)
		if err != nil {
			t.Fatal(err)
		}
		inflight += submitted - completed
		pending = pending[submitted:]
		for _, c := range b.done[:completed] {
			if _, twice := results[c.Slot]; twice {
				t.Fatalf("slot %d completed twice", c.Slot)
			}
			results[c.Slot] = c.Res
		}
		if inflight < 0 || inflight > len(b.slots) {
			t.Fatalf("%d in flight of %d slots", inflight, len(b.slots))
		}
	}
	return results
}

// engines are those that move data.
func engines() []ioengine.Driver {
	var out []ioengine.Driver
	for _, d := range drivers(Options{}) {
		if !d.Dry {
			out = append(out, d)
		}
	}
	return append(out, func() ioengine.Driver {
		d := uring.Driver(Options{SQPoll: true})
		d.Name += " SQPOLL"
		return d
	}())
}

// What is written through an engine is what the file holds, and what it reads is what was written:
// the right blocks, the right buffers, mixed in one batch.
func TestEnginesMoveTheRightBlocks(t *testing.T) {
	for _, d := range engines() {
		t.Run(d.Name, func(t *testing.T) {
			path := lab.File(t, blocks*blockSize)
			want := make([]byte, blocks*blockSize)
			rng := rand.New(rand.NewPCG(1, 2))
			for i := range want {
				want[i] = byte(rng.Uint32())
			}
			if err := os.WriteFile(path, want, 0o600); err != nil {
				t.Fatal(err)
			}
			b := openOn(t, d, path)
			for range 50 {
				offsets := rng.Perm(blocks)[:len(b.slots)]
				for i := range b.slots {
					buf := b.region.Buffer(i, blockSize)
					b.slots[i] = ioengine.IO{Offset: int64(offsets[i]) * blockSize, Length: blockSize, Buf: buf, Op: op.Op(rng.IntN(2))}
					for k := range buf {
						buf[k] = byte(rng.Uint32())
					}
					if b.slots[i].Op == op.Write {
						copy(want[b.slots[i].Offset:], buf)
					}
				}
				for slot, res := range b.all(t, len(b.slots)) {
					io := &b.slots[slot]
					if res != blockSize {
						t.Fatalf("%s at %d: %d", io.Op, io.Offset, res)
					}
					if !bytes.Equal(io.Buf, want[io.Offset:io.Offset+blockSize]) {
						t.Fatalf("%s at %d: other data", io.Op, io.Offset)
					}
				}
			}
			got, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Error("the file does not hold what was written")
			}
		})
	}
}

// An I/O that fails is that I/O's failure, with its errno; a transfer at the end of the file is short.
func TestEnginesReportFailuresPerIO(t *testing.T) {
	for _, d := range engines() {
		t.Run(d.Name, func(t *testing.T) {
			b := openOn(t, d, lab.File(t, 2*blockSize))
			for _, c := range []struct {
				name   string
				offset int64
				length int
				want   int32
			}{
				{"good", 0, blockSize, blockSize},
				{"before the start", -blockSize, blockSize, -int32(syscall.EINVAL)},
				{"beyond the end", 1 << 30, blockSize, 0},
				{"good again", blockSize, blockSize, blockSize},
			} {
				b.slots[0] = ioengine.IO{Offset: c.offset, Length: int64(c.length), Buf: b.region.Buffer(0, int64(c.length)), Op: op.Read}
				if got := b.all(t, 1)[0]; got != c.want {
					t.Errorf("%s: %d, want %d", c.name, got, c.want)
				}
			}
		})
	}
}

// Signals that end waits early, as the Go scheduler's do, lose and double nothing.
func TestEnginesUnderSignals(t *testing.T) {
	for _, d := range engines() {
		t.Run(d.Name, func(t *testing.T) {
			b := openOn(t, d, lab.File(t, blocks*blockSize))
			tid := unix.Gettid()
			var stop atomic.Bool
			stopped := make(chan struct{})
			go func() {
				defer close(stopped)
				for !stop.Load() {
					if err := unix.Tgkill(os.Getpid(), tid, unix.SIGURG); err != nil {
						t.Error(err)
						return
					}
					time.Sleep(20 * time.Microsecond)
				}
			}()
			rng := rand.New(rand.NewPCG(3, 4))
			for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
				for i := range b.slots {
					b.slots[i] = ioengine.IO{Offset: int64(rng.IntN(blocks)) * blockSize, Length: blockSize, Buf: b.region.Buffer(i, blockSize), Op: op.Read}
				}
				for slot, res := range b.all(t, len(b.slots)) {
					if res != blockSize {
						t.Fatalf("slot %d: %d", slot, res)
					}
				}
			}
			stop.Store(true)
			<-stopped
		})
	}
}

// A turn of an engine allocates nothing.
func TestEnginesAllocateNothing(t *testing.T) {
	for _, d := range append(engines(), drivers(Options{})[3]) {
		t.Run(d.Name, func(t *testing.T) {
			b := openOn(t, d, lab.File(t, blocks*blockSize))
			pending := make([]uint32, 0, len(b.slots))
			for i := range b.slots {
				b.slots[i] = ioengine.IO{Length: blockSize, Buf: b.region.Buffer(i, blockSize), Op: op.Read}
				pending = append(pending, uint32(i))
			}
			n := testing.AllocsPerRun(200, func() {
				submitted, completed, err := b.engine.Cycle(pending, 1, 0, b.done)
				if err != nil {
					t.Fatal(err)
				}
				pending = append(pending[:0], pending[submitted:]...)
				for _, c := range b.done[:completed] {
					pending = append(pending, c.Slot)
				}
			})
			if n != 0 {
				t.Errorf("%g allocations per turn", n)
			}
			for len(pending) < len(b.slots) { // bring all back before the engine is closed
				_, completed, err := b.engine.Cycle(nil, 1, 0, b.done)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range b.done[:completed] {
					pending = append(pending, c.Slot)
				}
			}
		})
	}
}

func TestCandidates(t *testing.T) {
	for _, c := range []struct {
		name string
		o    Options
		err  string
	}{
		{"psync", Options{}, ""},
		{"null", Options{}, ""},
		{"auto", Options{}, ""},
		{"sync", Options{}, "known are auto, io_uring, libaio, psync, null"},
		{"libaio", Options{SQPoll: true}, "go with --engine io_uring"},
		{"auto", Options{IOPoll: true}, "go with --engine io_uring"},
	} {
		found, _, err := Candidates(c.name, c.o)
		if c.err == "" && (err != nil || len(found) == 0) {
			t.Errorf("%s: %v, %d found", c.name, err, len(found))
		}
		if c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%s %+v: %v, want %q", c.name, c.o, err, c.err)
		}
	}
	if _, _, err := Candidates("sync", Options{}); !errors.Is(err, ioengine.ErrUnknown) {
		t.Errorf("unknown engine: %v", err)
	}
}

// auto never chooses an engine that moves nothing, and psync is always among the choices.
func TestAutoEndsWithPsync(t *testing.T) {
	found, _, err := Candidates(Auto, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if last := found[len(found)-1]; last.Name != "psync" {
		t.Errorf("the last resort is %s", last.Name)
	}
	for _, d := range found {
		if d.Dry {
			t.Errorf("auto offers %s", d.Name)
		}
	}
}
