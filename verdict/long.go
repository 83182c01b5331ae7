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
