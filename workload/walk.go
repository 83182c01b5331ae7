package workload

import "fmt"

// lane is one sequential stream in one direction. Its cursor counts from the lane's start, or
// backward from its end.
type lane struct{ start, length, cursor int64 }

// walk gives the offsets of the sequential streams that one thread has in one direction, in turns.
type walk struct {
	lanes    []lane
	turn     int
	stride   int64 // from the start of one I/O to that of the next; 0: they touch
	backward bool
	whole    bool // the last I/O of a lane may be shorter
}

// newWalk cuts the range into a lane per stream and takes those of the thread. roaming lanes, which
// random jumps lead out of their slice, begin there and use the whole range.
func newWalk(s *Spec, r Range, thread, threads int, roaming bool) (walk, error) {
	streams := max(s.SeqStreams, threads)
	if streams%threads != 0 {
		return walk{}, fmt.Errorf("--seq-streams %d: must be a multiple of --threads %d, so that all streams are fed alike", streams, threads)
	}
	if r.Blocks < int64(streams) && !(s.Whole && streams == 1) {
		if streams == threads {
			return walk{}, fmt.Errorf("sequential range of %d blocks cannot be cut into slices for %d threads; lower --threads or --bs, or widen the range", r.Blocks, threads)
		}
		return walk{}, fmt.Errorf("--seq-streams %d: the range has only %d blocks", streams, r.Blocks)
	}
	w := walk{stride: s.Stride, backward: s.Backward, whole: s.Whole}
	each := streams / threads
	for i := thread * each; i < (thread+1)*each; i++ {
		slice := r.Slice(s.BlockSize, i, streams)
		l := lane{start: slice.Start - r.Start, length: slice.Length}
		if w.stride >= l.length {
			return walk{}, fmt.Errorf("--stride %s: must be shorter than each stream's slice of the range, %s", bytesText(w.stride), bytesText(l.length))
		}
		if roaming {
			l = lane{length: r.Length, cursor: l.start}
		}
		w.lanes = append(w.lanes, l)
	}
	return w, nil
}

// next is the lane whose turn it is.
func (w *walk) next() *lane {
	l := &w.lanes[w.turn]
	if w.turn++; w.turn == len(w.lanes) {
		w.turn = 0
	}
	return l
}

// fit is how long the lane's next I/O is, of those of size bytes. At its end the lane begins again, with
// an I/O that is never longer than the lane: one that is shorter than a block has no other.
func (w *walk) fit(l *lane, size int64) int64 {
	if !w.whole {
		return size
	}
	rest := l.length - l.cursor
	if rest <= 0 {
		rest = l.length
	}
	return min(size, rest)
}

// step is where the lane's next I/O goes, of size bytes. Where it would not fit before the lane's end
// the lane begins again.
func (w *walk) step(l *lane, size int64) int64 {
	if l.cursor+size > l.length {
		l.cursor = 0
	}
	at := l.cursor
	w.advance(l, size)
	if w.backward {
		at = l.length - at - size
	}
	return l.start + at
}

// jump lets the lane go on from a random I/O at offset.
func (w *walk) jump(l *lane, offset, size int64) {
	l.cursor = offset - l.start
	if w.backward {
		l.cursor = l.length - l.cursor - size
	}
	w.advance(l, size)
}

func (w *walk) advance(l *lane, size int64) {
	if w.stride > 0 {
		l.cursor += w.stride
	} else {
		l.cursor += size
	}
}

// blocks is how many blocks of size bytes the lanes hold, with a shorter one at the end where that is
// used.
func (w *walk) blocks(size int64) (n int64) {
	for i := range w.lanes {
		n += w.lanes[i].length / size
		if w.whole && w.lanes[i].length%size > 0 {
			n++
		}
	}
	return n
}
