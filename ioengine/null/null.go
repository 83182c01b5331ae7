// Package null is the engine that moves nothing: every I/O completes at once with its full length.
//
// It measures what blkstorm itself costs and lets the runner be tested without a device. It is never
// chosen by auto, and never touches the target.
package null

import (
	"time"

	"blkstorm/ioengine"
)

// Driver opens null engines.
var Driver = ioengine.Driver{Name: "null", Dry: true, Open: open}

type engine struct{ slots []ioengine.IO }

func open(c ioengine.Config) (ioengine.Engine, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	return &engine{slots: c.Slots}, nil
}

func (e *engine) Info() ioengine.Info { return ioengine.Info{Name: Driver.Name} }

func (e *engine) Cycle(submit []uint32, _ int, _ time.Duration, done []ioengine.Completion) (int, int, error) {
	for i, slot := range submit {
		done[i] = ioengine.Completion{Slot: slot, Res: e.slots[slot].Length}
	}
	return len(submit), len(submit), nil
}

func (e *engine) Close() error { return nil }
