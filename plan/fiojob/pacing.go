package fiojob

import (
	"time"

	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/workload"
)

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
	if p.Open() && !p.Think.IsZero() && j.On("rate_ignore_thinktime", false) {
		t.refuse(j, "rate_ignore_thinktime", "the rate is caught up with after a pause")
		return false
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
