// Package hosttest holds the real binary to devices of known behaviour that this machine can make by
// itself: throttled loops, whose rate is known, and the programmable disk, whose every answer is.
//
// What a figure must be exactly (counts, bytes, offsets, the least latency) is compared exactly. What
// a busy machine can bend (rates, medians) has a tolerance and up to three tries.
//
// One fault is not staged here: a step of the wall clock, which is all of this machine's; the guest has
// one of its own.
package hosttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"blkstorm/host"
	"blkstorm/lab"
	"blkstorm/result"
	"blkstorm/verdict"
)

const (
	kib = 1 << 10
	mib = 1 << 20

	exitGood, exitRefused, exitFaults = 0, 2, 3
)

// engines are those that touch a device; deep are those that keep a depth.
var (
	engines = []string{"io_uring", "libaio", "psync"}
	deep    = engines[:2]
)

var built struct {
	once sync.Once
	dir  string // empty when the build failed
}

func TestMain(m *testing.M) {
	status := m.Run()
	if built.dir != "" {
		_ = os.RemoveAll(built.dir)
	}
	os.Exit(status)
}

// binary builds blkstorm once for all tests.
func binary(t *testing.T) string {
	t.Helper()
	built.once.Do(func() {
		made := lab.Build(t, "blkstorm/cmd/blkstorm") // in the folder of this test, which will go
		dir, err := os.MkdirTemp("", "blkstorm-hosttest-")
		if err == nil {
			err = os.Rename(made, filepath.Join(dir, "blkstorm"))
			built.dir = dir
		}
		if err != nil {
			t.Error(err)
		}
	})
	if built.dir == "" {
		t.Fatal("blkstorm could not be built")
	}
	return filepath.Join(built.dir, "blkstorm")
}

// process is a running program.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	since          time.Time
	ended          chan error
}

// start runs blkstorm run in the background, with the options that every test has.
func start(t *testing.T, options string, targets ...string) *process {
	t.Helper()
	return startCommand(t, exec.Command(binary(t), runArgs(options, targets...)...))
}

func runArgs(options string, targets ...string) []string {
	args := append([]string{"run", "--format", "json", "--quiet"}, strings.Fields(options)...)
	return append(args, targets...)
}

// startCommand runs any program in the background.
func startCommand(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, cmd: cmd, ended: make(chan error, 1)}
	if p.cmd.Stdout == nil {
		p.cmd.Stdout = &p.stdout
	}
	p.cmd.Stderr = &p.stderr
	p.cmd.WaitDelay = time.Second
	p.since = time.Now()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.cmd.Wait() }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // only if the test ended before it did
	return p
}

// startPiped runs any program in the background; all of its standard output comes when it closes that,
// which may be before it ends.
func startPiped(t *testing.T, cmd *exec.Cmd) (*process, <-chan []byte) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = write
	p := startCommand(t, cmd)
	_ = write.Close() // the program has its own
	text := make(chan []byte, 1)
	go func() {
		defer read.Close()
		out, _ := io.ReadAll(read) // what is missing makes the document invalid
		text <- out
	}()
	return p, text
}

// wait waits until the program ends and fails the test unless it does so with this status.
func (p *process) wait(status int) *process {
	p.t.Helper()
	select {
	case err := <-p.ended:
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			p.t.Fatal(err)
		}
	case <-time.After(2 * time.Minute):
		p.t.Fatalf("%v: still running after two minutes", p.cmd.Args)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != status {
		p.t.Fatalf("%v: exit status %d, want %d\n%s%s", p.cmd.Args, got, status, p.stderr.String(), p.stdout.String())
	}
	return p
}

func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Error(err)
	}
}

// point is the only point of the document, with its sums checked.
func (p *process) point() *result.Point {
	p.t.Helper()
	return decode(p.t, p.stdout.Bytes())
}

func decode(t *testing.T, text []byte) *result.Point {
	t.Helper()
	doc := &result.Doc{}
	if err := json.Unmarshal(text, doc); err != nil {
		t.Fatalf("standard output is no JSON document: %v\n%s", err, text)
	}
	if len(doc.Points) != 1 {
		t.Fatalf("%d points, want 1", len(doc.Points))
	}
	checkSums(t, doc.Points[0])
	return doc.Points[0]
}

// run runs blkstorm to its end, which must have this status, and returns its point.
func run(t *testing.T, status int, options string, targets ...string) *result.Point {
	t.Helper()
	return start(t, options, targets...).wait(status).point()
}

// checkSums checks what holds in every point: rows add up to the directions, directions to the total,
// and what was issued is what came back, failed or is stuck.
func checkSums(t *testing.T, p *result.Point) {
	t.Helper()
	var read, write result.IntervalStat
	var length float64
	for _, in := range p.Intervals {
		add(&read, &in.Read)
		add(&write, &in.Write)
		length += in.LengthS
	}
	if d := length - p.WindowS; d > 1e-6 || d < -1e-6 {
		t.Errorf("the rows are %v s long, the window %v s", length, p.WindowS)
	}
	for _, c := range []struct {
		name string
		rows result.IntervalStat
		stat *result.Stat
	}{{"read", read, p.Read}, {"write", write, p.Write}} {
		if c.rows.IOs != c.stat.IOs || c.rows.Bytes != c.stat.Bytes || c.rows.Errors != c.stat.Errors || c.rows.Short != c.stat.Short || c.rows.Zero != c.stat.Zero || c.stat.Latency.Count != c.stat.IOs {
			t.Errorf("%s: rows add up to %+v, the point has %+v with %d latencies", c.name, c.rows, *c.stat, c.stat.Latency.Count)
		}
	}
	if p.Total.IOs != p.Read.IOs+p.Write.IOs || p.Total.Bytes != p.Read.Bytes+p.Write.Bytes {
		t.Errorf("total %+v of read %+v and write %+v", *p.Total, *p.Read, *p.Write)
	}
	if got := good(p) + p.Faults + uint64(len(p.Stuck)); got != p.Issued.Sum() {
		t.Errorf("issued %d, accounted for %d", p.Issued.Sum(), got)
	}
}

func add(sum, s *result.IntervalStat) {
	sum.IOs += s.IOs
	sum.Bytes += s.Bytes
	sum.Errors += s.Errors
	sum.Short += s.Short
	sum.Zero += s.Zero
}

// good is how many I/Os came back whole, in the ramp, in the window and after it.
func good(p *result.Point) uint64 { return p.Total.IOs + p.RampIOs + p.Drained }

func hasWarning(p *result.Point, code string) bool {
	return slices.ContainsFunc(p.Warnings, func(w verdict.Warning) bool { return w.Code == code })
}

// tries runs try until it has no complaint, at most three times: a busy machine can spoil one.
func tries(t *testing.T, try func() error) {
	t.Helper()
	var err error
	for range 3 {
		if err = try(); err == nil || t.Failed() {
			return
		}
		t.Logf("again, after: %v", err)
	}
	t.Errorf("three times, the last: %v", err)
}

// near complains unless got lies within a share of want.
func near(what string, got, want, share float64) error {
	if got < want*(1-share) || got > want*(1+share) {
		return fmt.Errorf("%s is %.4g, want %.4g within %g %%", what, got, want, 100*share)
	}
	return nil
}

// kernelCounts are the kernel's own counters of a device.
func kernelCounts(t *testing.T, dev string) host.DiskStats {
	t.Helper()
	s, err := host.Roots{}.DiskStats(filepath.Base(dev))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ms(ns int64) string { return fmt.Sprintf("%.2f ms", float64(ns)/1e6) }
