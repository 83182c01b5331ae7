package execute

import (
	"fmt"
	"strings"

	"blkstorm/host"
	"blkstorm/result"
)

// throttling says of each drive what of its health log shows that it slowed itself down during the point, or
// was hot enough to; empty when none did.
func throttling(p *result.Point) string {
	return perDrive(p, func(was, is *host.DriveHealth) (list []string) {
		grew := func(before, after uint32, format string) {
			if after > before {
				list = append(list, fmt.Sprintf(format, after-before))
			}
		}
		grew(was.Throttle1Count, is.Throttle1Count, "began %d times to throttle lightly")
		grew(was.Throttle2Count, is.Throttle2Count, "began %d times to throttle heavily")
		grew(was.Throttle1Seconds, is.Throttle1Seconds, "throttled lightly for %d s")
		grew(was.Throttle2Seconds, is.Throttle2Seconds, "throttled heavily for %d s")
		grew(was.WarningMinutes, is.WarningMinutes, "was over its warning temperature for %d min more")
		grew(was.CriticalMinutes, is.CriticalMinutes, "was over its critical temperature for %d min more")
		if is.CriticalWarning&^was.CriticalWarning&host.CriticalTemperature != 0 {
			list = append(list, fmt.Sprintf("passed a temperature threshold, at %.0f °C", is.TemperatureC))
		}
		return list
	})
}

// critical says of each drive which critical warnings it has when the point ends.
func critical(p *result.Point) string {
	return perDrive(p, func(_, is *host.DriveHealth) (list []string) {
		for _, bit := range []struct {
			mask uint8
			text string
		}{
			{host.CriticalSpare, "has little spare capacity left"},
			{host.CriticalTemperature, "is outside of its temperature thresholds"},
			{host.CriticalReliability, "has become unreliable"},
			{host.CriticalReadOnly, "takes no more writes"},
			{host.CriticalBackup, "has lost the backup of its volatile memory"},
			{host.CriticalMemory, "has an unreliable persistent memory region"},
		} {
			if is.CriticalWarning&bit.mask != 0 {
				list = append(list, bit.text)
			}
		}
		return list
	})
}

// mediaErrors says of each drive how many it counted during the point.
func mediaErrors(p *result.Point) string {
	return perDrive(p, func(was, is *host.DriveHealth) (list []string) {
		if is.MediaErrors > was.MediaErrors {
			list = append(list, fmt.Sprintf("counted %d media errors, and %d in its life", is.MediaErrors-was.MediaErrors, is.MediaErrors))
		}
		return list
	})
}

// perDrive joins what is to be said of each drive.
func perDrive(p *result.Point, say func(was, is *host.DriveHealth) []string) string {
	var all []string
	for _, t := range p.Targets {
		if t.NVMe == nil {
			continue
		}
		if list := say(t.NVMe.Begin, t.NVMe.End); len(list) > 0 {
			all = append(all, fmt.Sprintf("the drive of %s %s", t.Path, strings.Join(list, ", ")))
		}
	}
	return strings.Join(all, "; ")
}
