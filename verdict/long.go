package verdict

// The rules of this file are about runs that last for days.

func resumedLate(in *Input) *Warning {
	if in.Standstill == "" {
		return nil
	}
	return &Warning{
		Code:    "resumed_after_gap",
		Message: "after the preconditioning " + in.Standstill,
		Advice:  "the device has rested, or is another one, and may not be in the state that was reached: go on with --re-precondition, or measure again without a break",
	}
}

func hot(in *Input) *Warning {
	if in.Hot == "" {
		return nil
	}
	return &Warning{
		Code:    "hot",
		Message: in.Hot,
		Advice:  "drives that are too hot work slower on purpose: cool it and measure again, and look at how the rate follows the temperature over the intervals",
	}
}

// Quick is the warning of a published procedure whose times are scaled down.
func Quick(profile string) Warning {
	return Warning{
		Code:    "quick",
		Message: "times scaled down: not comparable with the published procedure " + profile,
		Advice:  "it shows that the procedure runs here, and what its result looks like; run it without --quick for figures",
	}
}

func throttled(in *Input) *Warning {
	if in.Throttled == "" {
		return nil
	}
	return &Warning{
		Code:    "throttled",
		Message: in.Throttled,
		Advice:  "the figures are those of a drive that holds itself back to become cooler: cool it and measure again",
	}
}

func critical(in *Input) *Warning {
	if in.Critical == "" {
		return nil
	}
	return &Warning{
		Code:    "drive_warning",
		Message: in.Critical + " (critical warnings of its health log)",
		Advice:  "such a drive may be slower than others of its kind, and fail: look at its health (nvme smart-log, smartctl -a), and do not measure on it",
	}
}

func mediaErrors(in *Input) *Warning {
	if in.MediaErrors == "" {
		return nil
	}
	return &Warning{
		Code:    "media_errors",
		Message: in.MediaErrors,
		Advice:  "a drive that reads data again, or rebuilds them, is slower than its kind: look at its health (nvme smart-log, smartctl -a), and do not measure on it",
	}
}
