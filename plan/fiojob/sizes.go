package fiojob

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"blkstorm/workload"
)

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
