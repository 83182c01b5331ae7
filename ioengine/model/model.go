// Package model is an engine for tests that moves nothing and takes the time of a device that remembers: a
// burst while it is empty, a decay, a steady level.
//
// Tests of what runs points in order hand its Driver to package execute; no plan can name it. The device is
// one server with a queue, shared by all threads: I/Os are served one after the other, each for the time that
// a function gives, whatever this machine is busy with. So the rate over a window is the model's, but for
// what is late at the window's end.
package model

import (
	"sync"
	"time"

	"blkstorm/ioengine"
	"blkstorm/op"
)

// Service is how long a device is busy with an I/O after so many bytes were written to it.
type Service func(written int64, io *ioengine.IO) time.Duration

// Device is the device of a model. It is safe for use by many threads.
type Device struct {
	mu      sync.Mutex
	service Service
	written int64
	free    time.Time // when it will have done all that it was given
}

// New makes a device that nothing was written to.
func New(s Service) *Device { return &Device{service: s} }

// Written is how many bytes it was given to write so far.
func (d *Device) Written() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.written
}

// Driver opens engines that use the device.
func (d *Device) Driver() ioengine.Driver {
	return ioengine.Driver{Name: "model", Dry: true, Open: func(c ioengine.Config) (ioengine.Engine, error) {
		if err := c.Check(); err != nil {
			return nil, err
		}
		return &engine{device: d, slots: c.Slots, queue: make([]job, 0, len(c.Slots))}, nil
	}}
}

// take gives the device an I/O, and says when it will be done.
func (d *Device) take(io *ioengine.IO, now time.Time) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.free.Before(now) {
		d.free = now
	}
	d.free = d.free.Add(d.service(d.written, io))
	if io.Op == op.Write {
		d.written += io.Length
	}
	return d.free
}

// engine is a thread's part: its I/Os are done in the order in which it gave them.
type engine struct {
	device *Device
	slots  []ioengine.IO
	queue  []job
}

type job struct {
	slot uint32
	done time.Time
}

func (e *engine) Info() ioengine.Info { return ioengine.Info{Name: "model"} }

func (e *engine) Cycle(submit []uint32, wait int, limit time.Duration, done []ioengine.Completion) (int, int, error) {
	now := time.Now()
	for _, slot := range submit {
		e.queue = append(e.queue, job{slot, e.device.take(&e.slots[slot], now)})
	}
	if wait = min(wait, len(e.queue)); wait > 0 {
		pause := e.queue[wait-1].done.Sub(now)
		if limit > 0 {
			pause = min(pause, limit)
		}
		ioengine.Sleep(pause)
		now = time.Now()
	}
	n := 0
	for n < len(e.queue) && !e.queue[n].done.After(now) {
		slot := e.queue[n].slot
		done[n] = ioengine.Completion{Slot: slot, Res: e.slots[slot].Length}
		n++
	}
	e.queue = e.queue[:copy(e.queue, e.queue[n:])]
	return len(submit), n, nil
}

func (e *engine) Close() error { return nil }
