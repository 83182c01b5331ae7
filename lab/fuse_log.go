package lab

import (
	"bytes"
	"slices"
	"syscall"
	"time"
)

// Access is one I/O that a Programmable was asked for.
type Access struct {
	Op     Ops // Reads or Writes
	Offset int64
	Length int64
	Errno  syscall.Errno // what the disk answered; 0 is success
	At     time.Time     // of arrival
	Done   time.Time     // of the answer; zero while there is none
}

// Served is what a Programmable has been asked for since it was made. Failed I/Os are counted apart.
type Served struct {
	Reads, ReadBytes          uint64
	Writes, WriteBytes        uint64
	FailedReads, FailedWrites uint64
}

// note keeps the log, and says where in it the I/O is; the caller holds the lock.
func (d *Programmable) note(a Access) (entry int) {
	d.log = append(d.log, a)
	s := &d.served
	switch {
	case a.Op == Reads && a.Errno != 0:
		s.FailedReads++
	case a.Op == Reads:
		s.Reads++
		s.ReadBytes += uint64(a.Length)
	case a.Errno != 0:
		s.FailedWrites++
	default:
		s.Writes++
		s.WriteBytes += uint64(a.Length)
	}
	return len(d.log) - 1
}

// answered notes that an I/O of the log is being answered.
func (d *Programmable) answered(entry int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.log[entry].Done = time.Now()
}

// InFlight is what the disk has not answered, in the order of arrival.
func (d *Programmable) InFlight() []Access {
	return slices.DeleteFunc(d.Log(), func(a Access) bool { return !a.Done.IsZero() })
}

// Served counts what the disk was asked for.
func (d *Programmable) Served() Served {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.served
}

// Log is what the disk was asked for, in the order of arrival.
func (d *Programmable) Log() []Access {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.log)
}

// LogOf is the log of one direction within a range: I/Os that touch it.
func (d *Programmable) LogOf(ops Ops, r Range) []Access {
	return slices.DeleteFunc(d.Log(), func(a Access) bool {
		return a.Op&ops == 0 || a.Offset >= r.end() || a.Offset+a.Length <= r.Offset
	})
}

// Content is a copy of what the disk holds.
func (d *Programmable) Content() []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return bytes.Clone(d.content)
}
