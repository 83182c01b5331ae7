package registry

import (
	"fmt"
	"testing"
	"time"

	"blkstorm/ioengine"
	"blkstorm/ioengine/enginetest"
)

// each runs a test of package enginetest for every engine that moves data.
func each(t *testing.T, test func(*testing.T, ioengine.Driver)) {
	for _, d := range engines() {
		t.Run(d.Name, func(t *testing.T) { test(t, d) })
	}
}

// asynchronous leaves out the engines that have nothing to wait for.
func asynchronous(test func(*testing.T, ioengine.Driver)) func(*testing.T, ioengine.Driver) {
	return func(t *testing.T, d ioengine.Driver) {
		if d.MaxDepth != 1 {
			test(t, d)
		}
	}
}

func TestTrims(t *testing.T)      { each(t, enginetest.Trims) }
func TestLongTrims(t *testing.T)  { each(t, enginetest.LongTrims) }
func TestFailures(t *testing.T)   { each(t, enginetest.Failures) }
func TestDurability(t *testing.T) { each(t, enginetest.Durability) }
func TestMix(t *testing.T)        { each(t, enginetest.Mix) }
func TestStorm(t *testing.T)      { each(t, enginetest.Storm) }
func TestLimits(t *testing.T)     { each(t, asynchronous(enginetest.Limits)) }
func TestFrozen(t *testing.T)     { each(t, asynchronous(enginetest.Frozen)) }
func TestDoneAtOnce(t *testing.T) { each(t, asynchronous(enginetest.DoneAtOnce)) }

func TestNoAllocations(t *testing.T) {
	each(t, enginetest.NoAllocations)
	null := drivers(Options{})[3]
	t.Run(null.Name, func(t *testing.T) { enginetest.NoAllocations(t, null) })
}

// BenchmarkWakes is how late bounded waits end, per engine, and Sleep.
func BenchmarkWakes(b *testing.B) {
	for _, limit := range []time.Duration{100 * time.Microsecond, time.Millisecond} {
		for _, d := range engines() {
			if d.MaxDepth != 1 {
				b.Run(fmt.Sprintf("%s %v", d.Name, limit), func(b *testing.B) { enginetest.Wakes(b, d, limit) })
			}
		}
		b.Run(fmt.Sprintf("Sleep %v", limit), func(b *testing.B) {
			enginetest.ReportWakes(b, limit, func() { ioengine.Sleep(limit) })
		})
	}
}
