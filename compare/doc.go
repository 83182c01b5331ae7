// Package compare sets results against a baseline: what changed, by how much, and whether that is more than
// chance.
//
// The command of the same name calls it with what package load has opened; package stat does the
// mathematics. Points are matched by their labels. It measures nothing, opens nothing, and never calls
// something a difference that may be chance: what cannot be told is said to be so, and why.
package compare

import (
	"time"

	"blkstorm/verdict"
)

// Schema is the version of the document's form.
const Schema = "blkstorm.compare/1"

// Doc is a whole comparison. All numbers are finite.
type Doc struct {
	Schema  string `json:"schema"`
	Version string `json:"version"` // of the program
	// Sides are what was compared; the first is the baseline.
	Sides []Side `json:"sides"`
	// FalseRate is the part of the differences shown that are expected to be chance at most.
	FalseRate float64 `json:"false_rate"`
	// Confidence is that of each single interval, which FalseRate asks for; 0 to 1.
	Confidence  float64           `json:"confidence"`
	Comparisons []*Comparison     `json:"comparisons"` // of each side but the first with the first
	Warnings    []verdict.Warning `json:"warnings"`    // of the comparison as a whole
	FailIf      []LimitResult     `json:"fail_if"`
}

// Side is one result, or several repeats of the same run.
type Side struct {
	Name string `json:"name"` // A, B, ...
	Runs []Run  `json:"runs"`
}

// Run is one result.
type Run struct {
	Path    string     `json:"path"`
	Kind    string     `json:"kind"`              // as in package load
	ID      string     `json:"id,omitempty"`      // of the result
	Started *time.Time `json:"started,omitempty"` // nil: not known
	Host    string     `json:"host,omitempty"`
	Version string     `json:"version,omitempty"` // of what measured
}

// Comparison is one side against the baseline.
type Comparison struct {
	Side      string            `json:"side"` // its name
	Summary   Summary           `json:"summary"`
	Points    []*Point          `json:"points"`
	Unmatched []Unmatched       `json:"unmatched"`
	Warnings  []verdict.Warning `json:"warnings"`
}

// Summary counts the figures by their verdicts.
type Summary struct {
	Better       int `json:"better"`
	Worse        int `json:"worse"`
	NoDifference int `json:"no_difference"`
	CannotTell   int `json:"cannot_tell"`
}

// Point is a point that both sides have.
type Point struct {
	Label   string    `json:"label"`
	Nth     int       `json:"nth"` // of several points with that label, from 1, in their order
	Figures []*Figure `json:"figures"`
}

// Unmatched is a point that is not compared.
type Unmatched struct {
	Label string `json:"label"`
	Nth   int    `json:"nth"`
	Side  string `json:"side"` // that has it; both, when it was skipped on one of them
	Why   string `json:"why"`
}

// Verdicts of a figure.
const (
	Better       = "better"
	Worse        = "worse"
	NoDifference = "no_difference" // none is shown; there may be one
	CannotTell   = "cannot_tell"
)

// Methods: how chance is told from difference.
const (
	FromRows         = "rows"                // Welch's t, from the interval rows of one run on each side
	FromRowShares    = "rows_percentile"     // Woodruff's interval, from the histograms of the rows
	FromRounds       = "rounds"              // Welch's t over the rounds of one run on each side
	FromRepeats      = "repeats"             // Welch's t over the values of several runs on each side
	OneAgainstOthers = "one_against_repeats" // Student's t of one run against several
)

// Figure is one metric of one direction of a point.
type Figure struct {
	Direction string `json:"direction"` // total, read, write, trim or sync
	Metric    string `json:"metric"`    // iops, bw, mean, p99.9, response.max, ...
	Unit      string `json:"unit"`      // 1/s, bytes/s or ns
	// A and B are the means over the side's runs, or over a run's rounds; nil when one has no such figure.
	A *float64 `json:"a"`
	B *float64 `json:"b"`
	// RunsA and RunsB are the values of repeats, or of rounds.
	RunsA []float64 `json:"runs_a,omitempty"`
	RunsB []float64 `json:"runs_b,omitempty"`
	// ChangePct is by how much B is over A, in percent of A; nil without both, or when A is 0.
	ChangePct *float64 `json:"change_pct"`
	// LowPct and HighPct are the ends of the interval; nil where that end is not known.
	LowPct  *float64 `json:"low_pct"`
	HighPct *float64 `json:"high_pct"`
	// P is how often two things that are alike would be at least this far apart; nil: not known.
	P      *float64 `json:"p"`
	Method string   `json:"method,omitempty"`
	// EffectiveA and EffectiveB are how many independent rows those of each side are worth; of repeats, their number.
	EffectiveA float64 `json:"effective_a,omitempty"`
	EffectiveB float64 `json:"effective_b,omitempty"`
	Verdict    string  `json:"verdict"`
	Why        string  `json:"why,omitempty"` // it cannot be told
}
