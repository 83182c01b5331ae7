package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"blkstorm/host"
	"blkstorm/lab"
	"blkstorm/result"
)

const (
	kib = 1 << 10
	mib = 1 << 20
)

// outcome is what a finished process left.
type outcome struct {
	status         int // exit status, or -1 when a signal ended it
	stdout, stderr string
	took           time.Duration // from start, or from the last signal on
}

// process is a running blkstorm.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	since          time.Time
}

// start runs blkstorm in the background, in the folder dir ("" is the test's own).
func start(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: command(t, args...)}
	if dir != "" {
		p.cmd.Dir = dir
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	p.begin()
	return p
}

// command is a blkstorm that is yet to be started, in a folder of its own.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("blkstorm", args...)
	cmd.Dir = t.TempDir()
	return cmd
}

func (p *process) begin() {
	p.t.Helper()
	p.since = time.Now()
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // only if the test ended before it did
}

// signal sends s, and begins to count the time until the process ends.
func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	p.since = time.Now()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// wait returns what the process left; one that runs for over a minute fails the test.
func (p *process) wait() outcome {
	p.t.Helper()
	return p.waitFor(time.Minute)
}

// waitFor is wait for processes that take longer.
func (p *process) waitFor(limit time.Duration) outcome {
	p.t.Helper()
	done := make(chan error, 1)
	go func() { done <- p.cmd.Wait() }()
	var err error
	select {
	case err = <-done:
	case <-time.After(limit):
		_ = p.cmd.Process.Kill()
		p.t.Fatalf("%v: still running after %v\n%s", p.cmd.Args, limit, p.stderr.String())
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Fatal(err)
	}
	return outcome{status: p.cmd.ProcessState.ExitCode(), stdout: p.stdout.String(), stderr: p.stderr.String(), took: time.Since(p.since)}
}

// blkstorm runs a command line to its end.
func blkstorm(t *testing.T, args ...string) outcome {
	t.Helper()
	return start(t, "", args...).wait()
}

// want fails the test unless the process ended with the status, and standard error has the texts.
func (o outcome) want(t *testing.T, status int, texts ...string) outcome {
	t.Helper()
	if o.status != status {
		t.Fatalf("exit status %d, want %d\n%s%s", o.status, status, o.stderr, o.stdout)
	}
	for _, text := range texts {
		if !strings.Contains(o.stderr, text) {
			t.Errorf("standard error lacks %q:\n%s", text, o.stderr)
		}
	}
	return o
}

// document reads standard output, which must be one JSON document and nothing else.
func (o outcome) document(t *testing.T) *result.Doc {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(o.stdout))
	doc := &result.Doc{}
	if err := d.Decode(doc); err != nil {
		t.Fatalf("standard output is no JSON: %v\n%s\n%s", err, o.stdout, o.stderr)
	}
	if err := d.Decode(&struct{}{}); !errors.Is(err, io.EOF) {
		t.Fatalf("more than one document on standard output: %v", err)
	}
	if len(doc.Points) != 1 {
		t.Fatalf("%d points, want 1", len(doc.Points))
	}
	return doc
}

// point is the only point of the document, with its sums checked.
func (o outcome) point(t *testing.T) *result.Point {
	t.Helper()
	p := o.document(t).Points[0]
	checkSums(t, p)
	return p
}

// checkSums checks what must hold in every point: rows add up to the totals in each direction,
// directions to the whole, and nothing that was issued is lost.
func checkSums(t *testing.T, p *result.Point) {
	t.Helper()
	var rows [3]result.IntervalStat
	var length float64
	for _, in := range p.Intervals {
		for i, s := range []*result.IntervalStat{&in.Read, &in.Write, &in.Trim} {
			rows[i].IOs += s.IOs
			rows[i].Bytes += s.Bytes
			rows[i].Errors += s.Errors
			rows[i].Short += s.Short
			rows[i].Zero += s.Zero
		}
		length += in.LengthS
	}
	if d := length - p.WindowS; d > 1e-6 || d < -1e-6 {
		t.Errorf("the rows are %v s long, the window %v s", length, p.WindowS)
	}
	var all result.IntervalStat
	for i, s := range []*result.Stat{p.Read, p.Write, p.Trim} {
		r := &rows[i]
		if s.IOs != r.IOs || s.Bytes != r.Bytes || s.Errors != r.Errors || s.Short != r.Short || s.Zero != r.Zero {
			t.Errorf("direction %d: rows add up to %+v, the point has %+v", i, *r, *s)
		}
		if s.Latency.Count != s.IOs {
			t.Errorf("direction %d: %d latencies of %d I/Os", i, s.Latency.Count, s.IOs)
		}
		all.IOs += s.IOs
		all.Bytes += s.Bytes
	}
	if p.Total.IOs != all.IOs || p.Total.Bytes != all.Bytes {
		t.Errorf("total %+v, the directions add up to %+v", *p.Total, all)
	}
	if got, sum := p.Total.IOs+p.Sync.IOs+p.RampIOs+p.Drained+p.Faults+p.StuckIOs, p.Issued.Sum()+p.Issued.Sync; got != sum {
		t.Errorf("issued %d, but %d + %d syncs + %d in the ramp + %d drained + %d faults + %d stuck", sum, p.Total.IOs, p.Sync.IOs, p.RampIOs, p.Drained, p.Faults, p.StuckIOs)
	}
	var issued result.Issued
	for _, th := range p.PerThread {
		issued.Read += th.Issued.Read
		issued.Write += th.Issued.Write
		issued.Trim += th.Issued.Trim
		issued.Sync += th.Issued.Sync
	}
	if issued != p.Issued {
		t.Errorf("issued %+v, the threads add up to %+v", p.Issued, issued)
	}
}

// hasWarning says whether a point carries a warning of this code.
func hasWarning(p *result.Point, code string) bool {
	for _, w := range p.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
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

// digest is the sha256 of a file or device.
func digest(t *testing.T, path string) string {
	t.Helper()
	return digestRange(t, path, 0, 1<<62)
}

// digestRange is the sha256 of the n bytes from offset on, or of as many as there are.
func digestRange(t *testing.T, path string, offset, n int64) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, offset, n)); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// loopOn makes a backing file that is full of a pattern, and a loop device on it.
func loopOn(t *testing.T, size int, o lab.LoopOptions) (dev, backing string) {
	t.Helper()
	lab.Root(t)
	backing = lab.File(t, int64(size))
	if err := os.WriteFile(backing, bytes.Repeat([]byte("pattern."), size/8), 0o600); err != nil {
		t.Fatal(err)
	}
	return lab.LoopOn(t, backing, o), backing
}

// mount mounts dev on a folder of the test's own.
func mount(t *testing.T, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	lab.Run(t, "mount", append(args, dir)...)
	t.Cleanup(func() { lab.Unmount(t, dir) })
	return dir
}

// tool runs an outside program with a standard input.
func tool(t *testing.T, stdin, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(lab.Tool(t, name), args...)
	cmd.Stdin = strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}
