package host

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// DriveHealth is what an NVMe drive says of itself: the SMART / Health Information log, page 02h (NVM
// Express Base Specification 2.0, 5.16.1.3). Counters are of the drive's life and never fall.
type DriveHealth struct {
	CriticalWarning uint8   `json:"critical_warning"` // bits, see Critical
	TemperatureC    float64 `json:"temperature_c"`    // composite, in degrees Celsius
	PercentageUsed  int     `json:"percentage_used"`  // of the life that the vendor expects; may pass 100
	MediaErrors     uint64  `json:"media_errors"`     // data that could not be read or verified
	// How long the composite temperature was over the drive's own warning and critical thresholds, in minutes.
	WarningMinutes  uint32 `json:"warning_minutes"`
	CriticalMinutes uint32 `json:"critical_minutes"`
	// How often, and for how many seconds, the drive has slowed itself down, lightly (1) and heavily (2), to
	// become cooler.
	Throttle1Count   uint32 `json:"throttle1_count"`
	Throttle2Count   uint32 `json:"throttle2_count"`
	Throttle1Seconds uint32 `json:"throttle1_s"`
	Throttle2Seconds uint32 `json:"throttle2_s"`
}

// Bits of DriveHealth.CriticalWarning.
const (
	CriticalSpare       = 1 << iota // the spare capacity is below its threshold
	CriticalTemperature             // over or under a threshold of temperature
	CriticalReliability             // degraded, by media or internal errors
	CriticalReadOnly
	CriticalBackup // of the volatile memory has failed
	CriticalMemory // the persistent memory region is read-only or unreliable
)

// DriveHealths asks the NVMe drives of the disks and partitions with the given kernel names, all at once,
// and waits no longer than that: nil stands for what is no NVMe drive, may not be asked (that needs root),
// or does not answer. Nothing of a drive changes.
func (r Roots) DriveHealths(disks []string, wait time.Duration) []*DriveHealth {
	type answer struct {
		disk   int
		health *DriveHealth
	}
	list, answers, asked := make([]*DriveHealth, len(disks)), make(chan answer, len(disks)), 0
	for i, name := range disks {
		path := r.nvmeController(name)
		if path == "" {
			continue
		}
		asked++
		go func() { answers <- answer{i, r.driveHealth(path)} }() // a drive that hangs keeps it until the kernel gives up
	}
	timeout := time.NewTimer(wait)
	defer timeout.Stop()
	for ; asked > 0; asked-- {
		select {
		case a := <-answers:
			list[a.disk] = a.health
		case <-timeout.C:
			return list
		}
	}
	return list
}

func (r Roots) driveHealth(path string) *DriveHealth {
	ask := r.NVMeLog
	if ask == nil {
		ask = readHealthLog
	}
	log := make([]byte, healthLogBytes)
	if ask(path, log) != nil {
		return nil
	}
	return parseHealthLog(log)
}

var controllerName = regexp.MustCompile(`^nvme[0-9]+$`)

// nvmeController is the character device of the controller that a disk hangs on; empty when it is no NVMe
// drive. With native multipath that is the first of those that lead to it: they have one log.
func (r Roots) nvmeController(name string) string {
	for _, disk := range r.wholeDisks(name) {
		parent, err := filepath.EvalSymlinks(filepath.Join(disk, "device"))
		if err != nil {
			continue
		}
		below, _ := filepath.Glob(filepath.Join(parent, "nvme[0-9]*")) // the pattern is a good one
		for _, path := range append([]string{parent}, below...) {
			if base := filepath.Base(path); controllerName.MatchString(base) {
				return r.root("dev", base)
			}
		}
	}
	return ""
}

const healthLogBytes = 512

// parseHealthLog reads the log; all of it is little-endian, and temperatures are in kelvins.
func parseHealthLog(log []byte) *DriveHealth {
	le := binary.LittleEndian
	h := &DriveHealth{
		CriticalWarning: log[0],
		TemperatureC:    float64(le.Uint16(log[1:])) - 273,
		PercentageUsed:  int(log[5]),
		MediaErrors:     le.Uint64(log[160:]),
		WarningMinutes:  le.Uint32(log[192:]), CriticalMinutes: le.Uint32(log[196:]),
		Throttle1Count: le.Uint32(log[216:]), Throttle2Count: le.Uint32(log[220:]),
		Throttle1Seconds: le.Uint32(log[224:]), Throttle2Seconds: le.Uint32(log[228:]),
	}
	return h
}

// adminCommand is struct nvme_passthru_cmd of include/uapi/linux/nvme_ioctl.h.
type adminCommand struct {
	opcode, flags            uint8
	_                        uint16
	nsid, cdw2, cdw3         uint32
	metadata, addr           uint64
	metadataLen, dataLen     uint32
	cdw10, cdw11, cdw12      uint32
	cdw13, cdw14, cdw15      uint32
	timeoutMS, commandResult uint32
}

const (
	ioctlAdmin    = 0xc0484e41 // NVME_IOCTL_ADMIN_CMD: _IOWR('N', 0x41, struct nvme_admin_cmd)
	getLogPage    = 0x02       // reads a log and changes nothing
	healthLog     = 0x02
	allNamespaces = 0xffffffff
	logTimeoutMS  = 5000
)

// healthCommand asks for the log, into log, whose length it says in dwords less one.
func healthCommand(log []byte) adminCommand {
	return adminCommand{
		opcode: getLogPage, nsid: allNamespaces, timeoutMS: logTimeoutMS,
		addr: uint64(uintptr(unsafe.Pointer(unsafe.SliceData(log)))), dataLen: uint32(len(log)),
		cdw10: uint32(len(log)/4-1)<<16 | healthLog,
	}
}

// readHealthLog asks the controller at path; the kernel wants CAP_SYS_ADMIN for that. It is the only command
// that is ever sent to a drive past the kernel.
func readHealthLog(path string, log []byte) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	cmd := healthCommand(log)
	status, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), ioctlAdmin, uintptr(unsafe.Pointer(&cmd)))
	runtime.KeepAlive(log)
	switch {
	case errno != 0:
		return errno
	case status != 0: // the drive's own
		return unix.EIO
	}
	return nil
}
