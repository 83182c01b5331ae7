package runner

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/histogram"
	"blkstorm/host"
	"blkstorm/ioengine"
	"blkstorm/op"
)

// Stat is what was completed in one direction.
type Stat struct {
	Latency histogram.Histogram // service time: submit to completion; its count is the number of I/Os
	// Response is from the planned time to the completion; empty in a closed loop.
	Response histogram.Histogram
	Bytes    uint64
	Errors   uint64 // I/Os that failed: in no other figure
	Short    uint64 // I/Os that moved fewer bytes than asked: in no other figure
	Zero     uint64 // I/Os that moved nothing without an error, as a vanished device does: in no other figure
	// Of the I/Os that were planned in the window, in an open loop:
	Offered uint64 // submitted in it
	Late    uint64 // of these, submitted over 1 ms after their time
	Missed  uint64 // not submitted when it ended
}

func (s *Stat) add(c *counts) {
	if c.latency != nil {
		s.Latency.AddRecorder(c.latency)
	}
	if c.response != nil {
		s.Response.AddRecorder(c.response)
	}
	s.Bytes += c.bytes
	s.Errors += c.errors
	s.Short += c.short
	s.Zero += c.zero
}

// Merge adds what o holds.
func (s *Stat) Merge(o *Stat) {
	s.Latency.Merge(&o.Latency)
	s.Response.Merge(&o.Response)
	s.Offered += o.Offered
	s.Late += o.Late
	s.Missed += o.Missed
	s.Bytes += o.Bytes
	s.Errors += o.Errors
	s.Short += o.Short
	s.Zero += o.Zero
}

// Faults is the number of I/Os that are none: failed, short or empty.
func (s *Stat) Faults() uint64 { return s.Errors + s.Short + s.Zero }

// Reset empties s and keeps its memory.
func (s *Stat) Reset() {
	s.Latency.Reset()
	s.Response.Reset()
	s.Bytes, s.Errors, s.Short, s.Zero = 0, 0, 0, 0
	s.Offered, s.Late, s.Missed = 0, 0, 0
}

// Cell is the statistics of one stream on one target.
type Cell struct {
	Stream, Target int
	Ops            [op.Count]Stat
	Undrawn        uint64        // missed I/Os beside those in Ops, whose direction was never drawn
	Backlog        time.Duration // how old the oldest missed I/O was at the window's end
}

// Row is one interval, of the ramp or of the window.
type Row struct {
	Ramp     bool
	Index    int64         // from 0, within the ramp or the window
	Start    time.Duration // since the window's start; below 0 in the ramp
	Length   time.Duration // the interval, or less in the last row
	Wall     time.Time     // wall clock at the row's start
	Cells    []Cell        // one per stream and target, in order
	InFlight int64         // sum over the threads of the most each had in flight
	Host     Sample        // counters' growth over the row, as near as control could read them
}

// Sample is the growth of the host's counters over some time, with a disk per target; it is zero where
// there is none to read.
type Sample = host.Growth

// maxStuck is how many stuck I/Os are kept with their details; all are counted.
const maxStuck = 1000

// IOError is an I/O that failed or fell short.
type IOError struct {
	Op     op.Op
	Offset int64
	Length int64
	Target int
	Errno  syscall.Errno // 0 for a short transfer
	Got    int64         // bytes moved by a short transfer
	At     time.Duration // since the window's start
}

// Reason says what happened: "EIO (5): input/output error", or how many bytes came.
func (e *IOError) Reason() string {
	if e.Errno == 0 && e.Got == 0 {
		return fmt.Sprintf("moved 0 of %d bytes without an error, as a device does that is gone", e.Length)
	}
	if e.Errno == 0 {
		return fmt.Sprintf("short transfer: %d of %d bytes", e.Got, e.Length)
	}
	return fmt.Sprintf("%s (%d): %s", unix.ErrnoName(e.Errno), int(e.Errno), e.Errno.Error())
}

// Stuck is an I/O that the device had not answered when the point ended.
type Stuck struct {
	Op     op.Op
	Offset int64
	Length int64
	Target int
	Age    time.Duration
}

// Thread is what one thread did.
type Thread struct {
	Stream, Target int
	CPU            int // pinned to, or -1
	Engine         ioengine.Info
	Peak           int              // the most I/Os in flight at once
	Depth          int              // that it was tuned to, or its stream's
	Issued         [op.Count]uint64 // handed to the kernel since the point began, ramp included
	Drained        uint64           // of these, completed after the window closed
	// From and To are when the thread began to be measured and when it ended, since the window's start.
	From, To time.Duration
	Usage    Usage // from its first turn to its last
}

// Usage is what a thread took of the machine.
type Usage struct {
	User, System time.Duration
	Switches     int64 // times that it gave its CPU away, or lost it
	MajorFaults  int64
	MinorFaults  int64
}

// Add adds what another used.
func (u *Usage) Add(o Usage) {
	u.User += o.User
	u.System += o.System
	u.Switches += o.Switches
	u.MajorFaults += o.MajorFaults
	u.MinorFaults += o.MinorFaults
}

// Result is what a point gave. What was issued is the sum of the ramp's I/Os, the window's I/Os,
// errors and short transfers of both, the drained and the stuck.
type Result struct {
	Started     time.Time // wall clock at the point's begin
	WindowStart time.Time
	Ramp        time.Duration // as it was: shorter than asked when the point was stopped in it
	Window      time.Duration // 0 when the point was stopped in its ramp
	Completed   bool          // the window ran to its planned end and every I/O came back
	Interrupted bool          // ended by the caller
	Enough      bool          // ended by the caller, who has what he wanted: as good as completed
	Cells       []Cell        // the window only
	RampIOs     uint64        // with Warmed
	Warmed      uint64        // completed in the window, in the ramp of their own stream
	Threads     []Thread
	Errors      []IOError     // the first ones, in order of time
	Faults      uint64        // all errors and short transfers, also those outside the window
	DrainedMax  time.Duration // the longest latency of an I/O that completed after the window
	StuckIOs    uint64        // never answered
	Stuck       []Stuck       // of these, the oldest
	Failed      error         // an engine itself failed
	Health      Health
	CPU         host.CPUShare // over the window
	Process     host.ProcessTimes
	ProcessWall time.Duration // wall time that Process covers
}
