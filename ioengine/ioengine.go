// Package ioengine is the door to the kernel: one small interface that moves batches of I/Os, and
// what an engine says of itself. The engines are its subpackages; registry lists them and picks one.
//
// The runner calls it, from one locked OS thread per engine. An engine knows nothing of workloads,
// time or statistics: it never looks at a clock and never decides what to issue. This tree is the
// only place in the project for unsafe pointers and raw system calls in the hot path.
package ioengine

import (
	"errors"
	"fmt"
	"time"

	"blkstorm/op"
)

// IO is one slot: the I/O that the runner prepared and the engine carries out. The runner owns it
// until its slot number is handed to Cycle, the engine until the slot's Completion comes back.
type IO struct {
	Offset int64  // byte offset on the target
	Length int64  // bytes that it concerns: all of them are done when Completion.Res is this; 0 for a sync
	Buf    []byte // Length bytes inside Config.Region for a read or write, nothing otherwise
	File   int32  // index into Config.Files
	Op     op.Op
	Flags  Flags
}

// Flags say what kind of write, trim or sync an I/O is.
type Flags = op.Flags

// The flags, as engines name them.
const (
	Durable  = op.Durable
	Zeroes   = op.Zeroes
	DataOnly = op.DataOnly
)

// Completion is one finished I/O.
type Completion struct {
	Slot uint32 // index into Config.Slots
	Res  int64  // bytes moved or trimmed (more than 32 bits of these), 0 for a sync that went well, or a negated errno
}

// Config is what an engine is opened with. Files, Slots and Region stay valid and in place until
// Close has returned.
type Config struct {
	Files  []int  // descriptors of the targets
	Slots  []IO   // every I/O that can be in flight at once; len is the queue depth
	Region []byte // the memory that holds all buffers, page-aligned and outside the Go heap
	Stride int    // Region is cut into buffers of this many bytes
	// What all engines of the point need together, for limits that count them so.
	TotalBytes int64 // of buffers
	TotalDepth int   // slots
	// What will be issued, and with which flags. An I/O that is not announced works too, perhaps less
	// well; and what an engine says of itself is about the announced ones.
	Ops   [op.Count]bool
	Flags Flags
}

// Info is what an engine says of itself for the result.
type Info struct {
	Name     string   `json:"name"`
	Features []string `json:"features,omitempty"` // kernel features in use, e.g. "registered buffers"
	Notes    []string `json:"notes,omitempty"`    // what was wanted and is not in use, with the reason: "engine X runs ..."
}

// Engine keeps I/Os in flight for one thread. It is used by one OS thread only, the one that opened
// it, and is not safe for concurrent use.
type Engine interface {
	// Info says what is in use.
	Info() Info
	// Cycle hands the slots listed in submit to the kernel and returns when at least wait I/Os have
	// completed or limit has passed (0: no limit), or earlier (a signal, a short submit, an engine
	// that cannot wait): the caller goes round. It fills done, which has room for every slot, and
	// returns how many of submit were taken (a prefix) and how many completions are in done. An error
	// means that the engine itself failed, not an I/O: an I/O's failure is a negative Res. Cycle does
	// not allocate.
	//
	// limit bounds the wait only. What an engine does in the calling thread (its Info tells) takes as
	// long as it takes, and counts towards wait. A thread for which limits matter calls
	// PreciseTimers first, and Sleep while it has nothing in flight.
	Cycle(submit []uint32, wait int, limit time.Duration, done []Completion) (submitted, completed int, err error)
	// Close frees the engine. I/Os still in flight are the caller's mistake.
	Close() error
}

// Driver opens engines of one kind.
type Driver struct {
	Name string
	// MaxDepth is the most I/Os that one engine can keep in flight; 0 is no limit. A synchronous
	// engine has 1.
	MaxDepth int
	// Dry marks an engine that never touches the target, so that nothing can be destroyed with it.
	Dry bool
	// Probe says whether engines of this kind can be set up and used on this machine; nil means that
	// there is nothing to ask.
	Probe func() error
	// Fits says whether the system has room for engines of slots I/Os in all; nil means that there is
	// no such limit. It is asked before anything is set up.
	Fits func(slots int) error
	// Open makes an engine in the calling thread.
	Open func(Config) (Engine, error)
}

// OpenError says that an engine could not be set up for a target; nothing was issued.
type OpenError struct {
	Engine, Target string
	Err            error
}

func (e *OpenError) Error() string {
	return fmt.Sprintf("%s: engine %s: %v", e.Target, e.Engine, e.Err)
}

// Unwrap gives the engine's own error.
func (e *OpenError) Unwrap() error { return e.Err }

// ErrUnknown is the error for an engine name that the registry does not have.
var ErrUnknown = errors.New("unknown engine")

// Check says what is wrong with a configuration, before an engine relies on it.
func (c *Config) Check() error {
	if len(c.Slots) == 0 {
		return errors.New("no slots: an engine needs a queue depth of at least 1")
	}
	if len(c.Files) == 0 {
		return errors.New("no files: an engine needs at least one target")
	}
	for i := range c.Slots {
		if file := int(c.Slots[i].File); file < 0 || file >= len(c.Files) {
			return fmt.Errorf("slot %d names file %d of %d", i, file, len(c.Files))
		}
	}
	return nil
}
