package main

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// signals turns the first SIGINT, SIGTERM, SIGHUP or SIGQUIT into the end of the running point, with a whole
// partial result, and the second into the end of the process, at once.
type signals struct {
	caught atomic.Int32
	first  chan struct{}
}

// signalBase is added to a signal's number to make the exit status, as shells do: 130, 143, 129, 131.
const signalBase = 128

// sameSignal is how long after the first signal others are the same one: timeout(1) sends its own to the
// process and to its group, a few microseconds apart, and service managers do the like. No hand is so quick.
const sameSignal = 250 * time.Millisecond

// catchSignals does as fio does, if asked to: it takes SIGINT and SIGTERM also when whoever started it has them
// ignored, so that a script can end its background jobs. SIGUSR1, at which fio says how far it is, ends nothing.
func catchSignals(asFio bool) *signals {
	s := &signals{first: make(chan struct{})}
	c := make(chan os.Signal, 2)
	for _, number := range []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT} {
		always := asFio && (number == unix.SIGINT || number == unix.SIGTERM)
		if always || !signal.Ignored(number) { // nohup, or a shell's background job
			signal.Notify(c, number)
		}
	}
	// A reader that goes away must not end a run that also writes a folder: writes fail instead.
	signal.Ignore(unix.SIGPIPE)
	if asFio {
		signal.Ignore(unix.SIGUSR1)
	}
	go func() {
		number := (<-c).(unix.Signal)
		s.caught.Store(int32(number))
		close(s.first)
		for at := time.Now(); ; {
			number = (<-c).(unix.Signal)
			if time.Since(at) >= sameSignal {
				os.Exit(signalBase + int(number))
			}
		}
	}()
	return s
}

// context is cancelled by the first signal.
func (s *signals) context(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	go func() {
		select {
		case <-s.first:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

// endAtOnce makes the first signal the end of the process, for commands that only read results: there is nothing to
// bring to an end.
func (s *signals) endAtOnce() {
	if s == nil {
		return
	}
	go func() {
		<-s.first
		os.Exit(s.status())
	}()
}

// status is the exit status of an interrupted command, 0 without a signal.
func (s *signals) status() int {
	if n := s.caught.Load(); n != 0 {
		return signalBase + int(n)
	}
	return 0
}
