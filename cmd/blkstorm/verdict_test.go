package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/lab"
	"blkstorm/result"
)

// warned is the warning of this code, which the point must carry with this text in it.
func warned(t *testing.T, p *result.Point, code, text string) {
	t.Helper()
	for _, w := range p.Warnings {
		if w.Code == code {
			if !strings.Contains(w.Message, text) || w.Advice == "" {
				t.Errorf("%s: %+v lacks %q", code, w, text)
			}
			return
		}
	}
	t.Errorf("no warning %s: %+v", code, p.Warnings)
}

// probe runs a short random read with these options on a target and returns its point.
func probe(t *testing.T, target string, options ...string) *result.Point {
	t.Helper()
	args := append([]string{"run", "--rw", "randread", "--runtime", "1s", "--format", "json", "--quiet"}, options...)
	return blkstorm(t, append(args, target)...).want(t, exitGood).point(t)
}

// memoryFile is a file that needs no disk, so that the CPU is all that limits.
func memoryFile(t *testing.T) string {
	t.Helper()
	lab.Root(t)
	file := filepath.Join(mount(t, "-t", "tmpfs", "-o", "size=64m", "tmpfs"), "target")
	if err := os.WriteFile(file, make([]byte, 32*mib), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestWarnsOfACPUBoundGenerator(t *testing.T) {
	warned(t, probe(t, memoryFile(t), "--engine", "psync", "--threads", "4"), "generator_cpu_bound", "what this machine can issue")
}

// zram completes within io_submit, and cannot take io_uring's I/O without blocking.
func TestWarnsOfASynchronousDevice(t *testing.T) {
	dev := lab.Zram(t, 64*mib)
	point := probe(t, dev, "--engine", "libaio", "--iodepth", "16")
	warned(t, point, "completes_in_submit", "for engine libaio this device is synchronous")
	point = probe(t, dev, "--engine", "io_uring", "--iodepth", "16")
	warned(t, point, "kernel_workers", "worker threads of the kernel")
	if point = probe(t, dev, "--engine", "libaio", "--iodepth", "1"); hasWarning(point, "completes_in_submit") {
		t.Errorf("at depth 1 a batch is one I/O, and its latency right: %+v", point.Warnings)
	}
}

func TestWarnsOfDepthAboveTheQueue(t *testing.T) {
	dev, _ := loopOn(t, 16*mib, lab.LoopOptions{})
	point := probe(t, dev, "--threads", "4", "--iodepth", "64")
	warned(t, point, "depth_above_queue", "256 I/Os in flight were asked of "+dev+", whose queue takes 128")
	if point = probe(t, dev, "--threads", "2", "--iodepth", "64"); hasWarning(point, "depth_above_queue") {
		t.Errorf("128 of 128: %+v", point.Warnings)
	}
}

func TestWarnsOfThePageCache(t *testing.T) {
	file := lab.File(t, 0)
	if err := os.WriteFile(file, make([]byte, mib), 0o600); err != nil {
		t.Fatal(err)
	}
	warned(t, probe(t, file, "--direct=false"), "buffered", "page cache")
}

func TestWarnsOfUnwrittenBlocks(t *testing.T) {
	dev := lab.Loop(t, 64*mib, lab.LoopOptions{})
	blkstorm(t, "run", "--rw", "write", "--bs", "1m", "--size", "16m", "--runtime", "300ms", "--destroy", "--quiet", dev).want(t, exitGood)
	warned(t, probe(t, dev), "unwritten_blocks", "75 % of the range on "+dev)
	if point := probe(t, dev, "--size", "16m"); hasWarning(point, "unwritten_blocks") {
		t.Errorf("all of the range is written: %+v", point.Warnings)
	}
}

func TestWarnsOfAShortWindow(t *testing.T) {
	dev, _ := loopOn(t, 16*mib, lab.LoopOptions{})
	warned(t, probe(t, dev, "--runtime", "50ms"), "window_too_short", "too few for percentile 9")
	warned(t, probe(t, dev, "--percentiles", "50,99.99999"), "window_too_short", "percentile 99.99999")
}

// A process that is stopped for 2 s shows it: the longest latency is about that, and the warning says
// that it was this machine, not the device.
func TestWarnsOfBeingStopped(t *testing.T) {
	dev, _ := loopOn(t, 16*mib, lab.LoopOptions{})
	p := start(t, "", "run", "--rw", "randread", "--iodepth", "4", "--runtime", "4s", "--format", "json", "--quiet", dev)
	time.Sleep(time.Second)
	p.signal(unix.SIGSTOP)
	time.Sleep(2 * time.Second)
	p.signal(unix.SIGCONT)
	point := p.wait().want(t, exitGood).point(t)
	warned(t, point, "descheduled", "off the CPU")
	if longest := time.Duration(point.Process.DescheduledMaxNS); longest < 1500*time.Millisecond || longest > 3*time.Second {
		t.Errorf("off the CPU for %v, not 2 s", longest)
	}
	if point.WindowS != 4 || len(point.Intervals) != 4 {
		t.Errorf("window %v s, %d rows", point.WindowS, len(point.Intervals))
	}
}
