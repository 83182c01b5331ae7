package main

import (
	"fmt"
	"testing"

	"blkstorm/lab"
)

// The main job: a mixed run on a device, and all its figures checked against each other.
func TestMixedRun(t *testing.T) {
	t.Parallel()
	dev, _ := loopOn(t, 64*mib, lab.LoopOptions{})
	p := blkstorm(t, "run", "--rw", "randrw", "--read-pct", "70", "--bs", "8k", "--threads", "4", "--ramp", "1s", "--runtime", "5s",
		"--engine", "psync", "--destroy", "--format", "json", dev).want(t, exitGood, "writing to "+dev).point(t)
	if !p.Completed || p.Interrupted || p.WindowS != 5 || p.RampS != 1 || len(p.Intervals) != 5 || len(p.RampIntervals) != 1 {
		t.Errorf("completed %v, interrupted %v, window %v s, ramp %v s, %d rows, %d of the ramp",
			p.Completed, p.Interrupted, p.WindowS, p.RampS, len(p.Intervals), len(p.RampIntervals))
	}
	if p.Read.Bytes != p.Read.IOs*8192 || p.Write.Bytes != p.Write.IOs*8192 || p.Read.IOs == 0 || p.Write.IOs == 0 {
		t.Errorf("read %+v, write %+v", p.Read, p.Write)
	}
	if len(p.PerThread) != 4 {
		t.Fatalf("%d threads", len(p.PerThread))
	}
	for _, th := range p.PerThread {
		// In whole blocks of 100 exactly 70; in the block that was begun at most its 70 and its 30.
		blocks, rest := th.Issued.Sum()/100, th.Issued.Sum()%100
		reads, writes := th.Issued.Read-70*blocks, th.Issued.Write-30*blocks
		if blocks < 10 || reads > 70 || writes > 30 || reads+writes != rest {
			t.Errorf("thread %d: %+v is not 70 reads in every 100", th.Thread, th.Issued)
		}
	}
	// What the machine makes of its CPUs is not for this test to say.
	for _, code := range []string{"depth_not_reached", "io_errors", "not_completed", "buffered", "latency_clamped", "nothing_completed"} {
		if hasWarning(p, code) {
			t.Errorf("warnings of a clean run: %+v", p.Warnings)
		}
	}
}

// A synchronous engine cannot keep 16 in flight: it says so, and is no failure.
func TestDepthOfPsync(t *testing.T) {
	t.Parallel()
	dev, _ := loopOn(t, 16*mib, lab.LoopOptions{})
	p := blkstorm(t, "run", "--engine", "psync", "--iodepth", "16", "--runtime", "500ms", "--format", "json", "--quiet", dev).
		want(t, exitGood).point(t)
	if p.IODepth != 16 || p.IODepthEffective != 1 || p.InFlight != 1 || !p.Completed || !hasWarning(p, "depth_not_reached") {
		t.Errorf("iodepth %d, effective %d, in flight %d, completed %v, warnings %+v", p.IODepth, p.IODepthEffective, p.InFlight, p.Completed, p.Warnings)
	}
}

// On a device that nobody else uses, the kernel has counted what we say that we issued. (Its I/Os
// are requests: neighbours that a batch hands over together become one, and are counted as merged.)
func TestKernelCountsTheSame(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"psync", "auto"} {
		for _, block := range []uint64{4 * kib, 64 * kib} {
			t.Run(fmt.Sprintf("%s %d", engine, block), func(t *testing.T) {
				t.Parallel()
				dev, _ := loopOn(t, 16*mib, lab.LoopOptions{})
				args := []string{"run", "--bs", fmt.Sprint(block), "--threads", "2", "--iodepth", "4", "--engine", engine, "--ramp", "200ms", "--runtime", "500ms", "--format", "json"}
				before := kernelCounts(t, dev)
				read := blkstorm(t, append(args, "--rw", "randread", dev)...).want(t, exitGood).point(t)
				between := kernelCounts(t, dev)
				write := blkstorm(t, append(args, "--rw", "randwrite", "--destroy", dev)...).want(t, exitGood).point(t)
				after := kernelCounts(t, dev)

				if d := between.Since(before); d.ReadIOs+d.ReadMerges != read.Issued.Read || d.ReadBytes != block*read.Issued.Read || d.WriteIOs != 0 {
					t.Errorf("the kernel counted %+v, we issued %+v", d, read.Issued)
				}
				// Before it writes, the guard reads: only the writes are ours alone.
				if d := after.Since(between); d.WriteIOs+d.WriteMerges != write.Issued.Write || d.WriteBytes != block*write.Issued.Write {
					t.Errorf("the kernel counted %+v, we issued %+v", d, write.Issued)
				}
			})
		}
	}
}
