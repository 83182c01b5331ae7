package device

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var hctlPattern = regexp.MustCompile(`^\d+:\d+:\d+:\d+$`)

// identify fills model, serial, names and transport: what a person compares before the first write.
// Every subsystem keeps them in other files.
func (r Roots) identify(f *Facts, b block) {
	kind := kindOf(block{name: b.disk, disk: b.disk, dir: b.diskDir})
	dev := realPath(filepath.Join(b.diskDir, "device"))
	f.WWN = readText(b.diskDir, "wwid") // NVMe: next to the namespace, not below device
	switch base := filepath.Base(dev); {
	case kind != "disk" && kind != "cdrom":
		f.Transport = kind
	case strings.HasPrefix(b.disk, "nvme"):
		f.Model, f.Serial = readText(dev, "model"), readText(dev, "serial")
		f.Firmware = readText(dev, "firmware_rev")
		f.Transport = nvmeTransport(dev)
	case hctlPattern.MatchString(base):
		f.HCTL = base
		f.Vendor, f.Model, f.Firmware = readText(dev, "vendor"), readText(dev, "model"), readText(dev, "rev")
		f.Serial = vpdSerial(filepath.Join(dev, "vpd_pg80"))
		// t10.… is vendor, model and serial in one string, not a world-wide name.
		if wwid := readText(dev, "wwid"); !strings.HasPrefix(wwid, "t10.") {
			f.WWN = wwid
		}
		f.Transport = r.scsiTransport(dev)
	case strings.HasPrefix(base, "virtio"):
		f.Serial, f.Transport = readText(b.diskDir, "serial"), "virtio"
	case strings.HasPrefix(b.disk, "mmcblk"):
		f.Model, f.Serial, f.Transport = readText(dev, "name"), readText(dev, "serial"), "mmc"
	case strings.HasPrefix(b.disk, "nbd"):
		f.Transport = "nbd"
	case strings.HasPrefix(base, "vbd-"):
		f.Transport = "xen"
	}
}

// vpdSerial reads SCSI VPD page 0x80 (SPC-4, 7.8.16): four bytes of header, then the serial number
// in ASCII, padded with blanks. The header's last two bytes are the length.
func vpdSerial(path string) string {
	page, err := os.ReadFile(path)
	if err != nil || len(page) < 4 {
		return ""
	}
	n := int(page[2])<<8 | int(page[3])
	return strings.Trim(string(page[4:min(4+n, len(page))]), " \x00")
}

// nvmeControllers are the controllers behind a namespace: one, or with native multipath (device is
// then a nvme-subsystem) one for each path.
func nvmeControllers(dev string) []string {
	if exists(filepath.Join(dev, "transport")) || !strings.HasPrefix(filepath.Base(dev), "nvme-subsys") {
		return []string{dev}
	}
	var out []string
	for _, name := range entries(dev) {
		if c := realPath(filepath.Join(dev, name)); exists(filepath.Join(c, "transport")) {
			out = append(out, c)
		}
	}
	return out
}

func nvmeTransport(dev string) string {
	for _, c := range nvmeControllers(dev) {
		if t := readText(c, "transport"); t != "" && t != "pcie" {
			return "nvme-" + t
		}
	}
	return "nvme"
}

// scsiTransport tells what carries a SCSI device, from the objects that the transport classes put
// on its way in the device tree (as lsblk does), then from the host's driver.
func (r Roots) scsiTransport(dev string) string {
	for _, t := range []struct{ object, name string }{
		{"/end_device-", "sas"},
		{"/rport-", "fc"},
		{"/session", "iscsi"},
		{"/usb", "usb"},
		{"/ata", "sata"},
		{"/virtio", "virtio"},
	} {
		if strings.Contains(dev, t.object) {
			return t.name
		}
	}
	host := filepath.Base(scsiHost(dev))
	switch readText(filepath.Join(r.Sys, "class/scsi_host", host), "proc_name") {
	case "vmw_pvscsi":
		return "pvscsi"
	case "storvsc_host", "storvsc", "hv_storvsc":
		return "hyperv"
	}
	if exists(filepath.Join(r.Sys, "class/spi_host", host)) {
		return "spi"
	}
	return "scsi"
}

// scsiHost is the directory of the SCSI host ("…/hostN") above a SCSI device; empty when there is none.
func scsiHost(dev string) string {
	for d := dev; len(d) > 1; d = filepath.Dir(d) {
		if n, ok := strings.CutPrefix(filepath.Base(d), "host"); ok && n != "" && strings.Trim(n, "0123456789") == "" {
			return d
		}
	}
	return ""
}
