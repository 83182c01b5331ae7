package host

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCPUTimes(t *testing.T) {
	r := tree(t, map[string]string{"proc/stat": "cpu  10 20 30 40 50 60 70 80 5 6\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 1\n"})
	got, err := r.CPUTimes()
	want := CPUTimes{User: 10, Nice: 20, System: 30, Idle: 40, IOWait: 50, IRQ: 60, SoftIRQ: 70, Steal: 80}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := tree(t).CPUTimes(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	for _, bad := range []string{"", "cpu\n", "cpu0 1 2 3 4\n", "cpu 1 2 x 4\n", "cpu 1 2 3\n", "cpu 1 2 3 -4\n"} {
		if _, err := tree(t, map[string]string{"proc/stat": bad}).CPUTimes(); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	if got, err := parseCPUTimes([]byte("cpu 1 2 3 4")); err != nil || got.Steal != 0 || got.Idle != 4 {
		t.Errorf("old kernel: %+v, %v", got, err)
	}
}

func TestCPUShare(t *testing.T) {
	base := CPUTimes{100, 100, 100, 100, 100, 100, 100, 100}
	for _, c := range []struct {
		name string
		grow CPUTimes
		want CPUShare
	}{
		{"nothing", CPUTimes{}, CPUShare{}},
		{"each", CPUTimes{User: 10, Nice: 10, System: 10, Idle: 25, IOWait: 15, IRQ: 5, SoftIRQ: 5, Steal: 20}, CPUShare{20, 20, 15, 20}},
		{"all stolen", CPUTimes{Steal: 7}, CPUShare{StealPct: 100}},
		{"idle", CPUTimes{Idle: 7}, CPUShare{}},
	} {
		a := CPUTimes{base.User + c.grow.User, base.Nice + c.grow.Nice, base.System + c.grow.System, base.Idle + c.grow.Idle,
			base.IOWait + c.grow.IOWait, base.IRQ + c.grow.IRQ, base.SoftIRQ + c.grow.SoftIRQ, base.Steal + c.grow.Steal}
		if got := a.Since(base); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
	// Counters that go back, as iowait does, must not make other shares negative or over 100.
	got := CPUTimes{User: 200, IOWait: 99}.Since(CPUTimes{User: 100, IOWait: 100, Idle: 5})
	if want := (CPUShare{UserPct: 100}); got != want {
		t.Errorf("backward: %+v", got)
	}
	// The whole range of the counters stays finite.
	got = CPUTimes{math.MaxUint64, math.MaxUint64, math.MaxUint64, math.MaxUint64, 0, 0, 0, 0}.Since(CPUTimes{})
	if want := (CPUShare{UserPct: 50, SystemPct: 25}); got != want {
		t.Errorf("extreme: %+v", got)
	}
}

func TestCPUTimesThisMachine(t *testing.T) {
	a, err := Roots{}.CPUTimes()
	if err != nil {
		t.Fatal(err)
	}
	before := SelfTimes()
	for began := time.Now(); time.Since(began) < 60*time.Millisecond; {
		runtime.KeepAlive(began)
	}
	used := SelfTimes().Since(before)
	if used.User+used.System < 5*time.Millisecond || used.MaxRSSBytes < 1<<20 || used.Voluntary < 0 || used.Involuntary < 0 {
		t.Errorf("60 ms of spinning: %+v", used)
	}
	b, err := Roots{}.CPUTimes()
	if err != nil {
		t.Fatal(err)
	}
	if s := b.Since(a); s.UserPct+s.SystemPct <= 0 || s.UserPct+s.SystemPct+s.IOWaitPct+s.StealPct > 100.001 {
		t.Errorf("%+v", s)
	}
}

const (
	stat17 = "    11       12       13       14       21       22       23       24        3      100      200       31       32       33       34       41       42\n"
	stat11 = "11 12 13 14 21 22 23 24 3 100 200\n"
)

func TestDiskStats(t *testing.T) {
	full := DiskStats{ReadIOs: 11, ReadMerges: 12, ReadBytes: 13 * 512, ReadTimeMS: 14,
		WriteIOs: 21, WriteMerges: 22, WriteBytes: 23 * 512, WriteTimeMS: 24,
		DiscardIOs: 31, DiscardBytes: 33 * 512, FlushIOs: 41, InFlight: 3, IOTicksMS: 100, TimeInQueueMS: 200}
	old := full
	old.DiscardIOs, old.DiscardBytes, old.FlushIOs = 0, 0, 0
	r := tree(t, map[string]string{
		"sys/class/block/sda1/stat":       stat17,
		"sys/block/sdb/stat":              stat11,
		"sys/class/block/cciss!c0d0/stat": stat17,
		"sys/block/bad/stat":              "1 2 3\n",
		"sys/block/neg/stat":              "11 12 13 14 21 22 23 24 -1 100 200\n",
	})
	noneInFlight := old
	noneInFlight.InFlight = 0
	for name, want := range map[string]DiskStats{"sda1": full, "sdb": old, "cciss/c0d0": full, "neg": noneInFlight} {
		got, err := r.DiskStats(name)
		if err != nil || got != want {
			t.Errorf("%s: %v %s", name, err, cmp.Diff(want, got))
		}
	}
	for name, want := range map[string]error{"sdz": fs.ErrNotExist, "bad": ErrFormat, "": fs.ErrInvalid, "..": fs.ErrInvalid, "../../etc": fs.ErrNotExist} {
		if _, err := r.DiskStats(name); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", name, err, want)
		}
	}
}

func TestDiskStatsSince(t *testing.T) {
	b := DiskStats{ReadIOs: 10, ReadMerges: 1, ReadBytes: 1000, ReadTimeMS: 1<<32 - 5, WriteIOs: 20, WriteBytes: 2000, DiscardIOs: 1, DiscardBytes: 4096,
		FlushIOs: 2, InFlight: 9, IOTicksMS: 50, TimeInQueueMS: 1<<32 - 1}
	a := DiskStats{ReadIOs: 15, ReadMerges: 1, ReadBytes: 1500, ReadTimeMS: 7, WriteIOs: 20, WriteBytes: 2000, DiscardIOs: 3, DiscardBytes: 8192,
		FlushIOs: 5, InFlight: 4, IOTicksMS: 80, TimeInQueueMS: 0}
	want := DiskStats{ReadIOs: 5, ReadBytes: 500, ReadTimeMS: 12, DiscardIOs: 2, DiscardBytes: 4096,
		FlushIOs: 3, InFlight: 4, IOTicksMS: 30, TimeInQueueMS: 1}
	if d := cmp.Diff(want, a.Since(b)); d != "" {
		t.Error(d)
	}
	replaced := DiskStats{ReadIOs: 3, WriteIOs: 100, InFlight: 1}
	if got, want := replaced.Since(b), (DiskStats{InFlight: 1}); got != want {
		t.Errorf("replaced device: %+v", got)
	}
}

const netDev = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:    3193      29    0    0    0     0          0         0     3193      29    0    0    0     0       0          0
  eth0:1000 3165    0    0    0     0          0         0   200    2033    0    0    0     0       0          0
eth0:1:  10 3165    0    0    0     0          0         0   20    2033    0    0    0     0       0          0
`

func TestNetStats(t *testing.T) {
	got, err := tree(t, map[string]string{"proc/net/dev": netDev}).NetStats()
	if want := (NetStats{RxBytes: 1010, TxBytes: 220}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := tree(t).NetStats(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	for _, bad := range []string{"eth0: 1 2 3\n", "eth0: x 2 3 4 5 6 7 8 9\n", "eth0: 1 2 3 4 5 6 7 8 x\n"} {
		if _, err := parseNetStats([]byte(bad)); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	d := NetStats{RxBytes: 100, TxBytes: 5}.Since(NetStats{RxBytes: 40, TxBytes: 9})
	if want := (NetStats{RxBytes: 60}); d != want {
		t.Errorf("%+v", d)
	}
}

func FuzzCPUTimes(f *testing.F) {
	f.Add("cpu  10 20 30 40 50 60 70 80 5 6\ncpu0 1", "cpu 1 2 3 4")
	f.Fuzz(func(t *testing.T, s, u string) {
		a, err := parseCPUTimes([]byte(s))
		b, err2 := parseCPUTimes([]byte(u))
		if err != nil || err2 != nil {
			return
		}
		s1 := a.Since(b)
		for _, p := range []float64{s1.UserPct, s1.SystemPct, s1.IOWaitPct, s1.StealPct} {
			if !(p >= 0 && p <= 100) {
				t.Fatalf("%+v", s1)
			}
		}
	})
}

func FuzzDiskStats(f *testing.F) {
	f.Add(stat17, stat11)
	f.Fuzz(func(t *testing.T, s, u string) {
		a, err := parseDiskStats([]byte(s))
		b, err2 := parseDiskStats([]byte(u))
		if err != nil || err2 != nil {
			return
		}
		d := a.Since(b)
		if d.ReadIOs > a.ReadIOs || d.WriteIOs > a.WriteIOs || d.ReadBytes > a.ReadBytes || d.InFlight != a.InFlight {
			t.Fatalf("%+v since %+v is %+v", a, b, d)
		}
	})
}

func FuzzNetStats(f *testing.F) {
	f.Add(netDev)
	f.Fuzz(func(t *testing.T, s string) {
		if _, err := parseNetStats([]byte(s)); err != nil && !errors.Is(err, ErrFormat) {
			t.Fatal(err)
		}
	})
}

// The high-water mark is this process's own, not that of whoever started it: ru_maxrss is inherited
// through exec.
func TestPeakMemoryIsNotInherited(t *testing.T) {
	if os.Getenv("BLKSTORM_PEAK") != "" {
		fmt.Println(SelfTimes().MaxRSSBytes)
		return
	}
	ballast := make([]byte, 256<<20)
	for i := 0; i < len(ballast); i += 4096 {
		ballast[i] = 1
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestPeakMemoryIsNotInherited$")
	cmd.Env = append(os.Environ(), "BLKSTORM_PEAK=1")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(out), "\n")
	peak, err := strconv.ParseInt(line, 10, 64)
	if err != nil || peak < 1<<20 || peak > 128<<20 {
		t.Errorf("a small child of a parent with %d MiB says %q, %v", len(ballast)>>20, line, err)
	}
}
