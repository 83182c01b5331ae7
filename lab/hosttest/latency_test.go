package hosttest

import (
	"fmt"
	"testing"
	"time"

	"blkstorm/lab"
	"blkstorm/result"
)

// A device of known latency: no I/O can have been faster than the device, and the middle one is near it.
func TestLatencyIsTheDevices(t *testing.T) {
	disk := lab.NewProgrammable(t, 64*mib)
	for _, setting := range []time.Duration{2 * time.Millisecond, 5 * time.Millisecond, 20 * time.Millisecond} {
		disk.SetLatency(lab.Range{}, lab.Both, setting)
		for _, engine := range engines {
			for _, depth := range []int{1, 8} {
				if engine == "psync" && depth > 1 {
					continue
				}
				tries(t, func() error {
					p := run(t, exitGood, fmt.Sprintf("--rw randread --offset 16m --size 16m --engine %s --iodepth %d --ramp 100ms --runtime 400ms", engine, depth), disk.Dev)
					l := p.Read.Latency
					t.Logf("setting %v, %s QD%d: min %s, mean %s, p50 %s, p99 %s, %.0f IOPS", setting, engine, depth,
						ms(l.Min), ms(l.Mean), ms(l.Percentiles["50"]), ms(l.Percentiles["99"]), p.Read.IOPS)
					if l.Min < int64(setting) {
						t.Errorf("%s QD%d: min %s on a device of %v", engine, depth, ms(l.Min), setting)
					}
					if p50 := l.Percentiles["50"]; p50 > 2*int64(setting) {
						return fmt.Errorf("%s QD%d: p50 %s on a device of %v", engine, depth, ms(p50), setting)
					}
					return nil
				})
			}
		}
	}
}

// Reads and writes of different latency keep their own, also where they share a queue; and so do parts
// of the disk.
func TestLatencyOfEachDirection(t *testing.T) {
	const read, write = 2 * time.Millisecond, 10 * time.Millisecond
	disk := lab.NewProgrammable(t, 64*mib)
	disk.SetLatency(lab.Range{}, lab.Reads, read)
	disk.SetLatency(lab.Range{}, lab.Writes, write)
	disk.SetLatency(lab.Range{Offset: 32 * mib}, lab.Reads, write)
	for _, engine := range engines {
		tries(t, func() error {
			p := run(t, exitGood, "--rw randrw --offset 16m --size 16m --iodepth 4 --runtime 1s --destroy --engine "+engine, disk.Dev)
			r, w := p.Read.Latency, p.Write.Latency
			t.Logf("%s: read min %s p50 %s, write min %s p50 %s", engine, ms(r.Min), ms(r.Percentiles["50"]), ms(w.Min), ms(w.Percentiles["50"]))
			if r.Min < int64(read) || w.Min < int64(write) {
				t.Errorf("%s: min of reads %s, of writes %s", engine, ms(r.Min), ms(w.Min))
			}
			if r.Percentiles["50"] > 2*int64(read) || w.Percentiles["50"] > 2*int64(write) {
				return fmt.Errorf("%s: p50 of reads %s, of writes %s", engine, ms(r.Percentiles["50"]), ms(w.Percentiles["50"]))
			}
			return nil
		})
	}
	if p := run(t, exitGood, "--rw randread --offset 40m --size 8m --runtime 300ms", disk.Dev); p.Read.Latency.Min < int64(write) {
		t.Errorf("min %s where the disk has %v", ms(p.Read.Latency.Min), write)
	}
}

// 16 in flight on a device of 2 ms are 8000 IOPS if they really are in flight at once; a device that
// takes one at a time gives 500 at most, and its latency is that of the queue.
func TestDepthIsReal(t *testing.T) {
	const setting = 2 * time.Millisecond
	const options = "--rw randread --offset 16m --size 16m --iodepth 16 --ramp 200ms --runtime 1s --engine "
	asynchronous, serialised := lab.NewProgrammable(t, 64*mib), lab.NewSerialised(t, 64*mib)
	asynchronous.SetLatency(lab.Range{}, lab.Both, setting)
	serialised.SetLatency(lab.Range{}, lab.Both, setting)
	for _, engine := range deep {
		tries(t, func() error {
			p := run(t, exitGood, options+engine, asynchronous.Dev)
			t.Logf("asynchronous, %s QD16: %.0f IOPS, mean %s", engine, p.Read.IOPS, ms(p.Read.Latency.Mean))
			if p.Read.IOPS <= 2000 {
				return fmt.Errorf("%s: %.0f IOPS", engine, p.Read.IOPS)
			}
			return nil
		})
		p := run(t, exitGood, options+engine, serialised.Dev)
		t.Logf("serialised, %s QD16: %.0f IOPS, mean %s, %s", engine, p.Read.IOPS, ms(p.Read.Latency.Mean), codes(p))
		if p.Read.IOPS > 510 || p.Read.Latency.Mean < 14*int64(setting) {
			t.Errorf("%s: %.0f IOPS with a mean of %s: one at a time is 500, and 16 in a queue wait 32 ms", engine, p.Read.IOPS, ms(p.Read.Latency.Mean))
		}
	}
}

// On the file itself an engine blocks in submit, one I/O after the other: it must say that the depth is
// nominal. The stamp lies before the submit call, so the time in it is in the latency.
func TestBlockingSubmitIsTold(t *testing.T) {
	const setting, depth = 2 * time.Millisecond, 16
	disk := lab.NewSerialised(t, 64*mib)
	disk.SetLatency(lab.Range{}, lab.Both, setting)
	for _, engine := range deep {
		p := run(t, exitGood, fmt.Sprintf("--rw randread --iodepth %d --runtime 1s --engine %s", depth, engine), disk.File)
		t.Logf("%s on the file: %.0f IOPS, min %s, mean %s, %s", engine, p.Read.IOPS, ms(p.Read.Latency.Min), ms(p.Read.Latency.Mean), codes(p))
		if !hasWarning(p, "completes_in_submit") && !hasWarning(p, "kernel_workers") {
			t.Errorf("%s: no warning of a device that is synchronous for it: %s", engine, codes(p))
		}
		if hasWarning(p, "completes_in_submit") && p.Read.Latency.Min < depth*int64(setting) {
			t.Errorf("%s: min %s, a batch of %d takes %v", engine, ms(p.Read.Latency.Min), depth, depth*setting)
		}
	}
}

func codes(p *result.Point) (list []string) {
	for _, w := range p.Warnings {
		list = append(list, w.Code)
	}
	return list
}
