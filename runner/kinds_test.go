package runner

import (
	"fmt"
	"os"
	"testing"
	"time"

	"blkstorm/ioengine"
	"blkstorm/ioengine/null"
	"blkstorm/op"
	"blkstorm/workload"
)

// What the engine is handed: writes with their bytes and flags, trims and syncs with nothing to move.
func TestTrimsAndSyncsReachTheEngine(t *testing.T) {
	s := stream("trimwrite", 1, 1)
	s.Workload.TrimWith, s.Workload.Durable, s.Workload.Fdatasync = workload.WriteZeroes, true, 2
	var first []string
	check := driver(func(e *scripted, submit []uint32, _ int, done []ioengine.Completion) (int, int, error) {
		time.Sleep(100 * time.Microsecond)
		for _, slot := range submit {
			io := &e.c.Slots[slot]
			want := map[op.Op]ioengine.IO{
				op.Trim:  {Length: 4096, Flags: ioengine.Zeroes},
				op.Write: {Length: 4096, Flags: ioengine.Durable, Buf: make([]byte, 4096)},
				op.Sync:  {Flags: ioengine.DataOnly},
			}[io.Op]
			if io.Length != want.Length || io.Flags != want.Flags || len(io.Buf) != len(want.Buf) {
				t.Errorf("%s: length %d, flags %d, %d bytes", io.Op, io.Length, io.Flags, len(io.Buf))
			}
			if len(first) < 8 {
				first = append(first, fmt.Sprint(io.Op, io.Offset/4096))
			}
		}
		return len(submit), e.complete(submit, done), nil
	})
	open := check.Open
	check.Open = func(c ioengine.Config) (ioengine.Engine, error) {
		if want := [op.Count]bool{op.Write: true, op.Trim: true, op.Sync: true}; c.Ops != want || c.Flags != ioengine.Zeroes|ioengine.Durable|ioengine.DataOnly {
			t.Errorf("announced: %v, flags %d", c.Ops, c.Flags)
		}
		return open(c)
	}
	r, g := run1(t, Config{Point: point(0, 200*time.Millisecond, 100*time.Millisecond, s), Targets: []Target{nowhere(1 << 30)}, Driver: check})
	checkSums(t, g, r)
	if got, want := fmt.Sprint(first), "[trim 0 write 0 trim 1 write 1 sync 0 trim 2 write 2 trim 3]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	issued := r.Threads[0].Issued
	if d := issued[op.Trim] - issued[op.Write]; d > 1 || issued[op.Write]/2-issued[op.Sync] > 1 || issued[op.Sync] == 0 {
		t.Errorf("issued %v", issued)
	}
	for _, o := range []op.Op{op.Write, op.Trim, op.Sync} {
		stat := &r.Cells[0].Ops[o]
		if n := stat.Latency.Count(); n == 0 || o != op.Sync && stat.Bytes != 4096*n || o == op.Sync && stat.Bytes != 0 {
			t.Errorf("%s: %d of %d bytes", o, n, stat.Bytes)
		}
	}
}

// A pass trims and writes each block once; syncs are no part of it.
func TestOnePassOfPairs(t *testing.T) {
	s := stream("trimwrite", 3, 4)
	s.Passes, s.Workload.Fsync = 1, 7
	r, g := run1(t, Config{Point: point(0, 0, 100*time.Millisecond, s), Targets: []Target{nowhere(4096 * 1000)}, Driver: &null.Driver})
	checkSums(t, g, r)
	ops := &r.Cells[0].Ops
	trims, writes, syncs := ops[op.Trim].Latency.Count(), ops[op.Write].Latency.Count(), ops[op.Sync].Latency.Count()
	// Slices of 333, 333 and 334 blocks have 47 times seven writes each.
	if trims != 1000 || writes != 1000 || syncs != 3*47 || !r.Completed {
		t.Errorf("%d trims, %d writes, %d syncs, completed %v", trims, writes, syncs, r.Completed)
	}
}

// The sync that a stream's last write calls for would come in the turn of an I/O that is not there any
// more: a pass of 100 writes with a sync after each 10 has 9, as fio's does.
func TestAPassEndsWithoutItsLastSync(t *testing.T) {
	for every, want := range map[int]uint64{10: 9, 9: 11, 100: 0, 101: 0, 1: 99} {
		s := stream("write", 1, 1)
		s.Passes, s.Workload.Fsync = 1, every
		r, g := run1(t, Config{Point: point(0, 0, 100*time.Millisecond, s), Targets: []Target{nowhere(4096 * 100)}, Driver: &null.Driver})
		checkSums(t, g, r)
		ops := &r.Cells[0].Ops
		if writes, syncs := ops[op.Write].Latency.Count(), ops[op.Sync].Latency.Count(); writes != 100 || syncs != want {
			t.Errorf("after each %d writes: %d writes, %d syncs, want %d", every, writes, syncs, want)
		}
	}
}

// Trims alone get a page of memory, whatever their size and depth.
func TestTrimsMapNoBuffers(t *testing.T) {
	s := stream("randtrim", 2, 64)
	s.Workload.BlockSize = 3 << 30 // more than 32 bits with a sign hold
	watch := driver(func(e *scripted, submit []uint32, _ int, done []ioengine.Completion) (int, int, error) {
		time.Sleep(time.Millisecond)
		return len(submit), e.complete(submit, done), nil
	})
	open := watch.Open
	watch.Open = func(c ioengine.Config) (ioengine.Engine, error) {
		if len(c.Region) != os.Getpagesize() || c.TotalBytes != 0 || len(c.Slots) != 64 || c.TotalDepth != 128 {
			t.Errorf("%d slots with %d bytes, %d and %d in all", len(c.Slots), len(c.Region), c.TotalDepth, c.TotalBytes)
		}
		return open(c)
	}
	r, g := run1(t, Config{Point: point(0, 100*time.Millisecond, 100*time.Millisecond, s), Targets: []Target{nowhere(1 << 40)}, Driver: watch})
	checkSums(t, g, r)
	if stat := &r.Cells[0].Ops[op.Trim]; stat.Latency.Count() == 0 || stat.Bytes != stat.Latency.Count()*3<<30 {
		t.Errorf("%d trims of %d bytes", stat.Latency.Count(), stat.Bytes)
	}
}
