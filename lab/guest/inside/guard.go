package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"blkstorm/lab/guest/cell"
)

// inUse is a disk that something in the guest holds, and what the guard must say of it.
type inUse struct {
	name   string
	setUp  []string // shell lines
	target string
	code   string
}

// lvmConfig keeps LVM from waiting for udev, which the guest has not.
const lvmConfig = `lvm %s --config 'activation{udev_sync=0 udev_rules=0} devices{use_devicesfile=0 scan="/dev" obtain_device_list_from_udev=0}' `

func lvm(command, rest string) string { return fmt.Sprintf(lvmConfig, command) + rest }

// cases are real owners, made by their own tools, one RAM disk each.
func guardCases() []inUse {
	const linear = "echo '0 8192 linear %s 0' | dmsetup create %s"
	return []inUse{
		{"active LVM", []string{lvm("pvcreate", "-y /dev/ram0"), lvm("vgcreate", "labvg /dev/ram0"), lvm("lvcreate", "-y -Zn -Wn -L 16m -n lv labvg")}, "/dev/ram0", "held"},
		{"LVM, not active", []string{lvm("pvcreate", "-y /dev/ram1")}, "/dev/ram1", "signature"},
		{"md RAID1", []string{"mdadm --create /dev/md0 --run --level=1 --raid-devices=2 --metadata=1.2 --assume-clean /dev/ram2 /dev/ram3"}, "/dev/ram3", "held"},
		{"md, stopped", []string{"mdadm --create /dev/md1 --run --level=1 --raid-devices=2 --metadata=1.0 --assume-clean /dev/ram4 /dev/ram5", "mdadm --stop /dev/md1"}, "/dev/ram5", "signature"},
		{"dm linear", []string{fmt.Sprintf(linear, "/dev/ram6", "lin")}, "/dev/ram6", "held"},
		{"LUKS, open", []string{
			"echo -n key > /tmp/key",
			"cryptsetup -q luksFormat --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 --cipher aes-xts-plain64 --key-file /tmp/key /dev/ram7",
			"cryptsetup luksOpen --disable-keyring --key-file /tmp/key /dev/ram7 crypt"}, "/dev/ram7", "held"},
		{"LUKS, closed", []string{"cryptsetup -q luksFormat --type luks1 --pbkdf-force-iterations 1000 --cipher aes-xts-plain64 --key-file /tmp/key /dev/ram8"}, "/dev/ram8", "signature"},
		{"ext4, mounted", []string{"mkfs.ext4 -q -F /dev/ram9", "mkdir -p /mnt/e && mount -t ext4 /dev/ram9 /mnt/e"}, "/dev/ram9", "mounted"},
		{"swap", []string{"mkswap /dev/ram10", "swapon /dev/ram10"}, "/dev/ram10", "swap"},
		{"loop on it", []string{"losetup /dev/loop0 /dev/ram11"}, "/dev/ram11", "loop-backing"},
	}
}

// stacked are devices that stand on others, and must be free to write: the guard protects the disk
// below, not what the user made to be tested.
var stacked = []string{"/dev/mapper/labvg-lv", "/dev/md0", "/dev/mapper/lin", "/dev/mapper/crypt"}

// guard asks for a write to each disk in use, and reads it.
func (a *agent) guard() {
	_ = os.MkdirAll("/run/lvm", 0o755)
	_ = os.MkdirAll("/run/lock/lvm", 0o755)
	_ = os.MkdirAll("/run/cryptsetup", 0o755)
	for _, c := range guardCases() {
		if err := setUp(c.setUp); err != nil {
			a.cell("guard", c.name, "set-up", "FAIL", err)
			continue
		}
		before, err := sumOf(c.target)
		if err != nil {
			a.cell("guard", c.name, "write", "FAIL", err)
			continue
		}
		err = load("--rw", "randwrite", "--runtime", "1s", "--destroy", c.target).refused(c.code)
		a.cell("guard", c.name, "write", "refused, "+c.code, err)
		if c.code != "signature" {
			// A claim is not lifted by naming the target; only a signature is.
			err = load("--rw", "randwrite", "--runtime", "1s", "--destroy", "--destroy-signature", c.target, c.target).refused(c.code)
			a.cell("guard", c.name, "named for destruction", "refused, "+c.code, err)
		}
		after, err := sumOf(c.target)
		if err == nil && before != after {
			err = fmt.Errorf("%s: content has changed", c.target)
		}
		a.cell("guard", c.name, "content", "untouched", err)
		p, err := load("--rw", "randread", "--runtime", "300ms", c.target).point(0)
		if err == nil && p.Read.IOs == 0 {
			err = fmt.Errorf("no read completed")
		}
		a.cell("guard", c.name, "read", "runs", err)
		a.cell("guard", c.name, "devices", "no: "+c.code, listedAs(c.target, c.code))
	}
	for _, dev := range stacked {
		p, err := load("--rw", "randwrite", "--runtime", "300ms", "--destroy", dev).point(0)
		if err == nil && (p.Write.IOs == 0 || p.Faults > 0) {
			err = fmt.Errorf("%d writes, %d faults", p.Write.IOs, p.Faults)
		}
		a.cell("guard", dev, "write", "runs", err)
	}
}

// ramBytes is the size of the guest's RAM disks (brd.rd_size).
const ramBytes = 32 << 20

// sumOf is a hash of a whole RAM disk.
func sumOf(dev string) (uint64, error) {
	buf, err := readDirect(dev, 0, ramBytes)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Munmap(buf) }()
	return cell.Sum(buf), nil
}

func setUp(lines []string) error {
	for _, line := range lines {
		if err := sh("%s", line); err != nil {
			return err
		}
	}
	return nil
}

// listedAs says whether blkstorm devices gives that reason.
func listedAs(dev, code string) error {
	list, err := devices(dev)
	if err != nil {
		return err
	}
	var codes []string
	for _, r := range list[0].Refusals {
		if r.Code == code {
			return nil
		}
		codes = append(codes, r.Code)
	}
	return fmt.Errorf("blkstorm devices %s gives the reasons %q, not %s", dev, strings.Join(codes, " "), code)
}
