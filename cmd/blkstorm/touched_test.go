package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"blkstorm/device"
	"blkstorm/lab"
	"blkstorm/result"
)

// changedBlocks says which blocks of the backing file no longer hold the pattern of loopOn.
func changedBlocks(t *testing.T, backing string, block int) []bool {
	t.Helper()
	content, err := os.ReadFile(backing)
	if err != nil {
		t.Fatal(err)
	}
	old := bytes.Repeat([]byte("pattern."), block/8)
	changed := make([]bool, len(content)/block)
	for i := range changed {
		changed[i] = !bytes.Equal(content[i*block:(i+1)*block], old)
	}
	return changed
}

// Writes stay within the range that was asked for, and reach all of it.
func TestOnlyTheRangeIsWritten(t *testing.T) {
	const block, size = 4 * kib, 16 * mib
	for _, c := range []struct {
		rw, args    string
		first, last int64 // bytes that may change: from first up to last
	}{
		{"randwrite", "", 0, size},
		{"randwrite", "--offset 4m --size 1m", 4 * mib, 5 * mib},
		{"randwrite", "--offset 25% --size 25%", 4 * mib, 8 * mib},
		{"randwrite", "--offset 8m", 8 * mib, size},
		{"randwrite", "--working-set 10%", 0, size / 10 / block * block},
		{"randwrite", "--offset 1m --size 4m --working-set 50%", 1 * mib, 3 * mib},
		{"randwrite", "--offset 512 --size 8k", 512, 512 + 8*kib},
		{"randrw", "--offset 15m", 15 * mib, size},
		{"write", "--offset 4m --size 4m", 4 * mib, 8 * mib},
		{"write", "--threads 4 --iodepth 4", 0, size},
		{"rw", "--threads 3 --size 1m", 0, 1 * mib},
		{"randtrim", "--offset 4m --size 1m", 4 * mib, 5 * mib},
		{"trimwrite", "--offset 4m --size 4m --fsync 10", 4 * mib, 8 * mib},
	} {
		t.Run(c.rw+" "+c.args, func(t *testing.T) {
			t.Parallel()
			dev, backing := loopOn(t, size, lab.LoopOptions{})
			args := append([]string{"run", "--rw", c.rw, "--runtime", "1500ms", "--destroy", "--quiet", "--format", "json"}, strings.Fields(c.args)...)
			p := blkstorm(t, append(args, dev)...).want(t, exitGood).point(t)
			const grain = 512
			changed := changedBlocks(t, backing, grain)
			missed := 0
			for i, is := range changed {
				at := int64(i) * grain
				if inside := at >= c.first && at < c.last; is && !inside {
					t.Fatalf("byte %d was written; the range is %d to %d", at, c.first, c.last)
				} else if inside && !is {
					missed++
				}
			}
			blocks := (c.last - c.first) / block
			if missed >= int(c.last-c.first)/grain {
				t.Error("nothing was written")
			}
			if !strings.HasPrefix(c.rw, "rand") && wentRound(p, blocks) && missed > 0 {
				t.Errorf("%d sectors of the range were not written, by %+v", missed, p.PerThread)
			}
		})
	}
}

// wentRound says whether each thread has written its slice of a sequential range at least once.
func wentRound(p *result.Point, blocks int64) bool {
	slice := uint64(blocks)/uint64(len(p.PerThread)) + 1
	for _, th := range p.PerThread {
		if th.Issued.Write <= slice {
			return false
		}
	}
	return true
}

// Threads of a sequential write walk through slices of their own: each thread's
// writes lie one after the other from the start of its slice on, and nowhere else.
func TestSequentialSlicesAreDisjoint(t *testing.T) {
	t.Parallel()
	const block, size, threads = 64 * kib, 256 * mib, 4
	dev, backing := loopOn(t, size, lab.LoopOptions{})
	p := blkstorm(t, "run", "--rw", "write", "--bs", fmt.Sprint(block), "--threads", fmt.Sprint(threads), "--runtime", "100ms", "--engine", "psync",
		"--destroy", "--quiet", "--format", "json", dev).want(t, exitGood).point(t)
	changed := changedBlocks(t, backing, block)
	slice := len(changed) / threads
	for i, th := range p.PerThread {
		for j, is := range changed[i*slice : (i+1)*slice] {
			if want := uint64(j) < th.Issued.Write; is != want {
				t.Fatalf("thread %d: block %d of its slice written: %v, after %d writes", i, j, is, th.Issued.Write)
			}
		}
	}
}

// Nothing that anything would recognise is left on a device that was written all over.
func TestWrittenDataIsNoSignature(t *testing.T) {
	for _, rw := range []string{"randwrite", "write"} {
		for seed := range 4 {
			t.Run(fmt.Sprintf("%s seed %d", rw, seed), func(t *testing.T) {
				t.Parallel()
				dev, backing := loopOn(t, 512*kib, lab.LoopOptions{})
				for _, bs := range []string{"512", "4k", "128k"} {
					blkstorm(t, "run", "--rw", rw, "--bs", bs, "--seed", fmt.Sprint(seed), "--threads", "2", "--runtime", "300ms", "--destroy", "--quiet", dev).want(t, exitGood)
					out, err := exec.Command(lab.Tool(t, "blkid"), "-p", dev).CombinedOutput()
					if len(out) > 0 {
						t.Errorf("bs %s: blkid finds %s (%v)", bs, out, err)
					}
					wantNoSignature(t, dev)
					wantNoSignature(t, backing)
				}
			})
		}
	}
}

func wantNoSignature(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	size, err := f.Seek(0, 2)
	if err != nil {
		t.Fatal(err)
	}
	list, err := device.ProbeSignatures(f, size)
	if err != nil || len(list) > 0 {
		t.Errorf("%s carries %v, %v", path, list, err)
	}
}

// A device of 4096-byte blocks takes no I/O of 512 bytes: said before the first one.
func Test4KnRefusesSmallBlocks(t *testing.T) {
	t.Parallel()
	dev, _ := loopOn(t, 16*mib, lab.LoopOptions{SectorSize: 4096})
	for _, args := range [][]string{
		{"--rw", "randread", "--bs", "512"},
		{"--rw", "randwrite", "--destroy", "--bs", "512"},
		{"--rw", "randwrite", "--destroy", "--bs", "6k"},
		{"--rw", "read", "--bs", "4k", "--offset", "512"},
	} {
		before := kernelCounts(t, dev)
		out := blkstorm(t, append(append([]string{"run", "--runtime", "200ms"}, args...), dev)...).want(t, exitUsage, dev, "4096", "logical block size")
		if d := kernelCounts(t, dev).Since(before); d.ReadIOs+d.WriteIOs > 0 || out.stdout != "" {
			t.Errorf("%v: the device saw I/O: %+v\n%s", args, d, out.stdout)
		}
	}
	blkstorm(t, "run", "--rw", "randrw", "--bs", "4k", "--runtime", "200ms", "--destroy", "--quiet", dev).want(t, exitGood)
}
