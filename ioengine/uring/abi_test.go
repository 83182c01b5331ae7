package uring

import (
	"testing"
	"unsafe"
)

// The sizes and offsets are those of include/uapi/linux/io_uring.h.
func TestLayout(t *testing.T) {
	var (
		s sqe
		c cqe
		p params
		q sqOffsets
		r cqOffsets
		u rsrcUpdate
		b probe
		a enterArg
	)
	for _, c := range []struct {
		name      string
		got, want uintptr
	}{
		{"io_uring_sqe", unsafe.Sizeof(s), 64},
		{"sqe.flags", unsafe.Offsetof(s.flags), 1},
		{"sqe.ioprio", unsafe.Offsetof(s.ioprio), 2},
		{"sqe.fd", unsafe.Offsetof(s.fd), 4},
		{"sqe.off", unsafe.Offsetof(s.off), 8},
		{"sqe.addr", unsafe.Offsetof(s.addr), 16},
		{"sqe.len", unsafe.Offsetof(s.length), 24},
		{"sqe.rw_flags", unsafe.Offsetof(s.rwFlags), 28},
		{"sqe.user_data", unsafe.Offsetof(s.userData), 32},
		{"sqe.buf_index", unsafe.Offsetof(s.bufIndex), 40},
		{"sqe.addr3", unsafe.Offsetof(s.addr3), 48},
		{"io_uring_cqe", unsafe.Sizeof(c), 16},
		{"cqe.res", unsafe.Offsetof(c.res), 8},
		{"io_uring_params", unsafe.Sizeof(p), 120},
		{"params.sq_thread_idle", unsafe.Offsetof(p.sqThreadIdle), 16},
		{"params.features", unsafe.Offsetof(p.features), 20},
		{"params.sq_off", unsafe.Offsetof(p.sq), 40},
		{"params.cq_off", unsafe.Offsetof(p.cq), 80},
		{"io_sqring_offsets", unsafe.Sizeof(q), 40},
		{"sq_off.flags", unsafe.Offsetof(q.flags), 16},
		{"sq_off.array", unsafe.Offsetof(q.array), 24},
		{"io_cqring_offsets", unsafe.Sizeof(r), 40},
		{"cq_off.cqes", unsafe.Offsetof(r.cqes), 20},
		{"io_uring_rsrc_update", unsafe.Sizeof(u), 16},
		{"rsrc_update.data", unsafe.Offsetof(u.data), 8},
		{"io_uring_probe", unsafe.Sizeof(b), 16 + 256*8},
		{"probe.ops", unsafe.Offsetof(b.ops), 16},
		{"io_uring_probe_op.flags", unsafe.Offsetof(b.ops[0].flags), 2},
		{"io_uring_getevents_arg", unsafe.Sizeof(a), 24},
		{"io_uring_getevents_arg.ts", unsafe.Offsetof(a.ts), 16},
		{"__kernel_timespec", unsafe.Sizeof(timespec{}), 16},
		{"iovec", unsafe.Sizeof(iovec{}), 2 * unsafe.Sizeof(uintptr(0))},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d, want %d", c.name, c.got, c.want)
		}
	}
}
