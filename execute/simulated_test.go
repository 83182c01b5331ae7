package execute

import (
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"blkstorm/ioengine"
	"blkstorm/ioengine/model"
	"blkstorm/op"
	"blkstorm/plan"
	"blkstorm/steady"
	"blkstorm/sweep"
	"blkstorm/unit"
	"blkstorm/workload"
)

// drive is a device with a burst, a decay and a steady level: writes are fast until so many bytes were
// written, and then slow down, most of it within the next decay bytes. Reads always take the same.
type drive struct {
	burst         float64 // bytes
	decay         float64
	read          time.Duration
	fast, settled time.Duration // of a write
}

// service is how long an I/O takes.
func (d *drive) service(written float64, write bool) time.Duration {
	if !write {
		return d.read
	}
	if written < d.burst {
		return d.fast
	}
	return d.settled - time.Duration(float64(d.settled-d.fast)*math.Exp(-(written-d.burst)/d.decay))
}

func (d *drive) driver() ioengine.Driver {
	return model.New(func(written int64, io *ioengine.IO) time.Duration {
		return d.service(float64(written), io.Op == op.Write)
	}).Driver()
}

// The matrix of the IOPS test of the SNIA SSS PTS 2.0.2, and what it tracks, by place in the matrix.
var (
	readPcts = []int64{100, 95, 65, 50, 35, 5, 0}
	sizes    = []int64{1 << 20, 128 << 10, 64 << 10, 32 << 10, 16 << 10, 8 << 10, 4 << 10, 512}
	tracked  = map[int]int64{0: 600, 2*8 + 2: 300, 6*8 + 6: 200} // 1024k 100/0, 64k 65/35, 4k 0/100: so many I/Os each
)

const otherIOs = 16 // of a cell that is not tracked

// sniaIOPS is the IOPS test, in which the tracked cells take their time and the others as little as possible.
// Each cell ends after a number of I/Os, so that what the device remembers does not depend on how busy this
// machine is. The limits on range and fitted range are wide: it takes a third of a window now and then.
func sniaIOPS(target string) *plan.Plan {
	p := job("randrw", plan.Target{Spec: target})
	p.Engine, p.Destroy = "null", true
	axes := []sweep.Axis{{Name: "read-pct"}, {Name: "bs"}}
	for _, pct := range readPcts {
		axes[0].Values = append(axes[0].Values, fmt.Sprint(pct))
	}
	for _, bs := range sizes {
		axes[1].Values = append(axes[1].Values, unit.Size(bs))
	}
	rule := steady.Default()
	rule.RangePct, rule.FittedPct = 70, 50
	ph := plan.Phase{Kind: plan.Measure, Sweep: &plan.Sweep{Axes: axes}, Rounds: &plan.Rounds{Rule: rule}}
	for _, pct := range readPcts {
		for _, bs := range sizes {
			i := len(ph.Points)
			ios := int64(otherIOs)
			if n, is := tracked[i]; is {
				ios = n
				ph.Rounds.Track = append(ph.Rounds.Track, plan.Track{Point: i})
			}
			w := workload.Spec{RW: "randrw", BlockSize: bs, ReadPct: int(pct), Coverage: true, Size: unit.Share{Bytes: ios * bs}}
			s := plan.Stream{Label: "randrw", Workload: w, Targets: []int{0}, Threads: 1, IODepth: 16, Passes: 1}
			ph.Points = append(ph.Points, plan.Point{Label: plan.AutoLabel([]plan.Stream{s}), Interval: plan.Duration(100 * time.Millisecond), Streams: []plan.Stream{s}})
		}
	}
	p.Phases = []plan.Phase{ph}
	return p
}

// walk computes from the model alone what each tracked cell does in each of n rounds, and calls at before each
// cell with what was written until then.
func (d *drive) walk(p *plan.Plan, n int, at func(round, cell int, written float64)) [][]float64 {
	ph := &p.Phases[0]
	values := make([][]float64, len(ph.Rounds.Track))
	written := 0.0
	for round := range n {
		for cell := range ph.Points {
			at(round, cell, written)
			w := &ph.Points[cell].Streams[0].Workload
			write := 1 - float64(w.ReadPct)/100
			one := func() time.Duration { // of the mix, on average
				t := time.Duration(write*float64(d.service(written, true)) + (1-write)*float64(d.service(written, false)))
				written += write * float64(w.BlockSize)
				return t
			}
			ios := w.Size.Bytes / w.BlockSize
			used := time.Duration(0)
			for range ios {
				used += one()
			}
			for i, t := range ph.Rounds.Track {
				if t.Point == cell {
					values[i] = append(values[i], float64(ios)/used.Seconds())
				}
			}
		}
	}
	return values
}

// extremes are the range and the fitted range of a window in percent of its mean, by their definition.
func extremes(window []float64) (rangePct, fittedPct float64) {
	low, high, mean := math.Inf(1), 0.0, 0.0
	for _, v := range window {
		low, high, mean = min(low, v), max(high, v), mean+v/float64(len(window))
	}
	var xx, xy float64
	for i, v := range window {
		x := float64(i) - float64(len(window)-1)/2
		xx, xy = xx+x*x, xy+x*v
	}
	return 100 * (high - low) / mean, 100 * math.Abs(xy/xx) * float64(len(window)-1) / mean
}

// worst is how far the tracked cells are from their limits in the window that ends with a round, from 1: below
// 1, all of them keep theirs.
func worst(values [][]float64, rule *steady.Rule, round int) (part float64) {
	for _, v := range values {
		r, f := extremes(v[round-rule.Window : round])
		part = max(part, r/rule.RangePct, f/rule.FittedPct)
	}
	return part
}

// firstSteady is the first round whose window all tracked cells keep; 0 for none.
func firstSteady(values [][]float64, rule *steady.Rule) int {
	for round := rule.Window; round <= len(values[0]); round++ {
		if worst(values, rule, round) <= 1 {
			return round
		}
	}
	return 0
}

// The IOPS test of SNIA, 56 cells a round, on a device that is fast until it has been written for a while: it
// ends in the round that follows from the model of the device.
func TestSimulatedDeviceReachesSteadyStateWhenItMust(t *testing.T) {
	const most = 12
	target := file(t, 0)
	if err := os.Truncate(target, 1<<30); err != nil { // nothing is written
		t.Fatal(err)
	}
	p := sniaIOPS(target)
	rule := &p.Phases[0].Rounds.Rule
	rule.MaxRounds = most
	d := &drive{burst: math.Inf(1), read: 400 * time.Microsecond, fast: 250 * time.Microsecond, settled: 2 * time.Millisecond}
	// The burst ends in round 2, far from a tracked cell, and most of the decay is over a round later.
	var begin, end float64
	d.walk(p, 3, func(round, cell int, written float64) {
		switch {
		case round == 1 && cell == 40:
			begin = written
		case round == 2 && cell == 40:
			end = written
		}
	})
	d.burst, d.decay = begin, (end-begin)/5
	values := d.walk(p, most, func(int, int, float64) {})
	want := firstSteady(values, rule)
	t.Logf("the model: %.0f, first steady in round %d: %.2f of the limits, and %.2f before it", values, want, worst(values, rule, want), worst(values, rule, want-1))
	if want < 6 || want > 9 || worst(values, rule, want) > 0.5 || worst(values, rule, want-1) < 1.3 {
		t.Fatalf("the model has no clear answer")
	}
	for attempt := 1; ; attempt++ {
		o := options()
		o.Drivers = []ioengine.Driver{d.driver()}
		doc, err := carryOut(p, o)
		if err != nil {
			t.Fatal(err)
		}
		r := checkRounds(t, doc, len(doc.Points)/len(p.Phases[0].Points))
		// What was measured, judged by the definition, gives the same answer on every machine.
		var measured [][]float64
		for i := range r.Tracked {
			var list []float64
			for _, v := range r.Tracked[i].Steady.Values {
				list = append(list, *v)
			}
			measured = append(measured, list)
		}
		if got := firstSteady(measured, rule); r.Reached != (got > 0) || got > 0 && (r.Last != got || r.First != got-4) || !r.Reached && r.Done != most {
			t.Fatalf("rounds %d to %d of %d, reached %v; by the definition it is round %d of %.0f", r.First, r.Last, r.Done, r.Reached, got, measured)
		}
		if len(doc.Points) != 56*r.Done || len(r.Cells) != 56 {
			t.Fatalf("%d points and %d cells in %d rounds", len(doc.Points), len(r.Cells), r.Done)
		}
		if r.Reached && r.Last == want {
			return
		}
		t.Logf("attempt %d: steady in round %d, want %d: %.0f", attempt, r.Last, want, measured)
		if attempt == 3 {
			t.Fatalf("steady in round %d, want %d", r.Last, want)
		}
	}
}
