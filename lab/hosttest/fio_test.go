package hosttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/lab"
	"blkstorm/lab/fioshape"
)

// fioCase is a job file of testdata/fio, and what of its results is to be alike. All figures of jobs that
// the file fixes are compared exactly; rates and latencies within 5 %.
type fioCase struct {
	file    string
	latency time.Duration // of the programmable disks

	counts  bool // I/Os and bytes of each job and direction, and the syncs
	sums    bool // I/Os and bytes of each job, whatever their direction
	speed   bool // IOPS and mean latency of each job
	touched bool // the blocks read, and those written
	content []byte
	hot     []lab.Range // the share of I/Os that starts there, from the start of the job's part of the disk
	check   func(t *testing.T, f *fioSide)
}

// fioLatency is long beside what a busy machine adds to it.
const fioLatency = 30 * time.Millisecond

var fioCases = []fioCase{
	{file: "randread", latency: fioLatency, speed: true},
	{file: "randwrite-once", latency: time.Millisecond, counts: true, touched: true, content: make([]byte, 1)},
	{file: "mix", latency: fioLatency, speed: true},
	{file: "sequential-mix", latency: fioLatency, sums: true, speed: true},
	{file: "bssplit", latency: fioLatency, speed: true},
	{file: "bs-each-way", latency: fioLatency, speed: true},
	{file: "stonewall", latency: fioLatency, counts: true, speed: true, touched: true},
	{file: "group", latency: fioLatency, speed: true},
	{file: "rate-iops", latency: fioLatency, speed: true},
	{file: "rate", latency: fioLatency, speed: true},
	{file: "thinktime", latency: fioLatency, counts: true, speed: true, touched: true},
	{file: "ramp", latency: fioLatency, speed: true},
	{file: "startdelay", latency: fioLatency, counts: true, speed: true, touched: true},
	{file: "two-disks", latency: fioLatency, counts: true, speed: true, touched: true},
	{file: "offsets", latency: fioLatency, counts: true, speed: true, touched: true, content: []byte{0xde, 0xad, 0xbe, 0xef}},
	{file: "loops", latency: fioLatency, counts: true, speed: true, touched: true},
	{file: "io-size", latency: fioLatency, counts: true, speed: true, touched: true},
	{file: "number-ios", latency: fioLatency, counts: true, speed: true},
	{file: "psync", latency: fioLatency, speed: true},
	{file: "fsync", latency: 5 * time.Millisecond, counts: true, speed: true, touched: true},
	{file: "trim", counts: true, check: checkHoles},
	{file: "throttled", speed: true},
	{file: "zoned", latency: fioLatency, speed: true, hot: []lab.Range{{Length: 2 * mib}, {Offset: 2 * mib, Length: 4 * mib}}},
	{file: "zipf", latency: fioLatency, speed: true},
	{file: "partly-random", latency: fioLatency, speed: true},
	{file: "bsrange", latency: fioLatency, speed: true},
}

// fioStart is where the job files begin on the disks: the guard looks at what lies before.
const fioStart = 33 * mib

// fioSide is one of the two programs, with devices of its own that are equal to the other's.
type fioSide struct {
	name  string
	disks [2]*lab.Programmable
	loop  string // a device that knows trim, throttled for this program
	image string // the file below it
	group *lab.Cgroup

	seen [2]int // of the disks' logs, before the run
	text []byte
	doc  fioDoc
}

// fioDoc is what is compared of fio's JSON.
type fioDoc struct {
	Jobs []fioJob `json:"jobs"`
}

type fioJob struct {
	Name  string `json:"jobname"`
	Group int    `json:"groupid"`
	Error int    `json:"error"`
	Read  fioDir `json:"read"`
	Write fioDir `json:"write"`
	Trim  fioDir `json:"trim"`
	Sync  struct {
		IOs uint64 `json:"total_ios"`
	} `json:"sync"`
}

type fioDir struct {
	IOs   uint64  `json:"total_ios"`
	Bytes uint64  `json:"io_bytes"`
	IOPS  float64 `json:"iops"`
	Lat   struct {
		Mean float64 `json:"mean"`
	} `json:"lat_ns"`
}

// fixed is what a job file can fix of a job.
func (j *fioJob) fixed() string {
	return fmt.Sprintf("%s of group %d, error %d: %d reads of %d bytes, %d writes of %d, %d trims of %d, %d syncs", j.Name, j.Group, j.Error,
		j.Read.IOs, j.Read.Bytes, j.Write.IOs, j.Write.Bytes, j.Trim.IOs, j.Trim.Bytes, j.Sync.IOs)
}

func (j *fioJob) sums() string {
	return fmt.Sprintf("%s: %d I/Os of %d bytes", j.Name, j.Read.IOs+j.Write.IOs+j.Trim.IOs, j.Read.Bytes+j.Write.Bytes+j.Trim.Bytes)
}

// rate is the I/Os per second of a job.
func (j *fioJob) rate() float64 { return j.Read.IOPS + j.Write.IOPS + j.Trim.IOPS }

// mean is the mean latency of a job in ns.
func (j *fioJob) mean() float64 {
	var ios, sum float64
	for _, d := range []*fioDir{&j.Read, &j.Write, &j.Trim} {
		ios += float64(d.IOs)
		sum += float64(d.IOs) * d.Lat.Mean
	}
	return sum / max(ios, 1)
}

// TestJobFilesAsFio runs job files on fio and on blkstorm, side by side on equal devices of known latency or
// rate: what a file fixes must come out the same, rates and latencies within 5 %, and the JSON must have all
// that fio's has.
func TestJobFilesAsFio(t *testing.T) {
	lab.Root(t)
	fio := lab.Tool(t, "fio")
	commands := [2][]string{{fio}, {binary(t), "fio"}}
	goFirst(t)
	sides := [2]*fioSide{{name: "fio"}, {name: "blkstorm"}}
	for _, s := range sides {
		for i := range s.disks {
			s.disks[i] = lab.NewProgrammable(t, 64*mib)
		}
		s.image = filepath.Join(t.TempDir(), "image")
		if err := os.WriteFile(s.image, bytes.Repeat([]byte("data"), 4*mib), 0o600); err != nil {
			t.Fatal(err)
		}
		s.loop = lab.LoopOn(t, s.image, lab.LoopOptions{})
		s.group = lab.Throttle(t, s.loop, 500, 500)
	}
	for i := range fioCases {
		c := &fioCases[i]
		t.Run(c.file, func(t *testing.T) {
			for _, s := range sides {
				for _, d := range s.disks {
					d.SetLatency(lab.Range{}, lab.Both, c.latency)
				}
			}
			figures := map[string]*figure{}
			for range 3 {
				runBoth(t, c, sides, commands)
				if t.Failed() || !c.speed || compareSpeeds(t, sides, figures) == nil {
					return
				}
			}
			for _, f := range figures {
				if err := f.medians(); err != nil {
					t.Errorf("three times, and the medians: %v", err)
				}
			}
		})
	}
}

// figure is a rate or a latency of a job, of fio and of blkstorm in each run so far.
type figure struct {
	name  string
	runs  [2][]float64
	alike bool // in one of the runs: a busy machine spoils now one figure, now another
}

const fioShare = 0.05

// compareSpeeds takes in the figures of a run, and complains about those that were not yet alike.
func compareSpeeds(t *testing.T, sides [2]*fioSide, figures map[string]*figure) error {
	t.Helper()
	var errs []error
	for i := range sides[0].doc.Jobs {
		theirs, ours := &sides[0].doc.Jobs[i], &sides[1].doc.Jobs[i]
		for _, what := range []struct {
			name string
			of   func(j *fioJob) float64
		}{{"rate", (*fioJob).rate}, {"mean latency in ns", (*fioJob).mean}} {
			name := fmt.Sprintf("the %s of job %d, %s, beside fio's,", what.name, i, ours.Name)
			f := figures[name]
			if f == nil {
				f = &figure{name: name}
				figures[name] = f
			}
			f.runs[0], f.runs[1] = append(f.runs[0], what.of(theirs)), append(f.runs[1], what.of(ours))
			err := near(name, what.of(ours), what.of(theirs), fioShare)
			f.alike = f.alike || err == nil
			if !f.alike {
				t.Logf("run %d: %v", len(f.runs[0]), err)
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// medians complains about a figure that was alike in none of three runs, and whose medians are not either.
func (f *figure) medians() error {
	if f.alike {
		return nil
	}
	for _, list := range f.runs {
		slices.Sort(list)
	}
	return near(f.name, f.runs[1][1], f.runs[0][1], fioShare)
}

// goFirst puts this process, which serves the disks, and what it will start before all else that the
// machine does: niceness alone counts within a session only (sched(7), autogroups). Both need little CPU.
func goFirst(t *testing.T) {
	t.Helper()
	set := func(policy, priority uint32, nice int) (err error) {
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range tasks {
			tid, _ := strconv.Atoi(task.Name())
			attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: policy, Priority: priority, Nice: int32(nice)}
			if bad := unix.SchedSetAttr(tid, &attr, 0); bad != nil && !errors.Is(bad, unix.ESRCH) {
				err = bad
			}
		}
		return err
	}
	if err := set(unix.SCHED_RR, 10, 0); err != nil {
		t.Logf("no real-time priority (%v): niceness", err)
		_ = set(unix.SCHED_NORMAL, 0, -10) // what it measures it will say
	}
	t.Cleanup(func() { _ = set(unix.SCHED_NORMAL, 0, 0) })
}

// runBoth runs a file on both programs at once, and compares what is fixed.
func runBoth(t *testing.T, c *fioCase, sides [2]*fioSide, commands [2][]string) {
	t.Helper()
	file, err := filepath.Abs(filepath.Join("testdata/fio", c.file+".fio"))
	if err != nil {
		t.Fatal(err)
	}
	var running [2]*process
	for i, s := range sides {
		for n, d := range s.disks {
			s.seen[n] = len(d.Log())
		}
		cmd := s.group.Command(commands[i][0], append(slices.Clone(commands[i][1:]), "--output-format=json", file)...)
		cmd.Dir = t.TempDir()
		cmd.Env = append(os.Environ(), "DISK="+s.disks[0].Dev, "DISK2="+s.disks[1].Dev, "LOOP="+s.loop)
		running[i] = startCommand(t, cmd)
	}
	for i, s := range sides {
		p := running[i].wait(exitGood)
		s.text = bytes.Clone(p.stdout.Bytes())
		s.doc = fioDoc{}
		if err := json.Unmarshal(s.text[max(bytes.IndexByte(s.text, '{'), 0):], &s.doc); err != nil {
			t.Fatalf("%s: %v\n%s", s.name, err, s.text)
		}
		if i == 1 && p.stderr.Len() > 0 {
			t.Errorf("blkstorm's standard error: %s", p.stderr.String())
		}
	}
	compareShape(t, sides[0].text, sides[1].text)
	theirs, ours := sides[0], sides[1]
	if len(theirs.doc.Jobs) != len(ours.doc.Jobs) {
		t.Fatalf("%d jobs, fio has %d", len(ours.doc.Jobs), len(theirs.doc.Jobs))
	}
	for i := range ours.doc.Jobs {
		a, b := &theirs.doc.Jobs[i], &ours.doc.Jobs[i]
		if c.counts && a.fixed() != b.fixed() {
			t.Errorf("blkstorm has %s\n     fio has %s", b.fixed(), a.fixed())
		}
		if c.sums && a.sums() != b.sums() {
			t.Errorf("blkstorm has %s\n     fio has %s", b.sums(), a.sums())
		}
	}
	if c.touched {
		for n := range ours.disks {
			for _, o := range []lab.Ops{lab.Reads, lab.Writes} {
				if a, b := theirs.touched(n, o), ours.touched(n, o); !slices.Equal(a, b) {
					t.Errorf("disk %d, direction %d: blkstorm has touched %v, fio %v", n, o, b, a)
				}
			}
		}
	}
	if len(c.content) > 0 {
		checkContent(t, ours, c.content)
	}
	for _, r := range c.hot {
		compareShares(t, theirs, ours, r)
	}
	if c.check != nil {
		for _, s := range sides {
			c.check(t, s)
		}
	}
}

// newer are keys that fio 3.42 has and 3.33, which Debian has, does not; that leaves flags out of the
// options, too.
var newer = []string{"job_start", "latency_target_ns", "latency_window_us", "read_sectors", "write_sectors"}

// compareShape fails the test for each key that fio has and blkstorm does not, or has with another type, and
// for each that no fio has.
func compareShape(t *testing.T, theirs, ours []byte) {
	t.Helper()
	list, err := fioshape.Diff(theirs, ours)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		known := d.Path == "/blkstorm" || slices.Contains(newer, path.Base(d.Path)) || strings.HasSuffix(path.Dir(d.Path), " options")
		if !d.Additional() || !known {
			t.Error(d)
		}
	}
}

// Every file of testdata/fio is in the table.
func TestJobFilesAreUsed(t *testing.T) {
	files, err := filepath.Glob("testdata/fio/*.fio")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".fio")
		if !slices.ContainsFunc(fioCases, func(c fioCase) bool { return c.file == name }) {
			t.Errorf("%s is not used", file)
		}
	}
	if len(files) != len(fioCases) {
		t.Errorf("%d files, %d cases", len(files), len(fioCases))
	}
}
