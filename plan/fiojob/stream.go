package fiojob

import (
	"fmt"
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
		for _, part := range strings.Split(strings.Trim(direction, ":"), ":") {
			size, share, cut := strings.Cut(part, "/")
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
	var all int64
	for i := range files {
		s.Targets = append(s.Targets, files[i].target)
		if files[i].offset != files[0].offset || files[i].length != files[0].length {
			t.refuse(j, "filename", "its files have different sizes or offsets; give size in bytes, or one job to each")
			return nil, false
		}
	}
	if !t.workload(j, &s.Workload, files) || !t.pacing(j, s) {
		return nil, false
	}
	bs := j.blockSizes()
	for i := range files {
		all += files[i].length - files[i].length%bs.min
	}
	t.ends(j, s, all, len(files))
	s.Start = plan.Duration(j.time("startdelay", time.Second))
	return s, true
}

// ends says when a stream is over. all is how much one pass over its files moves.
func (t *translator) ends(j *Job, s *plan.Stream, all int64, files int) {
	s.Time = plan.Duration(j.time("runtime", time.Second))
	loops := max(j.Number("loops", 1), 1)
	if j.On("time_based", false) && s.Time > 0 {
		return
	}
	s.Bytes = all * loops
	if n, given, err := j.share("io_size", all); err != nil {
		t.refuse(j, "io_size", "%v", err)
	} else if given && n > 0 {
		s.Bytes = n * loops
	}
	s.IOs = j.Number("number_ios", 0)
}

// workload says what is issued.
func (t *translator) workload(j *Job, w *workload.Spec, files []extent) bool {
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
	w.ReadPct = int(j.Number("rwmixread", 50))
	if j.Has("rwmixwrite") && !j.Has("rwmixread") {
		w.ReadPct = int(100 - j.Number("rwmixwrite", 50))
	}
	w.Offset, w.Size = unit.Share{Bytes: files[0].offset}, unit.Share{Bytes: files[0].length - files[0].length%bs.min}
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
		p, err := workload.ParsePercents(strings.TrimRight(text, ","))
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
	if ba := j.Number("ba", 0); ba > 0 && w.Random() {
		w.BlockAlign = ba
	}
	w.Coverage = w.Random() && bs.one && w.Distribution.IsZero() && !j.On("norandommap", false) && (w.BlockAlign == 0 || w.BlockAlign == w.BlockSize)
	return true
}

// modify is what follows a colon in rw: a hole to leave after each I/O of a sequential shape. A number of
// I/Os after which a random one has a new offset is not to be had.
func (t *translator) modify(j *Job, w *workload.Spec, bs *sizes, modifier string) bool {
	text, negative := strings.CutPrefix(modifier, "-")
	n, err := number(text, j.kbBase)
	if err != nil {
		t.refuse(j, "rw", "%v", err)
		return false
	}
	if strings.HasPrefix(w.RW, "rand") {
		if n != 1 {
			t.refuse(j, "rw", "a new offset after several I/Os is not to be had; use percentage_random")
		}
		return n == 1
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
		text = workload.DataPattern + ":" + strings.Trim(j.Text("buffer_pattern", ""), `"`)
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
