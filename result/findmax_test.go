package result

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/verdict"
)

// findMaxDoc is a search of five steps for p90 that found 8000 IOPS.
func findMaxDoc(t testing.TB) *Doc {
	p := onePlan("", 0, time.Second, stream("main", "randread", 4096, 100, 1, 32, 0))
	p.Targets = p.Targets[:1]
	d := newDoc(p, disk("sdx", 107374182400))
	d.FindMax = &FindMax{Limit: "p90=400µs", Arrival: "poisson", Resolution: 0.02, CeilingIOPS: 9000}
	for i, s := range []FindMaxStep{
		{Kind: "ceiling", Verdict: "closed_loop"},
		{Kind: "probe", Asked: 1125, OK: true, Verdict: "good"},
		{Kind: "probe", Asked: 8820, Verdict: "over_limit", Why: "p90 900µs is over the limit"},
		{Kind: "probe", Asked: 8000, OK: true, Verdict: "good"},
		{Kind: "confirm", Asked: 8000, OK: true, Verdict: "good"},
	} {
		point := plan.Point{Label: fmt.Sprintf("%s %.0f IOPS", s.Kind, s.Asked), Runtime: plan.Duration(time.Second),
			Streams: []plan.Stream{stream("main", "randread", 4096, 100, 1, 32, 0)}}
		n := int(s.Asked)
		if s.Asked == 0 {
			n = 9000
		}
		src := newSource(&point)
		src.row(0, time.Second, &point, 1, []load{{op: op.Read, n: n, bytes: 4096, middle: 100_000}})
		r := src.build(t, d, &point, src.result(&point, 32), false)
		if s.Asked > 0 {
			response := *r.Total.Latency
			response.Mean += 50_000
			r.Total.OpenLoop = &OpenLoop{Response: &response, Offered: uint64(n), Missed: uint64(i * (i % 2))}
			r.Read.OpenLoop = r.Total.OpenLoop
		}
		if i > 1 {
			r.Warnings = append(r.Warnings, verdict.Warning{Code: "descheduled", Message: "a thread was kept off the CPU", Advice: "use an idle machine"})
		}
		s.Point, s.Achieved, s.Value = i, float64(n), FromPlan(r.Total).Percentiles["90"]
		d.FindMax.Steps = append(d.FindMax.Steps, s)
	}
	found, at := 8000.0, 4
	d.FindMax.FoundIOPS, d.FindMax.FoundPoint = &found, &at
	return d
}

func text(t *testing.T, d *Doc) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A search is told by its result, its curve by rate, and the point that confirmed it.
func TestFindMaxText(t *testing.T) {
	d := findMaxDoc(t)
	golden(t, "findmax.txt", []byte(text(t, d)))
	d.FindMax.ReachedCeiling = true
	if got := text(t, d); !strings.Contains(got, "gives no more than that") {
		t.Errorf("the ceiling is not told:\n%s", got)
	}
	// Without a result there is no point to show, but what ended the search, and the curve.
	d.FindMax.FoundIOPS, d.FindMax.FoundPoint, d.FindMax.Why = nil, nil, "interrupted"
	last := d.Points[4]
	last.Interrupted, last.Completed = true, false
	got := text(t, d)
	for _, want := range []string{"no capacity found with p90 within 400µs (poisson arrivals): interrupted", "[3] probe", "*** INTERRUPTED", "descheduled (3 steps)"} {
		if !strings.Contains(got, want) {
			t.Errorf("the text lacks %q:\n%s", want, got)
		}
	}
	// Before the first step has ended there is no curve.
	d.Points, d.FindMax.Steps = nil, nil
	if got := text(t, d); !strings.Contains(got, "interrupted") || strings.Contains(got, "achieved") {
		t.Errorf("without a step:\n%s", got)
	}
	var b bytes.Buffer
	if err := WriteJSON(&b, d); err != nil || !strings.Contains(b.String(), `"steps": []`) || !strings.Contains(b.String(), `"found_iops": null`) {
		t.Errorf("%v\n%s", err, &b)
	}
}

// The last line of the stream has the search, and no other document has that key.
func TestFindMaxStream(t *testing.T) {
	var b bytes.Buffer
	if err := WriteNDJSONEnd(&b, findMaxDoc(t)); err != nil || !strings.Contains(b.String(), `"find_max":{"limit":"p90=400µs"`) {
		t.Errorf("%v\n%s", err, &b)
	}
	b.Reset()
	if err := WriteNDJSONEnd(&b, singleDoc(t)); err != nil || strings.Contains(b.String(), "find_max") {
		t.Errorf("%v\n%s", err, &b)
	}
}
