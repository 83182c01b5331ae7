package verdict

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Machine is what is known of the machine during a point, beside the I/Os themselves.
type Machine struct {
	UserPct, SystemPct, StealPct float64 // of all CPUs, over the window
	BusiestThreadPct             float64 // of the time, on a CPU
	Descheduled                  uint64
	DescheduledMax               time.Duration
	InSubmitPct                  float64 // of the submits of several I/Os
	KernelWorkers                int
	ClockSource                  string
	ClockCostNS                  float64
	ClockResolutionNS            int64
	ClockBackward                int
}

// Queue is the narrowest queue among the point's targets.
type Queue struct {
	Path  string
	Asked int    // T x Q on that target
	Depth int    // what the device or its controller takes; 0 when not known
	Limit string // which limit that is
}

// Thresholds of the rules. Each is far enough from what a quiet machine shows that a clean run has no
// warning, and near enough that what bends a result by some percent has one.
const (
	busyMachinePct   = 95
	busyThreadPct    = 95
	stealPct         = 1
	clockSlowNS      = 200  // a stamp per batch then costs as much as all else
	clockCoarseNS    = 2000 // 1 % of a 200 us latency
	inSubmitPct      = 90
	slowAfterWindow  = time.Second
	unwrittenShare   = 0.01
	busyWindow       = 100 * time.Millisecond // the kernel counts CPU time in ticks of 10 ms: a fill of some ms has one or none
	beyondPercentile = 10                     // I/Os that must lie above a percentile to make it one
)

func cpuBound(in *Input) *Warning {
	m := &in.Machine
	busy := m.UserPct + m.SystemPct + m.StealPct
	if in.Window < busyWindow {
		busy = 0
	}
	if busy < busyMachinePct && m.BusiestThreadPct < busyThreadPct {
		return nil
	}
	seen := fmt.Sprintf("the busiest thread was on its CPU %.0f %% of the time", m.BusiestThreadPct)
	if busy >= busyMachinePct {
		seen = fmt.Sprintf("the CPUs of this machine were %.0f %% busy", busy)
	}
	return &Warning{
		Code:    "generator_cpu_bound",
		Message: seen + ": the rate may be what this machine can issue, not what the device can do",
		Advice:  "use more threads or CPUs, or --complete-min over 1; compare only with runs on the same machine",
	}
}

func steal(in *Input) *Warning {
	if in.Machine.StealPct < stealPct {
		return nil
	}
	return &Warning{
		Code:    "steal",
		Message: fmt.Sprintf("the hypervisor gave %.1f %% of this guest's CPU time to others", in.Machine.StealPct),
		Advice:  "latencies include time in which this guest did not run: free the host's CPUs and measure again",
	}
}

func clock(in *Input) *Warning {
	m := &in.Machine
	var bad []string
	if m.ClockBackward > 0 {
		bad = append(bad, "went backward "+times(uint64(m.ClockBackward)))
	}
	if m.ClockResolutionNS > clockCoarseNS {
		bad = append(bad, fmt.Sprintf("moves in steps of %v", time.Duration(m.ClockResolutionNS)))
	}
	if m.ClockCostNS > clockSlowNS {
		bad = append(bad, fmt.Sprintf("takes %.0f ns to read", m.ClockCostNS))
	}
	if len(bad) == 0 {
		return nil
	}
	return &Warning{
		Code:    "clock",
		Message: fmt.Sprintf("the clock (%s) %s", m.ClockSource, strings.Join(bad, ", ")),
		Advice:  "give the guest a better clock source (kvm-clock, tsc, hyperv_clocksource_tsc_page; see /sys/devices/system/clocksource)",
	}
}

func tooDeep(in *Input) *Warning {
	q := &in.Queue
	if q.Depth == 0 || q.Asked <= q.Depth || in.Dry {
		return nil
	}
	return &Warning{
		Code:    "depth_above_queue",
		Message: fmt.Sprintf("%d I/Os in flight were asked of %s, whose queue takes %d (%s): the rest waits in this machine's kernel", q.Asked, q.Path, q.Depth, q.Limit),
		Advice:  "latencies include that wait; lower --threads or --iodepth, spread the load over more devices, or raise the limit",
	}
}

func descheduled(in *Input) *Warning {
	m := &in.Machine
	if m.Descheduled == 0 {
		return nil
	}
	return &Warning{
		Code:    "descheduled",
		Message: fmt.Sprintf("threads were kept off the CPU %s, the longest for %v", times(m.Descheduled), m.DescheduledMax.Round(time.Millisecond)),
		Advice:  "high percentiles and the maximum may be this machine's, not the device's: use fewer threads than CPUs, or stop what else runs here",
	}
}

// times says how often something was.
func times(n uint64) string {
	if n == 1 {
		return "once"
	}
	return strconv.FormatUint(n, 10) + " times"
}

func inSubmit(in *Input) *Warning {
	if in.Dry || in.Synchronous || in.Paced || in.IODepth < 2 || in.Machine.InSubmitPct < inSubmitPct {
		return nil
	}
	return &Warning{
		Code:    "completes_in_submit",
		Message: fmt.Sprintf("%.0f %% of the batches were completed within the call that submitted them: for engine %s this device is synchronous", in.Machine.InSubmitPct, in.Engine),
		Advice:  "the queue depth is nominal, and each latency is that of its whole batch; --iodepth 1 with more threads shows the device's own",
	}
}

func kernelWorkers(in *Input) *Warning {
	if in.Machine.KernelWorkers == 0 {
		return nil
	}
	return &Warning{
		Code:    "kernel_workers",
		Message: fmt.Sprintf("io_uring ran I/O in worker threads of the kernel (%d were seen at once), since the target could not take it without blocking", in.Machine.KernelWorkers),
		Advice:  "it costs far more CPU per I/O: try --engine libaio, or no more in flight than the device's queue takes",
	}
}

func unwritten(in *Input) *Warning {
	if in.UnwrittenShare < unwrittenShare {
		return nil
	}
	return &Warning{
		Code:    "unwritten_blocks",
		Message: fmt.Sprintf("%.0f %% of the range on %s was never written: reads there move no data", 100*in.UnwrittenShare, in.UnwrittenPath),
		Advice:  "fill the target once before reading it, for example with --rw write --bs 1m --destroy",
	}
}

// slowAfter finds a stall that the window's end hides: I/Os count where they complete.
func slowAfter(in *Input) *Warning {
	if in.DrainedMax < slowAfterWindow || in.DrainedMax <= in.Max {
		return nil
	}
	return &Warning{
		Code:    "slow_after_window",
		Message: fmt.Sprintf("an I/O of the window took %v and completed after its end; the maximum shown, %v, does not have it", in.DrainedMax.Round(time.Millisecond), in.Max.Round(time.Microsecond)),
		Advice:  "the device stalled at the end of the window: measure longer",
	}
}

func fallback(in *Input) *Warning {
	if len(in.Fallback) == 0 {
		return nil
	}
	return &Warning{
		Code:    "engine_fallback",
		Message: fmt.Sprintf("engine %s was used because %s", in.Engine, strings.Join(in.Fallback, "; ")),
		Advice:  "do not compare with runs on another engine; ask for one by --engine to be sure of it",
	}
}

func degraded(in *Input) *Warning {
	if len(in.EngineNotes) == 0 {
		return nil
	}
	return &Warning{
		Code:    "engine_degraded",
		Message: fmt.Sprintf("engine %s runs %s", in.Engine, strings.Join(in.EngineNotes, "; ")),
		Advice:  "each I/O costs more CPU than it has to",
	}
}

// shortWindow looks at the percentiles that people read: with fewer than ten I/Os above it, a percentile
// is a single event's accident. In the far tail (99.99 and up) only those that were asked for count.
func shortWindow(in *Input) *Warning {
	if in.IOs == 0 || rateTooLow(in) != nil { // which says it all, and what to do
		return nil
	}
	for _, p := range in.Percentiles {
		beyond := float64(in.IOs) * (100 - p) / 100
		if p < 100 && beyond < beyondPercentile-1e-6 { // 100 - 99.9 is a little below 0.1
			return &Warning{
				Code:    "window_too_short",
				Message: fmt.Sprintf("%d I/Os are too few for percentile %g: only %.1f lie above it", in.IOs, p, beyond),
				Advice:  fmt.Sprintf("make --runtime long enough for %.0f I/Os, or read lower percentiles", beyondPercentile*100/(100-p)),
			}
		}
	}
	return nil
}
