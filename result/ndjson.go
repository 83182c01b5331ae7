package result

import (
	"io"
	"time"

	"blkstorm/device"
	"blkstorm/host"
	"blkstorm/plan"
	"blkstorm/verdict"
)

// The stream of `--format ndjson` is one JSON object per line, each with a "type", written as things
// happen, in one Write per line:
//
//	{"type":"run", schema, version, id, started, host, clock, plan, targets}      first
//	{"type":"interval", label, and the keys of an interval row}                   live, ramp included
//	{"type":"point", point (its index), and the keys of a point, no intervals}    at the end of a point
//	{"type":"end", points (how many), warnings (of the whole run), find_max, sweep, rounds} last
//
// Rows hold what happened in them and nothing of what was before, so sums over rows are meaningful. A
// stream without "end" was cut off. The folder's intervals.ndjson has the same interval lines.

// WriteNDJSONRun writes the first line. It needs no points.
func WriteNDJSONRun(w io.Writer, d *Doc) error {
	return writeLine(w, struct {
		Type    string          `json:"type"`
		Schema  string          `json:"schema"`
		Version string          `json:"version"`
		ID      string          `json:"id"`
		Started time.Time       `json:"started"`
		Host    host.Facts      `json:"host"`
		Clock   host.Clock      `json:"clock"`
		Plan    *plan.Plan      `json:"plan"`
		Targets []*device.Facts `json:"targets"`
	}{"run", d.Schema, d.Version, d.ID, d.Started, d.Host, d.Clock, d.Plan, list(d.Targets)})
}

// WriteNDJSON writes the line of an interval row.
func WriteNDJSON(w io.Writer, in *Interval) error {
	return writeLine(w, struct {
		Type  string `json:"type"`
		Label string `json:"label"`
		*Interval
	}{"interval", in.Label, in})
}

// WriteNDJSONPoint writes the line of a finished point; index is its place in Doc.Points.
func WriteNDJSONPoint(w io.Writer, index int, p *Point) error {
	return writeLine(w, struct {
		Type  string `json:"type"`
		Index int    `json:"point"`
		*Point
	}{"point", index, p.whole(false)})
}

// WriteNDJSONEnd writes the last line.
func WriteNDJSONEnd(w io.Writer, d *Doc) error {
	return writeLine(w, struct {
		Type     string            `json:"type"`
		Points   int               `json:"points"`
		Warnings []verdict.Warning `json:"warnings"`
		FindMax  *FindMax          `json:"find_max,omitempty"`
		Sweep    *Sweep            `json:"sweep,omitempty"`
		Rounds   []*Rounds         `json:"rounds,omitempty"`
	}{"end", len(d.Points), list(d.Warnings), d.whole(false).FindMax, d.Sweep, d.Rounds})
}

func writeLine(w io.Writer, v any) error {
	b, err := encode(v, "")
	if err != nil {
		return err
	}
	return write(w, b)
}
