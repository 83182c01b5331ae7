package fiojob

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"blkstorm/plan"
	"blkstorm/unit"
	"blkstorm/workload"
)

func targetOf(name string) plan.Target { return plan.Target{Spec: name} }

// stream makes the stream of a clone; false means that it is refused.
func (t *translator) stream(j *Job, clone int, files []extent) (*plan.Stream, bool) {
	s := &plan.Stream{Label: j.Name, Threads: 1, IODepth: int(j.Number("iodepth", 1)), Together: len(files) > 1}
	if j.Number("numjobs", 1) > 1 {
		s.Label += "#" + strconv.Itoa(clone)
	}
	if s.IODepth > plan.MaxIODepth {
		t.refuse(j, "iodepth", "must be at most %d", plan.MaxIODepth)
		return nil, false
	}
	if !t.fileTypes(j, len(files)) || !t.workload(j, &s.Workload) || !t.pacing(j, s) || !t.limits(j, s) {
		return nil, false
	}
	grain := s.Workload.Grain()
	all, alike := int64(0), true
	for i := range files {
		f := &files[i]
		s.Targets = append(s.Targets, f.target)
		s.Parts = append(s.Parts, plan.Part{Offset: f.offset, Size: f.length - f.length%grain})
		all += s.Parts[i].Size
		alike = alike && s.Parts[i] == s.Parts[0]
	}
	if size, given, err := j.share("size", 0); err == nil && given && size > 0 && len(files) > 1 {
		all = min(all, size-size%grain) // filesize may come to more
	}
	if all == 0 {
		t.refuse(j, "size", "holds no block of %s", unit.Size(grain))
		return nil, false
	}
	if alike {
		s.Workload.Offset, s.Workload.Size = unit.Share{Bytes: s.Parts[0].Offset}, unit.Share{Bytes: s.Parts[0].Size}
		s.Parts = nil // the workload has them
	}
	s.Start = plan.Duration(t.startDelay(j, clone))
	s.Ramp = plan.Duration(j.time("ramp_time", time.Second))
	t.ends(j, s, all)
	t.own(j, s)
	return s, true
}

// startDelay is a time, or a random one in a range for each clone.
func (t *translator) startDelay(j *Job, clone int) time.Duration {
	first := j.time("startdelay", time.Second)
	_, text, two := cutRange(j.Text("startdelay", ""))
	if !two {
		return first
	}
	second, err := duration(text, time.Second)
	if err != nil {
		return first
	}
	low, high := min(first, second), max(first, second)
	draw := workload.Mix(t.env.Seed ^ workload.Mix(uint64(len(t.work.Clones)+clone)))
	return low + time.Duration(draw%uint64(high-low+1))
}

// ends says when a stream is over. all is how much one pass over its files moves.
func (t *translator) ends(j *Job, s *plan.Stream, all int64) {
	s.Time = plan.Duration(j.time("runtime", time.Second))
	s.EndSync = s.Workload.Writes() && (j.On("end_fsync", false) || j.On("fsync_on_close", false))
	s.EndsPoint = j.On("exitall", false)
	loops := max(j.Number("loops", 1), 1)
	s.IOs = j.Number("number_ios", 0)
	if s.IOs <= math.MaxInt64/loops {
		s.IOs *= loops
	}
	if j.On("time_based", false) && s.Time > 0 {
		return
	}
	if all > math.MaxInt64/loops {
		loops = math.MaxInt64 / all
	}
	s.Bytes = all * loops
	n, given, err := j.share("io_size", all)
	switch {
	case err != nil:
		t.refuse(j, "io_size", "%v", err)
	case given && n > 0:
		s.Bytes = min(n, math.MaxInt64/loops) * loops
	case len(s.Parts) > 0 && s.Workload.Passes() && loops <= plan.MaxPasses:
		s.Passes = int(loops) // so that a short file is not gone over again before a long one is done
	}
}

// defaultTuneWindow stands for a latency_window that is not given.
const defaultTuneWindow = time.Second

// limits are on latencies.
func (t *translator) limits(j *Job, s *plan.Stream) bool {
	if text := j.Text("max_latency", ""); text != "" {
		if strings.Contains(strings.TrimRight(text, ", "), ",") {
			t.refuse(j, "max_latency", "must be one limit for all directions")
			return false
		}
		s.MaxLatency = plan.Duration(j.time("max_latency", time.Microsecond))
	}
	limit := j.time("latency_target", time.Microsecond)
	if limit == 0 {
		return true
	}
	s.Tune = &plan.Tune{
		Latency: plan.Duration(limit), Window: plan.Duration(j.time("latency_window", time.Microsecond)),
		Percent: 100, Hold: j.On("latency_run", false),
	}
	if list := j.Floats("latency_percentile"); len(list) > 0 && list[0] > 0 {
		s.Tune.Percent = list[0]
	}
	switch {
	case s.Tune.Window == 0:
		s.Tune.Window = plan.Duration(defaultTuneWindow)
		t.note(j, "latency_window", "is not given: a depth is tried for %v", defaultTuneWindow)
	case s.Tune.Window.D() < plan.MinTuneWindow:
		t.refuse(j, "latency_window", "must be at least %v", plan.MinTuneWindow)
		return false
	}
	if !s.Pacing.IsZero() {
		t.refuse(j, "latency_target", "a depth is looked for without a rate and without thinktime")
		return false
	}
	return true
}

// workload says what is issued.
func (t *translator) workload(j *Job, w *workload.Spec) bool {
	rw, modifier, modified := strings.Cut(j.Text("rw", "read"), ":")
	if rw == "readwrite" {
		rw = "rw"
	}
	if !slices.Contains(workload.Shapes, rw) {
		t.refuse(j, "rw", "known are %s", strings.Join(workload.Shapes, ", "))
		return false
	}
	bs := j.blockSizes()
	if bs.err != nil {
		t.refuse(j, bs.option, "%v", bs.err)
		return false
	}
	w.RW, w.BlockSize, w.BlockSizeSplit, w.BlockSizeRange = rw, bs.max, bs.split, bs.ranges
	if bs.max > workload.MaxTrimSize || w.MaxDataBlock() > workload.MaxBlockSize {
		t.refuse(j, bs.option, "a read or write has at most %s, a trim at most %s", unit.Size(workload.MaxBlockSize), unit.Size(workload.MaxTrimSize))
		return false
	}
	w.ReadPct = int(j.Number("rwmixread", 50))
	if j.Has("rwmixwrite") && !j.Has("rwmixread") {
		w.ReadPct = int(100 - j.Number("rwmixwrite", 50))
	}
	w.Fsync, w.Fdatasync = int(j.Number("fsync", 0)), int(j.Number("fdatasync", 0))
	if !w.Writes() {
		w.Fsync, w.Fdatasync = 0, 0
	}
	w.Durable = w.Writes() && !slices.Contains([]string{"none", "0"}, j.Text("sync", "none"))
	return t.offsets(j, w, &bs, modifier, modified) && t.data(j, w)
}

// offsets says where it goes.
func (t *translator) offsets(j *Job, w *workload.Spec, bs *sizes, modifier string, modified bool) bool {
	if modified && !t.modify(j, w, bs, modifier) {
		return false
	}
	if text := j.Text("percentage_random", ""); text != "" {
		p, err := j.percents(text)
		if err != nil {
			t.refuse(j, "percentage_random", "%v", err)
			return false
		}
		if strings.HasPrefix(w.RW, "rand") {
			w.RandomPct = p
			if w.Random() {
				w.RandomPct = nil
			}
		}
	}
	if text := j.Text("random_distribution", "random"); text != "random" && w.Random() {
		d, err := workload.ParseDistribution(strings.TrimRight(text, ","))
		if err != nil {
			t.refuse(j, "random_distribution", "%v", err)
			return false
		}
		w.Distribution = d
	}
	if text := strings.TrimRight(j.Text("ba", ""), ", "); text != "" && w.Random() {
		ba, err := number(text, j.kbBase)
		if err != nil {
			t.refuse(j, "ba", "must be one alignment for all directions: %v", err)
			return false
		}
		w.BlockAlign = ba
	}
	w.Coverage = w.Random() && w.JumpEvery == 0 && bs.one && w.Distribution.IsZero() && !j.On("norandommap", false) && (w.BlockAlign == 0 || w.BlockAlign == w.BlockSize)
	return true
}

// percents reads percentage_random: what is empty is all, as without the option, and what is left out is that
// of the direction before.
func (j *Job) percents(text string) (list workload.Percents, err error) {
	parts, n, err := triple(text)
	if err != nil {
		return nil, err
	}
	for i := range parts {
		part := parts[min(i, n-1)]
		v := int64(100)
		if part != "" {
			if v, err = number(part, j.kbBase); err != nil {
				return nil, err
			}
		}
		list = append(list, int(v))
	}
	if n == 1 {
		list = list[:1]
	}
	return list, nil
}

// modify is what follows a colon in rw: a hole to leave after each I/O of a sequential shape, or after how many
// I/Os a random one has a new offset.
func (t *translator) modify(j *Job, w *workload.Spec, bs *sizes, modifier string) bool {
	text, negative := strings.CutPrefix(modifier, "-")
	n, err := number(text, j.kbBase)
	if err != nil {
		t.refuse(j, "rw", "%v", err)
		return false
	}
	if strings.HasPrefix(w.RW, "rand") {
		if negative || n < 1 || n > workload.MaxJumpEvery {
			t.refuse(j, "rw", "must be 1 to %d I/Os after which the offset is a new one", workload.MaxJumpEvery)
			return false
		}
		if n > 1 {
			w.JumpEvery = int(n)
		}
		return true
	}
	if negative {
		n = -n
	}
	step := bs.max + n
	switch {
	case !bs.one:
		t.refuse(j, "rw", "holes need one block size")
		return false
	case step < 0:
		w.Backward, w.Stride = true, -step
	case step == 0:
		w.Backward = true // fio goes back by one block, and reads it again
	case step != bs.max:
		w.Stride = step
	}
	if w.Stride == bs.max {
		w.Stride = 0
	}
	return true
}

// data says what writes hold.
func (t *translator) data(j *Job, w *workload.Spec) bool {
	if !w.Writes() {
		return true
	}
	w.Data.CompressPct = int(j.Number("buffer_compress_percentage", 0))
	w.Data.DedupePct = int(j.Number("dedupe_percentage", 0))
	text := workload.DataRandom
	switch {
	case j.Has("buffer_pattern") && w.Data.CompressPct == 0:
		text = workload.DataPattern + ":" + j.Text("buffer_pattern", "")
	case j.On("zero_buffers", false):
		text = workload.DataZero
	}
	var err error
	if w.Data.Content, err = workload.ParseContent(text); err != nil {
		t.refuse(j, "buffer_pattern", "%v", err)
		return false
	}
	return true
}
