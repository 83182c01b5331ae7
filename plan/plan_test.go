package plan

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"blkstorm/unit"
	"blkstorm/workload"
)

// valid is a plan that has nothing wrong; tests spoil one thing of it.
func valid() *Plan {
	return &Plan{
		Schema: Schema, Targets: []Target{{Spec: "/dev/a"}, {Spec: "/dev/b"}}, Engine: "psync", Direct: true, CompleteMin: 1, Pin: "auto", Seed: 1,
		Phases: []Phase{{Kind: Measure, Points: []Point{{
			Label: "x", Ramp: Duration(time.Second), Runtime: Duration(time.Minute), Interval: Duration(time.Second),
			Streams: []Stream{{
				Label: "s", Workload: workload.Spec{RW: "randrw", BlockSize: 8192, ReadPct: 70}, Targets: []int{0}, Threads: 2, IODepth: 4,
			}},
		}}}},
	}
}

func (p *Plan) firstPoint() *Point   { return &p.Phases[0].Points[0] }
func (p *Plan) firstStream() *Stream { return &p.firstPoint().Streams[0] }

// A plan survives its JSON unchanged: results embed it, and it must be repeatable.
func TestPlanReadsBack(t *testing.T) {
	p := valid()
	p.firstStream().Workload.WorkingSet = unit.Share{Percent: 20}
	p.firstStream().Workload.Offset = unit.Share{Bytes: 1 << 20}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	got := &Plan{}
	if err := json.Unmarshal(text, got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, got); diff != "" {
		t.Errorf("-written +read:\n%s", diff)
	}
}

func TestDurationText(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 90 * time.Second: "1m30s", 250 * time.Millisecond: "250ms", 25 * time.Hour: "25h0m0s",
	} {
		text, err := Duration(d).MarshalText()
		if err != nil || string(text) != want {
			t.Errorf("%v: %s, %v", d, text, err)
		}
		var back Duration
		if err := back.UnmarshalText(text); err != nil || back.D() != d {
			t.Errorf("%s reads back as %v, %v", text, back.D(), err)
		}
	}
	var d Duration
	for text, want := range map[string]time.Duration{"30": 30 * time.Second, "2d": 48 * time.Hour} {
		if err := d.UnmarshalText([]byte(text)); err != nil || d.D() != want {
			t.Errorf("%q: %v, %v", text, d.D(), err)
		}
	}
	for _, text := range []string{"", "x", "-1s", "1x"} {
		if err := d.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: %v, want an error", text, d.D())
		}
	}
}

func TestWrites(t *testing.T) {
	p := valid()
	if !p.Writes(0) || p.Writes(1) {
		t.Errorf("writes to 0: %v, to 1: %v", p.Writes(0), p.Writes(1))
	}
	p.firstStream().Workload.ReadPct = 100
	if p.Writes(0) {
		t.Error("a mix of reads alone writes")
	}
	p.firstPoint().Streams = append(p.firstPoint().Streams, Stream{Workload: workload.Spec{RW: "write", BlockSize: 4096}, Targets: []int{1}})
	if p.Writes(0) || !p.Writes(1) {
		t.Errorf("with a second stream: writes to 0: %v, to 1: %v", p.Writes(0), p.Writes(1))
	}
}

// A plan that trims destroys what is there, and needs no buffers for it.
func TestTrimsAreWrites(t *testing.T) {
	for rw, want := range map[string]struct {
		writes  bool
		buffers int
	}{"read": {false, 1}, "write": {true, 1}, "randrw": {true, 2}, "trim": {true, 0}, "randtrim": {true, 0}, "trimwrite": {true, 1}} {
		p := valid()
		s := p.firstStream()
		s.Workload.RW = rw
		if p.Writes(0) != want.writes || s.BuffersPerSlot() != want.buffers {
			t.Errorf("%s: writes %v, %d buffers a slot; want %+v", rw, p.Writes(0), s.BuffersPerSlot(), want)
		}
	}
}

func TestTime(t *testing.T) {
	p := valid()
	p.Phases = append(p.Phases, p.Phases[0])
	if got := p.Time(); got != 122*time.Second {
		t.Errorf("%v, want two times 1 s + 60 s", got)
	}
}

func TestAutoLabel(t *testing.T) {
	for want, s := range map[string]Stream{
		"randrw 70% read 8k 2T/4Q": *valid().firstStream(),
		"read 512 1T/1Q":           {Workload: workload.Spec{RW: "read", BlockSize: 512, ReadPct: 100}, Threads: 1, IODepth: 1},
		"randwrite 1m 16T/32Q":     {Workload: workload.Spec{RW: "randwrite", BlockSize: 1 << 20}, Threads: 16, IODepth: 32},
		"randread 4k/60:64k/40 zipf:1.2 1T/1Q": {Workload: workload.Spec{
			RW: "randread", BlockSize: 65536, Distribution: workload.Distribution{Kind: workload.Zipf, Param: 1.2},
			BlockSizeSplit: workload.Splits{Read: workload.Split{{Bytes: 4096, Share: 6000}, {Bytes: 65536, Share: 4000}}},
		}, Threads: 1, IODepth: 1},
		"read 4k stride 1m backward 4 streams 1T/1Q": {Workload: workload.Spec{
			RW: "read", BlockSize: 4096, Stride: 1 << 20, Backward: true, SeqStreams: 4,
		}, Threads: 1, IODepth: 1},
	} {
		if got := AutoLabel([]Stream{s}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
