package enginetest

import (
	"bytes"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/ioengine"
	"blkstorm/op"
)

// Mix runs all four operations in random order at depth 32, with and without limits to the waits, and
// wants exactly the content in the end that they make. What is in flight together touches other blocks.
func Mix(t *testing.T, d ioengine.Driver) {
	onEach(t, func(t *testing.T, g *target) {
		Open(t, d, g.path, 32).mix(t, g, 3000)
		g.check(t)
	})
}

// Storm is Mix under a rain of signals, as the Go scheduler sends them: nothing is lost or doubled.
func Storm(t *testing.T, d ioengine.Driver) {
	onEach(t, func(t *testing.T, g *target) {
		b := Open(t, d, g.path, 32)
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
		b.mix(t, g, 3000)
		stop.Store(true)
		<-stopped
		g.check(t)
	})
}

// mixer is a run of random I/Os and what they make of the content.
type mixer struct {
	b    *Bench
	g    *target
	rng  *rand.Rand
	busy map[int64]bool // blocks that an I/O in flight touches
	free []uint32
}

func (b *Bench) mix(t *testing.T, g *target, count int) {
	t.Helper()
	m := &mixer{b: b, g: g, rng: rand.New(rand.NewPCG(7, 8)), busy: map[int64]bool{}}
	for i := range b.Slots {
		m.free = append(m.free, uint32(i))
	}
	var pending []uint32
	var kinds [op.Count]int
	for count > 0 || len(m.free) < len(b.Slots) {
		for ; count > 0 && len(m.free) > 0; count-- {
			slot := m.free[len(m.free)-1]
			m.free = m.free[:len(m.free)-1]
			m.prepare(slot)
			pending = append(pending, slot)
		}
		limits := []time.Duration{0, 20 * time.Microsecond, time.Millisecond}
		used := len(b.Slots) - len(m.free)
		taken, completed, err := b.Engine.Cycle(pending, 1+m.rng.IntN(used), limits[m.rng.IntN(len(limits))], b.Done)
		if err != nil {
			t.Fatal(err)
		}
		pending = pending[:copy(pending, pending[taken:])]
		for _, c := range b.Done[:completed] {
			m.finish(t, c)
			kinds[b.Slots[c.Slot].Op]++
		}
	}
	if len(m.free) != len(b.Slots) || len(m.busy) != 0 {
		t.Errorf("%d slots of %d came back, %d blocks are left", len(m.free), len(b.Slots), len(m.busy))
	}
	for _, o := range op.All {
		if kinds[o] < 100 {
			t.Errorf("only %d times %s", kinds[o], o)
		}
	}
}

// prepare makes a slot a random I/O of one or two blocks that nothing in flight touches.
func (m *mixer) prepare(slot uint32) {
	io := &m.b.Slots[slot]
	*io = ioengine.IO{Op: op.Op(m.rng.IntN(op.Count))}
	if io.Op == op.Sync {
		if m.rng.IntN(2) == 0 {
			io.Flags = ioengine.DataOnly
		}
		return
	}
	io.Length = BlockSize
	if io.Op == op.Trim {
		io.Length *= 1 + m.rng.Int64N(2)
		if m.rng.IntN(2) == 0 {
			io.Flags = ioengine.Zeroes
		}
	} else {
		io.Buf = m.b.Buffer(int(slot))
	}
	for {
		io.Offset = m.rng.Int64N(size/BlockSize-1) * BlockSize
		if !m.busy[io.Offset] && !m.busy[io.Offset+io.Length-BlockSize] {
			break
		}
	}
	m.busy[io.Offset], m.busy[io.Offset+io.Length-BlockSize] = true, true
	if io.Op == op.Write {
		if m.rng.IntN(4) == 0 {
			io.Flags = ioengine.Durable
		}
		scramble(m.rng, io.Buf)
	}
}

// finish checks a completion, and does to the expected content what the I/O did.
func (m *mixer) finish(t *testing.T, c ioengine.Completion) {
	t.Helper()
	io := &m.b.Slots[c.Slot]
	if int64(c.Res) != io.Length {
		t.Fatalf("%s (flags %d) of %d at %d: %d", io.Op, io.Flags, io.Length, io.Offset, c.Res)
	}
	if io.Op != op.Sync {
		if !m.busy[io.Offset] {
			t.Fatalf("slot %d completed twice", c.Slot)
		}
		delete(m.busy, io.Offset)
		delete(m.busy, io.Offset+io.Length-BlockSize)
	}
	content := m.g.content[io.Offset : io.Offset+io.Length]
	switch io.Op {
	case op.Read:
		if !bytes.Equal(io.Buf, content) {
			t.Fatalf("a read at %d: other data", io.Offset)
		}
	case op.Write:
		copy(content, io.Buf)
	case op.Trim:
		clear(content)
	}
	m.free = append(m.free, c.Slot)
}
