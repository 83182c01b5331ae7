package merge

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"blkstorm/histogram"
	"blkstorm/host"
	"blkstorm/result"
)

// allTargets stands in a merged log for the targets of all machines.
const allTargets = "all"

// series writes the rows of the time in common, and their histograms, into the folder: for each point whose
// intervals are the same in all members, or which was cut and has equally long ones. Of what was cut, row k
// has the k-th interval of every member, so that its intervals begin up to one of their lengths later than
// it says. The members' files are gone through side by side; each takes two descriptors for that time.
func (m *merger) series(d *result.Doc) error {
	walkers := map[*member]*memberWalk{}
	defer func() {
		for _, w := range walkers {
			w.close()
		}
	}()
	out := &rowSum{folder: m.options.Folder}
	for i, p := range m.order {
		gave := p.giving()
		for _, r := range p.window.rows {
			for k := range r.n {
				out.begin(p, d.Points[i].Label, i, r.start+int64(k)*r.length, r.length)
				for _, part := range gave {
					w := walkers[part.member]
					if w == nil || w.passed > part.at {
						if w != nil {
							w.close()
						}
						w = &memberWalk{walker: newWalker(part.member.files)}
						walkers[part.member] = w
					}
					if err := w.interval(p, part, out); err != nil {
						return err
					}
				}
				if err := out.write(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// memberWalk is a walk through one member's files, up to an interval.
type memberWalk struct {
	*walker
	passed int // the point
	taken  int // intervals of it
}

// interval adds the part's next interval of the window to the row.
func (w *memberWalk) interval(p *point, part *part, out *rowSum) error {
	for {
		sl, err := w.next()
		if err != nil {
			return err
		}
		if sl == nil {
			return errors.New(part.member.path + ": its files have changed while they were read")
		}
		if sl.row.Point != w.passed {
			w.passed, w.taken = sl.row.Point, 0
		}
		if sl.row.Point != part.at || !p.window.takes(sl.row, part.series.unit, w.taken) {
			continue
		}
		if !sl.whole { // it was when the windows were cut
			return fmt.Errorf("%s: %s; is the limit on open files (ulimit -n) under twice the number of members?", part.member.path, w.lost)
		}
		w.taken++
		return out.add(sl)
	}
}

// rowSum is a row of all members while it is added up.
type rowSum struct {
	folder  *result.Folder
	row     result.Interval
	start   time.Time
	length  time.Duration
	point   *point
	members int
	dirs    [3]histogram.Histogram
	streams map[string]*[4]histogram.Histogram
	line    histogram.Histogram
	one     [3]histogram.Histogram // a single member's
}

// begin begins the row of an interval that starts at from and is length long, in nanoseconds.
func (r *rowSum) begin(p *point, label string, index int, from, length int64) {
	r.point, r.members = p, 0
	r.start, r.length = unixNano(from), time.Duration(length)
	r.row = result.Interval{
		Point: index, Label: label, TS: float64(from-p.window.rows[0].start) / 1e9, StartUnixNS: from, LengthS: r.length.Seconds(), DiskStats: []*host.DiskStats{},
	}
	for d := range r.dirs {
		r.dirs[d].Reset()
	}
	if r.streams == nil {
		r.streams = map[string]*[4]histogram.Histogram{}
	}
	for _, s := range r.streams {
		for d := range s {
			s[d].Reset()
		}
	}
}

// add takes in one member's interval.
func (r *rowSum) add(sl *slice) error {
	in := sl.row
	r.members++
	for d := range r.one {
		r.one[d].Reset()
	}
	for _, l := range sl.lines {
		if err := l.Decode(&r.line); err != nil {
			return err // it was read before
		}
		d := directionOf(l.Direction)
		if d != syncs {
			r.one[d].Merge(&r.line)
		}
		if r.streams[l.Stream] == nil {
			r.streams[l.Stream] = new([4]histogram.Histogram)
		}
		r.streams[l.Stream][d].Merge(&r.line)
	}
	from := [...]*result.IntervalStat{&in.Read, &in.Write, &in.Trim}
	for d, to := range [...]*result.IntervalStat{&r.row.Read, &r.row.Write, &r.row.Trim} {
		restore(&r.one[d], from[d])
		r.dirs[d].Merge(&r.one[d])
		to.Bytes = plus(to.Bytes, from[d].Bytes)
		to.Errors, to.Short, to.Zero = plus(to.Errors, from[d].Errors), plus(to.Short, from[d].Short), plus(to.Zero, from[d].Zero)
	}
	r.row.InFlight += max(0, in.InFlight)
	r.row.Net.RxBytes, r.row.Net.TxBytes = plus(r.row.Net.RxBytes, in.Net.RxBytes), plus(r.row.Net.TxBytes, in.Net.TxBytes)
	c := &r.row.CPU
	c.UserPct += in.CPU.UserPct
	c.SystemPct += in.CPU.SystemPct
	c.IOWaitPct += in.CPU.IOWaitPct
	c.StealPct += in.CPU.StealPct
	return nil
}

// write appends the row to the folder's files.
func (r *rowSum) write() error {
	n := float64(max(r.members, 1))
	c := &r.row.CPU
	c.UserPct, c.SystemPct, c.IOWaitPct, c.StealPct = c.UserPct/n, c.SystemPct/n, c.IOWaitPct/n, c.StealPct/n
	r.row.StealPct = c.StealPct
	for d, to := range [...]*result.IntervalStat{&r.row.Read, &r.row.Write, &r.row.Trim} {
		h := &r.dirs[d]
		to.IOs, to.Min, to.Max = h.Count(), h.Min(), h.Max()
		to.Mean = round(h.Mean())
		to.StdDev = min(round(h.StdDev()), (h.Max()-h.Min())/2)
		to.P50, to.P95, to.P99 = h.Percentile(50), h.Percentile(95), h.Percentile(99)
	}
	row := r.row
	if err := r.folder.Interval(&row); err != nil {
		return err
	}
	for i, st := range r.point.streams {
		dirs := r.streams[st.name]
		for d, direction := range directions {
			if dirs == nil || dirs[d].Count() == 0 {
				continue
			}
			name := st.meta.Label
			if name == "" {
				name = strconv.Itoa(i)
			}
			if err := r.folder.Histogram(r.row.Point, name, allTargets, direction, r.start, r.length, &dirs[d]); err != nil {
				return err
			}
		}
	}
	return nil
}

// restore puts a row's exact figures into a histogram. Ones that contradict it are passed over: then those
// of the buckets hold, which are up to 0.1 % off.
func restore(h *histogram.Histogram, s *result.IntervalStat) {
	_ = h.Restore(s.Min, s.Max, float64(s.Mean), math.Min(float64(s.StdDev), float64(s.Max-s.Min)/2)) // see above
}
