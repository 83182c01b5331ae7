package model

import (
	"testing"
	"time"

	"blkstorm/ioengine"
	"blkstorm/op"
)

// open makes an engine of n slots, all of which are set to o.
func open(t *testing.T, d *Device, n int, o op.Op) (ioengine.Engine, []uint32, []ioengine.Completion) {
	t.Helper()
	slots, all := make([]ioengine.IO, n), make([]uint32, n)
	for i := range slots {
		slots[i], all[i] = ioengine.IO{Length: 4096, Op: o}, uint32(i)
	}
	driver := d.Driver()
	e, err := driver.Open(ioengine.Config{Files: []int{-1}, Slots: slots})
	if err != nil {
		t.Fatal(err)
	}
	return e, all, make([]ioengine.Completion, n)
}

// What was written counts, and only that; each I/O takes what the function says at its place in the order.
func TestServiceFollowsWhatWasWritten(t *testing.T) {
	const n = 8
	var at []int64
	d := New(func(written int64, _ *ioengine.IO) time.Duration {
		at = append(at, written)
		return time.Millisecond
	})
	reads, all, done := open(t, d, n, op.Read)
	begin := time.Now()
	if submitted, completed, err := reads.Cycle(all, n, 0, done); submitted != n || completed > n || err != nil {
		t.Fatal(submitted, completed, err)
	}
	writes, all, done := open(t, d, n, op.Write)
	total := 0
	submit := all
	for total < n {
		_, k, err := writes.Cycle(submit, n-total, 0, done)
		if err != nil {
			t.Fatal(err)
		}
		submit = nil
		for _, c := range done[:k] {
			if int(c.Slot) != total || c.Res != 4096 {
				t.Errorf("completion %d is %+v", total, c)
			}
			total++
		}
	}
	if took := time.Since(begin); took < 2*n*time.Millisecond {
		t.Errorf("%d I/Os of 1 ms took %v", 2*n, took)
	}
	for i, written := range at {
		if want := int64(max(0, i-n)) * 4096; written != want {
			t.Errorf("I/O %d is served after %d bytes, want %d", i, written, want)
		}
	}
	if d.Written() != n*4096 {
		t.Errorf("%d bytes were written", d.Written())
	}
}

// A wait ends with its limit; nothing is lost by that.
func TestLimit(t *testing.T) {
	d := New(func(int64, *ioengine.IO) time.Duration { return time.Hour })
	e, all, done := open(t, d, 2, op.Read)
	begin := time.Now()
	if n, k, err := e.Cycle(all, 1, time.Millisecond, done); n != 2 || k != 0 || err != nil {
		t.Error(n, k, err)
	}
	if n, k, err := e.Cycle(nil, 0, 0, done); n != 0 || k != 0 || err != nil {
		t.Error(n, k, err)
	}
	if took := time.Since(begin); took > time.Minute {
		t.Errorf("took %v", took)
	}
	if allocs := testing.AllocsPerRun(100, func() { _, _, _ = e.Cycle(nil, 1, time.Microsecond, done) }); allocs > 0 {
		t.Errorf("%v allocations in a cycle", allocs)
	}
}
