package runner

import (
	"testing"
	"time"

	"blkstorm/ioengine/null"
)

// One turn of the hot loop allocates nothing, whatever the engine and the mix.
func TestLoopAllocatesNothing(t *testing.T) {
	cfg := Config{Point: point(0, time.Hour, time.Hour, stream("randrw", 1, 16)), Targets: []Target{nowhere(1 << 40)}, Driver: &null.Driver}
	th := readyThread(t, &cfg)
	if n := testing.AllocsPerRun(1000, func() { turn(th) }); n != 0 {
		t.Errorf("%g allocations per turn", n)
	}
	// A rotation allocates nothing either, as long as control gives slices back.
	if n := testing.AllocsPerRun(100, func() {
		th.rotate(th.run.clock.now())
		s := th.retired.takeAll()
		s.reset()
		th.recycled.push(s)
		turn(th)
	}); n != 0 {
		t.Errorf("%g allocations per rotation", n)
	}
}

func BenchmarkLoop(b *testing.B) {
	for _, c := range []struct {
		name  string
		rw    string
		depth int
	}{{"randread/Q1", "randread", 1}, {"randread/Q32", "randread", 32}, {"randrw/Q32", "randrw", 32}} {
		b.Run(c.name, func(b *testing.B) {
			cfg := Config{Point: point(0, time.Hour, time.Hour, stream(c.rw, 1, c.depth)), Targets: []Target{nowhere(1 << 40)}, Driver: &null.Driver}
			th := readyThread(b, &cfg)
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				turn(th)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(c.depth), "ns/IO")
		})
	}
}

func BenchmarkClock(b *testing.B) {
	c := newClock()
	var sum int64
	for b.Loop() {
		sum += c.now()
	}
	_ = sum
}
