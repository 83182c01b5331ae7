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
			ios(in.Missed), in.Missed+in.Offered, in.Backlog.Round(time.Millisecond)),
		Advice: "response percentiles lack these and are too good; the target cannot keep this rate at this depth: lower the rate, or raise --threads or --iodepth",
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
