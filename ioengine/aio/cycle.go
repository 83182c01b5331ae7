package aio

import (
	"fmt"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"blkstorm/ioengine"
	"blkstorm/ioengine/blocking"
	"blkstorm/op"
)

// Info says what is in use. Whether the kernel has what syncs and durable writes need shows when the
// first is issued.
func (e *engine) Info() ioengine.Info {
	info := e.info
	info.Notes = slices.Clone(info.Notes)
	if e.noSync {
		info.Notes = append(info.Notes, "syncs one at a time in the calling thread: Linux AIO of this kernel has none (before 4.18)")
	}
	if e.noDurable {
		info.Notes = append(info.Notes, "durable writes one at a time in the calling thread: Linux AIO of this kernel has none (before 4.13)")
	}
	return info
}

// Cycle submits a batch, takes what is in the ring, and blocks only if that is less than wait.
func (e *engine) Cycle(submit []uint32, wait int, limit time.Duration, done []ioengine.Completion) (submitted, completed int, err error) {
	if len(submit) > 0 {
		if submitted, completed, err = e.submit(submit, done); err != nil {
			return submitted, completed, err
		}
	}
	e.inflight += submitted - completed
	n := 0
	if e.ring != nil {
		n = e.take(done[completed:])
	}
	if need := min(wait-completed, e.inflight) - n; need > 0 {
		var more int
		more, err = e.block(need, limit, done[completed+n:])
		n += more
	}
	e.inflight -= n
	return submitted, completed + n, err
}

// submit hands over a batch; some of it may be completed at once.
func (e *engine) submit(batch []uint32, done []ioengine.Completion) (taken, completed int, err error) {
	n := 0
	for n < len(batch) && e.prepare(n, batch[n]) {
		n++
	}
	if n < len(batch) {
		return e.submitAround(batch, n, done)
	}
	return e.hand(n, done)
}

// prepare makes a slot's I/O the i-th of those to hand over. It says no to what Linux AIO does not have.
func (e *engine) prepare(i int, slot uint32) bool {
	io := &e.slots[slot]
	cb := &e.iocbs[slot]
	cb.rwFlags = 0
	switch io.Op {
	case op.Read:
		cb.opcode = cmdPread
	case op.Write:
		cb.opcode = cmdPwrite
		if io.Flags&ioengine.Durable != 0 {
			if e.noDurable {
				return false
			}
			cb.rwFlags = unix.RWF_DSYNC
		}
	default:
		return io.Op == op.Sync && !e.noSync && e.prepareSync(i, slot)
	}
	cb.data = uint64(slot)
	cb.fd = uint32(e.targets[io.File].FD)
	cb.buf = uint64(uintptr(unsafe.Pointer(unsafe.SliceData(io.Buf))))
	cb.nbytes = uint64(len(io.Buf))
	cb.offset = io.Offset
	e.pointers[i] = cb
	return true
}

// prepareSync is about a whole file: the kernel refuses a sync with a buffer or an offset.
func (e *engine) prepareSync(i int, slot uint32) bool {
	io := &e.slots[slot]
	cb := &e.iocbs[slot]
	*cb = iocb{data: uint64(slot), opcode: cmdFsync, fd: uint32(e.targets[io.File].FD)}
	if io.Flags&ioengine.DataOnly != 0 {
		cb.opcode = cmdFdsync
	}
	e.pointers[i] = cb
	return true
}

// submitAround submits a batch of which some I/Os are done in this thread; the first n are prepared.
// The kernel gets the others first, so that they go on meanwhile.
func (e *engine) submitAround(batch []uint32, n int, done []ioengine.Completion) (taken, completed int, err error) {
	for _, slot := range batch[n:] {
		if e.prepare(n, slot) {
			n++
		}
	}
	handed := 0
	if n > 0 {
		if handed, completed, err = e.hand(n, done); err != nil {
			return 0, 0, err
		}
	}
	next := 0 // of those that were prepared, in the order of the batch
	for _, slot := range batch {
		if next < n && e.pointers[next].data == uint64(slot) {
			if next == handed {
				break // what follows comes again
			}
			next++
		} else {
			done[completed] = e.carryOut(slot)
			completed++
		}
		taken++
	}
	return taken, completed, nil
}

func (e *engine) carryOut(slot uint32) ioengine.Completion {
	io := &e.slots[slot]
	return ioengine.Completion{Slot: slot, Res: blocking.Do(&e.targets[io.File], io)}
}

// hand gives the n prepared I/Os to the kernel. It may take only a part of them, the rest comes again; an
// I/O that it will not have at all (EINVAL, EBADF) is that I/O's failure, not the engine's.
func (e *engine) hand(n int, done []ioengine.Completion) (taken, failed int, err error) {
	got, _, errno := syscall.RawSyscall(unix.SYS_IO_SUBMIT, e.ctx, uintptr(n), uintptr(unsafe.Pointer(&e.pointers[0])))
	switch errno {
	case 0:
		return int(got), 0, nil
	case syscall.EINTR, syscall.EAGAIN:
		return 0, 0, nil
	case syscall.EINVAL, syscall.EBADF:
		slot := uint32(e.pointers[0].data)
		done[0] = ioengine.Completion{Slot: slot, Res: -int64(errno)}
		if errno == syscall.EINVAL {
			e.refused(&done[0])
		}
		return 1, 1, nil
	}
	return 0, 0, fmt.Errorf("io_submit: %w", errno)
}

// refused finds out whether an I/O is wrong or the kernel too old for it, by doing it in another way.
func (e *engine) refused(c *ioengine.Completion) {
	io := &e.slots[c.Slot]
	durable := io.Op == op.Write && io.Flags&ioengine.Durable != 0
	if io.Op != op.Sync && !durable {
		return
	}
	*c = e.carryOut(c.Slot)
	if c.Res >= 0 {
		e.noSync = e.noSync || !durable
		e.noDurable = e.noDurable || durable
	}
}

// take copies the events that are in the ring. The kernel only ever moves the tail, and we the head
// (io_getevents in this same thread aside).
func (e *engine) take(done []ioengine.Completion) int {
	r := e.ring
	head, tail := r.head, atomic.LoadUint32(&r.tail)
	n := 0
	for ; head != tail && n < len(done); n++ {
		ev := &e.ringLog[head]
		done[n] = ioengine.Completion{Slot: uint32(ev.data), Res: int64(ev.res)}
		if head++; head == r.nr {
			head = 0
		}
	}
	if n > 0 {
		atomic.StoreUint32(&r.head, head)
	}
	return n
}

// block waits in io_getevents for need events; a signal may end it earlier, and so may the limit.
func (e *engine) block(need int, limit time.Duration, done []ioengine.Completion) (int, error) {
	room := min(len(done), len(e.events))
	var timeout *unix.Timespec
	if limit > 0 {
		e.timeout = unix.NsecToTimespec(int64(limit))
		timeout = &e.timeout
	}
	n, _, errno := syscall.RawSyscall6(unix.SYS_IO_GETEVENTS, e.ctx, uintptr(need), uintptr(room),
		uintptr(unsafe.Pointer(&e.events[0])), uintptr(unsafe.Pointer(timeout)), 0)
	if errno != 0 {
		if errno == syscall.EINTR || errno == syscall.EAGAIN {
			return 0, nil
		}
		return 0, fmt.Errorf("io_getevents: %w", errno)
	}
	for i := range int(n) {
		done[i] = ioengine.Completion{Slot: uint32(e.events[i].data), Res: int64(e.events[i].res)}
	}
	return int(n), nil
}
