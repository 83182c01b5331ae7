package verdict

import (
	"fmt"
	"time"
)

// latePct is the share of late submits, in percent, from which response times are the queue's in front
// of the device rather than the device's.
const latePct = 1

func missed(in *Input) *Warning {
	if in.Missed == 0 {
		return nil
	}
	return &Warning{
		Code: "rate_not_reached",
		Message: fmt.Sprintf("%s of %d planned in the window had not been submitted when it ended, the oldest %v after its time",
			ios(in.Missed), in.Missed+in.Offered, age(in.Backlog)),
		Advice: "response percentiles lack these and are too good; the target cannot keep this rate at this depth: lower the rate, or raise --threads or --iodepth",
	}
}

// age is d in whole milliseconds, and below ten of them in microseconds: it is never shown as 0 when it is not.
func age(d time.Duration) time.Duration {
	switch {
	case d >= 10*time.Millisecond:
		return d.Round(time.Millisecond)
	case d >= time.Microsecond:
		return d.Round(time.Microsecond)
	}
	return d
}

// fewPlanned is how many I/Os a rate must plan in the window to be more than the accident of where its
// plan and the window begin.
const fewPlanned = 10

func rateTooLow(in *Input) *Warning {
	if !in.Open || in.LeastPlanned >= fewPlanned || !in.Completed {
		return nil
	}
	what := ios(in.LeastPlanned) + " were"
	switch in.LeastPlanned {
	case 0:
		what = "no I/O was"
	case 1:
		what = "1 I/O was"
	}
	return &Warning{
		Code:    "rate_too_low",
		Message: fmt.Sprintf("%s planned in the window of %v%s: the rate is too low for it", what, in.Window.Round(time.Millisecond), in.LeastIn),
		Advice:  "a figure of so few I/Os says nothing, and the rate itself is off by up to one of them: raise the rate, or make --runtime longer",
	}
}

func notWhole(in *Input) *Warning {
	if in.FillIncomplete == "" {
		return nil
	}
	return &Warning{
		Code:    "fill_incomplete",
		Message: in.FillIncomplete,
		Advice:  "nothing was measured after it, since the target is not in the state that the plan wants: look at the kernel log; if that says nothing, this is an error of blkstorm, please report it",
	}
}

func notSteady(in *Input) *Warning {
	if in.NotSteady == "" {
		return nil
	}
	return &Warning{
		Code:    "not_steady",
		Message: "steady state was not reached: " + in.NotSteady,
		Advice:  "what is measured after this depends on how long the device has been at work: allow more rounds (--steady-max-rounds), or precondition for longer",
	}
}

func drifted(in *Input) *Warning {
	if in.Drift == "" {
		return nil
	}
	return &Warning{
		Code:    "steady_state_lost",
		Message: "the steady state that had been reached did not last: " + in.Drift,
		Advice:  "precondition again, for longer; see whether something else uses the device, or it throttles",
	}
}

func late(in *Input) *Warning {
	if in.Offered == 0 || float64(in.Late)*100 < latePct*float64(in.Offered) || in.Missed > 0 {
		return nil
	}
	return &Warning{
		Code:    "submitted_late",
		Message: fmt.Sprintf("%.1f %% of the I/Os were submitted over 1 ms after their planned time", 100*float64(in.Late)/float64(in.Offered)),
		Advice:  "all slots were taken, or the thread did not run: response times include that wait, service times do not; raise --iodepth if the device should take more at once",
	}
}
