package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"blkstorm/lab/guest/cell"
)

// runProfile boots a VM of a hyperconverged cluster: its virtual disks are behind PVSCSI and LSI SAS.
func runProfile(ctx context.Context, l *lab) ([]cell.Cell, time.Duration, error) {
	dir := filepath.Join(l.work, "profile-disks")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, 0, err
	}
	args := []string{"-device", "pvscsi,id=pvscsi", "-device", "mptsas1068,id=mptsas"}
	for _, bus := range cell.ProfileBuses {
		for unit := range cell.ProfileDisks {
			serial := cell.ProfileDisk(bus, unit)
			image := filepath.Join(dir, serial+".vmdk")
			if _, err := output("", "qemu-img", "create", "-q", "-f", "vmdk", image, fmt.Sprint(cell.ProfileBytes)); err != nil {
				return nil, 0, err
			}
			dev := fmt.Sprintf("scsi-hd,bus=%s.0,scsi-id=%d,drive=%s,serial=%s", bus, unit, serial, serial)
			if bus == "mptsas" {
				// The WWN is the SAS address: without one the phy counts as empty and the disk is never seen.
				dev += fmt.Sprintf(",wwn=0x5000c500765432%02x", 0x10+unit)
			}
			args = append(args, "-drive", fmt.Sprintf("if=none,id=%s,file=%s,format=vmdk", serial, image), "-device", dev)
		}
	}
	m := &machine{scenario: "profile", kernel: l.kernel, modules: []string{"sd_mod", "vmw_pvscsi", "mptsas"}, memory: "512M",
		append: "tsc=reliable", qemu: args, payload: l.payload.bytes(), timeout: 5 * time.Minute}
	return m.cells(ctx, l)
}
