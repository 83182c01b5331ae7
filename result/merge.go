package result

import (
	"fmt"
	"path/filepath"
	"time"

	"blkstorm/histogram"
)

// Merge tells how the results of several machines became this document. Its points and targets are those
// of all of them; what is here keeps apart what each gave.
type Merge struct {
	Members []MergeMember `json:"members"` // by host name
	// LeftOut are inputs of which nothing could be used.
	LeftOut []MergeLeftOut `json:"left_out"`
	Points  []MergePoint   `json:"points"` // one for each of Doc.Points
}

// MergeMember is one result that went in.
type MergeMember struct {
	Name    string    `json:"name"` // the host's, with more where two have the same
	Path    string    `json:"path"`
	Host    string    `json:"host"`
	ID      string    `json:"id"`
	Started time.Time `json:"started"`
	SkewS   float64   `json:"skew_s"`  // how much later it started than the first one
	Targets []int     `json:"targets"` // indexes into Doc.Targets
}

// MergeLeftOut is an input that is no part of the document.
type MergeLeftOut struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// ResponseWhole is the code of the warning of a merged point that was cut, but for its response times.
const ResponseWhole = "merged_response_whole"

// What a merged point's figures cover.
const (
	MergeCommon = "common" // whole intervals within the time that all members measured
	MergeEqual  = "equal"  // whole windows, which are the same
	MergeWhole  = "whole"  // whole windows, which differ
)

// MergePoint is how one point came about.
type MergePoint struct {
	Window string `json:"window"` // MergeCommon, MergeEqual or MergeWhole
	// CommonStart and CommonS are the time that all members measured, by their wall clocks; 0: none.
	CommonStart time.Time `json:"common_start,omitzero"`
	CommonS     float64   `json:"common_s"`
	// LossS is how much of the longest window is not used, in seconds, and LossPct in percent of it.
	LossS   float64    `json:"loss_s"`
	LossPct float64    `json:"loss_pct"`
	SkewS   float64    `json:"skew_s"` // from the first member's start of the window to the last one's
	Rows    []MergeRow `json:"rows"`   // one for each member, in the order of Members
	// The spread is over the members that gave something.
	IOPS      MergeSpread `json:"iops"`
	BytesPerS MergeSpread `json:"bytes_per_s"`
	MeanNS    MergeSpread `json:"mean_ns"`
	P99NS     MergeSpread `json:"p99_ns"` // all 0 where one has no such figure
	MaxNS     MergeSpread `json:"max_ns"`
}

// MergeRow is one member's part of a point: the same time as the point's own figures.
type MergeRow struct {
	Member  int       `json:"member"`  // index into Members
	Started time.Time `json:"started"` // of its own window
	SkewS   float64   `json:"skew_s"`  // how much later than the first one's
	WindowS float64   `json:"window_s"`
	UsedS   float64   `json:"used_s"` // of the window, in the figures
	// Missing says why the member gave nothing.
	Missing   string   `json:"missing,omitempty"`
	Notes     []string `json:"notes,omitempty"` // what else is wrong with its part
	IOs       uint64   `json:"ios"`
	Bytes     uint64   `json:"bytes"`
	Errors    uint64   `json:"errors"` // with short and empty transfers
	IOPS      float64  `json:"iops"`
	BytesPerS float64  `json:"bytes_per_s"`
	MeanNS    int64    `json:"mean_ns"`
	P50NS     *int64   `json:"p50_ns"` // null where it is not known, as the next three
	P95NS     *int64   `json:"p95_ns"`
	P99NS     *int64   `json:"p99_ns"`
	P999NS    *int64   `json:"p99_9_ns"`
	MaxNS     int64    `json:"max_ns"`
}

// MergeSpread is how far members lie apart.
type MergeSpread struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Max    float64 `json:"max"`
	StdDev float64 `json:"stddev"` // of the population
}

// Histogram appends a line to latency.hlog for whoever has no runner's rows; see Histograms.
func (f *Folder) Histogram(point int, stream, target, direction string, start time.Time, length time.Duration, h *histogram.Histogram) error {
	if err := f.openLog(start); err != nil {
		return err
	}
	tag := histogram.LogTag(fmt.Sprint(point), stream, target, direction)
	if err := f.log.Append(tag, start, length, h); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(f.dir, latencyFile), err)
	}
	return nil
}
