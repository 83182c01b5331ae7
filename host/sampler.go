package host

import (
	"bytes"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"
)

// Sampler reads the same counters again and again, for a caller whose every microsecond delays the
// thread that it measures: the files stay open and a sample allocates nothing. It is not safe for
// concurrent use.
type Sampler struct {
	cpu, net source
	disks    []source
	buf      []byte
	now      Counters
}

// Counters are what a Sampler has read. A counter that could not be read keeps its value of before,
// so that its growth is 0.
type Counters struct {
	cpu   CPUTimes
	net   NetStats
	disks []DiskStats
	known known
}

// known says which counters have ever been read: what came later has no growth since before.
type known struct {
	cpu, net bool
	disks    []bool
}

// Growth is what counters gained over some time.
type Growth struct {
	CPU   CPUShare
	Disks []DiskStats // per disk of the Sampler; zero where there is nothing to read
	Net   NetStats
}

// source is one counter file: open, or to be opened by the next sample.
type source struct {
	paths []string // the first that can be opened; none for a disk without a name
	fd    int
}

const closed = -1

// NewSampler returns a Sampler of the CPUs, the network and the disks with the given kernel names, as
// DiskStats has them; an empty or impossible name stands for a disk without counters. It never fails: a
// file that cannot be opened is tried again with each sample. Close it.
func (r Roots) NewSampler(disks []string) *Sampler {
	s := &Sampler{
		cpu: source{[]string{r.proc("stat")}, closed}, net: source{[]string{r.proc("net/dev")}, closed},
		disks: make([]source, len(disks)), buf: make([]byte, 4096),
	}
	s.now.disks, s.now.known.disks = make([]DiskStats, len(disks)), make([]bool, len(disks))
	for i, name := range disks {
		paths, _ := r.diskPaths(name) // none for an impossible name
		s.disks[i] = source{paths, closed}
	}
	return s
}

// Sample reads all counters into c, whose memory it uses again.
func (s *Sampler) Sample(c *Counters) {
	n := &s.now
	// The first line is far shorter than the buffer; after it, there are some for each CPU and interrupt.
	if b, ok := s.cpu.head(s.buf); ok && bytes.IndexByte(b, '\n') >= 0 {
		keep(&n.cpu, &n.known.cpu, &s.cpu, b, parseCPUTimes)
	}
	if b, ok := s.net.whole(&s.buf); ok {
		keep(&n.net, &n.known.net, &s.net, b, parseNetStats)
	}
	for i := range s.disks {
		if b, ok := s.disks[i].head(s.buf); ok { // sysfs gives a file in one piece
			keep(&n.disks[i], &n.known.disks[i], &s.disks[i], b, parseDiskStats)
		}
		if s.disks[i].fd == closed {
			n.disks[i].InFlight = 0 // the device is gone
		}
	}
	c.Copy(n)
}

// keep takes over what the text says. A text that cannot be read counts as none: the file is opened
// again next time.
func keep[T any](into *T, known *bool, from *source, b []byte, parse func([]byte) (T, error)) {
	v, err := parse(b)
	if err != nil {
		from.close()
		return
	}
	*into, *known = v, true
}

// Close closes the files.
func (s *Sampler) Close() {
	s.cpu.close()
	s.net.close()
	for i := range s.disks {
		s.disks[i].close()
	}
}

// head reads the beginning of the file. A read at offset 0 makes the kernel write the text afresh, in
// procfs and sysfs alike (fs/seq_file.c, seq_read_iter); that of a device that is gone fails with
// ENODEV (fs/kernfs/file.c), also when another has its name by now: then the path is opened again.
func (s *source) head(buf []byte) ([]byte, bool) {
	if s.fd == closed && !s.open() {
		return nil, false
	}
	n, err := pread(s.fd, buf, 0)
	if err != nil || n == 0 {
		s.close()
		return nil, false
	}
	return buf[:n], true
}

// longest is how long a counter file may be, in bytes: /proc/net/dev of 100,000 interfaces is shorter.
const longest = 16 << 20

// whole reads the file to its end, in a buffer that it replaces by a longer one when it must. A read of
// procfs gives no more than a page, however long the buffer.
func (s *source) whole(buf *[]byte) ([]byte, bool) {
	b, ok := s.head(*buf)
	for n := len(b); ok; {
		if n == len(*buf) {
			if n >= longest {
				break
			}
			*buf = slices.Grow(*buf, n)[:2*n]
		}
		more, err := pread(s.fd, (*buf)[n:], int64(n))
		if err != nil {
			break
		}
		if more == 0 {
			return (*buf)[:n], true
		}
		n += more
	}
	s.close()
	return nil, false
}

func pread(fd int, buf []byte, at int64) (int, error) {
	for {
		n, err := unix.Pread(fd, buf, at)
		if err != unix.EINTR {
			return n, err
		}
	}
}

func (s *source) open() bool {
	for _, path := range s.paths {
		if fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil {
			s.fd = fd
			return true
		}
	}
	return false
}

func (s *source) close() {
	if s.fd != closed {
		_ = unix.Close(s.fd) // nothing was written
		s.fd = closed
	}
}

// Copy makes c what o is, in c's own memory.
func (c *Counters) Copy(o *Counters) {
	c.cpu, c.net, c.known.cpu, c.known.net = o.cpu, o.net, o.known.cpu, o.known.net
	c.disks = append(c.disks[:0], o.disks...)
	c.known.disks = append(c.known.disks[:0], o.known.disks...)
}

// Since writes what the counters gained from b to the later c into g, whose memory it uses again. Both
// come from one Sampler.
func (c *Counters) Since(b *Counters, g *Growth) {
	g.CPU, g.Net, g.Disks = CPUShare{}, NetStats{}, g.Disks[:0]
	if b.known.cpu {
		g.CPU = c.cpu.Since(b.cpu)
	}
	if b.known.net {
		g.Net = c.net.Since(b.net)
	}
	for i := range c.disks {
		var d DiskStats
		if b.known.disks[i] {
			d = c.disks[i].Since(b.disks[i])
		}
		g.Disks = append(g.Disks, d)
	}
}

// word cuts the first word, of what white space parts, from the text; empty at its end.
func word(b []byte) (first, rest []byte) {
	i := 0
	for i < len(b) && space(b[i]) {
		i++
	}
	j := i
	for j < len(b) && !space(b[j]) {
		j++
	}
	return b[i:j], b[j:]
}

func space(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

// number reads a decimal number without a sign. It is strconv.ParseUint for bytes, which are not turned
// into a string first.
func number(b []byte) (uint64, error) {
	var n uint64
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || n > (1<<64-1-d)/10 {
			return 0, fmt.Errorf("%w: %q is no counter", ErrFormat, b)
		}
		n = n*10 + d
	}
	if len(b) == 0 {
		return 0, fmt.Errorf("%w: a counter is missing", ErrFormat)
	}
	return n, nil
}
