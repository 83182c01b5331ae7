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
	percent int    // setting before the run
	base    uint64 // heap after the last collection
}

// collectAfter is how much garbage may gather, in bytes: an hour of rows at least.
const collectAfter = 64 << 20

func pauseCollector() *collector {
	runtime.GC() // set-up's garbage, while nothing can hang yet
	return &collector{percent: debug.SetGCPercent(-1), base: heapBytes()}
}

func heapBytes() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample) // does not stop the world, unlike runtime.ReadMemStats
	return sample[0].Value.Uint64()
}

// collect collects if enough has gathered and no thread is stuck right now.
func (c *collector) collect(threads []*thread) {
	if heapBytes() < c.base+collectAfter || !turning(threads, time.Millisecond) {
		return
	}
	runtime.GC()
	c.base = heapBytes()
}

// turning says whether no thread stays in the same system call for as long as pause.
func turning(threads []*thread, pause time.Duration) bool {
	before := make([]uint64, len(threads))
	for i, th := range threads {
		before[i] = th.state.Load()
	}
	time.Sleep(pause)
	for i, th := range threads {
		if now := th.state.Load(); now == before[i] && now&stateMask == stateInEngine && th.progress.Load() != progressDone {
			return false
		}
	}
	return true
}

// resume restores the setting. It stops the world, so it must not be called while a thread hangs.
func (c *collector) resume() { debug.SetGCPercent(c.percent) }
