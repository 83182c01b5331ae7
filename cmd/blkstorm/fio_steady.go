package main

import (
	"math"
	"time"

	"blkstorm/histogram"
	"blkstorm/op"
	"blkstorm/plan/fiojob"
	"blkstorm/result/fioout"
	"blkstorm/runner"
)

// fioSteady cuts the rows of a point into the rounds that steadystate judges.
type fioSteady struct {
	job     *fiojob.Steady
	out     *fioout.Steady
	ios     uint64
	bytes   uint64
	latency histogram.Histogram
	length  time.Duration
}

// newFioSteady has one for each point, nil for those without.
func newFioSteady(work *fiojob.Work) (list []*fioSteady, out []*fioout.Steady) {
	for _, s := range work.Steady {
		if s == nil {
			list, out = append(list, nil), append(out, nil)
			continue
		}
		o := &fioout.Steady{Rule: s.Rule}
		list, out = append(list, &fioSteady{job: s, out: o}), append(out, o)
	}
	return list, out
}

// row takes in a row, and says whether steady state is reached with it.
func (s *fioSteady) row(row *runner.Row) bool {
	if s == nil || row.Ramp || row.Start < s.job.Ramp || s.out.Attained {
		return false
	}
	for i := range row.Cells {
		for o := range row.Cells[i].Ops {
			if op.Op(o) == op.Sync {
				continue
			}
			stat := &row.Cells[i].Ops[o]
			s.ios += stat.Latency.Count()
			s.bytes += stat.Bytes
			s.latency.Merge(&stat.Latency)
		}
	}
	if s.length += row.Length; s.length < s.job.Rule.Round {
		return false
	}
	mean := math.NaN()
	if s.ios > 0 {
		mean = s.latency.Mean()
	}
	s.out.Add(float64(s.ios)/s.length.Seconds(), float64(s.bytes)/s.length.Seconds(), mean)
	s.ios, s.bytes, s.length = 0, 0, 0
	s.latency.Reset()
	s.out.Attained = s.out.Reached()
	return s.out.Attained
}
