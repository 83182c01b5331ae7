package fioout

import (
	"slices"
	"time"

	"blkstorm/device"
	"blkstorm/host"
)

// Disks watches the kernel's counters of the disks below the targets of a run: a file's are those of the disk
// that its file system lies on, a partition's those of the whole disk, and a device that is made of others (dm,
// md) has theirs beside its own.
type Disks struct {
	roots   host.Roots
	list    []*disk
	started time.Time
}

// disk is the growth of the counters of one.
type disk struct {
	name string
	host.DiskStats
	last  host.DiskStats
	util  float64  // percent
	below []string // what it is made of
}

// Watch begins with what the counters are now.
func Watch(roots host.Roots, targets []*device.Facts) *Disks {
	w := &Disks{roots: roots, started: time.Now()}
	for _, t := range targets {
		name := t.Disk
		if name == "" {
			name = t.Name
		}
		w.add(name)
	}
	return w
}

func (w *Disks) add(name string) {
	if name == "" || slices.ContainsFunc(w.list, func(d *disk) bool { return d.name == name }) {
		return
	}
	now, err := w.roots.DiskStats(name)
	if err != nil {
		return // it has no counters
	}
	d := &disk{name: name, last: now, below: w.roots.Slaves(name)}
	w.list = append(w.list, d)
	for _, below := range d.below {
		w.add(below)
	}
}

// Update takes in how far the counters have come. Some of them wrap around within hours on a busy disk, so
// that it is called from time to time.
func (w *Disks) Update() {
	took := time.Since(w.started)
	for _, d := range w.list {
		now, err := w.roots.DiskStats(d.name)
		if err != nil {
			continue // it is gone; what it did stands
		}
		d.DiskStats = sum(d.DiskStats, now.Since(d.last))
		d.last = now
		if took > 0 {
			d.util = min(100*float64(d.IOTicksMS)/float64(max(took.Milliseconds(), 1)), 100)
		}
	}
}

func sum(a, b host.DiskStats) host.DiskStats {
	return host.DiskStats{
		ReadIOs: a.ReadIOs + b.ReadIOs, ReadMerges: a.ReadMerges + b.ReadMerges, ReadBytes: a.ReadBytes + b.ReadBytes, ReadTimeMS: a.ReadTimeMS + b.ReadTimeMS,
		WriteIOs: a.WriteIOs + b.WriteIOs, WriteMerges: a.WriteMerges + b.WriteMerges, WriteBytes: a.WriteBytes + b.WriteBytes, WriteTimeMS: a.WriteTimeMS + b.WriteTimeMS,
		IOTicksMS: a.IOTicksMS + b.IOTicksMS, TimeInQueueMS: a.TimeInQueueMS + b.TimeInQueueMS,
	}
}

// disks are those that the jobs want to see.
func (in *Input) disks() []*disk {
	if in.Disks == nil || len(in.Work.Clones) == 0 || !in.Work.Clones[0].Job.On("disk_util", true) {
		return nil
	}
	return in.Disks.list
}

// beneath adds up what a disk is made of; its use is that of the busiest.
func (in *Input) beneath(d *disk) (all disk) {
	for _, one := range in.Disks.list {
		if slices.Contains(d.below, one.name) {
			all.DiskStats = sum(all.DiskStats, one.DiskStats)
			all.util = max(all.util, one.util)
		}
	}
	return all
}

func diskUtil(in *Input) (list []any) {
	for _, d := range in.disks() {
		o := object{
			{"name", d.name},
			{"read_ios", d.ReadIOs}, {"write_ios", d.WriteIOs}, {"read_sectors", d.ReadBytes / 512}, {"write_sectors", d.WriteBytes / 512},
			{"read_merges", d.ReadMerges}, {"write_merges", d.WriteMerges}, {"read_ticks", d.ReadTimeMS}, {"write_ticks", d.WriteTimeMS},
			{"in_queue", d.TimeInQueueMS}, {"util", d.util},
		}
		if len(d.below) > 0 {
			a := in.beneath(d)
			o = append(o, object{
				{"aggr_read_ios", a.ReadIOs}, {"aggr_write_ios", a.WriteIOs}, {"aggr_read_sectors", a.ReadBytes / 512}, {"aggr_write_sectors", a.WriteBytes / 512},
				{"aggr_read_merges", a.ReadMerges}, {"aggr_write_merge", a.WriteMerges}, {"aggr_read_ticks", a.ReadTimeMS}, {"aggr_write_ticks", a.WriteTimeMS},
				{"aggr_in_queue", a.TimeInQueueMS}, {"aggr_util", a.util},
			}...)
		}
		list = append(list, o)
	}
	return list
}
