// Package plan holds everything that is needed to repeat a run: targets, phases, points, streams.
//
// Front ends (flags, later job files and profiles) only make plans; the runner only carries them
// out; every result embeds its plan. A plan is plain data: it opens nothing and reads no clock.
package plan

import (
	"fmt"
	"strings"
	"time"

	"blkstorm/steady"
	"blkstorm/threshold"
	"blkstorm/unit"
	"blkstorm/workload"
)

// Schema is the version of the plan's form.
const Schema = "blkstorm.plan/1"

// Plan is a whole procedure.
type Plan struct {
	Schema  string   `json:"schema"`
	Targets []Target `json:"targets"`
	// Engine is a name of the engine registry.
	Engine string `json:"engine"`
	// SQThreadPoll and HiPri are io_uring's SQPOLL and IOPOLL.
	SQThreadPoll bool `json:"sqthread_poll,omitempty"`
	HiPri        bool `json:"hipri,omitempty"`
	// Direct bypasses the page cache (O_DIRECT).
	Direct bool `json:"direct"`
	// CompleteMin is how many completions a thread waits for at once, 1 to the queue depth.
	CompleteMin int `json:"complete_min"`
	// Pin is "auto", "none" or a CPU list such as "0-3,8".
	Pin string `json:"pin"`
	// Seed makes offsets, mix and data repeatable: 0 to MaxSeed.
	Seed uint64 `json:"seed"`
	// Grace is how long after the end of a point unanswered I/Os are waited for; 0 is the
	// runner's default.
	Grace Duration `json:"grace,omitempty"`
	// ContinueOnError counts failed I/Os and goes on, instead of stopping at the first.
	ContinueOnError bool `json:"continue_on_error,omitempty"`
	// Asserts are limits that each measured point must keep.
	Asserts []threshold.Assert `json:"asserts,omitempty"`
	// Profile names the published procedure that the plan was made from, whose tables a result then has,
	// too; empty for none.
	Profile string `json:"profile,omitempty"`
	// Claims are what a data sheet says, for a table of measured against claimed.
	Claims *Claims `json:"claims,omitempty"`
	// Quick makes steady state that was not reached a warning only, not a failure.
	Quick bool `json:"quick,omitempty"`
	// Destroy is the consent to overwrite the targets.
	Destroy bool    `json:"destroy,omitempty"`
	Phases  []Phase `json:"phases"`
}

// MaxSeed is the largest seed: the largest integer that every JSON reader keeps exact.
const MaxSeed = 1<<53 - 1

// Target is one device or file under load.
type Target struct {
	// Spec is what the user wrote: a path, serial=…, wwn=… or H:C:T:L. Empty is a scratch file of
	// the run's own.
	Spec string `json:"spec,omitempty"`
	// DestroySignature lifts the refusal because of a file system or other signature.
	DestroySignature bool `json:"destroy_signature,omitempty"`
	// CreateBytes is the size of a file that the run makes and writes once; 0 for existing targets.
	CreateBytes int64 `json:"create_bytes,omitempty"`
	// Remake has a file that exists and is shorter than CreateBytes written anew in that size, instead of taken as it
	// is: what it held is lost, so that the guard is asked as for a write.
	Remake bool `json:"remake,omitempty"`
}

// Phase is a group of points that serve one purpose.
type Phase struct {
	Kind   string  `json:"kind"` // one of Kinds
	Points []Point `json:"points,omitempty"`
	// Steady ends the phase's only point as soon as its rounds are steady; the point's Runtime is the
	// time after which that is given up. Only Precondition has it.
	Steady *steady.Rule `json:"steady,omitempty"`
	// MostPasses, beside Steady, ends the point also when so many times its streams' ranges have been written;
	// 0: that is no reason. SNIA's test of write saturation ends at 4 (SSS PTS 2.0.2, WSAT).
	MostPasses int `json:"most_passes,omitempty"`
	// Rounds repeats the points of a Measure phase, all of them once a round, until what it tracks is steady.
	Rounds *Rounds `json:"rounds,omitempty"`
	// Time is how long an Idle phase waits.
	Time Duration `json:"time,omitempty"`
	// Sweep is what the points of a Measure phase are the combinations of, in its order.
	Sweep *Sweep `json:"sweep,omitempty"`
}

// Kinds of phases.
const (
	Purge        = "purge"        // the targets are discarded
	Fill         = "fill"         // they are written, in order
	Precondition = "precondition" // they are brought into the state that is to be measured
	Measure      = "measure"      // its points are the results
	Idle         = "idle"         // nothing is done
)

// Kinds lists them.
var Kinds = []string{Purge, Fill, Precondition, Measure, Idle}

// Point is one row of a result: streams that run together.
type Point struct {
	Label    string   `json:"label"`
	Ramp     Duration `json:"ramp"`     // time before the window, not counted
	Runtime  Duration `json:"runtime"`  // length of the window
	Interval Duration `json:"interval"` // slice of the window with its own row
	Streams  []Stream `json:"streams"`
}

// Stream is one workload on a set of targets at T x Q each.
type Stream struct {
	Label    string        `json:"label"`
	Workload workload.Spec `json:"workload"`
	Targets  []int         `json:"targets"` // indexes into Plan.Targets
	Threads  int           `json:"threads"` // per target
	IODepth  int           `json:"iodepth"` // per thread
	// Pacing says when to issue; empty is as soon as a slot is free.
	Pacing workload.Pacing `json:"pacing,omitzero"`
	// Share is this stream's part of the point's I/Os in percent; 0 in all streams of a point lets
	// each go as fast as it can.
	Share float64 `json:"share,omitempty"`
	// Passes ends the stream when each thread has walked so often through its sequential slice, or
	// through its share of a workload with full coverage, however long that takes; the window is then
	// that time. 0: the stream ends with the point's time.
	Passes int `json:"passes,omitempty"`
	// Start is how long after the point's start the stream begins. What it does in the ramp is not counted.
	Start Duration `json:"start,omitempty"`
	// Time ends the stream so long after it has begun to be measured: after the ramp, or after its own
	// start if that is later. 0: it has no such end.
	Time Duration `json:"time,omitempty"`
	// Bytes and IOs end each of the stream's threads when it has issued so much; the last I/O is cut
	// to what is left of Bytes, or goes over it where that is no whole number of blocks. 0: no such end. A stream ends at the first of its ends, and at the latest with its point.
	Bytes int64 `json:"bytes,omitempty"`
	IOs   int64 `json:"ios,omitempty"`
	// Together has each thread serve all of the stream's targets, in turns, at the stream's depth;
	// else each target has threads and depth of its own.
	Together bool `json:"together,omitempty"`
	// Parts are what the stream uses of each of its targets, in their order; none: what its workload says.
	Parts []Part `json:"parts,omitempty"`
	// Ramp is how long after its own start the stream is not counted. Beyond the point's ramp it makes the stream
	// alone begin later to be measured.
	Ramp Duration `json:"own_ramp,omitempty"`
	// EndsPoint ends the point as soon as the stream has ended by itself.
	EndsPoint bool `json:"ends_point,omitempty"`
	// EndSync flushes the targets when a thread has issued all; that is part of its time, and no I/O.
	EndSync bool `json:"end_sync,omitempty"`
	// MaxLatency ends the point, with an error, at the first I/O that takes longer; 0: there is no limit.
	MaxLatency Duration `json:"max_latency,omitempty"`
	// Tune looks for the queue depth that keeps a latency; nil: the stream keeps its own.
	Tune *Tune `json:"tune,omitempty"`
	// Engine, Direct, CompleteMin, Pin and ContinueOnError are what the stream has otherwise than the plan, whose
	// fields have the same meaning; empty, 0 and nil: as the plan. An engine that moves nothing cannot run beside
	// one that does: what the guard is asked depends on it.
	Engine          string `json:"engine,omitempty"`
	Direct          *bool  `json:"direct,omitempty"`
	CompleteMin     int    `json:"complete_min,omitempty"`
	Pin             string `json:"pin,omitempty"`
	ContinueOnError *bool  `json:"continue_on_error,omitempty"`
}

// Ends says whether the stream ends by itself, rather than with its point.
func (s *Stream) Ends() bool { return s.Passes > 0 || s.Time > 0 || s.Bytes > 0 || s.IOs > 0 }

// Workers is how many threads the stream has, over all of its targets.
func (s *Stream) Workers() int {
	if s.Together {
		return s.Threads
	}
	return s.Threads * len(s.Targets)
}

// Waits says whether the stream leaves slots free on purpose, so that its depth is a limit rather than
// a promise.
func (s *Stream) Waits() bool { return s.Share > 0 || !s.Pacing.IsZero() || s.Tune != nil }

// BuffersPerSlot is how many buffers each I/O in flight needs: a mixed workload reads and writes through
// different ones, since one that a read has filled must not be written elsewhere; trims need none.
func (s *Stream) BuffersPerSlot() (n int) {
	if s.Workload.Reads() {
		n++
	}
	if s.Workload.Writes() {
		n++
	}
	return n
}

// Duration is a time that plans show as text ("1m30s").
type Duration time.Duration

// MarshalText writes the duration as UnmarshalText reads it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads what unit.Duration reads.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := unit.Duration(string(text))
	*d = Duration(v)
	return err
}

// D is the duration as the standard library's type.
func (d Duration) D() time.Duration { return time.Duration(d) }

// Append adds a copy of a point to the last phase, or to a new one where that is of another kind.
func (p *Plan) Append(kind string, point *Point) {
	if n := len(p.Phases); n == 0 || p.Phases[n-1].Kind != kind {
		p.Phases = append(p.Phases, Phase{Kind: kind})
	}
	last := &p.Phases[len(p.Phases)-1]
	last.Points = append(last.Points, *point)
}

// ProfileText says which published procedure the plan is, and that it is not to be compared with others
// where it is the quick form; empty for none.
func (p *Plan) ProfileText() string {
	switch {
	case p.Profile == "":
		return ""
	case p.Quick:
		return "profile " + p.Profile + ", QUICK: times scaled down, not comparable with the published procedure"
	}
	return "profile " + p.Profile
}

// Writes says whether any stream changes what is on target i: whether it writes or trims there.
func (p *Plan) Writes(i int) bool {
	writes := false
	p.eachStream(func(_ *Point, s *Stream) {
		for _, t := range s.Targets {
			writes = writes || t == i && s.Workload.Changes()
		}
	})
	return writes
}

func (p *Plan) eachStream(f func(*Point, *Stream)) {
	for i := range p.Phases {
		for j := range p.Phases[i].Points {
			point := &p.Phases[i].Points[j]
			for k := range point.Streams {
				f(point, &point.Streams[k])
			}
		}
	}
}

// AutoLabel names a point by what its streams do: "randrw 70% read 8k 4T/16Q".
func AutoLabel(streams []Stream) string {
	var parts []string
	for i := range streams {
		s := &streams[i]
		parts = append(parts, fmt.Sprintf("%s %dT/%dQ", s.Workload.Label(), s.Threads, s.IODepth))
	}
	return strings.Join(parts, " + ")
}
