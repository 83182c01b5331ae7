package workload

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"blkstorm/op"
)

func TestParseRates(t *testing.T) {
	for text, want := range map[string]Rates{
		"1000":       {Total: 1000},
		"0.5":        {Total: 0.5},
		"900,100":    {Each: [op.Count]float64{900, 100}},
		"900,":       {Each: [op.Count]float64{900}},
		",100":       {Each: [op.Count]float64{0, 100}},
		"900,100,50": {Each: [op.Count]float64{900, 100, 50}},
	} {
		got, err := ParseIOPS(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"": "not a number", ",": "names no rate", "0": "must be from 0.0001 to 1e+09", "-1": "must be from", "1e10": "must be from",
		"NaN": "must be from", "x": "not a number", "1,2,3,4": "more than three", "10k": "not a number",
	} {
		if _, err := ParseIOPS(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if r, err := ParseByteRates("1m,2k"); err != nil || r.Each[op.Read] != 1<<20 || r.Each[op.Write] != 2048 {
		t.Errorf("bytes: %+v, %v", r, err)
	}
}

func TestPacingRefuses(t *testing.T) {
	for want, c := range map[string]struct {
		rw string
		p  Pacing
	}{
		"--arrival \"x\"":                              {"read", Pacing{Arrival: "x"}},
		"give one of them":                             {"read", Pacing{IOPS: Rates{Total: 1}, Bytes: Rates{Total: 1}}},
		"--burst 10/1s: says already":                  {"read", Pacing{IOPS: Rates{Total: 1}, Burst: Burst{10, time.Second}}},
		"--think-time 1s/1: goes without --burst 1/1s": {"read", Pacing{Burst: Burst{1, time.Second}, Think: Think{time.Second, 1}}},
		"--arrival poisson: goes with":                 {"read", Pacing{Arrival: ArrivalPoisson}},
		"--rate-iops 5,: has no rate for the writes":   {"rw", Pacing{IOPS: Rates{Each: [op.Count]float64{5}}}},
		"--rate-bytes 5,6: has a rate for writes":      {"read", Pacing{Bytes: Rates{Each: [op.Count]float64{5, 6}}}},
		"give one rate for both":                       {"trimwrite", Pacing{IOPS: Rates{Each: [op.Count]float64{0, 5, 6}}}},
		"which --rw write does not issue":              {"write", Pacing{IOPS: Rates{Each: [op.Count]float64{5, 6}}}},
		"--rate-iops 5,6,7: has a rate for trims, wh":  {"rw", Pacing{IOPS: Rates{Each: [op.Count]float64{5, 6, 7}}}},
	} {
		s := Spec{RW: c.rw, BlockSize: 4096, ReadPct: 50}
		if err := c.p.Validate(&s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestPacingRoundTrip(t *testing.T) {
	p := Pacing{IOPS: Rates{Each: [op.Count]float64{900, 100.5}}, Arrival: ArrivalPoisson}
	q := Pacing{Bytes: Rates{Total: 1 << 40}, Think: Think{Pause: time.Millisecond, Every: 7}}
	r := Pacing{Burst: Burst{1000, 10 * time.Second}}
	for _, in := range []Pacing{p, q, r, {}} {
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var out Pacing
		if err := json.Unmarshal(text, &out); err != nil || !reflect.DeepEqual(in, out) {
			t.Errorf("%s: %+v, %v", text, out, err)
		}
	}
}

// times are the planned times of a schedule's first n I/Os.
func times(s *Schedule, n int, length int64) []int64 {
	list := make([]int64, n)
	state := s.First(length)
	for i := range list {
		list[i] = s.Planned(state)
		state = s.Next(state, length)
	}
	return list
}

func TestFixedSchedules(t *testing.T) {
	for name, c := range map[string]struct {
		p      Pacing
		length int64
		want   []int64
	}{
		"1000 IOPS":    {Pacing{IOPS: Rates{Total: 1000}}, 4096, []int64{0, 1e6, 2e6, 3e6}},
		"3 IOPS":       {Pacing{IOPS: Rates{Total: 3}}, 4096, []int64{0, 333333333, 666666667, 1e9}},
		"1 KiB/s":      {Pacing{Bytes: Rates{Total: 1024}}, 4096, []int64{0, 4e9, 8e9, 12e9}},
		"bursts of 3":  {Pacing{Burst: Burst{3, time.Second}}, 4096, []int64{0, 0, 0, 1e9, 1e9, 1e9, 2e9}},
		"a year apart": {Pacing{IOPS: Rates{Total: 1e-4}}, 4096, []int64{0, 1e13, 2e13}},
	} {
		s := c.p.Schedules(1)
		if got := times(&s[0], len(c.want), c.length); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A rate over days must not drift: after n I/Os the time is n / rate to the microsecond.
func TestScheduleDoesNotDrift(t *testing.T) {
	p := Pacing{IOPS: Rates{Total: 7777.7}}
	s := p.Schedules(1)[0]
	n := int64(7777.7 * 86400 * 30)
	if got, want := float64(s.Planned(n)), float64(n)/7777.7*1e9; math.Abs(got-want) > 1000 {
		t.Errorf("after 30 days %.0f ns, want %.0f", got, want)
	}
}

// Poisson: over n arrivals the mean gap is 1/rate with a standard error of 1/√n, and the coefficient of
// variation 1 with one of about 1/√n; both within 5 of them. Gaps do not depend on each other: the
// correlation of neighbours has a standard error of 1/√n.
func TestPoisson(t *testing.T) {
	const n = 1_000_000
	for _, rate := range []float64{100, 900, 250_000} {
		p := Pacing{IOPS: Rates{Total: rate}, Arrival: ArrivalPoisson}
		s := p.Schedules(42)[0]
		list := times(&s, n+1, 4096)
		var sum, squares, products, last float64
		for i := range n {
			gap := float64(list[i+1]-list[i]) * rate / 1e9
			sum += gap
			squares += gap * gap
			products += (gap - 1) * (last - 1)
			last = gap
		}
		mean := sum / n
		cv := math.Sqrt(squares/n-mean*mean) / mean
		const sigma5 = 5. / 1000 // 5/√n
		if math.Abs(mean-1) > sigma5 || math.Abs(cv-1) > 2*sigma5 || math.Abs(products/n) > sigma5 {
			t.Errorf("rate %v: mean gap %v, coefficient of variation %v, correlation %v", rate, mean, cv, products/n)
		}
	}
}

// Other seeds and other directions have other arrivals; the same have the same.
func TestPoissonSeeds(t *testing.T) {
	p := Pacing{IOPS: Rates{Each: [op.Count]float64{500, 500}}, Arrival: ArrivalPoisson}
	a, b, c := p.Schedules(1), p.Schedules(1), p.Schedules(2)
	if !reflect.DeepEqual(times(&a[0], 100, 1), times(&b[0], 100, 1)) {
		t.Error("the same seed gives other arrivals")
	}
	if reflect.DeepEqual(times(&a[0], 100, 1), times(&c[0], 100, 1)) {
		t.Error("another seed gives the same arrivals")
	}
	if reflect.DeepEqual(times(&a[0], 100, 1), times(&a[1], 100, 1)) {
		t.Error("writes arrive with the reads")
	}
}

// Due is what stepping counts.
func TestDue(t *testing.T) {
	for name, p := range map[string]Pacing{
		"fixed":         {IOPS: Rates{Total: 1000}},
		"odd":           {IOPS: Rates{Total: 333.3}},
		"bytes":         {Bytes: Rates{Total: 1 << 20}},
		"poisson":       {IOPS: Rates{Total: 2000}, Arrival: ArrivalPoisson},
		"poisson bytes": {Bytes: Rates{Total: 1 << 20}, Arrival: ArrivalPoisson},
		"bursts":        {Burst: Burst{7, 13 * time.Millisecond}},
	} {
		s := p.Schedules(3)[0]
		for _, skip := range []int{0, 1, 5, 100} {
			state := s.First(4096)
			for range skip {
				state = s.Next(state, 4096)
			}
			for _, end := range []int64{0, 1, 999_999, 1e6, 1e6 + 1, 91_000_000, 12_345_678_901} {
				want := uint64(0)
				for at := state; s.Planned(at) < end; at = s.Next(at, 4096) {
					want++
				}
				if got, first := s.Due(state, end, 4096); got != want || first != s.Planned(state) {
					t.Errorf("%s, after %d, until %d: %d, want %d", name, skip, end, got, want)
				}
			}
		}
	}
}

func TestScheduleIsFarFromOverflow(t *testing.T) {
	for _, p := range []Pacing{{IOPS: Rates{Total: minRate}}, {IOPS: Rates{Total: minRate}, Arrival: ArrivalPoisson}, {Burst: Burst{1, maxWait}}} {
		s := p.Schedules(1)[0]
		state := s.First(1)
		for range 10_000_000 {
			state = s.Next(state, 1)
		}
		if at := s.Planned(state); at < 0 || at > maxPlanned {
			t.Errorf("%+v: %d", p, at)
		}
	}
}

func FuzzParsePacing(f *testing.F) {
	for _, text := range []string{"1000", "900,100", "1000/10s", "10ms/16", "1m,2k", "1e400", ",,"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if r, err := ParseIOPS(text); err == nil {
			if again, err := ParseIOPS(r.String()); err != nil || again != r {
				t.Errorf("%q: %v, again %v, %v", text, r, again, err)
			}
		}
		if r, err := ParseByteRates(text); err == nil {
			if again, err := ParseByteRates(r.String()); err != nil || again != r {
				t.Errorf("bytes %q: %v, again %v, %v", text, r, again, err)
			}
		}
		if b, err := ParseBurst(text); err == nil {
			if again, err := ParseBurst(b.String()); err != nil || again != b {
				t.Errorf("%q: %v, again %v, %v", text, b, again, err)
			}
		}
		if d, err := ParseThink(text); err == nil {
			if again, err := ParseThink(d.String()); err != nil || again != d {
				t.Errorf("%q: %v, again %v, %v", text, d, again, err)
			}
		}
	})
}

func BenchmarkSchedule(b *testing.B) {
	for name, p := range map[string]Pacing{
		"fixed":   {IOPS: Rates{Total: 1000}},
		"bytes":   {Bytes: Rates{Total: 1 << 30}},
		"poisson": {IOPS: Rates{Total: 1e9}, Arrival: ArrivalPoisson},
	} {
		b.Run(name, func(b *testing.B) {
			s := p.Schedules(1)[0]
			state := s.First(4096)
			b.ReportAllocs()
			for b.Loop() {
				state = s.Next(state, 4096)
				_ = s.Planned(state)
			}
		})
	}
}
