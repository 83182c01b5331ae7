package device

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"unsafe"
)

// Signature is a mark found on a device that says its content belongs to somebody.
type Signature struct {
	// Kind is one short stable word for what sort of owner it is: "filesystem", "partition-table",
	// "boot-sector", "raid", "drbd", "lvm", "luks", "bitlocker", "swap", "bcache", "zfs", "ceph", "vmfs",
	// "stratis", "vdo", "asm" or "device-mapper".
	Kind string `json:"kind"`
	// Name is the owner itself: "ext4", "xfs", "gpt", "md 1.2", "LUKS2".
	Name string `json:"name"`
	// Offset is where the magic lies, in bytes from the start of the device.
	Offset int64 `json:"offset"`
}

// Where the marks lie decides what is read. Everything is a multiple of sigBlock, so that a
// descriptor opened with O_DIRECT serves whatever its logical block size (512 to 4096).
const (
	sigBlock = 4096
	kiB      = int64(1) << 10
	miB      = int64(1) << 20
	giB      = int64(1) << 30

	// sigHead covers everything up to the volume header of VMFS at 1 MiB.
	sigHead = miB + 64*kiB
	// sigTail covers the two labels of ZFS (768 KiB before the end at most), the copy of bcachefs
	// (1 MiB) and the farthest place of Promise firmware (3087 sectors).
	sigTail = 2 * miB
	// sigWhole is the size up to which a device is read whole, in one piece.
	sigWhole = 8 * miB
)

// sigSpots are the single blocks between head and tail.
var sigSpots = []int64{
	2 * miB,    // VMFS 3 to 5 file system, bcachefs copy, LUKS2 second header
	4 * miB,    // LUKS2 second header
	18 * miB,   // VMFS file system inside a partition-less volume
	19 * miB,   // VMFS file system behind its volume header (1 MiB + 16 MiB + 2 MiB)
	64 * miB,   // btrfs, first mirror
	256 * miB,  // btrfs on a zoned disk, second zone of its superblocks
	1 * giB,    // bluestore, label copy
	10 * giB,   // bluestore, label copy
	100 * giB,  // bluestore, label copy
	256 * giB,  // btrfs, second mirror
	1000 * giB, // bluestore, label copy
}

// ProbeSignatures reads the start and the end of a device or file of size bytes, and a few single
// blocks between, and returns all marks found, ordered by offset; none is an empty slice.
//
// It reads in blocks of 4096 bytes at offsets of 4096 into a buffer aligned to 4096, 13 times at
// most, so r may be a descriptor opened with O_DIRECT. A read error is returned and names the
// offset: what could not be read cannot be called free. It does not verify checksums where the
// magic is long: a damaged superblock still says whose the device is.
func ProbeSignatures(r io.ReaderAt, size int64) ([]Signature, error) {
	if size < 0 {
		return nil, fmt.Errorf("probe signatures: negative size %d", size)
	}
	img := &sigImage{size: size}
	if err := img.load(r); err != nil {
		return nil, err
	}
	return img.signatures(), nil
}

// sigImage is what has been read of a device; the checks look only at it and read nothing.
type sigImage struct {
	size    int64
	windows []sigWindow
}

type sigWindow struct {
	off  int64
	data []byte
}

// load reads all windows.
func (m *sigImage) load(r io.ReaderAt) error {
	if m.size <= sigWhole {
		return m.read(r, 0, m.size)
	}
	if err := m.read(r, 0, sigHead); err != nil {
		return err
	}
	tail := (m.size - sigTail) / sigBlock * sigBlock
	for _, off := range sigSpots {
		if off >= tail {
			break
		}
		if err := m.read(r, off, sigBlock); err != nil {
			return err
		}
	}
	return m.read(r, tail, m.size-tail)
}

// read adds the window of n bytes at off, less what lies behind the end of the device. The length
// asked of r is rounded up to whole blocks, because O_DIRECT wants that also of the last, partial
// block of a file; such a read ends short with io.EOF, and that is no error.
func (m *sigImage) read(r io.ReaderAt, off, n int64) error {
	n = min(n, m.size-off)
	if n <= 0 {
		return nil
	}
	buf := sigBuffer(int((n + sigBlock - 1) / sigBlock * sigBlock))
	got, err := r.ReadAt(buf, off)
	if int64(got) < n {
		if err == nil || errors.Is(err, io.EOF) {
			err = fmt.Errorf("%d of %d bytes: %w", got, n, io.ErrUnexpectedEOF)
		}
		return fmt.Errorf("probe signatures: read at offset %d: %w", off, err)
	}
	m.windows = append(m.windows, sigWindow{off: off, data: buf[:n:n]})
	return nil
}

// sigBuffer returns n bytes whose address is a multiple of sigBlock.
func sigBuffer(n int) []byte {
	b := make([]byte, n+sigBlock)
	skip := -int(uintptr(unsafe.Pointer(&b[0]))) & (sigBlock - 1)
	return b[skip : skip+n : skip+n]
}

// at returns the n bytes at off, or nil where they were not read or lie outside the device.
func (m *sigImage) at(off int64, n int) []byte {
	for _, w := range m.windows {
		if off >= w.off && off-w.off <= int64(len(w.data))-int64(n) {
			i := off - w.off
			return w.data[i : i+int64(n)]
		}
	}
	return nil
}

// has tells whether magic lies at off.
func (m *sigImage) has(off int64, magic string) bool {
	return string(m.at(off, len(magic))) == magic
}

// lastBlock returns the offset of the n-th block from the end (1 is the last), in blocks of bs bytes.
func (m *sigImage) lastBlock(bs, n int64) int64 {
	return (m.size/bs - n) * bs
}

// signatures runs all checks.
func (m *sigImage) signatures() []Signature {
	found := []Signature{}
	for _, t := range sigMagics {
		for _, off := range t.offsets {
			if m.has(off, t.magic) {
				found = append(found, Signature{t.kind, t.name, off})
			}
		}
	}
	for _, check := range sigChecks {
		found = append(found, check(m)...)
	}
	found = append(found, m.bootSector(found)...)
	slices.SortStableFunc(found, func(a, b Signature) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return slices.Compact(found)
}
