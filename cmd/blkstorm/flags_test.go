package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"blkstorm/lab"
)

// queued is an I/O as the kernel's block layer took it.
type queued struct {
	flags         string // R, W, and S for I/O past the page cache
	offset, bytes int64
}

// traceQueue runs f and returns what was queued on dev meanwhile, in order, from the kernel's
// tracepoint block_bio_queue, in a trace instance of its own.
func traceQueue(t *testing.T, dev string, f func()) (list []queued) {
	t.Helper()
	dir := fmt.Sprintf("/sys/kernel/tracing/instances/blkstorm-test-%d-%s", os.Getpid(), filepath.Base(dev))
	if err := os.Mkdir(dir, 0o700); err != nil {
		lab.Missing(t, "no tracefs: "+err.Error())
	}
	t.Cleanup(func() { _ = os.Remove(dir) })
	set := func(name, value string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(value), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	number, err := os.ReadFile("/sys/block/" + filepath.Base(dev) + "/dev")
	if err != nil {
		t.Fatal(err)
	}
	var major, minor int
	if _, err := fmt.Sscanf(string(number), "%d:%d", &major, &minor); err != nil {
		t.Fatal(err)
	}
	set("buffer_size_kb", "16384")
	set("events/block/block_bio_queue/filter", fmt.Sprintf("dev == %d", major<<20|minor))
	set("events/block/block_bio_queue/enable", "1")
	f()
	set("events/block/block_bio_queue/enable", "0")
	trace, err := os.ReadFile(filepath.Join(dir, "trace"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(trace)) {
		// ... block_bio_queue: 7,3 RS 524288 + 128 [blkstorm]
		_, event, found := strings.Cut(line, "block_bio_queue: ")
		if !found {
			continue
		}
		words := strings.Fields(event)
		sector, err := strconv.ParseInt(words[2], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		count, err := strconv.ParseInt(words[4], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, queued{words[1], sector * 512, count * 512})
	}
	return list
}

// The sizes of a split, seen by the kernel: of each 100 consecutive I/Os of a thread just the shares
// that were asked for, each at a multiple of its size.
func TestSplitSeenByTheKernel(t *testing.T) {
	for _, c := range []struct {
		rw, split string
		want      string
	}{
		{"randread", "4k/10:64k/50:32k/40", "map[4096:10 32768:40 65536:50]"},
		{"read", "4k/60:64k/40", "map[4096:60 65536:40]"},
		{"randwrite", "512/25:1k/25:8k/", "map[512:25 1024:25 8192:50]"},
	} {
		t.Run(c.rw+" "+c.split, func(t *testing.T) {
			dev, _ := loopOn(t, 64*mib, lab.LoopOptions{})
			var issued uint64
			list := traceQueue(t, dev, func() {
				issued = blkstorm(t, "run", "--rw", c.rw, "--bssplit", c.split, "--iodepth", "16", "--runtime", "2s",
					"--destroy", "--format", "json", "--quiet", dev).want(t, exitGood).point(t).Issued.Sum()
			})
			// The guard's own reads come first; what was issued is the end of the list.
			if uint64(len(list)) < issued || issued < 100 {
				t.Fatalf("%d I/Os seen, %d issued", len(list), issued)
			}
			list = list[uint64(len(list))-issued:]
			all, hundred := map[int64]int{}, map[int64]int{}
			for i, io := range list {
				all[io.bytes]++
				hundred[io.bytes]++
				if strings.HasPrefix(c.rw, "rand") && io.offset%io.bytes != 0 {
					t.Fatalf("%+v is not at a multiple of its size", io)
				}
				if (i+1)%100 == 0 {
					if got := fmt.Sprint(hundred); got != c.want {
						t.Fatalf("I/Os %d to %d: %s, want %s", i-98, i+1, got, c.want)
					}
					clear(hundred)
				}
			}
			t.Logf("%d I/Os: %v", issued, all)
		})
	}
}

// Full coverage, seen by the kernel: in each pass every block once.
func TestCoverageSeenByTheKernel(t *testing.T) {
	dev, _ := loopOn(t, mib, lab.LoopOptions{})
	list := traceQueue(t, dev, func() {
		blkstorm(t, "run", "--rw", "randwrite", "--coverage", "--iodepth", "8", "--runtime", "1500ms", "--destroy", "--format", "json", "--quiet", dev).want(t, exitGood)
	})
	seen := map[int64]bool{}
	passes := 0
	for _, io := range list {
		if io.flags[0] != 'W' {
			continue
		}
		if seen[io.offset] {
			t.Fatalf("pass %d: offset %d came twice", passes, io.offset)
		}
		if seen[io.offset] = true; len(seen) == mib/4096 {
			clear(seen)
			passes++
		}
	}
	if passes < 2 {
		t.Errorf("only %d passes in %d I/Os", passes, len(list))
	}
}
