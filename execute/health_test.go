package execute

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"blkstorm/host"
	"blkstorm/lab"
	"blkstorm/plan"
	"blkstorm/result"
	"blkstorm/verdict"
)

// What of two health logs is told, and what is not.
func TestHealthTexts(t *testing.T) {
	const what = "the drive of /dev/nvme0n1 "
	for name, c := range map[string]struct {
		was, is                     host.DriveHealth
		throttled, critical, errors string
	}{
		"nothing":    {},
		"an old one": {was: host.DriveHealth{MediaErrors: 9, Throttle1Count: 4, WarningMinutes: 8}, is: host.DriveHealth{MediaErrors: 9, Throttle1Count: 4, WarningMinutes: 8, PercentageUsed: 120}},
		"lightly": {is: host.DriveHealth{Throttle1Count: 2, Throttle1Seconds: 30},
			throttled: what + "began 2 times to throttle lightly, throttled lightly for 30 s"},
		"heavily": {was: host.DriveHealth{Throttle2Seconds: 100, Throttle2Count: 7}, is: host.DriveHealth{Throttle2Seconds: 160, Throttle2Count: 7}, throttled: what + "throttled heavily for 60 s"},
		"over":    {is: host.DriveHealth{WarningMinutes: 1, CriticalMinutes: 2}, throttled: what + "was over its warning temperature for 1 min more, was over its critical temperature for 2 min more"},
		"became hot": {is: host.DriveHealth{CriticalWarning: 2, TemperatureC: 85},
			throttled: what + "passed a temperature threshold, at 85 °C", critical: what + "is outside of its temperature thresholds"},
		"was hot":  {was: host.DriveHealth{CriticalWarning: 2}, is: host.DriveHealth{CriticalWarning: 2}, critical: what + "is outside of its temperature thresholds"},
		"worn out": {is: host.DriveHealth{CriticalWarning: 0x3d}, critical: what + "has little spare capacity left, has become unreliable, takes no more writes, has lost the backup of its volatile memory, has an unreliable persistent memory region"},
		"errors":   {was: host.DriveHealth{MediaErrors: 3}, is: host.DriveHealth{MediaErrors: 5}, errors: what + "counted 2 media errors, and 5 in its life"},
	} {
		p := &result.Point{Targets: []*result.Target{{Path: "/dev/sda"}, {Path: "/dev/nvme0n1", NVMe: &result.NVMe{Begin: &c.was, End: &c.is}}}}
		if got := [3]string{throttling(p), critical(p), mediaErrors(p)}; got != [3]string{c.throttled, c.critical, c.errors} {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// The log is read before and after each point, and what grew between is a warning of that point alone.
func TestHealthOfAPoint(t *testing.T) {
	lab.Root(t)
	dev, bare := lab.Loop(t, 1<<20, lab.LoopOptions{}), lab.Loop(t, 1<<20, lab.LoopOptions{})
	o := options()
	o.Roots.Host.Sys = t.TempDir()
	controller := filepath.Join(o.Roots.Host.Sys, "nvme7")
	block := filepath.Join(o.Roots.Host.Sys, "class/block", filepath.Base(dev))
	for _, dir := range []string{controller, block} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(controller, filepath.Join(block, "device")); err != nil {
		t.Fatal(err)
	}
	var reads atomic.Int32
	o.Roots.Host.NVMeLog = func(path string, log []byte) error {
		if path != "/dev/nvme7" {
			t.Errorf("the log of %s was asked for", path)
		}
		binary.LittleEndian.PutUint16(log[1:], 273+40)
		if reads.Add(1) >= 4 { // after the second point
			binary.LittleEndian.PutUint32(log[228:], 12)
			binary.LittleEndian.PutUint64(log[160:], 1)
		}
		return nil
	}
	p := job("randread", plan.Target{Spec: dev}, plan.Target{Spec: bare})
	p.Phases[0].Points[0].Runtime = plan.Duration(100 * time.Millisecond)
	p.Phases[0].Points = append(p.Phases[0].Points, p.Phases[0].Points[0])
	p.Phases[0].Points[1].Label = "again"
	doc, err := carryOut(p, o)
	if err != nil {
		t.Fatal(err)
	}
	for i, point := range doc.Points {
		n := point.Targets[0].NVMe
		if n == nil || n.Begin.TemperatureC != 40 || n.End.TemperatureC != 40 || n.End.Throttle2Seconds != uint32(12*i) || point.Targets[1].NVMe != nil {
			t.Fatalf("point %d: %+v", i, n)
		}
		for _, code := range []string{"throttled", "media_errors"} {
			k := slices.IndexFunc(point.Warnings, func(w verdict.Warning) bool { return w.Code == code })
			if k >= 0 != (i == 1) || k >= 0 && !strings.Contains(point.Warnings[k].Message, dev) {
				t.Errorf("point %d: %s: %+v", i, code, point.Warnings)
			}
		}
	}
}
