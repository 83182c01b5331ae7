package lab

import (
	"sync"
	"syscall"
	"testing"
	"time"
)

// Ops names the directions that a rule of a Programmable holds for.
type Ops uint8

// The directions, as a set.
const (
	Reads  Ops = 1 << iota
	Writes     //
	Both   = Reads | Writes
)

// Programmable is a block device whose every answer the test decides: a loop on a file that this very
// process serves by FUSE, out of memory. It keeps a log of what it was asked, in the order of arrival,
// which is the second opinion on every count and every offset.
//
// The process must not open File or Dev itself: it would wait for itself. Content has the bytes.
type Programmable struct {
	Dev  string // the loop device
	File string // the file beneath it

	t       testing.TB
	content []byte
	mount   *fuseMount

	mu     sync.Mutex
	rules  []rule // the last one that matches holds
	gates  map[Ops]chan struct{}
	frozen time.Time
	closed chan struct{} // the end of the test: everything is answered at once
	log    []Access
	served Served
}

// rule is what happens to I/Os that touch a range.
type rule struct {
	first, end int64
	ops        Ops
	latency    time.Duration
	errno      syscall.Errno
}

// wholeDisk is the end of a range that has none.
const wholeDisk = int64(1) << 62

// Range is a part of the disk, in bytes. The zero value is all of it.
type Range struct{ Offset, Length int64 }

func (r Range) end() int64 {
	if r.Length == 0 {
		return wholeDisk
	}
	return r.Offset + r.Length
}

// NewProgrammable makes a disk of size bytes, all zero, that answers at once and holds up to 128 I/Os
// in flight.
func NewProgrammable(t testing.TB, size int64) *Programmable {
	t.Helper()
	return newProgrammable(t, size, true)
}

// NewSerialised makes one to which the kernel hands one I/O at a time (FUSE without asynchronous direct
// I/O): an engine blocks in submit, and a queue depth is a queue.
func NewSerialised(t testing.TB, size int64) *Programmable {
	t.Helper()
	return newProgrammable(t, size, false)
}

// SetLatency makes I/Os of a direction that touch the range take at least this long.
func (d *Programmable) SetLatency(r Range, ops Ops, latency time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rules = append(d.rules, rule{first: r.Offset, end: r.end(), ops: ops, latency: latency})
}

// FailRange makes I/Os of a direction that touch the range fail; a length of 0 is up to the end. Use
// those numbers that a block device can give: EIO, ENOSPC, ENODATA. The kernel makes EIO of others.
func (d *Programmable) FailRange(offset, length int64, ops Ops, errno syscall.Errno) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rules = append(d.rules, rule{first: offset, end: Range{offset, length}.end(), ops: ops, errno: errno})
}

// Heal takes all ranges that fail back; latencies stay.
func (d *Programmable) Heal() {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept := d.rules[:0]
	for _, r := range d.rules {
		if r.errno == 0 {
			kept = append(kept, r)
		}
	}
	d.rules = kept
}

// Hang leaves I/Os of a direction without an answer, also those that are in flight, until Release.
func (d *Programmable) Hang(ops Ops) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, op := range []Ops{Reads, Writes} {
		if ops&op != 0 && d.gates[op] == nil {
			d.gates[op] = make(chan struct{})
		}
	}
}

// Release answers what hangs. It may be called again.
func (d *Programmable) Release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for op, gate := range d.gates {
		close(gate)
		delete(d.gates, op)
	}
}

// FreezeFor leaves everything without an answer for a time, also what is in flight.
func (d *Programmable) FreezeFor(duration time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.frozen = time.Now().Add(duration)
}

// serve is one I/O of the disk: it is logged and carried out on arrival, in order; the answer comes
// when the rules say so.
func (d *Programmable) serve(op Ops, offset int64, buf []byte) syscall.Errno {
	arrived := time.Now()
	d.mu.Lock()
	latency, errno := d.judge(op, offset, int64(len(buf)))
	entry := d.note(Access{Op: op, Offset: offset, Length: int64(len(buf)), Errno: errno, At: arrived})
	switch {
	case errno != 0:
	case op == Writes:
		copy(d.content[offset:], buf)
	default:
		copy(buf, d.content[offset:])
	}
	d.mu.Unlock()
	d.wait(op, arrived.Add(latency))
	d.answered(entry)
	return errno
}

// judge finds the rules for an I/O: the last latency and the last error that were set.
func (d *Programmable) judge(op Ops, offset, length int64) (latency time.Duration, errno syscall.Errno) {
	if offset+length > int64(len(d.content)) {
		return 0, syscall.EIO
	}
	for _, r := range d.rules {
		switch {
		case r.ops&op == 0 || offset >= r.end || offset+length <= r.first:
		case r.errno != 0:
			errno = r.errno
		default:
			latency = r.latency
		}
	}
	return latency, errno
}

// wait returns at due, or later if the disk hangs or is frozen.
func (d *Programmable) wait(op Ops, due time.Time) {
	for {
		d.mu.Lock()
		gate := d.gates[op]
		if d.frozen.After(due) {
			due = d.frozen
		}
		d.mu.Unlock()
		if gate != nil {
			select {
			case <-gate:
				continue
			case <-d.closed:
				return
			}
		}
		left := time.Until(due)
		if left <= 0 {
			return
		}
		select {
		case <-time.After(left): // and look again: it may hang by now
		case <-d.closed:
			return
		}
	}
}
