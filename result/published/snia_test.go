package published

import (
	"strings"
	"testing"
	"time"

	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/steady"
	"blkstorm/unit"
	"blkstorm/workload"
)

// roundsOf carries out a phase of rounds: each tracked variable has its values, and each cell the figures
// of its place in the matrix.
func (b *builder) roundsOf(phase int, values ...[]float64) *result.Rounds {
	ph := &b.Plan.Phases[phase]
	r := &result.Rounds{Phase: phase, Done: len(values[0])}
	reached := 0
	for i, track := range ph.Rounds.Track {
		rule := ph.Rounds.Rule
		rule.Metric = track.Metric
		rep := report(rule, values[i])
		r.Tracked = append(r.Tracked, result.Tracked{Point: ph.Points[track.Point].Label, Steady: *rep})
		reached = max(reached, rep.State.Reached)
		r.Reached = (i == 0 || r.Reached) && rep.State.Steady
	}
	r.Last = r.Done
	if r.Reached {
		r.Last = reached
	}
	if r.First = r.Last - ph.Rounds.Rule.Window + 1; r.First < 1 {
		r.First, r.Last = 0, 0
	}
	for i := range ph.Points {
		w := spec(&ph.Points[i])
		rate := 1e9 / float64(w.BlockSize+16384) * (1 + float64(max(0, readPct(w)))/100)
		r.Cells = append(r.Cells, result.Cell{Label: ph.Points[i].Label, IOPS: rate, BytesPerS: rate * float64(w.BlockSize),
			MeanNS: 100_000 + w.BlockSize, MaxNS: 1_000_000 + 10*w.BlockSize, Rounds: r.Last - r.First + 1})
	}
	b.Rounds = append(b.Rounds, r)
	return r
}

func sniaRule() steady.Rule { r := steady.Default(); return r }

// pts makes the points of a matrix: mixes in the outer loop, block sizes in the inner one.
func pts(random bool, threads, depth int, mixes []int, sizes ...int64) (points []plan.Point) {
	for _, reads := range mixes {
		for _, bs := range sizes {
			rw := map[int]string{100: "read", 0: "write"}[reads]
			if rw == "" {
				rw = "rw"
			}
			if random {
				rw = "rand" + rw
			}
			p := at(rw, bs, reads, threads, depth)
			p.Label = name(spec(&p))
			points = append(points, p)
		}
	}
	return points
}

func sniaIOPSDoc() *result.Doc {
	points := pts(true, 4, 32, []int{100, 95, 65, 50, 35, 5, 0}, 1<<20, 131072, 65536, 32768, 16384, 8192, 4096, 512)
	measure := phase(plan.Measure, points...)
	measure.Rounds = &plan.Rounds{Rule: sniaRule(), Track: []plan.Track{{Point: 54}, {Point: 18}, {Point: 0}}}
	b := newDoc("snia-iops", 1, phase(plan.Precondition, at("write", 131072, 0, 1, 32)), measure)
	b.roundsOf(1, settling(10, 90000, 30000), settling(10, 14000, 9000), settling(10, 2000, 1900))
	b.Rounds[0].Cells[5].Rounds, b.Rounds[0].Cells[6].Rounds = 3, 0
	return b.Doc
}

func sniaThroughputDoc() *result.Doc {
	var phases []plan.Phase
	for _, bs := range []int64{131072, 1 << 20} {
		p := phase(plan.Measure, pts(false, 1, 32, []int{100, 0}, bs)...)
		p.Rounds = &plan.Rounds{Rule: sniaRule(), Track: []plan.Track{{Point: 0, Metric: steady.Bandwidth}, {Point: 1, Metric: steady.Bandwidth}}}
		phases = append(phases, p)
	}
	b := newDoc("snia-throughput", 1, phases...)
	b.roundsOf(0, settling(7, 2e9, 1.9e9), settling(7, 9e8, 8e8))
	b.roundsOf(1, settling(25, 2.1e9, 2e9), append(settling(20, 9e8, 8e8), 5e8, 8e8, 5e8, 8e8, 5e8)) // the first five rounds are steady
	r := b.Rounds[1]
	r.Reached, r.First, r.Last = false, 21, 25
	return b.Doc
}

func sniaLatencyDoc() *result.Doc {
	measure := phase(plan.Measure, pts(true, 1, 1, []int{100, 65, 0}, 8192, 4096, 512)...)
	measure.Rounds = &plan.Rounds{Rule: sniaRule(), Track: []plan.Track{{Point: 7, Metric: steady.Mean}}}
	b := newDoc("snia-latency", 1, measure)
	b.roundsOf(0, []float64{40000, 60000, 80000, 95000, 101000, 104000, 103000, 102000, 104500})
	v := b.Rounds[0].Tracked[0].Steady.Values
	v[0] = nil // a round without a figure
	return b.Doc
}

func sniaSaturationDoc() *result.Doc {
	measure := phase(plan.Measure, pts(true, 4, 32, []int{0}, 4096)...)
	measure.Rounds = &plan.Rounds{Rule: sniaRule(), Track: []plan.Track{{Point: 0}}}
	b := newDoc("snia-wsat", 1, phase(plan.Purge, at("trim", 1<<20, 0, 1, 4)), measure)
	b.add(0, 0, 100, 10)
	values := settling(30, 90000, 30000)
	for i, v := range values {
		p := b.add(1, 0, v, int64(1.28e8/v))
		p.Round = i + 1
		p.WindowS = time.Minute.Seconds()
	}
	b.roundsOf(1, values)
	return b.Doc
}

// The setup of a test says what was done to the device, as the plan has it: a purge that was left out is there.
func TestSetup(t *testing.T) {
	b := newDoc("snia-iops", 2, plan.PurgePhase([]int{0}), plan.FillPhase([]int{0}, 2, workload.DataSpec{}), phase(plan.Measure, pts(true, 4, 32, []int{100, 0}, 4096)...))
	b.Plan.Phases[2].Rounds = &plan.Rounds{Rule: sniaRule(), Track: []plan.Track{{Point: 1}}}
	b.roundsOf(2, settling(6, 9000, 2000))
	b.Targets[0].Queue.WriteCache = "write through"
	value := func(name string) string {
		t.Helper()
		tables := Tables(b.Doc)
		if tables[0].Title != "Test Setup" || len(tables[0].row(name)) != 1 {
			t.Fatalf("no %s in %v", name, tables[0])
		}
		return tables[0].row(name)[0].Text
	}
	for name, want := range map[string]string{
		"Purge": "discard of everything", "Workload Independent Preconditioning": "2 x SEQ 128 KiB writes of everything", "Active Range": "100%",
		"Data Pattern": "random", "Thread Count": "4", "Outstanding I/O per Thread": "32", "Volatile Write Cache": "off, unknown", "Round Limit": "25",
	} {
		if got := value(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	half, w := unit.Share{Percent: 50}, &b.Plan.Phases[2].Points[0].Streams[0].Workload
	b.Plan.Phases[0].Points[0].Streams[0].Workload.TrimWith, b.Plan.Phases[0].Points[0].Streams[0].Workload.Size = workload.WriteZeroes, half
	w.WorkingSet, w.Data = unit.Share{Percent: 75}, workload.DataSpec{CompressPct: 30, DedupePct: 20}
	for name, want := range map[string]string{"Purge": "zeroes written to 50%", "Active Range": "75%", "Data Pattern": "random, 30 % compressible, 20 % duplicates"} {
		if got := value(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	b.Plan.Phases[0].Kind, b.Plan.Phases[1].Kind, w.Size = plan.Idle, plan.Idle, half
	for name, want := range map[string]string{"Purge": "none", "Workload Independent Preconditioning": "none", "Active Range": "75% of 50%"} {
		if got := value(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if text := printed(t, b.Doc); !strings.Contains(text, "Test Setup") {
		t.Errorf("the text has no setup:\n%s", text)
	}
}
