package host

import (
	"bytes"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"time"
)

// Thermometer follows the temperature of drives, once a second, as the kernel's hwmon shows it: of NVMe
// always (Linux 5.5), of SATA and SAS where the module drivetemp is loaded. The kernel asks the drive
// for each reading, which takes milliseconds, and up to a minute when it does not answer: so every
// drive has a goroutine, and nobody waits for it. Close it.
type Thermometer struct {
	sensors []*sensor // per disk; nil where there is none
	stop    chan struct{}
}

// Temperature is a drive's, in degrees Celsius.
type Temperature struct {
	Celsius float64
	// Limit is the drive's own: the first at which it warns, or else at which it is critical; 0 where
	// it says none.
	Limit float64
}

// sensor is one drive's. What the goroutine has read last is in now.
type sensor struct {
	input     source
	max, crit string // paths
	every     time.Duration
	now       atomic.Pointer[reading]
}

type reading struct {
	Temperature
	at time.Time
}

// A reading is taken this often, and holds for so long when no other follows.
const (
	readEvery = time.Second
	holdsFor  = 5 * time.Second
)

// NewThermometer begins to follow the disks and partitions with the given kernel names; an empty name
// stands for one without temperature. Nil when none of them has one, which can be used like any other.
func (r Roots) NewThermometer(disks []string) *Thermometer { return r.newThermometer(disks, readEvery) }

func (r Roots) newThermometer(disks []string, every time.Duration) *Thermometer {
	t := &Thermometer{sensors: make([]*sensor, len(disks)), stop: make(chan struct{})}
	found := false
	for i, name := range disks {
		dir := r.hwmon(name)
		if dir == "" {
			continue
		}
		found = true
		t.sensors[i] = &sensor{
			input: source{[]string{filepath.Join(dir, "temp1_input")}, closed},
			max:   filepath.Join(dir, "temp1_max"), crit: filepath.Join(dir, "temp1_crit"), every: every,
		}
		go t.sensors[i].follow(t.stop)
	}
	if !found {
		return nil
	}
	return t
}

// hwmon is the directory with a disk's temperature; empty when there is none.
func (r Roots) hwmon(name string) string {
	for _, disk := range r.wholeDisks(name) {
		// NVMe: below the controller, which with native multipath is one of several below the
		// subsystem. Others: below the SCSI device.
		for _, place := range []string{"hwmon*", "hwmon/hwmon*", "nvme*/hwmon*", "device/hwmon/hwmon*"} {
			found, _ := filepath.Glob(filepath.Join(disk, "device", place, "temp1_input")) // the pattern is a good one
			if len(found) > 0 {
				return filepath.Dir(found[0])
			}
		}
	}
	return ""
}

// follow reads until stop is closed. A read that hangs then ends with the device, or the process.
func (s *sensor) follow(stop <-chan struct{}) {
	defer s.input.close()
	limit := plausible(text(s.max))
	if limit == 0 {
		limit = plausible(text(s.crit))
	}
	tick := time.NewTicker(s.every)
	defer tick.Stop()
	buf := make([]byte, 64)
	for {
		if b, ok := s.input.head(buf); ok {
			if c, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 32); err == nil {
				s.now.Store(&reading{Temperature{float64(c) / 1000, limit}, time.Now()})
			}
		}
		select {
		case <-stop:
			return
		case <-tick.C:
		}
	}
}

// plausible reads a limit. A drive without one has a value that no drive comes to: NVMe's is 0xffff K.
func plausible(millidegrees string) float64 {
	c, err := strconv.ParseInt(millidegrees, 10, 32)
	if err != nil || c <= 0 || c > 200_000 {
		return 0
	}
	return float64(c) / 1000
}

// Now is the temperature of disk i, at most some seconds old, and whether it is known.
func (t *Thermometer) Now(i int) (Temperature, bool) {
	if t == nil || t.sensors[i] == nil {
		return Temperature{}, false
	}
	now := t.sensors[i].now.Load()
	if now == nil || time.Since(now.at) > holdsFor {
		return Temperature{}, false
	}
	return now.Temperature, true
}

// Close ends the reading, and does not wait for a drive that does not answer.
func (t *Thermometer) Close() {
	if t != nil {
		close(t.stop)
	}
}
