package result

// FindMax is what a search for the capacity under a limit to response time came to. Its steps are
// points of the document.
type FindMax struct {
	Limit      string  `json:"limit"`   // as in "p99=1ms"
	Arrival    string  `json:"arrival"` // of the planned I/Os: "fixed" or "poisson"
	Resolution float64 `json:"resolution"`
	// FoundIOPS is the highest rate, over all targets, that a long step confirmed; null when none did.
	FoundIOPS  *float64 `json:"found_iops"`
	FoundPoint *int     `json:"found_point"` // index into Doc.Points
	// CeilingIOPS is the throughput of a closed loop; 0 when that was not measured, or was found too low.
	CeilingIOPS float64 `json:"ceiling_iops"`
	// ReachedCeiling says that the rate is bounded by what the device gives at all, not by the limit.
	ReachedCeiling bool          `json:"reached_ceiling"`
	Why            string        `json:"why,omitempty"` // why nothing was found
	Steps          []FindMaxStep `json:"steps"`
}

// FindMaxStep is a step's rate and what came of it.
type FindMaxStep struct {
	Point    int     `json:"point"`         // index into Doc.Points
	Kind     string  `json:"kind"`          // "ceiling", "probe" or "confirm"
	Asked    float64 `json:"asked_iops"`    // over all targets; 0 for a closed loop
	Achieved float64 `json:"achieved_iops"` // completed in the window / window
	Value    int64   `json:"value_ns"`      // what the limit is about; service time in a closed loop
	OK       bool    `json:"ok"`
	// Verdict is "good", or a code for why not: "over_limit", "rate_not_reached", "too_few" I/Os to
	// judge by, "faults"; "closed_loop" for what has no rate.
	Verdict string `json:"verdict"`
	Why     string `json:"why,omitempty"` // the same for people
}
