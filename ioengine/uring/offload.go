package uring

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/ioengine"
	"blkstorm/ioengine/blocking"
	"blkstorm/op"
)

// offload says what becomes of I/Os that are no reads or writes.
type offload struct {
	others   bool         // the ring takes them at all
	discards []discardHow // per file
}

// discardHow is the way in which a block device is trimmed.
type discardHow uint8

const (
	discardBlocking discardHow = iota // by package blocking
	discardCommand                    // as a command, like a write
	discardWorker                     // as a command that a worker thread issues
)

// arrange finds out what the kernel can, and notes what concerns the announced I/Os.
func (e *engine) arrange(c *ioengine.Config) error {
	polled := e.ring.flags&setupIOPoll != 0
	e.others = !polled && e.ring.supports(opFsync, opFallocate) == nil
	e.discards = make([]discardHow, len(e.targets))
	if e.others && c.Ops[op.Trim] {
		if has, err := e.ring.operations(); err == nil && has(opURingCmd) {
			for i := range e.targets {
				if e.discards[i], err = e.discardsOf(&e.targets[i]); err != nil {
					return err
				}
			}
		}
	}
	e.describe(c, polled)
	return nil
}

// discardsOf asks a block device for a discard of nothing. The kernel looks at the device before it looks
// at the range: a good device's answer is EINVAL; one that cannot, and a kernel that cannot, give another.
func (e *engine) discardsOf(t *blocking.Target) (discardHow, error) {
	if !t.Block {
		return discardBlocking, nil
	}
	res, err := e.ring.try(sqe{opcode: opURingCmd, fd: int32(t.FD), off: cmdDiscard})
	if err != nil || res != -int32(syscall.EINVAL) {
		return discardBlocking, err
	}
	if mayBlock(t.FD) {
		return discardWorker, nil
	}
	return discardCommand, nil
}

// mayBlock says whether a device cannot be asked to do something without blocking (zram cannot). A
// command is tried so first, and such a device fails it with EOPNOTSUPP instead of asking for another
// thread. A read far beyond the end is refused for the same reason, and touches nothing.
func mayBlock(fd int) bool {
	buf := make([]byte, 4096)
	n, err := unix.Preadv2(fd, [][]byte{buf}, 1<<62, unix.RWF_NOWAIT)
	return n != 0 || err != nil
}

// describe notes how the announced I/Os are carried out.
func (e *engine) describe(c *ioengine.Config, polled bool) {
	// in is for what workers do, unless the ring does not take it.
	in := func(what string) {
		switch {
		case polled:
			e.info.Notes = append(e.info.Notes, what+" one at a time in the calling thread: a polled ring takes reads and writes only")
		case !e.others:
			e.info.Notes = append(e.info.Notes, what+" one at a time in the calling thread: io_uring of this kernel has none")
		default:
			e.info.Features = append(e.info.Features, what+" in kernel workers")
		}
	}
	if c.Ops[op.Sync] {
		in("syncs")
	}
	switch {
	case !c.Ops[op.Trim]:
		return
	case c.Flags&ioengine.Zeroes != 0:
		in("write zeroes")
		return
	}
	var files, devices bool
	worst := discardWorker + 1
	for i := range e.targets {
		files = files || !e.targets[i].Block
		if e.targets[i].Block {
			devices = true
			worst = min(worst, e.discards[i])
		}
	}
	if files {
		in("punched holes")
	}
	switch {
	case !devices:
	case worst == discardBlocking && !polled:
		e.info.Notes = append(e.info.Notes, "trims one at a time in the calling thread: io_uring of this kernel has no discards (before 6.12), or the device has none")
	case worst == discardCommand:
		e.info.Features = append(e.info.Features, "discard commands")
	default:
		in("discards")
	}
}

// blocks says whether an I/O is to be carried out in this thread.
func (e *engine) blocks(io *ioengine.IO) bool {
	switch {
	case io.Op <= op.Write:
		return false
	case !e.others:
		return true
	}
	return io.Op == op.Trim && io.Flags&ioengine.Zeroes == 0 && e.targets[io.File].Block && e.discards[io.File] == discardBlocking
}

// fillOther is fill for trims and syncs.
func (e *engine) fillOther(slot uint32) bool {
	io := &e.slots[slot]
	if e.blocks(io) {
		return false
	}
	e.mixed = true
	s := e.ring.next()
	*s = sqe{userData: uint64(slot)}
	e.aim(s, io)
	block := e.targets[io.File].Block
	switch {
	case io.Op == op.Sync:
		s.opcode = opFsync // of all of the file: offset and length are 0
		if io.Flags&ioengine.DataOnly != 0 {
			s.rwFlags = fsyncDataSync
		}
	case block && io.Flags&ioengine.Zeroes == 0:
		s.opcode, s.off, s.addr, s.addr3 = opURingCmd, cmdDiscard, uint64(io.Offset), uint64(io.Length)
		if e.discards[io.File] == discardWorker {
			s.flags |= sqeAsync
		}
	default:
		s.opcode, s.off, s.addr = opFallocate, uint64(io.Offset), uint64(io.Length)
		switch {
		case block: // the size cannot change, and beyond the end is an error
			s.length = unix.FALLOC_FL_ZERO_RANGE
		case io.Flags&ioengine.Zeroes != 0:
			s.length = blocking.ZeroRange
		default:
			s.length = blocking.PunchHole
		}
	}
	return true
}

// settle gives trims that went well their length: the kernel answers 0.
func (e *engine) settle(done []ioengine.Completion) {
	for i := range done {
		c := &done[i]
		if io := &e.slots[c.Slot]; io.Op == op.Trim && c.Res == 0 {
			c.Res = io.Length
		}
	}
}

// cycleAround is Cycle for a batch of which some I/Os are done in this thread; the first n are filled in.
// The kernel gets the others first, so that they go on meanwhile; the wait comes last.
func (e *engine) cycleAround(submit []uint32, n, wait int, limit time.Duration, done []ioengine.Completion) (submitted, completed int, err error) {
	for _, slot := range submit[n:] {
		if e.fill(slot) {
			n++
		}
	}
	left := 0 // of those taken, in the order of the batch
	if n > 0 {
		e.ring.publish()
		if left, err = e.enter(n, 0, limit); err != nil {
			return 0, 0, err
		}
	}
	e.inflight += left
	for _, slot := range submit {
		io := &e.slots[slot]
		if e.blocks(io) {
			done[completed] = ioengine.Completion{Slot: slot, Res: blocking.Do(&e.targets[io.File], io)}
			completed++
		} else {
			if left == 0 {
				break // what follows comes again
			}
			left--
		}
		submitted++
	}
	if e.inflight > 0 {
		_, err = e.enter(0, max(min(wait-completed, e.inflight), 0), limit)
		completed += e.collect(done[completed:])
	}
	return submitted, completed, err
}
