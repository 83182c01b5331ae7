package host

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ErrFormat is wrapped by errors about a counter file that does not read as the kernel
// documents it.
var ErrFormat = errors.New("unexpected format")

// CPUTimes is the first line of /proc/stat: what all CPUs together have spent since boot, in
// ticks of 1/100 s. Guest time is part of User and Nice.
type CPUTimes struct {
	User, Nice, System, Idle, IOWait, IRQ, SoftIRQ, Steal uint64
}

// CPUShare is where the CPU time of a span went, in percent of all CPUs' time. The rest to 100
// is idle. All values are finite, 0 to 100.
type CPUShare struct {
	UserPct   float64 `json:"user_pct"`   // with nice
	SystemPct float64 `json:"system_pct"` // with interrupts
	IOWaitPct float64 `json:"iowait_pct"`
	StealPct  float64 `json:"steal_pct"` // wanted by this guest, given to another
}

// CPUTimes reads the counters.
func (r Roots) CPUTimes() (CPUTimes, error) {
	path := r.proc("stat")
	b, err := os.ReadFile(path)
	if err != nil {
		return CPUTimes{}, err
	}
	t, err := parseCPUTimes(b)
	if err != nil {
		return CPUTimes{}, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// parseCPUTimes reads /proc/stat, proc_stat(5). Kernels before 2.6.11 have no steal column;
// fewer than the four of 2.4 are an error.
func parseCPUTimes(b []byte) (CPUTimes, error) {
	if end := bytes.IndexByte(b, '\n'); end >= 0 {
		b = b[:end]
	}
	name, b := word(b)
	var v [8]uint64
	n := 0
	for ; n < len(v); n++ {
		var w []byte
		if w, b = word(b); len(w) == 0 {
			break
		}
		var err error
		if v[n], err = number(w); err != nil {
			return CPUTimes{}, err
		}
	}
	if string(name) != "cpu" || n < 4 {
		return CPUTimes{}, fmt.Errorf("%w: no line of all CPUs", ErrFormat)
	}
	return CPUTimes{User: v[0], Nice: v[1], System: v[2], Idle: v[3], IOWait: v[4], IRQ: v[5], SoftIRQ: v[6], Steal: v[7]}, nil
}

// Since returns where the time between b and the later a went; all 0 if no tick passed.
func (a CPUTimes) Since(b CPUTimes) CPUShare {
	user := grown(a.User, b.User) + grown(a.Nice, b.Nice)
	system := grown(a.System, b.System) + grown(a.IRQ, b.IRQ) + grown(a.SoftIRQ, b.SoftIRQ)
	iowait, steal := grown(a.IOWait, b.IOWait), grown(a.Steal, b.Steal)
	total := user + system + iowait + steal + grown(a.Idle, b.Idle)
	if total == 0 {
		return CPUShare{}
	}
	pct := func(x float64) float64 { return 100 * x / total }
	return CPUShare{UserPct: pct(user), SystemPct: pct(system), IOWaitPct: pct(iowait), StealPct: pct(steal)}
}

// grown returns a-b, or 0 where the counter went back: idle and iowait do so by a tick on a
// tickless kernel, all of them when a CPU goes offline.
func grown(a, b uint64) float64 { return float64(sub(a, b)) }

func sub(a, b uint64) uint64 {
	if a < b {
		return 0
	}
	return a - b
}

// ProcessTimes is what this process has used since it started.
type ProcessTimes struct {
	User        time.Duration `json:"user_ns"`
	System      time.Duration `json:"system_ns"`
	MaxRSSBytes int64         `json:"max_rss_bytes"` // high-water mark, also in a difference
	Voluntary   int64         `json:"voluntary_switches"`
	Involuntary int64         `json:"involuntary_switches"` // a thread that wanted to run was taken off its CPU
}

// SelfTimes reads getrusage(2) for all threads of the process.
func SelfTimes() ProcessTimes {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return ProcessTimes{} // cannot happen: it fails only for bad arguments
	}
	return ProcessTimes{
		User:        time.Duration(u.Utime.Nano()),
		System:      time.Duration(u.Stime.Nano()),
		MaxRSSBytes: peakMemory(Roots{}),
		Voluntary:   int64(u.Nvcsw),
		Involuntary: int64(u.Nivcsw),
	}
}

// peakMemory is the process's high-water mark of resident memory. It is not getrusage's ru_maxrss,
// which a program inherits from whoever started it (fs/exec.c): under a large parent it shows the
// parent's.
func peakMemory(r Roots) int64 {
	return kilobytes(field(text(r.proc("self/status")), "VmHWM"))
}

// Since returns what was used between b and the later a.
func (a ProcessTimes) Since(b ProcessTimes) ProcessTimes {
	return ProcessTimes{
		User:        a.User - b.User,
		System:      a.System - b.System,
		MaxRSSBytes: a.MaxRSSBytes,
		Voluntary:   a.Voluntary - b.Voluntary,
		Involuntary: a.Involuntary - b.Involuntary,
	}
}
