package live

import (
	"math"
	"strings"
	"testing"
	"time"

	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/workload"
)

// A series of any length is the same curve, in as many values as are kept: sums and peaks survive.
func TestSeries(t *testing.T) {
	for _, n := range []int{1, 5, seriesCap, seriesCap + 1, 3 * seriesCap, 10*seriesCap + 7, 2_592_000} {
		var mean series
		top := series{peaks: true}
		for i := range n {
			v := float64(i)
			mean.add(v)
			if i == n/3 {
				v = 1e9
			}
			top.add(v)
		}
		if len(mean.values) > seriesCap || len(mean.values) < min(n, seriesCap/2) || mean.top != float64(n-1) || top.top != 1e9 {
			t.Fatalf("%d: %d values, top %v and %v", n, len(mean.values), mean.top, top.top)
		}
		for i, v := range mean.values {
			if want := float64(i*mean.per) + float64(mean.per-1)/2; math.Abs(v-want) > 1e-6*want+1e-9 {
				t.Fatalf("%d: value %d is %v, want %v", n, i, v, want)
			}
		}
		peaks := 0
		for _, v := range top.values {
			if v == 1e9 {
				peaks++
			}
		}
		if peaks != 1 {
			t.Errorf("%d: the peak is there %d times", n, peaks)
		}
		for _, width := range []int{1, 17, 58, 1000} {
			short := mean.squeeze(width)
			if len(short) != min(width, len(mean.values)) {
				t.Errorf("%d in %d: %d", n, width, len(short))
			}
		}
	}
}

func TestBars(t *testing.T) {
	for _, c := range []struct {
		values []float64
		top    float64
		lines  int
		ascii  bool
		want   string
	}{
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7, 8}, 8, 1, false, " ▁▂▃▄▅▆▇█"},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7, 8}, 8, 1, true, " .:-=+*#@"},
		{[]float64{0.001, 8}, 8, 2, false, " █|▁█"},
		{[]float64{4, 6, 8}, 8, 2, false, " ▄█|███"},
		{[]float64{0, 0}, 0, 1, false, "  "},
		{nil, 0, 1, false, ""},
	} {
		if got := strings.Join(bars(c.values, c.top, c.lines, c.ascii), "|"); got != c.want {
			t.Errorf("%v: %q, want %q", c.values, got, c.want)
		}
	}
}

func TestSpanAndClock(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0 s": 0, "1 s": 600 * time.Millisecond, "59 s": 59 * time.Second, "1 min": time.Minute, "14 min 20 s": 860 * time.Second,
		"2 h 5 min": 125*time.Minute + 7*time.Second, "3 h": 3 * time.Hour, "25 d": 600 * time.Hour, "24 d 3 h": 579*time.Hour + 3*time.Minute,
	} {
		if got := span(d); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
	for want, d := range map[string]time.Duration{"12:00:34": 34 * time.Second, "Fri 6 Mar 00:00": 12 * time.Hour, "Mon 30 Mar 12:00": 600 * time.Hour} {
		if got := clock(noon.Add(d), noon); got != want {
			t.Errorf("%v: %q, want %q", d, got, want)
		}
	}
}

// fast is a second in which 10 GB are written.
func fast(i int) *result.Interval {
	return &result.Interval{TS: float64(i), LengthS: 1, InFlight: 1, Write: result.IntervalStat{IOs: 1, Bytes: 10e9}}
}

// The time left is that of the point and of all after it; passes take as long as they take, and steady
// state may come sooner.
func TestTimeLeft(t *testing.T) {
	p := bigPlan()
	a := begun(p)
	point := func(index, phase, j int, kind string) {
		t.Helper()
		var which *plan.Point
		if kind != plan.Idle {
			which = &p.Phases[phase].Points[j]
		}
		a.pointBegin(index, 18, kind, which, a.now)
	}
	check := func(want string) {
		t.Helper()
		if got := a.planLeft(a.now); got != want {
			t.Errorf("%s: %q, want %q", a.kind, got, want)
		}
	}
	check("") // nothing runs yet
	point(0, 0, 0, plan.Fill)
	check("about 52 min 20 s left, until about 12:52:20") // 25 min + 10 min + 16 x 65 s, and the fill
	a.rows(0, 10, fast)
	check("at most 57 min 30 s left, until 12:57:40") // 3.2 TB at 10 GB/s take 320 s
	a.running = false
	check("at most 52 min 20 s left, until 12:52:30")
	point(1, 1, 0, plan.Precondition)
	a.now = a.now.Add(5 * time.Minute)
	check("at most 47 min 20 s left, until 12:52:30")
	point(2, 2, 0, plan.Idle)
	check("27 min 20 s left, until 12:32:30")
	a.now = a.now.Add(10 * time.Minute)
	point(2, 3, 0, plan.Measure)
	check("17 min 20 s left, until 12:32:30")
	point(17, 3, 15, plan.Measure)
	check("1 min 5 s left, until 12:16:15")
	a.now = a.now.Add(time.Hour)
	check("0 s left, until 13:15:10")

	// 25 days are more than 2^31 ms.
	long := &plan.Plan{Targets: p.Targets}
	days := load("long", "randread", 1, 1, "0", "25d")
	long.Append(plan.Measure, &days)
	a = begun(long)
	a.pointBegin(0, 1, plan.Measure, &long.Phases[0].Points[0], a.now)
	a.now = a.now.Add(36 * time.Hour)
	check("23 d 12 h left, until Mon 30 Mar 12:00")
	if got := (&framer{state: &a.state, now: a.now, width: 80}).progress(); got != "1 d 12 h of 25 d, 23 d 12 h left" {
		t.Error(got)
	}
}

// A purge has no rate before the first row, and is all that there is: nothing is known.
func TestTimeLeftOfPasses(t *testing.T) {
	p := &plan.Plan{Targets: []plan.Target{{Spec: "/dev/sdx"}}}
	p.Phases = []plan.Phase{plan.PurgePhase([]int{0}), plan.FillPhase([]int{0}, 1, workload.DataSpec{})}
	a := begun(p)
	a.pointBegin(0, 2, plan.Purge, &p.Phases[0].Points[0], a.now)
	if got := a.planLeft(a.now); got != "not known yet" {
		t.Error(got)
	}
	if a.bytes < 1_599e9 || a.bytes > 1_600e9 {
		t.Errorf("a purge of 1.6 TB has %d bytes", a.bytes)
	}
	a.rows(0, 4, fast)
	if got := a.planLeft(a.now); got != "over 2 min 36 s left, until after 12:02:40" {
		t.Error(got)
	}
}

// A point that ends with its streams takes as long as these do: of those that end by time it is known.
func TestTimeLeftOfWork(t *testing.T) {
	timed, moved := load("timed", "randread", 1, 1, "1s", "0"), load("moved", "randread", 1, 1, "0", "0")
	timed.Streams[0].Start, timed.Streams[0].Time = plan.Duration(5*time.Second), plan.Duration(time.Minute)
	moved.Streams[0].Bytes = 1 << 30
	p := &plan.Plan{Targets: []plan.Target{{Spec: "/dev/sdx"}}}
	p.Append(plan.Measure, &timed)
	p.Append(plan.Measure, &moved)
	a := begun(p)
	frame := func() *framer { return &framer{state: &a.state, now: a.now, width: 80} }
	a.pointBegin(0, 2, plan.Measure, &p.Phases[0].Points[0], a.now)
	if got := a.planLeft(a.now); got != "over 1 min 5 s left, until after 12:01:05" {
		t.Error(got)
	}
	a.pointBegin(1, 2, plan.Measure, &p.Phases[0].Points[1], a.now)
	a.rows(0, 4, fast)
	if got := a.planLeft(a.now); got != "not known yet" {
		t.Error(got)
	}
	if got := frame().bar(); !strings.HasSuffix(got, "]  4 s, until its streams end") || strings.Contains(got, "█") {
		t.Error(got)
	}
	if got := frame().alert(); len(got) > 0 {
		t.Error(got)
	}
	if got := a.rowLine(); !strings.HasSuffix(got, ", until its streams end") {
		t.Error(got)
	}
}
