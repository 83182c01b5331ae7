package fiojob

import "blkstorm/plan"

// flow gives each clone of a point its share of the I/Os: flow is the weight of one. That all jobs of a point
// share one budget is what shares can do; a job outside of it is refused. first is the number of the point's
// first clone.
func (t *translator) flow(p *plan.Point, jobs []*Job, first int) {
	any := false
	for _, j := range jobs {
		any = any || j.Number("flow", 0) > 0
	}
	if !any {
		return
	}
	sum := int64(0)
	clones := t.work.Clones[first:]
	for i := range clones {
		c := &clones[i]
		j, weight := c.Job, c.Job.Number("flow", 0)
		s := &p.Streams[c.Stream]
		switch {
		case weight == 0:
			t.refuse(j, "flow", "is not given, and other jobs that run at the same time have one")
		case j.Number("flow_id", 0) != jobs[0].Number("flow_id", 0):
			t.refuse(j, "flow_id", "differs from that of job %s: jobs that run together share one budget", jobs[0].Name)
		case !s.Pacing.IsZero() || s.Tune != nil:
			t.refuse(j, "flow", "goes without a rate, thinktime and latency_target")
		}
		sum += weight
	}
	for i := range clones {
		p.Streams[clones[i].Stream].Share = 100 * float64(clones[i].Job.Number("flow", 0)) / float64(sum)
	}
}
