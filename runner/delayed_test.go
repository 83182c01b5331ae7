package runner

import (
	"sync"
	"time"

	"blkstorm/ioengine"
)

// delayed is a device in memory: each I/O takes latency, and what is in flight or comes during a stall
// is answered after it. All threads of a point share it.
type delayed struct {
	latency    time.Duration
	stall, end time.Duration // since the first I/O
	once       sync.Once
	began      time.Time
}

func (d *delayed) driver() *ioengine.Driver {
	return &ioengine.Driver{Name: "delayed", Open: func(c ioengine.Config) (ioengine.Engine, error) {
		return &delayedEngine{device: d, c: c, due: make([]time.Time, len(c.Slots))}, nil
	}}
}

type delayedEngine struct {
	device *delayed
	c      ioengine.Config
	due    []time.Time // per slot; zero: not in flight
}

func (e *delayedEngine) Info() ioengine.Info { return ioengine.Info{Name: "delayed"} }

func (e *delayedEngine) Close() error { return nil }

func (e *delayedEngine) Cycle(submit []uint32, wait int, limit time.Duration, done []ioengine.Completion) (int, int, error) {
	d := e.device
	now := time.Now()
	d.once.Do(func() { d.began = now })
	for _, slot := range submit {
		e.due[slot] = d.answer(now)
	}
	stop := now.Add(limit)
	for {
		n := 0
		var next time.Time
		now = time.Now()
		for slot := range e.due {
			switch due := e.due[slot]; {
			case due.IsZero():
			case !due.After(now):
				done[n] = ioengine.Completion{Slot: uint32(slot), Res: e.c.Slots[slot].Length}
				e.due[slot] = time.Time{}
				n++
			case next.IsZero() || due.Before(next):
				next = due
			}
		}
		if n >= wait || next.IsZero() || limit > 0 && !now.Before(stop) {
			return len(submit), n, nil
		}
		if limit > 0 && next.After(stop) {
			next = stop
		}
		ioengine.Sleep(time.Until(next)) // time.Sleep is a millisecond late and more
	}
}

// answer is when an I/O that comes at time now is complete.
func (d *delayed) answer(now time.Time) time.Time {
	due := now.Add(d.latency)
	if from, to := d.began.Add(d.stall), d.began.Add(d.end); due.After(from) && due.Before(to) {
		return to
	}
	return due
}
