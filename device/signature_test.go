package device

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"blkstorm/lab"
)

// sparseDisk is a disk of any size that holds the parts and else zeros. It fails the test on a read
// that O_DIRECT would refuse, and returns the error fail for the block at failAt.
type sparseDisk struct {
	t      testing.TB
	size   int64
	parts  []patch
	reads  int
	bytes  int64
	fail   error
	failAt int64
}

func (d *sparseDisk) ReadAt(p []byte, off int64) (int, error) {
	if off%4096 != 0 || len(p)%4096 != 0 || uintptr(unsafe.Pointer(&p[0]))%4096 != 0 || off >= d.size {
		d.t.Errorf("read of %d at %d into %p of a disk of %d", len(p), off, p, d.size)
	}
	d.reads++
	d.bytes += int64(len(p))
	if d.fail != nil && off <= d.failAt && d.failAt < off+int64(len(p)) {
		return 0, d.fail
	}
	n := min(int64(len(p)), d.size-off)
	clear(p)
	for _, part := range d.parts {
		end := min(part.off+int64(len(part.data)), off+n)
		if from := max(part.off, off); from < end {
			copy(p[from-off:end-off], part.data[from-part.off:])
		}
	}
	if n < int64(len(p)) {
		return int(n), io.EOF
	}
	return int(n), nil
}

func TestSignatureNone(t *testing.T) {
	for _, size := range []int64{0, 1, 511, 512, 513, 1024, 2048, 4095, 4096, 4097, 8192, 64 << 10, miB, miB + 1,
		sigHead, sigWhole - 1, sigWhole, sigWhole + 1, 16 << 20, 64*miB + 1, 10 * giB, 3000*giB + 512} {
		d := &sparseDisk{t: t, size: size}
		found, err := ProbeSignatures(d, size)
		if err != nil || len(found) != 0 || found == nil {
			t.Errorf("size %d: found %v, %v", size, found, err)
		}
		if d.reads > 13 || d.bytes > sigWhole+4096 {
			t.Errorf("size %d: %d reads of %d bytes", size, d.reads, d.bytes)
		}
	}
	for _, size := range []int64{512, 2048, miB + 1} {
		for _, flags := range []int{0, unix.O_DIRECT} {
			if found := probeFile(t, lab.File(t, size), flags); len(found) != 0 {
				t.Errorf("file of %d zeros: %v", size, found)
			}
		}
	}
}

func TestSignatureErrors(t *testing.T) {
	const size = 128 * miB
	for _, c := range []struct {
		name   string
		size   int64
		failAt int64
		fail   error
		want   string
	}{
		{"start", size, 0, syscall.EIO, "read at offset 0: input/output error"},
		{"middle", size, 64 * miB, syscall.EIO, "read at offset 67108864: input/output error"},
		{"end", size, size - 1, syscall.EIO, "read at offset 132120576: input/output error"},
		{"shorter than said", size + 4096, -1, nil, "read at offset 132124672: 2093056 of 2097152 bytes: unexpected EOF"},
		{"negative size", -1, -1, nil, "negative size -1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := ProbeSignatures(&sparseDisk{t: t, size: size, failAt: c.failAt, fail: c.fail}, c.size)
			if found != nil || err == nil || !strings.HasSuffix(err.Error(), c.want) || c.fail != nil && !errors.Is(err, c.fail) {
				t.Errorf("found %v, %v; want an error that ends in %q", found, err, c.want)
			}
		})
	}
}

// O_DIRECT on a file whose size is no whole number of blocks, on loops of 512 and of 4096, and on a
// loop of 512 whose size is no whole number of 4096.
func TestSignatureDirect(t *testing.T) {
	t.Run("file", func(t *testing.T) {
		path := lab.File(t, 16<<20+100)
		lab.Run(t, "mkfs.ext4", "-q", "-F", path, "16384")
		write(t, path, (16<<20+100)/4096*4096-8192, md1(16<<20-8192))
		for _, flags := range []int{0, unix.O_DIRECT} {
			wantNames(t, probeFile(t, path, flags), "filesystem/ext4", "raid/md 1.0")
		}
	})
	for _, c := range []struct {
		name   string
		size   int64
		sector int
	}{
		{"loop 512", 16 << 20, 512},
		{"loop 512, odd size", 16<<20 + 3*512, 512},
		{"loop 4096", 16 << 20, 4096},
	} {
		t.Run(c.name, func(t *testing.T) {
			dev := lab.Loop(t, c.size, lab.LoopOptions{SectorSize: c.sector})
			lab.Run(t, "sgdisk", "-n", "1:0:0", dev)
			want := []Signature{
				{"partition-table", "gpt", int64(c.sector)},
				{"partition-table", "gpt backup", c.size - int64(c.sector)},
			}
			wantOracle(t, dev, "PTTYPE=gpt")
			for _, flags := range []int{0, unix.O_DIRECT} {
				if found := probeFile(t, dev, flags); len(found) != 2 || found[0] != want[0] || found[1] != want[1] {
					t.Errorf("flags %#x: found %v, want %v", flags, found, want)
				}
			}
			wipe(t, dev, 0, 1<<20)
			if found := probeFile(t, dev, unix.O_DIRECT); len(found) != 1 || found[0] != want[1] {
				t.Errorf("start wiped: found %v, want %v", found, want[1])
			}
			wipe(t, dev, c.size-64<<10, 64<<10)
			if found := probeFile(t, dev, unix.O_DIRECT); len(found) != 0 {
				t.Errorf("start and end wiped: found %v", found)
			}
		})
	}
}

// randomPool is random by a fixed seed; tests look at it through windows that slide by 8 bytes.
var randomPool = sync.OnceValue(func() []byte {
	r, pool := rand.NewPCG(1, 2), make([]byte, 8<<20)
	for i := 0; i < len(pool); i += 8 {
		binary.LittleEndian.PutUint64(pool[i:], r.Uint64())
	}
	return pool
})

// randomDisk is full of random data, another at every seed.
type randomDisk struct{ seed int64 }

func (d randomDisk) ReadAt(p []byte, off int64) (int, error) {
	pool := randomPool()
	at := (off + d.seed*4104) % int64(len(pool))
	for n := 0; n < len(p); at = 0 {
		n += copy(p[n:], pool[at:])
	}
	return len(p), nil
}

// Random data is nobody's.
func TestSignatureRandom(t *testing.T) {
	n := int64(1000) // 3.2 MB each
	if testing.Short() {
		n = 50
	}
	for seed := range n {
		if found, err := ProbeSignatures(randomDisk{seed}, 2000*giB); err != nil || len(found) != 0 {
			t.Errorf("seed %d: found %v, %v", seed, found, err)
		}
	}
}

// A short magic that random data holds by chance (2 bytes: one in 65536) must mostly be seen
// through by what lies beside it: here it is planted, and no more than the bound may pass.
func TestSignatureShortMagic(t *testing.T) {
	const tries, size = 1 << 16, 8192
	for _, c := range []struct {
		name  string
		off   int64
		magic string
		bound int // of 65536
	}{
		{"ext", 1024 + 56, "\x53\xef", 0},
		{"minix 1", 1024 + 16, "\x7f\x13", 0},
		{"minix 2", 1024 + 16, "\x68\x24", 0},
		{"minix 3", 1024 + 24, "\x5a\x4d", 0},
		{"nilfs2", 1024 + 6, "\x34\x34", 0},
		{"nilfs2 copy", size - 4096 + 6, "\x34\x34", 0},
		{"hfs", 1024, "BD", 1},
		{"hfsplus", 1024, "H+", 0},
		{"boot sector", 510, "\x55\xaa", 6}, // those that begin with a near jump
		{"LVM1", 0, "HM", 6},                // any of two versions
		{"sun", 508, "\xda\xbe", 6},         // a sum of 16 bits
		{"mac", 0, "ER", 0},
		{"via", size - 512, "\x55\xaa", 8}, // a sum of 8 bits and 3 versions
		{"jmicron", size - 512, "JM", 1},
		{"Core Storage", 88, "CS", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			pool, buf, hits := randomPool(), make([]byte, size), 0
			for i := range tries {
				copy(buf, pool[i*8:])
				copy(buf[c.off:], c.magic)
				img := &sigImage{size: size, windows: []sigWindow{{0, buf}}}
				if len(img.signatures()) > 0 {
					hits++
				}
			}
			if hits > c.bound {
				t.Errorf("%d of %d pass, want at most %d", hits, tries, c.bound)
			}
		})
	}
}

// What load generators and testers write is nobody's either: one byte all over, counters of any
// width, block numbers, text.
func TestSignaturePatterns(t *testing.T) {
	const size = 4 << 20
	buf := make([]byte, size)
	check := func(name string) {
		t.Helper()
		if found, err := ProbeSignatures(bytes.NewReader(buf), size); err != nil || len(found) != 0 {
			t.Errorf("%s: found %v, %v", name, found, err)
		}
	}
	fill := func(unit []byte) {
		for n := copy(buf, unit); n < size; n *= 2 {
			copy(buf[n:], buf[:n])
		}
	}
	for i := range 256 {
		fill([]byte{byte(i)})
		check("one byte")
	}
	for _, s := range []string{"\x55\xaa", "\xaa\x55", "\xde\xad\xbe\xef", "\xef\xbe\xad\xde", "fio!", "all work and no play "} {
		fill([]byte(s))
		check(s)
	}
	for _, o := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, step := range []int{2, 4, 8, 512, 4096} {
			clear(buf)
			for i := 0; i < size; i += step {
				if step == 2 {
					copy(buf[i:], o.AppendUint16(nil, uint16(i/step)))
				} else if step == 4 {
					copy(buf[i:], o.AppendUint32(nil, uint32(i/step)))
				} else {
					copy(buf[i:], o.AppendUint64(nil, uint64(i/step)))
				}
			}
			check("counter")
		}
	}
}

// FuzzProbeSignatures looks for content and sizes that make it panic, read where it should not, or
// report what lies outside the device. The content is laid at the start and at the end.
func FuzzProbeSignatures(f *testing.F) {
	for _, m := range sigMagics {
		f.Add(append(make([]byte, m.offsets[0]%(64<<10)), m.magic...), int64(1<<20))
	}
	f.Add(md1(0), int64(8<<20+1))
	f.Add(record(1536, patch{510, []byte("\x55\xaa")}, patch{512, []byte("EFI PART")}), int64(1024))
	f.Add(record(2048, patch{1024, hfs()}), int64(2048))
	f.Add([]byte("ER\xff\xff"), int64(512))
	f.Fuzz(func(t *testing.T, data []byte, size int64) {
		if size < 0 {
			size = -(size + 1)
		}
		d := &sparseDisk{t: t, size: size, parts: []patch{{0, data}, {size - int64(len(data)), data}}}
		found, err := ProbeSignatures(d, size)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range found {
			if s.Kind == "" || s.Name == "" || s.Offset < 0 || s.Offset >= size {
				t.Errorf("size %d: %v", size, s)
			}
		}
	})
}

// A descriptor that cannot be read is an error, not an empty disk.
func TestSignatureClosedFile(t *testing.T) {
	f, err := os.Open(lab.File(t, 4096))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if found, err := ProbeSignatures(f, 4096); !errors.Is(err, os.ErrClosed) {
		t.Errorf("found %v, %v; want %v", found, err, os.ErrClosed)
	}
}
