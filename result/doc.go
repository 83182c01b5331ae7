// Package result makes documents of what the runner measured: JSON, text, CSV and the result folder.
//
// Commands feed it rows and point results and ask it to write. It computes nothing but figures from
// histograms and counters, warns of nothing by itself (verdict does), and never runs anything. The
// keys of the JSON are a contract: more may be added, none is renamed without a new Schema.
package result

import (
	"time"

	"blkstorm/device"
	"blkstorm/host"
	"blkstorm/ioengine/registry"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/runner"
	"blkstorm/steady"
	"blkstorm/sweep"
	"blkstorm/threshold"
	"blkstorm/verdict"
	"blkstorm/workload"
)

// Schema is the version of the document's form.
const Schema = "blkstorm.result/1"

// Doc is the whole result of one invocation. Times are integers in nanoseconds where the key ends in
// ns, and fractions of seconds where it ends in _s. All numbers are finite.
type Doc struct {
	Schema   string            `json:"schema"`
	Version  string            `json:"version"`
	ID       string            `json:"id"` // random, one per invocation
	Started  time.Time         `json:"started"`
	Host     host.Facts        `json:"host"`
	Clock    host.Clock        `json:"clock"`
	Plan     *plan.Plan        `json:"plan"`
	Targets  []*device.Facts   `json:"targets"`
	Warnings []verdict.Warning `json:"warnings"` // of the whole run; each point has its own
	Points   []*Point          `json:"points"`
	// Percentiles are those that were asked for; empty is DefaultPercentiles.
	Percentiles []float64 `json:"percentiles,omitempty"`
	// Resumed tells of each time that the run was cut off and gone on with.
	Resumed []Resumed `json:"resumed,omitempty"`
	// FindMax is there after a search for a capacity.
	FindMax *FindMax `json:"find_max,omitempty"`
	// Sweep is there when the plan has one.
	Sweep *Sweep `json:"sweep,omitempty"`
	// Rounds tells of each phase of rounds that began, in order.
	Rounds []*Rounds `json:"rounds,omitempty"`
	// Merge is there when the document was made of several machines' ones.
	Merge *Merge `json:"merge,omitempty"`
	// figures are those of the sweep's points, for SumUp: a percentile may take a histogram to be read.
	figures []sweep.Figure
}

// Resumed is one time that a run was gone on with.
type Resumed struct {
	At time.Time `json:"at"`
	// AfterPoint is the index of the last point that had been finished; -1 for none.
	AfterPoint int `json:"after_point"`
	// GapS is the time from the end of that point, else from the start of the run.
	GapS    float64 `json:"gap_s"`
	Version string  `json:"version"` // of the program that went on
	// NewFiles says that scratch files, which end with their process, were made and filled again.
	NewFiles bool `json:"new_files,omitempty"`
	// Repeated are the indexes of points that did once more what had been done before the gap.
	Repeated []int `json:"repeated,omitempty"`
}

// Point is one row of the result.
type Point struct {
	Label string `json:"label"`
	Phase string `json:"phase"`
	// Round is the round that the point belongs to, from 1, in a phase of rounds; else 0.
	Round int `json:"round,omitempty"`
	// Skipped says why the point cannot run on these targets: then all its figures are 0.
	Skipped string `json:"skipped,omitempty"`
	Threads int    `json:"threads"` // per target, as asked (of the first stream, as the next two)
	IODepth int    `json:"iodepth"` // per thread, as asked
	// IODepthEffective is the most I/Os that a thread had in flight at once; the least over the
	// threads of the first stream.
	IODepthEffective int      `json:"iodepth_effective"`
	EngineName       string   `json:"engine"`
	EngineFeatures   []string `json:"engine_features,omitempty"`
	// Fallback lists the engines that auto would have preferred, and why they were passed over.
	Fallback    []registry.Fallback `json:"engine_fallback,omitempty"`
	EngineNotes []string            `json:"engine_notes,omitempty"`
	Started     time.Time           `json:"started"`  // wall clock at the window's start
	WindowS     float64             `json:"window_s"` // measured time: from the end of the ramp to the stop
	RampS       float64             `json:"ramp_s"`
	Completed   bool                `json:"completed"` // ran to its planned end
	Interrupted bool                `json:"interrupted"`
	Seed        uint64              `json:"seed"`
	// Issued counts everything handed to the kernel since the point began: the I/Os of the ramp,
	// those of the window, what completed after it, what failed, fell short or got stuck.
	Issued  Issued `json:"issued"`
	RampIOs uint64 `json:"ramp_ios"`    // completed in the ramp: in no other figure
	Drained uint64 `json:"drained_ios"` // completed after the window closed: in no other figure
	Faults  uint64 `json:"faults"`      // failed or short since the point began, also outside the window
	// DrainedMaxNS is the longest latency among the drained: it is in no other figure.
	DrainedMaxNS int64 `json:"drained_max_ns"`
	Total        *Stat `json:"total"`
	Read         *Stat `json:"read"`
	Write        *Stat `json:"write"`
	Trim         *Stat `json:"trim"`
	Sync         *Stat `json:"sync"`
	InFlight     int64 `json:"inflight_max"` // the most I/Os in flight at once, over all threads

	Streams       []*Stream   `json:"streams"`
	Targets       []*Target   `json:"targets"`
	PerThread     []Thread    `json:"per_thread"`
	Errors        []IOError   `json:"errors"`                  // the first ones; Stat.Errors counts all
	StuckIOs      uint64      `json:"stuck_ios"`               // never answered by the device
	Stuck         []Stuck     `json:"stuck"`                   // of these, the oldest
	Failure       string      `json:"failure,omitempty"`       // why the engine itself broke
	CPU           CPU         `json:"cpu"`                     // of the whole machine, over the window
	Process       Process     `json:"process"`                 // of blkstorm itself, over the point
	Intervals     []*Interval `json:"intervals,omitzero"`      // the window; nil when rows are not kept
	RampIntervals []*Interval `json:"ramp_intervals,omitzero"` // the ramp
	// History is the window in longer parts, kept also where rows are not; see Builder.KeepHistory for which
	// points have it.
	History []*Slice `json:"history,omitempty"`
	// Steady is there when steady state was looked for; Drift, when a point that did the same later was
	// out of it.
	Steady *steady.Report `json:"steady,omitempty"`
	Drift  *Drift         `json:"drift,omitempty"`
	// Asserts are the plan's limits, checked.
	Asserts  []threshold.Result `json:"asserts,omitempty"`
	Warnings []verdict.Warning  `json:"warnings"`
}

// Drift says that a point was out of the steady state that had been reached before it.
type Drift struct {
	Metric string  `json:"metric"` // as in steady.Rule
	Value  float64 `json:"value"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// Issued counts I/Os handed to the kernel, per direction.
type Issued struct {
	Read  uint64 `json:"read"`
	Write uint64 `json:"write"`
	Trim  uint64 `json:"trim"`
	Sync  uint64 `json:"sync"`
}

// Sum is the count without syncs, as totals have it.
func (i Issued) Sum() uint64 { return i.Read + i.Write + i.Trim }

// Stat is one direction over the window.
type Stat struct {
	IOs       uint64   `json:"ios"`
	Bytes     uint64   `json:"bytes"`
	Errors    uint64   `json:"errors"`
	Short     uint64   `json:"short"`       // moved less than asked
	Zero      uint64   `json:"zero"`        // moved nothing, without an error
	IOPS      float64  `json:"iops"`        // I/Os completed in the window / window
	BytesPerS float64  `json:"bytes_per_s"` // bytes completed in the window / window
	Latency   *Latency `json:"latency_ns"`
	*OpenLoop          // of streams with planned times only
}

// OpenLoop is what became of the I/Os that were planned in the window.
type OpenLoop struct {
	// Response is from the planned time to the reaping of the completion: what a stall costs whoever
	// does not wait for it to pass.
	Response *Latency `json:"response_ns"`
	Offered  uint64   `json:"offered"` // submitted in the window
	Late     uint64   `json:"late"`    // of these, submitted over 1 ms after their time
	Missed   uint64   `json:"missed"`  // not submitted when the window ended; Response lacks them
	// BacklogNS is how old the oldest missed one was then.
	BacklogNS int64 `json:"backlog_ns"`
}

// Latency is service time: from before the submit call to the reaping of the completion.
type Latency struct {
	Count  uint64 `json:"count"`
	Min    int64  `json:"min"`
	Mean   int64  `json:"mean"`
	StdDev int64  `json:"stddev"` // of the population
	Max    int64  `json:"max"`
	// Percentiles are upper bounds at most 0.1 % above the true value, and never above Max. Empty
	// when nothing was measured.
	Percentiles map[string]int64 `json:"percentiles,omitempty"`
	Clamped     uint64           `json:"clamped,omitempty"` // above one hour, counted as one hour
	HDR         string           `json:"hdr,omitempty"`     // HdrHistogram V2, compressed, base64
}

// Stream is one stream's part of a point.
type Stream struct {
	Label    string `json:"label"`
	Workload string `json:"workload"` // the shape: randrw, read, ...
	Threads  int    `json:"threads"`
	IODepth  int    `json:"iodepth"`
	// IODepthEffective is the most I/Os that one of its threads had in flight at once; the least over its threads.
	IODepthEffective int `json:"iodepth_effective"`
	// EngineName is the engine that it ran on, where that is not the point's.
	EngineName string          `json:"engine,omitempty"`
	Targets    []int           `json:"targets"`            // indexes into Doc.Targets
	Together   bool            `json:"together,omitempty"` // each thread serves all targets
	Pacing     workload.Pacing `json:"pacing,omitzero"`    // as asked
	Share      float64         `json:"share,omitempty"`    // of the point's I/Os, in percent, as asked
	// StartS and EndS are when the first of the stream's threads began to be measured, and when the last
	// one ended, since the window's start. Rates are over the whole window all the same.
	StartS float64 `json:"start_s"`
	EndS   float64 `json:"end_s"`
	// Usage is what its threads used, Series how its directions went, and Moments their latencies' to a
	// fraction of a nanosecond; for other forms of the document.
	Usage   runner.Usage      `json:"-"`
	Series  [op.Count]Series  `json:"-"`
	Moments [op.Count]Moments `json:"-"`
	Total   *Stat             `json:"total"`
	Read    *Stat             `json:"read"`
	Write   *Stat             `json:"write"`
	Trim    *Stat             `json:"trim"`
	Sync    *Stat             `json:"sync"`
}

// Target is one target's part of a point, over all streams.
type Target struct {
	Path string `json:"path"`
	// UnwrittenPct is how much of the range that is read was never written, in percent; null when that
	// cannot be told, or nothing is read.
	UnwrittenPct *float64 `json:"unwritten_pct"`
	// TemperatureMaxC is the highest temperature since the point began, in degrees Celsius, and
	// TemperatureLimitC the drive's own limit; not there when they are not known.
	TemperatureMaxC   *float64 `json:"temperature_max_c,omitempty"`
	TemperatureLimitC *float64 `json:"temperature_limit_c,omitempty"`
	// NVMe is what the drive said of its health, where it is an NVMe drive that could be asked.
	NVMe  *NVMe `json:"nvme,omitempty"`
	Total *Stat `json:"total"`
	Read  *Stat `json:"read"`
	Write *Stat `json:"write"`
	Trim  *Stat `json:"trim"`
	Sync  *Stat `json:"sync"`
}

// NVMe is a drive's health log before the point began and after it ended.
type NVMe struct {
	Begin *host.DriveHealth `json:"begin"`
	End   *host.DriveHealth `json:"end"`
}

// Thread is what one thread did.
type Thread struct {
	Thread   int    `json:"thread"`
	Stream   int    `json:"stream"`
	Target   int    `json:"target"`
	CPU      *int   `json:"cpu"` // pinned to; null when the kernel chooses
	InFlight int    `json:"inflight_max"`
	Issued   Issued `json:"issued"`
}

// IOError is an I/O that failed, or moved fewer bytes than asked.
type IOError struct {
	Target  string  `json:"target"`
	Op      string  `json:"op"`
	Offset  int64   `json:"offset"`
	Length  int64   `json:"length"`
	Errno   int     `json:"errno"` // 0 for a short transfer
	Name    string  `json:"name"`  // EIO, ...; "short" or "zero" for a transfer that fell short; "unknown" has no name
	Message string  `json:"message"`
	TS      float64 `json:"t_s"` // since the window's start
}

// Stuck is an I/O without an answer at the end of the point.
type Stuck struct {
	Target string  `json:"target"`
	Op     string  `json:"op"`
	Offset int64   `json:"offset"`
	Length int64   `json:"length"`
	AgeS   float64 `json:"age_s"`
}

// CPU is how busy the machine was, in percent of all its CPUs.
type CPU = host.CPUShare

// Process is what blkstorm itself used during a point, ramp included.
type Process struct {
	UserS       float64 `json:"user_s"`
	SystemS     float64 `json:"system_s"`
	CPUs        float64 `json:"cpus"` // CPU time / wall time: how many CPUs were kept busy
	MaxRSSBytes int64   `json:"max_rss_bytes"`
	// BusiestThread is the share of time, in percent, that the busiest thread was on a CPU.
	BusiestThreadPct float64 `json:"busiest_thread_pct"`
	// Descheduled counts the times that a thread was kept off the CPU for 20 ms or more.
	Descheduled      uint64 `json:"descheduled"`
	DescheduledMaxNS int64  `json:"descheduled_max_ns"`
	// InSubmitPct is the share, in percent, of the submit calls of several I/Os that came back with
	// all of them completed.
	InSubmitPct   float64 `json:"in_submit_pct"`
	KernelWorkers int     `json:"kernel_workers"` // io_uring worker threads seen at once
}

// Interval is one row of a point's series.
type Interval struct {
	Point       int               `json:"point"` // index into Doc.Points
	Label       string            `json:"-"`     // of the point; only the lines of NDJSON repeat it
	Ramp        bool              `json:"ramp,omitempty"`
	TS          float64           `json:"t_s"` // start, since the window's start; below 0 in the ramp
	StartUnixNS int64             `json:"start_unix_ns"`
	LengthS     float64           `json:"length_s"`
	Read        IntervalStat      `json:"read"`
	Write       IntervalStat      `json:"write"`
	Trim        IntervalStat      `json:"trim"`
	InFlight    int64             `json:"inflight"` // sum over the threads of the most each had in flight
	CPU         CPU               `json:"cpu"`
	StealPct    float64           `json:"steal_pct"`
	DiskStats   []*host.DiskStats `json:"diskstats"` // growth per target; null where there is no disk
	Net         host.NetStats     `json:"net"`
	// TemperatureC is each target's, in degrees Celsius, null where it is not known; not there when none is.
	TemperatureC []*float64       `json:"temperature_c,omitempty"`
	Targets      []IntervalTarget `json:"targets,omitempty"` // when there is more than one
}

// IntervalTarget is one target's part of a row.
type IntervalTarget struct {
	Path  string       `json:"path"`
	Read  IntervalStat `json:"read"`
	Write IntervalStat `json:"write"`
	Trim  IntervalStat `json:"trim"`
}

// IntervalStat is one direction within a row; latencies are nanoseconds.
type IntervalStat struct {
	IOs    uint64 `json:"ios"`
	Bytes  uint64 `json:"bytes"`
	Errors uint64 `json:"errors"`
	Short  uint64 `json:"short"`
	Zero   uint64 `json:"zero"`
	Mean   int64  `json:"mean"`
	StdDev int64  `json:"stddev"`
	Min    int64  `json:"min"`
	P50    int64  `json:"p50"`
	P95    int64  `json:"p95"`
	P99    int64  `json:"p99"`
	Max    int64  `json:"max"`
	// Response is there in an open loop only.
	Response *IntervalResponse `json:"response_ns,omitempty"`
}

// IntervalResponse is the response time within a row, in nanoseconds.
type IntervalResponse struct {
	Mean int64 `json:"mean"`
	P50  int64 `json:"p50"`
	P95  int64 `json:"p95"`
	P99  int64 `json:"p99"`
	Max  int64 `json:"max"`
}
