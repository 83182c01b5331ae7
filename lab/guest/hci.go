package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"blkstorm/lab/guest/cell"
)

// runHCI boots a guest as the HCI reviews have them: four VMDK disks behind PVSCSI and four behind LSI SAS,
// on which it runs the reviews' procedure. The images must have been written whole.
func runHCI(ctx context.Context, l *lab) ([]cell.Cell, time.Duration, error) {
	began := time.Now()
	args := []string{"-device", "pvscsi,id=pvscsi", "-device", "mptsas1068,id=mptsas"}
	for c := range cell.HCIControllers {
		for n := range cell.HCIDisks {
			d := cell.HCIDisk(c, n)
			if err := makeHCIDisk(l.work, d); err != nil {
				return nil, 0, err
			}
			args = append(args, diskArgsOf(l.work, d)...)
		}
	}
	m := &machine{scenario: "hci", kernel: l.kernel, modules: []string{"sd_mod", "vmw_pvscsi", "mptsas"}, memory: "512M",
		append: "tsc=reliable", qemu: args, payload: l.payload.bytes(), timeout: 5 * time.Minute}
	r, err := m.boot(ctx, l.work)
	if err != nil {
		return nil, 0, err
	}
	cells := r.cells
	for i, controller := range cell.HCIControllers {
		c := cell.Cell{Table: "hci", Row: controller.Name, Column: "images", Text: "written whole", OK: true}
		for n := range cell.HCIDisks {
			if err := verifyHCIDisk(l.work, cell.HCIDisk(i, n)); err != nil {
				c.Text, c.OK, c.Detail = "WRONG", false, err.Error()
			}
		}
		cells = append(cells, c)
	}
	return cells, time.Since(began), nil
}

// makeHCIDisk makes an image that is full of old data.
func makeHCIDisk(work string, d cell.Disk) error {
	path := image(work, d)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	raw := filepath.Join(filepath.Dir(path), "old.raw")
	defer os.Remove(raw)
	if err := os.WriteFile(raw, bytes.Repeat(cell.HCIOldData(), cell.HCIBytes/len(cell.HCIOldData())), 0o644); err != nil {
		return err
	}
	_, err := output(filepath.Dir(path), "qemu-img", "convert", "-f", "raw", "-O", "vmdk", "-o", "subformat="+d.Format(), raw, filepath.Base(path))
	return err
}

// verifyHCIDisk reads the image after the guest is off.
func verifyHCIDisk(work string, d cell.Disk) error {
	path := image(work, d)
	raw := filepath.Join(filepath.Dir(path), "check.raw")
	defer os.Remove(raw)
	if _, err := output("", "qemu-img", "convert", "-f", "vmdk", "-O", "raw", path, raw); err != nil {
		return err
	}
	f, err := os.Open(raw)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := allRewritten(f, cell.HCIBytes, cell.HCIOldData()); err != nil {
		return fmt.Errorf("%s: %w", d.Row(), err)
	}
	return nil
}

// allRewritten says which sector of a disk still holds what it held before: old, over and over. Random data
// are never the same by chance.
func allRewritten(disk io.Reader, size int, old []byte) error {
	buf := make([]byte, len(old))
	for at := 0; at < size; at += len(buf) {
		if _, err := io.ReadFull(disk, buf); err != nil {
			return fmt.Errorf("at byte %d of %d: %w", at, size, err)
		}
		for i := 0; i < len(buf); i += 512 {
			if bytes.Equal(buf[i:i+512], old[i:i+512]) {
				return fmt.Errorf("the sector at byte %d was never written", at+i)
			}
			if bytes.Equal(buf[i:i+512], make([]byte, 512)) {
				return fmt.Errorf("the sector at byte %d is zero", at+i)
			}
		}
	}
	return nil
}
