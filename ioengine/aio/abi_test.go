package aio

import (
	"testing"
	"unsafe"
)

// The sizes and offsets are those of include/uapi/linux/aio_abi.h, and of fs/aio.c for the ring.
func TestLayout(t *testing.T) {
	var (
		cb iocb
		ev event
		h  ringHeader
	)
	for _, c := range []struct {
		name      string
		got, want uintptr
	}{
		{"iocb", unsafe.Sizeof(cb), 64},
		{"iocb.aio_key", unsafe.Offsetof(cb.key), 8},
		{"iocb.aio_rw_flags", unsafe.Offsetof(cb.rwFlags), 12},
		{"iocb.aio_lio_opcode", unsafe.Offsetof(cb.opcode), 16},
		{"iocb.aio_reqprio", unsafe.Offsetof(cb.reqprio), 18},
		{"iocb.aio_fildes", unsafe.Offsetof(cb.fd), 20},
		{"iocb.aio_buf", unsafe.Offsetof(cb.buf), 24},
		{"iocb.aio_nbytes", unsafe.Offsetof(cb.nbytes), 32},
		{"iocb.aio_offset", unsafe.Offsetof(cb.offset), 40},
		{"iocb.aio_flags", unsafe.Offsetof(cb.flags), 56},
		{"iocb.aio_resfd", unsafe.Offsetof(cb.resultFD), 60},
		{"io_event", unsafe.Sizeof(ev), 32},
		{"io_event.res", unsafe.Offsetof(ev.res), 16},
		{"aio_ring", unsafe.Sizeof(h), 32},
		{"aio_ring.magic", unsafe.Offsetof(h.magic), 16},
		{"aio_ring.incompat_features", unsafe.Offsetof(h.incompatFeatures), 24},
		{"aio_ring.header_length", unsafe.Offsetof(h.len), 28},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.name, c.got, c.want)
		}
	}
}
