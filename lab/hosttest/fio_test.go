package hosttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
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

const fioLatency = 10 * time.Millisecond

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

// speed is the rate of a job, and the mean of its latencies in ns.
func (j *fioJob) speed() (iops, mean float64) {
	var ios float64
	for _, d := range []*fioDir{&j.Read, &j.Write, &j.Trim} {
		iops += d.IOPS
		ios += float64(d.IOs)
		mean += float64(d.IOs) * d.Lat.Mean
	}
	return iops, mean / max(ios, 1)
}

// TestJobFilesAsFio runs job files on fio and on blkstorm, side by side on equal devices of known latency or
// rate: what a file fixes must come out the same, rates and latencies within 5 %, and the JSON must have all
// that fio's has.
func TestJobFilesAsFio(t *testing.T) {
	lab.Root(t)
	fio := lab.Tool(t, "fio")
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
	commands := [2][]string{{fio}, {binary(t), "fio"}}
	for i := range fioCases {
		c := &fioCases[i]
		t.Run(c.file, func(t *testing.T) {
			for _, s := range sides {
				for _, d := range s.disks {
					d.SetLatency(lab.Range{}, lab.Both, c.latency)
				}
			}
			var speeds [][2][]float64
			var err error
			for range 3 {
				runBoth(t, c, sides, commands)
				if t.Failed() || !c.speed {
					return
				}
				speeds = append(speeds, [2][]float64{sides[0].speeds(), sides[1].speeds()})
				if err = c.compareSpeed(sides[0].doc.Jobs, speeds[len(speeds)-1]); err == nil {
					return
				}
				t.Logf("again, after: %v", err)
			}
			if bad := c.compareSpeed(sides[0].doc.Jobs, medians(speeds)); bad != nil {
				t.Errorf("three times, and the medians: %v", bad)
			}
		})
	}
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
		cmd := s.group.Command("nice", slices.Concat([]string{"-n", "-10"}, commands[i], []string{"--output-format=json", file})...)
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

// compareShape fails the test for each key that fio has and blkstorm does not, or has with another type.
func compareShape(t *testing.T, theirs, ours []byte) {
	t.Helper()
	list, err := fioshape.Diff(theirs, ours)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range list {
		if !d.Additional() { // an older fio has fewer
			t.Error(d)
		}
	}
}

// speeds are rate and latency of each job.
func (s *fioSide) speeds() (list []float64) {
	for i := range s.doc.Jobs {
		iops, mean := s.doc.Jobs[i].speed()
		list = append(list, iops, mean)
	}
	return list
}

// compareSpeed complains about rates and latencies that are not within 5 % of fio's.
func (c *fioCase) compareSpeed(jobs []fioJob, speeds [2][]float64) error {
	var errs []error
	for i := range jobs {
		errs = append(errs,
			near(jobs[i].Name+": the rate, beside fio's,", speeds[1][2*i], speeds[0][2*i], 0.05),
			near(jobs[i].Name+": the mean latency in ns, beside fio's,", speeds[1][2*i+1], speeds[0][2*i+1], 0.05))
	}
	return errors.Join(errs...)
}

// medians are those of each figure over three runs.
func medians(runs [][2][]float64) (m [2][]float64) {
	for side := range m {
		for i := range runs[0][side] {
			three := []float64{runs[0][side][i], runs[1][side][i], runs[2][side][i]}
			slices.Sort(three)
			m[side] = append(m[side], three[1])
		}
	}
	return m
}

// logOf is what a disk was asked for in the run, in one direction, behind the part that the guard looks at.
func (s *fioSide) logOf(disk int, o lab.Ops) []lab.Access {
	list := s.disks[disk].Log()[s.seen[disk]:]
	return slices.DeleteFunc(list, func(a lab.Access) bool { return a.Op != o || a.Offset < fioStart || a.Offset >= 60*mib })
}

// touched lists the ranges that were touched in a direction, joined where they meet.
func (s *fioSide) touched(disk int, o lab.Ops) (list []lab.Range) {
	log := s.logOf(disk, o)
	slices.SortFunc(log, func(a, b lab.Access) int { return int(a.Offset - b.Offset) })
	for _, a := range log {
		last := len(list) - 1
		if last >= 0 && a.Offset <= list[last].Offset+list[last].Length {
			list[last].Length = max(list[last].Length, a.Offset+a.Length-list[last].Offset)
			continue
		}
		list = append(list, lab.Range{Offset: a.Offset, Length: a.Length})
	}
	return list
}

// checkContent checks that all that was written repeats a pattern.
func checkContent(t *testing.T, s *fioSide, pattern []byte) {
	t.Helper()
	content := s.disks[0].Content()
	for _, r := range s.touched(0, lab.Writes) {
		got := content[r.Offset : r.Offset+r.Length]
		if want := bytes.Repeat(pattern, len(got)/len(pattern)); !bytes.Equal(got, want) {
			t.Errorf("%d bytes from %d on do not repeat % x", r.Length, r.Offset, pattern)
		}
	}
}

// compareShares compares how many of the I/Os start in a range, within five standard deviations of the
// difference of two binomial shares.
func compareShares(t *testing.T, theirs, ours *fioSide, r lab.Range) {
	t.Helper()
	share := func(s *fioSide) (share, n float64) {
		in := 0
		log := slices.Concat(s.logOf(0, lab.Reads), s.logOf(0, lab.Writes))
		for _, a := range log {
			if at := a.Offset - fioStart; at >= r.Offset && at < r.Offset+r.Length {
				in++
			}
		}
		return float64(in) / float64(max(len(log), 1)), float64(len(log))
	}
	a, n := share(theirs)
	b, m := share(ours)
	if sigma := math.Sqrt(a*(1-a)/n + b*(1-b)/m); math.Abs(a-b) > 5*sigma {
		t.Errorf("%.3f of %.0f I/Os in %+v, fio has %.3f of %.0f: more than 5 x %.4f apart", b, m, r, a, n, sigma)
	}
}

// checkHoles checks that the file below the loop has a hole where the job has trimmed, and data before and
// behind it.
func checkHoles(t *testing.T, s *fioSide) {
	t.Helper()
	f, err := os.Open(s.image)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := map[string]int64{}
	for name, seek := range map[string][2]int64{"hole": {0, unix.SEEK_HOLE}, "data": {4 * mib, unix.SEEK_DATA}} {
		if got[name], err = f.Seek(seek[0], int(seek[1])); err != nil {
			t.Fatalf("%s: %s: %v", s.name, name, err)
		}
	}
	if want := map[string]int64{"hole": 4 * mib, "data": 12 * mib}; !maps.Equal(got, want) {
		t.Errorf("%s: %v, want %v", s.name, got, want)
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
