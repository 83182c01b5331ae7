package registry

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/ioengine"
	"blkstorm/ioengine/enginetest"
	"blkstorm/ioengine/uring"
	"blkstorm/lab"
	"blkstorm/op"
)

const (
	blockSize = enginetest.BlockSize
	blocks    = 256
	depth     = 16
)

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
			b := enginetest.Open(t, d, path, depth)
			for range 50 {
				offsets := rng.Perm(blocks)[:len(b.Slots)]
				for i := range b.Slots {
					buf := b.Region.Buffer(i, blockSize)
					b.Slots[i] = ioengine.IO{Offset: int64(offsets[i]) * blockSize, Length: blockSize, Buf: buf, Op: op.Op(rng.IntN(2))}
					for k := range buf {
						buf[k] = byte(rng.Uint32())
					}
					if b.Slots[i].Op == op.Write {
						copy(want[b.Slots[i].Offset:], buf)
					}
				}
				for slot, res := range b.All(t, len(b.Slots), 0) {
					io := &b.Slots[slot]
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
			b := enginetest.Open(t, d, lab.File(t, 2*blockSize), depth)
			for _, c := range []struct {
				name   string
				offset int64
				length int
				want   int64
			}{
				{"good", 0, blockSize, blockSize},
				{"before the start", -blockSize, blockSize, -int64(syscall.EINVAL)},
				{"beyond the end", 1 << 30, blockSize, 0},
				{"good again", blockSize, blockSize, blockSize},
			} {
				b.Slots[0] = ioengine.IO{Offset: c.offset, Length: int64(c.length), Buf: b.Region.Buffer(0, int64(c.length)), Op: op.Read}
				if got := b.All(t, 1, 0)[0]; got != c.want {
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
			b := enginetest.Open(t, d, lab.File(t, blocks*blockSize), depth)
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
				for i := range b.Slots {
					b.Slots[i] = ioengine.IO{Offset: int64(rng.IntN(blocks)) * blockSize, Length: blockSize, Buf: b.Region.Buffer(i, blockSize), Op: op.Read}
				}
				for slot, res := range b.All(t, len(b.Slots), 0) {
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
