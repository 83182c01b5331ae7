package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"blkstorm/lab/guest/cell"
	"blkstorm/result"
)

// disks drives every disk of the matrix by every engine. The disks of a controller run in one call, as
// targets by serial number: it is what users do, and the boot stays short.
func (a *agent) disks() {
	rows := waitForDisks()
	for i := range cell.Controllers {
		c := &cell.Controllers[i]
		var group []cell.Disk
		for _, d := range cell.Disks() {
			if d.Controller.Name != c.Name {
				continue
			}
			row, ok := rows[d.Serial]
			if !ok {
				a.cell("disks", d.Row(), "devices", "missing", fmt.Errorf("the guest has no disk of serial number %s", d.Serial))
				continue
			}
			a.cell("disks", d.Row(), "devices", fmt.Sprintf("%s, %d", row.Controller.Driver, row.Controller.QueueDepth), checkFacts(d, row))
			group = append(group, d)
		}
		for e, engine := range cell.Engines {
			a.reads(group, e, engine)
			a.writes(group, e, engine)
		}
		for _, d := range group {
			a.special(d)
		}
	}
	a.sums(rows)
}

// waitForDisks waits until all are there: SCSI and SAS disks are found some time after the driver loads.
func waitForDisks() map[string]deviceRow {
	found := map[string]deviceRow{}
	for range 40 {
		list, err := devices()
		if err != nil {
			note("%v", err)
		}
		for _, d := range list {
			found[d.Serial] = d
		}
		missing := 0
		for _, d := range cell.Disks() {
			if _, ok := found[d.Serial]; !ok {
				missing++
			}
		}
		if missing == 0 {
			break
		}
		time.Sleep(500 * time.Millisecond)
	}
	return found
}

// checkFacts compares what blkstorm devices says with what the disk was made to be.
func checkFacts(d cell.Disk, row deviceRow) error {
	var bad []string
	want := func(name string, got, want any) {
		if got != want {
			bad = append(bad, fmt.Sprintf("%s is %v, want %v", name, got, want))
		}
	}
	want("driver", row.Controller.Driver, d.Controller.Driver)
	want("queue depth", row.Controller.QueueDepth, d.Controller.Depth)
	want("source of the depth", row.Controller.QueueDepthSource, d.Controller.Source)
	want("depth in sysfs", read("/sys/block/"+row.Name+"/"+d.Controller.Source), fmt.Sprint(d.Controller.Depth))
	want("size", row.SizeBytes, int64(cell.DiskBytes))
	want("logical block", row.LogicalBlockBytes, d.LogicalBlock())
	want("physical block", row.PhysicalBlockBytes, d.PhysicalBlock())
	want("read-only", row.ReadOnly, d.ReadOnly())
	want("safe", row.Safe, !d.ReadOnly())
	if d.ReadOnly() && (len(row.Refusals) == 0 || row.Refusals[0].Code != "read-only") {
		bad = append(bad, fmt.Sprintf("refusals are %v, want read-only", row.Refusals))
	}
	if len(bad) > 0 {
		return fmt.Errorf("%s: %s", row.Path, strings.Join(bad, "; "))
	}
	return nil
}

func targets(group []cell.Disk) []string {
	var list []string
	for _, d := range group {
		list = append(list, "serial="+d.Serial)
	}
	return list
}

func (a *agent) reads(group []cell.Disk, e int, engine string) {
	p, err := load(append([]string{"--engine", engine, "--rw", "randread", "--bs", "4k", "--iodepth", depthOf(engine), "--runtime", "1s",
		"--offset", fmt.Sprint(cell.ZoneStart(e)), "--size", fmt.Sprint(cell.ZoneBytes)}, targets(group)...)...).point(0)
	a.perDisk(group, engine+" read", p, err, func(t *result.Target) error {
		if t.Read.IOs < 10 || t.Read.Bytes != t.Read.IOs*4096 || t.Total.Errors+t.Total.Short > 0 {
			return fmt.Errorf("%d reads, %d bytes, %d errors, %d short", t.Read.IOs, t.Read.Bytes, t.Total.Errors, t.Total.Short)
		}
		return nil
	})
}

// writes goes through the middle of the engine's zone at least once on each disk, with longer runs
// where the machine is too busy for the first.
func (a *agent) writes(group []cell.Disk, e int, engine string) {
	var writable []cell.Disk
	for _, d := range group {
		if d.Writable() {
			writable = append(writable, d)
		}
	}
	const block = 64 << 10
	var p *result.Point
	var err error
	for _, runtime := range []string{"500ms", "2s", "8s", "20s"} {
		p, err = load(append([]string{"--engine", engine, "--rw", "write", "--bs", fmt.Sprint(block), "--iodepth", depthOf(engine), "--runtime", runtime, "--seed", fmt.Sprint(e + 1), "--destroy",
			"--offset", fmt.Sprint(cell.ZoneStart(e) + cell.WriteStart), "--size", fmt.Sprint(cell.WriteBytes)}, targets(writable)...)...).point(0)
		if err != nil || wentRound(p, cell.WriteBytes/block) {
			break
		}
	}
	a.perDisk(writable, engine+" write", p, err, func(t *result.Target) error {
		if t.Write.IOs == 0 || t.Read.IOs != 0 || t.Total.Errors+t.Total.Short > 0 {
			return fmt.Errorf("%d writes, %d reads, %d errors, %d short", t.Write.IOs, t.Read.IOs, t.Total.Errors, t.Total.Short)
		}
		return nil
	})
}

func wentRound(p *result.Point, blocks uint64) bool {
	for _, t := range p.PerThread {
		if t.Issued.Write < blocks {
			return false
		}
	}
	return true
}

// perDisk gives each disk of a run its cell.
func (a *agent) perDisk(group []cell.Disk, column string, p *result.Point, err error, check func(*result.Target) error) {
	for i, d := range group {
		text, e := "FAIL", err
		if e == nil {
			if len(p.Targets) != len(group) {
				e = fmt.Errorf("%d targets in the result, want %d", len(p.Targets), len(group))
			} else {
				text, e = fmt.Sprintf("%.0f", p.Targets[i].Total.IOPS), check(p.Targets[i])
			}
		}
		a.cell("disks", d.Row(), column, text, e)
	}
}

func depthOf(engine string) string {
	if engine == "psync" {
		return "1"
	}
	return "4"
}

// special asks what only this kind of disk can answer.
func (a *agent) special(d cell.Disk) {
	target := "serial=" + d.Serial
	zone := []string{"--offset", fmt.Sprint(cell.ZoneStart(0)), "--size", fmt.Sprint(cell.ZoneBytes), target}
	switch {
	case d.ReadOnly():
		err := load(append([]string{"--rw", "randwrite", "--destroy"}, zone...)...).refused("read-only")
		a.cell("disks", d.Row(), "guard", "read-only", err)
	case !d.Writable():
		// A disk that reads well and fails every write: the image takes each grain once.
		r := load(append([]string{"--rw", "randwrite", "--destroy", "--runtime", "1s"}, zone...)...)
		p, err := r.point(3)
		text := "FAIL"
		if err == nil && (len(p.Errors) == 0 || p.Errors[0].Errno == 0 || p.Errors[0].Op != "write" || p.Errors[0].Target == "") {
			err = fmt.Errorf("errors are %+v, want those of writes, with errno and target", p.Errors)
		} else if err == nil {
			text = "fails by " + p.Errors[0].Name
		}
		a.cell("disks", d.Row(), "guard", text, err)
	case d.Kind == cell.Native4K:
		r := load(append([]string{"--rw", "randread", "--bs", "512"}, zone...)...)
		var err error
		if r.status != 1 || !strings.Contains(r.stderr, "4096") {
			err = fmt.Errorf("reads of 512 bytes: exit status %d, want 1 and the block of 4096 named: %s", r.status, short(r.stderr))
		}
		a.cell("disks", d.Row(), "guard", "512 B refused", err)
	default:
		err := load(append([]string{"--rw", "randwrite"}, zone...)...).refused("consent")
		a.cell("disks", d.Row(), "guard", "consent", err)
	}
}

// sums reads all zones back past the page cache, by other code than blkstorm's.
func (a *agent) sums(rows map[string]deviceRow) {
	all := map[string]uint64{}
	for _, d := range cell.Disks() {
		row, ok := rows[d.Serial]
		if !ok {
			continue
		}
		for e := range cell.Engines {
			buf, err := readDirect(row.Path, cell.ZoneStart(e), cell.ZoneBytes)
			if err != nil {
				note("%s: %v", d.Row(), err)
				continue
			}
			all[cell.SumKey(d.Serial, e)] = cell.Sum(buf)
			_ = unix.Munmap(buf)
		}
	}
	a.send(cell.Line{Sums: all})
}

func readDirect(path string, offset, size int64) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECT, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buf, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		return nil, err
	}
	const chunk = 512 << 10
	for at := int64(0); at < size; at += chunk {
		if n, err := f.ReadAt(buf[at:at+chunk], offset+at); n != chunk {
			return nil, fmt.Errorf("%s: read at %d: %d bytes, %w", path, offset+at, n, err)
		}
	}
	return buf, nil
}
