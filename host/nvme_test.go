package host

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unsafe"
)

// The layout of struct nvme_passthru_cmd and the number of the ioctl, from include/uapi/linux/nvme_ioctl.h.
func TestAdminCommandLayout(t *testing.T) {
	var c adminCommand
	for name, o := range map[string][2]uintptr{
		"size": {unsafe.Sizeof(c), 72}, "opcode": {unsafe.Offsetof(c.opcode), 0}, "nsid": {unsafe.Offsetof(c.nsid), 4},
		"metadata": {unsafe.Offsetof(c.metadata), 16}, "addr": {unsafe.Offsetof(c.addr), 24},
		"metadata_len": {unsafe.Offsetof(c.metadataLen), 32}, "data_len": {unsafe.Offsetof(c.dataLen), 36},
		"cdw10": {unsafe.Offsetof(c.cdw10), 40}, "cdw15": {unsafe.Offsetof(c.cdw15), 60},
		"timeout_ms": {unsafe.Offsetof(c.timeoutMS), 64}, "result": {unsafe.Offsetof(c.commandResult), 68},
	} {
		if o[0] != o[1] {
			t.Errorf("%s is %d, want %d", name, o[0], o[1])
		}
	}
	const inOut, number = 3, 0x41 // _IOC_READ | _IOC_WRITE
	if want := uint32(inOut<<30 | 72<<16 | 'N'<<8 | number); ioctlAdmin != want {
		t.Errorf("ioctl %#x, want %#x", uint32(ioctlAdmin), want)
	}
	cmd := healthCommand(make([]byte, healthLogBytes))
	if cmd.opcode != 2 || cmd.nsid != 0xffffffff || cmd.cdw10 != 127<<16|2 || cmd.dataLen != 512 || cmd.addr == 0 || cmd.flags != 0 || cmd.cdw11 != 0 {
		t.Errorf("%+v", cmd)
	}
}

// fakeLog is a log page with a value of its own in each field, at the offsets of the specification.
func fakeLog(log []byte) {
	le := binary.LittleEndian
	log[0], log[5] = CriticalSpare|CriticalReadOnly, 250
	le.PutUint16(log[1:], 323)
	le.PutUint64(log[160:], 7)
	for i, at := range []int{192, 196, 216, 220, 224, 228} {
		le.PutUint32(log[at:], uint32(11+i))
	}
}

func TestParseHealthLog(t *testing.T) {
	log := make([]byte, healthLogBytes)
	fakeLog(log)
	want := DriveHealth{
		CriticalWarning: 9, TemperatureC: 50, PercentageUsed: 250, MediaErrors: 7, WarningMinutes: 11, CriticalMinutes: 12,
		Throttle1Count: 13, Throttle2Count: 14, Throttle1Seconds: 15, Throttle2Seconds: 16,
	}
	if got := parseHealthLog(log); *got != want {
		t.Errorf("%+v, want %+v", *got, want)
	}
}

// Each disk has the log of its controller: also partitions, and with native multipath. Others have none,
// and a drive that refuses or does not answer holds up nobody.
func TestDriveHealths(t *testing.T) {
	r := tree(t, map[string]string{
		"sys/ctl/nvme0/nvme0n1/stat": stat17, "sys/ctl/nvme0/nvme0n1/nvme0n1p1/partition": "1\n",
		"sys/ctl/nvme-subsys1/nvme1n1/stat": stat17, "sys/ctl/nvme-subsys1/nvme1/state": "live\n", "sys/ctl/nvme2/nvme2n1/stat": stat17,
		"sys/ctl/nvme3/nvme3n1/stat": stat17, "sys/ctl/0:0:0:0/sda/stat": stat17, "sys/class/block/loop0/stat": stat17,
	})
	link := func(target, name string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(r.Sys, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(r.Sys, target), filepath.Join(r.Sys, name)); err != nil {
			t.Fatal(err)
		}
	}
	for disk, parent := range map[string]string{"nvme0n1": "nvme0", "nvme1n1": "nvme-subsys1", "nvme2n1": "nvme2", "nvme3n1": "nvme3", "sda": "0:0:0:0"} {
		link("ctl/"+parent+"/"+disk, "class/block/"+disk)
		link("ctl/"+parent, "ctl/"+parent+"/"+disk+"/device")
	}
	link("ctl/nvme0/nvme0n1/nvme0n1p1", "class/block/nvme0n1p1")
	silent := make(chan struct{})
	defer close(silent)
	r.NVMeLog = func(path string, log []byte) error {
		switch name := strings.TrimPrefix(path, r.Root+"/dev/"); name {
		case "nvme2":
			return errors.New("permission denied")
		case "nvme3":
			<-silent
		default:
			fakeLog(log)
			log[5] = name[len(name)-1] - '0'
		}
		return nil
	}
	got := r.DriveHealths([]string{"nvme0n1", "nvme0n1p1", "nvme1n1", "nvme2n1", "nvme3n1", "sda", "loop0", "", "..", "gone"}, 300*time.Millisecond)
	for i, h := range got {
		if want := i < 3; (h != nil) != want || want && (h.PercentageUsed != i/2 || h.TemperatureC != 50) {
			t.Errorf("disk %d: %+v", i, h)
		}
	}
}

// Where there is no drive, asking for its log is an error, and no health.
func TestReadHealthLogOfNoDrive(t *testing.T) {
	for _, path := range []string{filepath.Join(t.TempDir(), "gone"), "/dev/null"} {
		if err := readHealthLog(path, make([]byte, healthLogBytes)); err == nil {
			t.Errorf("%s has a log", path)
		}
	}
}
