package fioout

import (
	"math"
	"strconv"
)

// depthLevels is the distribution over queue depths. The depth is kept exactly, so that all I/Os have it.
func (r *report) depthLevels() object {
	level := object{}
	found := !r.any()
	for _, step := range []struct {
		key string
		max int
	}{{"1", 1}, {"2", 3}, {"4", 7}, {"8", 15}, {"16", 31}, {"32", 63}, {">=64", math.MaxInt}} {
		v := 0.0
		if !found && r.depth <= step.max {
			found, v = true, 100
		}
		level.add(step.key, v)
	}
	return level
}

// batches is the distribution over I/Os per call, which is not counted: slots are filled as they become free.
func (r *report) batches() object {
	dist := object{}
	for _, key := range []string{"0", "4", "8", "16", "32", "64", ">=64"} {
		v := 0.0
		if r.any() && key == "4" {
			v = 100
		}
		dist.add(key, v)
	}
	return dist
}

func (r *report) any() bool {
	for i := range r.ops {
		if r.ops[i].ios > 0 {
			return true
		}
	}
	return false
}

// bucketGroup is the shares of I/Os by latency in one unit.
type bucketGroup struct {
	key, unit string
	shares    object
}

// bucketGroups are over all directions.
func (r *report) bucketGroups() []bucketGroup {
	steps := []int64{2, 4, 10, 20, 50, 100, 250, 500, 750, 1000}
	list := []bucketGroup{{"latency_ns", "n", nil}, {"latency_us", "u", nil}, {"latency_ms", "m", nil}}
	var total uint64
	for _, one := range directions {
		total += r.ops[one.op].ios
	}
	last, unit := int64(-1), int64(1)
	for i := range list {
		if i == len(list)-1 {
			steps = append(steps, 2000)
		}
		for _, step := range steps {
			list[i].shares.add(strconv.FormatInt(step, 10), r.share(last, step*unit, total))
			last = step * unit
		}
		unit *= 1000
	}
	list[2].shares.add(">=2000", r.share(last, math.MaxInt64, total))
	return list
}

// share is how many I/Os in 100 took over low and up to high, in ns.
func (r *report) share(low, high int64, total uint64) float64 {
	if total == 0 {
		return 0
	}
	var n uint64
	for _, one := range directions {
		for b := range r.ops[one.op].latency.Buckets() {
			if b.High > low && b.High <= high {
				n += b.Count
			}
		}
	}
	return 100 * float64(n) / float64(total)
}
