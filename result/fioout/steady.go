package fioout

import (
	"fmt"
	"math"

	"blkstorm/steady"
)

// Steady is what a job's steadystate has come to.
type Steady struct {
	Rule     steady.Rule
	Attained bool
	// The last rounds, at most as many as the rule's window: I/Os and bytes per second, and mean latency in ns.
	IOPS, Bytes, Latency []float64
}

// Add takes in a round, and forgets the one that has left the window.
func (s *Steady) Add(iops, bytes, latency float64) {
	keep := func(to *[]float64, v float64) {
		if *to = append(*to, v); len(*to) > s.Rule.Window {
			*to = (*to)[1:]
		}
	}
	keep(&s.IOPS, iops)
	keep(&s.Bytes, bytes)
	keep(&s.Latency, latency)
}

// rounds are those of the criterion.
func (s *Steady) rounds() []float64 {
	switch s.Rule.Metric {
	case steady.Bandwidth:
		return s.Bytes
	case steady.Mean:
		return s.Latency
	}
	return s.IOPS
}

// Reached says whether the window is full, and keeps the rule.
func (s *Steady) Reached() bool {
	return len(s.IOPS) == s.Rule.Window && s.Rule.Judge(s.rounds()).Steady
}

// figures are the criterion's value, with its unit, the largest deviation and the slope; all 0 as long as
// the window is not full.
func (s *Steady) figures() (value float64, unit string, deviation, slope float64) {
	if s.Rule.Limit.Percent {
		unit = "%"
	}
	rounds := s.rounds()
	f := s.Rule.Judge(rounds).Figures
	slopes := s.Rule.Kind == steady.FioSlope
	switch {
	case len(rounds) < s.Rule.Window:
		return 0, unit, 0, 0
	case slopes && s.Rule.Limit.Percent:
		return f.SlopePct, unit, 0, f.Slope
	case slopes:
		return f.Slope, unit, 0, f.Slope
	case s.Rule.Limit.Percent:
		return f.DeviationPct, unit, f.Deviation, 0
	}
	return f.Deviation, unit, f.Deviation, 0
}

// name is the criterion as fio writes it.
func (s *Steady) name() string {
	name := map[steady.Metric]string{steady.IOPS: "iops", steady.Bandwidth: "bw", steady.Mean: "lat"}[s.Rule.Metric]
	if s.Rule.Kind == steady.FioSlope {
		name += "_slope"
	}
	return name
}

func (s *Steady) json() object {
	value, unit, deviation, slope := s.figures()
	limit := s.Rule.Limit.Value
	data := object{}
	data.add("bw_mean", int64(mean(s.Bytes)))
	data.add("iops_mean", int64(mean(s.IOPS)))
	if s.Rule.Metric == steady.Mean {
		data.add("lat_mean", int64(mean(s.Latency)))
		data.add("lat_ns", whole(s.Latency))
	}
	data.add("iops", whole(s.IOPS))
	data.add("bw", whole(s.Bytes))
	attained := 0
	if s.Attained {
		attained = 1
	}
	o := object{}
	o.add("ss", fmt.Sprintf("%s:%f%s", s.name(), limit, unit))
	o.add("duration", int64(s.Rule.Round.Seconds()*float64(s.Rule.Window)))
	o.add("attained", attained)
	o.add("criterion", fmt.Sprintf("%f%s", value, unit))
	o.add("max_deviation", deviation)
	o.add("slope", slope)
	o.add("data", data)
	return o
}

// normal is the line of the text form.
func (s *Steady) normal() string {
	value, unit, _, _ := s.figures()
	attained := "no"
	if s.Attained {
		attained = "yes"
	}
	rate, latency := mean(s.Bytes), ""
	metricName := s.name()
	what := metricName + " mean dev"
	if s.Rule.Kind == steady.FioSlope {
		what = metricName[:len(metricName)-len("_slope")] + " slope"
	}
	if s.Rule.Metric == steady.Mean {
		latency = fmt.Sprintf(", lat=%.0fnsec", mean(s.Latency))
	}
	return fmt.Sprintf("  steadystate  : attained=%s, bw=%s/s (%s/s), iops=%.0f%s, %s=%.3f%s\n",
		attained, binary(rate), metric(rate), math.Floor(mean(s.IOPS)), latency, what, value, unit)
}

func mean(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	sum := 0.0
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

// whole are the values as integers; a round without a figure is 0.
func whole(list []float64) []any {
	out := []any{}
	for _, v := range list {
		if math.IsNaN(v) {
			v = 0
		}
		out = append(out, int64(v))
	}
	return out
}
