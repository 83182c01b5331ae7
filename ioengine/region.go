package ioengine

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Region is memory for I/O buffers: one anonymous mapping, page-aligned, outside the Go heap, so that
// the kernel can pin it and the garbage collector never moves or scans it.
type Region struct {
	mem    []byte
	stride int
}

// NewRegion maps count buffers of size bytes each. Every buffer begins on a page, which satisfies
// the direct I/O alignment of every file system and device known to the kernel.
func NewRegion(count int, size int64) (*Region, error) {
	page := int64(os.Getpagesize())
	stride := (size + page - 1) / page * page
	total := int64(count) * stride
	if count <= 0 || size <= 0 || total/int64(count) != stride {
		return nil, fmt.Errorf("buffers: %d of %d bytes cannot be mapped", count, size)
	}
	mem, err := unix.Mmap(-1, 0, int(total), unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_POPULATE)
	if err != nil {
		return nil, fmt.Errorf("buffers: mapping %d bytes (threads x iodepth x block size): %w; lower one of them", total, err)
	}
	return &Region{mem: mem, stride: int(stride)}, nil
}

// Stride is the distance between two buffers in bytes.
func (r *Region) Stride() int { return r.stride }

// Bytes is the whole region.
func (r *Region) Bytes() []byte { return r.mem }

// Buffer is the i-th buffer's first size bytes; its capacity ends there too.
func (r *Region) Buffer(i int, size int64) []byte {
	start := i * r.stride
	return r.mem[start : start+int(size) : start+int(size)]
}

// Free unmaps the region. It must not be called while an I/O is in flight.
func (r *Region) Free() error {
	mem := r.mem
	r.mem = nil
	return unix.Munmap(mem)
}
