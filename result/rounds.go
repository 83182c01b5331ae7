package result

import "blkstorm/steady"

// Rounds is what a phase of rounds came to.
type Rounds struct {
	Phase int `json:"phase"` // index into Plan.Phases
	Done  int `json:"done"`  // rounds that were finished
	// First and Last are the rounds of the measurement window, from 1: the first window in which all that
	// is tracked was steady; when there is none, the last full one; both 0 without a full window.
	First int `json:"first"`
	Last  int `json:"last"`
	// Reached says that the window is steady.
	Reached bool      `json:"reached"`
	Tracked []Tracked `json:"tracked"`
	Cells   []Cell    `json:"cells"` // one for each point of the phase, in order
}

// Tracked is one tracked variable: its values in all rounds, and the figures of the measurement window.
type Tracked struct {
	Point  string        `json:"point"` // label
	Steady steady.Report `json:"steady"`
}

// Cell is a point of the phase over the measurement window: means over its rounds, as the specification
// reports them, and the highest latency of all of them.
type Cell struct {
	Label     string  `json:"label"`
	IOPS      float64 `json:"iops"`
	BytesPerS float64 `json:"bytes_per_s"`
	MeanNS    int64   `json:"mean_ns"`
	P99NS     int64   `json:"p99_ns"` // of the histograms of all its rounds together
	MaxNS     int64   `json:"max_ns"`
	Rounds    int     `json:"rounds"` // how many there were to take the mean of
}
