package runner

import (
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// descheduledGap is how long a thread may take between reaping and the next submit before it counts
// as having lost its CPU: the work in between is microseconds.
const descheduledGap = int64(20 * time.Millisecond)

// health is what a thread notices about itself: signs that its figures are not the device's.
type health struct {
	descheduled    uint64  // gaps over descheduledGap
	longest        int64   // the longest of them, in ns
	turns, emptied uint64  // calls of the engine that submitted several I/Os; of these, with none left in flight after
	used           Usage   // before the first turn, and then from there to the last
	busy           float64 // share of the loop's time that the thread was on a CPU
}

// gap takes the time between a reaping and the next submit.
func (h *health) gap(ns int64) {
	if ns > descheduledGap {
		h.descheduled++
		h.longest = max(h.longest, ns)
	}
}

// turn takes what one call of the engine did. An asynchronous device hardly ever answers a whole batch
// within the call that submits it.
func (h *health) turn(taken, inflight int) {
	if taken > 1 {
		h.turns++
		if inflight == 0 {
			h.emptied++
		}
	}
}

func (h *health) begin() { h.used = threadUsage() }

func (h *health) end(wall int64) {
	now := threadUsage()
	h.used = Usage{
		User: now.User - h.used.User, System: now.System - h.used.System, Switches: now.Switches - h.used.Switches,
		MajorFaults: now.MajorFaults - h.used.MajorFaults, MinorFaults: now.MinorFaults - h.used.MinorFaults,
	}
	if wall > 0 {
		h.busy = min(float64(h.used.User+h.used.System)/float64(wall), 1)
	}
}

// threadUsage is what the calling OS thread has used so far.
func threadUsage() Usage {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return Usage{} // cannot happen: it fails only for bad arguments
	}
	return Usage{
		User: time.Duration(u.Utime.Nano()), System: time.Duration(u.Stime.Nano()), Switches: u.Nvcsw + u.Nivcsw,
		MajorFaults: u.Majflt, MinorFaults: u.Minflt,
	}
}

// Health is what a point noticed about itself, over all its threads.
type Health struct {
	// Descheduled counts the times that a thread, or control, was off the CPU for over 20 ms, or
	// 250 ms, when it should have run; Longest is the longest.
	Descheduled uint64
	Longest     time.Duration
	// InSubmit is the share of the submit calls of several I/Os that came back with all of them
	// completed: 1 on a device that completes within the call.
	InSubmit float64
	// Busy is the share of time that the busiest thread was on a CPU.
	Busy float64
	// KernelWorkers is the most io_uring worker threads of the kernel that were seen at once.
	KernelWorkers int
}

// controlLate is how late control may wake before that counts as descheduled: it has no claim to be
// punctual, but quarter seconds mean that the whole process stood still.
const controlLate = 250 * time.Millisecond

func (h *Health) add(threads []*thread) {
	var turns, emptied uint64
	for _, th := range threads {
		t := &th.health
		h.Descheduled += t.descheduled
		h.Longest = max(h.Longest, time.Duration(t.longest))
		h.Busy = max(h.Busy, t.busy)
		turns += t.turns
		emptied += t.emptied
	}
	if turns > 0 {
		h.InSubmit = float64(emptied) / float64(turns)
	}
}

func (h *Health) late(by time.Duration) {
	if by > controlLate {
		h.Descheduled++
		h.Longest = max(h.Longest, by)
	}
}

// workers looks for the kernel's io_uring worker threads of this process. They show as its own threads,
// named iou-wrk-<thread> (io_uring/io-wq.c).
type workers struct {
	seen map[string]bool // ids of threads already looked at, and whether each is a worker
}

// look counts the workers there are. Only threads that are new are read: on a guest with one CPU, each
// look at a file delays the thread that measures.
func (w *workers) look() int {
	dir, err := os.Open("/proc/self/task")
	if err != nil {
		return 0
	}
	names, err := dir.Readdirnames(-1)
	_ = dir.Close() // nothing was written
	if err != nil {
		return 0
	}
	if w.seen == nil {
		w.seen = map[string]bool{}
	}
	n := 0
	for _, id := range names {
		worker, known := w.seen[id]
		if !known {
			comm, err := os.ReadFile("/proc/self/task/" + id + "/comm")
			worker = err == nil && strings.HasPrefix(string(comm), "iou-wrk-")
			w.seen[id] = worker
		}
		if worker {
			n++
		}
	}
	return n
}
