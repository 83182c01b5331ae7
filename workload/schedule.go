package workload

import (
	"math"

	"blkstorm/op"
)

// Schedule gives the planned times of I/Os in an open loop, in nanoseconds since its start. It holds
// no state: a state is a number that the caller keeps, so that several threads can share a schedule
// by compare-and-swap. It reads no clock.
type Schedule struct {
	kind   int
	gap    float64 // mean ns from one I/O, or byte, to the next
	bytes  bool    // gap is per byte
	burst  Burst
	seed   uint64
	only   op.Op // the direction, if single
	single bool
}

const (
	byCount   = iota // state: the I/Os before
	byBytes          // state: the bytes before
	byPoisson        // state: the planned time itself
	inBursts         // state: the I/Os before
)

// Op is the only direction that the schedule is for; ok is false if it is for all.
func (s *Schedule) Op() (o op.Op, ok bool) { return s.only, s.single }

// ByBytes says whether an I/O's length matters for what follows it.
func (s *Schedule) ByBytes() bool { return s.bytes }

// First is the state before any I/O.
func (s *Schedule) First(length int64) int64 {
	if s.kind == byPoisson {
		return s.Next(0, length) // a Poisson process begins anywhere, not with an arrival
	}
	return 0
}

// Planned is the time of the next I/O.
func (s *Schedule) Planned(state int64) int64 {
	switch s.kind {
	case byPoisson:
		return state
	case inBursts:
		return bounded(float64(state/s.burst.Count) * float64(s.burst.Every))
	}
	return bounded(float64(state) * s.gap)
}

// Next is the state after an I/O of length bytes.
func (s *Schedule) Next(state, length int64) int64 {
	switch s.kind {
	case byBytes:
		return state + length
	case byPoisson:
		gap := s.gap
		if s.bytes {
			gap *= float64(length)
		}
		// At least 1 ns, so that no time comes twice: the draw depends on it.
		return min(state+max(bounded(s.exponential(state)*gap), 1), maxPlanned)
	}
	return state + 1
}

// exponential draws from the exponential distribution of mean 1, by inversion. The draw is a function
// of seed and state, so that it is the same whichever thread makes it.
func (s *Schedule) exponential(state int64) float64 {
	u := float64(Mix(s.seed^Mix(uint64(state)))>>11+1) / (1 << 53) // in (0,1]
	return -math.Log(u)
}

// Due counts the I/Os that are planned before time end, from state on, each of length bytes; first is
// the planned time of the first of them.
func (s *Schedule) Due(state, end, length int64) (n uint64, first int64) {
	first = s.Planned(state)
	if first >= end {
		return 0, first
	}
	switch s.kind {
	case byPoisson:
		for ; state < end; state = s.Next(state, length) {
			n++
		}
		return n, first
	case inBursts:
		bursts := (end-1)/int64(s.burst.Every) + 1
		return uint64(bursts*s.burst.Count - state), first
	}
	// The estimate is off by at most one or two by rounding; step to where Planned says.
	step := int64(1)
	if s.kind == byBytes {
		step = length
	}
	n = uint64(max((float64(end)/s.gap-float64(state))/float64(step)-2, 0))
	for at := state + int64(n)*step; s.Planned(at) < end; at += step {
		n++
	}
	return n, first
}

func bounded(ns float64) int64 {
	if ns >= maxPlanned {
		return maxPlanned
	}
	return int64(ns + 0.5)
}
