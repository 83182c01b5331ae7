package plan

import "blkstorm/steady"

// Rounds is how often a phase goes through its points, one round being each of them once, in order
// (SNIA SSS PTS 2.0.2, 2.1.24: a round of the IOPS test is a walk through its matrix).
type Rounds struct {
	// Track are the points whose value of a round is judged, by index into the phase's points, each with
	// its metric. The rounds end when all of them are steady over the same window.
	Track []Track `json:"track"`
	// Rule is the rule for each, whose Metric and Round are not used: a round takes as long as its points.
	Rule steady.Rule `json:"rule"`
}

// Track is one tracked variable.
type Track struct {
	Point  int           `json:"point"`
	Metric steady.Metric `json:"metric"`
}
