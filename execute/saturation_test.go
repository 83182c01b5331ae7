package execute

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"blkstorm/plan"
	"blkstorm/steady"
)

// Write saturation: five steady rounds, a time, or so many times the range, whatever comes first.
func TestSaturation(t *testing.T) {
	saturate := func(passes, most int, pct float64) *plan.Plan {
		p := cells(file(t, 256<<10), 1, 2, 2, pct)
		rule := steady.Default()
		rule.Window, rule.MaxRounds, rule.RangePct, rule.FittedPct, rule.Round = 2, most, pct, pct, 20*time.Millisecond
		ph := &p.Phases[0]
		ph.Kind, ph.Rounds, ph.Steady, ph.MostPasses = plan.Precondition, nil, &rule, passes
		ph.Points[0].Runtime = plan.Duration(plan.SteadyTime(&rule))
		return p
	}
	for _, c := range []struct {
		name         string
		passes, most int
		pct          float64
		steady       bool
		written      bool // ends because of that
		rounds       int  // 0: not looked at
	}{
		{"steady first", 1000, 40, anyRange, true, false, 2},
		{"all written first", 2, 400, 1e-6, false, true, 0},
		{"time is over first", 1000, 3, 1e-6, false, false, 3},
	} {
		o := options()
		// In no two rounds is it the same: 64 blocks take 6 ms and more.
		o.Drivers = ever(func(written int64) time.Duration {
			return time.Millisecond/10 + time.Duration(written/4096)*time.Microsecond
		})
		doc, err := carryOut(saturate(c.passes, c.most, c.pct), o)
		if err != nil {
			t.Fatal(err)
		}
		p := doc.Points[0]
		st := p.Steady.State
		if st.Steady != c.steady || !p.Completed || c.rounds > 0 && st.Rounds != c.rounds || Missed(doc) == c.steady {
			t.Errorf("%s: %+v, %v bytes", c.name, st, p.Write.Bytes)
		}
		if got := strings.Contains(st.Reason, fmt.Sprintf("the range was written %d times", c.passes)); got != c.written || st.NeverReached == c.steady {
			t.Errorf("%s: %+v", c.name, st)
		}
		if most := uint64(c.passes) * 256 << 10; c.written && p.Write.Bytes < most || p.Write.Bytes > 4*most {
			t.Errorf("%s: %d bytes, want %d", c.name, p.Write.Bytes, most)
		}
	}
	for _, change := range []func(*plan.Phase){
		func(ph *plan.Phase) { ph.Steady = nil },
		func(ph *plan.Phase) { ph.MostPasses = -1 },
		func(ph *plan.Phase) { ph.MostPasses = 1001 },
		func(ph *plan.Phase) { ph.Points[0].Streams[0].Workload.RW = "randread" },
	} {
		p := saturate(2, 40, 20)
		change(&p.Phases[0])
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), "most_passes") {
			t.Errorf("%+v: %v", p.Phases[0], err)
		}
	}
}
