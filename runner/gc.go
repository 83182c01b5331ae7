package runner

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// collector keeps Go's garbage collector from stopping on a thread that hangs in the kernel.
//
// A collection stops every goroutine first. A thread in a raw system call on a device that does not
// answer (state D) cannot be stopped, so the collection would wait for the device, and with it the
// whole program: no row, no report, no signal handled. Therefore collection is off during a run (the
// hot loop makes no garbage), and control collects at moments when every thread is turning.
type collector struct {
	percent int      // setting before the run
	base    uint64   // heap after the last collection
	seen    []uint64 // the threads' states when control last looked
	seenAt  int64
}

// collectAfter is how much garbage may gather, in bytes.
const collectAfter = 32 << 20

// seenAfter is the least time between two looks at the threads.
const seenAfter = 100 * time.Millisecond

func pauseCollector() *collector {
	runtime.GC() // set-up's garbage, while nothing can hang yet
	return &collector{percent: debug.SetGCPercent(-1), base: heapBytes()}
}

func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample) // does not stop the world, unlike runtime.ReadMemStats
	return sample[0].Value.Uint64()
}

// collect collects if enough has gathered and no thread is stuck: each has gone round since the last
// time that control looked, at least seenAfter ago. A device that takes milliseconds per I/O delays the
// collection by as much, and that is all; one that has stopped to answer is never waited for.
func (c *collector) collect(threads []*thread, now int64) {
	if now-c.seenAt < int64(seenAfter) {
		return
	}
	turning := c.seen != nil
	for i, th := range threads {
		if c.seen == nil {
			c.seen = make([]uint64, len(threads))
		}
		state := th.state.Load()
		turning = turning && (state != c.seen[i] || th.progress.Load() == progressDone)
		c.seen[i] = state
	}
	c.seenAt = now
	if turning && heapBytes() >= c.base+collectAfter {
		runtime.GC()
		c.base = heapBytes()
	}
}

// resume restores the setting. It stops the world, so it must not be called while a thread hangs.
func (c *collector) resume() { debug.SetGCPercent(c.percent) }
