package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"blkstorm/lab/guest/cell"
	"blkstorm/plan"
	"blkstorm/result"
)

// hciDepth is what the procedure keeps in flight on each disk.
const hciDepth = 8

// hciPoints are the points of the procedure, in order.
var hciPoints = []string{
	"4K Random 100% Read", "4K Random 100% Write", "8K Random 70/30", "32K Sequential 100% Read", "32K Sequential 100% Write",
}

// profile runs a published procedure of virtual disks on all disks of a controller at once, in its quick form.
func (a *agent) profile() {
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
		if list, err := devices(); err == nil && len(list) >= len(cell.ProfileBuses)*cell.ProfileDisks {
			break
		}
	}
	for _, bus := range cell.ProfileBuses {
		args := []string{"profile", "run", "hcibench-storagereview", "--quick", "--quiet", "--format", "json", "--destroy"}
		for unit := range cell.ProfileDisks {
			args = append(args, "serial="+cell.ProfileDisk(bus, unit))
		}
		r := blkstorm(args...)
		var doc result.Doc
		err := json.Unmarshal([]byte(r.stdout), &doc)
		if err != nil || r.status != 0 || len(doc.Points) != 1+len(hciPoints) {
			err = fmt.Errorf("exit status %d, %d points: %w: %s", r.status, len(doc.Points), err, short(r.stderr))
			a.cell("profile", "hcibench-storagereview", bus, "FAIL", err)
			continue
		}
		fill := doc.Points[0]
		if want := uint64(cell.ProfileDisks * cell.ProfileBytes); fill.Phase != plan.Fill || fill.Total.Bytes != want {
			err = fmt.Errorf("phase %s wrote %d bytes, want %d", fill.Phase, fill.Total.Bytes, want)
		}
		a.cell("profile", "full-write initialisation", bus, fmt.Sprintf("%d MiB", fill.Total.Bytes>>20), err)
		for i, label := range hciPoints {
			p := doc.Points[1+i]
			a.cell("profile", label, bus, fmt.Sprintf("%.0f IOPS, %.1f ms", p.Total.IOPS, float64(p.Total.Latency.Mean)/1e6), hciPoint(p, label))
		}
	}
}

// hciPoint checks that a point is the one that was published, ran whole, and kept all disks at work.
func hciPoint(p *result.Point, label string) error {
	errs := []error{sums(p)}
	if p.Label != label || !p.Completed || p.Faults > 0 || p.IODepthEffective != hciDepth || len(p.Targets) != cell.ProfileDisks {
		errs = append(errs, fmt.Errorf("%s: completed %v, %d faults, depth %d on %d disks; want %s, whole, depth %d on %d disks",
			p.Label, p.Completed, p.Faults, p.IODepthEffective, len(p.Targets), label, hciDepth, cell.ProfileDisks))
	}
	for _, t := range p.Targets {
		if t.Total.IOs == 0 {
			errs = append(errs, fmt.Errorf("%s: no I/O on %s", label, t.Path))
		}
	}
	return errors.Join(errs...)
}
