package uring

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ring is one io_uring, mapped. It belongs to the OS thread that made it.
type ring struct {
	fd      int
	enterFD uintptr // fd, or its registered index
	flags   uint32  // of the set-up
	feats   uint32  // features that the kernel says it has
	newest  uint8   // operation that is used if the kernel has it
	enter   uintptr // flags of every enter call

	sqHead, sqTail, sqFlags *uint32
	cqHead, cqTail          *uint32
	sqMask, cqMask          uint32
	sqes                    []sqe
	cqes                    []cqe
	tail, head              uint32 // our copies of the sq tail and the cq head

	maps [][]byte
	waiter
}

// flagNames says in results what a set-up flag is.
var flagNames = []struct {
	flag uint32
	name string
}{
	{setupNoSQArray, "no SQ array"},
	{setupSingleIssuer, "single issuer"},
	{setupDeferTaskrun, "deferred task run"},
	{setupCoopTaskrun, "cooperative task run"},
	{setupSQPoll, "SQPOLL"},
	{setupIOPoll, "IOPOLL"},
}

// ladder lists the sets of optional flags from best to plainest; an older kernel answers EINVAL to
// what it does not know. There is no look at the version: distributions carry features back.
func ladder(o Options) []uint32 {
	if o.bare {
		return []uint32{0}
	}
	if o.SQPoll {
		// The kernel's thread submits, so work cannot be deferred to ours: DEFER_TASKRUN and
		// COOP_TASKRUN are EINVAL with SQPOLL (io_uring/io_uring.c).
		return []uint32{setupNoSQArray | setupSingleIssuer, setupSingleIssuer, 0}
	}
	return []uint32{
		setupNoSQArray | setupSingleIssuer | setupDeferTaskrun | setupCoopTaskrun,
		setupSingleIssuer | setupDeferTaskrun | setupCoopTaskrun,
		setupCoopTaskrun,
		0,
	}
}

// sqThreadIdle is how long the kernel's submission thread spins before it sleeps, in milliseconds.
const sqThreadIdle = 1000

// newRing sets up a ring for depth I/Os.
func newRing(depth int, o Options) (*ring, error) {
	var wanted uint32
	if o.SQPoll {
		wanted |= setupSQPoll
	}
	if o.IOPoll {
		wanted |= setupIOPoll
	}
	var p params
	var errno syscall.Errno
	for _, optional := range ladder(o) {
		p = params{flags: wanted | optional, sqThreadIdle: sqThreadIdle}
		var fd uintptr
		fd, _, errno = syscall.Syscall(sysSetup, uintptr(depth), uintptr(unsafe.Pointer(&p)), 0)
		if errno == 0 {
			r := &ring{fd: int(fd), enterFD: fd, flags: p.flags, feats: p.features, newest: ^uint8(0)}
			if o.bare {
				r.feats &= featRWCurPos
				r.newest = opWrite
			}
			r.prepareWaits()
			if err := r.mapAll(&p); err != nil {
				return nil, errors.Join(err, r.close())
			}
			return r, nil
		}
		if errno != syscall.EINVAL {
			break
		}
	}
	return nil, fmt.Errorf("io_uring_setup: %w%s", errno, setupAdvice(errno))
}

// setupAdvice says what usually lies behind an errno.
func setupAdvice(errno syscall.Errno) string {
	switch errno {
	case syscall.ENOSYS:
		return " (this kernel has no io_uring, or a container's seccomp profile hides it)"
	case syscall.EPERM:
		return " (forbidden: sysctl kernel.io_uring_disabled, or a container's seccomp profile)"
	case syscall.ENOMEM:
		return " (RLIMIT_MEMLOCK is too low for the ring on this kernel: raise ulimit -l)"
	}
	return ""
}

func (r *ring) mapAll(p *params) error {
	sq, err := r.mmap(offsetSQRing, max(p.sq.array+p.sqEntries*4, p.sq.flags+4, p.sq.tail+4))
	if err != nil {
		return err
	}
	cq, err := r.mmap(offsetCQRing, p.cq.cqes+p.cqEntries*uint32(unsafe.Sizeof(cqe{})))
	if err != nil {
		return err
	}
	sqes, err := r.mmap(offsetSQEs, p.sqEntries*uint32(unsafe.Sizeof(sqe{})))
	if err != nil {
		return err
	}
	word := func(m []byte, offset uint32) *uint32 { return (*uint32)(unsafe.Pointer(&m[offset])) }
	r.sqHead, r.sqTail, r.sqFlags = word(sq, p.sq.head), word(sq, p.sq.tail), word(sq, p.sq.flags)
	r.cqHead, r.cqTail = word(cq, p.cq.head), word(cq, p.cq.tail)
	r.sqMask, r.cqMask = *word(sq, p.sq.ringMask), *word(cq, p.cq.ringMask)
	r.sqes = unsafe.Slice((*sqe)(unsafe.Pointer(&sqes[0])), p.sqEntries)
	r.cqes = unsafe.Slice((*cqe)(unsafe.Pointer(&cq[p.cq.cqes])), p.cqEntries)
	if p.flags&setupNoSQArray == 0 {
		// Entry i of the array is sqe i, for good.
		array := unsafe.Slice(word(sq, p.sq.array), p.sqEntries)
		for i := range array {
			array[i] = uint32(i)
		}
	}
	return nil
}

func (r *ring) mmap(offset int64, length uint32) ([]byte, error) {
	m, err := unix.Mmap(r.fd, offset, int(length), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("mapping the ring: %w", err)
	}
	r.maps = append(r.maps, m)
	return m, nil
}

// register makes one io_uring_register call; the result is its non-negative answer.
//
//go:uintptrescapes
func (r *ring) register(operation, arg uintptr, n int) (int, error) {
	got, _, errno := syscall.Syscall6(sysRegister, uintptr(r.fd), operation, arg, uintptr(n), 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(got), nil
}

// supports asks which operations the kernel has. Where io_uring_register is forbidden the features
// tell, which the set-up has answered.
func (r *ring) supports(ops ...uint8) error {
	has, err := r.operations()
	if err != nil {
		if r.feats&featRWCurPos == 0 {
			return fmt.Errorf("io_uring of this kernel is too old for plain reads and writes (before 5.6): %w", err)
		}
		return nil
	}
	for _, op := range ops {
		if !has(op) {
			return fmt.Errorf("io_uring of this kernel lacks operation %d", op)
		}
	}
	return nil
}

// operations asks which operations the kernel has.
func (r *ring) operations() (has func(op uint8) bool, err error) {
	p := new(probe)
	if _, err := r.register(registerProbe, uintptr(unsafe.Pointer(p)), len(p.ops)); err != nil {
		return nil, err
	}
	return func(op uint8) bool { return op <= min(p.lastOp, r.newest) && p.ops[op].flags&opSupported != 0 }, nil
}

// registerSelf lets enter calls name the ring by index, which spares the kernel a look-up.
func (r *ring) registerSelf() error {
	u := &rsrcUpdate{offset: ^uint32(0), data: uint64(r.fd)}
	if _, err := r.register(registerRingFDs, uintptr(unsafe.Pointer(u)), 1); err != nil {
		return err
	}
	r.enterFD = uintptr(u.offset)
	r.enter |= enterRegisteredRing
	return nil
}

// call is io_uring_enter; a limit above 0 bounds its wait. It is raw, so the scheduler does not know that
// the thread may block: the runner keeps the rules that this asks for.
func (r *ring) call(submit, wait int, flags uintptr, limit time.Duration) (int, syscall.Errno) {
	if limit > 0 && wait > 0 {
		return r.callWithin(submit, wait, flags, limit)
	}
	n, _, errno := syscall.RawSyscall6(sysEnter, r.enterFD, uintptr(submit), uintptr(wait), flags|r.enter, 0, 0)
	return int(n), errno
}

// try has the kernel carry out one sqe, alone in the ring, and returns its result.
func (r *ring) try(s sqe) (int32, error) {
	*r.next() = s
	r.publish()
	left := 1
	for range 1000 {
		n, errno := r.call(left, 1, enterGetEvents|enterSQWakeup, 0)
		if errno != 0 && !transient(errno) {
			return 0, enterError(errno)
		}
		if errno == 0 {
			left = max(left-n, 0)
		}
		if atomic.LoadUint32(r.cqTail) != r.head {
			res := r.cqes[r.head&r.cqMask].res
			r.head++
			atomic.StoreUint32(r.cqHead, r.head)
			return res, nil
		}
	}
	return 0, fmt.Errorf("io_uring_enter: operation %d did not complete", s.opcode)
}

// next is the sqe that the next push publishes.
func (r *ring) next() *sqe {
	s := &r.sqes[r.tail&r.sqMask]
	r.tail++
	return s
}

// publish shows the kernel all sqes so far.
func (r *ring) publish() { atomic.StoreUint32(r.sqTail, r.tail) }

// withdraw takes back what the kernel has not consumed. Not with SQPOLL, whose thread may be at it.
func (r *ring) withdraw() {
	r.tail = atomic.LoadUint32(r.sqHead)
	atomic.StoreUint32(r.sqTail, r.tail)
}

// close gives everything back. A thread keeps a ring that it has registered, and the ring the files that
// are registered with it, for as long as the thread lives; and a thread of Go's outlives its goroutine.
func (r *ring) close() error {
	var errs []error
	if r.enter&enterRegisteredRing != 0 {
		u := &rsrcUpdate{offset: uint32(r.enterFD)}
		_, err := r.register(unregisterRingFDs, uintptr(unsafe.Pointer(u)), 1)
		errs = append(errs, err)
	}
	for _, m := range r.maps {
		errs = append(errs, unix.Munmap(m))
	}
	r.maps = nil
	return errors.Join(append(errs, unix.Close(r.fd))...)
}
