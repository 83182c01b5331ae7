package device

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeTree is a small /sys, /proc and /dev in the shapes that the kernel gives them: class/block/X
// and dev/block/M:m are symlinks into devices/, a partition's directory lies inside its disk's, and
// device, driver, subsystem and holders are symlinks too.
type fakeTree struct {
	t    *testing.T
	root string
	r    Roots
}

func newFakeTree(t *testing.T) *fakeTree {
	t.Helper()
	root := realPath(t.TempDir())
	f := &fakeTree{t: t, root: root, r: Roots{
		Sys: filepath.Join(root, "sys"), Proc: filepath.Join(root, "proc"), Dev: filepath.Join(root, "dev"),
	}}
	f.put("proc/self/mountinfo", "")
	f.put("proc/swaps", "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n")
	f.dir("sys/class/block")
	f.dir("sys/devices")
	f.dir("dev")
	return f
}

func (f *fakeTree) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fakeTree) dir(path string) {
	f.t.Helper()
	f.must(os.MkdirAll(filepath.Join(f.root, path), 0o755))
}

func (f *fakeTree) put(path, content string) {
	f.t.Helper()
	f.dir(filepath.Dir(path))
	f.must(os.WriteFile(filepath.Join(f.root, path), []byte(content), 0o644))
}

func (f *fakeTree) add(path, content string) {
	f.t.Helper()
	file, err := os.OpenFile(filepath.Join(f.root, path), os.O_APPEND|os.O_WRONLY, 0)
	f.must(err)
	_, err = file.WriteString(content)
	f.must(err)
	f.must(file.Close())
}

// link makes a relative symlink, as sysfs has them.
func (f *fakeTree) link(path, target string) {
	f.t.Helper()
	f.dir(filepath.Dir(path))
	rel, err := filepath.Rel(filepath.Join(f.root, filepath.Dir(path)), filepath.Join(f.root, target))
	f.must(err)
	f.must(os.Symlink(rel, filepath.Join(f.root, path)))
}

// attrs writes files below a directory; lines are "name=value".
func (f *fakeTree) attrs(dir string, lines ...string) {
	f.t.Helper()
	for _, line := range lines {
		name, value, _ := strings.Cut(line, "=")
		f.put(filepath.Join(dir, name), value+"\n")
	}
}

// node makes what stands for the device node: a file of the device's size, all hole.
func (f *fakeTree) node(name string, size int64) {
	f.t.Helper()
	path := "dev/" + strings.ReplaceAll(name, "!", "/")
	f.put(path, "")
	f.must(os.Truncate(filepath.Join(f.root, path), size))
}

// block makes a whole disk at devices/PATH/block/NAME; a path of "virtual" gives it no device.
func (f *fakeTree) block(path, name, number string, size int64, attrs ...string) string {
	f.t.Helper()
	dir := "sys/devices/" + path + "/block/" + name
	f.blockDir(dir, name, number, size)
	f.attrs(dir, "queue/logical_block_size=512", "queue/physical_block_size=512")
	f.attrs(dir, attrs...)
	if path != "virtual" {
		f.link(dir+"/device", "sys/devices/"+path)
	}
	return dir
}

func (f *fakeTree) blockDir(dir, name, number string, size int64) {
	f.t.Helper()
	f.attrs(dir, "dev="+number, fmt.Sprintf("size=%d", size/512), "ro=0")
	f.dir(dir + "/holders")
	f.link("sys/class/block/"+name, dir)
	f.link("sys/dev/block/"+number, dir)
	f.node(name, size)
}

func (f *fakeTree) partition(disk, name, number string, n int, size int64) {
	f.t.Helper()
	dir := f.sysDir(disk) + "/" + name
	f.blockDir(dir, name, number, size)
	f.attrs(dir, fmt.Sprintf("partition=%d", n))
}

// sysDir is a block device's directory, relative to the root of the tree.
func (f *fakeTree) sysDir(name string) string {
	f.t.Helper()
	dir, err := filepath.EvalSymlinks(filepath.Join(f.r.Sys, "class/block", name))
	f.must(err)
	rel, err := filepath.Rel(f.root, dir)
	f.must(err)
	return rel
}

func (f *fakeTree) holds(slave, holder string) {
	f.t.Helper()
	f.link(f.sysDir(slave)+"/holders/"+holder, f.sysDir(holder))
}

func (f *fakeTree) dm(name, number, dmName, uuid string, slaves ...string) {
	f.t.Helper()
	f.block("virtual", name, number, 1<<20, "dm/name="+dmName, "dm/uuid="+uuid)
	f.link("dev/mapper/"+dmName, "dev/"+name)
	for _, s := range slaves {
		f.holds(s, name)
	}
}

// mount adds a line to mountinfo, with an optional field as shared mounts have it.
func (f *fakeTree) mount(number, point, fsType, source string) {
	f.t.Helper()
	f.add("proc/self/mountinfo", fmt.Sprintf("36 35 %s / %s rw,noatime shared:1 - %s %s rw\n", number, point, fsType, source))
}

func (f *fakeTree) swap(path, kind string) {
	f.t.Helper()
	f.add("proc/swaps", path+"\t\t\t"+kind+"\t\t1048572\t\t0\t\t-2\n")
}

// pci makes a PCI function with a driver, and returns its path below devices.
func (f *fakeTree) pci(address, id, driver string) string {
	f.t.Helper()
	path := "pci0000:00/" + address
	vendor, device, _ := strings.Cut(id, ":")
	f.attrs("sys/devices/"+path, "vendor=0x"+vendor, "device=0x"+device)
	f.dir("sys/bus/pci/drivers/" + driver)
	f.link("sys/devices/"+path+"/driver", "sys/bus/pci/drivers/"+driver)
	f.link("sys/devices/"+path+"/subsystem", "sys/bus/pci")
	return path
}

// virtio makes a virtio device on a PCI function.
func (f *fakeTree) virtio(pci, name, driver string) string {
	f.t.Helper()
	path := pci + "/" + name
	f.attrs("sys/devices/"+path, "vendor=0x1af4", "device=0x0002")
	f.dir("sys/bus/virtio/drivers/" + driver)
	f.link("sys/devices/"+path+"/driver", "sys/bus/virtio/drivers/"+driver)
	f.link("sys/devices/"+path+"/subsystem", "sys/bus/virtio")
	return path
}

// scsi makes a SCSI host with one device; between stands for what the transport puts on the way.
func (f *fakeTree) scsi(parent, host, between, hctl, procName string, attrs ...string) string {
	f.t.Helper()
	path := filepath.Join(parent, host, between, "target"+hctl[:strings.LastIndex(hctl, ":")], hctl)
	f.attrs("sys/class/scsi_host/"+host, "proc_name="+procName, "can_queue=1024")
	f.dir("sys/bus/scsi/drivers/sd")
	f.link("sys/devices/"+path+"/driver", "sys/bus/scsi/drivers/sd")
	f.attrs("sys/devices/"+path, append([]string{"type=0"}, attrs...)...)
	return path
}

// pg80 is a VPD page with a serial number, padded as disks do.
func (f *fakeTree) pg80(path, serial string) {
	f.t.Helper()
	padded := fmt.Sprintf("%20s", serial)
	f.put("sys/devices/"+path+"/vpd_pg80", "\x00\x80\x00"+string(rune(len(padded)))+padded)
}

func (f *fakeTree) dev(name string) string { return filepath.Join(f.r.Dev, name) }

func (f *fakeTree) inspect(name string) *Facts {
	f.t.Helper()
	facts, err := f.r.Inspect(f.dev(name))
	f.must(err)
	return facts
}

// codes are the guard's answers for a path, consent granted.
func codes(t *testing.T, r Roots, path string) (list []string, text string) {
	t.Helper()
	facts, err := r.Inspect(path)
	if err != nil {
		t.Fatal(err)
	}
	refusals, err := r.Guard(facts, Consent{Destroy: true})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range refusals {
		list = append(list, f.Code)
		all = append(all, f.String())
	}
	return list, strings.Join(all, "\n")
}
