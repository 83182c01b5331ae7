package host

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blkstorm/lab"
)

// counterTree has counters of CPUs, network and two disks.
func counterTree(t testing.TB) (r Roots, write func(name, content string)) {
	t.Helper()
	r = tree(t, map[string]string{
		"proc/stat": "cpu  10 20 30 40 50 60 70 80 5 6\ncpu0 1 2 3 4\n", "proc/net/dev": netDev,
		"sys/class/block/sda/stat": stat17, "sys/block/sdb/stat": stat11,
	})
	return r, func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(filepath.Dir(r.Sys), name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func sampled(s *Sampler) *Counters {
	c := &Counters{}
	s.Sample(c)
	return c
}

func since(a, b *Counters) Growth {
	g := Growth{Disks: []DiskStats{{ReadIOs: 99}, {}, {}, {}, {}}} // its content must not matter
	a.Since(b, &g)
	return g
}

// A sample says the same as the functions that read once.
func TestSamplerReadsTheSame(t *testing.T) {
	r, write := counterTree(t)
	s := r.NewSampler([]string{"sda", "sdb", "", ".."})
	defer s.Close()
	for _, more := range []uint64{0, 7} {
		write("proc/stat", fmt.Sprintf("cpu  %d 20 30 40 50 60 70 80 5 6\ncpu0 1 2 3 4\n", 10+more))
		write("sys/block/sdb/stat", fmt.Sprintf("%d %s", 11+more, stat11[3:]))
		got := sampled(s)
		cpu, err1 := r.CPUTimes()
		net, err2 := r.NetStats()
		sda, err3 := r.DiskStats("sda")
		sdb, err4 := r.DiskStats("sdb")
		if err1 != nil || err2 != nil || err3 != nil || err4 != nil {
			t.Fatal(err1, err2, err3, err4)
		}
		if got.cpu != cpu || got.net != net {
			t.Errorf("%+v %+v, want %+v %+v", got.cpu, got.net, cpu, net)
		}
		if d := cmp.Diff([]DiskStats{sda, sdb, {}, {}}, got.disks); d != "" {
			t.Error(d)
		}
		if cpu.User != 10+more || sdb.ReadIOs != 11+more {
			t.Errorf("stale: %+v %+v", cpu, sdb)
		}
	}
}

func TestSamplerGrowth(t *testing.T) {
	r, write := counterTree(t)
	s := r.NewSampler([]string{"sda", "sdb"})
	defer s.Close()
	before := sampled(s)
	write("proc/stat", "cpu  40 20 30 110 50 60 70 80 5 6\n")
	write("proc/net/dev", strings.Replace(netDev, "eth0:1000", "eth0:1500", 1))
	write("sys/block/sdb/stat", "15"+stat11[2:])
	want := Growth{CPU: CPUShare{UserPct: 30}, Net: NetStats{RxBytes: 500}, Disks: []DiskStats{{InFlight: 3}, {ReadIOs: 4, InFlight: 3}}}
	if d := cmp.Diff(want, since(sampled(s), before)); d != "" {
		t.Error(d)
	}
}

// Counters that go away have no growth, neither then nor when they are back.
func TestSamplerVanishingFiles(t *testing.T) {
	r, write := counterTree(t)
	s := r.NewSampler([]string{"sda"})
	defer s.Close()
	before := sampled(s)
	// An empty file is what is left of a counter while its descriptor stays open.
	for _, name := range []string{"proc/stat", "proc/net/dev", "sys/class/block/sda/stat"} {
		for _, bad := range []string{"", "nonsense: 1 2\n", "cpu 1 2 3 4 without an end", strings.Repeat(" ", 10_000)} {
			write(name, bad)
			if d := cmp.Diff(Growth{Disks: []DiskStats{{InFlight: since(sampled(s), before).Disks[0].InFlight}}}, since(sampled(s), before)); d != "" {
				t.Errorf("%s is %q: %s", name, bad, d)
			}
		}
	}
	gone := sampled(s)
	if in := since(gone, before).Disks[0].InFlight; in != 0 {
		t.Errorf("a device that is gone has %d in flight", in)
	}
	// The disk comes back as a new file, one I/O on.
	stat := filepath.Join(r.Sys, "class/block/sda/stat")
	if err := os.Remove(stat); err != nil {
		t.Fatal(err)
	}
	sampled(s)
	write("sys/class/block/sda/stat", strings.Replace(stat17, "11", "12", 1))
	if got := since(sampled(s), gone).Disks[0]; got != (DiskStats{ReadIOs: 1, InFlight: 3}) {
		t.Errorf("a device that is back: %+v", got)
	}
}

// What could not be read at first has not grown from nothing to all since boot when it can be read.
func TestSamplerLateFiles(t *testing.T) {
	r := tree(t, map[string]string{"sys/class/block/sda/other": "", "proc/net/other": ""})
	s := r.NewSampler([]string{"sda"})
	defer s.Close()
	before := sampled(s)
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(filepath.Dir(r.Sys), name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("proc/stat", "cpu 1 2 3 4\n")
	write("proc/net/dev", netDev)
	write("sys/class/block/sda/stat", stat17)
	after := sampled(s)
	if d := cmp.Diff(Growth{Disks: []DiskStats{{}}}, since(after, before)); d != "" {
		t.Error(d)
	}
	if !after.known.cpu || !after.known.net || !after.known.disks[0] {
		t.Errorf("not read: %+v", after.known)
	}
}

// A machine with hundreds of CPUs and interfaces: of the one file only the beginning is needed, the
// other is longer than the buffer.
func TestSamplerLongFiles(t *testing.T) {
	var stat, dev strings.Builder
	stat.WriteString("cpu " + strings.Repeat(" 18446744073709551615", 10) + "\n")
	for i := range 4096 {
		fmt.Fprintf(&stat, "cpu%d 1 2 3 4 5 6 7 8 9 10\n", i)
		fmt.Fprintf(&dev, "veth%d: 1000 1 0 0 0 0 0 0 1 2 3 4 5 6 7 8\n", i)
	}
	r := tree(t, map[string]string{"proc/stat": stat.String(), "proc/net/dev": dev.String()})
	s := r.NewSampler(nil)
	defer s.Close()
	c := sampled(s)
	if want := (NetStats{RxBytes: 4096 * 1000, TxBytes: 4096}); c.net != want || c.cpu.Steal != 1<<64-1 {
		t.Errorf("%+v %+v", c.net, c.cpu)
	}
	if n := testing.AllocsPerRun(10, func() { s.Sample(c) }); n != 0 {
		t.Errorf("%g allocations once the buffer has grown", n)
	}
}

// On the running machine a sample allocates nothing, is fresh each time, and leaves no file open.
func TestSamplerThisMachine(t *testing.T) {
	open := openFiles(t)
	entries, err := os.ReadDir("/sys/class/block")
	if err != nil {
		lab.Missing(t, err.Error())
	}
	var disks []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "loop") { // other tests' devices come and go
			disks = append(disks, e.Name())
		}
	}
	s := Roots{}.NewSampler(disks)
	a, b, g := &Counters{}, &Counters{}, &Growth{}
	s.Sample(a)
	for began := time.Now(); time.Since(began) < 60*time.Millisecond; {
		_ = began
	}
	s.Sample(b)
	if b.Since(a, g); g.CPU.UserPct+g.CPU.SystemPct <= 0 {
		t.Errorf("60 ms of spinning: %+v", g.CPU)
	}
	if !a.known.cpu || !a.known.net {
		t.Errorf("not read: %+v", a.known)
	}
	for i := range disks {
		if !a.known.disks[i] {
			t.Errorf("%s has no counters", disks[i])
		}
	}
	if n := testing.AllocsPerRun(100, func() { s.Sample(b); b.Since(a, g) }); n != 0 {
		t.Errorf("%g allocations per sample", n)
	}
	s.Close()
	if now := openFiles(t); now != open {
		t.Errorf("%d files open, before %d", now, open)
	}
}

func openFiles(t *testing.T) int {
	t.Helper()
	d, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(d)
}

// The counters of a real disk come fresh through the open file. A partition of it that is removed keeps
// them, and one that then gets its name is followed.
func TestSamplerFollowsADevice(t *testing.T) {
	dev := lab.Loop(t, 1<<20, lab.LoopOptions{Partscan: true})
	add := func() { command(t, "addpart", dev, "1", "8", "1024") }
	add()
	name := filepath.Base(dev)
	s := Roots{}.NewSampler([]string{name, name + "p1"})
	defer s.Close()
	before := sampled(s)
	write := func(bytes int) {
		f, err := os.OpenFile(dev+"p1", os.O_RDWR|os.O_SYNC, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write(make([]byte, bytes)); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	write(8192)
	written := sampled(s)
	for i, d := range since(written, before).Disks[:2] {
		if d.WriteBytes != 8192 || d.WriteIOs == 0 {
			t.Errorf("%d: after a write of 8192 bytes: %+v", i, d)
		}
	}
	command(t, "delpart", dev, "1")
	removed := sampled(s)
	if s.disks[1].fd != closed || s.disks[0].fd == closed {
		t.Error("the counters of a partition that is gone are still open, or those of the disk are not")
	}
	if got := since(removed, written).Disks[1]; got != (DiskStats{}) {
		t.Errorf("removed: %+v", got)
	}
	add()
	replaced := sampled(s)
	if got := since(replaced, removed).Disks[1]; got != (DiskStats{InFlight: got.InFlight}) {
		t.Errorf("replaced: %+v", got)
	}
	write(4096)
	if got := since(sampled(s), replaced).Disks[1]; got.WriteBytes != 4096 {
		t.Errorf("after a write of 4096 bytes to the new one: %+v", got)
	}
}

func command(t *testing.T, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(lab.Tool(t, name), args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"", "0", "18446744073709551615", "18446744073709551616", "99999999999999999999", "-1", "+1", "1_0", "0012"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := number([]byte(s))
		want, wantErr := strconv.ParseUint(s, 10, 64)
		if (err == nil) != (wantErr == nil) || err == nil && got != want {
			t.Errorf("%q: %d %v, want %d %v", s, got, err, want, wantErr)
		}
	})
}

func BenchmarkSample(b *testing.B) {
	entries, err := os.ReadDir("/sys/class/block")
	if err != nil || len(entries) == 0 {
		b.Skip("no block device")
	}
	r, disk := Roots{}, entries[0].Name()
	b.Run("once", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_, err1 := r.CPUTimes()
			_, err2 := r.NetStats()
			_, err3 := r.DiskStats(disk)
			if err1 != nil || err2 != nil || err3 != nil {
				b.Fatal(err1, err2, err3)
			}
		}
	})
	b.Run("sampler", func(b *testing.B) {
		s := r.NewSampler([]string{disk})
		defer s.Close()
		c := &Counters{}
		b.ReportAllocs()
		for b.Loop() {
			s.Sample(c)
		}
	})
}
