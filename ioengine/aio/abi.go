package aio

// The kernel's side of Linux AIO, from include/uapi/linux/aio_abi.h and fs/aio.c. Layouts are pinned
// by tests.

// Commands of an iocb.
const (
	cmdPread  = 0
	cmdPwrite = 1
	cmdFsync  = 2 // 4.18, as cmdFdsync
	cmdFdsync = 3
)

// iocb is struct iocb on a little-endian machine.
type iocb struct {
	data     uint64
	key      uint32
	rwFlags  int32
	opcode   uint16
	reqprio  int16
	fd       uint32
	buf      uint64
	nbytes   uint64
	offset   int64
	_        uint64
	flags    uint32
	resultFD uint32
}

// event is struct io_event.
type event struct {
	data uint64
	obj  uint64
	res  int64
	res2 int64
}

// ringHeader is struct aio_ring of fs/aio.c: the context handle is its address, in our own memory.
// It is no promise of the kernel's, but has been the same since 2.6, and says by its magic what it is.
type ringHeader struct {
	id, nr, head, tail                           uint32
	magic, compatFeatures, incompatFeatures, len uint32
}

const ringMagic = 0xa10a10a1
