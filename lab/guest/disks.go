package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"blkstorm/lab/guest/cell"
)

// image is where a disk's VMDK lies: a folder of its own, since the split and flat kinds are several
// files whose names the descriptor holds.
func image(work string, d cell.Disk) string {
	return filepath.Join(work, "disks", d.Serial, "disk.vmdk")
}

// makeDisks makes the images of the whole matrix, with the old data in their zones.
func makeDisks(work string) error {
	raw := filepath.Join(work, "base.raw")
	f, err := os.Create(raw)
	if err != nil {
		return err
	}
	defer os.Remove(raw)
	defer f.Close()
	if err := f.Truncate(cell.DiskBytes); err != nil {
		return err
	}
	for e := range cell.Engines {
		if _, err := f.WriteAt(cell.OldData(e), cell.ZoneStart(e)); err != nil {
			return err
		}
	}
	for _, format := range cell.Formats {
		master := filepath.Join(work, "master", format)
		if err := os.MkdirAll(master, 0o755); err != nil {
			return err
		}
		if _, err := output(master, "qemu-img", "convert", "-f", "raw", "-O", "vmdk", "-o", "subformat="+format, raw, "disk.vmdk"); err != nil {
			return err
		}
		for _, d := range cell.Disks() {
			if d.Format() != format {
				continue
			}
			dir := filepath.Dir(image(work, d))
			if err := os.MkdirAll(dir, 0o755); err != nil {
				return err
			}
			if _, err := output("", "cp", "-r", "--sparse=always", master+"/.", dir); err != nil {
				return err
			}
		}
	}
	return os.RemoveAll(filepath.Join(work, "master"))
}

// diskArgs attaches the whole matrix: one adapter of each SCSI and SATA kind with all its disks, and an
// adapter per disk for NVMe and virtio-blk, which have no other way.
func diskArgs(work string) []string {
	args := []string{
		"-device", "pvscsi,id=pvscsi", "-device", "mptsas1068,id=mptsas",
		"-device", "virtio-scsi-pci,id=virtio-scsi", "-device", "ich9-ahci,id=ahci",
	}
	for _, d := range cell.Disks() {
		args = append(args, diskArgsOf(work, d)...)
	}
	return args
}

// diskArgsOf attaches one disk.
func diskArgsOf(work string, d cell.Disk) []string {
	drive := fmt.Sprintf("if=none,id=%s,file=%s,format=vmdk,cache=none,aio=native", d.Serial, image(work, d))
	if d.AttachReadOnly() {
		drive += ",readonly=on"
	}
	blocks := fmt.Sprintf("drive=%s,serial=%s,logical_block_size=%d,physical_block_size=%d", d.Serial, d.Serial, d.LogicalBlock(), d.PhysicalBlock())
	var dev string
	switch d.Controller.Name {
	case "pvscsi", "virtio-scsi":
		dev = fmt.Sprintf("scsi-hd,bus=%s.0,scsi-id=%d,%s", d.Controller.Name, d.Unit, blocks)
	case "mptsas":
		// The WWN is the SAS address: without one the phy counts as empty and the disk is never seen.
		dev = fmt.Sprintf("scsi-hd,bus=mptsas.0,scsi-id=%d,wwn=0x5000c500123456%02x,%s", d.Unit, 0x10+d.Unit, blocks)
	case "ahci":
		dev = fmt.Sprintf("ide-hd,bus=ahci.%d,%s", d.Unit, blocks)
	case "nvme":
		dev = "nvme," + blocks
	case "virtio-blk":
		dev = "virtio-blk-pci," + blocks
	}
	return []string{"-drive", drive, "-device", dev}
}

// verifyDisks reads the images after the guest is off: the written part of each zone must have changed
// in every block, the margins and all the rest of the disk must not, and the zone must be what the
// guest has read back.
func verifyDisks(work string, sums map[string]uint64) ([]cell.Cell, error) {
	var list []cell.Cell
	for _, d := range cell.Disks() {
		err := verifyDisk(work, d, sums)
		c := cell.Cell{Table: "disks", Row: d.Row(), Column: "image", Text: "right", OK: err == nil}
		if err != nil {
			c.Text, c.Detail = "WRONG", err.Error()
		}
		list = append(list, c)
	}
	return list, nil
}

func verifyDisk(work string, d cell.Disk, sums map[string]uint64) error {
	path := image(work, d)
	raw := filepath.Join(filepath.Dir(path), "check.raw")
	defer os.Remove(raw)
	if _, err := output("", "qemu-img", "convert", "-f", "vmdk", "-O", "raw", path, raw); err != nil {
		return err
	}
	if strings.Contains(d.Format(), "Sparse") { // the others have no tables that could be wrong
		if _, err := output("", "qemu-img", "check", "-q", "-f", "vmdk", path); err != nil {
			return err
		}
	}
	f, err := os.Open(raw)
	if err != nil {
		return err
	}
	defer f.Close()
	for e, engine := range cell.Engines {
		zone := make([]byte, cell.ZoneBytes)
		if _, err := f.ReadAt(zone, cell.ZoneStart(e)); err != nil {
			return err
		}
		if got, ok := sums[cell.SumKey(d.Serial, e)]; !ok || got != cell.Sum(zone) {
			return fmt.Errorf("zone of %s: the guest reads back other data than the image holds (or nothing: %v)", engine, !ok)
		}
		if err := verifyZone(zone, cell.OldData(e), d.Writable()); err != nil {
			return fmt.Errorf("zone of %s: %w", engine, err)
		}
	}
	return verifyRest(f)
}

func verifyZone(zone, old []byte, written bool) error {
	for at := 0; at < len(zone); at += 512 {
		inside := written && at >= cell.WriteStart && at < cell.WriteStart+cell.WriteBytes
		if same := bytes.Equal(zone[at:at+512], old[at:at+512]); same == inside {
			return fmt.Errorf("sector at byte %d of it: to be written %v, left as it was %v", at, inside, same)
		}
	}
	return nil
}

// verifyRest checks that what lies outside the zones is zero; holes of the file are by their nature.
func verifyRest(f *os.File) error {
	buf := make([]byte, 1<<20)
	for at := int64(0); ; {
		start, err := unix.Seek(int(f.Fd()), at, unix.SEEK_DATA)
		if err == unix.ENXIO {
			return nil
		} else if err != nil {
			return err
		}
		end, err := unix.Seek(int(f.Fd()), start, unix.SEEK_HOLE)
		if err != nil {
			return err
		}
		for at = start; at < end; {
			if skip := zoneEnd(at); skip > 0 {
				at = skip
				continue
			}
			n, err := f.ReadAt(buf[:min(int64(len(buf)), nextZone(at)-at, end-at)], at)
			if n == 0 && err != nil && err != io.EOF {
				return err
			}
			if n == 0 {
				return nil
			}
			if i := bytes.IndexFunc(buf[:n], func(r rune) bool { return r != 0 }); i >= 0 {
				return fmt.Errorf("byte %d, outside every zone, was written", at+int64(i))
			}
			at += int64(n)
		}
	}
}

// zoneEnd is the end of the zone that a byte lies in, or 0.
func zoneEnd(at int64) int64 {
	for e := range cell.Engines {
		if s := cell.ZoneStart(e); at >= s && at < s+cell.ZoneBytes {
			return s + cell.ZoneBytes
		}
	}
	return 0
}

// nextZone is the start of the first zone behind a byte.
func nextZone(at int64) int64 {
	for e := range cell.Engines {
		if s := cell.ZoneStart(e); s > at {
			return s
		}
	}
	return cell.DiskBytes
}
