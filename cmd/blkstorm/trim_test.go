package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"blkstorm/lab"
)

// everyEngine are the engines that move I/O.
var everyEngine = []string{"psync", "libaio", "io_uring"}

// Trims give back what they are asked for and nothing else, on devices and in files; the kernel counts
// as many as we do.
func TestTrims(t *testing.T) {
	for _, engine := range everyEngine {
		for _, with := range []string{"discard", "write-zeroes"} {
			t.Run(engine+" "+with, func(t *testing.T) {
				t.Parallel()
				dev, backing := loopOn(t, 16*mib, lab.LoopOptions{})
				file := filepath.Join(t.TempDir(), "file")
				if err := os.WriteFile(file, bytes.Repeat([]byte("pattern."), 2*mib), 0o600); err != nil {
					t.Fatal(err)
				}
				for _, target := range []string{dev, file} {
					content := target
					if target == dev {
						content = backing
					}
					before := digestRange(t, content, 0, 4*mib) + digestRange(t, content, 12*mib, 4*mib)
					args := []string{"run", "--engine", engine, "--rw", "trim", "--trim-with", with, "--bs", "1m", "--iodepth", "4", "--threads", "2",
						"--offset", "4m", "--size", "8m", "--runtime", "1s", "--format", "json", "--quiet", target}
					blkstorm(t, args...).want(t, exitRefused, "[consent]")
					p := blkstorm(t, append(args, "--destroy")...).want(t, exitGood).point(t)
					if p.Trim.IOs == 0 || p.Trim.Bytes != p.Trim.IOs*mib || p.Read.IOs+p.Write.IOs+p.Sync.IOs != 0 || p.Trim.Latency.HDR == "" {
						t.Errorf("trim %+v, total %+v", p.Trim, p.Total)
					}
					if after := digestRange(t, content, 0, 4*mib) + digestRange(t, content, 12*mib, 4*mib); after != before {
						t.Errorf("%s: changed outside of the range", target)
					}
					all, err := os.ReadFile(content)
					if err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(all[4*mib:12*mib], make([]byte, 8*mib)) {
						t.Errorf("%s: the range does not read as zeros", target)
					}
				}
			})
		}
	}
}

// As the kernel counts them.
func TestKernelCountsTrimsTheSame(t *testing.T) {
	t.Parallel()
	dev, _ := loopOn(t, 16*mib, lab.LoopOptions{})
	before := kernelCounts(t, dev)
	p := blkstorm(t, "run", "--engine", "psync", "--rw", "randtrim", "--bs", "64k", "--runtime", "500ms", "--format", "json", "--destroy", dev).
		want(t, exitGood, "writing to "+dev).point(t)
	d := kernelCounts(t, dev).Since(before)
	if d.DiscardIOs != p.Issued.Trim || d.DiscardBytes != p.Issued.Trim*64*kib || d.WriteIOs != 0 || p.Issued.Trim == 0 {
		t.Errorf("the kernel counted %+v, we issued %+v", d, p.Issued)
	}
	rows := uint64(0)
	for _, in := range p.Intervals {
		rows += in.Trim.IOs
	}
	if rows != p.Trim.IOs {
		t.Errorf("%d trims in the rows, %d in the window", rows, p.Trim.IOs)
	}
}

// A device that takes no discards is told before any I/O; zeroing it needs none. A loop device is one
// on a file system without holes.
func TestTrimNeedsDiscards(t *testing.T) {
	t.Parallel()
	lab.Root(t)
	backing := filepath.Join(mount(t, "-t", "ramfs", "none"), "disk.img")
	if err := os.WriteFile(backing, bytes.Repeat([]byte("pattern."), 2*mib), 0o600); err != nil {
		t.Fatal(err)
	}
	dev := lab.LoopOn(t, backing, lab.LoopOptions{Buffered: true})
	before := digest(t, backing)
	for _, rw := range []string{"trim", "randtrim", "trimwrite"} {
		blkstorm(t, "run", "--rw", rw, "--destroy", dev).
			want(t, exitUsage, dev+": --rw "+rw+": the device takes no discards (queue/discard_max_bytes is 0); --trim-with write-zeroes")
	}
	if digest(t, backing) != before {
		t.Error("changed all the same")
	}
	p := blkstorm(t, "run", "--engine", "psync", "--rw", "trim", "--trim-with", "write-zeroes", "--bs", "1m", "--runtime", "200ms", "--destroy", "--format", "json", dev).
		want(t, exitGood).point(t)
	if p.Trim.IOs == 0 {
		t.Errorf("trim %+v", p.Trim)
	}
}

// Terabytes of trims in flight need no memory.
func TestTrimsNeedNoMemory(t *testing.T) {
	t.Parallel()
	file := lab.File(t, 8<<30)
	p := blkstorm(t, "run", "--engine", "null", "--rw", "trim", "--bs", "1g", "--threads", "4", "--iodepth", "1024", "--runtime", "200ms", "--format", "json", file).
		want(t, exitGood).point(t)
	if p.InFlight != 4096 || p.Process.MaxRSSBytes > 200*mib {
		t.Errorf("%d in flight, %d bytes of memory", p.InFlight, p.Process.MaxRSSBytes)
	}
}

// The k-th sync comes right after k times N writes, on every engine and at every depth.
func TestSyncsOnEveryEngine(t *testing.T) {
	for _, engine := range everyEngine {
		for _, c := range []struct {
			args  string
			every uint64
		}{
			{"--rw write --fsync 7", 7},
			{"--rw randrw --read-pct 30 --fdatasync 1 --dsync", 1},
			{"--rw randtrimwrite --fsync 100", 100},
		} {
			t.Run(engine+" "+c.args, func(t *testing.T) {
				t.Parallel()
				dev, _ := loopOn(t, 16*mib, lab.LoopOptions{})
				args := append(strings.Fields(c.args), "--engine", engine, "--threads", "2", "--iodepth", "4", "--ramp", "100ms", "--runtime", "500ms", "--format", "json", "--destroy", dev)
				before := kernelCounts(t, dev)
				p := blkstorm(t, append([]string{"run"}, args...)...).want(t, exitGood).point(t)
				flushes := kernelCounts(t, dev).Since(before).FlushIOs
				var syncs uint64
				for _, th := range p.PerThread {
					// The last one may have been due when the window closed.
					if due := th.Issued.Write / c.every; th.Issued.Sync != due && th.Issued.Sync+1 != due {
						t.Errorf("thread %d: %+v", th.Thread, th.Issued)
					}
					syncs += th.Issued.Sync
				}
				if p.Sync.IOs == 0 || p.Sync.Bytes != 0 || p.Sync.Latency.Count != p.Sync.IOs {
					t.Errorf("sync %+v", p.Sync)
				}
				// Flushes that wait for one another are done as one.
				if flushes == 0 {
					t.Errorf("%d syncs, and the kernel has seen no flush", syncs)
				}
			})
		}
	}
}

// A scratch file of its own takes all shapes.
func TestShapesOnAScratchFile(t *testing.T) {
	for _, rw := range []string{"trim", "randtrim", "trimwrite", "randtrimwrite"} {
		t.Run(rw, func(t *testing.T) {
			t.Parallel()
			p := blkstorm(t, "run", "--rw", rw, "--size", "16m", "--bs", "64k", "--runtime", "1s", "--format", "json").want(t, exitGood).point(t)
			if writes := p.Issued.Write > 0; p.Issued.Trim == 0 || writes != strings.HasSuffix(rw, "write") {
				t.Errorf("issued %+v", p.Issued)
			}
		})
	}
}
