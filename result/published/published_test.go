package published

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"blkstorm/plan"
	"blkstorm/result"
)

// printed is what the text output has of a document.
func printed(t testing.TB, d *result.Doc) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteText(&b, d); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSuffix(line, "\n")
		if strings.ContainsFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.TrimRight(line, " ") != line {
			t.Errorf("line %q has what must not be printed, or blanks at its end", line)
		}
	}
	return b.String()
}

// row finds the row of a table by its name.
func (t *Table) row(name string) []Cell {
	for _, r := range t.Rows {
		if r.Name == name {
			return r.Cells
		}
	}
	return nil
}

// Documents without a profile, without a plan and without a point have no tables.
func TestNothingToShow(t *testing.T) {
	for name, d := range map[string]*result.Doc{
		"no plan":        {},
		"no profile":     {Plan: &plan.Plan{}},
		"other profile":  {Plan: &plan.Plan{Profile: "of my own"}},
		"hostile name":   {Plan: &plan.Plan{Profile: "\x1b[2J"}},
		"no point":       newDoc("storagereview-ssd", 1, phase(plan.Measure, at("read", 4096, 100, 1, 1))).Doc,
		"no round":       newDoc("snia-iops", 1, phase(plan.Measure, at("read", 4096, 100, 1, 1))).Doc,
		"points unknown": {Plan: &plan.Plan{Profile: "four-corners"}, Points: []*result.Point{{Label: "x", Phase: plan.Measure}, nil}},
	} {
		if text := printed(t, d); text != "" {
			t.Errorf("%s: %s", name, text)
		}
	}
	for _, name := range Profiles() {
		if d := (&result.Doc{Plan: &plan.Plan{Profile: name}}); len(Tables(d)) > 0 {
			t.Errorf("%s: tables of an empty document", name)
		}
	}
}

// A figure in a table is the point's own, whatever the labels are.
func TestFiguresAreThePoints(t *testing.T) {
	d := storageReviewDoc()
	tables := Tables(d)
	i := slices.IndexFunc(tables, func(t Table) bool { return strings.HasPrefix(t.Title, "8K Random 70/30, main") })
	if i < 0 {
		t.Fatalf("no table of the sweep in %v", tables)
	}
	sweep := &tables[i]
	if len(sweep.Columns) != 16 || sweep.Columns[0].Name != "2T/2Q" || sweep.Columns[15].Name != "16T/16Q" {
		t.Errorf("columns are %v", sweep.Columns)
	}
	for j, p := range d.Points[5:21] {
		for name, want := range map[string]float64{
			"Throughput": p.Total.IOPS, "MB/s": p.Total.BytesPerS / 1e6, "Average Latency": float64(p.Total.Latency.Mean) / 1e6,
			"Max Latency": float64(max(p.Read.Latency.Max, p.Write.Latency.Max)) / 1e6, "Peak Read": float64(p.Read.Latency.Max) / 1e6,
			"Peak Write": float64(p.Write.Latency.Max) / 1e6, "Standard Deviation": float64(p.Total.Latency.StdDev) / 1e6,
		} {
			cells := sweep.row(name)
			if len(cells) != 16 || cells[j].Value != want {
				t.Errorf("%s at %s: %v, want %v", name, sweep.Columns[j].Name, cells, want)
			}
		}
	}
}

// The points are found in the plan after a gap, when one was done again, and when some could not run.
func TestPointsAreFoundInThePlan(t *testing.T) {
	points := []plan.Point{at("randread", 4096, 100, 1, 1), at("randread", 4096, 100, 1, 2), at("randwrite", 4096, 0, 1, 1)}
	b := newDoc("four-corners", 1, phase(plan.Precondition, points[2]), phase(plan.Measure, points...))
	b.add(0, 0, 10, 1)
	b.add(1, 0, 100, 1)
	again := b.add(0, 0, 20, 1)
	again.Label += " (again)"
	b.Resumed = []result.Resumed{{Repeated: []int{2}}}
	b.add(1, 2, 300, 1)
	r := newRun(b.Doc)
	var got []string
	for _, p := range r.points {
		got = append(got, fmt.Sprintf("%s %s %v", p.Phase, name(p.spec()), p.Total.IOPS))
	}
	want := []string{"precondition 4K Random 100% Write 10", "measure 4K Random 100% Read 100", "measure 4K Random 100% Write 300"}
	if !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}

// The points of rounds are found round by round, also when the last one was cut off.
func TestRoundsAreFoundInThePlan(t *testing.T) {
	ph := phase(plan.Measure, at("read", 4096, 100, 1, 1), at("write", 4096, 0, 1, 1))
	ph.Rounds = &plan.Rounds{}
	b := newDoc("snia-wsat", 1, phase(plan.Measure, at("read", 4096, 100, 1, 1)), ph, phase(plan.Measure, at("write", 4096, 0, 1, 1)))
	b.add(0, 0, 1, 1)
	for i, index := range []int{0, 1, 0, 1, 0} {
		b.add(1, index, 2, 1).Round = 1 + i/2
	}
	b.add(2, 0, 3, 1)
	var got []int
	for _, p := range newRun(b.Doc).points {
		got = append(got, p.phase)
	}
	if want := []int{0, 1, 1, 1, 1, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("phases are %v, want %v", got, want)
	}
}

// The tables of a run's own rounds: the window and the means that result has found.
func TestRoundsOfARun(t *testing.T) {
	ph := phase(plan.Measure, pts(true, 4, 32, []int{100, 0}, 4096)...)
	ph.Rounds = &plan.Rounds{Rule: sniaRule(), Track: []plan.Track{{Point: 1}}}
	b := newDoc("snia-iops", 1, ph)
	values := []float64{9000, 7000, 5000, 3000, 2000, 2000, 2010, 1990, 2000}
	for i, v := range values {
		b.add(0, 0, 2*v, 100).Round = i + 1
		b.add(0, 1, v, 100).Round = i + 1
		b.SumUp()
		if i == 1 {
			if text := printed(t, b.Doc); !strings.Contains(text, "rounds 1 to 2, steady state was NOT") || !strings.Contains(text, "8,000  16,000") {
				t.Errorf("after two rounds:\n%s", text)
			}
		}
	}
	text := strings.Join(strings.Fields(printed(t, b.Doc)), " ")
	for _, want := range []string{"reached in round 9", "measurement window: rounds 5 to 9", " 4 2,000 4,000 ", "IOPS Average 2,000.0 ", " -1.00000 * R + 2007.00 "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// Slices that are brought together keep I/Os, bytes, mean, deviation and maximum of all.
func TestParts(t *testing.T) {
	values := [][]float64{{1000, 3000}, {2000, 2000, 8000, 4000}, {}, {500}}
	var all []float64
	var list []*result.Slice
	for i, v := range values {
		var m moments
		s := &result.Slice{TS: float64(i), LengthS: 1}
		for _, x := range v {
			one := result.IntervalStat{IOs: 1, Mean: int64(x), Max: int64(x)}
			m.add(&one)
			s.Total.Max = max(s.Total.Max, int64(x))
		}
		s.Total.IOs, s.Total.Bytes = uint64(len(v)), uint64(4096*len(v))
		if len(v) > 0 {
			s.Total.Mean, s.Total.StdDev = int64(m.mean), int64(math.Sqrt(m.squares/m.n))
		}
		list, all = append(list, s), append(all, v...)
	}
	mean, squares := 0.0, 0.0
	for _, x := range all {
		mean += x / float64(len(all))
	}
	for _, x := range all {
		squares += (x - mean) * (x - mean) / float64(len(all))
	}
	p := together(list)
	if p.length != 4 || p.total.n != 7 || p.bytes != 7*4096 || p.total.max != 8000 || math.Abs(p.total.mean-mean) > 1 || math.Abs(math.Sqrt(p.total.squares/p.total.n)-math.Sqrt(squares)) > 1 {
		t.Errorf("together %+v; the mean is %v, the deviation %v", p, mean, math.Sqrt(squares))
	}
	for n, want := range map[int]int{1: 1, 24: 24, 25: 13, 360: 24} {
		list := make([]*result.Slice, n)
		for i := range list {
			list[i] = &result.Slice{TS: float64(i), LengthS: 1, Total: result.IntervalStat{IOs: 1}}
		}
		count := func() (ios float64) {
			for _, p := range parts(list, 24) {
				ios += p.total.n
			}
			return ios
		}
		if got := len(parts(list, 24)); got != want || count() != float64(n) {
			t.Errorf("%d slices make %d parts of %v I/Os, want %d", n, got, count(), want)
		}
		if list[n-1].LengthS = 0.1; n > 1 && (len(parts(list, 24)) > 24 || count() != float64(n)) {
			t.Errorf("%d slices with a short last one make %d parts of %v I/Os", n, len(parts(list, 24)), count())
		}
	}
}

// The row of the rounds in which a point was steady has their mean, and the last row is the last round, without
// what was done between the end of it and the end of I/O.
func TestSteadyRowIsTheRounds(t *testing.T) {
	values := []float64{4000, 1000, 1010, 990, 1000, 1000}
	b := newDoc("storagereview-ssd", 1, phase(plan.Precondition, at("write", 8192, 0, 16, 16)))
	p := b.add(0, 0, 1000, 10)
	settled(p, time.Second, values...)
	for i, v := range append(values, 700) {
		s := &result.Slice{TS: float64(i), LengthS: 1}
		s.Total.IOs, s.Total.Mean, s.Total.Max = uint64(v), 1e6, 2e6
		p.History = append(p.History, s)
	}
	last := p.History[len(values)]
	last.LengthS, last.Total.Max = 0.02, 9e6 // 35,000 IOPS
	if first := p.Steady.State.First; first != 2 {
		t.Fatalf("steady from round %d on", first)
	}
	table := &Tables(b.Doc)[0]
	if len(table.Rows) != len(values)+1 {
		t.Errorf("%d rows of %d rounds", len(table.Rows), len(values))
	}
	for name, want := range map[string][2]float64{"steady state": {1000, 2}, "0:00:06": {1000, 2}} {
		cells := table.row(name)
		if len(cells) != 5 || cells[0].Value != want[0] || cells[3].Value != want[1] {
			t.Errorf("%s: %v, want %v IOPS, %v ms at most", name, cells, want[0], want[1])
		}
	}
	p.Completed, p.Steady.State.Steady = false, false // stopped by hand: what is there is shown
	if cells := Tables(b.Doc)[0].row("0:00:06"); len(cells) != 5 || cells[3].Value != 9 {
		t.Errorf("a run that was cut short: %v", cells)
	}
}

// Where several devices were measured together, that is said once, also of claims, which are of one drive.
func TestSeveralDevices(t *testing.T) {
	for name, make := range documents {
		d := make()
		d.Targets = d.Targets[:1]
		if text := printed(t, d); strings.Contains(text, "devices together") || strings.Contains(text, "claims are of one") {
			t.Errorf("%s of one device:\n%s", name, text)
		}
		d.Targets = append(d.Targets, d.Targets[0])
		text := strings.Join(strings.Fields(printed(t, d)), " ")
		if strings.Count(text, "2 devices together; T/Q and rates are of each") != 1 {
			t.Errorf("%s of two devices:\n%s", name, text)
		}
		if claims := strings.Contains(text, "one of the 2 devices: 200 % of IOPS and bandwidth is"); claims != (name == "drive-spec") {
			t.Errorf("%s: claims %v:\n%s", name, claims, text)
		}
	}
}

// Names that others chose can neither move the cursor nor fake a line.
func TestHostileNames(t *testing.T) {
	const evil = "a\x1b[2J\n  fake 1,000,000\u202e"
	b := newDoc("oltp-mysql", 1, phase(plan.Measure, at("randrw", 4096, 70, 1, 1)))
	pl := &b.Plan.Phases[0].Points[0]
	pl.Label, pl.Streams[0].Label, pl.Streams[0].Workload.RW = evil, evil, evil
	b.add(0, 0, 100, 10)
	if text := printed(t, b.Doc); !strings.Contains(text, `a\x1b[2J\n`) {
		t.Errorf("the name is not escaped:\n%s", text)
	}
	d := driveSpecDoc()
	d.Plan.Claims.Drive, d.Plan.Claims.Source = evil, evil
	d.Plan.Claims.Values = append(d.Plan.Claims.Values, plan.Claim{Point: evil, Figure: evil, Value: 1, Unit: evil})
	printed(t, d)
	s := sniaIOPSDoc()
	s.Rounds[0].Tracked[0].Point = evil
	s.Plan.Phases[1].Rounds.Track = nil
	printed(t, s)
}

// A document that was cut off anywhere has the tables of what is there.
func TestCutOffAnywhere(t *testing.T) {
	for name, make := range documents {
		whole := make()
		for n := range whole.Points {
			d := make()
			d.Points, d.Rounds = d.Points[:n], nil
			printed(t, d)
		}
		for n := range whole.Rounds {
			d := make()
			r := d.Rounds[n]
			d.Rounds = d.Rounds[:n+1]
			r.Cells, r.First, r.Last, r.Reached = r.Cells[:1], 0, 0, false
			for i := range r.Tracked {
				r.Tracked[i].Steady.Values = r.Tracked[i].Steady.Values[:2]
			}
			if text := printed(t, d); n == 0 && name != "snia-wsat" && !strings.Contains(text, "Convergence") {
				t.Errorf("%s: two rounds are not shown:\n%s", name, text)
			}
		}
	}
}

// Whatever a file says, the tables can be made, and nothing in them is unprintable.
func FuzzDocument(f *testing.F) {
	for _, make := range documents {
		d := make()
		for _, p := range d.Points[min(len(d.Points), 3):] {
			p.History = nil
		}
		text, err := json.Marshal(d)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"plan":{"profile":"snia-iops","phases":[{"kind":"measure","rounds":{}}]},"rounds":[{"phase":0,"last":9,"tracked":[{"steady":{}}],"cells":[{}]},null]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		var d result.Doc
		if json.Unmarshal(text, &d) != nil || len(text) > 1<<20 {
			t.Skip()
		}
		printed(t, &d)
		if d.Plan != nil {
			for _, name := range Profiles() {
				d.Plan.Profile = name
				printed(t, &d)
			}
		}
	})
}

// A day of rounds is shown as far as it can be read.
func TestManyRounds(t *testing.T) {
	ph := phase(plan.Measure, at("randwrite", 4096, 0, 4, 32))
	ph.Rounds = &plan.Rounds{Rule: sniaRule(), Track: []plan.Track{{Point: 0}}}
	ph.Rounds.Rule.MaxRounds = 1440
	b := newDoc("snia-wsat", 1, ph)
	values := make([]float64, 1440)
	for i := range values {
		values[i] = 30000 + 20000*float64(i%2)
		p := b.add(0, 0, values[i], 100)
		p.Round, p.WindowS = i+1, time.Minute.Seconds()
	}
	b.roundsOf(0, values)
	text := printed(t, b.Doc)
	if n := strings.Count(text, "\n"); n > 90 || !strings.Contains(text, "the last 50 of 1440 rounds") || !strings.Contains(text, "24:00:00") {
		t.Errorf("%d lines:\n%s", n, text)
	}
}
