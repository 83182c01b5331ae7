package fiojob

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/unit"
	"blkstorm/workload"
)

func targetOf(name string) plan.Target { return plan.Target{Spec: name} }

// sizes are the block sizes of a job.
type sizes struct {
	split    workload.Splits
	ranges   workload.SizeRanges
	min, max int64
	one      bool // all are alike
	err      error
	option   string
}

const defaultBlock = 4096

// blockSizes reads bs, bsrange and bssplit, of which the last two take the place of the first.
func (j *Job) blockSizes() (s sizes) {
	s = sizes{min: defaultBlock, max: defaultBlock, one: true, option: "bs"}
	bs := [3]int64{defaultBlock, defaultBlock, defaultBlock}
	if text := j.Text("bs", ""); text != "" {
		parts, n, _ := triple(text)
		for i := range bs {
			switch {
			case i < n && parts[i] != "":
				low, _, _ := cutRange(parts[i])
				bs[i], s.err = number(low, j.kbBase)
			case i == n && n == 1 || i == n && n == 2 && parts[1] != "":
				bs[i] = bs[i-1]
			case n == 1:
				bs[i] = bs[0]
			}
			if s.err != nil || bs[i] <= 0 {
				return s
			}
		}
	}
	s.set(bs[:]...)
	text := ""
	switch {
	case j.Has("bssplit"):
		s.option = "bssplit"
		text = j.splitText(j.Text("bssplit", ""))
		if s.split, s.err = workload.ParseSplits(text, bs); s.err == nil {
			s.set(s.split.Bytes()...)
			s.one = false
		}
	case j.Has("bsrange"):
		s.option = "bsrange"
		if s.ranges, s.err = workload.ParseSizeRanges(j.rangeText(j.Text("bsrange", ""))); s.err == nil {
			s.set(s.ranges.Bytes()...)
			s.one = false
		}
	case bs[0] != bs[1] || bs[1] != bs[2]:
		s.one = false
		s.split, s.err = workload.ParseSplits(fmt.Sprintf("%d,%d,%d", bs[0], bs[1], bs[2]), bs)
	}
	return s
}

func (s *sizes) set(list ...int64) { s.min, s.max = slices.Min(list), slices.Max(list) }

// splitText writes the sizes of a split as bytes, since suffixes mean something else elsewhere.
func (j *Job) splitText(text string) string {
	var out []string
	for _, direction := range strings.Split(strings.TrimSpace(text), ",") {
		var parts []string
		list := strings.Split(strings.Trim(direction, ":"), ":")
		rest, largest := splitRest(list)
		for i, part := range list {
			size, share, cut := strings.Cut(part, "/")
			if i == largest && rest > 0 {
				n, _ := strconv.Atoi(strings.TrimSpace(share))
				share = strconv.Itoa(n + rest)
			}
			if n, err := number(strings.TrimSpace(size), j.kbBase); err == nil {
				size = strconv.FormatInt(n, 10)
			}
			if cut {
				size += "/" + share
			}
			parts = append(parts, size)
		}
		out = append(out, strings.Join(parts, ":"))
	}
	return strings.TrimRight(strings.Join(out, ","), ",")
}

// splitRest is what the shares of a split leave of 100 where each is given. The largest share has it, too, of
// several the last one, as fio draws them. It is 0 where a size has no share: that takes the rest.
func splitRest(list []string) (rest, largest int) {
	rest = 100
	most := -1
	for i, part := range list {
		_, share, _ := strings.Cut(part, "/")
		n, err := strconv.Atoi(strings.TrimSpace(share))
		if err != nil || n < 0 {
			return 0, 0
		}
		if n >= most {
			most, largest = n, i
		}
		rest -= min(n, 100)
	}
	return max(rest, 0), largest
}

func (j *Job) rangeText(text string) string {
	var out []string
	for _, direction := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '/' }) {
		low, high, two := cutRange(direction)
		if !two {
			high = low
		}
		a, errA := number(low, j.kbBase)
		b, errB := number(high, j.kbBase)
		if errA == nil && errB == nil {
			direction = fmt.Sprintf("%d-%d", min(a, b), max(a, b))
		}
		out = append(out, direction)
	}
	return strings.Join(out, ",")
}

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
	if bs.max > workload.MaxBlockSize {
		t.refuse(j, bs.option, "an I/O has at most %s", unit.Size(workload.MaxBlockSize))
		return false
	}
	w.RW, w.BlockSize, w.BlockSizeSplit, w.BlockSizeRange = rw, bs.max, bs.split, bs.ranges
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

// pacing says when it is issued.
func (t *translator) pacing(j *Job, s *plan.Stream) bool {
	p := &s.Pacing
	if think := j.time("thinktime", time.Microsecond); think > 0 {
		p.Think = workload.Think{Pause: think, Every: max(j.Number("thinktime_blocks", 1), 1)}
	}
	for _, r := range []struct {
		option string
		rates  *workload.Rates
	}{{"rate", &p.Bytes}, {"rate_iops", &p.IOPS}} {
		if text := j.Text(r.option, ""); text != "" {
			rates, err := j.rates(text, &s.Workload)
			if err != nil {
				t.refuse(j, r.option, "%v", err)
				return false
			}
			*r.rates = rates
		}
	}
	if p.Open() && j.Text("rate_process", "linear") == "poisson" {
		p.Arrival = workload.ArrivalPoisson
	}
	if err := p.Validate(&s.Workload); err != nil {
		t.refuse(j, "rate", "%v", err)
		return false
	}
	return true
}

// rates reads one to three rates. fio limits each direction by itself, so that one rate of a mix is the
// rate of its reads and of its writes.
func (j *Job) rates(text string, w *workload.Spec) (r workload.Rates, err error) {
	parts, n, err := triple(text)
	if err != nil {
		return r, err
	}
	var list [3]float64
	for i := range list {
		part := parts[min(i, n-1)]
		if i >= n && n > 1 {
			part = parts[1]
		}
		if part == "" {
			continue
		}
		v, err := number(part, j.kbBase)
		if err != nil {
			return r, err
		}
		list[i] = float64(v)
	}
	each := [op.Count]float64{}
	for i, o := range []op.Op{op.Read, op.Write, op.Trim} {
		if w.Issues(o) {
			each[o] = list[i]
		}
	}
	if !w.Mixed() && !w.Pairs() {
		for _, v := range each {
			r.Total += v
		}
		return r, nil
	}
	r.Each = each
	return r, nil
}
