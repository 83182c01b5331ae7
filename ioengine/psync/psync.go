// Package psync is the synchronous engine: one system call per I/O, one I/O at a time (see package
// blocking for which).
//
// It works on every kernel and every kind of target, and is what auto falls back to last. A thread
// that uses it reaches queue depth 1, whatever was asked: depth comes from threads only. It has
// nothing to wait for, so a limit to the wait means nothing to it.
package psync

import (
	"time"

	"blkstorm/ioengine"
	"blkstorm/ioengine/blocking"
)

// Driver opens psync engines.
var Driver = ioengine.Driver{Name: "psync", MaxDepth: 1, Open: open}

type engine struct {
	targets []blocking.Target
	slots   []ioengine.IO
}

func open(c ioengine.Config) (ioengine.Engine, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	targets, err := blocking.Targets(c.Files)
	if err != nil {
		return nil, err
	}
	return &engine{targets: targets, slots: c.Slots}, nil
}

func (e *engine) Info() ioengine.Info { return ioengine.Info{Name: Driver.Name} }

// Cycle carries out submit one after the other, so that with more than one slot the later ones wait
// for the earlier; the runner hands it one slot at a time (MaxDepth).
func (e *engine) Cycle(submit []uint32, _ int, _ time.Duration, done []ioengine.Completion) (int, int, error) {
	for i, slot := range submit {
		io := &e.slots[slot]
		done[i] = ioengine.Completion{Slot: slot, Res: blocking.Do(&e.targets[io.File], io)}
	}
	return len(submit), len(submit), nil
}

func (e *engine) Close() error { return nil }
