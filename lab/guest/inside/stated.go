package main

import (
	"fmt"
	"time"
)

// What the kernel's and blkstorm's instructions add to a device's latency, measured on Debian's 6.1
// kernel; an instruction is a nanosecond. docs/lab.md has the same figures.
const (
	// An I/O alone: system call, block layer, timer interrupt, wake-up.
	lonePath = 9 * time.Microsecond  // null_blk
	loneSCSI = 22 * time.Microsecond // the same through the SCSI layer
	// What each other I/O of a batch adds.
	uringShare = 2500 * time.Nanosecond
	aioShare   = 5 * time.Microsecond
	// What one I/O in a hundred bears: Go's own threads have the only CPU, or a turn of another thread.
	runtimeTail = 30 * time.Microsecond
	threadTail  = 8 * time.Microsecond
	// What the maximum bears: control closes a row once a second, its work grows with the threads, and
	// an I/O that completes meanwhile waits for the CPU.
	controlWork  = 400 * time.Microsecond
	controlShare = 40 * time.Microsecond // of each other thread; with 16, fio's own maximum is 1.8 to 2.2 ms
	// What no latency has and the rate does: from the reaping of an I/O to the stamp of the next one,
	// and what each other I/O of a batch adds to that.
	loneTurn  = 1 * time.Microsecond
	batchTurn = 400 * time.Nanosecond

	latencySlack = 0.015
	maxSlack     = 0.05
	rateSlack    = 0.005
)

// span is where a latency may lie.
type span struct{ low, high time.Duration }

func (s span) String() string {
	if s.low == s.high {
		return fmt.Sprintf("%.4f", ms(s.low))
	}
	return fmt.Sprintf("%.4f–%.4f", ms(s.low), ms(s.high))
}

func ms(d time.Duration) float64 { return float64(d) / 1e6 }

// truth is the device's latency with the code path. An I/O alone bears exactly its own. Above depth 1 a
// batch is stamped once, before the call that submits all of it, and reaped by one call. Whether it
// stays whole or falls apart is decided by a few instructions here or there, so that an I/O bears at
// least its own path, and at most also the submission of those before it and the reaping of those
// behind it in a batch of the whole depth. Completions of scsi_debug come one by one, threads of psync
// have no batch.
func (c *timed) truth() span {
	s := span{c.latency + lonePath, c.latency + lonePath}
	if c.device == "scsi_debug" {
		return span{c.latency + loneSCSI, c.latency + loneSCSI}
	}
	share := map[string]time.Duration{"io_uring": uringShare, "libaio": aioShare}[c.engine]
	s.high += time.Duration(c.depth-1) * share
	return s
}

// held is a span with the tolerance on either side.
type held struct{ span }

func hold(s span, slack float64, more time.Duration) held {
	return held{span{time.Duration(float64(s.low) * (1 - slack)), time.Duration(float64(s.high)*(1+slack)) + more}}
}

func (h held) excludes(ns int64) bool { return ns < int64(h.low) || ns > int64(h.high) }

// middle holds mean and median.
func (c *timed) middle() held { return hold(c.truth(), latencySlack, 0) }

// late holds the 99th percentile. A row lasts a second, so that of I/Os of 10 ms one in a hundred meets
// control: with many threads they are those that wait for each other then.
func (c *timed) late() held {
	tail := runtimeTail + time.Duration(c.threads-1)*threadTail
	if c.threads > 1 && 100*c.latency >= time.Second {
		tail += c.control()
	}
	return hold(c.truth(), latencySlack, tail)
}

func (c *timed) worst() held {
	return hold(c.truth(), maxSlack, c.control())
}

// control is how long the end of a row may take the only CPU.
func (c *timed) control() time.Duration {
	return controlWork + time.Duration(c.threads-1)*controlShare
}

func (c *timed) turnaround() time.Duration {
	return loneTurn + time.Duration(c.depth-1)*batchTurn
}

// compare shows a latency with its distance from the truth, and says when it is not held.
func (s span) compare(ns int64, h held) (text string, err error) {
	got, off := time.Duration(ns), "in"
	if got < s.low || s.low == s.high {
		off = fmt.Sprintf("%+.2f%%", 100*(float64(got)/float64(s.low)-1))
	} else if got > s.high {
		off = fmt.Sprintf("%+.2f%%", 100*(float64(got)/float64(s.high)-1))
	}
	if h.excludes(ns) {
		err = fmt.Errorf("%.4f ms; device and code make %s ms; allowed is %s ms", ms(got), s, h)
	}
	return fmt.Sprintf("%.4f %s", ms(got), off), err
}
