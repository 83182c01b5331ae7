package runner

import (
	"time"

	"blkstorm/host"
)

// sampler reads the host's counters at the borders of rows and keeps the readings until the row is
// handed on.
type sampler struct {
	run      *run
	start    host.CPUTimes // at the window's start
	began    host.ProcessTimes
	beganAt  int64
	readings map[int64]reading // at the begin of a row
	last     reading
	lastRow  int64
}

type reading struct {
	cpu   host.CPUTimes
	disks []host.DiskStats
	net   host.NetStats
}

func newSampler(r *run) sampler {
	s := sampler{run: r, readings: map[int64]reading{}, lastRow: -1}
	s.began, s.beganAt = host.SelfTimes(), r.clock.now()
	s.read(0)
	s.start = s.last.cpu
	return s
}

// read takes a reading for the begin of row, and of those since the last reading.
func (s *sampler) read(row int64) {
	if row <= s.lastRow {
		return
	}
	now := s.now()
	for i := s.lastRow + 1; i <= row; i++ {
		s.readings[i] = now
	}
	if s.lastRow < s.run.schedule.rampRows && row >= s.run.schedule.rampRows {
		s.start = now.cpu
	}
	s.last, s.lastRow = now, row
}

// final takes the last reading, for the end of the last row.
func (s *sampler) final() { s.last = s.now() }

func (s *sampler) now() reading {
	roots := s.run.cfg.Roots
	var now reading
	// Counters that cannot be read stay zero: no point fails for a statistic beside it.
	now.cpu, _ = roots.CPUTimes()
	now.net, _ = roots.NetStats()
	now.disks = make([]host.DiskStats, len(s.run.cfg.Targets))
	for i := range s.run.cfg.Targets {
		if disk := s.run.cfg.Targets[i].Disk; disk != "" {
			now.disks[i], _ = roots.DiskStats(disk)
		}
	}
	return now
}

// growth is what the counters gained over a row.
func (s *sampler) growth(row int64) Sample {
	before, after := s.readings[row], s.last
	if next, ok := s.readings[row+1]; ok {
		after = next
	}
	delete(s.readings, row)
	sample := Sample{CPU: after.cpu.Since(before.cpu), Net: after.net.Since(before.net)}
	for i := range after.disks {
		if i < len(before.disks) {
			sample.Disks = append(sample.Disks, after.disks[i].Since(before.disks[i]))
		}
	}
	return sample
}

// window is the CPU's share from the window's start until the last reading.
func (s *sampler) window() host.CPUShare { return s.last.cpu.Since(s.start) }

// process is what this process has used since the point began.
func (s *sampler) process() (host.ProcessTimes, time.Duration) {
	return host.SelfTimes().Since(s.began), time.Duration(s.run.clock.now() - s.beganAt)
}
