package enginetest

import (
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/ioengine"
	"blkstorm/lab"
	"blkstorm/op"
)

// tooLate is how late a wait may end on a busy machine. One in four may be later still.
const tooLate = 20 * time.Millisecond

// Limits checks the bounded wait of an asynchronous engine: not too short, not much too long, earlier
// when something completes, with and without something to submit, and nothing is lost by it.
func Limits(t *testing.T, d ioengine.Driver) {
	disk := lab.NewProgrammable(t, size)
	t.Run("nothing completes", func(t *testing.T) {
		b := Open(t, d, disk.Dev, 8)
		precise(t)
		disk.Hang(lab.Reads)
		defer disk.Release() // the engine is closed after that
		b.reads(0, 8)
		late := &lateness{}
		late.cycle(t, b, []uint32{0, 1, 2}, 3, time.Millisecond)
		for _, limit := range []time.Duration{100 * time.Microsecond, time.Millisecond, 5 * time.Millisecond} {
			for range 20 {
				late.cycle(t, b, nil, 0, limit)
			}
		}
		late.cycle(t, b, []uint32{3, 4, 5, 6, 7}, 5, time.Millisecond)
		late.judge(t)
		disk.Release()
		b.collect(t, 8)
	})
	t.Run("something completes", func(t *testing.T) {
		disk.SetLatency(lab.Range{}, lab.Reads, 2*time.Millisecond)
		b := Open(t, d, disk.Dev, 8)
		b.reads(0, 8)
		began := time.Now()
		submitted, completed, err := b.Engine.Cycle([]uint32{0}, 1, time.Minute, b.Done)
		if took := time.Since(began); submitted != 1 || err != nil || took > 30*time.Second {
			t.Errorf("%d submitted, %v after %v", submitted, err, took)
		}
		b.collect(t, 1-completed)
	})
	t.Run("too few complete", func(t *testing.T) {
		disk.SetLatency(lab.Range{}, lab.Reads, 0)
		disk.SetLatency(lab.Range{Offset: 0, Length: BlockSize}, lab.Reads, 300*time.Millisecond)
		b := Open(t, d, disk.Dev, 8)
		b.reads(0, 2)
		pending, got := []uint32{0, 1}, 0
		for end := time.Now().Add(100 * time.Millisecond); time.Now().Before(end); {
			submitted, completed, err := b.Engine.Cycle(pending, 2, 5*time.Millisecond, b.Done)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range b.Done[:completed] {
				if c.Slot != 1 || c.Res != BlockSize {
					t.Errorf("slot %d: %d", c.Slot, c.Res)
				}
			}
			pending, got = pending[submitted:], got+completed
		}
		if len(pending) != 0 || got != 1 {
			t.Errorf("%d not submitted, %d completed before the slow one", len(pending), got)
		}
		b.collect(t, 1)
	})
}

// DoneAtOnce checks that what completes in the thread counts towards wait: with a read in flight that does
// not end, a wait for one completion ends with the trim, not with the limit.
func DoneAtOnce(t *testing.T, d ioengine.Driver) {
	const limit = 3 * time.Second
	disk := lab.NewProgrammable(t, size)
	b := Open(t, d, disk.Dev, 8)
	precise(t)
	disk.Hang(lab.Reads)
	defer disk.Release()
	b.reads(0, 2)
	if n, completed, err := b.Engine.Cycle([]uint32{0}, 0, 0, b.Done); n != 1 || completed != 0 || err != nil {
		t.Fatalf("%d submitted, %d completed, %v", n, completed, err)
	}
	b.Slots[2] = ioengine.IO{Op: op.Trim, Offset: size / 2, Length: BlockSize}
	began := time.Now()
	submitted, completed, err := b.Engine.Cycle([]uint32{1, 2}, 1, limit, b.Done)
	took := time.Since(began)
	// Whether this disk can be trimmed is not the question.
	if submitted != 2 || completed != 1 || b.Done[0].Slot != 2 || err != nil || took >= limit {
		t.Errorf("%d submitted, %d completed, slot %d, %v after %v", submitted, completed, b.Done[0].Slot, err, took)
	}
	disk.Release()
	b.collect(t, 2)
}

// Frozen checks that bounded waits go on returning while a device does not answer, and that all comes
// back once when it does.
func Frozen(t *testing.T, d ioengine.Driver) {
	disk := lab.NewFrozen(t, size)
	b := Open(t, d, disk.Dev, 8)
	pending := make([]uint32, len(b.Slots))
	for i := range b.Slots {
		pending[i] = uint32(i)
		b.Slots[i] = ioengine.IO{Op: op.Write, Offset: int64(i) * BlockSize, Length: BlockSize, Buf: b.Buffer(i)}
		if i%2 == 1 {
			b.Slots[i].Flags = ioengine.Durable
		}
	}
	disk.Freeze()
	for range 50 {
		submitted, completed, err := b.Engine.Cycle(pending, 1, 2*time.Millisecond, b.Done)
		if completed != 0 || err != nil {
			t.Fatalf("a frozen device: %d completed, %v", completed, err)
		}
		pending = pending[submitted:]
	}
	if len(pending) != 0 {
		t.Errorf("%d I/Os are not submitted", len(pending))
	}
	disk.Thaw()
	b.collect(t, len(b.Slots))
}

// reads makes slots reads of the blocks of their number.
func (b *Bench) reads(from, to int) {
	for i := from; i < to; i++ {
		b.Slots[i] = ioengine.IO{Op: op.Read, Offset: int64(i) * BlockSize, Length: BlockSize, Buf: b.Buffer(i)}
	}
}

// collect waits for n completions, with a limit each time, and wants each slot once and whole.
func (b *Bench) collect(t testing.TB, n int) {
	t.Helper()
	seen := map[uint32]bool{}
	for end := time.Now().Add(time.Minute); len(seen) < n; {
		if time.Now().After(end) {
			t.Fatalf("%d of %d came back", len(seen), n)
		}
		_, completed, err := b.Engine.Cycle(nil, 1, 10*time.Millisecond, b.Done)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range b.Done[:completed] {
			if seen[c.Slot] || int64(c.Res) != b.Slots[c.Slot].Length {
				t.Fatalf("slot %d (seen before: %t): %d", c.Slot, seen[c.Slot], c.Res)
			}
			seen[c.Slot] = true
		}
	}
	if _, completed, err := b.Engine.Cycle(nil, 0, time.Millisecond, b.Done); completed != 0 || err != nil {
		t.Errorf("after all: %d completed, %v", completed, err)
	}
}

// precise gives the thread exact timers, and keeps signals away that would end waits early. A collection
// would have to wait for such a thread, and everybody else for the collection, the server of a FUSE disk
// among them: there is none meanwhile.
func precise(t testing.TB) {
	t.Helper()
	runtime.GC() // one that has begun is over
	percent := debug.SetGCPercent(-1)
	t.Cleanup(func() { debug.SetGCPercent(percent) })
	if err := ioengine.PreciseTimers(); err != nil {
		t.Fatal(err)
	}
	var urgent, old unix.Sigset_t
	urgent.Val[0] = 1 << (syscall.SIGURG - 1)
	if err := unix.PthreadSigmask(unix.SIG_BLOCK, &urgent, &old); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil); err != nil {
			t.Error(err)
		}
	})
}

// lateness is by how much waits were late.
type lateness struct{ all []time.Duration }

// cycle makes one turn in which nothing completes and all of submit is taken.
func (l *lateness) cycle(t testing.TB, b *Bench, submit []uint32, want int, limit time.Duration) {
	t.Helper()
	began := time.Now()
	submitted, completed, err := b.Engine.Cycle(submit, 1, limit, b.Done)
	took := time.Since(began)
	runtime.Gosched()
	if submitted != want || completed != 0 || err != nil {
		t.Fatalf("%d submitted of %d, %d completed, %v", submitted, want, completed, err)
	}
	if took < limit {
		t.Errorf("limit %v: back after %v", limit, took)
	}
	l.all = append(l.all, took-limit)
}

func (l *lateness) judge(t testing.TB) {
	t.Helper()
	slices.Sort(l.all)
	if late := l.all[len(l.all)*3/4]; late > tooLate {
		t.Errorf("one wait in four is later than %v", late)
	}
}

// Wakes measures how late bounded waits end, with one I/O in flight that does not complete. It reports
// nanoseconds beyond the limit.
func Wakes(b *testing.B, d ioengine.Driver, limit time.Duration) {
	disk := lab.NewProgrammable(b, size)
	bench := Open(b, d, disk.Dev, 1)
	bench.reads(0, 1)
	disk.Hang(lab.Reads)
	if _, _, err := bench.Engine.Cycle([]uint32{0}, 1, time.Millisecond, bench.Done); err != nil {
		b.Fatal(err)
	}
	ReportWakes(b, limit, func() {
		if _, _, err := bench.Engine.Cycle(nil, 1, limit, bench.Done); err != nil {
			b.Fatal(err)
		}
	})
	disk.Release()
	bench.collect(b, 1)
}

// ReportWakes measures how late wait ends after limit, in a thread with precise timers.
func ReportWakes(b *testing.B, limit time.Duration, wait func()) {
	precise(b)
	late := make([]time.Duration, 0, b.N)
	b.ResetTimer()
	for range b.N {
		began := time.Now()
		wait()
		late = append(late, time.Since(began)-limit)
		runtime.Gosched()
	}
	b.StopTimer()
	slices.Sort(late)
	b.ReportMetric(float64(late[len(late)/2]), "p50-late-ns")
	b.ReportMetric(float64(late[len(late)*99/100]), "p99-late-ns")
}
