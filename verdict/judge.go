package verdict

import (
	"fmt"
	"time"
)

// Input is what is known of one point when it has ended.
type Input struct {
	Engine          string
	Dry             bool // the engine moves nothing
	Synchronous     bool // the engines have a depth of 1 by their nature
	Buffered        bool
	BufferedIn      string // " of stream x"; empty where all I/O was
	IODepth         int    // asked, the most over the streams
	Depth           Depth
	Completed       bool
	Interrupted     bool
	Window          time.Duration // measured
	Planned         time.Duration // asked; 0 for a point that ends by itself
	IOs             uint64
	Errors, Short   uint64 // in the window; short ones also empty
	Faults          uint64 // errors and short transfers, ramp included
	FirstError      string
	Clamped         uint64
	Max, DrainedMax time.Duration // longest latency in the window, and of what completed after it
	Stuck           int
	Failure         string    // why the engine itself broke
	Percentiles     []float64 // those that must be trustworthy, ascending
	Fallback        []string  // "io_uring: why it was passed over"
	EngineNotes     []string
	UnwrittenShare  float64 // the largest over the targets that are read
	UnwrittenPath   string
	// Steady state: what was looked for and not found, or lost again; empty when neither.
	NotSteady, Drift string
	FillIncomplete   string // what a purge or a fill left out, although nothing failed
	// Standstill is what has come between the preconditioning and this point; empty when nothing did.
	Standstill string
	// Hot says which target was how far over its own limit; empty when none was.
	Hot string
	// What NVMe drives say of themselves: that they throttled during the point, have critical warnings, or
	// counted media errors during it; empty where none does.
	Throttled, Critical, MediaErrors string
	// In an open loop:
	Paced                 bool // or with think time, or a share among streams
	Offered, Late, Missed uint64
	Open                  bool          // some stream has planned times;
	LeastPlanned          uint64        // the one with the fewest I/Os planned in the window has these,
	LeastIn               string        // and is this one: " by stream x"; empty where there is only one
	Backlog               time.Duration // how old the oldest missed I/O was at the end
	Machine               Machine
	Queue                 Queue
}

// Depth is what a stream was to keep in flight, of the one that fell shortest.
type Depth struct {
	In             string // " by stream x"; empty where there is only one
	Engine         string
	Synchronous    bool // the engine has a depth of 1 by its nature
	Paced          bool // the depth is what may be in flight, not what has to be
	Threads, Asked int
	Reached        int // the most any of its threads had in flight, least over the threads
}

// Judge applies every rule to a point, the gravest first.
func Judge(in *Input) []Warning {
	var out []Warning
	for _, rule := range []func(*Input) *Warning{
		hung, broken, faults, notWhole, partial, dry, unwritten, cached, cpuBound, steal, clock, descheduled, tooDeep, depth, inSubmit,
		kernelWorkers, missed, late, rateTooLow, notSteady, drifted, resumedLate, hot, throttled, critical, mediaErrors, slowAfter, fallback, degraded, shortWindow, clamped, empty,
	} {
		if w := rule(in); w != nil {
			out = append(out, *w)
		}
	}
	return out
}

func ios(n uint64) string {
	if n == 1 {
		return "1 I/O"
	}
	return fmt.Sprintf("%d I/Os", n)
}

func hung(in *Input) *Warning {
	if in.Stuck == 0 {
		return nil
	}
	return &Warning{
		Code:    "device_hung",
		Message: fmt.Sprintf("the device never answered %s; they are listed with age and offset", ios(uint64(in.Stuck))),
		Advice:  "look at the kernel log and the array or host behind the device; the figures cover only what was answered",
	}
}

func broken(in *Input) *Warning {
	if in.Failure == "" {
		return nil
	}
	return &Warning{
		Code:    "engine_failed",
		Message: "the engine itself failed, and the point ended there: " + in.Failure,
		Advice:  "the figures cover the time until then; try another --engine",
	}
}

func faults(in *Input) *Warning {
	if in.Faults == 0 {
		return nil
	}
	code := "io_errors"
	if in.Errors == 0 && in.Short > 0 {
		code = "short_io"
	}
	return &Warning{
		Code:    code,
		Message: fmt.Sprintf("%s failed or moved too few bytes, the first: %s", ios(in.Faults), in.FirstError),
		Advice:  "they are in no other figure, but a failing device is not at its normal speed: mend it and measure again",
	}
}

func partial(in *Input) *Warning {
	if in.Completed || in.Planned == 0 || in.Window >= in.Planned {
		return nil // what else was wrong has its own warning
	}
	how := "ended early"
	if in.Interrupted {
		how = "was interrupted"
	}
	return &Warning{
		Code:    "not_completed",
		Message: fmt.Sprintf("the point %s: %v of %v were measured", how, in.Window.Round(time.Millisecond), in.Planned),
		Advice:  "rates are over the time that was measured; do not compare them with those of whole runs",
	}
}

func dry(in *Input) *Warning {
	if !in.Dry {
		return nil
	}
	return &Warning{
		Code:    "nothing_moved",
		Message: fmt.Sprintf("engine %s moves no data: these figures are the cost of blkstorm itself, not the device's speed", in.Engine),
		Advice:  "use another --engine to measure the device",
	}
}

func depth(in *Input) *Warning {
	d := &in.Depth
	if d.Reached >= d.Asked || d.Reached == 0 || d.Paced && !d.Synchronous {
		return nil
	}
	w := &Warning{
		Code:    "depth_not_reached",
		Message: fmt.Sprintf("iodepth %d was asked and %d reached%s", d.Asked, d.Reached, d.In),
		Advice:  "give it more time, or look for what keeps the threads from submitting",
	}
	if d.Synchronous {
		w.Message += fmt.Sprintf(": engine %s keeps one I/O in flight per thread", d.Engine)
		w.Advice = fmt.Sprintf("for %d in flight use --threads %d, or an asynchronous engine", d.Threads*d.Asked, d.Threads*d.Asked)
	}
	return w
}

func cached(in *Input) *Warning {
	if !in.Buffered {
		return nil
	}
	return &Warning{
		Code:    "buffered",
		Message: "I/O" + in.BufferedIn + " went through the page cache (--direct=false)",
		Advice:  "the figures show the memory of this machine as much as the device: leave --direct on to measure the device",
	}
}

func clamped(in *Input) *Warning {
	if in.Clamped == 0 {
		return nil
	}
	return &Warning{
		Code:    "latency_clamped",
		Message: fmt.Sprintf("%d latencies were outside 0 to 1 hour and count as its ends", in.Clamped),
		Advice:  "maximum and high percentiles are lower bounds",
	}
}

func empty(in *Input) *Warning {
	if in.IOs > 0 || in.Window == 0 || in.Open && in.Offered+in.Missed == 0 {
		return nil // and where nothing was planned, nothing is missing
	}
	return &Warning{
		Code:    "nothing_completed",
		Message: fmt.Sprintf("no I/O completed in the window of %v", in.Window.Round(time.Millisecond)),
		Advice:  "make --runtime longer than one I/O takes, or look at the errors",
	}
}
