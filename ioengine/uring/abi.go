package uring

// The kernel's side of io_uring, from include/uapi/linux/io_uring.h. Layouts are pinned by tests.

// System calls (the same number on every architecture, since Linux 5.1).
const (
	sysSetup    = 425
	sysEnter    = 426
	sysRegister = 427
)

// io_uring_setup flags, with the kernel that brought them.
const (
	setupIOPoll       = 1 << 0  // 5.1
	setupSQPoll       = 1 << 1  // 5.1
	setupCoopTaskrun  = 1 << 8  // 5.19
	setupSingleIssuer = 1 << 12 // 6.0
	setupDeferTaskrun = 1 << 13 // 6.1
	setupNoSQArray    = 1 << 16 // 6.6
)

// io_uring_enter flags.
const (
	enterGetEvents      = 1 << 0
	enterSQWakeup       = 1 << 1
	enterExtArg         = 1 << 3 // 5.11
	enterRegisteredRing = 1 << 4 // 5.18
)

// io_uring_register operations.
const (
	registerBuffers   = 0
	registerFiles     = 2
	unregisterFiles   = 3
	registerProbe     = 8  // 5.6
	registerRingFDs   = 20 // 5.18
	unregisterRingFDs = 21 // 5.18
)

// Operations of an sqe.
const (
	opNop        = 0
	opFsync      = 3
	opReadFixed  = 4
	opWriteFixed = 5
	opFallocate  = 17 // 5.6
	opRead       = 22 // 5.6
	opWrite      = 23 // 5.6
	opURingCmd   = 46 // 5.19
)

// cmdDiscard is BLOCK_URING_CMD_DISCARD of include/uapi/linux/blkdev.h, _IO(0x12, 0); since 6.12.
const cmdDiscard = 0x12 << 8

const fsyncDataSync = 1 << 0 // IORING_FSYNC_DATASYNC

// Features that io_uring_setup tells of.
const (
	featRWCurPos   = 1 << 3  // came with the plain read and write operations (5.6)
	featExtArg     = 1 << 8  // enter takes a limit to its wait (5.11)
	featLinkedFile = 1 << 12 // 5.18, whose waits end by a high-resolution timer
)

const (
	sqeFixedFile   = 1 << 0 // IOSQE_FIXED_FILE
	sqeAsync       = 1 << 4 // IOSQE_ASYNC
	sqNeedWakeup   = 1 << 0 // IORING_SQ_NEED_WAKEUP
	opSupported    = 1 << 0 // IO_URING_OP_SUPPORTED
	offsetSQRing   = 0
	offsetCQRing   = 0x8000000
	offsetSQEs     = 0x10000000
	maxFixedBuffer = 1 << 30 // bytes in one registered buffer, io_uring/rsrc.c
)

// sqe is struct io_uring_sqe, as the operations above use it.
type sqe struct {
	opcode   uint8
	flags    uint8
	ioprio   uint16
	fd       int32
	off      uint64
	addr     uint64
	length   uint32
	rwFlags  uint32 // fsync_flags too
	userData uint64
	bufIndex uint16
	_        uint16
	_        int32
	addr3    uint64
	_        uint64
}

// cqe is struct io_uring_cqe.
type cqe struct {
	userData uint64
	res      int32
	flags    uint32
}

// sqOffsets is struct io_sqring_offsets.
type sqOffsets struct {
	head, tail, ringMask, ringEntries, flags, dropped, array, _ uint32
	_                                                           uint64
}

// cqOffsets is struct io_cqring_offsets.
type cqOffsets struct {
	head, tail, ringMask, ringEntries, overflow, cqes, flags, _ uint32
	_                                                           uint64
}

// params is struct io_uring_params.
type params struct {
	sqEntries, cqEntries, flags, sqThreadCPU, sqThreadIdle, features, wqFD uint32
	_                                                                      [3]uint32
	sq                                                                     sqOffsets
	cq                                                                     cqOffsets
}

// enterArg is struct io_uring_getevents_arg.
type enterArg struct {
	sigmask     uint64
	sigmaskSize uint32
	minWaitUsec uint32
	ts          uint64
}

// timespec is struct __kernel_timespec.
type timespec struct{ sec, nsec int64 }

// rsrcUpdate is struct io_uring_rsrc_update.
type rsrcUpdate struct {
	offset uint32
	_      uint32
	data   uint64
}

// probeOp is struct io_uring_probe_op; probe is struct io_uring_probe with room for every opcode.
type probeOp struct {
	op    uint8
	_     uint8
	flags uint16
	_     uint32
}

type probe struct {
	lastOp uint8
	opsLen uint8
	_      uint16
	_      [3]uint32
	ops    [256]probeOp
}

// iovec is struct iovec of bits/types/struct_iovec.h.
type iovec struct {
	base uintptr
	len  uintptr
}
