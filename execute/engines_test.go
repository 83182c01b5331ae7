package execute

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/plan"
	"blkstorm/verdict"
)

// Streams that run together may do so on engines of their own, with or without the page cache, and what that
// comes to is told of each.
func TestStreamsOnEnginesOfTheirOwn(t *testing.T) {
	p := job("randread", plan.Target{Spec: file(t, 1<<20)})
	point := &p.Phases[0].Points[0]
	point.Runtime, point.Interval = plan.Duration(300*time.Millisecond), plan.Duration(100*time.Millisecond)
	through := false
	p.Engine = "libaio"
	point.Streams[0].Label, point.Streams[0].IODepth = "deep", 8
	second := point.Streams[0]
	second.Label, second.Engine, second.Direct, second.Pin = "flat", "psync", &through, firstCPU(t)
	point.Streams = append(point.Streams, second)
	doc, err := carryOut(p, options())
	if err != nil {
		t.Fatal(err)
	}
	got := doc.Points[0]
	deep, flat := got.Streams[0], got.Streams[1]
	if got.EngineName != "libaio" || got.IODepthEffective != 8 || deep.EngineName != "" || deep.IODepthEffective != 8 || flat.EngineName != "psync" || flat.IODepthEffective != 1 {
		t.Errorf("engines %q, %q, %q; depths %d, %d, %d", got.EngineName, deep.EngineName, flat.EngineName, got.IODepthEffective, deep.IODepthEffective, flat.IODepthEffective)
	}
	if deep.Total.IOs == 0 || flat.Total.IOs == 0 {
		t.Errorf("%d and %d I/Os", deep.Total.IOs, flat.Total.IOs)
	}
	if cpu := got.PerThread[1].CPU; got.PerThread[0].CPU != nil || cpu == nil || strconv.Itoa(*cpu) != second.Pin {
		t.Errorf("CPUs %v, %v", got.PerThread[0].CPU, cpu)
	}
	for code, text := range map[string]string{"depth_not_reached": "iodepth 8 was asked and 1 reached by stream flat: engine psync keeps one", "buffered": "page cache"} {
		if !slices.ContainsFunc(got.Warnings, func(w verdict.Warning) bool { return w.Code == code && strings.Contains(w.Message, text) }) {
			t.Errorf("no warning %s with %q: %+v", code, text, got.Warnings)
		}
	}
}

// firstCPU is the first CPU that the test may use.
func firstCPU(t *testing.T) string {
	t.Helper()
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	cpu := 0
	for !allowed.IsSet(cpu) {
		cpu++
	}
	return strconv.Itoa(cpu)
}

// A stream's engine that cannot be set up is an error: it was asked for by name, and another would be none of
// what was asked for.
func TestOwnEngineHasNoFallback(t *testing.T) {
	p := job("randread", plan.Target{Spec: file(t, 1<<20)})
	p.Engine = "auto"
	own := p.Phases[0].Points[0].Streams[0]
	own.Label, own.Engine = "own", "libaio"
	p.Phases[0].Points[0].Streams = append(p.Phases[0].Points[0].Streams, own)
	s, err := Prepare(p, options())
	if err != nil {
		t.Fatal(err)
	}
	bad := broken("libaio")
	s.own["libaio"] = &bad
	if doc, err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "libaio is broken") {
		t.Errorf("%v, %+v", err, doc)
	}
}
