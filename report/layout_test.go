package report

import (
	"fmt"
	"strconv"
	"testing"

	"blkstorm/lab/browser"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/result/load"
	"blkstorm/sweep"
	"blkstorm/verdict"
)

// sweptLike is a sweep of n × n points after a purge and a preconditioning, with IOPS of seven digits.
func sweptLike(n int) *result.Doc {
	windows := []float64{1, 20}
	for range n * n {
		windows = append(windows, 2)
	}
	d := docOf(1, windows...)
	d.Points[0].Phase, d.Points[1].Phase = plan.Purge, plan.Precondition
	var values []string
	for i := range n {
		values = append(values, strconv.Itoa(2*i+2))
	}
	d.Sweep = &result.Sweep{Axes: []sweep.Axis{{Name: "threads", Values: values}, {Name: "iodepth", Values: values}}}
	best := 0
	for i, p := range d.Points {
		k := max(0, i-2)
		depth := float64(4 * (k/n + 1) * (k%n + 1))
		us := 50 * (1 + depth/64) * (1 + depth/64)
		l := &result.Latency{Count: 1e7, Mean: int64(us * 1e3), StdDev: int64(us * 500), Min: 2000, Max: int64(us * 3e4), Percentiles: map[string]int64{}}
		for q, p := range map[string]float64{"50": 0.9, "90": 1.2, "95": 1.5, "99": 2, "99.9": 4, "99.99": 8, "99.999": 16} {
			l.Percentiles[q] = int64(us * 1e3 * p)
		}
		p.Label = fmt.Sprintf("randrw 70%% read 8k %sT/%sQ", values[k/n%n], values[k%n])
		p.Total = &result.Stat{IOs: 1e7, IOPS: 4e5 * depth / us * 50 / (1 + depth*depth/1e4), Latency: l}
		p.Total.BytesPerS = p.Total.IOPS * 8192
		p.Warnings = append(p.Warnings, verdict.Warning{Code: "depth_above_queue"})
		if i > 1 {
			d.Sweep.Points = append(d.Sweep.Points, i)
			if p.Total.IOPS > d.Points[best].Total.IOPS {
				best = i
			}
		}
		for s := range int(p.WindowS) {
			row := &result.Interval{TS: float64(s), LengthS: 1, StartUnixNS: p.Started.UnixNano() + int64(s)*1e9}
			stat := result.IntervalStat{IOs: 10_000, Bytes: 8192e4, Mean: 1e5, P50: 1e5, P95: 1e5, P99: 2e5, Max: 3e5}
			if row.Read = stat; i == 0 {
				row.Read, row.Trim = result.IntervalStat{}, result.IntervalStat{IOs: 8, Bytes: 3e12, Mean: 1e5, P50: 1e5, P95: 1e5, P99: 2e5, Max: 3e5}
			}
			p.Intervals = append(p.Intervals, row)
		}
	}
	d.Sweep.Knee = &result.Knee{Limit: "p99=20ms", Point: &best, IOPS: d.Points[best].Total.IOPS}
	return d
}

// TestSweepIsSeenWhole: no column of a matrix is beyond an edge where the window has room for it, nor is one of the
// table of points at 1600 pixels, nor a word of its remarks; on a phone the names of its rows stay where they are.
func TestSweepIsSeenWhole(t *testing.T) {
	b := browser.New(t)
	for n, widths := range map[int][]int64{3: {400, 700, 1000, 1300, 1600}, 4: {460, 700, 1000, 1130, 1300, 1600}, 6: {700, 1000, 1250, 1600}, 8: {1000, 1600}, 12: {1600}} {
		path, _ := written(t, &load.Result{Doc: sweptLike(n), Kind: load.Document})
		for _, width := range widths {
			b.Open(t, path, width, "light")
			if px := b.Overflow(t); px > 0 {
				t.Errorf("%d × %d at %d px: the page is %d px too wide", n, n, width, px)
			}
			query := `[...document.querySelectorAll(".matrix")].filter(e => e.scrollWidth > e.clientWidth).length`
			if cut := browser.Eval[int](t, b, query); cut > 0 {
				t.Errorf("%d × %d at %d px: %d matrices are cut off", n, n, width, cut)
			}
		}
		if px := browser.Eval[int](t, b, `(e => e.scrollWidth - e.clientWidth)(document.getElementById("points").parentNode)`); px > 0 {
			t.Errorf("%d × %d at 1600 px: the table of points is %d px too wide", n, n, px)
		}
	}
	path, _ := written(t, &load.Result{Doc: sweptLike(3), Kind: load.Document})
	b.Open(t, path, 400, "light")
	if x := browser.Eval[float64](t, b, `(() => {
		const table = document.getElementById("points"), box = table.parentNode;
		box.scrollLeft = 10000;
		return table.rows[3].cells[1].getBoundingClientRect().left - box.getBoundingClientRect().left;
	})()`); x != 0 {
		t.Errorf("moved sideways, the names of the points are %g px from the edge", x)
	}
}

// TestNameOfTheKnee: it hides no point of any line, and no part of it is beyond the drawing.
func TestNameOfTheKnee(t *testing.T) {
	b := browser.New(t)
	for _, n := range []int{2, 3, 4, 6} {
		path, _ := written(t, &load.Result{Doc: sweptLike(n), Kind: load.Document})
		for _, width := range []int64{400, 1600} {
			b.Open(t, path, width, "light")
			got := browser.Eval[[]string](t, b, `[...document.querySelectorAll("svg.plot")].filter(s => s.clientWidth && s.querySelector("text.ring")).flatMap(s => {
				const name = s.querySelector("text.ring"), a = name.getBBox(), v = s.viewBox.baseVal, out = [];
				if (a.x < 0 || a.y < 0 || a.x + a.width > v.width || a.y + a.height > v.height) { out.push("beyond the drawing"); }
				for (const c of s.querySelectorAll("circle")) {
					const x = +c.getAttribute("cx"), y = +c.getAttribute("cy");
					if (x > a.x && x < a.x + a.width && y > a.y && y < a.y + a.height) { out.push("over the point at " + x + ", " + y); }
				}
				return out.concat(name.textContent);
			})`)
			if want := 2; len(got) != want {
				t.Errorf("%d × %d at %d px: %q", n, n, width, got)
			}
		}
	}
}

// TestPurgeBesideTheRest: what a purge names as throughput does not press the rest of the run to the ground; the
// caption says that it lies beyond the axis, and the purge alone has an axis of its own.
func TestPurgeBesideTheRest(t *testing.T) {
	b := browser.New(t)
	d := sweptLike(2)
	path, _ := written(t, &load.Result{Doc: d, Kind: load.Document})
	b.Open(t, path, 1600, "light")
	said := func() string {
		return browser.Eval[string](t, b, `[...document.querySelectorAll(".beyond")].map(e => e.textContent).join("|")`)
	}
	// The grid of the axis is labelled up to 100 MB/s or so, not up to 3 million: a line of 82 MB/s has half the height.
	height := func() float64 {
		return browser.Eval[float64](t, b, `(() => {
			const c = document.querySelector("#c-bps canvas"), p = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
			let top = c.height;
			for (let i = 0; i < p.length; i += 4) { if (p[i] === 0 && p[i+1] === 0x72 && p[i+2] === 0xb2 && p[i+3] === 255) { top = Math.floor(i / 4 / c.width); break; } }
			return 1 - top / c.height;
		})()`)
	}
	if got, want := said(), "|; the purge, up to 3,000,000, lies beyond the axis"; got != want {
		t.Errorf("the captions say %q, want %q", got, want)
	}
	if h := height(); h < 0.4 {
		t.Errorf("the reads are drawn at %.2f of the height", h)
	}
	browser.Eval[bool](t, b, `(() => {
		const z = document.getElementById("zoom");
		z.selectedIndex = [...z.options].findIndex(o => o.textContent.startsWith("[1]"));
		return z.dispatchEvent(new Event("change"));
	})()`)
	browser.Eval[bool](t, b, `new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(true))))`)
	if got := said(); got != "|" {
		t.Errorf("of the purge alone, the captions say %q", got)
	}
	b.Quiet(t, path)
}
