package runner

import (
	"time"

	"blkstorm/host"
)

// sampler reads the host's counters at the borders of rows and keeps the readings until the row is
// handed on. Once it is under way it allocates nothing.
type sampler struct {
	run     *run
	host    *host.Sampler
	start   host.Counters // at the window's start
	began   host.ProcessTimes
	beganAt int64
	borders []*border // in order of their rows
	spare   []*border
	last    host.Counters
	lastRow int64
}

// border is a reading for the begin of a row, and of those before it that have none of their own.
type border struct {
	row      int64
	counters host.Counters
}

func newSampler(r *run) sampler {
	var disks []string
	for i := range r.cfg.Targets {
		disks = append(disks, r.cfg.Targets[i].Disk)
	}
	s := sampler{run: r, host: r.cfg.Roots.NewSampler(disks), lastRow: -1}
	s.began, s.beganAt = host.SelfTimes(), r.clock.now()
	s.read(0)
	s.start.Copy(&s.last)
	return s
}

// read takes a reading for the begin of row, and of those since the last reading.
func (s *sampler) read(row int64) {
	if row <= s.lastRow {
		return
	}
	if len(s.spare) == 0 {
		s.spare = append(s.spare, &border{})
	}
	n := len(s.spare) - 1
	b := s.spare[n]
	s.spare, b.row = s.spare[:n], row
	s.host.Sample(&b.counters)
	s.borders = append(s.borders, b)
	s.last.Copy(&b.counters)
	if s.lastRow < s.run.schedule.rampRows && row >= s.run.schedule.rampRows {
		s.start.Copy(&b.counters)
	}
	s.lastRow = row
}

// final takes the last reading, for the end of the last row.
func (s *sampler) final() { s.host.Sample(&s.last) }

// growth writes into g what the counters gained over row. It is asked for every row once, in order.
func (s *sampler) growth(row int64, g *host.Growth) {
	n := 0
	for n < len(s.borders) && s.borders[n].row < row {
		n++
	}
	s.spare = append(s.spare, s.borders[:n]...)
	s.borders = append(s.borders[:0], s.borders[n:]...)
	before, after := s.reading(row), s.reading(row+1)
	after.Since(before, g)
}

// reading is the one for the begin of row; the last there is, if it has none yet.
func (s *sampler) reading(row int64) *host.Counters {
	for _, b := range s.borders {
		if b.row >= row {
			return &b.counters
		}
	}
	return &s.last
}

// window is the CPU's share from the window's start until the last reading.
func (s *sampler) window() host.CPUShare {
	var g host.Growth
	s.last.Since(&s.start, &g)
	return g.CPU
}

// process is what this process has used since the point began.
func (s *sampler) process() (host.ProcessTimes, time.Duration) {
	return host.SelfTimes().Since(s.began), time.Duration(s.run.clock.now() - s.beganAt)
}

func (s *sampler) close() { s.host.Close() }
