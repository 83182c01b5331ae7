package enginetest

import (
	"testing"
	"time"

	"blkstorm/ioengine"
	"blkstorm/lab"
	"blkstorm/op"
)

// NoAllocations checks that a turn allocates nothing, for each kind of I/O, with a limit and without.
func NoAllocations(t *testing.T, d ioengine.Driver) {
	path := lab.File(t, size)
	if !d.Dry {
		path = newLoop(t).path
	}
	for _, c := range []struct {
		name  string
		op    op.Op
		flags ioengine.Flags
	}{
		{"read", op.Read, 0},
		{"write", op.Write, 0},
		{"durable write", op.Write, ioengine.Durable},
		{"trim", op.Trim, 0},
		{"zeroes", op.Trim, ioengine.Zeroes},
		{"sync", op.Sync, 0},
		{"data sync", op.Sync, ioengine.DataOnly},
	} {
		for _, limit := range []time.Duration{0, time.Millisecond} {
			t.Run(c.name+" "+limit.String(), func(t *testing.T) {
				b := Open(t, d, path, 4)
				pending := make([]uint32, 0, len(b.Slots))
				for i := range b.Slots {
					io := &b.Slots[i]
					*io = ioengine.IO{Op: c.op, Flags: c.flags, Offset: int64(i) * BlockSize}
					if c.op != op.Sync {
						io.Length = BlockSize
					}
					if c.op == op.Read || c.op == op.Write {
						io.Buf = b.Buffer(i)
					}
					pending = append(pending, uint32(i))
				}
				turn := func(submit []uint32) {
					submitted, completed, err := b.Engine.Cycle(submit, 1, limit, b.Done)
					if err != nil {
						t.Fatal(err)
					}
					pending = append(pending[:0], pending[submitted:]...)
					for _, c := range b.Done[:completed] {
						if int64(c.Res) != b.Slots[c.Slot].Length {
							t.Fatalf("slot %d: %d", c.Slot, c.Res)
						}
						pending = append(pending, c.Slot)
					}
				}
				if n := testing.AllocsPerRun(50, func() { turn(pending) }); n != 0 {
					t.Errorf("%g allocations per turn", n)
				}
				for len(pending) < len(b.Slots) { // bring all back before the engine is closed
					turn(nil)
				}
			})
		}
	}
}
