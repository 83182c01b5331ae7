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
