package uring

import (
	"slices"
	"strings"
	"testing"

	"blkstorm/ioengine"
	"blkstorm/ioengine/enginetest"
	"blkstorm/lab"
	"blkstorm/op"
)

// bare rings are those of kernels with nothing beyond 5.6: waits are bounded by ppoll, and block devices
// are trimmed in the thread.
func bare(t *testing.T, test func(*testing.T, ioengine.Driver)) {
	for name, o := range map[string]Options{"plain": {bare: true}, "SQPOLL": {bare: true, SQPoll: true}} {
		t.Run(name, func(t *testing.T) { test(t, Driver(o)) })
	}
}

func TestBareTrims(t *testing.T)         { bare(t, enginetest.Trims) }
func TestBareFailures(t *testing.T)      { bare(t, enginetest.Failures) }
func TestBareMix(t *testing.T)           { bare(t, enginetest.Mix) }
func TestBareStorm(t *testing.T)         { bare(t, enginetest.Storm) }
func TestBareLimits(t *testing.T)        { bare(t, enginetest.Limits) }
func TestBareDoneAtOnce(t *testing.T)    { bare(t, enginetest.DoneAtOnce) }
func TestBareFrozen(t *testing.T)        { bare(t, enginetest.Frozen) }
func TestBareNoAllocations(t *testing.T) { bare(t, enginetest.NoAllocations) }

// What does the work is said in features when it is asynchronous, and in notes when it is not.
func TestInfoOfOperations(t *testing.T) {
	loop := func(t *testing.T) string { return lab.Loop(t, 1<<20, lab.LoopOptions{}) }
	file := func(t *testing.T) string { return lab.File(t, 1<<20) }
	zram := func(t *testing.T) string { return lab.Zram(t, 1<<20) }
	trims := [op.Count]bool{op.Trim: true}
	for _, c := range []struct {
		name   string
		target func(*testing.T) string
		o      Options
		ops    [op.Count]bool
		flags  ioengine.Flags
		want   string // a feature, or the beginning of a note
	}{
		{"reads", loop, Options{}, [op.Count]bool{op.Read: true}, 0, ""},
		{"trims", loop, Options{}, trims, 0, "discard commands"},
		{"trims of an old kernel", loop, Options{bare: true}, trims, 0, "trims one at a time in the calling thread: io_uring of this kernel"},
		{"trims where nothing is without blocking", zram, Options{}, trims, 0, "discards in kernel workers"},
		{"trims of a file", file, Options{}, trims, 0, "punched holes in kernel workers"},
		{"zeroes", loop, Options{}, trims, ioengine.Zeroes, "write zeroes in kernel workers"},
		{"syncs", file, Options{}, [op.Count]bool{op.Sync: true}, 0, "syncs in kernel workers"},
		{"polled", loop, Options{IOPoll: true}, trims, 0, "discards one at a time in the calling thread: a polled ring"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := enginetest.OpenFor(t, Driver(c.o), c.target(t), 1, 2, ioengine.Config{Ops: c.ops, Flags: c.flags})
			info := b.Engine.Info()
			var said []string
			for _, line := range slices.Concat(info.Features, info.Notes) {
				for _, word := range []string{"discard", "trims", "hole", "zeroes", "syncs"} {
					if strings.Contains(line, word) {
						said = append(said, line)
						break
					}
				}
			}
			if c.want == "" && len(said) > 0 || c.want != "" && (len(said) != 1 || !strings.HasPrefix(said[0], c.want)) {
				t.Errorf("it says %q, want %q", said, c.want)
			}
		})
	}
}

// A polled ring takes no trims and syncs: the thread does them.
func TestPolledRingTrims(t *testing.T) {
	d := Driver(Options{IOPoll: true})
	b := enginetest.Open(t, d, lab.Loop(t, 1<<20, lab.LoopOptions{}), 4)
	b.Each(t, []ioengine.IO{
		{Op: op.Trim, Length: 4096}, {Op: op.Trim, Flags: ioengine.Zeroes, Length: 4096},
		{Op: op.Sync}, {Op: op.Sync, Flags: ioengine.DataOnly},
	})
}
