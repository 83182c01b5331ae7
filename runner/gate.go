package runner

import (
	"math"
	"sync/atomic"
	"time"

	"blkstorm/plan"
)

// gate keeps streams to their shares of the point's I/Os: none may be further ahead of the others than
// what it keeps in flight. So the shares hold at any time, and the slowest stream for its share sets
// the pace.
type gate struct{ streams []gateStream }

type gateStream struct {
	issued atomic.Int64
	share  float64
	slack  int64
	live   atomic.Int32 // threads; without any it holds back nobody
	_      [64]byte     // streams do not share a cache line
}

// gateNap is how long a stream that is ahead waits before it looks again.
const gateNap = int64(100 * time.Microsecond)

// newGate is nil for a point without shares.
func newGate(p *plan.Point) *gate {
	g := &gate{streams: make([]gateStream, len(p.Streams))}
	shares := false
	for i := range p.Streams {
		s := &p.Streams[i]
		g.streams[i].share = s.Share
		g.streams[i].slack = int64(s.Threads) * int64(s.IODepth) * int64(s.Workers()/s.Threads)
		g.streams[i].live.Store(int32(s.Workers()))
		shares = shares || s.Share > 0
	}
	if !shares {
		return nil
	}
	return g
}

// allow gives stream up to want I/Os, as many as its share has room for.
func (g *gate) allow(stream, want int) int {
	s := &g.streams[stream]
	for {
		mine := s.issued.Load()
		lead := math.Inf(1)
		for i := range g.streams {
			if o := &g.streams[i]; i != stream && o.live.Load() > 0 {
				lead = min(lead, float64(o.issued.Load())/o.share)
			}
		}
		n := int64(want)
		if !math.IsInf(lead, 1) {
			n = min(n, int64(lead*s.share)+s.slack-mine)
		}
		if n <= 0 {
			return 0
		}
		if s.issued.CompareAndSwap(mine, mine+n) {
			return int(n)
		}
	}
}

// leave says that one of the stream's threads has ended.
func (g *gate) leave(stream int) {
	if g != nil {
		g.streams[stream].live.Add(-1)
	}
}
